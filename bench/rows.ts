import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A figure of the bench, in ns per byte, ms or MB. Less is better. */
export type Row = readonly [name: string, value: number];

/**
 * Measures a tree with the tree's own bench, without other servers, and prints JSON of a list of {@link Row}. Usage:
 * `node bench/rows.ts TREE`. `bench/against.ts --rows` runs it for two trees alternately.
 */
async function rowsOf(tree: string): Promise<readonly Row[]> {
  const from = (file: string): string => pathToFileURL(join(tree, 'bench', file)).href;
  const codecs: typeof import('./codecs.ts') = await import(from('codecs.ts'));
  const growth: typeof import('./growth.ts') = await import(from('growth.ts'));
  const contracts: typeof import('./contracts.ts') = await import(from('contracts.ts'));
  const start: typeof import('./start.ts') = await import(from('start.ts'));
  const big: typeof import('./big.ts') = await import(from('big.ts'));

  const rows: Row[] = [];
  for (const { name, megabytesPerSecond } of codecs.measureCodecs(2, 7))
    if (/soapbridge|our/.test(name)) rows.push([`${name}, 2 MB, ns/byte`, 1e3 / megabytesPerSecond]);
  for (const { direction, nanosecondsPerByte } of growth.measureGrowth(3))
    for (const [index, value] of nanosecondsPerByte.entries())
      rows.push([`${direction}, ${growth.growthSizes[index]} MB, ns/byte`, value]);
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-rows-'));
  try {
    for (const count of [1_000, 5_000]) {
      const file = join(folder, `${count}.json`);
      contracts.writePlainDocument(file, count);
      rows.push([`${count} plain operations, load and compile, ms`, contracts.measureContractLoad(file)]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const { what, megabytes, heldCpuMs, memoryRatio, totalMs } of await big.measureBig([10, 50], 3)) {
    rows.push([`${what}, ${megabytes} MB, event loop blocked, CPU ms`, heldCpuMs]);
    rows.push([`${what}, ${megabytes} MB, memory ÷ document`, memoryRatio]);
    rows.push([`${what}, ${megabytes} MB, total, ms`, totalMs]);
  }
  const { firstAnswerMs, idleMegabytes } = await start.measureStart(3);
  rows.push(['start to first reply, ms', firstAnswerMs], ['resident memory idle, MB', idleMegabytes]);
  return rows;
}

if (import.meta.main) console.log(JSON.stringify(await rowsOf(resolve(process.argv[2] ?? '.'))));
