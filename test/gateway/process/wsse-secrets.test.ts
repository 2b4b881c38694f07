import test from 'ava';
import { isPrivate } from '../../../mappings/loader/document/private-file.ts';

for (const [mode, uid, user, expected] of [
  [0o600, 1000, 1000, true],
  [0o400, 1000, 1000, true],
  [0o640, 1000, 1000, false],
  [0o604, 1000, 1000, false],
  // a mounted Secret belongs to root
  [0o440, 0, 1000, true],
  [0o640, 0, 1000, true],
  [0o660, 0, 1000, false],
  [0o450, 0, 1000, false],
  [0o444, 0, 1000, false],
  [0o440, 0, 0, false],
  [0o440, 1000, 0, false],
  [0o440, 0, undefined, false],
] as const) {
  const access = expected ? 'is' : 'is not';
  test(`W49: a file with mode ${mode.toString(8)} of the user ${uid} ${access} private for the user ${user}`, (t) => {
    t.is(isPrivate({ mode, uid }, user), expected);
  });
}
