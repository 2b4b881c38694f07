import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from '../../gateway/process/serve.ts';
import { screeningContract } from '../../mappings/loader/load.ts';
import type { BigHealth } from '../big.ts';

/** A gateway that monitors its own event loop and memory between the messages `watch` and `tell`. */
const config = process.env.BENCH_CONFIG;
const running = await serve({
  ...(config === undefined ? {} : { config }),
  contract: config === undefined ? (process.env.SOAPBRIDGE_CONTRACT ?? screeningContract) : '',
  host: '127.0.0.1',
  port: 0,
  upstreamUrl: config === undefined ? process.env.SOAPBRIDGE_UPSTREAM_URL : undefined,
  upstreamDatabase: undefined,
  publicUrl: undefined,
  trustedProxies: [],
  logLevel: 'silent',
  drainDelayMs: 0,
  logTo: new Writable({ write: (_chunk, _encoding, done) => done() }),
});

/** Interval of the event-loop checks, in ms. */
const beatMs = 5;
const delays = monitorEventLoopDelay({ resolution: beatMs });
let heartbeat: NodeJS.Timeout | undefined;
let cpuBefore = 0;
let cpuAtFirst = 0;
let heldCpu = 0;
let before = 0;
let peak = 0;

/** Returns the CPU time of this thread, in ms. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Returns the CPU time of the whole process, in ms. */
function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

process.on('message', async (message) => {
  if (message === 'watch') {
    globalThis.gc?.();
    await delay(20);
    delays.reset();
    delays.enable();
    heldCpu = 0;
    before = process.memoryUsage.rss();
    peak = before;
    cpuBefore = cpuMs();
    cpuAtFirst = processCpuMs();
    heartbeat = setInterval(() => {
      const now = cpuMs();
      heldCpu = Math.max(heldCpu, now - cpuBefore);
      cpuBefore = now;
      peak = Math.max(peak, process.memoryUsage.rss());
    }, beatMs);
    process.send?.('watching');
    return;
  }
  delays.disable();
  clearInterval(heartbeat);
  const health: BigHealth = {
    heldMs: Math.max(0, delays.max / 1e6 - beatMs),
    heldCpuMs: Math.max(heldCpu, cpuMs() - cpuBefore),
    cpuMs: processCpuMs() - cpuAtFirst,
    peakBytes: peak - before,
  };
  process.send?.(health);
});
process.send?.(running.url);
