import { namespaces } from '../../contract/model.ts';
import { quoteElement } from '../../contract/reason.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReaderContext, ReplyWriter, RequestReader } from '../context.ts';
import { hasContent, readMember, scanNull } from '../element.ts';
import { type Reading, refuse } from '../problem.ts';
import { escapeNoncharacters } from '../scalars/json-text.ts';
import { collapse, isJsonNumber } from '../scalars/numbers.ts';
import { escapeAttribute, escapeXml, quoteJson, quoteText } from '../scalars/text.ts';

/** JSON as a tree of elements (XSLT 3.0, 22.1), under `json: tree`. */

const { list } = nodeKinds;

const expected = 'one of <map>, <array>, <string>, <number>, <boolean>, <null>';

/**
 * XML → JSON: one element represents the value. A JSON caller sends any value; a parameter's text is JSON text. It is
 * one function because its parts call each other.
 */
export function treeReader(context: ReaderContext, fromText: RequestReader['fromText']): RequestReader {
  const { limits } = context;

  const read = (xml: XmlReader, reading: Reading): string | undefined => {
    const values: (string | undefined)[] = [];
    while (xml.nextChild()) {
      reading.path.push(xml.local.slice(0, 64));
      if (values.length > 0) {
        refuse(reading, 'DuplicateElement', {
          expected: 'one element',
          got: quoteElement(xml.local, ' too'),
        });
        xml.skip();
      } else values.push(readValue(xml, reading));
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', { expected, got: 'text' });
    else if (values.length === 0) refuse(reading, 'NotEmpty', { expected, got: 'none' });
    return values[0];
  };

  /** Reads the value of the current element, past its end tag. */
  function readValue(xml: XmlReader, reading: Reading): string | undefined {
    const own = xml.namespace === namespaces.jsonTree || xml.namespace === '';
    const kind = own ? kinds.get(xml.local) : undefined;
    if (kind === undefined) {
      refuse(reading, 'UnknownElement', { expected, got: quoteElement(xml.local) });
      xml.skip();
      return undefined;
    }
    return readMember(kind, 'null', xml, reading);
  }

  const readParts = (xml: XmlReader, reading: Reading, readPart: RequestReader['read']): string => {
    let json = '';
    for (let index = 0; xml.nextChild(); index++) {
      reading.path.push(index);
      const part = readPart(xml, reading);
      if (part !== undefined) json += json === '' ? part : `,${part}`;
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', { expected: 'elements', got: 'text' });
    return json;
  };

  const readEntry = (xml: XmlReader, reading: Reading): string | undefined => {
    const key = xml.attribute('', 'key');
    if (key === undefined) refuse(reading, 'NotEmpty', { expected: 'the attribute key', got: 'none' });
    const name = key === undefined ? undefined : stringOf(key, flagOf(xml, 'escaped-key', reading), reading);
    const value = readValue(xml, reading);
    return name === undefined || value === undefined ? undefined : `${name}:${value}`;
  };

  const readText = (xml: XmlReader, reading: Reading, keepsQuirks: boolean): string | undefined => {
    const text = xml.readText(limits.xmlText, keepsQuirks);
    if (text === undefined) refuse(reading, 'InvalidType', { expected: 'text', got: 'elements' });
    return text;
  };

  const kinds = new Map(
    Object.entries<RequestReader['read']>({
      map: (xml, reading) => `{${readParts(xml, reading, readEntry)}}`,
      array: (xml, reading) => `[${readParts(xml, reading, readValue)}]`,
      string: (xml, reading) => {
        const escaped = flagOf(xml, 'escaped', reading);
        const text = readText(xml, reading, true);
        return text === undefined ? undefined : stringOf(text, escaped, reading);
      },
      number: (xml, reading) => {
        const text = readText(xml, reading, false);
        if (text === undefined || isJsonNumber(collapse(text))) return text && collapse(text);
        return refuse(reading, 'InvalidType', {
          expected: 'a number as JSON writes it',
          got: quoteText(text),
        });
      },
      boolean: (xml, reading) => {
        const text = readText(xml, reading, false);
        if (text === undefined) return undefined;
        const word = booleans.get(collapse(text));
        if (word === undefined)
          refuse(reading, 'InvalidType', { expected: 'xs:boolean', got: quoteText(text) });
        return word;
      },
      null: (xml, reading) => {
        if (hasContent(xml)) refuse(reading, 'InvalidType', { expected: 'no content in <null>' });
        return 'null';
      },
    }),
  );

  return {
    read,
    pass: (json) => json.skip(),
    fromText,
    nil: 'null',
    nilItem: 'null',
  };
}

/** XSD Part 2, 3.2.2.1. */
const booleans = new Map([
  ['true', 'true'],
  ['1', 'true'],
  ['false', 'false'],
  ['0', 'false'],
]);

/** Returns the value of a boolean attribute; false if it is absent. */
function flagOf(xml: XmlReader, name: string, reading: Reading): boolean {
  const text = xml.attribute('', name);
  if (text === undefined) return false;
  const word = booleans.get(collapse(text));
  if (word === undefined)
    refuse(reading, 'InvalidType', { expected: `true or false in ${name}`, got: quoteText(text) });
  return word === 'true';
}

/** Converts a text to a JSON string. An escaped text contains JSON's escapes. */
function stringOf(text: string, escaped: boolean, reading: Reading): string | undefined {
  if (!escaped) return quoteJson(text);
  // escaped backslashes become blanks, so that the characters around them form no escape
  if (/\\(?!["\\/bfnrt]|u[0-9A-Fa-f]{4})/.test(text.replace(/\\\\/g, ' ')))
    return refuse(reading, 'InvalidType', {
      expected: 'the escapes of JSON, as escaped says',
      got: 'another one',
    });
  // characters that JSON requires to be escaped
  return `"${text.replace(/\\.|["\t\n\r]/g, (part) => (part.length > 1 ? part : JSON.stringify(part).slice(1, -1)))}"`;
}

/** Texts that XML can contain, directly or as character references (XML 1.0, 2.2). */
const legalText = /^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u;

/**
 * JSON → XML, in the elements of XSLT 3.0's json-to-xml. Digits, order and duplicate members are preserved. The node
 * holds the range of the value, which is read again when it is written.
 */
export const treeWriter: ReplyWriter = {
  scan: (tape) => {
    if (scanNull(tape)) return;
    const start = tape.position;
    tape.skip();
    tape.pushRange(list, start, tape.position);
  },
  write: (tape, node, output) => {
    writeValue(tape, tape.words[node + 1] as number, output, ` xmlns="${namespaces.jsonTree}"`);
  },
  declarations: '',
};

/** Writes the value that starts at an offset, which has been checked. Returns its end. */
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
    const value = skipBlanks(tape, skipBlanks(tape, end) + 1); // after the colon
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
  const { text, escaped } = contentOf(tape, start + 1, end - 1);
  output.text(`<string${attributes}${escaped ? ' escaped="true"' : ''}>`);
  output.text(escapeXml(text, tape));
  output.text('</string>');
  return end;
}

function keyAttributes(tape: Tape, start: number, end: number): string {
  const { text, escaped } = contentOf(tape, start, end);
  // unescaped, a parser would normalize them to blanks
  const key = escapeAttribute(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;');
  return ` key="${key}"${escaped ? ' escaped-key="true"' : ''}`;
}

/** Returns the characters between two quotes. They keep JSON's escapes if XML cannot contain the characters. */
function contentOf(
  tape: Tape,
  start: number,
  end: number,
): { readonly text: string; readonly escaped: boolean } {
  const text = tape.decode(start, end);
  if (legalText.test(text)) return { text, escaped: false };
  return { text: escapeNoncharacters(tape.slice(start, end)), escaped: true };
}

/** Returns the start of the next item, after the comma, or the position of the closing bracket. */
function nextStart(tape: Tape, end: number): number {
  const at = skipBlanks(tape, end);
  return tape.bytes[at] === 44 ? skipBlanks(tape, at + 1) : at;
}

function skipBlanks({ bytes }: Tape, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 32 || byte === 10 || byte === 13 || byte === 9; ) byte = bytes[++at];
  return at;
}

/** Returns the end of the string that starts at an offset, after its closing quote. */
function stringEnd({ bytes }: Tape, start: number): number {
  let at = start + 1;
  for (; bytes[at] !== 34; at++) if (bytes[at] === 92) at++;
  return at + 1;
}

/**
 * Returns the end of a number or literal: the position of a comma, bracket, blank, or of the zero bytes after the
 * reply.
 */
function tokenEnd({ bytes }: Tape, start: number): number {
  let at = start;
  for (let byte = bytes[at] as number; byte > 32 && byte !== 44 && byte !== 93 && byte !== 125; )
    byte = bytes[++at] as number;
  return at;
}
