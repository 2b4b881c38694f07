import { readFileSync, writeFileSync } from 'node:fs';

/** A named part of an archive. */
export interface Named {
  readonly name: string;
  readonly bytes: Buffer;
}

const lineEnd = 0x0a;

/**
 * Reads an archive: one file with many records. A record is a line of JSON, then its bytes unchanged, then a line end.
 * The JSON has `name`, `length` in bytes, and the record's other properties.
 *
 * @throws {SyntaxError} if a line is not JSON
 * @throws {Error} if a record is shorter than its length, or two records have one name
 */
export function readArchive<Item extends Named>(file: string): Item[] {
  const archive = readFileSync(file);
  const records = new Map<string, Item>();
  for (let at = 0; at < archive.length; ) {
    const start = archive.indexOf(lineEnd, at) + 1;
    const { length, ...properties } = JSON.parse(archive.toString('utf8', at, start));
    const end = start + length;
    if (archive[end] !== lineEnd) throw new Error(`${file}: expected ${length} bytes of ${properties.name}`);
    if (records.has(properties.name)) throw new Error(`${file}: expected one ${properties.name}, got two`);
    records.set(properties.name, { ...properties, bytes: archive.subarray(start, end) });
    at = end + 1;
  }
  return [...records.values()];
}

/** Writes an archive with the records in the order of their names. */
export function writeArchive(file: string, records: readonly Named[]): void {
  const pieces = records
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap(({ bytes, name, ...properties }) => {
      const line = JSON.stringify({ name, length: bytes.length, ...properties });
      return [Buffer.from(`${line}\n`), bytes, Buffer.from('\n')];
    });
  writeFileSync(file, Buffer.concat(pieces));
}
