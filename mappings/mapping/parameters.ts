import { quoteValue } from '../contract/reason.ts';
import { fitsHeader, hasControls, hasControlsInQuery, hasDots, maxParameterCharacters } from '../places.ts';
import type { Scope } from './run.ts';
import type { TargetOperation } from './target.ts';
import { isItems, textOfScalar, type Value } from './value.ts';

/** Parameters of a call: path, query and headers. */

interface Filled {
  readonly parameter: TargetOperation['parameters'][number];
  readonly value: Value | undefined;
}

/** Writes parameters to path, query and headers. Throws MappingError for a value that is not allowed there. */
export function writeParameters(
  { template }: TargetOperation,
  filled: readonly Filled[],
  scope: Scope,
): { readonly path: string; readonly headers: Record<string, string> } {
  const { parameterText = maxParameterCharacters } = scope.run.limits;
  let written = template;
  let lastInPath: string | undefined;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  for (const { parameter, value } of filled) {
    const place = `${parameter.in}.${parameter.name}`;
    const texts = textsOf(value);
    if (texts === undefined)
      throw scope.error([], { expected: `a scalar or a list of scalars for ${place}`, got: 'another value' });
    if (texts.length === 0) {
      if (parameter.required)
        throw scope.error([], { expected: `a source for the required ${place}`, got: 'none' });
      continue;
    }
    if (texts.reduce((sum, text) => sum + text.length, 0) > parameterText)
      throw scope.error([], {
        expected: `at most ${parameterText} characters for ${place}`,
        got: 'more characters',
      });
    if (!texts.every((text) => text.isWellFormed()))
      throw scope.error([], { expected: `whole characters for ${place}`, got: 'half of a character' });
    const name = encodeURIComponent(parameter.name);
    if (parameter.in === 'path') {
      const segment = texts.map(encodeURIComponent).join(',');
      if (segment === '' || hasDots(segment) || hasControls(segment))
        throw scope.error([], {
          expected: `a text that is valid in a path for ${place}`,
          got: quoteValue(JSON.stringify(segment), 'a text'),
        });
      lastInPath = place;
      written = written.replaceAll(`{${parameter.name}}`, () => segment);
    } else if (parameter.in === 'query') {
      const encoded = texts.map(encodeURIComponent);
      if (encoded.some(hasControlsInQuery))
        throw scope.error([], { expected: `no control characters for ${place}`, got: 'control characters' });
      if (parameter.lists === 'repeat') for (const text of encoded) query.push(`${name}=${text}`);
      else query.push(`${name}=${encoded.join(',')}`);
    } else {
      if (isItems(value) && texts.some((text) => text.includes(',')))
        throw scope.error([], {
          expected: `no "," in an item of the list for ${place}`,
          got: 'an item with ","',
        });
      const text = texts.join(',');
      if (!fitsHeader(text))
        throw scope.error([], {
          expected: `printable ASCII for ${place}, without white space at its ends`,
          got: 'other text',
        });
      headers[parameter.name.toLowerCase()] = text;
    }
  }
  // A segment may be composed of several values.
  if (lastInPath !== undefined && hasDots(written))
    throw scope.error([], { expected: `a text that is valid in a path for ${lastInPath}`, got: 'dots' });
  return { path: query.length === 0 ? written : `${written}?${query.join('&')}`, headers };
}

/** Returns the text of a scalar or the texts of a list; empty for no value, undefined for other values. */
function textsOf(value: Value | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  const texts = isItems(value) ? value.map(textOfScalar) : [textOfScalar(value)];
  const known = texts.filter((text) => text !== undefined);
  return known.length === texts.length ? known : undefined;
}
