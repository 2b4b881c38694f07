import { namespaces } from '../../contract/model.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { type Reading, refuse } from '../problem.ts';
import { hasContent, readMember } from '../read-element.ts';
import type { Codec, Setup } from '../readers.ts';
import { collapse, isJsonNumber } from '../scalars/numbers.ts';
import { excerpt, quoteJson } from '../scalars/text.ts';

const expected = 'one of <map>, <array>, <string>, <number>, <boolean>, <null>';

/**
 * JSON as a tree of elements (XSLT 3.0, 22.1), one of which stands for the value. In JSON it is any value, in a
 * parameter's text JSON text.
 */
export function treeCodec(setup: Setup, fromText: Codec['fromText']): Codec {
  const { limits } = setup;

  const read = (xml: XmlReader, reading: Reading): string | undefined => {
    const values: (string | undefined)[] = [];
    while (xml.nextChild()) {
      reading.path.push(xml.local.slice(0, 64));
      if (values.length > 0) {
        refuse(reading, 'DuplicateElement', `expected one element, got <${xml.local.slice(0, 64)}> too`);
        xml.skip();
      } else values.push(readValue(xml, reading));
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', `expected ${expected}, got text`);
    else if (values.length === 0) refuse(reading, 'NotEmpty', `expected ${expected}, got none`);
    return values[0];
  };

  /** The value of the element whose start tag is current, past its end tag. */
  function readValue(xml: XmlReader, reading: Reading): string | undefined {
    const own = xml.namespace === namespaces.jsonTree || xml.namespace === '';
    const kind = own ? kinds.get(xml.local) : undefined;
    if (kind === undefined) {
      refuse(reading, 'UnknownElement', `expected ${expected}, got <${xml.local.slice(0, 64)}>`);
      xml.skip();
      return undefined;
    }
    return readMember(kind, 'null', xml, reading);
  }

  const readParts = (
    xml: XmlReader,
    reading: Reading,
    readPart: (xml: XmlReader, reading: Reading) => string | undefined,
  ): string => {
    let json = '';
    for (let index = 0; xml.nextChild(); index++) {
      reading.path.push(index);
      const part = readPart(xml, reading);
      if (part !== undefined) json += json === '' ? part : `,${part}`;
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', 'expected elements, got text');
    return json;
  };

  const readEntry = (xml: XmlReader, reading: Reading): string | undefined => {
    const key = xml.attribute('', 'key');
    if (key === undefined) refuse(reading, 'NotEmpty', 'expected the attribute key, got none');
    const name = key === undefined ? undefined : stringOf(key, flagOf(xml, 'escaped-key', reading), reading);
    const value = readValue(xml, reading);
    return name === undefined || value === undefined ? undefined : `${name}:${value}`;
  };

  const readText = (xml: XmlReader, reading: Reading, keepsQuirks: boolean): string | undefined => {
    const text = xml.readText(limits.xmlText, keepsQuirks);
    if (text === undefined) refuse(reading, 'InvalidType', 'expected text, got elements');
    return text;
  };

  const kinds = new Map<string, (xml: XmlReader, reading: Reading) => string | undefined>([
    ['map', (xml, reading) => `{${readParts(xml, reading, readEntry)}}`],
    ['array', (xml, reading) => `[${readParts(xml, reading, readValue)}]`],
    [
      'string',
      (xml, reading) => {
        const escaped = flagOf(xml, 'escaped', reading);
        const text = readText(xml, reading, true);
        return text === undefined ? undefined : stringOf(text, escaped, reading);
      },
    ],
    [
      'number',
      (xml, reading) => {
        const text = readText(xml, reading, false);
        if (text === undefined || isJsonNumber(collapse(text))) return text && collapse(text);
        refuse(reading, 'InvalidType', `expected a number as JSON writes it, got ${excerpt(text)}`);
        return undefined;
      },
    ],
    [
      'boolean',
      (xml, reading) => {
        const text = readText(xml, reading, false);
        const word = booleans.get(collapse(text ?? ''));
        if (text !== undefined && word === undefined)
          refuse(reading, 'InvalidType', `expected xs:boolean, got ${excerpt(text)}`);
        return word;
      },
    ],
    [
      'null',
      (xml, reading) => {
        if (hasContent(xml)) refuse(reading, 'InvalidType', 'expected no content in <null>');
        return 'null';
      },
    ],
  ]);

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

/** An attribute that is true or false; false where it isn't there. */
function flagOf(xml: XmlReader, name: string, reading: Reading): boolean {
  const text = xml.attribute('', name);
  const word = text === undefined ? 'false' : booleans.get(collapse(text));
  if (word === undefined)
    refuse(reading, 'InvalidType', `expected true or false in ${name}, got ${excerpt(text ?? '')}`);
  return word === 'true';
}

/** A text as a JSON string; of one that is escaped, the escapes are JSON's. */
function stringOf(text: string, escaped: boolean, reading: Reading): string | undefined {
  if (!escaped) return quoteJson(text);
  if (/\\(?!["\\/bfnrt]|u[0-9A-Fa-f]{4})/.test(text.replace(/\\\\/g, ''))) {
    refuse(reading, 'InvalidType', 'expected the escapes of JSON, as escaped says, got another one');
    return undefined;
  }
  // what stands there unescaped
  return `"${text.replace(/\\.|["\t\n\r]/g, (part) => (part.length > 1 ? part : JSON.stringify(part).slice(1, -1)))}"`;
}
