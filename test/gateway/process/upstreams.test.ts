import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import type { Log } from '../../../gateway/core/core-options.ts';
import type { ServeOptions } from '../../../gateway/process/serve-options.ts';
import { createUpstreams } from '../../../gateway/process/upstreams.ts';
import type { UpstreamOptions } from '../../../gateway/upstream/http-upstream.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';

const placeOf = (url: string) => ({ upstreamUrl: url, upstream: undefined, limits: undefined });

test('a reload removes the upstreams that no contract uses, and closes them after totalMs', async (t) => {
  const limits = { ...defaultLimits, totalMs: 10, upstreamConnectMs: 1_000 };
  const upstreams = createUpstreams({} as ServeOptions, { limits } as UpstreamOptions);
  t.teardown(() => upstreams.close());
  const [former, kept] = [placeOf('http://127.0.0.1:1'), placeOf('http://127.0.0.1:2')];
  const first = await upstreams.at(former);
  const second = await upstreams.at(kept);
  const closed: string[] = [];
  Object.assign(first, { close: async () => closed.push('former') });
  Object.assign(second, { close: async () => closed.push('kept') });
  upstreams.keepOnly([kept]);
  t.deepEqual(closed, []);
  const probed: unknown[] = [];
  const log = { warn: (fields: object) => probed.push(fields) } as unknown as Log;
  await upstreams.probe(log);
  t.is(probed.length, 1);
  t.like(probed[0], { upstream: 'http://127.0.0.1:2' });
  while (closed.length === 0) await pause(5);
  t.deepEqual(closed, ['former']);
  t.is(await upstreams.at(kept), second);
  t.not(await upstreams.at(former), first);
});
