import type { Path } from './paths.ts';
import type { Maker, Scope } from './run.ts';
import type { Shape } from './schemas.ts';
import {
  anyShape,
  asKind,
  asWanted,
  digitsShape,
  flagShape,
  isNothing,
  only,
  textShape,
} from './shape-checks.ts';
import { isItems, textOfScalar, type Value } from './value.ts';

/** Conversions of a value: split, join, numbers and texts (M2). */

/** A value in conversion: the function that makes it, and its shape so far. */
export class Conversion {
  make: Maker;
  shape: Shape;

  constructor(make: Maker, shape: Shape) {
    this.make = make;
    this.shape = shape;
  }

  /** Adds a conversion to the shape `next`. Missing values stay missing. */
  step(next: Shape, change: (value: Value, scope: Scope) => Value | undefined): void {
    const before = this.make;
    this.make = (scope) => {
      const value = before(scope);
      return isNothing(value) ? value : change(value, scope);
    };
    this.shape = next;
  }
}

export function splitText(conversion: Conversion, split: string, items: Shape, path: Path): void {
  const inner = only(items, 'number') ? digitsShape : textShape;
  conversion.step({ ...anyShape, open: false, kinds: new Set(['array']), items: inner }, (value, scope) => {
    if (typeof value !== 'string')
      throw scope.error(path, { expected: 'a text to split', got: 'another value' });
    return value.split(split).map((text) => asKind(text, items));
  });
}

export function convertScalar(conversion: Conversion, as: 'text' | 'number' | 'boolean', path: Path): void {
  conversion.step(as === 'text' ? textShape : as === 'number' ? digitsShape : flagShape, (value, scope) => {
    const text = textOfScalar(value);
    const made = text === undefined ? undefined : asWanted(text, as);
    if (made === undefined)
      throw scope.error(path, {
        expected: as === 'number' ? 'a number' : as === 'boolean' ? 'true or false' : 'a scalar',
        got: 'another value',
      });
    return made;
  });
}

export function joinTexts(conversion: Conversion, join: string, path: Path): void {
  conversion.step(textShape, (value, scope) => {
    const texts = isItems(value) ? value.map(textOfScalar) : [];
    if (!isItems(value) || texts.includes(undefined))
      throw scope.error(path, { expected: 'a list of texts to join', got: 'another value' });
    return texts.join(join);
  });
}
