import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { CallerPlaces } from '../../gateway/admission/caller-places.ts';
import { CallerWindows } from '../../gateway/admission/caller-windows.ts';
import { LimitStore } from '../../gateway/admission/limit-store.ts';
import { SharedPlaces } from '../../gateway/admission/shared-places.ts';
import { SharedWindows } from '../../gateway/admission/shared-windows.ts';
import { freePort } from '../free-port.ts';
import { kill, startStore, storeTool } from './fleet.ts';

const declare = storeTool === undefined ? test.skip : test.serial;
const title = (text: string): string =>
  storeTool === undefined ? `${text} (not looked at: neither Valkey nor Redis is installed)` : text;

/** Opens a store client like one process, and collects its log messages. */
async function open(t: ExecutionContext, port: number, { timeoutMs = 1_000, keptMs = 30_000 } = {}) {
  const told: string[] = [];
  const store = await LimitStore.open({
    url: `redis://127.0.0.1:${port}`,
    timeoutMs,
    onChange: (isAway, code) => told.push(isAway ? `away ${code}` : 'back'),
  });
  const places = new SharedPlaces(store, new CallerPlaces(), keptMs);
  const close = (): void => {
    places.close();
    store.close();
  };
  t.teardown(close);
  return { store, windows: new SharedWindows(store, new CallerWindows(100)), places, told, close };
}

const rate = { name: 'rate', calls: 10, seconds: 60 };
const quota = { name: 'quota', calls: 10, seconds: undefined };

declare(title('three count each call once, together'), async (t) => {
  const port = await freePort();
  await startStore(t, port);
  const all = await Promise.all([open(t, port), open(t, port), open(t, port)]);
  const counts = await Promise.all(
    Array.from({ length: 300 }, (_, index) => all[index % 3]?.windows.add('ann rate', rate, Date.now())),
  );
  const used = counts.map((count) => count?.used ?? 0).toSorted((a, b) => a - b);
  t.deepEqual(
    used,
    Array.from({ length: 300 }, (_, index) => index + 1),
  );
  for (const count of counts) t.true((count?.resetMs ?? 0) > 50_000 && (count?.resetMs ?? 0) <= 60_000);
});

declare(title('a quota ends at midnight in the store too, and the next day counts anew'), async (t) => {
  const port = await freePort();
  await startStore(t, port);
  const { windows } = await open(t, port);
  const evening = Date.parse('2026-11-22T23:59:00.000Z');
  t.like(await windows.add('ann quota', quota, evening), { used: 1 });
  const second = await windows.add('ann quota', quota, evening + 30_000);
  t.is(second.used, 2);
  t.true(second.resetMs <= 60_000);
  t.is((await windows.add('ann quota', quota, evening + 60_000)).used, 1);
});

declare(title('a rule with another time counts anew in the store too'), async (t) => {
  const port = await freePort();
  await startStore(t, port);
  const { windows } = await open(t, port);
  await windows.add('ann rate', { ...rate, seconds: 3_600 }, Date.now());
  const first = await windows.add('ann rate', rate, Date.now());
  t.is(first.used, 1);
  t.true(first.resetMs <= 60_000);
});

declare(
  title('while the store is away calls are counted here, and in the store once it is back'),
  async (t) => {
    const port = await freePort();
    const server = await startStore(t, port);
    const { store, windows, told } = await open(t, port);
    t.is((await windows.add('ann rate', rate, Date.now())).used, 1);
    await kill(server);
    t.is((await windows.add('ann rate', rate, Date.now())).used, 1);
    t.is((await windows.add('ann rate', rate, Date.now())).used, 2);
    t.true(store.isAway);
    t.is(store.missed, 2);
    t.is(told.length, 1);
    t.regex(told[0] ?? '', /^away /);
    await startStore(t, port);
    while (store.isAway) {
      await pause(50);
      await windows.add('other rate', rate, Date.now());
    }
    t.is(told.length, 2);
    t.is(told[1], 'back');
    t.is((await windows.add('ann rate', rate, Date.now())).used, 1);
  },
);

declare(title('a store that was never there takes no call down'), async (t) => {
  const { windows, told } = await open(t, await freePort());
  t.deepEqual(told, ['away ECONNREFUSED']);
  t.is((await windows.add('ann rate', rate, Date.now())).used, 1);
});

declare(
  title('limitStoreMs: a store that answers within it counts, one that doesn’t is left alone'),
  async (t) => {
    const port = await freePort();
    const server = await startStore(t, port);
    const { store, windows, told } = await open(t, port, { timeoutMs: 300 });
    t.is((await windows.add('ann rate', rate, Date.now())).used, 1);
    t.deepEqual(told, []);
    server.kill('SIGSTOP');
    const before = performance.now();
    t.is((await windows.add('ann rate', rate, Date.now())).used, 1);
    t.true(performance.now() - before >= 290);
    t.true(store.isAway);
    // the store is not asked again immediately
    const again = performance.now();
    await windows.add('ann rate', rate, Date.now());
    t.true(performance.now() - again < 290);
    server.kill('SIGCONT');
  },
);

declare(
  title('three give a caller so many places, together, and again once they are given back'),
  async (t) => {
    const port = await freePort();
    await startStore(t, port);
    const all = await Promise.all([open(t, port), open(t, port), open(t, port)]);
    const takeAll = () =>
      Promise.all(
        Array.from({ length: 90 }, (_, index) => all[index % 3]?.places.take('ann', 20, Date.now())),
      );
    const first = await takeAll();
    t.is(first.filter((leave) => leave !== undefined).length, 20);
    t.is(typeof (await all[0].places.take('bob', 20, Date.now())), 'function');
    for (const leave of first) leave?.();
    const second = await takeAll();
    t.is(second.filter((leave) => leave !== undefined).length, 20);
  },
);

declare(
  title(
    'limitPlaceMs: places of a process that is gone are free after it, those of calls under way are kept',
  ),
  async (t) => {
    const port = await freePort();
    await startStore(t, port);
    const keptMs = 600;
    const gone = await open(t, port, { keptMs });
    const left = await open(t, port, { keptMs });
    t.truthy(await gone.places.take('ann', 2, Date.now()));
    t.truthy(await left.places.take('ann', 2, Date.now()));
    gone.close();
    t.is(await left.places.take('ann', 2, Date.now()), undefined);
    const before = performance.now();
    while ((await left.places.take('ann', 2, Date.now())) === undefined) await pause(20);
    t.true(performance.now() - before < 10_000);
    await pause(2 * keptMs);
    t.is(await left.places.take('ann', 2, Date.now()), undefined);
  },
);

declare(title('while the store is away places are counted here, and given back here'), async (t) => {
  const { places, store } = await open(t, await freePort());
  const leave = await places.take('ann', 1, Date.now());
  t.is(typeof leave, 'function');
  t.is(await places.take('ann', 1, Date.now()), undefined);
  leave?.();
  t.is(typeof (await places.take('ann', 1, Date.now())), 'function');
  t.is(store.missed, 3);
});
