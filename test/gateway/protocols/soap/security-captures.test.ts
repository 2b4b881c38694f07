import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import test from 'ava';
import { expectedOf, gateways, outcomeOf, replayAll } from './security-captures.ts';
import { cases, folder } from './wsse-cases.ts';

// simulates an uptime of a day, because the messages are older than this process
test.before(() => {
  mock.method(process, 'uptime', () => 86_400);
});

test.serial('W46, W47, W48, W50, W53: every captured request has the result of its rules', (t) =>
  replayAll(t, false),
);

test.serial('W49: every captured digest is checked with the secret of its Username', async (t) => {
  await replayAll(t, true);
});

test.serial('W49: a digest is refused the second time', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 0 });
  try {
    for (const [file, one] of Object.entries(cases)) {
      const first = expectedOf(file, one, true);
      if (one.password !== 'PasswordDigest' || typeof first === 'string') continue;
      mock.timers.setTime(Date.parse(one.receivedAt));
      const [outcome] = await outcomeOf(gateways.checking, readFileSync(join(folder, file)));
      t.is(outcome, 'FailedAuthentication', file);
    }
  } finally {
    mock.timers.reset();
  }
});

test.serial('W48: refuses a Timestamp, and a digest, that expired more than five minutes ago', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 0 });
  try {
    for (const [file, one] of Object.entries(cases)) {
      const isRead = expectedOf(file, one, true);
      if (typeof isRead === 'string') continue;
      const now = Date.parse(one.receivedAt) + 11 * 60_000;
      mock.timers.setTime(now);
      const { timestamp, created, password } = one;
      const end = timestamp === null ? Number.NaN : Date.parse(timestamp.expires ?? timestamp.created);
      const isOld = now > end + 300_000;
      const isOldDigest = password === 'PasswordDigest' && now > Date.parse(created ?? '') + 600_000;
      const [outcome] = await outcomeOf(gateways.checking, readFileSync(join(folder, file)));
      if (isOld || isOldDigest) t.is(outcome, 'w:MessageExpired', file);
      else t.deepEqual(outcome, isRead, file);
    }
  } finally {
    mock.timers.reset();
  }
});
