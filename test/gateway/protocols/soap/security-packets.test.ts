import test from 'ava';
import { replayAll } from './security-captures.ts';

test.serial('W46: every captured request reads alike when each byte is a packet of its own', (t) =>
  replayAll(t, false, true),
);
