import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { withConstants } from '../constant-limits.ts';
import { freePort } from '../free-port.ts';
import type { Served } from '../gateway/commands/run.ts';
import {
  call,
  installed,
  inTurn,
  kill,
  scratch,
  startBalancer,
  startCallers,
  startReplica,
  startStore,
  startUpstream,
  storeTool,
} from './fleet.ts';

const isWhole = installed('haproxy') !== undefined && storeTool !== undefined;
const declare = isWhole ? test.serial : test.skip;
const title = (text: string): string =>
  isWhole ? text : `${text} (not looked at: HAProxy, or Valkey or Redis, is not installed)`;

/** Starts three replicas behind HAProxy, with limits counted in a store. */
async function startFleet(
  t: ExecutionContext,
  rules: string,
  delayMs = 5,
  more: Record<string, string> = {},
) {
  const storePort = await freePort();
  const store = await startStore(t, storePort);
  const folder = scratch(t);
  const limits = join(folder, 'caller-limits.yaml');
  const key = join(folder, 'key');
  writeFileSync(limits, rules);
  writeFileSync(key, randomBytes(32), { mode: 0o600 });
  const upstream = await startUpstream(t, delayMs);
  const environment = {
    SOAPBRIDGE_UPSTREAM_URL: upstream.url,
    SOAPBRIDGE_CALLER_LIMITS: limits,
    SOAPBRIDGE_CALLER_KEY: key,
    SOAPBRIDGE_LIMIT_STORE: `redis://127.0.0.1:${storePort}`,
    ...more,
  };
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const replicas: Served[] = [];
  for (const port of ports) replicas.push(await startReplica(t, port, environment));
  const port = await startBalancer(t, ports);
  await pause(1_500);
  return { port, ports, replicas, environment, store, storePort, upstream, limits };
}

/** Counts results by status. */
function statusesOf(results: readonly { readonly status: number }[]): string {
  const counts = new Map<number, number>();
  for (const { status } of results) counts.set(status, (counts.get(status) ?? 0) + 1);
  return JSON.stringify([...counts]);
}

const failed = (results: readonly { readonly status: number }[]): number =>
  results.filter(({ status }) => status !== 200).length;

declare(title('limits that three replicas share are exact within 2 %'), async (t) => {
  const { port, ports } = await startFleet(t, 'each: { rate: 1000/h }', 5, {
    // so that a busy machine rejects no call, and a slow store is tolerated
    SOAPBRIDGE_LIMITS: 'loopDelayMs=60000',
    ...withConstants({ limitStoreMs: 20_000 }),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 24 });
  const results = await Promise.all(Array.from({ length: 1_300 }, () => call(port, agent)));
  agent.destroy();
  const passed = results.filter(({ status }) => status === 200).length;
  t.true(Math.abs(passed - 1_000) <= 20, `${passed} passed`);
  t.true(results.filter(({ status }) => status === 429).length > 100, statusesOf(results));
  // all three replicas have limited calls
  for (const each of ports) {
    const page = await (await fetch(`http://127.0.0.1:${each}/metrics`)).text();
    t.true(Number(/^soapbridge_limited_total\{.*\} (\d+)$/m.exec(page)?.[1]) > 10, page);
  }
});

declare(title('calls under way that three replicas allow a caller together are exact'), async (t) => {
  const { port, upstream } = await startFleet(t, 'each: { concurrent: 10 }', 3_000, {
    SOAPBRIDGE_LIMITS: 'loopDelayMs=60000',
    ...withConstants({ limitStoreMs: 20_000 }),
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 60 });
  const burst = () => Promise.all(Array.from({ length: 60 }, () => call(port, agent)));
  for (const turn of ['first', 'second']) {
    const results = await burst();
    t.is(statusesOf(results.toSorted((a, b) => a.status - b.status)), '[[200,10],[429,50]]', turn);
  }
  agent.destroy();
  t.is([...upstream.met.values()].length, 20);
});

declare(
  title('a rolling restart and reloads under load fail no call, and no write is done twice'),
  async (t) => {
    const { port, ports, replicas, environment, upstream, limits } = await startFleet(
      t,
      'each: { rate: 100000/s }',
    );
    const callers = startCallers(port, 20);
    for (const [index, served] of replicas.entries()) {
      const gone = once(served.child, 'exit');
      served.child.kill('SIGTERM');
      t.deepEqual(await gone, [0, null]);
      const replicaPort = ports[index] ?? 0;
      replicas[index] = await startReplica(t, replicaPort, environment);
      await inTurn(replicaPort);
    }
    writeFileSync(limits, 'each: { rate: 200000/s }');
    for (const { child } of replicas) child.kill('SIGHUP');
    const isNew = ({ headers }: { readonly headers: object }): boolean =>
      'ratelimit-policy' in headers && String(headers['ratelimit-policy']).includes('q=200000');
    while (!callers.results.slice(-30).every(isNew)) await pause(100);
    const results = await callers.stop();
    t.true(results.length > 500, `${results.length} calls`);
    t.is(failed(results), 0, statusesOf(results));
    for (const [id, times] of upstream.met) t.is(times, 1, id);
  },
);

declare(title('a store that is killed and comes back fails no call'), async (t) => {
  const { port, ports, store, storePort } = await startFleet(t, 'each: { rate: 100000/s }');
  const callers = startCallers(port, 12);
  await pause(1_000);
  await kill(store);
  await pause(2_000);
  const away = await Promise.all(
    ports.map(async (each) => (await fetch(`http://127.0.0.1:${each}/metrics`)).text()),
  );
  for (const page of away) t.regex(page, /^soapbridge_limit_store_away 1$/m);
  await startStore(t, storePort);
  await pause(3_000);
  const back = await Promise.all(
    ports.map(async (each) => (await fetch(`http://127.0.0.1:${each}/metrics`)).text()),
  );
  for (const page of back) t.regex(page, /^soapbridge_limit_store_away 0$/m);
  const results = await callers.stop();
  t.true(results.length > 200);
  t.is(failed(results), 0, statusesOf(results));
});

declare(
  title('of a replica that is killed only the calls under way fail, and no write is done twice'),
  async (t) => {
    const { port, replicas, upstream } = await startFleet(t, 'each: { rate: 100000/s }', 100);
    const count = 24;
    const callers = startCallers(port, count);
    await pause(2_000);
    const [, victim] = replicas;
    const killedAt = performance.now();
    if (victim !== undefined) await kill(victim.child);
    await pause(4_000);
    const results = await callers.stop();
    const failures = results.filter(({ status }) => status !== 200);
    // a third of the callers, doubled for uneven distribution
    t.true(failures.length <= (count / 3) * 2, `${failures.length} failed`);
    for (const { at } of failures) t.true(at - killedAt < 2_000, `${at - killedAt} ms after`);
    t.true(results.filter(({ at }) => at > killedAt + 2_000).length > 50);
    for (const [id, times] of upstream.met) t.is(times, 1, id);
  },
);
