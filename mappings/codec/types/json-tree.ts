import { defaultLimits, type Limits } from '../../contract/limits.ts';
import { namespaces } from '../../contract/model.ts';
import { quoteElement } from '../../contract/reason.ts';
import { skipped } from '../../json/parts.ts';
import { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReaderContext, ReplyWriter, RequestReader } from '../context.ts';
import { hasContent, readMember, refuseText, scanNull } from '../element.ts';
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
    if (xml.hasText) refuse(reading, 'InvalidType', { expected, got: 'text' });
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
    refuseText(xml, reading);
    return json;
  };

  const readEntry = (xml: XmlReader, reading: Reading): string | undefined => {
    const key = xml.attribute('', 'key');
    if (key === undefined) refuse(reading, 'NotEmpty', { expected: 'the attribute key', got: 'none' });
    const name = key === undefined ? undefined : stringOf(key, flagOf(xml, 'escaped-key', reading), reading);
    const value = readValue(xml, reading);
    return name === undefined || value === undefined ? undefined : `${name}:${value}`;
  };

  const readText = (xml: XmlReader, reading: Reading, keepsIllegal: boolean): string | undefined => {
    const text = xml.readText(limits.xmlText, keepsIllegal);
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
    const text = tape.slice(tape.words[node + 1] as number, tape.words[node + 2] as number);
    writeValue(new JsonReader(text, unbounded), tape, output, ` xmlns="${namespaces.jsonTree}"`);
  },
  declarations: '',
};

/** The value was checked before, so its depth and number of members are not limited again. */
const unbounded: Limits = {
  ...defaultLimits,
  jsonDepth: Number.POSITIVE_INFINITY,
  jsonMembers: Number.POSITIVE_INFINITY,
};

/** Writes the value at the reader and moves past it. */
function writeValue(json: JsonReader, tape: Tape, output: Output, attributes: string): void {
  const code = json.peek();
  if (code === 123 || code === 91) {
    const name = code === 123 ? 'map' : 'array';
    output.text(`<${name}${attributes}>`);
    json.enter();
    for (let first = true; json.next(first, code + 2); first = false)
      writeValue(json, tape, output, code === 123 ? keyAttributes(json) : '');
    output.text(`</${name}>`);
  } else if (code === 34) {
    const { text, escaped } = contentAt(json);
    output.text(`<string${attributes}${escaped ? ' escaped="true"' : ''}>`);
    output.text(escapeXml(text, tape));
    output.text('</string>');
  } else {
    const token = skipped(json);
    if (token === 'null') output.text(`<null${attributes}/>`);
    else {
      const name = token === 'true' || token === 'false' ? 'boolean' : 'number';
      output.text(`<${name}${attributes}>${token}</${name}>`);
    }
  }
}

/** Moves past a member's name and its colon. */
function keyAttributes(json: JsonReader): string {
  const { text, escaped } = contentAt(json);
  json.colon();
  // unescaped, a parser would normalize them to blanks
  const key = escapeAttribute(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;');
  return ` key="${key}"${escaped ? ' escaped-key="true"' : ''}`;
}

/** Reads a string. Its text keeps JSON's escapes if XML cannot contain the characters. */
function contentAt(json: JsonReader): { readonly text: string; readonly escaped: boolean } {
  const start = json.position + 1;
  const text = json.string();
  if (legalText.test(text)) return { text, escaped: false };
  return { text: escapeNoncharacters(json.text.slice(start, json.position - 1)), escaped: true };
}
