import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { stringify } from 'yaml';
import { namespaces } from '../../mappings/contract/model.ts';
import { screeningContract } from '../../mappings/loader/load.ts';
import { emptyReply, typesNamespace } from '../gateway/gateway.ts';

// Sends a secret and personal data in every possible place, in 10,000 corrupted messages, to a gateway whose upstream
// fails too. The test then searches all output of the process for them.

const key = 'canary/key+5f1d==';
/** Credentials that the gateway sends upstream in a header and in the query. */
const gatewayKeys = ['canary/gate+7b3e1f==', 'canary-query/8c4f2a'] as const;
/** The client secret that the gateway sends to the token server, and the token that it receives. */
const client = { secret: 'canary-client/9d5a3b', token: 'canary-token/6e2b4c' } as const;
/** Secrets in files and addresses that the gateway reads at start. */
const atStart = { wsse: 'canary-wsse/4f7c2d', store: 'canary-store-3a8e5b' } as const;
const personal = 'canary-name-77';
const authentication = `<Authentication><ApiUserId>canary-user</ApiUserId><ApiUserKey>${key}</ApiUserKey><UserId>canary-id</UserId></Authentication>`;
const element = `<UpdateSubUser xmlns="${typesNamespace}">${authentication}<Request><SubUserName>${personal}</SubUserName><Permissions><string>canary-permission</string></Permissions></Request></UpdateSubUser>`;
const envelopeOf = (version: string): string =>
  `<e:Envelope xmlns:e="${version}"><e:Header><x xmlns="">canary-header</x></e:Header><e:Body>${element}</e:Body></e:Envelope>`;
const nonce = Buffer.from('canary-nonce-of-a-token').toString('base64');
const profile = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0';
/** Returns an envelope with the key in a UsernameToken, as text or in place of a digest. */
const withToken = (version: string, type: 'PasswordText' | 'PasswordDigest'): string =>
  `<e:Envelope xmlns:e="${version}"><e:Header><o:Security xmlns:o="${namespaces.wsse}" xmlns:u="${namespaces.wsu}" e:mustUnderstand="1"><o:UsernameToken u:Id="canary-id"><o:Username>canary-user</o:Username><o:Password Type="${profile}#${type}">${key}</o:Password><o:Nonce>${nonce}</o:Nonce><u:Created>2026-11-22T06:00:00Z</u:Created></o:UsernameToken></o:Security></e:Header><e:Body>${element.replace(authentication, '')}</e:Body></e:Envelope>`;
const json = `{"request":{"subUserName":"${personal}","permissions":["canary-permission"]},"authentication":{"apiUserId":"canary-user","apiUserKey":"${key}","userId":"canary-id"}}`;

const messages: readonly (readonly [path: string, body: string])[] = [
  ['/v2/soap11', envelopeOf('http://schemas.xmlsoap.org/soap/envelope/')],
  ['/v2/soap12', envelopeOf('http://www.w3.org/2003/05/soap-envelope')],
  ['/v2/soap11', withToken(namespaces.soap11, 'PasswordText')],
  ['/v2/soap12', withToken(namespaces.soap12, 'PasswordDigest')],
  ['/v2/xml/reply/UpdateSubUser', element],
  ['/v2/json/reply/UpdateSubUser', json],
];

/** Returns a secret in the escapes of JSON, XML and URLs, and in base64 with other text around it. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  secret.replaceAll('/', '\\/'),
  secret.replaceAll(/\W/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
  secret.replaceAll(/\W/g, (letter) => `\\\\u00${letter.charCodeAt(0).toString(16).toUpperCase()}`),
  secret.replaceAll(/\W/g, (letter) => `&#${letter.charCodeAt(0)};`),
  secret.replaceAll(/\W/g, (letter) => `&#x${letter.charCodeAt(0).toString(16)};`),
  secret.replaceAll('/', '&sol;').replaceAll('+', '&plus;'),
  encodeURIComponent(secret),
  encodeURIComponent(encodeURIComponent(secret)),
  ...['', 'u', 'u:'].map((before) => Buffer.from(before + secret).toString('base64')),
  ...['', 'u', 'u:'].map((before) => Buffer.from(before + secret).toString('base64url')),
];
/**
 * Texts that no reply may contain. For base64 only the middle is searched, since its ends depend on the surrounding
 * text.
 */
const traces = [
  ...[key, ...gatewayKeys, ...Object.values(client), ...Object.values(atStart)].flatMap((secret) =>
    formsOf(secret).map((form) =>
      /5f1d|7b3e1f|8c4f2a|9d5a3b|6e2b4c|4f7c2d|3a8e5b/.test(form) ? form : form.slice(4, 16),
    ),
  ),
  nonce.slice(4, 24),
];

/** Upstream replies that repeat the received key in every possible place. */
const answers: readonly ((response: ServerResponse, key: string, body: string) => void)[] = [
  (response) => response.end(emptyReply),
  (response) =>
    response.end(
      `{"data":{"subUser":{"name":"${personal}","permissions":["canary"],"isAdmin":true},"unlisted":0}}`,
    ),
  (response, _key, body) => response.writeHead(500).end(body),
  (response, _key, body) => response.end(body),
  (response, key) =>
    response.writeHead(400).end(`{"responseStatus":{"errorCode":"Bad","message":"wrong key ${key}"}}`),
  (response, key) =>
    response
      .writeHead(422)
      .end(`{"responseStatus":{"errorCode":"Bad","errors":[{"message":"${key}"}],"meta":{"key":"${key}"}}}`),
  (response, key) => response.writeHead(503).end(`<html>${key}</html>`),
  (response, key) => response.end(`{"data":{"subUser":"${key}"}}`),
  (response, key) => response.end(`{"data":{"subUser":{"isAdmin":"${key}"}}}`),
  (response, key) => response.end(`{"data":{"${key}":1}`),
  (response, key) => response.writeHead(302, { location: `/${key}` }).end(),
  ...formsOf(key).map((_, index) => (response: ServerResponse, given: string) => {
    const message = formsOf(given)[index];
    const told = JSON.stringify({ errorCode: 'Bad', message, meta: { text: message } });
    response.writeHead(400).end(`{"responseStatus":${told}}`);
  }),
  (response) => response.destroy(),
  (response, key) => response.writeHead(200, { 'content-length': 999 }).end(key, () => response.destroy()),
];

/** Creates a deterministic random number generator. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const random = createRandom(7);
const noise = ['<', '>', '&', '"', '\0', '{', '}', ',', ':', '\\', 'é', '<a>', ']]>', '<!--', '<!DOCTYPE a>'];

/** Corrupts a message at a random position: cuts, duplicates, or inserts. */
function broken(body: string): string {
  const at = random(body.length);
  const to = at + random(20);
  switch (random(4)) {
    case 0:
      return body.slice(0, at);
    case 1:
      return body.slice(0, to) + body.slice(at);
    case 2:
      return body.slice(0, at) + body.slice(to);
    default:
      return body.slice(0, at) + noise[random(noise.length)] + body.slice(at);
  }
}

test('a canary in 10,000 error paths appears in no log, error, metric and reply', async (t) => {
  t.timeout(600_000);
  let calls = 0;
  let missing = false;
  const upstream = createServer(async (incoming, response) => {
    const body = await text(incoming);
    const { authentication: given }: { authentication: { apiUserKey: string } } = JSON.parse(body);
    const { searchParams } = new URL(incoming.url ?? '', 'http://upstream');
    const told = [
      given.apiUserKey,
      String(incoming.headers['x-gateway-key']),
      String(searchParams.get('gate')),
      String(incoming.headers.authorization).replace('Bearer ', ''),
    ];
    missing ||= told.slice(1).join() !== [...gatewayKeys, client.token].join();
    const answer = answers[calls % answers.length];
    answer?.(response, told[Math.trunc(calls++ / answers.length) % told.length] ?? '', body);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  let asked = 0;
  const tokens = createServer(async (incoming, response) => {
    const form = decodeURIComponent(await text(incoming));
    missing ||= !form.includes(client.secret);
    // every second request fails with an error that repeats the request
    response.setHeader('content-type', 'application/json');
    if (asked++ % 2 === 0)
      response.writeHead(400).end(JSON.stringify({ error: 'invalid_client', error_description: form }));
    else response.end(JSON.stringify({ access_token: client.token, token_type: 'Bearer', expires_in: 1 }));
  });
  await new Promise<void>((resolve) => tokens.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    tokens.closeAllConnections();
    tokens.close();
  });
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const config = join(folder, 'soapbridge.yaml');
  const callerKey = join(folder, 'caller.key');
  writeFileSync(callerKey, 'canary-key-of-pseudonyms-0123456789abcdef', { mode: 0o600 });
  const wsseSecrets = join(folder, 'wsse.yaml');
  writeFileSync(wsseSecrets, `canary-user: ${atStart.wsse}`, { mode: 0o600 });
  const callerLimits = join(folder, 'caller-limits.yaml');
  writeFileSync(callerLimits, 'each: { rate: 100000000/s, concurrent: 1000 }');
  const contract = join(folder, 'contract');
  cpSync(screeningContract, contract, { recursive: true });
  const overlay = join(contract, 'soap.yaml');
  const checking = readFileSync(overlay, 'utf8').replace('apiUserKey }', 'apiUserKey, digest: secrets }');
  t.true(checking.includes('digest: secrets'));
  writeFileSync(overlay, checking);
  writeFileSync(
    config,
    stringify({
      contracts: {
        '/v2': {
          contract,
          upstream: {
            url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
            headers: { 'X-Gateway-Key': gatewayKeys[0] },
            // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
            query: { gate: '${GATE}' },
            oauth2: {
              tokenUrl: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`,
              clientId: 'canary-client',
              clientSecret: client.secret,
              clientAuthentication: 'post',
            },
          },
        },
      },
    }),
  );
  const serveArguments = [
    'bin/soapbridge.js',
    'serve',
    '--config',
    config,
    '--limits',
    'breakerCalls=1000000',
  ];
  const child = spawn(process.execPath, serveArguments, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: {
      GATE: gatewayKeys[1],
      SOAPBRIDGE_CALLER_KEY: callerKey,
      SOAPBRIDGE_CALLER_LIMITS: callerLimits,
      // nothing listens there
      SOAPBRIDGE_LIMIT_STORE: `redis://:${atStart.store}@127.0.0.1:1`,
      SOAPBRIDGE_WSSE_SECRETS: wsseSecrets,
      PATH: process.env.PATH ?? '',
      PORT: '0',
      SOAPBRIDGE_LOG_LEVEL: 'trace',
      SOAPBRIDGE_LOG_MESSAGES: 'on',
      SOAPBRIDGE_DRAIN_DELAY: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => {
    child.kill('SIGKILL');
    upstream.closeAllConnections();
    upstream.close();
  });
  const err = text(child.stderr);
  let out = '';
  const port = await new Promise<number>((resolve) => {
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const listening = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(out);
      if (listening !== null) resolve(Number(listening[1]));
    });
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  t.teardown(() => agent.destroy());
  const send = (
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<string> =>
    new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
        buffer(response).then(
          (bytes) => resolve(JSON.stringify(response.headers) + bytes.toString('latin1')),
          reject,
        );
      })
        .on('error', reject)
        .end(body);
    });
  const leaks: string[] = [];
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (sent < 10_000) {
      const [path, whole] = messages[sent++ % messages.length] ?? messages[0] ?? ['', ''];
      const body = random(4) === 0 ? whole : broken(whole);
      const headers =
        random(3) === 0 ? { 'X-Api-Key': key, 'X-Api-User': 'canary-user', Cookie: `k=${key}` } : {};
      const query = random(3) === 0 ? `?apiUserKey=${key}&callback=${random(2) === 0 ? 'f' : key}` : '';
      const length = { 'Content-Length': String(Buffer.byteLength(body)) };
      const reply = await send('POST', path + query, { ...headers, ...length }, body).catch(String);
      // an error may name a tag, so the key may appear if a cut made it part of a tag name; values never appear
      const inName = [key, nonce].some((secret) =>
        body.split(secret).some((before, index, all) => index < all.length - 1 && /<[^<>]*$/.test(before)),
      );
      if (traces.some((trace) => reply.includes(trace)) && !inName)
        leaks.push(`${path}${query}\n${body}\n${reply}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, caller));
  t.deepEqual(leaks.slice(0, 3), []);
  t.false(missing, 'the gateway’s own keys go upstream with every call');
  t.false((await send('GET', '/metrics', {}, '')).includes('canary'));
  agent.destroy();
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  t.is(code, 0);
  t.true(out.split('\n').length > 10_000);
  t.true(out.includes('"message":"request"') && out.includes('"isAdmin":true'));
  t.false(
    out.includes('canary') || out.includes(nonce.slice(4, 24)),
    out.slice(Math.max(0, out.indexOf('canary') - 500), out.indexOf('canary') + 100),
  );
  t.is(await err, '');
});
