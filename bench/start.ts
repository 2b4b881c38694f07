import { join } from 'node:path';
import { freePort, median, residentMegabytes, start, stop } from './process.ts';

export interface StartFigures {
  /** From spawning the process to its first answer, in ms. */
  readonly firstAnswerMs: number;
  /** Resident memory after that, in MB. */
  readonly idleMegabytes: number;
}

/** Start of `soapbridge serve` with the screening contract and the embedded upstream, medians. */
export async function measureStart(rounds: number): Promise<StartFigures> {
  const times: number[] = [];
  const sizes: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const port = await freePort();
    const began = performance.now();
    const started = await start(0, [join(import.meta.dirname, '../bin/soapbridge.js'), 'serve'], 'listens', {
      PORT: String(port),
    });
    const reply = await fetch(`http://127.0.0.1:${port}/v2/clients/template`, {
      headers: { 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key' },
    });
    if (!reply.ok) throw new Error(`expected 200, got ${reply.status}`);
    await reply.arrayBuffer();
    times.push(performance.now() - began);
    sizes.push(residentMegabytes(started.pid));
    await stop(started);
  }
  return { firstAnswerMs: median(times), idleMegabytes: median(sizes) };
}
