import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { until } from '../../until.ts';
import { run, start } from '../commands/run.ts';
import { contractWith, elementText, emptyReply, envelope, raw, send, startGateway } from '../gateway.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const call = { apiUserId: 'demo', apiUserKey: 'demo-key' };
const credentials = `<Authentication><ApiUserId>demo</ApiUserId><ApiUserKey>demo-key</ApiUserKey></Authentication>`;
const types = 'http://schemas.servicestack.net/types';

test('one command serves the screening contract and its upstream; SIGTERM exits with 0', async (t) => {
  const { child, ended, line, port } = await start(t, [], { SOAPBRIDGE_DRAIN_DELAY: '0' });
  const address = `http://127.0.0.1:${port}`;
  t.like(JSON.parse(line), {
    level: 30,
    url: address,
    upstream: 'embedded',
    workers: 1,
    wsdl: [`${address}/v2/soap11?wsdl`],
    endpoints: [`${address}/v2/soap11`, `${address}/v2/soap12`],
    msg: `soapbridge listens on ${address}`,
  });
  for (const path of ['/healthz', '/readyz']) t.is((await send(port, 'GET', path)).status, 200);
  const wsdl = await send(port, 'GET', '/v2/soap11?wsdl', { 'X-Forwarded-Host': 'evil.example' });
  t.true(wsdl.text.includes(`location="http://127.0.0.1:${port}/v2/soap11"`));
  const body = `<GetSearch xmlns="${types}">${credentials}<Request><Id>1</Id></Request></GetSearch>`;
  const reply = await send(port, 'POST', '/v2/soap11', {}, envelope('1.1', { body }));
  t.is(reply.status, 200);
  t.is(reply.headers['x-status'], undefined);
  t.regex(reply.text, /<SearchRecord>.*<Id>1<\/Id>/);
  child.kill('SIGTERM');
  const { code, err } = await ended;
  t.is(code, 0);
  t.is(err, '');
});

test('options win over the environment; WSDL and start line contain SOAPBRIDGE_PUBLIC_URL', async (t) => {
  const { port, line } = await start(t, ['--port', '0'], {
    PORT: '1',
    SOAPBRIDGE_PUBLIC_URL: 'https://api.example.com/edge',
  });
  t.true(line.includes('https://api.example.com/edge/v2/soap11?wsdl'));
  const wsdl = await send(port, 'GET', '/v2?wsdl');
  t.true(wsdl.text.includes('location="https://api.example.com/edge/v2/soap11"'));
});

for (const url of ['https://api.example.com/edge', 'https://api.example.com/edge/']) {
  test(`W34: with the public URL ${url} the WSDL always has it with the base path`, async (t) => {
    const { send } = await startGateway(t, { serve: { publicUrl: url, trustedProxies: ['127.0.0.1'] } });
    const forwarded = { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'http' };
    const wsdl = await send('GET', '/soap11', forwarded);
    t.deepEqual(wsdl.text.match(/location="[^"]*"/g), [
      'location="https://api.example.com/edge/v2/soap11"',
      'location="https://api.example.com/edge/v2/soap12"',
    ]);
    const xsd = await send('GET', '?xsd=0', forwarded);
    t.regex(xsd.text, /schemaLocation="https:\/\/api\.example\.com\/edge\/v2[^"]*xsd=1"/);
  });
}

const forwardings: readonly (readonly [headers: Record<string, string>, address: string | undefined])[] = [
  [{ 'X-Forwarded-Host': 'api.example.com' }, 'http://api.example.com'],
  [
    { 'X-Forwarded-Host': 'api.example.com:8443', 'X-Forwarded-Proto': 'https' },
    'https://api.example.com:8443',
  ],
  [{ 'X-Forwarded-Host': 'a.example, b.example', 'X-Forwarded-Proto': 'HTTPS, http' }, 'https://a.example'],
  [{ 'X-Forwarded-Host': 'a.example', 'X-Forwarded-Prefix': '/edge' }, 'http://a.example/edge'],
  [{ Forwarded: 'for=1.2.3.4;host=a.example;proto=https' }, 'https://a.example'],
  [{ Forwarded: 'for=1.2.3.4; proto=https; host="[::1]:8443"' }, 'https://[::1]:8443'],
  [{ 'X-Forwarded-Host': 'a.example"><script>' }, undefined],
  [{ 'X-Forwarded-Host': 'a.example/path' }, undefined],
  [{ 'X-Forwarded-Host': 'user@a.example' }, undefined],
  [{ 'X-Forwarded-Host': 'a.example', 'X-Forwarded-Proto': 'javascript' }, undefined],
  [{ 'X-Forwarded-Host': 'a.example', 'X-Forwarded-Prefix': '/"><x' }, 'http://a.example'],
  [{ Host: 'evil.example' }, undefined],
];

test('W34: only the forwarding headers of a listed proxy set the address, never Host', async (t) => {
  const trusting = await startGateway(t, { serve: { trustedProxies: ['10.0.0.0/8', '127.0.0.1'] } });
  const other = await startGateway(t, { serve: { trustedProxies: ['10.0.0.0/8', '::1'] } });
  const none = await startGateway(t);
  for (const [headers, address] of forwardings) {
    const lines = Object.entries({ Host: 'h', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = `GET /v2?wsdl HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n`;
    for (const gateway of [trusting, other, none]) {
      const own = gateway.running.url;
      const expected = gateway === trusting ? (address ?? own) : own;
      const reply = await gateway.raw(request);
      t.true(reply.includes(`location="${expected}/v2/soap11"`), JSON.stringify(headers));
      t.false(/evil|<script|javascript/.test(reply));
      const vary = /^Vary: (.*)$/im.exec(reply)?.[1]?.trim();
      t.is(
        vary,
        gateway === none ? undefined : 'Forwarded, X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix',
      );
    }
  }
});

test('W34: on 0.0.0.0 the WSDL names localhost, with a warning', async (t) => {
  const gateway = await startGateway(t, { serve: { host: '0.0.0.0' } });
  const wsdl = await gateway.send('GET', '?wsdl');
  t.true(wsdl.text.includes(`location="http://localhost:${gateway.port}/v2/soap11"`));
  t.regex(gateway.log(), /SOAPBRIDGE_PUBLIC_URL is not set/);
});

test('on SIGTERM /readyz returns 503, and the next reply of each connection closes it', async (t) => {
  const { child, ended, port } = await start(t, [], { SOAPBRIDGE_DRAIN_DELAY: '6000' });
  child.kill('SIGTERM');
  let ready = 200;
  while (ready === 200) ready = (await send(port, 'GET', '/readyz')).status;
  t.is(ready, 503);
  t.is((await send(port, 'GET', '/healthz')).status, 200);
  const wsdl = await raw(port, 'GET /v2?wsdl HTTP/1.1\r\nHost: x\r\n\r\n');
  t.regex(wsdl, /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/is);
  const body = JSON.stringify({ authentication: call });
  const reply = await raw(
    port,
    `POST /v2/json/reply/GetEulaStatus HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  t.regex(reply, /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/is);
  t.is((await ended).code, 0);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`on ${signal} running calls finish, silent and idle connections are closed, and the exit is 0`, async (t) => {
    const upstream = await startGateway(t); // the process calls the scripted upstream of this gateway
    await upstream.send('POST', '/json/reply/GetSearch', { 'X-Api-User': 'u', 'X-Api-Key': 'k' }, '{}');
    const url = `http://${upstream.hits[0]?.headers.host}`;
    const { child, ended, port } = await start(t, [], {
      SOAPBRIDGE_UPSTREAM_URL: url,
      SOAPBRIDGE_DRAIN_DELAY: '0',
    });
    let finish: (() => void) | undefined;
    const arrived = new Promise<void>((resolve) => {
      upstream.answer((_hit, response) => {
        finish = () => response.end(emptyReply);
        resolve();
      });
    });
    const silent = connect(port, '127.0.0.1');
    await once(silent, 'connect');
    const idle = connect(port, '127.0.0.1');
    idle.write('GET /v2?wsdl HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    idle.resume();
    const closed = Promise.all([once(silent.resume(), 'close'), once(idle, 'close')]);
    const reply = send(port, 'POST', '/v2/soap11', {}, envelope('1.1'));
    await arrived;
    child.kill(signal);
    await closed;
    finish?.();
    t.is((await reply).status, 200);
    t.is((await reply).headers.connection, 'close');
    t.is((await ended).code, 0);
  });
}

/** Size of a reply that exceeds the operating system's socket buffers. */
const largeBytes = 32 * 1024 * 1024;

/** Starts a gateway process and a caller that has received the first bytes of a large reply. */
async function startReading(t: ExecutionContext, workers: string, environment: Record<string, string> = {}) {
  const upstream = await startGateway(t); // the process calls the scripted upstream of this gateway
  await upstream.send('POST', '/json/reply/GetSearch', { 'X-Api-User': 'u', 'X-Api-Key': 'k' }, '{}');
  upstream.answer({ body: emptyReply.padEnd(largeBytes) });
  const served = await start(t, ['--workers', workers], {
    SOAPBRIDGE_UPSTREAM_URL: `http://${upstream.hits[0]?.headers.host}`,
    SOAPBRIDGE_DRAIN_DELAY: '0',
    SOAPBRIDGE_LOG_LEVEL: 'info',
    ...environment,
  });
  const caller = connect(served.port, '127.0.0.1').on('error', () => {});
  t.teardown(() => caller.destroy());
  const call = `PUT /v2/subusers/update HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: k\r\nContent-Type: application/json\r\nContent-Length: 31\r\n\r\n{"request":{"subUserName":"a"}}`;
  caller.write(call);
  await once(caller, 'readable');
  return { ...served, caller, call };
}

/** Resolves when a port is no longer open. */
async function untilClosed(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const refused = once(socket, 'connect').then(
      () => false,
      () => true,
    );
    if (await refused) return;
    socket.destroy();
    await pause(20);
  }
}

for (const [signal, workers, pipelines] of [
  ['SIGTERM', '1', false],
  ['SIGINT', '1', true],
  ['SIGTERM', '2', true],
] as const) {
  test(`on ${signal} of ${workers} workers a slow reader gets its whole reply${pipelines ? ' with pipelining' : ''}; the exit is 0`, async (t) => {
    const { child, ended, port, caller, call } = await startReading(t, workers);
    child.kill(signal);
    await untilClosed(port);
    await pause(300); // several intervals of the process's connection check
    if (pipelines) caller.write(call);
    const replies = await buffer(caller);
    const { code, out } = await ended;
    const head = replies.indexOf('\r\n\r\n') + 4;
    t.true(replies.length - head >= largeBytes);
    if (!pipelines) t.is(replies.length - head, largeBytes);
    t.is(code, 0);
    t.false(out.includes('"cut"'));
  });
}

for (const workers of ['1', '2']) {
  test(`drainMs: a reply that ${workers} workers cut is logged, and the exit code is 1`, async (t) => {
    const { child, ended } = await startReading(t, workers, { SOAPBRIDGE_LIMITS: 'drainMs=400' });
    child.kill('SIGTERM');
    const { code, out } = await ended;
    t.is(code, 1);
    const lines = out.split('\n').filter((line) => line.startsWith('{'));
    const told = lines.map((line) => JSON.parse(line));
    const request = told.find(({ operation, method }) => operation === 'UpdateSubUser' && method === 'PUT');
    t.is(told.find(({ cut }) => cut === true)?.requestId, request.requestId);
    t.is(told.find(({ msg }) => msg === 'stopped: open requests or replies were aborted')?.connections, 1);
  });
}

test('drainMs: calls may end within it; a half-open connection is cut after it and logged', async (t) => {
  const within = await startGateway(t);
  const arrived = new Promise<void>((resolve) => {
    within.answer((_hit, response) => {
      resolve();
      setTimeout(() => response.end(emptyReply), 300);
    });
  });
  const headers = { 'X-Api-User': 'u', 'X-Api-Key': 'k' };
  const reply = within.send('POST', '/json/reply/GetSearch', headers, '{}');
  await arrived;
  t.true(await within.running.stop(0));
  t.is((await reply).status, 200);

  const gateway = await startGateway(t, { limits: { drainMs: 150 } });
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write('POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n<');
  await gateway.send('GET', '?wsdl');
  t.false(await gateway.running.stop(0));
  socket.destroy();
});

test('SOAPBRIDGE_UPSTREAM_DB keeps the reference upstream’s data across a restart', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'soapbridge-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const environment = {
    SOAPBRIDGE_UPSTREAM_DB: join(directory, 'screening.db'),
    SOAPBRIDGE_DRAIN_DELAY: '0',
  };
  const headers = { 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key' };
  const first = await start(t, [], environment);
  t.is((await send(first.port, 'DELETE', '/v2/clients/1', headers)).status, 200);
  first.child.kill('SIGTERM');
  t.is((await first.ended).code, 0);
  const second = await start(t, [], environment);
  t.is((await send(second.port, 'DELETE', '/v2/clients/1', headers)).status, 404);
  t.is((await send(second.port, 'DELETE', '/v2/clients/2', headers)).status, 200);
});

for (const [workers, signals] of [
  ['1', ['SIGUSR1', 'SIGHUP']],
  ['2', ['SIGUSR1']],
] as const) {
  test.serial(
    `${signals.join(' and ')} reopen the audit log of ${workers} workers, and no debugger`,
    async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 'soapbridge-'));
      t.teardown(() => rmSync(directory, { recursive: true, force: true }));
      const auditLog = join(directory, 'audit.log');
      const { child, ended, port } = await start(t, ['--workers', workers], {
        SOAPBRIDGE_UPSTREAM_URL: 'http://127.0.0.1:1',
        SOAPBRIDGE_AUDIT_LOG: auditLog,
        SOAPBRIDGE_DRAIN_DELAY: '0',
      });
      const headers = { 'X-Api-User': 'u', 'X-Api-Key': 'k' };
      const write = () => send(port, 'DELETE', '/v2/clients/1', headers);
      await write();
      for (const signal of signals) {
        const moved = `${auditLog}.${signal}`;
        renameSync(auditLog, moved);
        child.kill(signal);
        await until(() => existsSync(auditLog));
        while (readFileSync(auditLog, 'utf8') === '') await write();
        t.regex(readFileSync(moved, 'utf8'), /"audit":"settled"/);
        t.regex(readFileSync(auditLog, 'utf8'), /^\{.*"audit":"sending"/);
      }
      child.kill('SIGINT');
      const { code, err } = await ended;
      t.deepEqual({ code, err }, { code: 0, err: '' });
    },
  );
}

test('SOAPBRIDGE_UPSTREAM_URL calls a separate upstream over a second socket', async (t) => {
  const upstream = spawn(process.execPath, ['upstream/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => upstream.kill('SIGKILL'));
  const [chunk] = await once(upstream.stdout, 'data');
  const url = /http:\/\/\S+/.exec(String(chunk))?.[0] ?? '';
  const { port, line } = await start(t, ['--upstream', url]);
  t.is(JSON.parse(line).upstream, url);
  const body = `<GetSearch xmlns="${types}">${credentials}<Request><Id>999</Id></Request></GetSearch>`;
  const missing = await send(port, 'POST', '/v2/soap12', {}, envelope('1.2', { body }));
  t.is(missing.headers['x-status'], '404');
  t.is(elementText(missing.text, 'ErrorCode'), 'NotFound');
  const good = await send(
    port,
    'POST',
    '/v2/soap12',
    {},
    envelope('1.2', { body: body.replace('999', '1') }),
  );
  t.regex(good.text, /<SearchRecord>/);
});

// --- the command line --------------------------------------------------------------------------------

for (const [args, words] of [
  [['--help'], ['serve', 'wsdl', 'check']],
  [
    ['serve', '--help'],
    [
      'SOAPBRIDGE_CONTRACT',
      'HOST',
      'PORT',
      'SOAPBRIDGE_UPSTREAM_URL',
      'SOAPBRIDGE_UPSTREAM_DB',
      'SOAPBRIDGE_PUBLIC_URL',
      'SOAPBRIDGE_TRUSTED_PROXIES',
      'SOAPBRIDGE_ALLOWED_HOSTS',
      'SOAPBRIDGE_LOG_LEVEL',
      'SOAPBRIDGE_DRAIN_DELAY',
      'SOAPBRIDGE_WORKERS',
      'SOAPBRIDGE_LIMITS',
      'SOAPBRIDGE_AUDIT_LOG',
    ],
  ],
  [
    ['wsdl', '--help'],
    ['SOAPBRIDGE_CONTRACT', 'SOAPBRIDGE_PUBLIC_URL'],
  ],
  [['check', '--help'], ['SOAPBRIDGE_CONTRACT']],
] as const) {
  test(`soapbridge ${args.join(' ')} lists commands and options`, async (t) => {
    const { code, out } = await run(t, args).ended;
    t.is(code, 0);
    for (const word of words) t.true(out.includes(word), word);
  });
}

for (const [variable, said, expected] of [
  ['SOAPBRIDGE_ALLOWED_HOSTS', '', 'expected names, such as api.example.com.'],
  ['SOAPBRIDGE_ALLOWED_HOSTS', ' ,', 'expected names, such as api.example.com.'],
  ['SOAPBRIDGE_CONFIG', '', 'expected a file, got none.'],
  ['SOAPBRIDGE_CALLERS', '', 'expected a file, got none.'],
  ['SOAPBRIDGE_CALLER_KEY', '', 'expected a file, got none.'],
  ['SOAPBRIDGE_CALLER_LIMITS', '', 'expected a file, got none.'],
  ['SOAPBRIDGE_WSSE_SECRETS', '', 'expected a file, got none.'],
  ['SOAPBRIDGE_AUDIT_LOG', ' ', 'expected a file, got none.'],
] as const) {
  test(`serve refuses ${variable}="${said}"`, async (t) => {
    const { child, ended } = run(t, ['serve'], { PORT: '0', [variable]: said });
    child.stdout.once('data', () => child.kill()); // stop it if it serves
    const { code, err } = await ended;
    t.is(code, 2);
    t.true(err.includes(`'${said}' from env '${variable}' is invalid. ${expected}`), err);
  });
}

test('soapbridge wsdl prints the served WSDL; its option wins over SOAPBRIDGE_PUBLIC_URL', async (t) => {
  const { send } = await startGateway(t, { serve: { publicUrl: 'https://a.example' } });
  const { code, out } = await run(t, ['wsdl', '--public-url', 'https://a.example/'], {
    SOAPBRIDGE_PUBLIC_URL: 'http://b',
  }).ended;
  t.is(code, 0);
  t.is(out, (await send('GET', '?wsdl')).text);
});

test('soapbridge check lists the content of a contract', async (t) => {
  const { code, out } = await run(t, ['check']).ended;
  t.is(code, 0);
  t.regex(out, /^ScreeningApi: 12 operations, .*, 7 routes under \/v2$/m);
  t.regex(
    out,
    /^ {2}GetSearch\(Authentication, Request\) -> Data; POST \/json\/reply\/GetSearch, read only$/m,
  );
});

test('soapbridge --version prints the package’s version', async (t) => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  t.is((await run(t, ['--version']).ended).out, `${version}\n`);
});

for (const [command, ...args] of [['serve', '--demo'], ['check'], ['wsdl']] as const) {
  test(`${command} exits with 2, file, pointer and a sentence for an invalid contract`, async (t) => {
    const directory = contractWith(t, '');
    const file = join(directory, 'soap.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('dialect: servicestack', 'dialect: esperanto'));
    const { code, out, err } = await run(t, [command, ...args], { SOAPBRIDGE_CONTRACT: directory, PORT: '0' })
      .ended;
    t.is(code, 2);
    t.is(out, '');
    t.is(
      err,
      `errors in the contract or the settings:\n${file}:6#/dialect: expected one of servicestack, plain, got "esperanto"\n`,
    );
  });
}

test('a start with a folder without contract exits with 2 and names the expected files', async (t) => {
  const { code, err } = await run(t, ['serve', '--demo', '--contract', join(root, 'docs')]).ended;
  t.is(code, 2);
  t.regex(err, /docs\/openapi\.yaml#: no such file; a contract is a folder with/);
});

for (const name of [
  'SOAPBRIDGE_TLS_CA',
  'SOAPBRIDGE_TLS_CLIENT_CERTIFICATES',
  'SOAPBRIDGE_TLS_KEY',
  'SOAPBRIDGE_TLS_CERTIFICATE',
]) {
  test(`${name} without the other TLS settings: the start exits with 2, and nothing is served`, async (t) => {
    const { code, err } = await run(t, ['serve', '--demo'], { PORT: '0', [name]: 'require' }).ended;
    t.is(err, '--tls-certificate, --tls-key: expected both options, got only one option or none\n');
    t.is(code, 2);
  });
}

test('a start at a used port exits with 2 and a sentence', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
  const { code, out, err } = await run(t, ['serve', '--demo', '--port', String(address.port)]).ended;
  t.is(code, 2);
  t.false(out.includes('listens'), out);
  t.is(
    err,
    `listen EADDRINUSE: address already in use 127.0.0.1:${address.port}. Choose another port with --port, or 0 for a free one\n`,
  );
});

for (const [what, args, environment, said] of [
  ['a PORT that is none', [], { PORT: '80a' }, /PORT' is invalid\. expected a number from 0 to 65535/],
  ['an upstream that is no URL', ['--upstream', 'localhost:1'], {}, /expected an http or https URL/],
  ['an upstream with a query', ['--upstream', 'http://localhost/?a'], {}, /expected an http or https URL/],
  ['a public URL with a user', ['--public-url', 'http://a@b'], {}, /expected an http or https URL/],
  ['a log level that is none', ['--log-level', 'loud'], {}, /Allowed choices are/],
  [
    'a host that is not ours',
    ['--host', '192.0.2.1', '--port', '0'],
    {},
    /EADDRNOTAVAIL.* 192\.0\.2\.1\. Set --host to an address of this machine\n$/,
  ],
  [
    'a database that is a folder',
    ['--port', '0'],
    { SOAPBRIDGE_UPSTREAM_DB: '/' },
    /unable to open database file\. Set --upstream-db to a writable database file\n$/,
  ],
  [
    'a proxy that is no address',
    ['--trusted-proxies', 'proxy', '--port', '0'],
    {},
    /trusted proxy: expected an IP/,
  ],
  [
    'a proxy range that is none',
    ['--trusted-proxies', '10.0.0.0/33', '--port', '0'],
    {},
    /trusted proxy: expected an IP/,
  ],
  ['a limit that is none', ['--limits', 'x=1'], {}, /limits: expected a limit and its value, .* got "x=1"/],
  ['an unknown option', ['--nothing'], {}, /unknown option '--nothing'/],
] as const) {
  test(`${what}: the start exits with 2 and a sentence, without a stack`, async (t) => {
    const { code, out, err } = await run(t, ['serve', '--demo', ...args], environment).ended;
    t.is(code, 2, err);
    t.false(out.includes('listens'), out);
    t.regex(err, said);
    t.false(/\n\s+at /.test(err), err);
  });
}
