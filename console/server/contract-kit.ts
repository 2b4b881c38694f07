import { Zip, ZipDeflate } from 'fflate';
import { Kits, zipTime } from '../../wsdl/kits/kits.ts';
import type { OperationSamples } from '../../wsdl/samples/samples.ts';
import { collectionOf, type KitFile } from './kit.ts';
import { createTurns, type Turns } from './turns.ts';
import type { Site } from './view.ts';

/** So many operations a kit on the pages has at most: of more, `soapbridge kit` writes one. */
export const mostInKit = 120;

/** So many kits wait to be made, beside the one that is being made. */
const mostWaiting = 4;

/** Makes kits of many operations, one at a time. */
export interface KitMaker {
  /** A file of the kit of some operations by its name; undefined for another name, `busy` where too many wait. */
  readonly make: (
    site: Site,
    address: string,
    operations: readonly string[],
    file: string,
  ) => Promise<KitFile | 'busy' | undefined>;
}

/** A maker of kits for one contract's pages. */
export function createKitMaker(): KitMaker {
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const turns = createTurns(0);
  return {
    make: async (site, address, operations, file) => {
      const collection = collectionOf(file);
      if (collection === undefined) return undefined;
      if (waiting > mostWaiting) return 'busy';
      waiting++;
      const made = line.then(async () => {
        const kits = await sampled(turns, site, address, operations);
        return file === 'all.zip' ? zipInTurns(turns, kits, operations) : collection.write(kits, operations);
      });
      line = made.catch(() => undefined); // whoever asked for it is told
      try {
        return { file, contentType: collection.contentType, content: await made };
      } finally {
        waiting--;
      }
    },
  };
}

/** All files of a kit in a zip, one operation after the other. */
async function zipInTurns(turns: Turns, kits: Kits, operations: readonly string[]): Promise<Uint8Array> {
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
  await inTurns(turns, [
    () => add(kits.collections(operations)),
    ...operations.map((name) => () => add(kits.filesOf(name))),
  ]);
  zip.end();
  return Buffer.concat(chunks);
}

/** Kits of which each sample is written already. */
async function sampled(
  turns: Turns,
  { compiled, sampler }: Site,
  address: string,
  operations: readonly string[],
): Promise<Kits> {
  const samples = new Map<string, OperationSamples | undefined>();
  await inTurns(
    turns,
    operations.map((name) => () => samples.set(name, sampler().samplesOf(name))),
  );
  return new Kits(compiled, address, { samplesOf: (name) => samples.get(name) });
}

/** Takes steps one after the other. */
async function inTurns(turns: Turns, steps: readonly (() => unknown)[]): Promise<void> {
  for (const step of steps) await turns.take(step);
}
