import test from 'ava';
import { replayAll } from './security-captures.ts';

test.serial('W46: every captured request reads the same if each byte is a packet', (t) =>
  replayAll(t, false, true),
);
