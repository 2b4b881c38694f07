import type { Random } from './random.ts';

/** One reader or writer under fuzz: how inputs are made, what reads them, and an oracle that knows better. */
export interface TargetOptions<Outcome> {
  readonly name: string;
  /** Pieces that mean something to the reader; mutations put them in. */
  readonly words: readonly string[];
  /** An input by the target's own grammar, odd ones among them. */
  readonly make: (random: Random) => string;
  /** Ours alone, which is what is timed. Whatever it throws is a crash; a refusal is an outcome. */
  readonly run: (input: Buffer) => Outcome;
  /** What sort of outcome it was: an input that brings a new one is kept. */
  readonly kind: (outcome: Outcome) => string;
  /** What an oracle has to say against the outcome; undefined: nothing. */
  readonly judge: (input: Buffer, outcome: Outcome) => string | undefined;
  /** Of how many inputs the oracle looks at one, where it is much slower than what it judges; all that are kept are judged. */
  readonly judgeOneOf?: number;
  /** How many times `run` reads the whole input, for how long it may take. */
  readonly readings?: number;
  /** What one reading of 100 kB may take, in ms; 50 unless told. */
  readonly mostMs?: number;
}

/** What one input came to. */
export interface Probe {
  readonly kind: string;
  /** A crash, or what the oracle has against the outcome. */
  readonly finding: string | undefined;
  /** How long one reading of 100 kB takes at this rate; 0 for inputs too small to tell. */
  readonly msPer100kB: number;
}

export interface Target {
  readonly name: string;
  readonly words: readonly string[];
  readonly make: (random: Random) => string;
  readonly judgeOneOf: number;
  /** What 100 kB may take, in ms. */
  readonly mostMs: number;
  /** Runs one input; `judged` asks the oracle too. Never throws. */
  readonly probe: (input: Buffer, judged: boolean) => Probe;
}

const measure = new Uint8Array(1_000_000).fill(7);
/** What a pass over `measure` takes, in ms, on the machine that the bound on rates is for. */
const measureMs = 1;

/** How many times slower than that machine this one is now; 1 at least. */
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

/** Smaller inputs can't be told from noise. */
const leastBytes = 20_000;
/** A rate above this share of what it may be is measured again: one slow time may be the machine's. */
const doubtfulShare = 0.2;

/** A target whose crashes, disagreements and rates show. */
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

/** The sort of a message of ours: what was expected, without where and without what came. */
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
