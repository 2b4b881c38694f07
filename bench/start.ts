import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort, median, residentMegabytes, type Started, start, stop } from './process.ts';

export interface StartFigures {
  /** Time from spawning the process to its first response, in ms. */
  readonly firstAnswerMs: number;
  /** Resident memory of the idle process, in MB. */
  readonly idleMegabytes: number;
}

/**
 * Delay before measuring memory. Memory used only for the start is released within the first five seconds
 * (`gateway/process/memory.ts`).
 */
const idleMs = 4_000;

/**
 * Measures the start of `soapbridge serve` with the screening contract and the embedded upstream. Returns medians of
 * the start time, one start at a time, and of the idle memory.
 */
export async function measureStart(rounds: number): Promise<StartFigures> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { started, ms } = await startAndCall();
    times.push(ms);
    await stop(started);
  }
  const sizes: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { started } = await startAndCall();
    await setTimeout(idleMs);
    sizes.push(residentMegabytes(started.pid));
    await stop(started);
  }
  return { firstAnswerMs: median(times), idleMegabytes: median(sizes) };
}

async function startAndCall(): Promise<{ readonly started: Started; readonly ms: number }> {
  const port = await freePort();
  const began = performance.now();
  const started = await start(
    0,
    [join(import.meta.dirname, '../bin/soapbridge.js'), 'serve', '--demo'],
    'listens',
    {
      PORT: String(port),
    },
  );
  const reply = await fetch(`http://127.0.0.1:${port}/v2/clients/template`, {
    headers: { 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key' },
  });
  if (!reply.ok) throw new Error(`expected 200, got ${reply.status}`);
  await reply.arrayBuffer();
  return { started, ms: performance.now() - began };
}
