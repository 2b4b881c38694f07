import { statSync, unwatchFile, watchFile } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isNode } from '../../mappings/loader/document/node.ts';
import type { CallerFiles } from './callers-file.ts';
import type { ShownSetting } from './shown-settings.ts';

/** Interval between two checks of the files, in ms. */
export const usualWatchMs = 5_000;

/** Inode, time of modification and size of files, by path. A missing file has an empty text. */
export type Stamps = ReadonlyMap<string, string>;

/** Returns the stamps of files. */
export function stampsOf(files: readonly string[]): Stamps {
  return new Map(files.map((path) => [path, stampOf(path)]));
}

function stampOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
}

/**
 * Calls `onChange` after one of the files has changed. It polls their times, because a mounted Secret or ConfigMap is a
 * symbolic link that is pointed to new files. Returns a function that ends this.
 *
 * @param before stamps from before the files were read, to notice a change between reading and watching
 */
export function watchFiles(
  files: readonly string[],
  everyMs: number,
  before: Stamps,
  onChange: () => void,
): () => void {
  let waiting: NodeJS.Timeout | undefined;
  const changed = (): void => {
    clearTimeout(waiting);
    waiting = setTimeout(onChange, everyMs / 10).unref(); // a certificate and its key change one after the other
  };
  for (const path of files) watchFile(path, { interval: everyMs, persistent: false }, changed);
  // by then Node has the first stats of the files, and reports later changes itself
  const check = setTimeout(() => {
    if (files.some((path) => before.has(path) && before.get(path) !== stampOf(path))) changed();
  }, everyMs).unref();
  return () => {
    clearTimeout(check);
    clearTimeout(waiting);
    for (const path of files) unwatchFile(path, changed);
  };
}

/** Options of a process that name files. */
interface FileOptions {
  readonly config?: string | undefined;
  readonly wsseSecrets?: string | undefined;
  readonly callerFiles?: CallerFiles | undefined;
  readonly callerLimits?: string | undefined;
}

/**
 * Pointers of the settings in `soapbridge.yaml` that name a file with secrets, or with certificates towards an upstream
 * or a legacy service.
 */
const fileSettings =
  /^\/admin\/tokens$|^\/contracts\/[^/]+\/(?:upstream|legacy)\/tls\/(?:ca|certificate|key)$/;

/**
 * Returns the files of a process that are loaded again when they change: secrets, callers, limits per caller, tokens of
 * the admin listener, and the files of `upstream` and `legacy` in `soapbridge.yaml`. The files of `tls` are watched separately.
 *
 * @param settings values of `soapbridge.yaml`
 */
export function reloadedFiles(
  { config, wsseSecrets, callerFiles, callerLimits }: FileOptions,
  settings: readonly ShownSetting[],
): readonly string[] {
  const named = settings.flatMap(({ name, value }) => {
    const file = isNode(value) ? value.file : fileSettings.test(name) ? value : undefined;
    return typeof file === 'string' ? [resolve(dirname(config ?? ''), file)] : [];
  });
  const options = [wsseSecrets, callerFiles?.callers, callerFiles?.callerKey, callerLimits];
  return [...new Set([...options.filter((file) => file !== undefined), ...named])];
}

/** Watches a list of files that changes over time. */
export class FileWatch {
  readonly #everyMs: number;
  readonly #onChange: () => void;
  #files: readonly string[] = [];
  /** Stamps from before the files were read. */
  #before = new Map<string, string>();
  #end = (): void => {};

  constructor(everyMs: number, onChange: () => void) {
    this.#everyMs = everyMs;
    this.#onChange = onChange;
  }

  /** Records the stamps of files before they are read. */
  beginReading(files: readonly string[]): void {
    this.#before = new Map(stampsOf(files));
  }

  /** Records the stamps of further files, whose names were read from the files before. */
  addRead(files: readonly string[]): void {
    for (const [path, stamp] of stampsOf(files.filter((path) => !this.#before.has(path))))
      this.#before.set(path, stamp);
  }

  /** Watches these files instead of the previous ones. */
  watch(files: readonly string[]): void {
    if (files.join('\0') === this.#files.join('\0')) return;
    this.#end();
    this.#files = files;
    this.#end = watchFiles(files, this.#everyMs, this.#before, this.#onChange);
  }

  close(): void {
    this.#end();
  }
}
