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
// differs. With FLEET_TIMES=1 the bars in ms apply too: they need a machine without other work.
const hasTimes = process.env.FLEET_TIMES === '1';

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
const rounds = 5;

/** Goodput of one number of callers in each round, and its rejected calls. */
interface Step {
  readonly callers: number;
  readonly direct: number[];
  readonly queued: number[];
  rejected: number;
}

// The gateway and HAProxy differ in their work: one translates XML, the other copies bytes. To compare the queues, HAProxy
// is put in front of the same gateway. It sends it 64 calls at a time and queues the others.
withBalancer(
  'goodput is the same for 64 to 2,000 callers, and the same as with the queue of HAProxy in front',
  async (t) => {
    t.timeout(600_000);
    const port = await startReplica(t);
    const balancer = await startQueue(t, port);
    const goodputOf = async (to: number, callers: number, step: Step): Promise<number> => {
      const [{ good, bad } = { good: 0, bad: 0 }] = await callFor(t, 2_000, { port: to, message, callers });
      if (to === port) step.rejected += bad;
      return good;
    };
    const results = steps.map((callers): Step => ({ callers, direct: [], queued: [], rejected: 0 }));
    await callFor(t, 5_000, { port, message, callers: 64 });
    for (let round = 0; round < rounds; round++)
      for (const step of results) {
        step.direct.push(await goodputOf(port, step.callers, step));
        step.queued.push(await goodputOf(balancer, step.callers, step));
      }
    t.log(JSON.stringify(results));
    const best = Math.max(...results.map(({ direct }) => median(direct)));
    for (const { callers, direct, queued, rejected } of results) {
      const good = median(direct);
      t.true(good >= 0.95 * best, `${callers} callers: ${good}, best ${best}`);
      t.true(good >= 0.95 * median(queued), `${callers} callers: ${good}, HAProxy ${median(queued)}`);
      const all = rejected + direct.reduce((sum, each) => sum + each, 0);
      if (callers < 800) t.true(rejected <= 0.05 * all, `${callers} callers: ${rejected} of ${all} rejected`);
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
      const [, second] = await callFor(t, 12_000, slow, fast);
      beside.push(...(second?.times ?? []));
      failed += second?.bad ?? 0;
    }
    t.log(`median ${median(alone).toFixed(1)} ms alone, ${median(beside).toFixed(1)} ms beside slow calls`);
    t.true(alone.length > 0);
    t.true(beside.length >= alone.length, `${beside.length} calls, ${alone.length} in less time alone`);
    t.true(failed * 99 <= beside.length, `${failed} failed, ${beside.length} succeeded`);
    t.true(median(beside) <= 4 * median(alone));
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
