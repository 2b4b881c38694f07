import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { demo, wireDate } from './client.ts';
import { temporaryFile } from './temporary.ts';

const main = fileURLToPath(new URL('../../upstream/main.ts', import.meta.url));

type Process = ChildProcessByStdio<null, Readable, Readable>;

interface Server {
  readonly process: Process;
  readonly address: string;
  post(operation: string, input?: object): Promise<Response>;
}

function run(environment: Record<string, string>, ...options: string[]): Process {
  return spawn(process.execPath, [main, ...options], {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts the service on a free port. It is killed at the end of the test. */
async function start(t: ExecutionContext, environment: Record<string, string> = {}): Promise<Server> {
  const child = run({ PORT: '0', ...environment });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.includes('\n')) break;
  }
  const address = /^reference upstream listening on (http:\/\/\S+:\d+)\n$/.exec(output)?.[1];
  if (address === undefined)
    throw new Error(`stdout: expected one start line, got ${JSON.stringify(output)}`);
  return {
    process: child,
    address,
    post: (operation, input = {}) =>
      fetch(`${address}/json/reply/${operation}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...input, authentication: demo }),
      }),
  };
}

test('the server answers operations, health and refusals in JSON', async (t) => {
  const { address, post } = await start(t);
  t.regex(address, /^http:\/\/127\.0\.0\.1:\d+$/);

  const reply = await post('GetEulaStatus');
  t.is(reply.status, 200);
  t.is(reply.headers.get('content-type'), 'application/json; charset=utf-8');
  t.regex(await reply.text(), /^\{"data":\{.*\\\/Date\(/);

  const health = await fetch(`${address}/healthz`);
  t.is(health.status, 200);
  t.deepEqual(await health.json(), { status: 'ok' });

  const get = await fetch(`${address}/json/reply/GetEulaStatus`);
  t.is(get.status, 405);
  t.is(get.headers.get('allow'), 'POST');

  for (const [path, body, status, errorCode] of [
    ['/json/reply/GetNothing', '{}', 404, 'OperationNotFound'],
    ['/elsewhere', '{}', 404, 'NotFound'],
    ['/json/reply/GetEulaStatus', '{', 400, 'MalformedRequest'],
    ['/json/reply/GetEulaStatus', '{}', 401, 'Unauthorized'],
  ] as const) {
    const refused = await fetch(`${address}${path}`, { method: 'POST', body });
    t.is(refused.status, status);
    t.like(await refused.json(), { data: { responseStatus: { errorCode } } });
  }

  const headers = { 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key' };
  const byHeader = await fetch(`${address}/json/reply/GetEulaStatus`, {
    method: 'POST',
    headers,
    body: '{}',
  });
  t.is(byHeader.status, 200);
});

test('a body over 1 MiB is 413 in JSON, with an announced length or in chunks', async (t) => {
  const { address } = await start(t);
  const url = `${address}/json/reply/GetEulaStatus`;
  const body = (bytes: number): string =>
    JSON.stringify({ authentication: demo, filler: '' }).replace('""', `"${'x'.repeat(bytes)}"`);
  const envelope = body(0).length;
  const exact = await fetch(url, { method: 'POST', body: body(1024 * 1024 - envelope) });
  t.is(exact.status, 200);
  const over = body(1024 * 1024 - envelope + 1);
  for (const sent of [over, new Blob([over]).stream()]) {
    const reply = await fetch(url, { method: 'POST', body: sent, duplex: 'half' } as RequestInit);
    t.is(reply.status, 413);
    t.like(await reply.json(), { data: { responseStatus: { errorCode: 'RequestTooLarge' } } });
  }
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} finishes the running call, accepts no more, and exits with 0`, async (t) => {
    const { process: child, address, post } = await start(t);
    const exit = once(child, 'exit');
    const { hostname, port } = new URL(address);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({ authentication: demo });
    socket.write(
      `POST /json/reply/GetEulaStatus HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    // The response arrives after the first half of the other call was read.
    await (await post('GetEulaStatus')).text();
    child.kill(signal);
    while (await accepts(hostname, Number(port)));
    socket.write(body.slice(9));
    t.regex(await text(socket), /^HTTP\/1\.1 200 OK\r\n.*connection: close\r\n.*"agreeToTerms":true/is);
    t.deepEqual(await exit, [0, null]);
  });
}

async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    // a connection that waited to be accepted is reset; later ones are refused
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return false;
    throw error;
  } finally {
    socket.destroy();
  }
}

test('a file keeps its data across a restart', async (t) => {
  const file = temporaryFile(t);
  const first = await start(t, { SOAPBRIDGE_UPSTREAM_DB: file });
  t.is((await first.post('DeleteClient', { id: 1 })).status, 200);
  const exit = once(first.process, 'exit');
  first.process.kill('SIGTERM');
  await exit;
  const second = await start(t, { SOAPBRIDGE_UPSTREAM_DB: file });
  t.is((await second.post('DeleteClient', { id: 1 })).status, 404);
  t.is((await second.post('DeleteClient', { id: 2 })).status, 200);
});

test('R1: after kill -9 during renewals each of them is complete or undone', async (t) => {
  const file = temporaryFile(t);
  const state = (): { readonly balance: number; readonly years: readonly number[] } => {
    const database = new DatabaseSync(file);
    const row = database.prepare('SELECT balance_pence FROM account WHERE id = 1').get();
    const due = database.prepare('SELECT date_due FROM pep_search WHERE account = 1 ORDER BY id').all();
    const check = database.prepare('PRAGMA integrity_check').get();
    database.close();
    t.is(check?.integrity_check, 'ok');
    return {
      balance: Number(row?.balance_pence),
      years: due.map((search) => new Date(Number(search.date_due)).getUTCFullYear()),
    };
  };
  const { process: child, post } = await start(t, { SOAPBRIDGE_UPSTREAM_DB: file });
  const seeded = state();
  const exit = once(child, 'exit');
  const request = { renewalDate: wireDate(253_402_300_799_999) };
  const renewals = Array.from({ length: 18 }, async () =>
    (await post('RenewAllPepSearches', { request })).text(),
  );
  await Promise.any(renewals);
  child.kill('SIGKILL');
  t.deepEqual(await exit, [null, 'SIGKILL']);
  const answered = (await Promise.allSettled(renewals)).filter(({ status }) => status === 'fulfilled').length;

  const left = state();
  const renewed = (seeded.balance - left.balance) / 1320;
  t.true(Number.isInteger(renewed) && renewed >= answered && renewed <= 18, `${renewed} of ${answered}`);
  t.deepEqual(
    left.years,
    seeded.years.map((year) => year + renewed),
  );
  t.log(`${answered} renewals answered and ${renewed} made before the kill`);
  const again = await start(t, { SOAPBRIDGE_UPSTREAM_DB: file });
  t.is((await again.post('GetEulaStatus')).status, 200);
});

test('--help lists the environment variables', async (t) => {
  const child = run({}, '--help');
  const output = await text(child.stdout);
  for (const word of ['HOST', 'PORT', 'SOAPBRIDGE_UPSTREAM_DB', '/healthz'])
    t.true(output.includes(word), word);
});

for (const [what, environment, options, message] of [
  ['a PORT that is none', { PORT: '80a' }, [], 'PORT: expected a number from 0 to 65535, got "80a"'],
  ['an unknown option', {}, ['--port'], "Unknown option '--port'"],
  [
    'a database that is no file',
    { PORT: '0', SOAPBRIDGE_UPSTREAM_DB: '/' },
    [],
    'unable to open database file',
  ],
  ['a host that is not ours', { PORT: '0', HOST: '192.0.2.1' }, [], 'listen EADDRNOTAVAIL'],
] as const) {
  test(`${what}: the start exits with 1 and one line`, async (t) => {
    const child = run(environment, ...options);
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    t.is(code, 1);
    t.true(errors.startsWith(`reference upstream: ${message}`), errors);
    t.is(errors.trim().split('\n').length, 1);
  });
}
