import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Allowance, OverLimit } from './allowance.ts';
import { isPrivate } from './private-file.ts';
import { readWhole } from './yaml.ts';

/**
 * Returns the absolute path of a file and its bytes; a text instead of the bytes says why it is not readable.
 * `hasOtherReaders`: other users than the process may read it.
 */
export type ReadBytes = (path: string) => {
  readonly path: string;
  readonly bytes: Buffer | string;
  readonly hasOtherReaders?: boolean;
};

/** Maximum size of a file that the overlay names in bytes (X2). */
const maxNamedFileBytes = 1024 * 1024;

/** Returns a function that reads files of certificates relative to the folder of the overlay. */
export function bytesReader(overlays: string, allowance: Allowance): ReadBytes {
  return (name) => {
    const path = resolve(overlays, name);
    try {
      const bytes = readWhole(path, allowance);
      if (bytes.length === 0) return { path, bytes: 'an empty file' };
      if (bytes.length > maxNamedFileBytes) return { path, bytes: 'a file over 1 MiB' };
      return { path, bytes, hasOtherReaders: !isPrivate(statSync(path), process.getuid?.()) };
    } catch (error) {
      if (error instanceof OverLimit) return { path, bytes: 'something else' };
      if (error instanceof Error && 'code' in error) return { path, bytes: `none (${error.code})` };
      throw error;
    }
  };
}
