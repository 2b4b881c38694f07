import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { type Authority, createAuthority } from '../gateway/certificates.ts';
import { message, results, startComparing } from './comparing.ts';
import { contractFolder, type SiteOptions, startSite } from './scenario.ts';

const path = '/agency/services/v2/AgencyPort';
const headers = { 'Content-Type': 'text/xml' };
const body = `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:NotifyArrivalRequest xmlns:a="http://desk.example/services/Agency-V2"><c:GrantsGovTrackingNumber xmlns:c="http://desk.example/system/Common-V1">GRANT1</c:GrantsGovTrackingNumber></a:NotifyArrivalRequest></soap:Body></soap:Envelope>`;

/** Starts an HTTPS server that asks for a client certificate, and returns its URL. */
async function startTls(
  t: ExecutionContext,
  authority: Authority,
  names: string,
  answer: RequestListener,
): Promise<string> {
  const { cert, key } = authority.issue({ names });
  const tls = { cert, key, ca: authority.cert, requestCert: true, rejectUnauthorized: false };
  const server = createServer(tls, (request, response) => {
    request.resume().on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function startGateway(t: ExecutionContext, legacy: object, more: Partial<SiteOptions> = {}) {
  return startSite(t, { contract: contractFolder('contracts/agency'), config: { legacy }, ...more });
}

const client = { clientId: 'gateway', clientSecret: 'secret' };

test('G2: the token server gets no client certificate, and a 401 leads to a new token', async (t) => {
  const authority = createAuthority(t);
  const subjects: unknown[] = [];
  const given: (string | undefined)[] = [];
  const subjectOf = (socket: unknown) => (socket as TLSSocket).getPeerCertificate().subject?.CN;
  let tokens = 0;
  let accepted = 'Bearer token1';
  const tokenServer = await startTls(t, authority, 'IP:127.0.0.1', ({ socket }, response) => {
    subjects.push(subjectOf(socket));
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ access_token: `token${++tokens}`, token_type: 'Bearer', expires_in: 3_600 }),
    );
  });
  const url = await startTls(t, authority, 'DNS:legacy.internal', (request, response) => {
    given.push(`${subjectOf(request.socket)} ${request.headers.authorization}`);
    response.writeHead(request.headers.authorization === accepted ? 200 : 401).end();
  });
  const own = authority.issue({ subject: '/CN=gateway' });
  const site = await startGateway(t, {
    url,
    tls: {
      ca: authority.certFile,
      certificate: own.certFile,
      key: own.keyFile,
      serverName: 'legacy.internal',
    },
    oauth2: { tokenUrl: tokenServer, ...client },
  });
  const call = async () => (await site.send({ path, headers, body })).status;
  t.deepEqual([await call(), await call()], [200, 200]);
  accepted = 'Bearer token2';
  t.deepEqual([await call(), await call(), await call()], [401, 200, 200]);
  t.deepEqual(subjects, [undefined, undefined]);
  t.deepEqual(
    given,
    [1, 1, 1, 2, 2].map((token) => `gateway Bearer token${token}`),
  );
});

test('G2, G22: a call waits for a token until its deadline', async (t) => {
  const authority = createAuthority(t);
  const tokenUrl = await startTls(t, authority, 'IP:127.0.0.1', () => {});
  const limits = { totalMs: 1_000 };
  const site = await startGateway(t, {
    url: 'http://127.0.0.1:9',
    tls: { ca: authority.certFile },
    oauth2: { tokenUrl, ...client },
    limits,
  });
  const reply = await site.send({ path, headers, body });
  t.is(reply.headers['x-status'], '504');
  t.regex(reply.body.toString(), /UpstreamTimeout/);
});

test('G25, G27: a shadow request has the credentials of the gateway, and a 401 leads to a new token', async (t) => {
  const authority = createAuthority(t);
  const given: (string | undefined)[] = [];
  let tokens = 0;
  const tokenUrl = await startTls(t, authority, 'IP:127.0.0.1', (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ access_token: `token${++tokens}`, token_type: 'Bearer', expires_in: 3_600 }),
    );
  });
  const subjectOf = (socket: unknown) => (socket as TLSSocket).getPeerCertificate().subject?.CN;
  const url = await startTls(t, authority, 'DNS:legacy.internal', (request, response) => {
    given.push(`${subjectOf(request.socket)} ${request.headers.authorization}`);
    response.writeHead(tokens > 1 ? 200 : 401).end();
  });
  const own = authority.issue({ subject: '/CN=gateway' });
  const tls = { ca: authority.certFile, certificate: own.certFile, key: own.keyFile };
  const legacy = { url, tls: { ...tls, serverName: 'legacy.internal' }, oauth2: { tokenUrl, ...client } };
  const site = await startComparing(t, { answer: 'new' }, { legacy });
  for (const count of [1, 2]) {
    await site.send({ path, headers, body: message('GRANT1') });
    await results(site, count);
  }
  t.deepEqual(given, ['gateway Bearer token1', 'gateway Bearer token2']);
});
