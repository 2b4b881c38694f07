import type { Limits } from '../contract/limits.ts';
import { type Path, pathText } from './paths.ts';
import type { Value } from './value.ts';

/** A message that can't be mapped: of a request the caller's fault, of a reply a mismatch of the service behind. */
export class MappingError extends Error {
  override readonly name = 'MappingError';
  readonly side: 'request' | 'reply';
  /** Where in the source; where it is a member of the target that is missing, where in that. */
  readonly path: string;

  constructor(side: 'request' | 'reply', path: string, reason: string) {
    super(path === '' ? reason : `${path}: ${reason}`);
    this.side = side;
    this.path = path;
  }
}

/** What one message brings besides its body, and what was made of it so far. */
export class Run {
  readonly side: 'request' | 'reply';
  readonly limits: Limits;
  /** Of an answer; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number | undefined;
  #made = 0;

  constructor(
    side: 'request' | 'reply',
    limits: Limits,
    headers: Readonly<Record<string, string>> = {},
    status?: number,
  ) {
    this.side = side;
    this.limits = limits;
    this.headers = headers;
    this.status = status;
  }

  /** Counts a value that is made. Throws MappingError. */
  count(scope: Scope): void {
    this.#made++;
    if (this.#made > this.limits.mappingValues)
      throw scope.error([], `expected a mapping to at most ${this.limits.mappingValues} values, got more`);
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
