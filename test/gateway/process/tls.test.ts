import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request as requestPlain } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type ConnectionOptions, connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { readListenerPlan } from '../../../gateway/process/config.ts';
import { loadTls } from '../../../gateway/process/tls.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { screeningContract } from '../../../mappings/loader/load.ts';
import { freePort } from '../../free-port.ts';
import { type Authority, createAuthority } from '../certificates.ts';
import { type Gateway, startGateway } from '../gateway.ts';

const files = fileURLToPath(new URL('../../siege/files', import.meta.url));

/** Creates a folder with a `soapbridge.yaml` and other files. */
function folderWith(
  t: ExecutionContext,
  config: object,
  files: Readonly<Record<string, string>> = {},
): string {
  const folder = mkdtempSync(join(tmpdir(), 'tls-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const all = { ...files, 'soapbridge.yaml': JSON.stringify(config) };
  for (const [name, content] of Object.entries(all)) writeFileSync(join(folder, name), content);
  return folder;
}

interface Secure {
  readonly gateway: Gateway;
  /** Gateway with the scripted upstream. */
  readonly behind: Gateway;
  readonly folder: string;
  readonly authority: Authority;
  readonly call: (
    tls?: ConnectionOptions & { readonly path?: string },
    headers?: object,
    body?: string,
  ) => Promise<number | undefined>;
}

/** Starts a gateway with TLS. Its upstream is the scripted upstream of another gateway. */
async function startSecure(
  t: ExecutionContext,
  {
    tls = {},
    serve = {},
    limits = {},
    contract = screeningContract,
    ...config
  }: { tls?: object; serve?: object; limits?: object; contract?: string; clientCertificate?: object } = {},
): Promise<Secure> {
  const authority = createAuthority(t);
  const { cert, key } = authority.issue();
  const behind = await startGateway(t);
  await behind.send('POST', '/json/reply/GetSearch', { 'X-Api-User': 'u', 'X-Api-Key': 'k' }, '{}');
  const upstream = `http://${behind.hits[0]?.headers.host}`;
  const folder = folderWith(
    t,
    {
      tls: { certificate: 'own.pem', key: 'own.key', ...tls },
      ...config,
      contracts: { '/v2': { contract, upstream } },
    },
    { 'own.pem': cert, 'own.key': key, 'ca.pem': authority.cert },
  );
  const started = await startGateway(t, {
    limits,
    serve: { config: join(folder, 'soapbridge.yaml'), ...serve },
  });
  const call: Secure['call'] = (options = {}, headers = {}, body = '{}') =>
    new Promise((resolve, reject) => {
      request(
        {
          host: '127.0.0.1',
          port: started.port,
          method: 'POST',
          path: '/v2/json/reply/GetSearch',
          headers: { 'X-Api-User': 'u', 'X-Api-Key': 'k', ...headers },
          ca: authority.cert,
          agent: false,
          ...options,
        },
        (response) => text(response).then(() => resolve(response.statusCode), reject),
      )
        .on('error', reject)
        .end(body);
    });
  return { gateway: { ...started, hits: behind.hits }, behind, folder, authority, call };
}

test('callers are served over TLS, and plain HTTP on that port is not', async (t) => {
  const { gateway, call } = await startSecure(t);
  t.true(gateway.running.url.startsWith('https://127.0.0.1:'));
  t.is(await call(), 200);
  await t.throwsAsync(
    new Promise((_, reject) =>
      requestPlain({ host: '127.0.0.1', port: gateway.port }).on('error', reject).end(),
    ),
  );
  await t.throwsAsync(call({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' }));
  t.is(await call(), 200);
});

test('a request sent while the previous reply is being read is read completely', async (t) => {
  const { gateway, behind } = await startSecure(t, { contract: files });
  // more than the operating system buffers
  behind.answer({ body: JSON.stringify({ notes: ['a'.repeat(20_000_000)] }) });
  const socket = connect({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false });
  t.teardown(() => socket.destroy());
  await once(socket, 'secureConnect');
  const post = (body: string, line = ''): string =>
    `POST /v2/json/reply/write HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${line}Content-Length: ${body.length}\r\n\r\n${body}`;
  socket.write(post('{}'));
  await once(socket, 'readable');
  await pause(300);
  behind.answer({ body: '{}' });
  const sent = JSON.stringify({ notes: ['b'.repeat(100_000)] });
  socket.write(post(JSON.stringify({ Body: JSON.parse(sent) }), 'Connection: close\r\n'));
  const replies = await text(socket);
  t.deepEqual(replies.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200']);
  t.is(behind.hits.at(-1)?.body, sent);
});

/** Returns the serial number of the certificate that new connections receive. */
async function serialOf(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

test('a reload applies new certificates, and keeps the old ones if files are invalid', async (t) => {
  const { gateway, folder, authority, call } = await startSecure(t);
  const before = await serialOf(gateway.port);
  const { cert, key } = authority.issue();
  writeFileSync(join(folder, 'own.pem'), cert);
  await gateway.running.reload();
  t.is(await serialOf(gateway.port), before);
  t.regex(gateway.log(), /expected the key of the certificate/);
  writeFileSync(join(folder, 'own.key'), key);
  await gateway.running.reload();
  t.not(await serialOf(gateway.port), before);
  t.is(await call(), 200);
});

for (const [what, file, cut, told] of [
  ['an empty CA', 'ca.pem', () => '', /tls\/ca: expected a certificate, PEM, got an empty file/],
  [
    'a CA that is cut off',
    'ca.pem',
    half,
    /tls\/ca: expected a certificate, PEM, got an unreadable or incomplete certificate$/,
  ],
  [
    'CAs of which the last is cut off',
    'ca.pem',
    oneAndAHalf,
    /tls\/ca: expected a certificate, PEM, got an unreadable or incomplete certificate, number 2 of 2$/,
  ],
  [
    'an empty certificate',
    'own.pem',
    () => '',
    /tls\/certificate: expected a certificate, PEM, got an empty file/,
  ],
  [
    'a chain that is cut off',
    'own.pem',
    oneAndAHalf,
    /tls\/certificate: expected a certificate, PEM, got an unreadable or incomplete certificate, number 2 of 2$/,
  ],
  ['an empty key', 'own.key', () => '\n', /tls\/key: expected the key of the certificate/],
  ['a key that is cut off', 'own.key', half, /tls\/key: expected the key of the certificate/],
] as const) {
  test(`${what} is reported at start and at a reload, which keeps the old one`, async (t) => {
    const tls = { ca: 'ca.pem', clientCertificates: 'require' };
    const { gateway, folder, authority, call } = await startSecure(t, { tls });
    const { cert, key } = authority.issue({ subject: '/CN=17' });
    const path = join(folder, file);
    writeFileSync(path, cut(readFileSync(path, 'utf8')));
    await gateway.running.reload();
    t.regex(gateway.log(), /not reloaded/);
    t.is(await call({ cert, key }), 200);
    const { tls: plan } = readListenerPlan(join(folder, 'soapbridge.yaml'), false);
    const error = t.throws(() => plan && loadTls(plan), { instanceOf: ContractError });
    t.regex(error?.message ?? '', told);
  });
}

function half(pem: string): string {
  return pem.slice(0, pem.length / 2);
}

function oneAndAHalf(pem: string): string {
  return pem + half(pem);
}

test('a reload with another clientCertificate is rejected, and names the key', async (t) => {
  const clientCertificate = { header: 'X-Api-User', from: 'commonName' };
  const tls = { ca: 'ca.pem', clientCertificates: 'ask' };
  const { gateway, folder, authority, call } = await startSecure(t, { tls, clientCertificate });
  const path = join(folder, 'soapbridge.yaml');
  const atStart = JSON.parse(readFileSync(path, 'utf8'));
  const reload = async (stated: object | undefined): Promise<string> => {
    writeFileSync(path, JSON.stringify({ ...atStart, clientCertificate: stated }));
    const before = gateway.log().length;
    await gateway.running.reload();
    return gateway.log().slice(before);
  };
  for (const stated of [
    { ...clientCertificate, from: 'subject' },
    { ...clientCertificate, header: 'X-Api-Key' },
    undefined,
  ])
    t.regex(
      await reload(stated),
      /"pointer":"\/clientCertificate","message":"expected the values of the start, got other values\. Restart/,
    );
  t.regex(await reload({ from: 'commonName', header: 'X-Api-User' }), /"msg":"reloaded"/);
  const { cert, key } = authority.issue({ subject: '/CN=jo' });
  t.is(await call({ cert, key }), 200);
  t.regex(gateway.hits.at(-1)?.body ?? '', /"apiUserId":"jo"/);
});

test('new certificates are applied when their files change', async (t) => {
  const { gateway, folder, authority } = await startSecure(t, { serve: { watchMs: 50 } });
  const before = await serialOf(gateway.port);
  const { cert, key } = authority.issue();
  writeFileSync(join(folder, 'own.key'), key);
  writeFileSync(join(folder, 'own.pem'), cert);
  while ((await serialOf(gateway.port)) === before) await new Promise((resolve) => setTimeout(resolve, 20));
  t.pass();
});

test('a caller without a certificate of the CA is not served if one is required', async (t) => {
  const { authority, call, gateway } = await startSecure(t, {
    tls: { ca: 'ca.pem', clientCertificates: 'require' },
  });
  const own = authority.issue({ subject: '/CN=caller' });
  t.is(await call({ cert: own.cert, key: own.key }), 200);
  await t.throwsAsync(call());
  const other = createAuthority(t).issue({ subject: '/CN=caller' });
  await t.throwsAsync(call({ cert: other.cert, key: other.key }));
  t.is(gateway.hits.length, 2);
});

for (const [from, expected] of [
  ['subject', 'CN=Jo%20Caller,O=Acme'],
  ['commonName', 'Jo%20Caller'],
  ['san', 'spiffe://acme/jo'],
  ['fingerprint', undefined],
] as const)
  test(`the ${from} of a certificate is a credential, whatever the caller sends in that header`, async (t) => {
    const { authority, call, gateway } = await startSecure(t, {
      tls: { ca: 'ca.pem', clientCertificates: 'ask' },
      clientCertificate: { header: 'X-Api-User', from },
    });
    const own = authority.issue({ subject: '/O=Acme/CN=Jo Caller', names: 'DNS:jo,URI:spiffe://acme/jo' });
    t.is(await call({ cert: own.cert, key: own.key }, { 'X-Api-User': 'canary' }), 200);
    const body = gateway.hits.at(-1)?.body ?? '';
    if (expected === undefined) t.regex(body, /"apiUserId":"[0-9a-f]{64}"/);
    else t.true(body.includes(`"apiUserId":"${expected}"`), body);
    t.is(await call({}, { 'X-Api-User': 'canary' }), 401);
    t.false(gateway.hits.some((hit) => hit.body.includes('canary')));
  });

test('a caller without a certificate is anonymous, whatever id the message contains', async (t) => {
  const { authority, call, gateway } = await startSecure(t, {
    tls: { ca: 'ca.pem', clientCertificates: 'ask' },
    clientCertificate: { header: 'X-Api-User', from: 'commonName' },
  });
  const { cert, key } = authority.issue({ subject: '/CN=jo' });
  const inJson = '{"authentication":{"apiUserId":"jo"}}';
  const long = `{"authentication":{"apiUserId":"jo"}${' '.repeat(200_000)}}`;
  const token =
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header><o:Security xmlns:o="${namespaces.wsse}">` +
    '<o:UsernameToken><o:Username>jo</o:Username><o:Password>k</o:Password></o:UsernameToken></o:Security></s:Header>' +
    `<s:Body><GetSearch xmlns="http://schemas.servicestack.net/types"/></s:Body></s:Envelope>`;
  for (const [path, body] of [
    ['/v2/json/reply/GetSearch', inJson],
    ['/v2/json/reply/GetSearch', long],
    ['/v2/soap11', token],
  ] as const) {
    const sent = gateway.hits.length;
    const refused = path === '/v2/soap11' ? 200 : 400;
    t.is(await call({ path }, {}, body), refused);
    t.is(gateway.hits.length, sent);
    t.is(await call({ path, cert, key }, {}, body), 200);
    t.is(gateway.hits.length, sent + 1);
  }
  t.is(await call({ cert, key }, {}, inJson.replace('jo', 'someone')), 400);
});

const forwarded =
  'By=x;Subject="CN=evil";URI=spiffe://evil,Hash=AB12;Subject="CN=Jo \\"J, r\\" Caller,O=Acme";URI=spiffe://acme/jo';

test('a subject written like another one is not the other caller’s', async (t) => {
  const { authority, call, gateway } = await startSecure(t, {
    tls: { ca: 'ca.pem', clientCertificates: 'ask' },
    clientCertificate: { header: 'X-Api-User', from: 'commonName' },
  });
  const ids = [];
  for (const subject of ['/CN=Jo Caller', '/CN=Jo%20Caller']) {
    const { cert, key } = authority.issue({ subject });
    t.is(await call({ cert, key }), 200);
    ids.push(/"apiUserId":"([^"]*)"/.exec(gateway.hits.at(-1)?.body ?? '')?.[1]);
  }
  t.deepEqual(ids, ['Jo%20Caller', 'Jo%2520Caller']);
});

for (const [what, proxies, headers, user] of [
  [
    'from a trusted proxy',
    ['127.0.0.1'],
    { 'X-Forwarded-Client-Cert': forwarded },
    'CN=Jo%20\\"J,%20r\\"%20Caller,O=Acme',
  ],
  ['from anybody else', ['10.0.0.1'], { 'X-Forwarded-Client-Cert': forwarded }, undefined],
] as const)
  test(`X-Forwarded-Client-Cert ${what} ${user === undefined ? 'is ignored' : 'is a credential'}`, async (t) => {
    const { call, gateway } = await startSecure(t, {
      clientCertificate: { header: 'X-Api-User', sentIn: 'X-Forwarded-Client-Cert' },
      serve: { trustedProxies: proxies },
    });
    t.is(await call({}, { ...headers, 'X-Api-User': 'canary' }), user === undefined ? 401 : 200);
    const body = gateway.hits.at(-1)?.body ?? '';
    if (user !== undefined) t.is(JSON.parse(body).authentication.apiUserId, user);
  });

for (const [subject, from, user] of [
  ['O=x\\,CN=victim,CN=jo', 'commonName', 'jo'],
  ['O=x\\,CN=victim', 'commonName', undefined],
  ['O=x\\,CN=victim,CN=jo', 'subject', 'O=x\\,CN=victim,CN=jo'],
  ['CN=Acme Ltd', 'commonName', 'Acme%20Ltd'],
  ['CN=Acme%20Ltd', 'subject', 'CN=Acme%2520Ltd'],
  ['O=x\\\\,CN=jo', 'commonName', 'jo'],
  ['CN=Jo \\"J\\, r\\",O=Acme', 'commonName', 'Jo%20\\"J\\,%20r\\"'],
] as const)
  test(`a subject in X-Forwarded-Client-Cert is not another caller’s: the ${from} of ${subject}`, async (t) => {
    const { call, gateway } = await startSecure(t, {
      clientCertificate: { header: 'X-Api-User', from, sentIn: 'X-Forwarded-Client-Cert' },
      serve: { trustedProxies: ['127.0.0.1'] },
    });
    const headers = { 'X-Forwarded-Client-Cert': `Hash=ab;Subject="${subject}"` };
    t.is(await call({}, headers), user === undefined ? 401 : 200);
    if (user !== undefined) t.is(JSON.parse(gateway.hits.at(-1)?.body ?? '').authentication.apiUserId, user);
  });

/** Returns the error output of the image's health check; empty if the check succeeds. */
async function healthOf(port: number, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../../bin/healthcheck.js')], {
    env: { PORT: String(port), ...environment },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  if ((code === 0) !== (said === '')) throw new Error(`ended with ${code} and said "${said}"`);
  return said;
}

// Serial and before the other tests: their openssl commands block this process for longer than the check waits.
test.serial(
  'the image’s health check passes over HTTP and TLS, also if callers need certificates',
  async (t) => {
    const plain = await startGateway(t);
    t.is(await healthOf(plain.port), '');
    t.is(await healthOf(plain.port, { SOAPBRIDGE_TLS_CERTIFICATE: 'own.pem' }), '');
    for (const tls of [{}, { ca: 'ca.pem', clientCertificates: 'require' }]) {
      const { gateway } = await startSecure(t, { tls });
      t.is(await healthOf(gateway.port), '');
      t.is(await healthOf(gateway.port, { SOAPBRIDGE_TLS_CERTIFICATE: 'own.pem' }), '');
    }
  },
);

test.serial(
  'the image’s health check fails for an unhealthy process, and reports each attempt',
  async (t) => {
    const free = await freePort();
    t.regex(
      await healthOf(free),
      new RegExp(`127\\.0\\.0\\.1:${free}: HTTP: .*ECONNREFUSED.*; TLS: .*ECONNREFUSED`),
    );
    const silent = createServer().listen(0, '127.0.0.1');
    t.teardown(() => silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    t.regex(
      await healthOf(port, { SOAPBRIDGE_TLS_CERTIFICATE: 'own.pem' }),
      /TLS: no answer within 2000 ms; HTTP: no answer within 2000 ms\n$/,
    );
    const unwell = createHttpServer((_, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
    t.teardown(() => unwell.close());
    await once(unwell, 'listening');
    t.regex(await healthOf((unwell.address() as AddressInfo).port), /HTTP: status 503; TLS: /);
  },
);

test('a certificate that the proxy did not verify is ignored', async (t) => {
  const { call } = await startSecure(t, {
    clientCertificate: {
      header: 'X-Api-User',
      sentIn: 'X-SSL-Client-S-DN',
      verifiedBy: 'X-SSL-Client-Verify',
    },
    serve: { trustedProxies: ['127.0.0.1'] },
  });
  const subject = { 'X-SSL-Client-S-DN': 'CN=jo' };
  t.is(await call({}, { ...subject, 'X-SSL-Client-Verify': 'SUCCESS' }), 200);
  t.is(await call({}, { ...subject, 'X-SSL-Client-Verify': 'FAILED:expired' }), 401);
  t.is(await call({}, subject), 401);
});

test('tlsHandshakes: two connections may be in a handshake; a third closes the oldest', async (t) => {
  const { gateway, call } = await startSecure(t, { limits: { tlsHandshakes: 2 } });
  const open = async () => {
    const socket = connectPlain(gateway.port, '127.0.0.1').on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  const first = await open();
  const second = await open();
  t.teardown(() => second.destroy());
  const closed = once(first, 'close');
  first.resume();
  t.is(await call(), 200);
  await closed;
  t.false(second.destroyed);
});

test('tlsHandshakes: the network with most handshakes loses one, not the oldest of all', async (t) => {
  const { gateway, call } = await startSecure(t, { limits: { tlsHandshakes: 4 } });
  const closed: string[] = [];
  const open = async (localAddress: string, name: string) => {
    const socket = connectPlain({ port: gateway.port, host: '127.0.0.1', localAddress });
    t.teardown(() => socket.destroy());
    socket.on('error', () => {}).on('close', () => closed.push(name));
    await once(socket, 'connect');
    socket.resume();
  };
  await open('127.0.0.1', 'other');
  for (const name of ['first', 'second', 'third', 'fourth']) await open('127.0.0.2', name);
  t.is(await call(), 200);
  t.deepEqual(closed, ['first', 'second']);
});

test('a failed handshake is counted by its reason, and logged once a minute', async (t) => {
  const { gateway, call } = await startSecure(t, { tls: { ca: 'ca.pem', clientCertificates: 'require' } });
  const fail = async (): Promise<void> => {
    await t.throwsAsync(call());
  };
  await fail();
  await fail();
  const plain = connectPlain(gateway.port, '127.0.0.1').on('error', () => {});
  plain.end('GET / HTTP/1.1\r\n\r\n');
  await once(plain.resume(), 'close');
  const samples = gateway.running
    .metrics()
    .find(({ name }) => name === 'tls_handshakes_failed_total')?.samples;
  t.deepEqual(
    new Map(samples?.map(({ labels, value }) => [labels, value])),
    new Map([
      ['reason="ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE"', 2],
      ['reason="ERR_SSL_HTTP_REQUEST"', 1],
    ]),
  );
  await gateway.running.stop(0);
  const lines = gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('TLS handshake with a caller failed'));
  t.is(lines.length, 2);
  t.like(JSON.parse(lines[0] ?? ''), {
    level: 40,
    handshake: { reason: 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE', address: '127.0.0.1' },
  });
});

test('TLS errors are reported with file and line before the port is opened', (t) => {
  const told = (config: object, hasProxies = false): string => {
    const file = join(folderWith(t, config, { 'no.pem': 'canary' }), 'soapbridge.yaml');
    const error = t.throws(
      () => {
        const { tls } = readListenerPlan(file, hasProxies);
        if (tls !== undefined) loadTls(tls);
      },
      { instanceOf: ContractError },
    );
    t.false(error?.message.includes('canary'));
    return error?.message ?? '';
  };
  t.regex(told({ tls: { key: 'a' } }), /yaml:1#\/tls: expected certificate and key/);
  t.regex(
    told({ tls: { certificate: 'none', key: 'no.pem' } }),
    /certificate: expected a readable file, got ENOENT/,
  );
  t.regex(
    told({ tls: { certificate: 'no.pem', key: 'no.pem' } }),
    /certificate: expected a certificate, PEM/,
  );
  t.regex(
    told({ tls: { certificate: 'no.pem', key: 'no.pem', clientCertificates: 'ask' } }),
    /yaml:1#\/tls: expected ca, the CA certificates for clientCertificates, got none$/,
  );
  const header = 'X-User';
  t.regex(told({ clientCertificate: { header } }), /expected sentIn, or tls with clientCertificates/);
  t.regex(told({ clientCertificate: { header, sentIn: 'X-Cert' } }), /expected SOAPBRIDGE_TRUSTED_PROXIES/);
  t.regex(told({ clientCertificate: { sentIn: 'X-Cert' } }, true), /expected header/);
});
