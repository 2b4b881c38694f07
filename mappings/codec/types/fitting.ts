import type { Limits } from '../../contract/limits.ts';
import type { JsonKind } from '../../contract/model.ts';
import { JsonReader } from '../../json/reader.ts';
import type { RequestReader } from '../context.ts';
import { countSteps, isFull, type Problem, type Reading, refuse, startReading } from '../problem.ts';
import { maxPatternSteps } from './rules.ts';

/** A type that a value may have, with its rules and without. */
export interface Candidate {
  readonly takes: JsonKind;
  readonly reader: RequestReader;
  /** The reader of the type without rules. */
  readonly plain: RequestReader;
}

/** Checks a JSON value against the rules of the type that it matches, and records problems (`validate: strict`). */
export type Look = (token: string, reading: Reading) => void;

/**
 * Compiles a check of values that may have several types, if no element states which. A value that matches no type or
 * several is not checked. The characters count as pattern steps, because a value may contain other values of this kind.
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

/** Returns the problems of a value. The steps are added to those of the outer reading. */
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

/** The kinds of a JSON token by its first character. For numbers, the more probable kind is first. */
const kinds: Readonly<Record<string, readonly JsonKind[]>> = {
  '"': ['string'],
  '{': ['object'],
  '[': ['array'],
  t: ['boolean'],
  f: ['boolean'],
};
const kindsOfNumber: readonly JsonKind[] = ['integer', 'number'];
