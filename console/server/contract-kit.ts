import { Zip, ZipDeflate } from 'fflate';
import { Kits, zipTime } from '../../wsdl/kits/kits.ts';
import type { OperationSamples } from '../../wsdl/samples/samples.ts';
import { collectionOf, type KitFile } from './kit.ts';
import type { Site } from './view.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/** Maximum number of operations of a kit on the pages. `soapbridge kit` writes larger kits. */
export const mostInKit = 120;

/** Maximum number of queued kits, in addition to the one being created. */
const mostWaiting = 4;

/** Creates kits of several operations, one kit at a time. */
export interface KitMaker {
  /** Returns a file of a kit by its name, undefined for an unknown name, or `busy` if the queue is full. */
  readonly make: (
    site: Site,
    address: string,
    operations: readonly string[],
    file: string,
  ) => Promise<KitFile | 'busy' | undefined>;
}

/** Creates the kit maker of one contract's pages. */
export function createKitMaker(): KitMaker {
  // `line` creates one kit at a time, because a kit holds its samples in memory, and `queue` accepts only one step.
  // `queue` pauses after each step of that kit, so that calls have priority.
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const queue = createWorkQueue(0);
  return {
    make: async (site, address, operations, file) => {
      const collection = collectionOf(file);
      if (collection === undefined) return undefined;
      if (waiting > mostWaiting) return 'busy';
      waiting++;
      const made = line.then(async () => {
        const kits = await sampled(queue, site, address, operations);
        return file === 'all.zip' ? zipInSteps(queue, kits, operations) : collection.write(kits, operations);
      });
      line = made.catch(() => undefined); // the error is reported to the visitor who requested the file
      try {
        return { file, contentType: collection.contentType, content: await made };
      } finally {
        waiting--;
      }
    },
  };
}

/** Writes all files of a kit to a zip, one operation at a time. */
async function zipInSteps(queue: WorkQueue, kits: Kits, operations: readonly string[]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error;
    chunks.push(chunk);
  });
  const encoder = new TextEncoder();
  const add = (files: ReadonlyMap<string, string>): void => {
    for (const [path, text] of files) {
      const entry = new ZipDeflate(path, { level: 6 });
      entry.mtime = zipTime;
      zip.add(entry);
      entry.push(encoder.encode(text), true);
    }
  };
  await runAll(queue, [
    () => add(kits.collections(operations)),
    ...operations.map((name) => () => add(kits.filesOf(name))),
  ]);
  zip.end();
  return Buffer.concat(chunks);
}

/** Returns kits with all samples created in advance. */
async function sampled(
  queue: WorkQueue,
  { compiled, sampler }: Site,
  address: string,
  operations: readonly string[],
): Promise<Kits> {
  const samples = new Map<string, OperationSamples | undefined>();
  await runAll(
    queue,
    operations.map((name) => () => samples.set(name, sampler().samplesOf(name))),
  );
  return new Kits(compiled, address, { samplesOf: (name) => samples.get(name) });
}

/** Runs the steps one after another. */
async function runAll(queue: WorkQueue, steps: readonly (() => unknown)[]): Promise<void> {
  for (const step of steps) await queue.run(step);
}
