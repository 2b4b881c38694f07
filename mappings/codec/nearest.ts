import { nearest } from '../contract/nearest.ts';
import { someNames } from './scalars/text.ts';

/** The sentence about an unknown name, with the nearest one that is known. */
export function unknownReason(what: string, name: string, names: readonly string[]): string {
  const near = nearest(name, names);
  if (near !== undefined) return `unknown ${what}, did you mean ${near}?`;
  return names.length === 0
    ? `unknown ${what}, none is expected here`
    : `unknown ${what}, expected ${someNames(names)}`;
}
