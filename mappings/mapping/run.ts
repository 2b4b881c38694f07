import type { Limits } from '../contract/limits.ts';
import { type Reason, sentence } from '../contract/reason.ts';
import { type Path, pathText } from './paths.ts';
import type { Value } from './value.ts';

/** A message that can't be mapped: of a request the caller's fault, of a reply a mismatch of the service behind. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
  readonly side: 'request' | 'reply';
  /** Where in the source; where it is a member of the target that is missing, where in that. */
  readonly path: string;
  /** Data of the error, without the path. */
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

/** A mapping that takes more steps than it may take where it runs. */
export class LongMapping extends Error {
  override readonly name = 'LongMapping';
}

/** What was made so far of a request, or of all answers to it. */
export class Made {
  readonly #most: number;
  #values = 0;
  #steps: number;

  /** @param steps how many members and items it may be asked for; beyond them it is a LongMapping */
  constructor(most: number, steps: number) {
    this.#most = most;
    this.#steps = steps;
  }

  /** Counts values that are made. Throws MappingError. */
  count(scope: Scope, values = 1): void {
    this.#values += values;
    if (this.#values > this.#most)
      throw scope.error([], { expected: `a mapping to at most ${this.#most} values`, got: 'more' });
  }

  /** How many values may still be made. */
  get left(): number {
    return this.#most - this.#values;
  }

  /** Counts members and items that are asked for, whether there are any or not. Throws LongMapping. */
  step(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new LongMapping();
  }
}

/** The parts of an answer besides its value. */
export interface RunAnswer {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  /** The body as it was received; undefined for an answer that is only tried. */
  readonly bytes?: Uint8Array | undefined;
  /** True while the compiler tries rules with an answer that was never sent: it calls no function of a module. */
  readonly isProbe?: boolean;
}

/** What one message brings besides its body. */
export class Run {
  readonly side: 'request' | 'reply';
  readonly limits: Limits;
  readonly made: Made;
  /** Of an answer; names in lower case. */
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

  /** Whether a reply is made of no answer, as no call was made. */
  get isOfNone(): boolean {
    return this.side === 'reply' && this.status === undefined;
  }
}

/** Where source paths begin. Its own path is put together for an error alone. */
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

  /** What stands at a path from here, as a place of its own. */
  inner(value: Value | undefined, step: Path): Scope {
    return new Scope(value, this.run, this, step);
  }

  /**
   * An error about the value at a path from here.
   *
   * @param isMissing true if the target requires a value that is not there
   */
  error(path: Path, reason: Reason, isMissing = false): MappingError {
    const steps: Path[] = [path];
    for (let at: Scope | undefined = this; at !== undefined; at = at.#around) steps.unshift(at.#step);
    const whole = steps.flat();
    return new MappingError(this.run.side, whole.length === 0 ? '' : pathText(whole), reason, isMissing);
  }
}

/** Makes a value of the target from the source; undefined for none. Throws MappingError. */
export type Maker = (scope: Scope) => Value | undefined;
