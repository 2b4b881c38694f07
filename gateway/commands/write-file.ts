import { mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Writes a file atomically: if writing fails, for example on a full disk, the old content is kept. A link remains a
 * link. A device or pipe is written to directly. Missing parent folders are created. Throws RangeError.
 */
export function writeWhole(path: string, content: string | Uint8Array): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const former = statSync(path, { throwIfNoEntry: false });
    if (former?.isDirectory() === true)
      throw new RangeError(`${path}: expected a file or a new path, got a folder`);
    if (former?.isFile() === false) {
      writeFileSync(path, content);
      return;
    }
    const place = former === undefined ? path : realpathSync(path);
    const partial = `${place}.${process.pid}.part`;
    try {
      writeFileSync(partial, content, { flag: 'wx', mode: former?.mode ?? 0o666 });
      renameSync(partial, place);
    } finally {
      rmSync(partial, { force: true });
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string' || error instanceof RangeError) throw error;
    throw new RangeError(`${path}: expected a writable file, got ${code}`);
  }
}
