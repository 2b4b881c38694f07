import { isUtf8 } from 'node:buffer';
import test from 'ava';
import { charsetOf, decodeXml, hasPlainCharacters, isWide, utf8Start } from '../../../mappings/xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../../../mappings/xml/error.ts';
import { fc } from '../../property.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16le = (text: string) => Buffer.from(text, 'utf16le');
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
const bytes = (...parts: (number | string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))));

const mark8 = bytes(0xef, 0xbb, 0xbf);
const markLe = bytes(0xff, 0xfe);
const markBe = bytes(0xfe, 0xff);

const declared = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>`;

interface Accepted {
  title: string;
  input: Buffer;
  charset?: string;
  text: string;
}

const accepted: Accepted[] = [
  { title: 'ASCII without any statement is UTF-8', input: bytes('<a>x</a>'), text: '<a>x</a>' },
  { title: 'UTF-8 without any statement is UTF-8', input: bytes('<a>é☃😀</a>'), text: '<a>é☃😀</a>' },
  { title: 'no bytes are no text', input: bytes(), text: '' },
  {
    title: 'a declaration without encoding is UTF-8',
    input: bytes('<?xml version="1.0"?><a>é</a>'),
    text: '<?xml version="1.0"?><a>é</a>',
  },
  { title: 'a UTF-8 mark is cut off', input: bytes(mark8, '<a>é</a>'), text: '<a>é</a>' },
  {
    title: 'a UTF-8 mark agrees with charset utf-8',
    input: bytes(mark8, '<a/>'),
    charset: 'utf-8',
    text: '<a/>',
  },
  { title: 'the UTF-16LE mark decides', input: bytes(markLe, utf16le('<a>é</a>')), text: '<a>é</a>' },
  { title: 'the UTF-16BE mark decides', input: bytes(markBe, utf16be('<a>é</a>')), text: '<a>é</a>' },
  {
    title: 'a UTF-16 mark agrees with charset utf-16',
    input: bytes(markBe, utf16be('<a/>')),
    charset: 'UTF-16',
    text: '<a/>',
  },
  {
    title: 'a UTF-16LE mark agrees with charset utf-16le',
    input: bytes(markLe, utf16le('<a/>')),
    charset: 'utf-16le',
    text: '<a/>',
  },
  {
    title: 'a UTF-16 mark agrees with a declared UTF-16',
    input: bytes(markLe, utf16le(declared('UTF-16'))),
    text: declared('UTF-16'),
  },
  {
    title: 'charset utf-16 without mark is little-endian by its first <',
    input: utf16le(' \n<a/>'),
    charset: 'utf-16',
    text: ' \n<a/>',
  },
  {
    title: 'charset utf-16 without mark is big-endian by its first <',
    input: utf16be(' \n<a/>'),
    charset: 'utf-16',
    text: ' \n<a/>',
  },
  {
    title: 'UTF-16 without mark and charset is known by its declaration',
    input: utf16be(declared('utf-16')),
    text: declared('utf-16'),
  },
  {
    title: 'the charset overrules the declaration',
    input: bytes(declared('iso-8859-1'), 'é'),
    charset: 'utf-8',
    text: `${declared('iso-8859-1')}é`,
  },
  {
    title: 'the charset overrules a declared encoding that we don’t read',
    input: bytes(declared('utf-7')),
    charset: 'utf-8',
    text: declared('utf-7'),
  },
  {
    title: 'charset and mark together overrule the declaration',
    input: bytes(mark8, declared('iso-8859-1')),
    charset: 'utf-8',
    text: declared('iso-8859-1'),
  },
  {
    title: 'utf-16 declared over UTF-8 is ignored: .NET’s StringWriter',
    input: bytes(declared('utf-16'), 'é'),
    text: `${declared('utf-16')}é`,
  },
  {
    title: 'utf-16 declared after a UTF-8 mark is ignored',
    input: bytes(mark8, declared('utf-16'), 'é'),
    text: `${declared('utf-16')}é`,
  },
  {
    title: 'a declared ISO-8859-1 is windows-1252',
    input: latin1(`${declared('ISO-8859-1')}\xe9\x80\x93`),
    text: `${declared('ISO-8859-1')}é€“`,
  },
  {
    title: 'charset windows-1252 is windows-1252',
    input: latin1('<a>\xe9\x80\x9f</a>'),
    charset: 'Windows-1252',
    text: '<a>é€Ÿ</a>',
  },
  {
    title: 'bytes that windows-1252 leaves open are C1 controls',
    input: latin1('\x81\x8d\x8f\x90\x9d'),
    charset: 'iso-8859-1',
    text: '\x81\x8d\x8f\x90\x9d',
  },
  {
    title: 'UTF-16LE without mark and charset is known by its declaration',
    input: utf16le(declared('UTF-16LE')),
    text: declared('UTF-16LE'),
  },
  {
    title: 'so is UTF-16BE, whatever its length',
    input: utf16be(`${declared('utf-16be')}<a/>`),
    text: `${declared('utf-16be')}<a/>`,
  },
  {
    title: 'charset utf-16 without mark is little-endian by a first character',
    input: utf16le('<a/>'),
    charset: 'utf-16',
    text: '<a/>',
  },
  {
    title: 'charset utf-16 without mark is big-endian by a first character',
    input: utf16be('<a/>'),
    charset: 'utf-16',
    text: '<a/>',
  },
  { title: 'U+FEFE at the beginning is no mark', input: bytes(0xef, 0xbb, 0xbe), text: '\ufefe' },
  { title: 'U+F03F at the beginning is no mark', input: bytes(0xef, 0x80, 0xbf), text: '\uf03f' },
  {
    title: 'a declared windows-1252 behind blanks in it is read as that',
    input: latin1(`<?xml version = "1.0"\n encoding = "windows-1252" ?>\x80`),
    text: `<?xml version = "1.0"\n encoding = "windows-1252" ?>€`,
  },
  { title: 'US-ASCII is read', input: bytes(declared('us-ascii')), text: declared('us-ascii') },
  {
    title: 'names of encodings match in any case',
    input: bytes('<a>é</a>'),
    charset: 'uTF-8',
    text: '<a>é</a>',
  },
];

for (const { title, input, charset, text } of accepted) {
  test(`W9: ${title}`, (t) => {
    t.is(decodeXml(input, charset), text);
  });
}

for (const [charset, content, text] of [
  ['windows-1250', [0xb9, 0x9c], 'ąś'],
  ['CP1250', [0x9c], 'ś'],
  ['ISO-8859-2', [0xb1, 0xb6], 'ąś'],
  ['latin2', [0xb1], 'ą'],
  ['ISO-8859-15', [0xa4], '€'],
  ['windows-1251', [0xc6], 'Ж'],
  ['koi8-r', [0xf6], 'Ж'],
  ['Shift_JIS', [0x93, 0xfa, 0x95, 0x5c], '日表'],
  ['windows-31j', [0x93, 0xfa], '日'],
  ['EUC-JP', [0xc6, 0xfc], '日'],
  ['ISO-2022-JP', [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42], '日'],
  ['GB2312', [0xc8, 0xd5], '日'],
  ['gb18030', [0x94, 0x39, 0xfc, 0x36], '😀'],
  ['Big5', [0xa4, 0xe9], '日'],
  ['EUC-KR', [0xec, 0xed], '日'],
  ['macintosh', [0x8a], 'ä'],
  ['l1', [0x80], '€'],
  ['unicode-1-1-utf-8', [0xc3, 0xa9], 'é'],
] as const)
  test(`W9: ${charset} is read by the charset and by the declaration`, (t) => {
    const input = bytes('<a>', Buffer.from(content), '</a>');
    t.is(decodeXml(input, charset), `<a>${text}</a>`);
    t.is(decodeXml(bytes(declared(charset), input), undefined), `${declared(charset)}<a>${text}</a>`);
    t.is(utf8Start(input, charset), charset === 'unicode-1-1-utf-8' ? 0 : undefined);
  });

test('W9: ISO-10646-UCS-2 is UTF-16 of either byte order', (t) => {
  const text = `${declared('ISO-10646-UCS-2')}<a>é</a>`;
  t.is(decodeXml(utf16le(text), undefined), text);
  t.is(decodeXml(utf16be(text), 'ucs-2'), text);
});

test('W9: windows-1252 is decoded as the platform decodes it', (t) => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  t.is(decodeXml(all, 'windows-1252'), new TextDecoder('windows-1252').decode(all));
});

interface Refused {
  title: string;
  input: Buffer;
  charset?: string;
  message: string;
}

const refused: Refused[] = [
  {
    title: 'a stray continuation byte',
    input: bytes('<a>\né', 0x80, '</a>'),
    message: 'line 2, column 2: expected utf-8, got invalid bytes',
  },
  {
    title: 'an overlong NUL',
    input: bytes('<a>', 0xc0, 0x80, '</a>'),
    message: 'line 1, column 4: expected utf-8, got invalid bytes',
  },
  {
    title: 'a surrogate in UTF-8',
    input: bytes('<a>', 0xed, 0xa0, 0xbd, '</a>'),
    message: 'line 1, column 4: expected utf-8, got invalid bytes',
  },
  {
    title: 'a mark of another encoding in the middle',
    input: bytes('<a>', 0xff, 0xfe, '</a>'),
    message: 'line 1, column 4: expected utf-8, got invalid bytes',
  },
  {
    title: 'invalid bytes after a U+FFFD that was written',
    input: bytes('<a>\uFFFD', 0xff, '</a>'),
    message: 'line 1, column 5: expected utf-8, got invalid bytes',
  },
  {
    title: 'UTF-8 cut in the middle of a character',
    input: bytes('<a>', 0xe2, 0x98),
    message: 'line 1, column 4: expected utf-8, got invalid bytes',
  },
  {
    title: 'a byte above 127 in US-ASCII',
    input: latin1('<a>\xe9</a>'),
    charset: 'us-ascii',
    message: 'line 1, column 4: expected us-ascii, got invalid bytes',
  },
  {
    title: 'a UTF-8 mark against charset utf-16',
    input: bytes(mark8, '<a/>'),
    charset: 'utf-16',
    message: 'line 1, column 1: expected utf-16 by the charset, got the mark of utf-8',
  },
  {
    title: 'a UTF-16 mark against charset utf-8',
    input: bytes(markLe, utf16le('<a/>')),
    charset: 'utf-8',
    message: 'line 1, column 1: expected utf-8 by the charset, got the mark of utf-16le',
  },
  {
    title: 'a UTF-16LE mark against charset utf-16be',
    input: bytes(markLe, utf16le('<a/>')),
    charset: 'utf-16be',
    message: 'line 1, column 1: expected utf-16be by the charset, got the mark of utf-16le',
  },
  {
    title: 'a UTF-8 mark against charset iso-8859-1',
    input: bytes(mark8, '<a/>'),
    charset: 'iso-8859-1',
    message: 'line 1, column 1: expected windows-1252 by the charset, got the mark of utf-8',
  },
  {
    title: 'a UTF-8 mark against a declared ISO-8859-1',
    input: bytes(mark8, declared('iso-8859-1')),
    message:
      'line 1, column 1: expected an XML declaration that agrees with the mark of utf-8, got another encoding',
  },
  {
    title: 'a UTF-16 mark against a declared UTF-8',
    input: bytes(markBe, utf16be(declared('utf-8'))),
    message:
      'line 1, column 1: expected an XML declaration that agrees with the mark of utf-16be, got another encoding',
  },
  {
    title: 'a mark against a declared encoding that we don’t read',
    input: bytes(mark8, declared('utf-7')),
    message:
      'line 1, column 1: expected an XML declaration that agrees with the mark of utf-8, got another encoding',
  },
  {
    title: 'charset utf-16 over UTF-8',
    input: bytes('<a/>'),
    charset: 'utf-16',
    message: 'line 1, column 1: expected utf-16 by the charset, got bytes of another encoding',
  },
  {
    title: 'charset utf-16 without any <',
    input: utf16le('a'),
    charset: 'utf-16',
    message: 'line 1, column 1: expected utf-16 by the charset, got bytes of another encoding',
  },
  {
    title: 'UTF-16 that declares UTF-8',
    input: utf16le(declared('utf-8')),
    message: 'line 1, column 1: expected an XML declaration of utf-16, got none',
  },
  {
    title: 'utf-16le declared over UTF-8',
    input: bytes(declared('utf-16le')),
    message: 'line 1, column 1: expected utf-16le by the XML declaration, got characters of one byte',
  },
  {
    title: 'utf-16be declared over UTF-8',
    input: bytes(declared('utf-16be')),
    message: 'line 1, column 1: expected utf-16be by the XML declaration, got characters of one byte',
  },
  {
    title: 'utf-16be declared over UTF-16LE',
    input: utf16le(declared('utf-16be')),
    message: 'line 1, column 1: expected an XML declaration of utf-16, got none',
  },
  {
    title: 'UTF-16 without mark, charset and declaration',
    input: utf16le('<?pi?>'),
    message: 'line 1, column 1: expected an XML declaration of utf-16, got none',
  },
  {
    title: 'the beginning of a declaration in UTF-16 alone',
    input: utf16le('<?'),
    message: 'line 1, column 1: expected an XML declaration of utf-16, got none',
  },
  {
    title: 'a declaration in UTF-16 and half a character',
    input: bytes(utf16be(declared('utf-16')), 0),
    message: 'line 1, column 1: expected an XML declaration of utf-16, got none',
  },
  {
    title: 'charset utf-16 over a < in an odd place and no zero before',
    input: bytes('x<a/>'),
    charset: 'utf-16',
    message: 'line 1, column 1: expected utf-16 by the charset, got bytes of another encoding',
  },
  {
    title: 'half a UTF-16BE character',
    input: bytes(markBe, utf16be('<a/>'), 0),
    message: 'line 1, column 5: expected utf-16, got invalid bytes',
  },
  {
    title: 'the first byte of a UTF-16LE mark alone',
    input: bytes(0xff, '<a/>'),
    message: 'line 1, column 1: expected utf-8, got invalid bytes',
  },
  {
    title: 'the second byte of a UTF-16LE mark alone',
    input: bytes('<', 0xfe, '<a/>'),
    message: 'line 1, column 2: expected utf-8, got invalid bytes',
  },
  {
    title: 'the first byte of a UTF-16BE mark alone',
    input: bytes(0xfe, '<a/>'),
    message: 'line 1, column 1: expected utf-8, got invalid bytes',
  },
  {
    title: 'the second byte of a UTF-16BE mark alone',
    input: bytes('<', 0xff, '<a/>'),
    message: 'line 1, column 2: expected utf-8, got invalid bytes',
  },
  {
    title: 'half a UTF-16 character',
    input: bytes(markLe, utf16le('<a/>'), 0x20),
    message: 'line 1, column 5: expected utf-16, got invalid bytes',
  },
  {
    title: 'half a Shift_JIS character',
    input: bytes('<a>\n', 0x93, '<'),
    charset: 'shift_jis',
    message: 'line 2, column 1: expected shift_jis, got invalid bytes',
  },
  {
    title: 'a byte that windows-1253 leaves open',
    input: bytes(declared('windows-1253'), '<a>', 0xaa, '</a>'),
    message: 'line 1, column 49: expected windows-1253, got invalid bytes',
  },
  {
    title: 'a UTF-8 mark against charset windows-1250',
    input: bytes(mark8, '<a/>'),
    charset: 'cp1250',
    message: 'line 1, column 1: expected windows-1250 by the charset, got the mark of utf-8',
  },
  {
    title: 'a UTF-8 mark against a declared ISO-8859-2',
    input: bytes(mark8, declared('iso-8859-2')),
    message:
      'line 1, column 1: expected an XML declaration that agrees with the mark of utf-8, got another encoding',
  },
  {
    title: 'a lone surrogate in UTF-16',
    input: bytes(markLe, utf16le('<a>\ud800</a>')),
    message: 'line 1, column 4: expected utf-16, got invalid bytes',
  },
];

for (const { title, input, charset, message } of refused) {
  test(`W9: refuses ${title}`, (t) => {
    t.throws(() => decodeXml(input, charset), { instanceOf: XmlError, message });
  });
}

interface Unsupported {
  title: string;
  input: Buffer;
  charset?: string;
  got: string;
}

const unsupported: Unsupported[] = [
  { title: 'charset utf-7', input: bytes('<a/>'), charset: 'utf-7', got: 'utf-7' },
  { title: 'charset utf-32', input: bytes('<a/>'), charset: 'utf-32', got: 'utf-32' },
  { title: 'charset iso-2022-kr', input: bytes('<a/>'), charset: 'ISO-2022-KR', got: 'ISO-2022-KR' },
  { title: 'charset __proto__', input: bytes('<a/>'), charset: '__proto__', got: '__proto__' },
  { title: 'a charset that is no name', input: bytes('<a/>'), charset: 'utf-8\r\nx: y', got: 'another name' },
  { title: 'an empty charset', input: bytes('<a/>'), charset: '', got: 'an empty name' },
  { title: 'a charset in single quotes', input: bytes('<a/>'), charset: "'utf-8'", got: "'utf-8'" },
  { title: 'an unread charset against a mark', input: bytes(mark8, '<a/>'), charset: 'utf-7', got: 'utf-7' },
  { title: 'a declared UTF-7', input: bytes(declared('UTF-7')), got: 'UTF-7' },
  { title: 'a declared IBM037', input: bytes(declared('IBM037')), got: 'IBM037' },
  { title: 'UTF-32LE with a mark', input: bytes(0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0), got: 'utf-32' },
  { title: 'UTF-32BE with a mark', input: bytes(0, 0, 0xfe, 0xff), got: 'utf-32' },
  { title: 'UTF-32LE without a mark', input: bytes(0x3c, 0, 0, 0), got: 'utf-32' },
  { title: 'UTF-32BE without a mark', input: bytes(0, 0, 0, 0x3c), got: 'utf-32' },
  { title: 'EBCDIC', input: bytes(0x4c, 0x6f, 0xa7, 0x94), got: 'ebcdic' },
];

for (const { title, input, charset, got } of unsupported) {
  test(`W9: ${title} is an unsupported charset`, (t) => {
    t.throws(() => decodeXml(input, charset), {
      instanceOf: UnsupportedCharset,
      message: `charset: expected utf-8 or another name of the Encoding Standard, got ${got}`,
    });
  });
}

test('W9: a view into a larger buffer is decoded without the surrounding bytes', (t) => {
  const whole = bytes('xx', markBe, utf16be('<é/>'), 'yy');
  t.is(decodeXml(new Uint8Array(whole.buffer, whole.byteOffset + 2, whole.length - 4), undefined), '<é/>');
});

test('W9: each encoding is known by each of its names, in any case', (t) => {
  for (const name of ['iso-8859-1', 'ISO_8859-1', 'latin1', 'windows-1252', 'CP1252'])
    t.is(decodeXml(Buffer.from([0x80]), name), '\u20ac', name);
  for (const name of ['utf-8', 'UTF8']) t.is(decodeXml(Buffer.from('\u20ac'), name), '\u20ac', name);
  for (const name of ['us-ascii', 'ASCII']) t.is(decodeXml(Buffer.from('a'), name), 'a', name);
  for (const name of ['utf-16', 'UTF-16LE'])
    t.is(decodeXml(Buffer.from('<\u20ac', 'utf16le'), name), '<\u20ac', name);
  for (const name of ['utf-16', 'UTF-16BE'])
    t.is(decodeXml(Buffer.from('<\u20ac', 'utf16le').swap16(), name), '<\u20ac', name);
});

/** Bytes at and next to the bounds of every range of Unicode's table 3-7. */
const edges = [
  0x0a, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
  0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff,
];

/** Returns the position at which Node rejects bytes: after the longest valid UTF-8 prefix. */
function placeOf(input: Buffer): string | undefined {
  let size = input.length;
  while (!isUtf8(input.subarray(0, size))) size--;
  if (size === input.length) return undefined;
  const lines = input.toString('utf8', 0, size).split('\n');
  const column = (lines.at(-1) ?? '').length + 1;
  return `line ${lines.length}, column ${column}: expected utf-8, got invalid bytes`;
}

function refusalOf(input: Buffer): string | undefined {
  try {
    decodeXml(input, undefined);
    return undefined;
  } catch (error) {
    return error instanceof XmlError ? error.message : String(error);
  }
}

test('invalid UTF-8 is refused after the last whole character, at every edge of its ranges', (t) => {
  for (const lead of edges)
    for (const second of edges)
      for (const third of [0x7f, 0x80, 0xbf, 0xc0])
        for (const fourth of [0x41, 0x7f, 0x80, 0xbf, 0xc0])
          for (const behind of [[], [0xff]]) {
            const input = Buffer.from([0x3c, lead, second, third, fourth, ...behind]);
            if (refusalOf(input) !== placeOf(input))
              t.is(refusalOf(input), placeOf(input), input.toString('hex'));
          }
  t.pass();
});

test('invalid UTF-8 is refused at any position of a document', (t) => {
  const sequences = fc.array(fc.constantFrom(...edges, 0xe2, 0x98, 0x83), { maxLength: 8 });
  fc.assert(
    fc.property(sequences, (list) => {
      const input = bytes('<a>é\n', Buffer.from(list), '</a>');
      return refusalOf(input) === placeOf(input);
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

test('UTF-16 is detected by the first two bytes', (t) => {
  for (const [first, second, isSo] of [
    [0xff, 0xfe, true],
    [0xfe, 0xff, true],
    [0, 0x3c, true],
    [0x3c, 0, true],
    [0x3c, 0x3f, false],
    [0xff, 0xff, false],
    [0xfe, 0xfe, false],
    [0xff, 0x3c, false],
    [0x3c, 0xff, false],
    [1, 1, false],
  ] as const)
    t.is(isWide(Buffer.from([first, second])), isSo, `${first} ${second}`);
  t.false(isWide(Buffer.from('<')));
});

test('W9: a document that is read as UTF-8 is known by its bytes and its charset', (t) => {
  for (const [input, charset, start] of [
    [bytes('<a/>'), undefined, 0],
    [bytes('<a/>'), 'UTF8', 0],
    [bytes('<a>é😀</a>'), undefined, 0],
    [bytes(declared('utf-8')), undefined, 0],
    [bytes(declared('utf-16')), undefined, 0],
    [bytes(declared('us-ascii')), undefined, undefined],
    [bytes(declared('us-ascii')), 'utf-8', 0],
    [bytes('<a/>'), 'us-ascii', undefined],
    [bytes('<a/>'), 'utf-7', undefined],
    [bytes(mark8, '<a/>'), undefined, 3],
    [bytes(mark8, '<a/>'), 'utf-8', 3],
    [bytes(mark8, '<a/>'), 'us-ascii', undefined],
    [bytes(mark8, declared('utf-8')), undefined, 3],
    [bytes(mark8, declared('utf-16')), undefined, 3],
    [bytes(mark8, declared('us-ascii')), undefined, undefined],
    [bytes(mark8, declared('us-ascii')), 'utf-8', 3],
    [utf16le('<a/>'), 'utf-16', undefined],
  ] as const) {
    t.is(utf8Start(input, charset), start, `${input} ${charset}`);
    if (start !== undefined) t.is(decodeXml(input, charset), input.toString('utf8', start));
  }
  for (const [content, isPlain] of [
    ['a', true],
    ['\u00e9\u6f22\u{1f600}', true],
    ['\ufffd', true],
    ['\ufffe', false],
    ['\uffff', false],
  ] as const)
    t.is(hasPlainCharacters(bytes(`<a>${content}</a>`)), isPlain, content);
  t.false(hasPlainCharacters(bytes('<a>', Buffer.from([0xe9]), '</a>')));
});

test('an invalid UTF-16 unit is refused at its position, in both byte orders', (t) => {
  for (const text of ['<a>\n\ud800', '<a>\n\udc00x', '<a>\n\udbffx'])
    for (const input of [bytes(markLe, utf16le(text)), bytes(markBe, utf16be(text))])
      t.throws(() => decodeXml(input, undefined), {
        instanceOf: XmlError,
        message: 'line 2, column 1: expected utf-16, got invalid bytes',
      });
});

test('an error shows at most 40 plain characters of a charset', (t) => {
  for (const [charset, got] of [
    ['x'.repeat(40), 'x'.repeat(40)],
    ['x'.repeat(41), 'another name'],
    ['a b', 'another name'],
  ] as const)
    t.like(
      t.throws(() => decodeXml(bytes('<a/>'), charset)),
      {
        name: 'UnsupportedCharset',
        message: `charset: expected utf-8 or another name of the Encoding Standard, got ${got}`,
      },
    );
});

for (const { title, input, charset, text } of accepted)
  if (charset === undefined)
    test(`W9: a document is read by its charset like by its own declaration: ${title}`, (t) => {
      t.is(decodeXml(input, charsetOf(input)), text);
    });

for (const [input, expected] of [
  [bytes('<a/>'), 'utf-8'],
  [bytes(mark8, '<a/>'), 'utf-8'],
  [bytes(declared('UTF8'), '<a/>'), 'utf-8'],
  [bytes(markLe, utf16le('<a/>')), 'utf-16'],
  [bytes(markBe, utf16be(`${declared('utf-16')}<a/>`)), 'utf-16'],
  [utf16le(`${declared('utf-16')}<a/>`), 'utf-16le'],
  [utf16be(`${declared('UTF-16BE')}<a/>`), 'utf-16be'],
  // .NET's StringWriter declares UTF-16 although the bytes are UTF-8
  [bytes(declared('utf-16'), '<a/>'), 'utf-8'],
  [bytes(declared('ISO-8859-1'), '<a/>'), 'iso-8859-1'],
  [bytes(declared('latin1'), '<a/>'), 'iso-8859-1'],
  [bytes(declared('cp1252'), '<a/>'), 'windows-1252'],
  [bytes(declared('US-ASCII'), '<a/>'), 'us-ascii'],
  [bytes(declared('Windows-1250'), '<a/>'), 'windows-1250'],
  [bytes(declared('Shift_JIS'), '<a/>'), 'shift_jis'],
] as const)
  test(`W9: the charset of ${JSON.stringify(input.toString('latin1'))} is ${expected}`, (t) => {
    t.is(charsetOf(input), expected);
  });
