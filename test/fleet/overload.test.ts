import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '../free-port.ts';
import { startGateway } from '../siege/gateway.ts';
import type { Answered, Asked, Callers } from './closed-loop.ts';
import { installed, scratch, startTool } from './fleet.ts';

const hasBalancer = installed('haproxy') !== undefined;
const withBalancer = hasBalancer ? test.serial : test.skip;

function start(t: ExecutionContext, module: string): ChildProcess {
  const child = fork(new URL(module, import.meta.url));
  t.teardown(() => child.kill('SIGKILL'));
  return child;
}

/** Starts a JSON service that is controlled by its calls, and a gateway with its default limits. */
async function startReplica(t: ExecutionContext) {
  const upstream = start(t, '../siege/upstream.ts');
  const [upstreamPort] = await once(upstream, 'message');
  const gateway = await startGateway(undefined, `http://127.0.0.1:${upstreamPort}`);
  t.teardown(gateway.stop);
  return { upstreamPort, port: gateway.port };
}

async function callFor(t: ExecutionContext, seconds: number, ...groups: Callers[]): Promise<Answered[]> {
  const child = start(t, 'closed-loop.ts');
  const asked: Asked = { seconds, groups };
  const answered = once(child, 'message');
  child.send(asked);
  const [results] = await answered;
  child.kill('SIGKILL');
  return results;
}

const bodyOf = (wish: string): string =>
  JSON.stringify({
    request: { subUserName: wish },
    authentication: { apiUserId: 'caller', apiUserKey: 'key' },
  });

const callsOf = (
  port: number,
  operation: string,
  wish: string,
  callers: number,
  pauseMs?: number,
): Callers => ({
  port,
  path: `/v2/json/reply/${operation}`,
  body: bodyOf(wish),
  callers,
  ...(pauseMs !== undefined && { pauseMs }),
});

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

withBalancer(
  'goodput stays the same with up to 2,000 callers, and is that of HAProxy with as many connections',
  async (t) => {
    const { port, upstreamPort } = await startReplica(t);
    const balancer = await startQueue(t, upstreamPort);
    await callFor(t, 5, callsOf(port, 'GetSearch', 'slow 25', 64));
    const results: { callers: number; good: number; bad: number; reference: number }[] = [];
    for (const callers of [64, 256, 400, 800, 2_000]) {
      const [ours] = await callFor(t, 8, callsOf(port, 'GetSearch', 'slow 25', callers));
      const [theirs] = await callFor(t, 8, callsOf(balancer, 'GetSearch', 'slow 25', callers));
      results.push({ callers, good: ours?.good ?? 0, bad: ours?.bad ?? 0, reference: theirs?.good ?? 0 });
    }
    t.log(JSON.stringify(results));
    const best = Math.max(...results.map(({ good }) => good));
    for (const { callers, good, bad, reference } of results) {
      t.true(good >= 0.95 * best, `${callers} callers: ${good}, best ${best}`);
      t.true(good >= 0.95 * reference, `${callers} callers: ${good}, HAProxy ${reference}`);
      if (callers < 800) t.true(bad <= 0.05 * (good + bad), `${callers} callers: ${bad} rejected`);
    }
  },
);

for (const [what, ms] of [
  ['succeed after 8 s', 8_000],
  ['hang', 3_600_000],
] as const) {
  test.serial(`150 slow calls that ${what} do not delay a fast operation of the same caller`, async (t) => {
    const { port } = await startReplica(t);
    const [, fast] = await callFor(
      t,
      20,
      callsOf(port, 'GetSearch', `slow ${ms}`, 150, 300),
      callsOf(port, 'UpdateSubUser', 'slow 10', 10, 100),
    );
    const { good = 0, bad = 0, times = [] } = fast ?? {};
    t.true(good > 500, `${good} calls`);
    t.true(bad <= 0.01 * (good + bad), `${bad} of ${good + bad} failed`);
    const median = times[Math.floor(times.length / 2)] ?? Number.POSITIVE_INFINITY;
    t.true(median <= 50, `${median.toFixed(1)} ms`);
  });
}

test.serial(
  '1,000 connections that call a fresh replica at once delay its probe by at most 1 s',
  async (t) => {
    const { port } = await startReplica(t);
    const body = bodyOf('slow 25');
    const message = `POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const sockets = Array.from({ length: 1_000 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.once('connect', () => socket.write(message));
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
    t.is(status, 200);
    t.true(ms <= 1_000, `${ms.toFixed(0)} ms`);
  },
);
