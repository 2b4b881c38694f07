import { setTimeout as pause } from 'node:timers/promises';
import { startProcess } from '../process.ts';
import { at, Caller, emptyReply, offer, startUpstream, stop, urlOf } from './load.ts';

/** How long a failing upstream is called, and how long one that is well again is not. */
export async function breaker(): Promise<void> {
  let broken = false;
  const upstream = await startUpstream((response) => {
    if (broken) response.destroy();
    else response.end(emptyReply);
  });
  const served = await startProcess({ UPSTREAM_URL: urlOf(upstream) });
  await offer(served.port, 50, 3, 50);
  const caller = new Caller(served.port);
  const until = async (wanted: number): Promise<number> => {
    const began = performance.now();
    while ((await caller.call()) !== wanted) await pause(20);
    return (performance.now() - began) / 1000;
  };
  broken = true;
  const opened = await until(503);
  const times: number[] = [];
  for (let count = 0; count < 500; count++) {
    const began = performance.now();
    if ((await caller.call()) === 503) times.push(performance.now() - began);
  }
  broken = false;
  const closed = await until(200);
  console.log(
    `breaker: open ${opened.toFixed(1)} s after the upstream broke, closed ${closed.toFixed(1)} s after it was well; an answer while open p50 ${at(times, 0.5).toFixed(2)} ms, p99 ${at(times, 0.99).toFixed(2)} ms`,
  );
  caller.close();
  await stop(served, upstream);
}
