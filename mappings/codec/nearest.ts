import { nearest } from '../contract/nearest.ts';
import type { Reason } from '../contract/reason.ts';
import { someNames } from './scalars/text.ts';

/** Returns the reason to refuse an unknown name, with the most similar known name. */
export function unknownReason(what: string, name: string, names: readonly string[]): Reason {
  const near = nearest(name, names);
  if (near !== undefined) return { detail: `unknown ${what}, did you mean ${near}?` };
  const expected = names.length === 0 ? 'none is expected here' : `expected ${someNames(names)}`;
  return { detail: `unknown ${what}, ${expected}` };
}
