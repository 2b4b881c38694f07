import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { OAuth2Server } from 'oauth2-mock-server';
import { readConfig, readListenerPlan } from '../../../gateway/process/config.ts';
import { loadTls } from '../../../gateway/process/tls.ts';
import { withAccess } from '../../../gateway/upstream/access.ts';
import { proxiesOf } from '../../../gateway/upstream/proxy.ts';
import { TokenError } from '../../../gateway/upstream/token-error.ts';
import { Tokens } from '../../../gateway/upstream/tokens.ts';
import type { Upstream, UpstreamReply, Waiting } from '../../../gateway/upstream/upstream.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { UpstreamRequest } from '../../../mappings/http-mapping/call.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { screeningContract } from '../../../mappings/loader/load.ts';
import { createAuthority } from '../certificates.ts';
import { emptyReply, type Gateway, keyHeaders, type send, startGateway, statusOf } from '../gateway.ts';

const canary = 'canary-5f1d-of-ours';

/** Creates a folder with files, by name. */
function folderWith(t: ExecutionContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'access-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

interface Behind {
  readonly url: string;
  readonly requests: IncomingMessage[];
}

/** Starts a service that records its requests. */
async function startService(
  t: ExecutionContext,
  tls?: Parameters<typeof createTlsServer>[0],
  answer = (response: ServerResponse): unknown => response.end(emptyReply),
): Promise<Behind> {
  const requests: IncomingMessage[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    requests.push(request);
    answer(response);
  };
  const server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, requests };
}

/** Starts a gateway with these upstream settings in its `soapbridge.yaml`. */
async function startBefore(
  t: ExecutionContext,
  upstream: object,
  {
    files = {},
    limits = {},
    serve = {},
  }: { files?: Record<string, string>; limits?: object; serve?: object } = {},
): Promise<
  Gateway & { readonly folder: string; readonly call: (headers?: object) => ReturnType<typeof send> }
> {
  const contracts = { '/v2': { contract: screeningContract, upstream, limits } };
  const folder = folderWith(t, { ...files, 'soapbridge.yaml': JSON.stringify({ contracts }) });
  const gateway = await startGateway(t, { serve: { config: join(folder, 'soapbridge.yaml'), ...serve } });
  const call = (headers = {}) =>
    gateway.send('POST', '/json/reply/GetSearch', { ...keyHeaders, ...headers }, '{}');
  return { ...gateway, folder, call };
}

test('headers, query and Basic of the gateway are sent with every call: texts, files, environment', async (t) => {
  const behind = await startService(t);
  process.env.ACCESS_TEST_KEY = `${canary}-1`;
  const gateway = await startBefore(
    t,
    {
      url: `${behind.url}/api`,
      headers: { 'X-Gateway-Key': `\${ACCESS_TEST_KEY}`, 'x-static': 'a' },
      query: { key: { file: 'key.txt' } },
      basic: { user: 'gw', password: { file: 'password.txt' } },
    },
    { files: { 'key.txt': `${canary}&2\n`, 'password.txt': `${canary}-3\n` } },
  );
  t.is((await gateway.call({ 'X-Static': 'the caller’s'.slice(0, 3) })).status, 200);
  const [first] = behind.requests;
  const headers = first?.headers ?? {};
  t.is(headers['x-gateway-key'], `${canary}-1`);
  t.is(headers['x-static'], 'a');
  t.is(headers.authorization, `Basic ${Buffer.from(`gw:${canary}-3`).toString('base64')}`);
  t.is(first?.url, `/api/json/reply/GetSearch?key=${canary}%262`);
  writeFileSync(join(gateway.folder, 'password.txt'), 'renewed');
  await gateway.running.reload();
  await gateway.call();
  t.is(behind.requests[1]?.headers.authorization, `Basic ${Buffer.from('gw:renewed').toString('base64')}`);
  t.false(gateway.log().includes('canary'));
});

test('a call has its request id and its trace context', async (t) => {
  const gateway = await startGateway(t);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const trace = { traceparent, tracestate: 'a=1' };
  await gateway.send(
    'POST',
    '/json/reply/GetSearch',
    { ...keyHeaders, ...trace, 'X-Request-Id': 'the-id-01' },
    '{}',
  );
  t.like(gateway.hits[0]?.headers, { ...trace, 'x-request-id': 'the-id-01' });
  await gateway.send('POST', '/json/reply/GetSearch', { ...keyHeaders, traceparent: 'canary' }, '{}');
  t.is(gateway.hits[1]?.headers.traceparent, undefined);
  t.regex(String(gateway.hits[1]?.headers['x-request-id']), /^[\w-]{3,}$/);
});

/** Starts an authorization server that records its requests. */
async function startIssuer(
  t: ExecutionContext,
  onAsk: (response: { body: unknown; statusCode: number }, count: number) => void = () => {},
) {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  t.teardown(() => server.stop());
  const asked: Record<string, string>[] = [];
  server.service.on('beforeResponse', (response, request) => {
    asked.push({ ...request.body, authorization: request.headers.authorization });
    const { subject_token } = request.body;
    const body = {
      access_token: `token-${asked.length}-${subject_token ?? ''}`,
      token_type: 'Bearer',
      expires_in: 3600,
    };
    response.body = body;
    response.statusCode = 200;
    onAsk(response, asked.length);
  });
  return { tokenUrl: `http://127.0.0.1:${server.address().port}/token`, asked };
}

/** Starts an authorization server for token exchange, which the other one does not support. */
async function startExchange(t: ExecutionContext, refusal?: object) {
  const asked: Record<string, string>[] = [];
  const server = createServer(async (request, response) => {
    const fields = Object.fromEntries(new URLSearchParams(await text(request)));
    asked.push(fields);
    response.writeHead(refusal === undefined ? 200 : 400, { 'content-type': 'application/json' });
    const token = `token-${asked.length}-${fields.subject_token}`;
    const issued = 'urn:ietf:params:oauth:token-type:access_token';
    response.end(
      JSON.stringify(
        refusal ?? { access_token: token, token_type: 'Bearer', issued_token_type: issued, expires_in: 3600 },
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { tokenUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, asked };
}

const client = { clientId: 'gw', clientSecret: canary };

test('OAuth client credentials: all callers share one token, requested once for all waiting calls', async (t) => {
  const behind = await startService(t);
  const { tokenUrl, asked } = await startIssuer(t);
  const oauth2 = { tokenUrl, ...client, scope: 'parcels', audience: 'api' };
  const gateway = await startBefore(t, { url: behind.url, oauth2 });
  const replies = await Promise.all([gateway.call(), gateway.call(), gateway.call()]);
  t.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200],
  );
  await gateway.running.reload();
  await gateway.call();
  t.is(asked.length, 1);
  t.like(asked[0], { grant_type: 'client_credentials', scope: 'parcels', audience: 'api' });
  t.is(
    asked[0]?.authorization,
    `Basic ${Buffer.from(`gw:${encodeURIComponent(canary).replaceAll('-', '%2D')}`).toString('base64')}`,
  );
  t.true(behind.requests.every(({ headers }) => headers.authorization === 'Bearer token-1-'));
  t.false(gateway.log().includes('canary') || gateway.log().includes('token-1'));
});

test('OAuth token exchange: each caller has its own token, in exchange for its own', async (t) => {
  const behind = await startService(t);
  const { tokenUrl, asked } = await startExchange(t);
  const oauth2 = { grant: 'tokenExchange', clientAuthentication: 'post', tokenUrl, ...client };
  const gateway = await startBefore(t, { url: behind.url, oauth2 });
  for (const caller of ['anna', 'bert', 'anna'])
    t.is((await gateway.call({ Authorization: `Bearer ${caller}` })).status, 200);
  t.deepEqual(
    behind.requests.map(({ headers }) => headers.authorization),
    ['Bearer token-1-anna', 'Bearer token-2-bert', 'Bearer token-1-anna'],
  );
  t.like(asked[0], {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    client_id: 'gw',
    client_secret: canary,
  });
  const without = await gateway.call();
  t.is(without.status, 401);
  t.regex(statusOf(without.text).message, /expected Authorization: Bearer/);
  t.is(behind.requests.length, 3);
});

test('without a token the upstream is not called, and the caller gets a specific error code', async (t) => {
  const behind = await startService(t);
  const { tokenUrl } = await startIssuer(t, (response) => {
    response.statusCode = 401;
    response.body = { error: 'invalid_client', error_description: canary };
  });
  const gateway = await startBefore(t, { url: behind.url, oauth2: { tokenUrl, ...client } });
  const reply = await gateway.call();
  t.is(reply.status, 503);
  t.is(statusOf(reply.text).errorCode, 'UpstreamTokenUnavailable');
  const line = JSON.parse(gateway.log());
  t.is(line.failures[0].cause, 'token');
  t.regex(line.failures[0].reason, /^127\.0\.0\.1:\d+ responded with status 401 \(invalid_client\)$/);
  t.is(line.failures[0].attempt, 0);
  t.is(behind.requests.length, 0);
  t.false(`${gateway.log()}${reply.text}`.includes('canary'));
});

test('a caller whose token is refused in exchange gets an authentication error', async (t) => {
  const behind = await startService(t);
  const { tokenUrl } = await startExchange(t, { error: 'invalid_grant' });
  const gateway = await startBefore(t, {
    url: behind.url,
    oauth2: { grant: 'tokenExchange', tokenUrl, ...client },
  });
  const reply = await gateway.call({ Authorization: `Bearer ${canary}` });
  t.is(reply.status, 401);
  t.is(statusOf(reply.text).message, 'the token was rejected');
  t.false(`${gateway.log()}${reply.text}`.includes('canary'));
});

test('a token that the upstream refuses is requested again by the next call', async (t) => {
  const behind = await startService(t, undefined, (response) => response.writeHead(401).end('{}'));
  const { tokenUrl, asked } = await startIssuer(t);
  const gateway = await startBefore(t, { url: behind.url, oauth2: { tokenUrl, ...client } });
  await gateway.call();
  await gateway.call();
  t.is(asked.length, 2);
});

const options = {
  grant: 'tokenExchange',
  clientAuthentication: 'basic',
  parameters: {},
  ...client,
} as const;

test('a token is renewed before its end, while the old one is used', async (t) => {
  const { tokenUrl, asked } = await startIssuer(t, (response, count) => {
    response.body = { access_token: `t${count}`, token_type: 'Bearer', expires_in: count === 1 ? 1 : 3600 };
  });
  const tokens = new Tokens({ ...options, grant: 'clientCredentials', tokenUrl }, defaultLimits, {});
  t.is(await tokens.take(undefined), 't1');
  const start = performance.now();
  while (performance.now() - start < 820) await new Promise((resolve) => setTimeout(resolve, 10));
  const second = await tokens.take(undefined);
  if (performance.now() - start < 890) t.is(second, 't1');
  while (asked.length < 2 || (await tokens.take(undefined)) !== 't2')
    await new Promise((resolve) => setTimeout(resolve, 5));
  t.is(asked.length, 2);
});

test('tokens: two are kept, a third replaces the oldest', async (t) => {
  const { tokenUrl, asked } = await startExchange(t);
  const tokens = new Tokens({ ...options, tokenUrl }, { ...defaultLimits, tokens: 2 }, {});
  for (const subject of ['a', 'b', 'a', 'b']) await tokens.take(subject);
  t.is(asked.length, 2);
  await tokens.take('c');
  t.is(tokens.size, 2);
  await tokens.take('b');
  t.is(asked.length, 3);
  await tokens.take('a');
  t.is(asked.length, 4);
});

test('tokenMs: a request to a slower token server is aborted', async (t) => {
  const slow = await startService(t, undefined, () => {});
  const tokens = new Tokens({ ...options, tokenUrl: slow.url }, { ...defaultLimits, tokenMs: 50 }, {});
  const error = await t.throwsAsync(tokens.take('a'), { instanceOf: TokenError });
  t.regex(error?.message ?? '', /did not respond in time/);
});

test('tokenBytes: a response of 1000 bytes is read, one of 1001 is not', async (t) => {
  let size = 1000;
  const long = await startService(t, undefined, (response) => {
    const start = '{"access_token":"t","token_type":"Bearer","x":"';
    response.setHeader('content-type', 'application/json');
    response.end(`${start}${'x'.repeat(size - start.length - 2)}"}`);
  });
  const tokens = new Tokens({ ...options, tokenUrl: long.url }, { ...defaultLimits, tokenBytes: 1000 }, {});
  t.is(await tokens.take('a'), 't');
  size = 1001;
  await t.throwsAsync(tokens.take('b'), { instanceOf: TokenError });
});

test('TLS with an own CA, a client certificate and an expected name', async (t) => {
  const authority = createAuthority(t);
  const server = authority.issue({ names: 'DNS:parcels.internal' });
  const own = authority.issue({ subject: '/CN=gateway' });
  const behind = await startService(t, {
    ...server,
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const files = { 'ca.pem': authority.cert, 'own.pem': own.cert, 'own.key': own.key };
  const tls = { ca: 'ca.pem', certificate: 'own.pem', key: 'own.key', serverName: 'parcels.internal' };
  const gateway = await startBefore(t, { url: behind.url, tls }, { files });
  t.is((await gateway.call()).status, 200);
  const socket = behind.requests[0]?.socket as TLSSocket;
  t.is(socket.getPeerCertificate().subject.CN, 'gateway');
  t.is(socket.servername, 'parcels.internal');
});

/** Starts a proxy that records its requests. */
async function startProxy(t: ExecutionContext, status = 200) {
  const asked: (string | undefined)[] = [];
  const proxy = createServer(async (request, response) => {
    asked.push(
      `${request.method} ${request.url} ${request.headers.host} ${request.headers['proxy-authorization']}`,
    );
    await text(request);
    response.end(emptyReply);
  });
  proxy.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const [, port] = (request.url ?? '').split(':');
    const on = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      on.pipe(socket).pipe(on);
    });
    for (const one of [on, socket]) one.on('error', () => {});
    t.teardown(() => on.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://u:${canary}@127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked };
}

const userOfProxy = `Basic ${Buffer.from(`u:${canary}`).toString('base64')}`;

test('an https upstream is called through a tunnel of the proxy, an http one by its full address', async (t) => {
  const authority = createAuthority(t);
  const behind = await startService(t, authority.issue());
  const proxy = await startProxy(t);
  const files = { 'ca.pem': authority.cert };
  const tunnelled = await startBefore(
    t,
    { url: behind.url, proxy: proxy.url, tls: { ca: 'ca.pem' } },
    { files },
  );
  t.is((await tunnelled.call()).status, 200);
  t.is(behind.requests.length, 1);
  const forwarded = await startBefore(t, { url: 'http://parcels.invalid/api', proxy: proxy.url });
  t.is((await forwarded.call()).status, 200);
  t.deepEqual(proxy.asked, [
    `CONNECT ${new URL(behind.url).host} ${userOfProxy}`,
    `POST http://parcels.invalid/api/json/reply/GetSearch parcels.invalid ${userOfProxy}`,
  ]);
  t.false(tunnelled.log().includes('canary') || forwarded.log().includes('canary'));
});

test('a refusal of the proxy is reported as such', async (t) => {
  const proxy = await startProxy(t, 407);
  const gateway = await startBefore(t, { url: 'https://parcels.invalid', proxy: proxy.url });
  t.is((await gateway.call()).status, 503);
  const { failures } = JSON.parse(gateway.log());
  t.is(failures[0].cause, 'proxy');
  t.regex(failures[0].reason, /^127\.0\.0\.1:\d+ responded to CONNECT with status 407$/);
  t.false(gateway.log().includes('canary'));
});

test('limits of one contract apply only to its upstream', async (t) => {
  const behind = await startService(t, undefined, () => {});
  const gateway = await startBefore(t, { url: behind.url }, { limits: { upstreamFirstByteMs: 60 } });
  t.is((await gateway.call()).status, 504);
  t.regex(gateway.log(), /no response arrived within 60 ms/);
});

test('errors of upstream settings have file and line, and no secret', (t) => {
  const folder = folderWith(t, {
    'not.pem': canary,
    'soapbridge.yaml': `contracts:
  /a:
    contract: a
    upstream:
      url: http://127.0.0.1:1
      headers:
        Host: ${canary}
        X-Key: [${canary}]
        X-Unset: \${ACCESS_TEST_UNSET}
        X-Default: \${ACCESS_TEST_UNSET:-there}
      basic: { user: u, password: 12345678 }
      oauth2: { clientId: gw, clientSecret: { file: none.txt } }
      tls: { ca: not.pem, key: not.pem }
      proxy: "ftp://${canary}"
    limits: { inFlight: 1, upstreamConnections: 2, breakerProbeMs: 9, tokenMs: 9, retryPercen: 9 }
`,
  });
  const error = t.throws(() => readConfig(join(folder, 'soapbridge.yaml')), { instanceOf: ContractError });
  const told = error?.message ?? '';
  for (const expected of [
    /yaml:7#.*expected the name of a header other than host, connection,/,
    /yaml:8#.*expected a text in quotes, or { file: path }, got another value/,
    /yaml:9#.*expected the environment variable ACCESS_TEST_UNSET, got none/,
    /yaml:11#.*password: expected a text in quotes/,
    /yaml:12#.*expected tokenUrl/,
    /yaml:12#.*expected a readable file, got ENOENT/,
    /yaml:12#.*expected only one of oauth2, basic and a header Authorization, got two of them/,
    /yaml:13#.*expected certificate and key, got only one of the two/,
    /yaml:13#.*ca: expected a certificate, PEM/,
    /yaml:14#.*expected the address of an HTTP proxy/,
    /yaml:15#.*inFlight: expected a limit of an upstream/,
    /yaml:15#.*breakerProbeMs: .*got breakerProbeMs, which is a constant of 5000 now/,
    /yaml:15#.*tokenMs: .*got tokenMs, which is a constant of 10000 now/,
    /yaml:15#.*retryPercen: .*Did you mean retryPercent\?/,
  ])
    t.regex(told, expected);
  t.is(told.match(/#.*clientSecret: /g)?.length, 1, 'a file that cannot be read is reported once');
  t.false(told.includes('canary') || told.includes('12345678') || /yaml:10#/.test(told), told);
});

for (const [what, make, told] of [
  ['a pipe', (path: string) => execFileSync('mkfifo', [path]), /expected a file, got a pipe for/],
  ['a device', (path: string) => symlinkSync('/dev/zero', path), /expected a file, got a device for/],
  ['a folder', (path: string) => mkdirSync(path), /expected a file, got a directory for/],
  [
    'a file of more than 1 MiB',
    (path: string) => writeFileSync(path, Buffer.alloc(1024 * 1024 + 1)),
    /at most 1048576/,
  ],
] as const) {
  test(`${what} as a secret or certificates file is reported, and blocks nothing`, (t) => {
    const folder = folderWith(t, {
      'soapbridge.yaml': `tls: { certificate: odd, key: odd }
contracts:
  /a:
    contract: a
    upstream: { url: http://127.0.0.1:1, headers: { X-Key: { file: odd } }, tls: { ca: odd } }
`,
    });
    const config = join(folder, 'soapbridge.yaml');
    make(join(folder, 'odd'));
    const said = t.throws(() => readConfig(config), { instanceOf: ContractError })?.message ?? '';
    t.is(said.match(new RegExp(told, 'g'))?.length, 2, said);
    const { tls } = readListenerPlan(config, false);
    t.regex(t.throws(() => tls && loadTls(tls), { instanceOf: ContractError })?.message ?? '', told);
  });
}

for (const address of ['http://127.0.0.1:65536', 'https://[::1', 'http://%zz/api', 'http://a\u0000b']) {
  test(`${JSON.stringify(address)} is no valid address of an upstream or token server; the error has its line`, (t) => {
    const url = JSON.stringify(address);
    const folder = folderWith(t, {
      'soapbridge.yaml': `contracts:
  /a: { contract: a, upstream: ${url} }
  /b: { contract: a, upstream: { url: ${url} } }
  /c:
    contract: a
    upstream:
      url: http://127.0.0.1:1
      oauth2: { clientId: gw, clientSecret: s, tokenUrl: ${url} }
`,
    });
    const error = t.throws(() => readConfig(join(folder, 'soapbridge.yaml')), { instanceOf: ContractError });
    for (const line of [2, 3, 8])
      t.regex(error?.message ?? '', new RegExp(`yaml:${line}#.*: expected an http or https URL`));
  });
}

for (const proxy of [
  'http://us%er:pw@127.0.0.1:1',
  'http://user:%ff@127.0.0.1:1',
  'http://127.0.0.1:65536',
]) {
  test(`the proxy ${proxy} is refused at start, and the error omits its password`, (t) => {
    const error = t.throws(() => proxiesOf({ HTTP_PROXY: proxy }), { instanceOf: RangeError });
    t.is(
      error?.message,
      'HTTP_PROXY: expected the address of an HTTP proxy, such as http://proxy.example:3128, got another value',
    );
  });
}

test('the error for a recursive alias in a configuration has its position', (t) => {
  const folder = folderWith(t, {
    'soapbridge.yaml': 'contracts:\n  /: &a\n    contract: a\n    upstream: *a\n',
  });
  const error = t.throws(() => readConfig(join(folder, 'soapbridge.yaml')), { instanceOf: ContractError });
  t.regex(
    error?.message ?? '',
    /yaml:4#\/contracts\/~1\/upstream: expected a value, got an alias of its own parent/,
  );
});

test('G30: the own secrets of both services of a call stay known, each once', async (t) => {
  const waiting = { ownSecrets: ['of legacy'] } as unknown as Waiting;
  const reply = { status: 200 } as UpstreamReply;
  const plain = { call: async () => reply } as unknown as Upstream;
  const { call } = withAccess(plain, { headers: { 'x-key': 'of new' }, query: '', tokens: undefined });
  const operation = { upstream: { server: { address: undefined } } };
  const request = { operation, path: '/', headers: {} } as unknown as UpstreamRequest;
  for (let calls = 0; calls < 2; calls++) t.is(await call(request, waiting), reply);
  t.deepEqual(waiting.ownSecrets, ['of legacy', 'of new']);
});
