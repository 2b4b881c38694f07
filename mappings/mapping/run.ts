import type { Limits } from '../contract/limits.ts';
import { type Path, pathText } from './paths.ts';
import type { Value } from './value.ts';

/** A message that can't be mapped: of a request the caller's fault, of a reply a mismatch of the service behind. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
  readonly side: 'request' | 'reply';
  /** Where in the source; where it is a member of the target that is missing, where in that. */
  readonly path: string;
  /** The message without the path. */
  readonly reason: string;

  constructor(side: 'request' | 'reply', path: string, reason: string) {
    super(path === '' ? reason : `${path}: ${reason}`);
    this.side = side;
    this.path = path;
    this.reason = reason;
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
      throw scope.error([], `expected a mapping to at most ${this.#most} values, got more`);
  }

  /** Counts members and items that are asked for, whether there are any or not. Throws LongMapping. */
  step(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new LongMapping();
  }
}

/** What one message brings besides its body. */
export class Run {
  readonly side: 'request' | 'reply';
  readonly limits: Limits;
  readonly made: Made;
  /** Of an answer; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number | undefined;

  constructor(
    side: 'request' | 'reply',
    limits: Limits,
    made: Made,
    headers: Readonly<Record<string, string>> = {},
    status?: number,
  ) {
    this.side = side;
    this.limits = limits;
    this.made = made;
    this.headers = headers;
    this.status = status;
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

  /** An error about the value at a path from here. */
  error(path: Path, reason: string): MappingError {
    const steps: Path[] = [path];
    for (let at: Scope | undefined = this; at !== undefined; at = at.#around) steps.unshift(at.#step);
    const whole = steps.flat();
    return new MappingError(this.run.side, whole.length === 0 ? '' : pathText(whole), reason);
  }
}

/** Makes a value of the target from the source; undefined for none. Throws MappingError. */
export type Maker = (scope: Scope) => Value | undefined;
