import type { Random } from './random.ts';

/** A fuzzed reader or writer: generator of inputs, code under test, oracle. */
export interface TargetOptions<Outcome> {
  readonly name: string;
  /** Words with a meaning to the reader, for mutations. */
  readonly words: readonly string[];
  /** Generates an input with the target's grammar, sometimes an invalid one. */
  readonly make: (random: Random) => string;
  /** Runs the code under test, and only this is timed. An exception is a crash; a rejection is an outcome. */
  readonly run: (input: Buffer) => Outcome;
  /** Returns the kind of an outcome. An input with a new kind is kept. */
  readonly kind: (outcome: Outcome) => string;
  /** Returns the oracle's objection to the outcome, or undefined. */
  readonly judge: (input: Buffer, outcome: Outcome) => string | undefined;
  /** One of this many inputs is judged if the oracle is slow. Kept inputs are always judged. */
  readonly judgeOneOf?: number;
  /** Number of times that `run` reads the whole input, for the time limit. */
  readonly readings?: number;
  /** Time limit in ms for one reading of 100 kB; 50 by default. */
  readonly mostMs?: number;
}

/** Result of one input. */
export interface Probe {
  readonly kind: string;
  /** A crash, or the oracle's objection to the outcome. */
  readonly finding: string | undefined;
  /** Time for one reading of 100 kB at this rate; 0 for inputs that are too small to measure. */
  readonly msPer100kB: number;
}

export interface Target {
  readonly name: string;
  readonly words: readonly string[];
  readonly make: (random: Random) => string;
  readonly judgeOneOf: number;
  /** Time limit in ms for 100 kB. */
  readonly mostMs: number;
  /** Runs one input, and the oracle if `judged`. Never throws. */
  readonly probe: (input: Buffer, judged: boolean) => Probe;
}

const measure = new Uint8Array(1_000_000).fill(7);
/** Time in ms of a pass over `measure` on the reference machine of the time limits. */
const measureMs = 1;

/** Returns how many times slower than the reference machine this one currently is; at least 1. */
function slowdown(): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let again = 0; again < 3; again++) {
    const start = performance.now();
    let sum = 0;
    for (let at = 0; at < measure.length; at++) sum = (sum * 31 + (measure[at] ?? 0)) | 0;
    if (sum !== 0) fastest = Math.min(fastest, performance.now() - start);
  }
  return Math.max(1, fastest / measureMs);
}

/** Smaller inputs cannot be measured reliably. */
const leastBytes = 20_000;
/** A rate above this share of the limit is measured again, since the machine may have been slow. */
const doubtfulShare = 0.2;

/** Creates a target that reports crashes, disagreements and slow rates. */
export function target<Outcome>(options: TargetOptions<Outcome>): Target {
  const { name, words, make, run, kind, judge, judgeOneOf = 1, readings = 1, mostMs = 50 } = options;
  const doubtful = mostMs * doubtfulShare;

  const rateOf = (input: Buffer, firstMs: number): number => {
    if (input.length < leastBytes) return 0;
    const perMs = 100_000 / input.length / readings;
    let fastest = firstMs;
    for (let again = 0; again < 8 && fastest * perMs > doubtful; again++) {
      const start = performance.now();
      run(input);
      fastest = Math.min(fastest, performance.now() - start);
    }
    return fastest * perMs > doubtful ? (fastest * perMs) / slowdown() : fastest * perMs;
  };

  return {
    name,
    words,
    make,
    judgeOneOf,
    mostMs,
    probe: (input, judged) => {
      try {
        const start = performance.now();
        const outcome = run(input);
        const msPer100kB = rateOf(input, performance.now() - start);
        return { kind: kind(outcome), finding: judged ? judge(input, outcome) : undefined, msPer100kB };
      } catch (error) {
        return { kind: 'crash', finding: `crash: ${describe(error)}`, msPer100kB: 0 };
      }
    },
  };
}

/** Returns the kind of an error message: the expectation without location and value. */
export function shapeOf(message: string): string {
  return message
    .replace(/^(?:line \d+, column \d+|position \d+|[\w.[\] ]+): /, '')
    .replace(/^the header block [^ ]+|got .*$|prefix [^ ,]+|<.*?>|\d+/gs, '')
    .slice(0, 60);
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error.stack ?? error.message).split('\n').slice(0, 4).join(' | ');
}
