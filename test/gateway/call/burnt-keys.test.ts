import test from 'ava';
import { burntMs, type KeyLock, OwnBurntKeys } from '../../../gateway/call/burnt-keys.ts';

let count = 0;

function lockOf(caller: string | undefined, mayHideSigner = false, keys = [`key ${count++}`]): KeyLock {
  return { keys, caller, mayHideSigner };
}

test('X24: a reserved key is refused until it is released, or for one hour', (t) => {
  const keys = new OwnBurntKeys(10);
  const lock = lockOf('a');
  t.is(keys.reserve(lock, 0), 'free');
  t.is(keys.reserve(lock, 0), 'burnt');
  keys.release(lock);
  t.is(keys.sizeAt(0), 0);
  t.is(keys.reserve(lock, 0), 'free');
  t.is(keys.reserve(lockOf(undefined, false, [...lock.keys]), burntMs - 1), 'burnt');
  t.is(keys.reserve(lock, burntMs), 'free');
  t.is(keys.sizeAt(burntMs), 1);
});

test('X24: wsseBurntKeys: signers fill one half of the list, and calls without a signer the other', (t) => {
  const keys = new OwnBurntKeys(10);
  for (let at = 0; at < 5; at++) t.is(keys.reserve(lockOf(`signer ${at}`), 0), 'free');
  t.is(keys.reserve(lockOf('another'), 0), 'full');
  for (let at = 0; at < 5; at++) t.is(keys.reserve(lockOf(undefined, true), 0), 'free');
  t.is(keys.sizeAt(0), 10);
  t.is(keys.reserve(lockOf(undefined, true), 0), 'full');
  t.is(keys.reserve(lockOf(undefined, true), burntMs), 'free');
});

test('X24: in a full half, a call without an encrypted Signature goes on, because nothing is decrypted', (t) => {
  const keys = new OwnBurntKeys(2);
  t.is(keys.reserve(lockOf(undefined, true), 0), 'free');
  t.is(keys.reserve(lockOf(undefined, false), 0), 'free');
  t.is(keys.sizeAt(0), 1);
  t.is(keys.reserve(lockOf(undefined, true), 0), 'full');
});

test('X24: a signer has at most four times as many entries as are free', (t) => {
  const keys = new OwnBurntKeys(20);
  for (let at = 0; at < 8; at++) t.is(keys.reserve(lockOf('a'), 0), 'free');
  t.is(keys.reserve(lockOf('a'), 0), 'full');
  t.is(keys.reserve(lockOf('b'), 0), 'free');
});

test('X24: a call with two keys needs both, and a key that is named twice counts once', (t) => {
  const keys = new OwnBurntKeys(4);
  const both = lockOf('a', false, ['one', 'two']);
  t.is(keys.reserve(both, 0), 'free');
  t.is(keys.reserve(lockOf('b', false, ['three', 'two']), 0), 'burnt');
  t.is(keys.sizeAt(0), 2);
  keys.release(both);
  t.is(keys.reserve(lockOf('b', false, ['three', 'three']), 0), 'free');
  t.is(keys.sizeAt(0), 1);
});
