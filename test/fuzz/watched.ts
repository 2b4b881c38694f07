import type { FuzzResult } from './fuzz.ts';
import { mostBytes } from './mutate.ts';

/** Task of a fuzzing thread. */
export interface Job {
  readonly target: string;
  readonly seconds: number;
  /** True if inputs are kept only for new kinds of outcomes. */
  readonly byKind: boolean;
  readonly seed: number;
  /** Memory of a `Watched`, shared with the watching thread. */
  readonly memory: SharedArrayBuffer;
}

export interface Finding {
  readonly input: Uint8Array;
  readonly finding: string;
}

/** Result of a fuzzing thread. */
export interface Report extends Omit<FuzzResult, 'kept'> {
  readonly kept: readonly Uint8Array[];
  readonly seconds: number;
  readonly found: readonly Finding[];
}

/** The current input of a fuzzing thread, in shared memory. A hanging thread could not send a message. */
export class Watched {
  static readonly bytes: number = 8 + mostBytes;
  readonly #head: Int32Array;
  readonly #input: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.#head = new Int32Array(memory, 0, 2);
    this.#input = new Uint8Array(memory, 8);
  }

  /** Number of started inputs, modulo 2³². */
  get count(): number {
    return Atomics.load(this.#head, 0);
  }

  /** The input that was started last. */
  get input(): Buffer {
    return Buffer.from(this.#input.slice(0, Atomics.load(this.#head, 1)));
  }

  begin(input: Buffer): void {
    this.#input.set(input);
    Atomics.store(this.#head, 1, input.length);
    Atomics.add(this.#head, 0, 1);
  }
}
