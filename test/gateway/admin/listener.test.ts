import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { maxConnectionsPerNetwork, maxHeaderBytes, openAdmin } from '../../../gateway/admin/listener.ts';
import { maxRequestsPerSecond } from '../../../gateway/admin/request-rates.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { screeningContract } from '../../../mappings/loader/load.ts';
import { until } from '../../until.ts';
import { createAuthority } from '../certificates.ts';
import { keyHeaders, raw, startGateway } from '../gateway.ts';
import { type AdminRequestOptions, changeToken, entries, readToken, startAdmin } from './admin.ts';

/** Longer than any machine needs, in ms. */
const patientMs = 1_800_000;

const json = 'application/json; charset=utf-8';

test('the probes need no token, metrics and state need one', async (t) => {
  const { ask } = await startAdmin(t);
  t.like(await ask('/healthz'), { status: 200, text: 'ok\n' });
  t.like(await ask('/readyz'), { status: 200, text: 'ready\n' });
  const paths = ['config', 'contracts', 'breakers', 'pools'].map((name) => `/api/v1/${name}`);
  for (const path of ['/metrics', ...paths, '/unknown']) {
    const reply = await ask(path);
    t.is(reply.status, 401, path);
    t.is(reply.headers['www-authenticate'], 'Bearer realm="soapbridge"');
    const status = path === '/unknown' ? 404 : 200;
    t.is((await ask(path, { token: readToken })).status, status, path);
    t.is((await ask(path, { token: changeToken })).status, status, path);
  }
});

test('an unknown or expired token and another scheme get 401', async (t) => {
  const { ask } = await startAdmin(t);
  for (const path of ['/metrics', '/unknown']) {
    t.is((await ask(path, { token: 'other' })).status, 401, path);
    t.is((await ask(path, { token: 'expired-token' })).status, 401, path);
    t.is((await ask(path, { headers: { authorization: `Basic ${readToken}` } })).status, 401, path);
  }
});

test('all responses forbid caching, sniffing and active content', async (t) => {
  const { ask } = await startAdmin(t);
  const requests: [string, AdminRequestOptions?][] = [
    ['/healthz'],
    ['/unknown'],
    ['/api/v1/pools', { token: readToken }],
    ['/healthz', { method: 'POST', body: 'x' }],
  ];
  for (const [path, options] of requests) {
    const { headers } = await ask(path, options);
    t.like(headers, {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    t.regex(String(headers['content-security-policy']), /^default-src 'none'; .*frame-ancestors 'none'$/);
  }
});

test('errors are problem documents, and 405 lists the methods', async (t) => {
  const { ask } = await startAdmin(t);
  const unknown = await ask('/api/v1/nothing', { token: readToken });
  t.is(unknown.headers['content-type'], 'application/problem+json');
  t.deepEqual(JSON.parse(unknown.text), {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'no resource has this path',
    problems: [],
  });
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const reply = await ask('/api/v1/contracts', { method, token: readToken, body: '{}' });
    t.is(reply.status, 405, method);
    t.is(reply.headers.allow, 'GET, HEAD');
  }
  t.is((await ask('/readyz', { method: 'DELETE' })).status, 405);
  t.like(await ask('/api/v1/contracts', { method: 'HEAD', token: readToken }), { status: 200, text: '' });
});

test('another Host gets 421, except at the probes and the metrics', async (t) => {
  const { ask, gateway } = await startAdmin(t);
  const port = new URL(gateway.running.adminUrl ?? '').port;
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:1`,
    `localhost:${port}`,
  ]) {
    const options = { token: readToken, headers: { host } };
    t.is((await ask('/api/v1/contracts', options)).status, 421, host);
    t.is((await ask('/unknown', options)).status, 421, host);
    for (const path of ['/healthz', '/readyz', '/metrics']) t.is((await ask(path, options)).status, 200);
  }
  t.is((await ask('/api/v1/contracts', { token: readToken })).status, 200);
});

test('/metrics has the same families as the public listener', async (t) => {
  const { ask, gateway } = await startAdmin(t);
  const families = (page: string) => page.match(/^# TYPE \S+/gm);
  const { headers, text: page } = await ask('/metrics', { token: readToken });
  t.is(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const own = await fetch(`${gateway.running.url}/metrics`);
  t.deepEqual(families(page), families(await own.text()));
  t.regex(page, /^soapbridge_build_info\{version="[^"]+"\} 1$/m);
  t.regex((await ask('/metrics', { token: readToken })).text, /admin_requests_total\{status="200"\} 1$/m);
});

test('contracts have path, hash, version, operations and time of loading', async (t) => {
  const { ask, gateway } = await startAdmin(t);
  const reply = await ask('/api/v1/contracts', { token: readToken });
  t.is(reply.headers['content-type'], json);
  const { items, cursor } = JSON.parse(reply.text);
  t.is(cursor, null);
  t.is(items.length, 1);
  t.is(items[0].path, '/v2');
  t.regex(items[0].hash, /^[0-9a-f]{16}$/);
  t.true(items[0].operations.includes('GetSearch'));
  await gateway.running.reload();
  const [next] = JSON.parse((await ask('/api/v1/contracts', { token: readToken })).text).items;
  t.is(next.hash, items[0].hash);
  t.true(Date.parse(next.loadedAt) >= Date.parse(items[0].loadedAt));
});

test('breakers and pools have the state of each upstream', async (t) => {
  const { ask } = await startAdmin(t);
  const breakers = JSON.parse((await ask('/api/v1/breakers', { token: readToken })).text);
  t.deepEqual(breakers, { items: [{ contract: '/v2', open: false, openOperations: [] }], cursor: null });
  const pools = JSON.parse((await ask('/api/v1/pools', { token: readToken })).text);
  t.deepEqual(Object.keys(pools.items[0]), ['contract', 'active', 'connections', 'waiting', 'shed']);
});

test('breakers and pools have the state of each address', async (t) => {
  const addresses = [{ url: 'http://127.0.0.1:1' }, { url: 'http://127.0.0.1:2', weight: 3 }];
  const { ask, gateway } = await startAdmin(t, {
    config: { contracts: { '/v2': { contract: screeningContract, upstream: { addresses } } } },
  });
  await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  const breakers = JSON.parse((await ask('/api/v1/breakers', { token: readToken })).text);
  t.deepEqual(
    breakers.items[0].addresses,
    addresses.map(({ url }) => ({ address: url, open: false, openOperations: [], healthy: true })),
  );
  const pools = JSON.parse((await ask('/api/v1/pools', { token: readToken })).text);
  t.deepEqual(pools.items[0].addresses, [
    { address: 'http://127.0.0.1:1', weight: 1, active: 0 },
    { address: 'http://127.0.0.1:2', weight: 3, active: 0 },
  ]);
});

test('the configuration has values with their source and no secrets', async (t) => {
  const upstream = {
    url: 'http://127.0.0.1:1',
    headers: { 'X-Key': 'secret-1', 'X-File': { file: 'key' } },
    query: { key: 'secret-2' },
    basic: { user: 'gateway', password: 'secret-3' },
    proxy: 'http://user:secret-4@proxy.example:3128',
  };
  const { ask, folder } = await startAdmin(t, {
    files: { key: 'secret-5' },
    config: { contracts: { '/v2': { contract: screeningContract, upstream } } },
    serve: { settings: [{ name: 'port', value: 0, source: 'flag' }] },
  });
  const { text: page } = await ask('/api/v1/config', { token: readToken });
  t.notRegex(page, /secret-/);
  const { settings, version } = JSON.parse(page);
  t.regex(version, /^\d+\.\d+\.\d+/);
  const source = join(folder, 'soapbridge.yaml');
  const at = '/contracts/~1v2/upstream';
  for (const expected of [
    { name: 'port', value: 0, source: 'flag' },
    { name: '/admin/listen', value: '127.0.0.1:0', source },
    { name: `${at}/url`, value: 'http://127.0.0.1:1', source },
    { name: `${at}/headers/X-Key`, value: '***', source },
    { name: `${at}/headers/X-File`, value: { file: 'key' }, source },
    { name: `${at}/query/key`, value: '***', source },
    { name: `${at}/basic/user`, value: 'gateway', source },
    { name: `${at}/basic/password`, value: '***', source },
    { name: `${at}/proxy`, value: 'http://***@proxy.example:3128', source },
  ])
    t.deepEqual(
      settings.find(({ name }: { readonly name: string }) => name === expected.name),
      expected,
    );
});

test('a reload reads the token file again, and keeps the tokens if the file is wrong', async (t) => {
  const { ask, gateway, write } = await startAdmin(t);
  write('tokens.yaml', []);
  await gateway.running.reload();
  t.regex(gateway.log(), /expected at least one entry/);
  t.is((await ask('/api/v1/pools', { token: readToken })).status, 200);
  write('tokens.yaml', entries.slice(1));
  await gateway.running.reload();
  t.is((await ask('/api/v1/pools', { token: readToken })).status, 401);
  t.is((await ask('/api/v1/pools', { token: changeToken })).status, 200);
});

test('a reload with another address is rejected', async (t) => {
  const { gateway, write } = await startAdmin(t);
  const contracts = { '/v2': { contract: screeningContract, upstream: 'http://127.0.0.1:1' } };
  write('soapbridge.yaml', { contracts, admin: { listen: '127.0.0.1:1', tokens: 'tokens.yaml' } });
  await gateway.running.reload();
  t.regex(gateway.log(), /"pointer":"\/admin","message":"expected listen/);
});

test('G68, G70: a reload with another admin.origin uses it', async (t) => {
  const { ask, gateway, write } = await startAdmin(t, { admin: { origin: 'https://old.example' } });
  const contracts = { '/v2': { contract: screeningContract, upstream: 'http://127.0.0.1:1' } };
  const admin = { listen: '127.0.0.1:0', tokens: 'tokens.yaml', origin: 'https://new.example' };
  write('soapbridge.yaml', { contracts, admin });
  await gateway.running.reload();
  const signIn = async (origin: string, host = new URL(origin).host): Promise<number> => {
    const headers = { host, origin, 'content-type': 'application/json' };
    const body = JSON.stringify({ token: readToken });
    return (await ask('/api/v1/session', { method: 'POST', headers, body })).status;
  };
  t.is(await signIn('https://new.example'), 201);
  t.is(await signIn('https://old.example'), 421);
  t.is(await signIn('https://old.example', 'new.example'), 403);
});

for (const [what, admin, message] of [
  [
    'an address without TLS',
    { listen: '0.0.0.0:0' },
    /admin\/listen: expected a loopback address without admin\.tls/,
  ],
  [
    'an IPv6 address without TLS',
    { listen: '[::]:0' },
    /expected a loopback address without admin\.tls, got \[::\]:0/,
  ],
  ['a name without TLS', { listen: 'admin.example:0' }, /expected a loopback address without admin\.tls/],
  ['a port above 65535', { listen: '127.0.0.1:65536' }, /expected a port from 0 to 65535/],
  ['no port', { listen: '127.0.0.1' }, /expected host:port/],
  ['no token file', { tokens: 'missing.yaml' }, /missing\.yaml/],
  ['TLS without a key', { tls: { certificate: 'own.pem' } }, /admin\/tls: expected certificate and key/],
] as const)
  test(`the gateway does not start with ${what}`, async (t) => {
    const error = await t.throwsAsync(startAdmin(t, { admin }), { instanceOf: ContractError });
    t.regex(error?.message ?? '', message);
  });

test('the gateway does not start with the public port as the admin port', async (t) => {
  const error = await t.throwsAsync(
    startAdmin(t, { admin: { listen: '127.0.0.1:18080' }, serve: { port: 18_080 } }),
    { instanceOf: ContractError },
  );
  t.regex(error?.message ?? '', /admin\/listen: expected another port than the public port, got 18080/);
});

test('loopback names and IPv6 loopback need no TLS', async (t) => {
  for (const listen of ['localhost:0', '[::1]:0']) {
    const { ask } = await startAdmin(t, { admin: { listen } });
    t.is((await ask('/api/v1/pools', { token: readToken })).status, 200, listen);
  }
});

test('client certificates replace tokens, and probes work if the public port requires them', async (t) => {
  const authority = createAuthority(t);
  const own = authority.issue({ names: 'IP:127.0.0.1,DNS:gateway.example' });
  const files = { 'own.pem': own.cert, 'own.key': own.key, 'ca.pem': authority.cert };
  const tls = { certificate: 'own.pem', key: 'own.key', ca: 'ca.pem' };
  const listed = { name: 'prometheus', role: 'read', certificate: 'CN=prometheus,O=Acme' };
  const { ask, gateway } = await startAdmin(t, {
    admin: { listen: '0.0.0.0:0', tls },
    config: {},
    files: { ...files, 'tokens.yaml': JSON.stringify([...entries, listed]) },
  });
  const { port } = new URL(gateway.running.adminUrl ?? '');
  const at = (path: string, options: AdminRequestOptions = {}) =>
    ask(`https://127.0.0.1:${port}${path}`, { ca: authority.cert, ...options });
  const { cert, key } = authority.issue({ subject: '/O=Acme/CN=prometheus' });
  const other = authority.issue({ subject: '/O=Acme/CN=other' });
  const foreign = createAuthority(t).issue({ subject: '/O=Acme/CN=prometheus' });
  t.is((await at('/readyz')).status, 200);
  t.is((await at('/metrics')).status, 401);
  t.is((await at('/metrics', { cert, key })).status, 200);
  t.is((await at('/api/v1/pools', { cert, key })).status, 200);
  t.is((await at('/metrics', { cert: other.cert, key: other.key })).status, 401);
  t.is((await at('/metrics', { cert: foreign.cert, key: foreign.key })).status, 401);
  t.is((await at('/metrics', { token: readToken })).status, 200);
  const withHost = (host: string) => at('/api/v1/pools', { token: readToken, headers: { host } });
  t.is((await withHost(`gateway.example:${port}`)).status, 200);
  t.is((await withHost(`evil.example:${port}`)).status, 421);
  t.true(
    gateway.running.metrics().some(({ samples }) => samples.some(({ labels }) => labels === 'use="admin"')),
  );
});

test('probes and scraping work while the public port requires client certificates', async (t) => {
  const authority = createAuthority(t);
  const { cert, key } = authority.issue();
  const { ask } = await startAdmin(t, {
    config: { tls: { certificate: 'own.pem', key: 'own.key', ca: 'ca.pem', clientCertificates: 'require' } },
    files: { 'own.pem': cert, 'own.key': key, 'ca.pem': authority.cert },
  });
  t.is((await ask('/readyz')).status, 200);
  t.is((await ask('/metrics', { token: readToken })).status, 200);
});

test('a certificate of the token file requires a CA', async (t) => {
  const tokens = [{ name: 'prometheus', role: 'read', certificate: 'CN=prometheus' }];
  const error = await t.throwsAsync(startAdmin(t, { files: { 'tokens.yaml': JSON.stringify(tokens) } }));
  t.regex(error?.message ?? '', /0\/certificate: expected admin\.tls with ca/);
});

test('new certificates are used after a reload, expired ones are not', async (t) => {
  const authority = createAuthority(t);
  const first = authority.issue();
  const tls = { certificate: 'own.pem', key: 'own.key' };
  const { ask, gateway, write } = await startAdmin(t, {
    admin: { tls },
    files: { 'own.pem': first.cert, 'own.key': first.key },
    serve: { watchMs: 60_000 },
  });
  const expired = authority.issue({ days: -1 });
  write('own.pem', expired.cert);
  write('own.key', expired.key);
  await gateway.running.reload();
  t.regex(
    gateway.log(),
    /"pointer":"\/admin\/tls\/certificate","message":"expected a certificate that is valid now/,
  );
  t.is((await ask('/healthz', { ca: authority.cert })).status, 200);
  const other = createAuthority(t);
  const next = other.issue();
  write('own.pem', next.cert);
  write('own.key', next.key);
  await gateway.running.reload();
  t.is((await ask('/healthz', { ca: other.cert })).status, 200);
});

test(`a network may send ${maxRequestsPerSecond} requests in a second`, async (t) => {
  let now = 0;
  const { ask } = await startAdmin(t, { now: () => now });
  for (let sent = 0; sent < maxRequestsPerSecond; sent++) t.is((await ask('/healthz')).status, 200);
  const reply = await ask('/healthz');
  t.is(reply.status, 429);
  t.is(reply.headers['retry-after'], '1');
  now = 1_000;
  t.is((await ask('/healthz')).status, 200);
});

test(`a request may have ${maxHeaderBytes} bytes of headers`, async (t) => {
  const { gateway } = await startAdmin(t);
  const port = Number(new URL(gateway.running.adminUrl ?? '').port);
  const counted = '/healthz'.length + 'Hosta'.length + 'Connectionclose'.length + 'x'.length;
  const sized = (bytes: number) =>
    raw(
      port,
      `GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx: ${'x'.repeat(bytes - counted)}\r\n\r\n`,
    );
  t.regex(await sized(maxHeaderBytes), /^HTTP\/1\.1 200 OK/);
  t.regex(
    await sized(maxHeaderBytes + 1),
    /^HTTP\/1\.1 431 Request Header Fields Too Large\r\nContent-Type: application\/problem\+json/,
  );
});

test(`a network may have ${maxConnectionsPerNetwork} connections`, async (t) => {
  const { ask, gateway } = await startAdmin(t);
  const port = Number(new URL(gateway.running.adminUrl ?? '').port);
  const open = async () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    t.teardown(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const sockets = [];
  for (let count = 1; count < maxConnectionsPerNetwork; count++) sockets.push(await open());
  t.is((await ask('/healthz')).status, 200);
  const last = await open();
  const further = await open();
  await once(further, 'close');
  t.false(last.destroyed);
  sockets[0]?.end('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  if (sockets[0] !== undefined) t.regex(await text(sockets[0]), /^HTTP\/1\.1 200 OK/);
});

test('a request with a body ends its connection, and an ambiguous one is rejected', async (t) => {
  const { ask, gateway } = await startAdmin(t);
  const port = Number(new URL(gateway.running.adminUrl ?? '').port);
  const body = await ask('/healthz', { body: 'x', headers: { connection: 'keep-alive' } });
  t.like(body, { status: 200, headers: { ...body.headers, connection: 'close' } });
  const reply = await raw(port, 'GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
  t.regex(reply, /^HTTP\/1\.1 400 Bad Request[\s\S]*Host: expected one header/);
});

test('headers that do not arrive in time get 408', async (t) => {
  const { gateway } = await startAdmin(t, { headersMs: 50 });
  const port = Number(new URL(gateway.running.adminUrl ?? '').port);
  t.regex(await raw(port, 'GET /healthz HTTP/1.1\r\n'), /^HTTP\/1\.1 408 Request Timeout/);
});

test('readyz is 503 while the process stops', async (t) => {
  const { ask, gateway } = await startAdmin(t, {
    serve: { limits: { ...defaultLimits, drainMs: patientMs, bodyIdleMs: patientMs, bodySlowMs: patientMs } },
  });
  // the request is incomplete, so the process stops only after the connection is closed
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  socket.write('POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n<');
  await until(() => gateway.running.load().arriving === 1);
  const stopped = gateway.running.stop(0);
  t.is((await ask('/readyz')).status, 503);
  t.is((await ask('/metrics', { token: readToken })).status, 200);
  socket.destroy();
  await stopped;
  await t.throwsAsync(ask('/healthz'));
});

test('a process that cannot open the listener rejects the configuration', async (t) => {
  await t.throwsAsync(startAdmin(t, { serve: { openAdmin: undefined } }), { instanceOf: RangeError });
});

test('without the setting there is no admin listener', async (t) => {
  const gateway = await startGateway(t, { serve: { openAdmin } });
  t.is(gateway.running.adminUrl, undefined);
});
