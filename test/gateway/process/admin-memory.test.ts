import test from 'ava';
import {
  AdminMemory,
  maxFailedNetworks,
  maxFailures,
  maxSessions,
  sessionTimes,
} from '../../../gateway/process/admin-memory.ts';

const start = 1_800_000_000_000;

function memoryAt(): { readonly memory: AdminMemory; readonly pass: (ms: number) => void } {
  let now = start;
  const memory = new AdminMemory(() => now);
  return {
    memory,
    pass: (ms) => {
      now += ms;
    },
  };
}

const enter = (memory: AdminMemory, session: string | undefined) =>
  memory.run({ kind: 'enter', network: '10.0.0.1', session }).session;

test('G70: a session ends after 30 minutes without a request', (t) => {
  const { memory, pass } = memoryAt();
  const { secret = '', session } = memory.run({ kind: 'open', token: 'aa' });
  t.is(session?.idleUntil, start + 30 * 60_000);
  pass(sessionTimes.idle - 1);
  t.is(enter(memory, secret)?.csrf, session?.csrf);
  pass(sessionTimes.idle - 1);
  t.truthy(enter(memory, secret));
  pass(sessionTimes.idle);
  t.is(enter(memory, secret), undefined);
});

test('G70: a session ends after 12 hours in use', (t) => {
  const { memory, pass } = memoryAt();
  const { secret = '', session } = memory.run({ kind: 'open', token: 'aa' });
  t.is(session?.until, start + 12 * 60 * 60_000);
  for (let minutes = 20; minutes < 12 * 60; minutes += 20) {
    pass(20 * 60_000);
    t.truthy(enter(memory, secret));
  }
  pass(20 * 60_000);
  t.is(enter(memory, secret), undefined);
});

test('G70: the session that was idle for longest makes space for one more', (t) => {
  const { memory } = memoryAt();
  const secrets = Array.from({ length: maxSessions }, () => memory.run({ kind: 'open', token: 'aa' }).secret);
  t.truthy(enter(memory, secrets[0]));
  t.truthy(memory.run({ kind: 'open', token: 'aa' }).session);
  t.truthy(enter(memory, secrets[0]));
  t.is(enter(memory, secrets[1]), undefined);
  t.truthy(enter(memory, secrets[2]));
});

test('G70: an ended session and an unknown secret open nothing', (t) => {
  const { memory } = memoryAt();
  const { secret = '' } = memory.run({ kind: 'open', token: 'aa' });
  memory.run({ kind: 'end', session: secret });
  t.is(enter(memory, secret), undefined);
  t.is(enter(memory, 'other'), undefined);
});

const blockedMs = (memory: AdminMemory, network: string) =>
  memory.run({ kind: 'enter', network, session: undefined }).blockedMs;

test('G69: ten failures within a minute block a network for a minute', (t) => {
  const { memory, pass } = memoryAt();
  for (let count = 1; count < maxFailures; count++) {
    memory.run({ kind: 'fail', network: '10.0.0.1' });
    pass(1_000);
  }
  t.is(blockedMs(memory, '10.0.0.1'), 0);
  memory.run({ kind: 'fail', network: '10.0.0.1' });
  t.is(blockedMs(memory, '10.0.0.1'), 60_000);
  t.is(blockedMs(memory, '10.0.0.2'), 0);
  pass(60_000);
  t.is(blockedMs(memory, '10.0.0.1'), 0);
});

test('G69: ten failures in more than a minute block nothing', (t) => {
  const { memory, pass } = memoryAt();
  for (let count = 1; count <= 3 * maxFailures; count++) {
    memory.run({ kind: 'fail', network: '10.0.0.1' });
    t.is(blockedMs(memory, '10.0.0.1'), 0);
    pass(60_000 / (maxFailures - 1) + 1);
  }
});

test('G69: failures of 1000 networks are remembered', (t) => {
  const { memory } = memoryAt();
  const failAll = (network: string, times: number): void => {
    for (let count = 0; count < times; count++) memory.run({ kind: 'fail', network });
  };
  failAll('first', maxFailures);
  for (let at = 1; at < maxFailedNetworks; at++) failAll(`network ${at}`, 1);
  t.not(blockedMs(memory, 'first'), 0);
  failAll('one more', 1);
  t.is(blockedMs(memory, 'first'), 0);
});
