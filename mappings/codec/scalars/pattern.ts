import { createRequire } from 'node:module';
import type * as Re2 from 're2js';

const require = createRequire(import.meta.url);

/**
 * A pattern of JSON Schema (ECMA-262, found anywhere in a text), to be matched in linear time; undefined for one that has
 * no such form. Its library is loaded when it is first asked for: most contracts start without.
 */
export function linearPattern(source: string): Re2.RE2JS | undefined {
  const { RE2JS, RE2JSException }: typeof Re2 = require('re2js');
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}
