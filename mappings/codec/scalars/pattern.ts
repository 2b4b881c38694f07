import type * as Re2 from 're2js';
import { loadPackage, missingPackages } from '../../optional-packages.ts';

/** A compiled pattern: the part of `re2js` that is used here. */
export interface LinearPattern {
  /** Returns true if the pattern matches anywhere in the text. */
  readonly test: (text: string) => boolean;
  /** Number of instructions; matching takes at most as many steps per character. */
  readonly programSize: () => number;
  readonly matcher: (text: string) => {
    readonly find: () => boolean;
    readonly groupCount: () => number;
    readonly group: (index: number) => string | null | undefined;
  };
}

/**
 * Returns a pattern of JSON Schema (ECMA-262, found anywhere in a text) that is matched in linear time; undefined for a
 * pattern that has no such form. Throws MissingPackageError. The package is loaded by the first call: most contracts start
 * without it.
 */
export function linearPattern(source: string): LinearPattern | undefined {
  const { RE2JS, RE2JSException } = loadPackage('patterns', 're2js') as typeof Re2;
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

/**
 * Returns true if `linearPattern` has its package. Samples ignore patterns without it; a contract that checks patterns is
 * not loaded without it.
 */
export function canMatchPatterns(): boolean {
  return missingPackages('patterns') === undefined;
}
