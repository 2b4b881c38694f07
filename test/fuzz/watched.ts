import type { FuzzResult } from './fuzz.ts';
import { mostBytes } from './mutate.ts';

/** What a fuzzing thread is told to do. */
export interface Job {
  readonly target: string;
  readonly seconds: number;
  /** Whether inputs are kept for their kind of outcome alone. */
  readonly byKind: boolean;
  readonly seed: number;
  /** Of `Watched`, shared with the thread that watches. */
  readonly memory: SharedArrayBuffer;
}

export interface Finding {
  readonly input: Uint8Array;
  readonly finding: string;
}

/** What a fuzzing thread says at its end. */
export interface Report extends Omit<FuzzResult, 'kept'> {
  readonly kept: readonly Uint8Array[];
  readonly seconds: number;
  readonly found: readonly Finding[];
}

/** The input that a thread is at, in memory that another can read: a thread that hangs can't tell. */
export class Watched {
  static readonly bytes: number = 8 + mostBytes;
  readonly #head: Int32Array;
  readonly #input: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.#head = new Int32Array(memory, 0, 2);
    this.#input = new Uint8Array(memory, 8);
  }

  /** Inputs begun so far, modulo 2³². */
  get count(): number {
    return Atomics.load(this.#head, 0);
  }

  /** The input begun last. */
  get input(): Buffer {
    return Buffer.from(this.#input.slice(0, Atomics.load(this.#head, 1)));
  }

  begin(input: Buffer): void {
    this.#input.set(input);
    Atomics.store(this.#head, 1, input.length);
    Atomics.add(this.#head, 0, 1);
  }
}
