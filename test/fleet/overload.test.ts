import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../free-port.ts';
import { startGateway } from '../siege/gateway.ts';
import { post, screening } from '../siege/wire.ts';
import type { Answered, Asked, Callers } from './closed-loop.ts';
import { installed, scratch, startTool } from './fleet.ts';

// The bars are ratios of figures that were measured alternately in one run, or counts, because the speed of the machine
// differs. With FLEET_TIMES=1 the full bars apply: they need a machine without other work.
const hasTimes = process.env.FLEET_TIMES === '1';

/** Minimum goodput as a share of the goodput it is compared with. Other work on the machine changes single figures. */
const minGoodput = hasTimes ? 0.95 : 0.6;

const hasBalancer = installed('haproxy') !== undefined;
const withBalancer = hasBalancer ? test.serial : test.skip;

function start(t: ExecutionContext, module: string): ChildProcess {
  const child = fork(new URL(module, import.meta.url));
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

/** Starts a JSON service that is controlled by its calls, and a gateway with its default limits. Returns its port. */
async function startReplica(t: ExecutionContext): Promise<number> {
  const upstream = start(t, '../siege/upstream.ts');
  const [upstreamPort] = await once(upstream, 'message');
  const gateway = await startGateway(undefined, `http://127.0.0.1:${upstreamPort}`);
  t.teardown(gateway.stop);
  return gateway.port;
}

async function callFor(t: ExecutionContext, ms: number, ...groups: Callers[]): Promise<Answered[]> {
  const child = start(t, 'closed-loop.ts');
  const asked: Asked = { warmUpMs: 2_000, ms, groups };
  const answered = once(child, 'message');
  child.send(asked);
  const [results] = await answered;
  child.kill('SIGKILL');
  return results;
}

function messageOf(operation: 'GetSearch' | 'UpdateSubUser', wish: string): string {
  return post('/v2/soap11', screening(operation, wish), 'Content-Type: text/xml\r\n').toString();
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Starts HAProxy with 64 connections to a server and a queue. */
async function startQueue(t: ExecutionContext, to: number): Promise<number> {
  const port = await freePort();
  const file = join(scratch(t), 'haproxy.cfg');
  const timeouts = ['connect 5s', 'client 60s', 'server 60s', 'queue 60s'].map((text) => `  timeout ${text}`);
  const lines = ['global', '  maxconn 8000', 'defaults', '  mode http', '  http-reuse always', ...timeouts];
  lines.push('listen all', `  bind 127.0.0.1:${port}`, `  server one 127.0.0.1:${to} maxconn 64`, '');
  writeFileSync(file, lines.join('\n'));
  await startTool(t, 'haproxy', ['-db', '-q', '-f', file], port);
  return port;
}

const message = messageOf('GetSearch', 'slow 25');
const steps = [64, 256, 400, 800, 2_000];
const rounds = hasTimes ? 5 : 1;

/** Calls from one number of callers to one port: the goodput of each round, and all calls without status 200. */
class Series {
  readonly callers: number;
  readonly #port: number;
  readonly #message: string;
  readonly good: number[] = [];
  bad = 0;

  constructor(port: number, callers: number, text: string) {
    this.#port = port;
    this.callers = callers;
    this.#message = text;
  }

  async run(t: ExecutionContext): Promise<void> {
    const { callers } = this;
    const [results] = await callFor(t, 2_000, { port: this.#port, message: this.#message, callers });
    this.good.push(results?.good ?? 0);
    this.bad += results?.bad ?? 0;
  }

  get median(): number {
    return median(this.good);
  }

  /** Returns true if at most 5 % of all calls failed. */
  get isServed(): boolean {
    return this.bad * 19 <= this.good.reduce((sum, each) => sum + each, 0);
  }

  get text(): string {
    return `${this.callers} callers: ${this.median} good (${this.good.join(', ')}), ${this.bad} bad`;
  }
}

// With 50 ms and 64 connections, the upstream allows 1,280 calls per second. That is less than the gateway and the callers
// can process, so the goodput depends on the queue.
test.serial('goodput is the same for 64 to 2,000 callers of an upstream that takes 50 ms', async (t) => {
  t.timeout(600_000);
  const port = await startReplica(t);
  const slower = messageOf('GetSearch', 'slow 50');
  const all = steps.map((callers) => new Series(port, callers, slower));
  await callFor(t, 5_000, { port, message: slower, callers: 64 });
  for (let round = 0; round < rounds; round++) for (const series of all) await series.run(t);
  const best = Math.max(...all.map((series) => series.median));
  t.log(all.map(({ text }) => text).join('\n'));
  for (const series of all) {
    t.true(series.median >= minGoodput * best, `${series.text}; best ${best}`);
    if (series.callers < 800) t.true(series.isServed, series.text);
  }
});

// The gateway and HAProxy differ in their work: one translates XML, the other copies bytes. To compare the queues, HAProxy
// is put in front of the same gateway. It sends it 64 calls at a time and queues the others.
withBalancer(
  'goodput of 64 to 2,000 callers is the one with HAProxy and its queue in front of the same gateway',
  async (t) => {
    t.timeout(600_000);
    const port = await startReplica(t);
    const balancer = await startQueue(t, port);
    const pairs = steps.map((callers) => ({
      direct: new Series(port, callers, message),
      queued: new Series(balancer, callers, message),
    }));
    await callFor(t, 5_000, { port, message, callers: 64 });
    for (let round = 0; round < rounds; round++)
      for (const { direct, queued } of pairs) {
        await direct.run(t);
        await queued.run(t);
      }
    t.log(pairs.map(({ direct, queued }) => `${direct.text}; HAProxy: ${queued.text}`).join('\n'));
    for (const { direct, queued } of pairs) {
      t.true(direct.median >= minGoodput * queued.median, `${direct.text}; HAProxy ${queued.text}`);
      if (direct.callers < 800) t.true(direct.isServed, direct.text);
    }
  },
);

for (const [what, ms] of [
  ['succeed after 8 s', 8_000],
  ['hang', 3_600_000],
] as const) {
  test.serial(`150 slow calls that ${what} do not delay a fast operation of the same caller`, async (t) => {
    const port = await startReplica(t);
    const slow = { port, message: messageOf('GetSearch', `slow ${ms}`), callers: 150, pauseMs: 300 };
    const fast = { port, message: messageOf('UpdateSubUser', 'slow 10'), callers: 10, pauseMs: 100 };
    const alone: number[] = [];
    const beside: number[] = [];
    let failed = 0;
    for (let round = 0; round < 2; round++) {
      const [first] = await callFor(t, 5_000, fast);
      alone.push(...(first?.times ?? []));
      // in the second round, the slow operation was quick before
      if (round > 0)
        await callFor(t, 1_000, { ...fast, message: messageOf('GetSearch', 'slow 10'), pauseMs: 5 });
      const [, second] = await callFor(t, 12_000, slow, fast);
      beside.push(...(second?.times ?? []));
      failed += second?.bad ?? 0;
    }
    t.log(`median ${median(alone).toFixed(1)} ms alone, ${median(beside).toFixed(1)} ms beside slow calls`);
    t.true(alone.length > 0);
    t.true(beside.length >= alone.length, `${beside.length} calls, ${alone.length} in less time alone`);
    t.true(failed * 99 <= beside.length, `${failed} failed, ${beside.length} succeeded`);
    if (hasTimes) t.true(median(beside) <= 50);
  });
}

test.serial(
  'a fresh replica that 1,000 connections call at once answers a probe before most of them',
  async (t) => {
    const port = await startReplica(t);
    let answered = 0;
    const sockets = Array.from({ length: 1_000 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.once('connect', () => socket.write(message));
      socket.once('data', () => answered++);
      return socket;
    });
    t.teardown(() => sockets.forEach((socket) => void socket.destroy()));
    const began = performance.now();
    const status = await new Promise((resolve) => {
      get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (response) =>
        resolve(response.resume().statusCode),
      ).on('error', resolve);
    });
    const ms = performance.now() - began;
    t.log(`${ms.toFixed(0)} ms, after ${answered} replies`);
    t.is(status, 200);
    t.true(answered <= 250, `${answered} replies before the probe`);
    if (hasTimes) t.true(ms <= 1_000, `${ms.toFixed(0)} ms`);
  },
);
