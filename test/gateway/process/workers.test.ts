import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { until } from '../../until.ts';
import { withMessages } from '../commands/run.ts';
import { contractWith, emptyReply, envelope, send } from '../gateway.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface Cluster {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly err: string }>;
  readonly out: () => string;
  /** Log events of the primary about its workers. */
  readonly events: () => readonly WorkerEvent[];
}

interface WorkerEvent {
  readonly worker: number;
  readonly msg: string;
  readonly code?: number | null;
  readonly reason?: string | null;
  readonly restartMs?: number;
}

// Serial, because each of these tests starts at least three processes.

/** Runs `soapbridge serve` on a free port, with two workers by default. */
function run(t: ExecutionContext, environment: Record<string, string>): Cluster {
  const demo = 'SOAPBRIDGE_UPSTREAM_URL' in environment ? [] : ['--demo'];
  const child = spawn(process.execPath, ['bin/soapbridge.js', 'serve', ...demo], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      SOAPBRIDGE_WORKERS: '2',
      SOAPBRIDGE_DRAIN_DELAY: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL')); // the workers end with their primary
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const ended = Promise.all([text(child.stderr), once(child, 'close')]).then(([err, [code]]) => ({
    code,
    err: withMessages(err),
  }));
  const events = (): readonly WorkerEvent[] =>
    out
      .split('\n')
      .filter((line) => line.includes('"worker":'))
      .map((line) => JSON.parse(line));
  return { child, ended, out: () => out, events };
}

interface Served extends Cluster {
  readonly port: number;
  /** Process ids of the workers that have started so far. */
  readonly workers: () => readonly number[];
}

async function start(t: ExecutionContext, environment: Record<string, string>): Promise<Served> {
  const cluster = run(t, environment);
  await until(() => /soapbridge listens/.test(cluster.out()));
  const port = Number(/listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(cluster.out())?.[1]);
  const workers = (): readonly number[] =>
    cluster
      .events()
      .filter(({ msg }) => msg === 'a worker serves')
      .map(({ worker }) => worker);
  return { ...cluster, port, workers };
}

/** Starts an upstream that holds every call until it is released. */
async function startUpstream(t: ExecutionContext) {
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    held.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const release = (): void => {
    for (const response of held) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(emptyReply);
    }
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, held, release };
}

/** Returns the prefix of a request id that identifies the process. */
const processOf = (requestId: unknown): string => String(requestId).split('-')[0] ?? '';

/** A kept-alive connection, and its process as shown in the request id of a rejected call. */
interface Connection {
  readonly process: string;
  readonly call: () => Promise<IncomingMessage>;
}

async function open(t: ExecutionContext, port: number): Promise<Connection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const post = (body: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { 'Content-Length': Buffer.byteLength(body) };
      request({ host: '127.0.0.1', port, path: '/v2/soap11', method: 'POST', agent, headers }, resolve)
        .on('error', reject)
        .end(body);
    });
  const refused = await post('<');
  await once(refused.resume(), 'end');
  return { process: processOf(refused.headers['x-request-id']), call: () => post(envelope('1.1')) };
}

/**
 * Opens connections until both workers have at least two. The operating system chooses the worker of each connection.
 */
async function openToBoth(t: ExecutionContext, port: number): Promise<readonly Connection[]> {
  const connections: Connection[] = [];
  await until(async () => {
    connections.push(...(await Promise.all([1, 2, 3, 4].map(() => open(t, port)))));
    const counts = Map.groupBy(connections, (connection) => connection.process);
    return counts.size === 2 && [...counts.values()].every(({ length }) => length > 1);
  });
  return connections;
}

/** Returns at most four connections of each worker. Calls on more would wait for a connection to the upstream. */
function someOfEach(connections: readonly Connection[]): readonly Connection[] {
  const ofEach = Map.groupBy(connections, (connection) => connection.process);
  return [...ofEach.values()].flatMap((ofOne) => ofOne.slice(0, 4));
}

const namesOf = (connections: readonly Connection[]): ReadonlySet<string> =>
  new Set(connections.map((connection) => connection.process));

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.serial(
  'workers share one port; one that is killed costs what it had in flight and is replaced',
  async (t) => {
    const upstream = await startUpstream(t);
    const { child, ended, out, events, port, workers } = await start(t, {
      SOAPBRIDGE_UPSTREAM_URL: upstream.url,
    });
    t.is(out().match(/soapbridge listens/g)?.length, 1);
    const startLine = JSON.parse(
      out()
        .split('\n')
        .find((line) => line.includes('soapbridge listens')) ?? '{}',
    );
    t.like(startLine, { url: `http://127.0.0.1:${port}`, workers: 2, upstream: upstream.url });
    const before = someOfEach(await openToBoth(t, port));
    const calls = before.map(({ call }) => call());
    const settled = Promise.allSettled(calls);
    await until(() => upstream.held.length === before.length);
    const [killed = 0, other = 0] = workers();
    process.kill(killed, 'SIGKILL');
    const killedAt = performance.now();
    const cut = await Promise.race(
      calls.map((call, index) =>
        call.then(
          () => 'none',
          () => before[index]?.process ?? '',
        ),
      ),
    );
    upstream.release();
    for (const [index, result] of (await settled).entries()) {
      const name = before[index]?.process ?? '';
      t.is(result.status, name === cut ? 'rejected' : 'fulfilled');
      if (result.status !== 'fulfilled') continue;
      t.is(result.value.statusCode, 200);
      t.is(processOf(result.value.headers['x-request-id']), name);
    }

    await until(() => workers().length === 3);
    const { worker, code, reason, restartMs } = events().find(({ msg }) => msg === 'worker restarted') ?? {};
    t.deepEqual(
      { worker, code, reason, restartMs },
      { worker: killed, code: null, reason: 'SIGKILL', restartMs: 100 },
    );
    const after = namesOf(await openToBoth(t, port));
    t.deepEqual(
      [...namesOf(before)].filter((name) => !after.has(name)),
      [cut],
    );

    // Kill both at once. The port stays the same. A worker that dies young again is restarted after twice the pause.
    for (const pid of [other, workers()[2] ?? 0]) process.kill(pid, 'SIGKILL');
    const young = performance.now() - killedAt < 10_000;
    await until(() => workers().length === 5);
    t.is(namesOf(await openToBoth(t, port)).size, 2);
    t.deepEqual(
      events()
        .filter(({ msg }) => msg === 'worker restarted')
        .map((event) => event.restartMs)
        .toSorted(),
      [100, 100, young ? 200 : 100],
    );

    child.kill('SIGINT');
    t.deepEqual(await ended, { code: 0, err: '' });
    t.is(workers().length, 5);
    t.false(workers().some(lives));
  },
);

test.serial(
  'SIGHUP while some workers start ends none: the files are loaded again once they serve',
  async (t) => {
    const { child, ended, events, out } = run(t, {
      SOAPBRIDGE_WORKERS: '3',
      SOAPBRIDGE_UPSTREAM_URL: 'http://127.0.0.1:9',
    });
    await until(() => events().some(({ msg }) => msg === 'a worker serves'));
    child.kill('SIGHUP');
    await until(() => out().split('"reloaded"').length - 1 === 3);
    child.kill('SIGTERM');
    t.is((await ended).code, 0);
  },
);

test.serial('a reload, or a rotation, while a dead worker’s successor starts is its own too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'workers-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const audit = join(folder, 'audit.log');
  const { child, out, events, workers } = await start(t, {
    SOAPBRIDGE_UPSTREAM_URL: 'http://127.0.0.1:9',
    SOAPBRIDGE_AUDIT_LOG: audit,
  });
  process.kill(workers()[0] ?? 0, 'SIGKILL');
  const children = (): number => childrenOf(child.pid).length;
  await until(() => events().some(({ msg }) => msg === 'worker restarted') && children() === 2);
  t.is(workers().length, 2);
  renameSync(audit, join(folder, 'former.log'));
  child.kill('SIGUSR1');
  child.kill('SIGHUP');
  await until(() => out().split('"reloaded"').length - 1 === 2);
  t.deepEqual(
    workers()
      .filter(lives)
      .map((pid) => filesOf(pid).filter((file) => file.startsWith(folder))),
    [[audit], [audit]],
  );
});

/** Returns the ids of a process's children that are alive. */
function childrenOf(pid: number | undefined): readonly string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
}

/** Returns the paths of a process's open files. */
function filesOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      return []; // closed in the meantime
    }
  });
}

test.serial('a worker that dies while others start is told of and replaced', async (t) => {
  const cluster = run(t, { SOAPBRIDGE_UPSTREAM_URL: 'http://127.0.0.1:9' });
  await until(() => cluster.events().length === 1);
  process.kill(cluster.events()[0]?.worker ?? 0, 'SIGKILL');
  const told = (msg: string) => cluster.events().filter((event) => event.msg === msg).length;
  await until(() => told('a worker serves') === 3);
  t.is(told('worker restarted'), 1);
  cluster.child.kill('SIGTERM');
  t.is((await cluster.ended).code, 0);
});

test.serial('SIGTERM while some workers start ends all of them once they serve; the exit is 0', async (t) => {
  const { child, ended, events } = run(t, {
    SOAPBRIDGE_WORKERS: '4',
    SOAPBRIDGE_UPSTREAM_URL: 'http://127.0.0.1:9',
  });
  await until(() => events().length > 0);
  t.true(events().length < 4);
  child.kill('SIGTERM');
  t.is((await ended).code, 0);
});

test.serial(
  'on SIGTERM every worker says 503 at /readyz, finishes what is in flight and isn’t replaced; the exit is 0',
  async (t) => {
    const upstream = await startUpstream(t);
    const served = await start(t, { SOAPBRIDGE_UPSTREAM_URL: upstream.url, SOAPBRIDGE_DRAIN_DELAY: '800' });
    const { child, ended, port, workers } = served;
    const connections = someOfEach(await openToBoth(t, port));
    const calls = connections.map(({ call }) => call());
    await until(() => upstream.held.length === connections.length);
    child.kill('SIGTERM');
    const ready = async () => await Promise.all([1, 2, 3, 4].map(() => send(port, 'GET', '/readyz')));
    await until(async () => (await ready()).every(({ status }) => status === 503));
    // Like a supervisor that signals the whole process group: a worker that gets two signals still ends once.
    for (const pid of workers()) process.kill(pid, 'SIGTERM');
    t.is((await send(port, 'GET', '/healthz')).status, 200);
    await pause(900);
    t.true(workers().every(lives));
    upstream.release();
    for (const reply of await Promise.all(calls)) {
      t.is(reply.statusCode, 200);
      t.is(reply.headers.connection, 'close');
    }
    t.deepEqual(await ended, { code: 0, err: '' });
    t.false(served.events().some(({ msg }) => msg === 'worker restarted'));
  },
);

test.serial('workers share a database file; a second signal ends all at once with 1', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'soapbridge-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const database = join(directory, 'screening.db');
  const { child, ended, port, workers } = await start(t, {
    SOAPBRIDGE_UPSTREAM_DB: database,
    SOAPBRIDGE_DRAIN_DELAY: '60000',
  });
  const headers = { 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key' };
  t.is((await send(port, 'DELETE', '/v2/clients/1', headers)).status, 200);
  const answering = new Set<string>();
  await until(async () => {
    const again = await Promise.all([1, 2, 3, 4].map(() => send(port, 'DELETE', '/v2/clients/1', headers)));
    for (const { status } of again) t.is(status, 404);
    for (const reply of again) answering.add(processOf(reply.headers['x-request-id']));
    return answering.size === 2;
  });
  child.kill('SIGTERM');
  await until(async () => (await send(port, 'GET', '/readyz')).status === 503);
  child.kill('SIGTERM');
  t.is((await ended).code, 1);
  await until(() => !workers().some(lives));
});

test.serial(
  'a worker that ends while a file is wrong is replaced once that is mended; the other goes on',
  async (t) => {
    const upstream = await startUpstream(t);
    const contract = contractWith(t, '');
    const { events, port, workers } = await start(t, {
      SOAPBRIDGE_UPSTREAM_URL: upstream.url,
      SOAPBRIDGE_CONTRACT: contract,
    });
    const file = join(contract, 'openapi.yaml');
    const good = readFileSync(file);
    writeFileSync(file, 'openapi: none');
    process.kill(workers()[0] ?? 0, 'SIGKILL');
    await until(() => events().some(({ code }) => code === 2));
    t.is((await send(port, 'GET', '/readyz')).status, 200);
    t.is(workers().length, 2);
    writeFileSync(file, good);
    await until(() => workers().length === 3);
    t.is(namesOf(await openToBoth(t, port)).size, 2);
  },
);

test.serial('when the primary is killed its workers finish what is in flight and end', async (t) => {
  const upstream = await startUpstream(t);
  const { child, port, workers } = await start(t, { SOAPBRIDGE_UPSTREAM_URL: upstream.url });
  const connections = someOfEach(await openToBoth(t, port));
  const calls = connections.map(({ call }) => call());
  await until(() => upstream.held.length === connections.length);
  child.kill('SIGKILL');
  await pause(100);
  upstream.release();
  for (const { statusCode } of await Promise.all(calls)) t.is(statusCode, 200);
  await until(() => !workers().some(lives));
  t.pass();
});

/** Reads a sample from the metrics of any worker; NaN if it is missing. */
async function scrape(port: number, sample: string): Promise<number> {
  const { status, text: page } = await send(port, 'GET', '/metrics');
  return status === 200 ? Number(page.split(`\nsoapbridge_${sample} `)[1]?.split('\n')[0]) : Number.NaN;
}

test.serial(
  '/metrics of any worker tells of all of them, by what it told last of one too busy to tell, and of those that ended',
  async (t) => {
    const upstream = await startUpstream(t);
    const { port, workers } = await start(t, { SOAPBRIDGE_UPSTREAM_URL: upstream.url });
    const connections = await openToBoth(t, port);
    const refused = 'requests_total{contract="/v2",transport="soap11",status="400"}';
    for (let times = 0; times < 4; times++) t.is(await scrape(port, refused), connections.length);
    t.is(await scrape(port, 'workers'), 2);
    t.is(await scrape(port, 'worker_deaths_total'), 0);

    const [stopped = 0] = workers();
    process.kill(stopped, 'SIGSTOP');
    // A request accepted by the stopped worker is answered only after SIGCONT. The other worker answers all others.
    const answers = Array.from({ length: 8 }, () => scrape(port, refused));
    t.is(await Promise.race(answers), connections.length);
    process.kill(stopped, 'SIGCONT');
    for (const answer of await Promise.all(answers)) t.is(answer, connections.length);

    const called = someOfEach(connections);
    const calls = Promise.allSettled(called.map(({ call }) => call()));
    await until(async () => (await scrape(port, 'in_flight')) === called.length);
    process.kill(stopped, 'SIGKILL');
    await until(() => workers().length === 3);
    t.is(await scrape(port, refused), connections.length);
    t.is(await scrape(port, 'workers'), 2);
    t.is(await scrape(port, 'worker_deaths_total'), 1);
    t.true((await scrape(port, 'in_flight')) < called.length);
    for (const worker of [1, 2])
      t.true((await scrape(port, `resident_memory_bytes{worker="${worker}"}`)) > 0);
    upstream.release();
    await calls;
  },
);

const elsewhere = { SOAPBRIDGE_UPSTREAM_URL: 'http://127.0.0.1:1' };

for (const [what, environment, said] of [
  [
    'a contract that can’t be served',
    { ...elsewhere, SOAPBRIDGE_CONTRACT: 'docs' },
    /^errors in the contract or the settings:\ndocs\/openapi\.yaml#: no such file; [^\n]*\n$/,
  ],
  [
    'what only a worker finds',
    { ...elsewhere, SOAPBRIDGE_TRUSTED_PROXIES: 'proxy' },
    /^trusted proxy: expected an IP address [^\n]*\n$/,
  ],
  [
    'a reference upstream in memory, which workers can’t share,',
    {},
    /^--workers: expected --upstream or --upstream-db, got 2 workers and a reference upstream in memory\n$/,
  ],
  [
    'a database in memory',
    { SOAPBRIDGE_UPSTREAM_DB: ':memory:' },
    /^--workers: expected --upstream or --upstream-db, got 2 workers and a reference upstream in memory\n$/,
  ],
  [
    'no workers',
    { SOAPBRIDGE_WORKERS: '0' },
    /SOAPBRIDGE_WORKERS' is invalid\. expected a number from 1 to 999, or auto\./,
  ],
] as const) {
  test(`${what} ends the start of workers with 2 and one sentence`, async (t) => {
    const { ended, out } = run(t, environment);
    const { code, err } = await ended;
    t.is(code, 2, err);
    t.is(out(), '');
    t.regex(err, said);
  });
}

test('a port in use ends the start of workers with 2 and the sentence of a single process', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { code, err } = await run(t, { ...elsewhere, PORT: String(port) }).ended;
  t.is(code, 2);
  t.is(
    err,
    `listen EADDRINUSE: address already in use 127.0.0.1:${port}. Choose another port with --port, or 0 for a free one\n`,
  );
});

const cores = availableParallelism();
(cores > 1 ? test : test.skip)('auto is one worker per core', async (t) => {
  const { code, err } = await run(t, { SOAPBRIDGE_WORKERS: 'auto' }).ended;
  t.is(code, 2);
  t.true(err.includes(`got ${cores} workers and`), err);
});
