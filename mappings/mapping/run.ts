import type { Limits } from '../contract/limits.ts';
import { type Reason, sentence } from '../contract/reason.ts';
import { type Path, pathText } from './paths.ts';
import type { Value } from './value.ts';

/**
 * A message that cannot be mapped. For a request this is an error of the caller, for a reply a mismatch of the
 * upstream.
 */
export class MappingError extends Error {
  override readonly name = 'MappingError';
  readonly side: 'request' | 'reply';
  /** Path in the source, or in the target if a required target member is missing. */
  readonly path: string;
  /** Structured reason, without the path. */
  readonly reason: Reason;
  /** True if a value that the target requires is missing. */
  readonly isMissing: boolean;

  constructor(side: 'request' | 'reply', path: string, reason: Reason, isMissing = false) {
    super(path === '' ? sentence(reason) : `${path}: ${sentence(reason)}`);
    this.side = side;
    this.path = path;
    this.reason = reason;
    this.isMissing = isMissing;
  }
}

/** A mapping exceeds its maximum number of steps. */
export class LongMapping extends Error {
  override readonly name = 'LongMapping';
}

/** Number of values made for a request, or for all responses to it. */
export class Made {
  readonly #most: number;
  #values = 0;
  #steps: number;

  /** @param steps maximum number of members and items to read. More throw LongMapping. */
  constructor(most: number, steps: number) {
    this.#most = most;
    this.#steps = steps;
  }

  /** Counts created values. Throws MappingError. */
  count(scope: Scope, values = 1): void {
    this.#values += values;
    if (this.#values > this.#most)
      throw scope.error([], { expected: `a mapping to at most ${this.#most} values`, got: 'more values' });
  }

  /** Number of values that may still be created. */
  get left(): number {
    return this.#most - this.#values;
  }

  /** Counts members and items that are read, even if they are missing. Throws LongMapping. */
  step(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new LongMapping();
  }
}

/** A response without its parsed value. */
export interface RunAnswer {
  /** Headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** The body as received; undefined for a probe. */
  readonly bytes?: Uint8Array | undefined;
  /** True if the compiler tests rules with a made-up response. Module functions are not called then. */
  readonly isProbe?: boolean;
}

/** The context of one message, without its body. */
export class Run {
  readonly side: 'request' | 'reply';
  readonly limits: Limits;
  readonly made: Made;
  /** Headers of the response, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly isProbe: boolean;

  constructor(side: 'request' | 'reply', limits: Limits, made: Made, answer?: RunAnswer) {
    this.side = side;
    this.limits = limits;
    this.made = made;
    this.headers = answer?.headers ?? {};
    this.status = answer?.status;
    this.bytes = answer?.bytes;
    this.isProbe = answer?.isProbe === true;
  }

  /** True for the reply to a request that made no call. */
  get isOfNone(): boolean {
    return this.side === 'reply' && this.status === undefined;
  }
}

/** The root of source paths. Its own path is computed only for errors. */
export class Scope {
  readonly value: Value | undefined;
  readonly run: Run;
  readonly #around: Scope | undefined;
  readonly #step: Path;

  constructor(value: Value | undefined, run: Run, around?: Scope, step: Path = []) {
    this.value = value;
    this.run = run;
    this.#around = around;
    this.#step = step;
  }

  /** Returns the scope of a value at a path relative to this one. */
  inner(value: Value | undefined, step: Path): Scope {
    return new Scope(value, this.run, this, step);
  }

  /**
   * Creates an error about the value at a path relative to this scope.
   *
   * @param isMissing true if the target requires a value that is missing
   */
  error(path: Path, reason: Reason, isMissing = false): MappingError {
    const steps: Path[] = [path];
    for (let at: Scope | undefined = this; at !== undefined; at = at.#around) steps.unshift(at.#step);
    const whole = steps.flat();
    return new MappingError(this.run.side, whole.length === 0 ? '' : pathText(whole), reason, isMissing);
  }
}

/** Makes a target value from the source; undefined if there is no value. Throws MappingError. */
export type Maker = (scope: Scope) => Value | undefined;
