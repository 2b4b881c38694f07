import { CoverageSession, Covered } from './coverage.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';
import type { Target } from './target.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Inputs to begin with. */
  readonly corpus: readonly Buffer[];
  /** Ends the run; asked between batches. */
  readonly isOver: (executions: number) => boolean;
  /** Keeps inputs for their kind of outcome alone, and not for the code that they run: four times as many in the same time. */
  readonly byKind?: boolean;
  /** Told of each input before it is run, so that a hang can be laid at its door. */
  readonly onInput?: (input: Buffer) => void;
  /** Told of the first input of each shape of finding. */
  readonly onFinding: (input: Buffer, finding: string) => void;
}

export interface FuzzResult {
  readonly executions: number;
  /** How many of them the oracle looked at. */
  readonly judged: number;
  /** Characters of our sources that were run. */
  readonly covered: number;
  /** The slowest rate of any input, in ms per 100 kB. */
  readonly slowest: number;
  /** The inputs that ran code, or had a kind of outcome, that none before had: the corpus among them. */
  readonly kept: readonly Buffer[];
}

/** Where our sources are. */
const root = new URL('../../', import.meta.url).href;
/** Coverage is taken once per so many inputs, as taking it costs as much as a hundred of them. */
const batchSize = 256;
/** One input in so many is made by the grammar rather than from one that is kept. */
const makeOneOf = 4;

/** Fuzzes a target with inputs by its grammar and mutations of those kept. The seed decides the inputs. */
export function fuzz(target: Target, options: FuzzOptions): FuzzResult {
  const random = new Random(options.seed);
  const coverage = options.byKind === true ? undefined : new CoverageSession(root);
  const seen = new Covered();
  const kinds = new Set<string>();
  const findings = new Set<string>();
  const kept: Buffer[] = [];
  let executions = 0;
  let judged = 0;
  let slowest = 0;

  /** True for an outcome of a new kind. */
  const run = (input: Buffer, isJudged: boolean): boolean => {
    options.onInput?.(input);
    executions++;
    if (isJudged) judged++;
    const { kind, finding: wrong, msPer100kB } = target.probe(input, isJudged);
    slowest = Math.max(slowest, msPer100kB);
    const finding =
      wrong ?? (msPer100kB > target.mostMs ? `slow: ${msPer100kB.toFixed(0)} ms per 100 kB` : undefined);
    if (finding !== undefined && !findings.has(numberless(finding))) {
      findings.add(numberless(finding));
      options.onFinding(input, finding);
    }
    return kinds.size < kinds.add(kind).size;
  };

  const keep = (input: Buffer): void => {
    kept.push(input);
    run(input, true);
  };

  /** Keeps, of a batch that ran new code, the inputs that did. */
  const keepThoseThatRan = (batch: readonly Buffer[], coverage: CoverageSession): void => {
    let left = seen.add(coverage.take());
    for (const input of batch) {
      if (left.length === 0) return;
      run(input, false);
      const covered = coverage.take();
      const missing = left.filter((place) => !covered.has(place));
      if (missing.length < left.length) keep(input);
      left = missing;
    }
  };

  const next = (): Buffer => {
    const from = kept[random.below(kept.length)];
    if (from === undefined || random.once(makeOneOf)) return Buffer.from(target.make(random));
    return mutate(from, random, target.words, kept[random.below(kept.length)] ?? from);
  };

  try {
    for (const input of options.corpus) keep(input);
    if (coverage !== undefined) seen.add(coverage.take());
    while (!options.isOver(executions)) {
      const batch = Array.from({ length: batchSize }, next);
      const ofNewKind = batch.filter((input) => run(input, random.once(target.judgeOneOf)));
      if (coverage !== undefined) keepThoseThatRan(batch, coverage);
      for (const input of ofNewKind) keep(input);
    }
  } finally {
    coverage?.close();
  }
  return { executions, judged, slowest, covered: seen.size, kept };
}

/** Longer inputs were made by repeating what shorter ones hold. */
const longestSaved = 1_000;

/** Of inputs, the shorter first, those that run code or have a kind of outcome that none before them had. */
export function distill(target: Target, inputs: readonly Buffer[]): readonly Buffer[] {
  const coverage = new CoverageSession(root);
  const seen = new Covered();
  const kinds = new Set<string>();
  try {
    return inputs
      .filter(({ length }) => length <= longestSaved)
      .toSorted((a, b) => a.length - b.length)
      .filter((input) => {
        const { kind } = target.probe(input, false);
        const isNewKind = kinds.size < kinds.add(kind).size;
        return seen.add(coverage.take()).length > 0 || isNewKind;
      });
  } finally {
    coverage.close();
  }
}

/** A finding without its numbers and quoted values, so that one fault is told once. */
function numberless(finding: string): string {
  return finding.replace(/"(?:[^"\\]|\\.)*"|'[^']*'|\d+/g, '#').slice(0, 120);
}
