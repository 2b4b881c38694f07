import { type Profiler, Session } from 'node:inspector';

/** A position in a source file. */
export interface Place {
  readonly url: string;
  readonly offset: number;
}

/** The characters of the project's sources, without tests, that were executed. */
export class Covered {
  readonly #sources = new Map<string, Uint8Array>();

  constructor(scripts: readonly Profiler.ScriptCoverage[] = []) {
    for (const { url, functions } of scripts) {
      // a nested range follows its outer range and is more precise
      for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
        this.#source(url, endOffset).fill(count > 0 ? 1 : 0, startOffset, endOffset);
      }
    }
  }

  /** Number of executed characters. */
  get size(): number {
    let size = 0;
    for (const source of this.#sources.values()) for (const run of source) size += run;
    return size;
  }

  has({ url, offset }: Place): boolean {
    return this.#sources.get(url)?.[offset] === 1;
  }

  /** Adds the coverage of another run. Returns the start of each newly executed piece. */
  add(other: Covered): readonly Place[] {
    const fresh: Place[] = [];
    for (const [url, source] of other.#sources) {
      const seen = this.#source(url, source.length);
      let inFresh = false;
      for (let offset = 0; offset < source.length; offset++) {
        const isFresh = source[offset] === 1 && seen[offset] !== 1;
        if (isFresh && !inFresh) fresh.push({ url, offset });
        if (isFresh) seen[offset] = 1;
        inFresh = isFresh;
      }
    }
    return fresh;
  }

  #source(url: string, length: number): Uint8Array {
    const known = this.#sources.get(url);
    if (known !== undefined && known.length >= length) return known;
    const grown = new Uint8Array(length);
    if (known !== undefined) grown.set(known);
    this.#sources.set(url, grown);
    return grown;
  }
}

/** Reads coverage from V8. One per thread; must be closed. */
export class CoverageSession {
  readonly #session = new Session();
  readonly #root: string;

  /** Covers the files below `root`, a `file:` address that ends with a slash. */
  constructor(root: string) {
    this.#root = root;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Returns the coverage since the last call. */
  take(): Covered {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    // the callback runs before post returns, since the session is of the same thread
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      scripts = result.filter(
        ({ url }) => url.startsWith(this.#root) && !url.includes('/test/') && !url.includes('/node_modules/'),
      );
    });
    return new Covered(scripts);
  }

  close(): void {
    this.#session.disconnect();
  }
}
