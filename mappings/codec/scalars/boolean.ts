import { nodeKinds } from '../../json/tape.ts';
import { MismatchError } from '../problem.ts';
import { collapse } from './numbers.ts';
import { invalid, mismatch, quote, refuseKind, type Scalar } from './scalar.ts';
import { quoteText } from './text.ts';

const { plain } = nodeKinds;

/** `xs:boolean`. JSON may also have it as a string (W22, W37). */
export const boolean: Scalar = {
  expected: 'xs:boolean',
  takesEmpty: false,
  text: 'plain',
  // Exactly four literals are valid: XSD Part 2, 3.2.2.1.
  fromXml: (text) => {
    const word = collapse(text);
    if (word === 'true' || word === '1') return 'true';
    if (word === 'false' || word === '0') return 'false';
    return invalid('xs:boolean', quoteText(text));
  },
  toXml: (json) => {
    const code = json.peek();
    if (code === 116 || code === 102) return json.literal();
    if (code !== quote) return mismatch('a boolean', json);
    const text = json.string();
    if (text === '') return null;
    if (text === 'true' || text === 'false') return text;
    throw new MismatchError({ expected: 'a boolean', got: 'an invalid string' });
  },
  scan: (otherwise) => (tape) => {
    const byte = tape.peek();
    if (byte !== 116 && byte !== 102) {
      otherwise(tape);
      return;
    }
    const start = tape.position;
    tape.literal();
    tape.pushRange(plain, start, tape.position);
  },
  checkJson: (json) => {
    const code = json.peek();
    if (code === 116 || code === 102) {
      json.literal();
      return undefined;
    }
    if (code !== quote) return refuseKind(json, 'a boolean');
    const text = json.string();
    return text === 'true' || text === 'false' ? text : invalid('a boolean', quoteText(text));
  },
};
