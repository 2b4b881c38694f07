import { type Profiler, Session } from 'node:inspector';

/** Where in a source something is. */
export interface Place {
  readonly url: string;
  readonly offset: number;
}

/** Which characters of our own sources were run, tests aside. */
export class Covered {
  readonly #sources = new Map<string, Uint8Array>();

  constructor(scripts: readonly Profiler.ScriptCoverage[] = []) {
    for (const { url, functions } of scripts) {
      // a range inside another comes after it and says better
      for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
        this.#source(url, endOffset).fill(count > 0 ? 1 : 0, startOffset, endOffset);
      }
    }
  }

  /** Characters run. */
  get size(): number {
    let size = 0;
    for (const source of this.#sources.values()) for (const run of source) size += run;
    return size;
  }

  has({ url, offset }: Place): boolean {
    return this.#sources.get(url)?.[offset] === 1;
  }

  /** Adds what others ran; gives where each piece begins that was new. */
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

/** Asks V8 what was run. One per thread, to be closed after use. */
export class CoverageSession {
  readonly #session = new Session();
  readonly #root: string;

  /** Looks at the files below `root`, a `file:` address that ends with a slash. */
  constructor(root: string) {
    this.#root = root;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** What was run since the last call. */
  take(): Covered {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    // answered before post returns, as the session is this thread's own
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
