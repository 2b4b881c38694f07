import { setTimeout as pause } from 'node:timers/promises';
import { startProcess } from '../process.ts';
import { at, Caller, startUpstream, stop, urlOf } from './load.ts';

/** Measures the time from a caller's disconnect to the end of its upstream read. */
export async function abort(): Promise<void> {
  let leave: (() => void) | undefined;
  let left = 0;
  const times: number[] = [];
  const upstream = await startUpstream((response) => {
    response.on('close', () => times.push(performance.now() - left));
    leave?.();
  });
  const served = await startProcess({ SOAPBRIDGE_UPSTREAM_URL: urlOf(upstream) });
  for (let count = 0; count < 1_000; count++) {
    const caller = new Caller(served.port);
    leave = () => {
      left = performance.now();
      caller.close();
    };
    await caller.call();
    while (times.length <= count) await pause(1);
  }
  const soon = times.filter((time) => time <= 50).length;
  console.log(
    `abort: of 1,000 callers that left, ${soon} reads ended upstream within 50 ms; p50 ${at(times, 0.5).toFixed(1)} ms, p99.9 ${at(times, 0.999).toFixed(1)} ms`,
  );
  await stop(served, upstream);
}
