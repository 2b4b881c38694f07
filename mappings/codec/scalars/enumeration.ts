import type { Settings } from '../../contract/overlay-keys.ts';
import { nameKey, nodeKinds, type Tape } from '../../json/tape.ts';
import { MismatchError } from '../problem.ts';
import { mismatch, quote, type Refusal, refuseKind, type Scalar } from './scalar.ts';
import { escapeXml, quoteText } from './text.ts';

/** Strings with a fixed set of values. */

/** Describes the values of an enumeration for a message. */
export function valuesText(values: readonly string[], name: string): string {
  return values.length > 12 ? `a value of ${name}` : `one of ${values.join(', ')}`;
}

/** Returns the refusal of a text that an enumeration lacks. */
export function otherValue(expected: string, text: string): Refusal {
  return { code: 'InvalidEnum', reason: { expected, got: quoteText(text) } };
}

/**
 * Returns the function that scans a listed value which JSON and XML represent by the same bytes. It returns false, and
 * pushes nothing, for any other value.
 */
export function listedScanner(values: readonly string[]): (tape: Tape) => boolean {
  const keys = values.filter((value) => /^[A-Za-z0-9_ .:/-]+$/.test(value)).map(nameKey);
  return (tape) => {
    if (tape.peek() !== quote) return false;
    const start = tape.position + 1;
    for (const key of keys) {
      if (!tape.matches(start, key)) continue;
      tape.position = start + key.length;
      tape.pushRange(nodeKinds.plain, start, tape.position - 1);
      return true;
    }
    return false;
  };
}

/**
 * Returns the scalar of a string with a fixed set of values. They match exactly (W14). An unknown value of a reply is a
 * mismatch, or is written unchanged (W22).
 */
export function enumeration(
  values: readonly string[],
  name: string,
  unknownValues: Settings['unknownEnumValues'],
): Scalar {
  const tokens = new Map(values.map((value) => [value, JSON.stringify(value)]));
  const expected = valuesText(values, name);
  const scanListed = listedScanner(values);
  return {
    expected,
    takesEmpty: tokens.has(''),
    text: 'plain',
    fromXml: (text) => tokens.get(text) ?? otherValue(expected, text),
    toXml: (json) => {
      if (json.peek() !== quote) return mismatch(expected, json);
      const text = json.string();
      if (!tokens.has(text)) {
        if (text === '') return null;
        if (unknownValues !== 'pass') throw new MismatchError({ expected, got: 'another value' });
        json.passed++;
      }
      return escapeXml(text, json);
    },
    scan: (otherwise) => (tape) => {
      if (scanListed(tape)) return;
      const { bytes, position } = tape;
      const isEmpty = bytes[position] === quote && bytes[position + 1] === quote;
      // while a union tries the type, the empty string is an unknown value
      if (!isEmpty || !tape.strict || unknownValues !== 'pass' || tokens.has('')) return otherwise(tape);
      tape.position += 2;
      tape.passed++;
      tape.pushKind(nodeKinds.empty);
    },
    checkJson: (json) => {
      if (json.peek() !== quote) return refuseKind(json, expected);
      const text = json.string();
      return tokens.has(text) ? undefined : otherValue(expected, text);
    },
  };
}
