import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { startGateway } from '../gateway/gateway.ts';
import { attackNamed, attacks } from './attacks.ts';
import type { Answered, Asked } from './honest.ts';
import { bars, type Measured, missesOf, rowOf } from './verdict.ts';

const good: Answered = { calls: 1_000, right: 1_000, p50: 2, p99: 5, most: 9, wrong: {} };

const held: Measured = {
  name: 'pattern',
  quiet: good,
  beside: { ...good, right: 995, p99: 15, wrong: { 'status 503': 5 } },
  peakBytes: bars.bytes,
  loopDelayMs: 12,
  exit: '0',
  gatewayPercent: 20,
  attackerPercent: 2,
  counts: { 503: 7 },
  broken: [],
};

test('siege: a result exactly at every bar passes', (t) => {
  t.deepEqual(missesOf(held, [5]), []);
  t.regex(rowOf(held, []), /✔ siege › pattern +99\.5 % of 1000 +15\.0 ms/);
});

const missed: readonly (readonly [words: string, measured: Partial<Measured>])[] = [
  ['99.4 % right: status 503 × 6', { beside: { ...good, right: 994, wrong: { 'status 503': 6 } } }],
  ['99.4 % right without the attack: ', { quiet: { ...good, right: 994 } }],
  ['0.0 % right', { beside: { ...good, calls: 0, right: 0 } }],
  ['p99 of 16 ms, above 15', { beside: { ...good, p99: 16 } }],
  ['memory above 1 GiB', { peakBytes: bars.bytes + 1 }],
  ['ended with 1 out of memory', { exit: '1 out of memory' }],
  ['ended with SIGKILL', { exit: 'SIGKILL' }],
  ['2 promises broken: cut', { broken: ['cut', 'cut'] }],
];
for (const [words, measured] of missed) {
  test(`siege: a result beyond a bar fails, and only that: ${words}`, (t) => {
    const misses = missesOf({ ...held, ...measured }, [5]);
    t.is(misses.length, 1);
    t.true(misses[0]?.says.startsWith(words), misses[0]?.says);
    t.regex(rowOf({ ...held, ...measured }, misses), /✘ siege › pattern .*missed: /s);
  });
}

test('siege: a p99 that a quiet run had too is not attributed to the attack', (t) => {
  const slow: Measured = { ...held, beside: { ...good, p99: 40 } };
  t.is(missesOf(slow, [5, 39]).length, 1);
  t.deepEqual(missesOf(slow, [5, 40, 5]), []);
});

test('siege: attacks have unique names', (t) => {
  t.is(new Set(attacks.map(({ name }) => name)).size, attacks.length);
  for (const attack of attacks) t.is(attackNamed(attack.name), attack);
  t.throws(() => attackNamed('none'), {
    instanceOf: RangeError,
    message: /^attack: expected one of pattern, /,
  });
});

/** Runs the normal callers for half a second and returns their report. */
async function callHonestly(t: ExecutionContext, port: number): Promise<Answered> {
  const honest = fork(new URL('honest.ts', import.meta.url));
  t.teardown(() => honest.kill('SIGKILL'));
  const answered = once(honest, 'message');
  honest.send({ port, seconds: 0.5 } satisfies Asked);
  const [answer] = await answered;
  return answer;
}

test('siege: honest callers get correct replies of a gateway with the siege’s upstream', async (t) => {
  const upstream = fork(new URL('upstream.ts', import.meta.url));
  t.teardown(() => upstream.kill('SIGKILL'));
  const [upstreamPort] = await once(upstream, 'message');
  const { port } = await startGateway(t, { serve: { upstreamUrl: `http://127.0.0.1:${upstreamPort}` } });
  const { calls, right, wrong } = await callHonestly(t, port);
  t.deepEqual([calls, right, wrong], [25, 25, {}]);
});

test('siege: other replies of honest callers count as wrong', async (t) => {
  let answers = 0;
  const server = createServer((request, response) => {
    request.resume();
    answers++;
    if (answers % 2 === 0) response.writeHead(503).end();
    else response.end('{"id":"another"}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { calls, right, wrong } = await callHonestly(t, (server.address() as AddressInfo).port);
  t.is(right, 0);
  t.is(calls, 25);
  t.true((wrong['status 503'] ?? 0) > 5 && (wrong['another reply'] ?? 0) > 5);
});
