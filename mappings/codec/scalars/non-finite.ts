import type { JsonReader } from '../../json/reader.ts';
import { MismatchError } from '../problem.ts';
import { collapse } from './numbers.ts';
import { invalid, quote, type Scalar } from './scalar.ts';
import { quoteText } from './text.ts';

/** `INF`, `-INF` and `NaN` of xs:double and xs:float (XSD Part 2, 3.2.4 and 3.2.5), which JSON numbers cannot be (RFC 8259, 6). */

/** JSON forms of INF, -INF and NaN: none, null, or their text as a string. */
export type NonFiniteNumbers = 'refuse' | 'asNull' | 'asText';

const names: ReadonlySet<string> = new Set(['INF', '-INF', 'NaN']);

/** Returns a floating scalar that reads and writes INF, -INF and NaN in the form of the contract. */
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
      if (form === 'refuse') return invalid(reasonOf(name), quoteText(name));
      return form === 'asNull' ? 'null' : `"${name}"`;
    },
    toXml: (json) => {
      const name = nameAt(json);
      if (name === undefined) return scalar.toXml(json);
      if (form === 'asText') return name;
      throw new MismatchError({ expected: reasonOf(name), got: 'a string' });
    },
    isInexact: (written) => !names.has(written) && scalar.isInexact?.(written) === true,
    checkJson: (json) => {
      const name = nameAt(json);
      if (name === undefined) return scalar.checkJson(json);
      return form === 'asText' ? undefined : invalid(reasonOf(name), quoteText(name));
    },
  };
}

/** Reads a string that is INF, -INF or NaN. For any other value, returns undefined without moving the reader. */
function nameAt(json: JsonReader): string | undefined {
  if (json.peek() !== quote) return undefined;
  const { position } = json;
  const text = json.string();
  if (names.has(text)) return text;
  json.position = position;
  return undefined;
}
