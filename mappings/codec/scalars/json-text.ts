import type { Limits } from '../../contract/limits.ts';
import { JsonError } from '../../json/grammar.ts';
import { checkJson } from '../../json/parts.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { collapse } from './numbers.ts';
import { invalid, type Scalar } from './scalar.ts';
import { escapeXml } from './text.ts';

const { plain } = nodeKinds;

/** Any JSON, as its text in an `xs:string`: nothing is lost where no closed type fits. */
export function jsonText(limits: Limits): Scalar {
  return {
    expected: 'JSON text',
    takesEmpty: false,
    text: 'string',
    fromXml: (text) => {
      const fault = faultOf(text, limits);
      return fault === undefined ? collapse(text) : invalid('JSON text', fault);
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

/** What keeps a text from being JSON, in words; undefined when it is. */
function faultOf(text: string, limits: Limits): string | undefined {
  try {
    checkJson(text, limits);
    return undefined;
  } catch (error) {
    if (error instanceof JsonError) return `text that is none (${error.message})`;
    throw error;
  }
}

/** 1 at each byte of JSON text that XML content can't have as it is: `&`, `<`, `>`, CR, and where U+FFFE begins. */
const special = new Uint8Array(256);
for (const byte of Buffer.from('&<>\r')) special[byte] = 1;
special[0xef] = 1;

/** Pushes the value that starts here as its own text, the bytes as they came. */
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

/** What XML can't carry and JSON need not: U+FFFE and U+FFFF, which stand in strings alone, as escapes. */
export function escapeNoncharacters(text: string): string {
  return text.replace(/[\uFFFE\uFFFF]/g, (letter) => (letter === '\uFFFE' ? '\\ufffe' : '\\uffff'));
}
