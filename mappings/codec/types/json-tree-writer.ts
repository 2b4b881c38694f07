import { namespaces } from '../../contract/model.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import { escapeNoncharacters } from '../scalars/json-text.ts';
import { escapeAttribute, escapeXml } from '../scalars/text.ts';
import { type ReplyWriter, scanNull } from '../write-element.ts';

const { list } = nodeKinds;

/** What XML can carry, as it is or as a reference (XML 1.0, 2.2). */
const legalText = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

/**
 * The writer of JSON as a tree, in the elements of XSLT 3.0's json-to-xml (22.1): each value as it came, digits, order
 * and members given twice. The node is where the value stands; it is read once more to be written.
 */
export const treeWriter: ReplyWriter = {
  scan: (tape) => {
    if (tape.peek() === 110) {
      scanNull(tape);
      return;
    }
    const start = tape.position;
    tape.skip();
    tape.pushRange(list, start, tape.position);
  },
  write: (tape, node, output) => {
    writeValue(tape, tape.words[node + 1] as number, output, ` xmlns="${namespaces.jsonTree}"`);
  },
  declarations: '',
};

/** Writes the value that starts here, which has been checked; where it ends. */
function writeValue(tape: Tape, start: number, output: Output, attributes: string): number {
  const byte = tape.bytes[start];
  if (byte === 123) return writeMembers(tape, start, output, attributes);
  if (byte === 91) return writeItems(tape, start, output, attributes);
  if (byte === 34) return writeString(tape, start, output, attributes);
  const end = tokenEnd(tape, start);
  const token = tape.slice(start, end);
  if (token === 'null') output.text(`<null${attributes}/>`);
  else {
    const name = token === 'true' || token === 'false' ? 'boolean' : 'number';
    output.text(`<${name}${attributes}>${token}</${name}>`);
  }
  return end;
}

function writeMembers(tape: Tape, start: number, output: Output, attributes: string): number {
  output.text(`<map${attributes}>`);
  let at = skipBlanks(tape, start + 1);
  while (tape.bytes[at] !== 125) {
    const end = stringEnd(tape, at);
    const value = skipBlanks(tape, skipBlanks(tape, end) + 1); // past the colon
    at = nextStart(tape, writeValue(tape, value, output, keyAttributes(tape, at + 1, end - 1)));
  }
  output.text('</map>');
  return at + 1;
}

function writeItems(tape: Tape, start: number, output: Output, attributes: string): number {
  output.text(`<array${attributes}>`);
  let at = skipBlanks(tape, start + 1);
  while (tape.bytes[at] !== 93) at = nextStart(tape, writeValue(tape, at, output, ''));
  output.text('</array>');
  return at + 1;
}

function writeString(tape: Tape, start: number, output: Output, attributes: string): number {
  const end = stringEnd(tape, start);
  const said = contentOf(tape, start + 1, end - 1);
  output.text(`<string${attributes}${said.escaped ? ' escaped="true"' : ''}>`);
  output.text(escapeXml(said.text, tape));
  output.text('</string>');
  return end;
}

function keyAttributes(tape: Tape, start: number, end: number): string {
  const { text, escaped } = contentOf(tape, start, end);
  // as they are, a parser would make blanks of them
  const key = escapeAttribute(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;');
  return ` key="${key}"${escaped ? ' escaped-key="true"' : ''}`;
}

/** The characters between two quotes; with JSON's own escapes where XML can't carry what they mean. */
function contentOf(
  tape: Tape,
  start: number,
  end: number,
): { readonly text: string; readonly escaped: boolean } {
  const text = tape.decode(start, end);
  if (legalText.test(text)) return { text, escaped: false };
  return { text: escapeNoncharacters(tape.slice(start, end)), escaped: true };
}

/** Past the comma behind a value, at what comes next, or at the bracket that closes. */
function nextStart(tape: Tape, end: number): number {
  const at = skipBlanks(tape, end);
  return tape.bytes[at] === 44 ? skipBlanks(tape, at + 1) : at;
}

function skipBlanks({ bytes }: Tape, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 32 || byte === 10 || byte === 13 || byte === 9; ) byte = bytes[++at];
  return at;
}

/** Past the closing quote of the string that starts here. */
function stringEnd({ bytes }: Tape, start: number): number {
  let at = start + 1;
  for (; bytes[at] !== 34; at++) if (bytes[at] === 92) at++;
  return at + 1;
}

/** Past a number or a word: at a comma, a bracket, a blank, or the zeros behind the reply. */
function tokenEnd({ bytes }: Tape, start: number): number {
  let at = start;
  for (let byte = bytes[at] as number; byte > 32 && byte !== 44 && byte !== 93 && byte !== 125; )
    byte = bytes[++at] as number;
  return at;
}
