import { CallError } from '../call/error.ts';
import type { CallPlaces, Release } from './caller-places.ts';
import type { CallCounters, CallLimit } from './caller-windows.ts';

/** Maximum number of calls per time window. */
export interface Rate {
  readonly calls: number;
  readonly seconds: number;
}

/** Limits of one caller. */
export interface CallerRules {
  readonly rate?: Rate | undefined;
  /** Maximum number of calls per day, from midnight to midnight UTC. */
  readonly quota?: number | undefined;
  /** Maximum number of concurrent calls. */
  readonly concurrent?: number | undefined;
}

/** Caller limits of one contract. */
export interface ContractRules {
  /** Limits of each caller, for all operations together. */
  readonly each: CallerRules;
  /** Limits of named callers, which replace `each`. */
  readonly callers: ReadonlyMap<string, CallerRules>;
  /** Additional limits of each caller for one operation. */
  readonly operations: ReadonlyMap<string, CallerRules>;
}

/** A call to check against the limits. */
export interface LimitedCall {
  /** Caller key: calls are counted by it. */
  readonly key: string;
  /** Name of the caller; undefined if unknown. */
  readonly caller: string | undefined;
  /** Name of the operation; `''` if it is unknown. */
  readonly operation: string;
  /** Called with the headers for the reply, even if the call is rejected. */
  readonly setHeaders: (headers: Readonly<Record<string, string>>) => void;
}

/** Caller limits of one contract. */
export interface CallerLimits {
  /** Counts a call. Returns a function to call when the call has ended. Throws CallError TooManyRequests. */
  readonly enter: (call: LimitedCall) => Promise<() => void>;
}

/** Counters of calls: in this process, or in a store that replicas share. */
export interface CallCounts {
  readonly windows: CallCounters;
  readonly places: CallPlaces;
}

/** A limit with the name of its operation; `''` for all operations. */
interface OwnLimit {
  readonly limit: CallLimit;
  readonly of: string;
}

/** Rules in compiled form. */
interface CompiledRules {
  readonly rates: readonly OwnLimit[];
  readonly quotas: readonly OwnLimit[];
  readonly concurrent: number | undefined;
  /** The name of the operation; `''` for all operations. */
  readonly of: string;
}

/** Caller limits of one contract. Each contract counts separately. */
export class ContractCallerLimits implements CallerLimits {
  readonly #path: string;
  readonly #counts: CallCounts;
  readonly #onLimited: (limit: string) => void;
  readonly #ofEach: CompiledRules;
  readonly #ofCallers: ReadonlyMap<string, CompiledRules>;
  readonly #ofOperations: ReadonlyMap<string, CompiledRules>;

  /**
   * @param path the path of the contract
   * @param onLimited called with the limit's name for each rejected call
   */
  constructor(rules: ContractRules, path: string, counts: CallCounts, onLimited: (limit: string) => void) {
    const { each, callers, operations } = rules;
    this.#path = path;
    this.#counts = counts;
    this.#onLimited = onLimited;
    this.#ofEach = compileRules(each, '');
    this.#ofCallers = new Map([...callers].map(([name, own]) => [name, compileRules(own, '')]));
    this.#ofOperations = new Map([...operations].map(([name, own]) => [name, compileRules(own, name)]));
  }

  async enter({ key, caller, operation, setHeaders }: LimitedCall): Promise<Release> {
    const ofCaller = (caller === undefined ? undefined : this.#ofCallers.get(caller)) ?? this.#ofEach;
    const ofOperation = this.#ofOperations.get(operation);
    const all = ofOperation === undefined ? [ofCaller] : [ofCaller, ofOperation];
    const taken: Release[] = [];
    const release = (): void => {
      for (const each of taken) each();
    };
    try {
      for (const { concurrent, of } of all)
        if (concurrent !== undefined)
          taken.push(await this.#takePlace(concurrent, of, `${this.#path} ${key}`));
      await this.#countCall(all, `${this.#path} ${key}`, setHeaders);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  async #takePlace(concurrent: number, of: string, key: string): Promise<Release> {
    const name = nameIn(of, 'concurrent');
    const taking = this.#counts.places.take(`${key} ${name}`, concurrent, Date.now());
    const release = taking instanceof Promise ? await taking : taking;
    if (release === undefined) throw this.#refuse(name, `at most ${calls(concurrent, of)} in progress`, 1);
    return release;
  }

  /**
   * Counts a call by each of its limits. Rates come first, so that a call which they reject does not use up a quota.
   */
  async #countCall(
    all: readonly CompiledRules[],
    key: string,
    setHeaders: LimitedCall['setHeaders'],
  ): Promise<void> {
    const policies: string[] = [];
    const states: string[] = [];
    for (const kind of ['rates', 'quotas'] as const) {
      for (const { limit, of } of all.flatMap((rules) => rules[kind])) {
        const added = this.#counts.windows.add(`${key} ${limit.name}`, limit, Date.now());
        const { used, resetMs } = added instanceof Promise ? await added : added;
        const seconds = Math.max(1, Math.ceil(resetMs / 1000));
        policies.push(`"${limit.name}";q=${limit.calls};w=${limit.seconds ?? 86_400}`);
        states.push(`"${limit.name}";r=${Math.max(0, limit.calls - used)};t=${seconds}`);
        setHeaders({ 'RateLimit-Policy': policies.join(', '), RateLimit: states.join(', ') });
        if (used > limit.calls) {
          const within = limit.seconds === undefined ? 'a day' : `in ${limit.seconds} s`;
          throw this.#refuse(limit.name, `at most ${calls(limit.calls, of)} ${within}`, seconds);
        }
      }
    }
  }

  #refuse(limit: string, expected: string, retryAfter: number): CallError {
    this.#onLimited(limit);
    return new CallError('TooManyRequests', {
      expected,
      got: `more. Retry after ${retryAfter} s`,
      retryAfter: String(retryAfter),
    });
  }
}

function compileRules({ rate, quota, concurrent }: CallerRules, of: string): CompiledRules {
  return {
    rates: rate === undefined ? [] : [{ limit: { name: nameIn(of, 'rate'), ...rate }, of }],
    quotas:
      quota === undefined
        ? []
        : [{ limit: { name: nameIn(of, 'quota'), calls: quota, seconds: undefined }, of }],
    concurrent,
    of,
  };
}

function nameIn(operation: string, limit: string): string {
  return operation === '' ? limit : `${operation}-${limit}`;
}

function calls(count: number, operation: string): string {
  return `${count} call${count === 1 ? '' : 's'}${operation === '' ? '' : ` of ${operation}`}`;
}
