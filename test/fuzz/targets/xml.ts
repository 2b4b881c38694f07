import { isDeepStrictEqual } from 'node:util';
import { decodeXml } from '../../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../../mappings/xml/error.ts';
import { type Element, readInfoset } from '../../mappings/xml/infoset.ts';
import { readByLibxml2 } from '../libxml2.ts';
import type { Random } from '../random.ts';
import { shapeOf, target } from '../target.ts';

export type Outcome =
  | { readonly kind: 'not decoded'; readonly message: string }
  | { readonly kind: 'refused'; readonly text: string; readonly error: XmlError }
  | { readonly kind: 'read'; readonly text: string; readonly root: Element };

/** Error messages for documents that the gateway rejects on purpose although libxml2 reads them. */
const stricter: readonly RegExp[] = [
  /expected no DTD, got <!DOCTYPE$/, // W10
  /expected no processing instruction, got <\?$/, // W10
  /expected XML version 1\.0, got another version$/, // fifth edition, 2.8, allows readers to accept 1.1 as 1.0
];

/** Decodes and reads bytes as an XML document. The oracle is libxml2. */
export const xml = target<Outcome>({
  name: 'xml',
  words: [
    ...[
      '<',
      '>',
      '/>',
      '</',
      '<a>',
      '</a>',
      '<a/>',
      '<p:a>',
      ' xmlns="u"',
      ' xmlns:p="u"',
      ' p:b="1"',
      ' b=""',
      '=',
    ],
    ...[
      '<!--',
      '-->',
      '--',
      '<![CDATA[',
      ']]>',
      ']]',
      '<?xml version="1.0"?>',
      '<?',
      '?>',
      '<!DOCTYPE',
      '<!',
    ],
    ...[
      ' encoding="utf-8"',
      ' standalone="yes"',
      'version="1.1"',
      'xml:',
      'xmlns:',
      'xmlns',
      'xml',
      ':',
      '&',
    ],
    ...[
      '&amp;',
      '&lt;',
      '&#',
      '&#x',
      '&#x41;',
      '&#0;',
      '&#xD83D;',
      '&#x110000;',
      ';',
      '"',
      "'",
      '\r',
      '\r\n',
      '\t',
    ],
    ...['\u0000', '\u0085', '\u00b7', '\u2028', '\ufffe', '\ufeff', 'é', '漢', '\u{10000}', '\u{f0000}'],
    ...['http://www.w3.org/XML/1998/namespace', 'http://www.w3.org/2000/xmlns/'],
  ],
  make: makeDocument,
  judgeOneOf: 16,
  readings: 3,
  run: (input) => {
    let text: string;
    try {
      text = decodeXml(input, undefined);
    } catch (error) {
      if (error instanceof XmlError || error instanceof UnsupportedCharset) {
        return { kind: 'not decoded', message: error.message };
      }
      throw error;
    }
    try {
      return { kind: 'read', text, root: readInfoset(text) };
    } catch (error) {
      if (error instanceof XmlError) return { kind: 'refused', text, error };
      throw error;
    }
  },
  kind: (outcome) => (outcome.kind === 'refused' ? shapeOf(outcome.error.message) : outcome.kind),
  judge: (input, outcome) => {
    if (outcome.kind === 'not decoded') return judgeNotDecoded(input, outcome.message);
    if (outcome.kind === 'read') return judgeRead(outcome.text, outcome.root);
    const { message, limit } = outcome.error;
    if (limit !== undefined || stricter.some((rule) => rule.test(message))) return undefined;
    return readByLibxml2(outcome.text).kind === 'read' ? `libxml2 reads it, we: ${message}` : undefined;
  },
});

function judgeRead(text: string, root: Element): string | undefined {
  const other = readByLibxml2(text);
  if (other.kind === 'alone') return undefined;
  if (other.kind === 'refused') return `libxml2 refuses what we read: ${other.refusal}`;
  return isDeepStrictEqual(other.root, root) ? undefined : 'libxml2 reads another infoset';
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Without a byte order mark, a declaration or NULs the encoding is UTF-8, which Node's decoder checks too (W9). */
function judgeNotDecoded(input: Buffer, message: string): string | undefined {
  const plain =
    input[0] !== 0xfe && input[0] !== 0xff && input[0] !== 0xef && !input.subarray(0, 4).includes(0);
  if (!plain || input.subarray(0, 2).toString('latin1') === '<?' || message.includes('ebcdic'))
    return undefined;
  try {
    utf8.decode(input);
    return `a decoder of UTF-8 reads it, we: ${message}`;
  } catch {
    return undefined; // Node's decoder rejects it too
  }
}

function makeDocument(random: Random): string {
  const declaration = random.pick(
    '',
    '',
    '<?xml version="1.0" encoding="utf-8"?>',
    "<?xml version='1.0' standalone='no' ?>\n",
  );
  return declaration + makeMiscellany(random) + makeElement(random, 5) + makeMiscellany(random);
}

function makeMiscellany(random: Random): string {
  return random.pick('', '', '', '\n', '<!-- c -->', '<!---->\r\n');
}

function makeName(random: Random): string {
  return random.pick('', '', 'p:', 'q:') + random.pick('a', 'b', 'é', '_', 'x-1.y', 'ns\u{10000}', 'a\u00b7');
}

function makeElement(random: Random, depth: number): string {
  const name = makeName(random);
  const attributes = random.many(3, () => {
    const named = random.pick('xmlns', 'xmlns:p', 'xmlns:q', makeName(random));
    const quote = random.pick('"', "'");
    return `${random.pick(' ', '\n', '  ')}${named}${random.pick('=', '=', ' = ')}${quote}${makeText(random)}${quote}`;
  });
  if (depth === 0 || random.once(4)) return `<${name}${attributes}/>`;
  const content = random.many(4, () => (random.once(2) ? makeElement(random, depth - 1) : makeText(random)));
  const end = random.once(40) ? makeName(random) : name;
  return `<${name} xmlns:p="urn:p" xmlns:q='urn:q'${attributes}>${content}</${end}${random.pick('', '', ' ')}>`;
}

function makeText(random: Random): string {
  return random.pick(
    '',
    'u',
    'text ',
    ' ',
    'a\r\nb',
    '&amp;',
    '&#65;',
    '&#x1F600;',
    '漢',
    ']]',
    '>',
    'urn:p',
  );
}
