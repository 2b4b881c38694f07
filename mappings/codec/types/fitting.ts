import type { Limits } from '../../contract/limits.ts';
import type { JsonKind } from '../../contract/model.ts';
import { JsonReader } from '../../json/reader.ts';
import type { RequestReader } from '../context.ts';
import { countSteps, isFull, type Problem, type Reading, refuse, startReading } from '../problem.ts';
import { maxPatternSteps } from './rules.ts';

/** A type that a value may be of, with its rules and without. */
export interface Candidate {
  readonly takes: JsonKind;
  readonly reader: RequestReader;
  /** The type alone. */
  readonly plain: RequestReader;
}

/** Notes where a JSON value breaks the rules of the type that it fits (`validate: strict`). */
export type Look = (token: string, reading: Reading) => void;

/**
 * One function that looks at values of several types, where no element says of which one is. Of a value that fits none or
 * several nothing is asked. What is looked at counts as steps of patterns do, since it may lie in another such value.
 */
export function compileLook(candidates: readonly Candidate[], limits: Limits): Look {
  const { patternSteps: maxSteps = maxPatternSteps } = limits;
  return (token, reading) => {
    if (token === 'null') return;
    for (const kind of kinds[token.charAt(0)] ?? kindsOfNumber) {
      const alike = candidates.filter(({ takes }) => takes === kind);
      const steps = token.length * (alike.length + 1);
      countSteps(reading, steps);
      reading.patternSteps += steps;
      if (reading.patternSteps > maxSteps) {
        refuse(reading, 'OutOfRange', { expected: 'fewer values within others in one request' });
        return;
      }
      const fitting = alike.filter(({ plain }) => problemsOf(plain, token, reading, limits).length === 0);
      const [only, ...others] = fitting;
      if (only === undefined) continue;
      if (others.length > 0) return;
      for (const problem of problemsOf(only.reader, token, reading, limits))
        if (!isFull(reading)) reading.problems.push(problem);
      return;
    }
  };
}

/** What a reader finds wrong with a value, whose steps count with those of the reading around. */
function problemsOf(
  reader: RequestReader,
  token: string,
  around: Reading,
  limits: Limits,
): readonly Problem[] {
  const { limit, mostSteps, path, patternSteps, steps } = around;
  const reading: Reading = { ...startReading(limit, mostSteps), path: [...path], patternSteps, steps };
  reader.pass(new JsonReader(token, limits), reading);
  around.patternSteps = reading.patternSteps;
  around.steps = reading.steps;
  return reading.problems;
}

/** The kinds of a token by its first character; of a number the likeliest first. */
const kinds: Readonly<Record<string, readonly JsonKind[]>> = {
  '"': ['string'],
  '{': ['object'],
  '[': ['array'],
  t: ['boolean'],
  f: ['boolean'],
};
const kindsOfNumber: readonly JsonKind[] = ['integer', 'number'];
