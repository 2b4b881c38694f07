import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from '../../gateway/process/serve.ts';
import { screeningContract } from '../../mappings/loader/load.ts';

/**
 * A gateway in a separate process, started with `--expose-gc`. The soak reads its state over IPC, so production code
 * needs no interface for it.
 */

/** State of the gateway. */
export interface Health {
  readonly heapBytes: number;
  /** Buffers outside the heap. */
  readonly bufferBytes: number;
  readonly residentBytes: number;
  /** Number of active resources by kind: sockets, timers. */
  readonly resources: Readonly<Record<string, number>>;
}

const running = await serve({
  contract: screeningContract,
  host: '127.0.0.1',
  port: 0,
  upstreamUrl: process.env.SOAPBRIDGE_UPSTREAM_URL,
  upstreamDatabase: undefined,
  publicUrl: undefined,
  trustedProxies: [],
  logLevel: 'info',
  drainDelayMs: 0,
  logTo: new Writable({
    write: (_chunk, _encoding, done) => done(),
  }),
});

process.on('message', async () => {
  // twice, since finalizers of the first run can release more
  for (let time = 0; time < 2; time++) {
    await delay(50);
    globalThis.gc?.();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const health: Health = {
    heapBytes: heapUsed,
    bufferBytes: external,
    residentBytes: rss,
    resources: Object.fromEntries(
      Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (kind) => kind)).map(([kind, all]) => [
        kind,
        all?.length ?? 0,
      ]),
    ),
  };
  process.send?.(health);
});
process.on('disconnect', () => running.stop(0));
process.send?.(running.url);
