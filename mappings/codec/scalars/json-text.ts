import type { Limits } from '../../contract/limits.ts';
import { quoteValue } from '../../contract/reason.ts';
import { JsonError } from '../../json/grammar.ts';
import { checkJson } from '../../json/parts.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { collapse } from './numbers.ts';
import { invalid, type Scalar } from './scalar.ts';
import { escapeXml } from './text.ts';

const { plain } = nodeKinds;

/** Any JSON as text in an `xs:string`, so that nothing is lost if no closed type matches. */
export function jsonText(limits: Limits): Scalar {
  return {
    expected: 'JSON text',
    takesEmpty: false,
    text: 'string',
    fromXml: (text) => {
      const fault = faultOf(text, limits);
      return fault === undefined ? collapse(text) : invalid('JSON text', quoteValue(fault));
    },
    toXml: (reader) => {
      reader.peek();
      const start = reader.position;
      reader.skip();
      return escapeXml(reader.text.slice(start, reader.position), reader);
    },
    scan: (otherwise) => (tape) => {
      if (tape.peek() === 110) otherwise(tape);
      else scanJsonText(tape);
    },
    checkJson: (reader) => {
      reader.skip();
      return undefined;
    },
  };
}

/** Returns the error of a text as JSON; undefined if it is valid. */
function faultOf(text: string, limits: Limits): string | undefined {
  try {
    checkJson(text, limits);
    return undefined;
  } catch (error) {
    if (error instanceof JsonError) return `invalid JSON (${error.message})`;
    throw error;
  }
}

/** 1 for each byte of JSON text that XML content must not contain: `&`, `<`, `>`, CR, and the first byte of U+FFFE. */
const special = new Uint8Array(256);
for (const byte of Buffer.from('&<>\r')) special[byte] = 1;
special[0xef] = 1;

/** Pushes the value at the tape's position as JSON text, with unchanged bytes if possible. */
function scanJsonText(tape: Tape): void {
  const start = tape.position;
  tape.skip();
  const { bytes, position: end } = tape;
  for (let at = start; at < end; at++) {
    if (special[bytes[at] as number] === 1) {
      tape.pushMade(escapeXml(escapeNoncharacters(tape.slice(start, end)), tape));
      return;
    }
  }
  tape.pushRange(plain, start, end);
}

/** Escapes U+FFFE and U+FFFF, which XML does not allow. In JSON they only occur in strings. */
export function escapeNoncharacters(text: string): string {
  return text.replace(/[\uFFFE\uFFFF]/g, (letter) => (letter === '\uFFFE' ? '\\ufffe' : '\\uffff'));
}
