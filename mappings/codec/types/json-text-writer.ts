import { nodeKinds, type Tape } from '../../json/tape.ts';
import { escapeXml } from '../scalars/text.ts';
import type { ReplyWriter } from '../write-element.ts';
import { noContent, scanNull } from './scalar-writer.ts';

const { plain } = nodeKinds;

/** 1 at each byte of JSON text that XML content can't have as it is: `&`, `<`, `>`, CR, and where U+FFFE begins. */
const special = new Uint8Array(256);
for (const byte of Buffer.from('&<>\r')) special[byte] = 1;
special[0xef] = 1;

/** Pushes the value that starts here as its own text, the bytes as they came. */
function scanJsonText(tape: Tape): void {
  tape.peek();
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

/** The writer of a value that no closed type fits, as JSON text. */
export const jsonWriter: ReplyWriter = {
  scan: (tape) => {
    if (tape.peek() === 110) scanNull(tape);
    else scanJsonText(tape);
  },
  write: noContent,
  declarations: '',
};
