import test, { type ExecutionContext } from 'ava';
import { LimitStore } from '../../gateway/admission/limit-store.ts';
import { SharedEntries } from '../../gateway/admission/shared-entries.ts';
import { burntMs, type KeyLock } from '../../gateway/call/burnt-keys.ts';
import { SharedBurntKeys } from '../../gateway/call/shared-burnt-keys.ts';
import { kill, startStore, storeTool } from '../fleet/fleet.ts';
import { freePort } from '../free-port.ts';
import { signedThenEncrypted } from './encrypt.ts';
import { requestOf, sendAt, startSigned } from './signed.ts';

// Burnt keys in a real store.

let count = 0;

/** Returns a key of 32 characters. */
function newKey(): string {
  return `key ${count++}`.padEnd(32, '.');
}

function lockOf(caller: string | undefined, mayHideSigner = false, keys = [newKey()]): KeyLock {
  return { keys, caller, mayHideSigner };
}

async function startKeys(t: ExecutionContext, most: number, processes: number) {
  t.truthy(storeTool, 'valkey-server or redis-server is installed');
  const port = await freePort();
  const server = await startStore(t, port);
  const lists: SharedBurntKeys[] = [];
  for (let process = 0; process < processes; process++) {
    const url = `redis://127.0.0.1:${port}`;
    const store = await LimitStore.open({ url, timeoutMs: 2_000, onChange: () => undefined });
    t.teardown(() => store.close());
    const unsigned = Math.floor(most / 2);
    lists.push(
      new SharedBurntKeys({
        signed: new SharedEntries(store, 'keys', most - unsigned),
        unsigned: new SharedEntries(store, 'unsigned-keys', unsigned),
      }),
    );
  }
  return { lists, port, stop: () => kill(server) };
}

test('X24: two processes with a shared store refuse a key until it is released', async (t) => {
  const { lists } = await startKeys(t, 10, 2);
  const [one, other] = lists;
  if (one === undefined || other === undefined) throw new RangeError('expected two processes');
  const now = Date.now();
  const lock = lockOf('alice');
  t.is(await one.reserve(lock, now), 'free');
  t.is(await other.reserve(lock, now), 'burnt');
  t.is(await other.reserve(lockOf(undefined, true, [...lock.keys]), now), 'burnt');
  t.is(await other.reserve(lock, now + burntMs - 1), 'burnt');
  await one.release(lock, now);
  t.is(await other.reserve(lock, now), 'free');
  const answers = await Promise.all(
    [one, other, one, other].map((list, _, all) =>
      list.reserve({ ...lock, keys: [`race ${all.length}`] }, now),
    ),
  );
  t.deepEqual(answers.toSorted(), ['burnt', 'burnt', 'burnt', 'free']);
});

test('X24: a shared list is full in halves, and a lost store permits no key', async (t) => {
  const { lists, stop } = await startKeys(t, 4, 1);
  const [list] = lists;
  if (list === undefined) throw new RangeError('expected one process');
  const now = Date.now();
  for (let at = 0; at < 2; at++) t.is(await list.reserve(lockOf(`signer ${at}`), now), 'free');
  t.is(await list.reserve(lockOf('another'), now), 'full');
  for (let at = 0; at < 2; at++) t.is(await list.reserve(lockOf(undefined, true), now), 'free');
  t.is(await list.reserve(lockOf(undefined, true), now), 'full');
  t.is(await list.reserve(lockOf(undefined, false), now), 'free');
  await stop();
  t.is(await list.reserve(lockOf('signer 3'), now), 'full');
});

test('X24: a key that one gateway burnt is refused by another', async (t) => {
  const { port, stop } = await startKeys(t, 10, 0);
  const more = 'decrypt: { keys: [{ key: gateway.key, certificate: gateway.crt }], cbc: true }';
  const serve = { limitStore: `redis://127.0.0.1:${port}` };
  const start = () => startSigned(t, 'default', undefined, {}, serve, more);
  const [one, other] = [await start(), await start()];
  const codeAt = async (gateway: typeof one, message: string): Promise<string> => {
    const request = requestOf(message, 'text/xml; charset=utf-8');
    return (await sendAt(gateway, request, '2026-11-27T18:01:00Z')).code;
  };
  const good = signedThenEncrypted({ cipher: 'aes128-cbc' });
  t.is(await codeAt(one, good), 'accepted');
  t.is(await codeAt(other, good), 'accepted');
  const bad = good.replace(/(Type="[^"]*Content">.*?<x:CipherValue>)..../, '$1AAAA');
  t.is(await codeAt(one, bad), 'wsse:FailedCheck');
  t.is(await codeAt(other, good), 'wsse:FailedCheck');
  await stop();
  const request = requestOf(signedThenEncrypted({ cipher: 'aes128-cbc' }), 'text/xml; charset=utf-8');
  const { reply, upstream } = await sendAt(other, request, '2026-11-27T18:01:00Z');
  t.regex(reply, /the store of keys that failed is full or unavailable/);
  t.is(upstream, undefined);
});
