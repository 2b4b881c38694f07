import type { JsonReader } from '../../json/reader.ts';
import { MismatchError } from '../problem.ts';
import { collapse } from './numbers.ts';
import { invalid, quote, type Scalar } from './scalar.ts';

/** `INF`, `-INF` and `NaN` of xs:double and xs:float (XSD Part 2, 3.2.4 and 3.2.5), which JSON numbers cannot be (RFC 8259, 6). */

/** Forms of these values in JSON: none, null, or their text as a string. */
export type NonFiniteNumbers = 'refuse' | 'asNull' | 'asText';

const names: ReadonlySet<string> = new Set(['INF', '-INF', 'NaN']);

/** A scalar of a floating type that reads and writes these values as a contract decides. */
export function withNonFinite(scalar: Scalar, form: NonFiniteNumbers): Scalar {
  const { expected } = scalar;
  const reasonOf = (name: string): string => `a finite ${expected}, as JSON has no ${name}`;
  return {
    ...scalar,
    fromXml: (text) => {
      const token = scalar.fromXml(text);
      if (typeof token === 'string') return token;
      const name = collapse(text);
      if (!names.has(name)) return token;
      if (form === 'refuse') return invalid(reasonOf(name), `"${name}"`);
      return form === 'asNull' ? 'null' : `"${name}"`;
    },
    toXml: (json) => {
      const name = nameAt(json);
      if (name === undefined) return scalar.toXml(json);
      if (form === 'asText') return name;
      throw new MismatchError(`expected ${reasonOf(name)}, got it as a string`);
    },
    isInexact: (written) => !names.has(written) && scalar.isInexact?.(written) === true,
    checkJson: (json) => {
      const name = nameAt(json);
      if (name === undefined) return scalar.checkJson(json);
      return form === 'asText' ? undefined : invalid(reasonOf(name), `"${name}"`);
    },
  };
}

/** The name of one of these values if the reader's string is one, which it then moves past; else undefined. */
function nameAt(json: JsonReader): string | undefined {
  if (json.peek() !== quote) return undefined;
  const { position } = json;
  const text = json.string();
  if (names.has(text)) return text;
  json.position = position;
  return undefined;
}
