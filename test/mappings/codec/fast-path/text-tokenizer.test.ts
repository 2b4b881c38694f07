import test from 'ava';
import { keyOf } from '../../../../mappings/bytes.ts';
import { mostBytes, TextTokenizer } from '../../../../mappings/codec/fast-path/text-tokenizer.ts';
import type { TextValue } from '../../../../mappings/codec/text-value.ts';
import { XmlError } from '../../../../mappings/xml/error.ts';

const quote = (text: string): string => JSON.stringify(text);
const asText: TextValue = { lenient: true, maxLength: 8, tokenOf: quote, isText: true };
/** The same value without the fast path. */
const converted: TextValue = { ...asText, isText: false };
const integer: TextValue = {
  lenient: false,
  maxLength: 8,
  tokenOf: (text) => (/^\d+$/.test(text) ? text : undefined),
  isText: false,
};
/** Maximum size of all tokens of one document in bytes. */
const room = mostBytes * 6;

const texts = new TextTokenizer();
const opens = '<a>';

/** Returns the token of a text between tags, or undefined if there is none. */
function tokenOf(text: string | Buffer, value: TextValue, illegalReferences = false): string | undefined {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  texts.start(Buffer.concat([Buffer.from(opens), bytes, Buffer.from('</a>')]), illegalReferences);
  const end = texts.read(opens.length, value);
  if (end < 0) return undefined;
  if (end !== opens.length + bytes.length) throw new Error(`ends at ${end}`);
  return texts.token(texts.count - 1);
}

for (const text of [
  'a',
  'ab c',
  '12345678',
  ' a ',
  '"',
  '\\',
  'a"b\\"',
  "'",
  'é漢😀',
  'a>b',
  '\t\n',
  '\uffef\uff05',
  '\u007f',
])
  test(`${JSON.stringify(text)} is a token by itself, with escapes where JSON asks for them`, (t) => {
    t.is(tokenOf(text, asText), quote(text));
    t.is(tokenOf(text, converted), quote(text));
  });

for (const [text, meant] of [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&amp;', '&'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['a&lt;b&gt;', 'a<b>'],
  ['é&amp;é', 'é&é'],
  ['&#233;', 'é'],
  ['a\r\nb\rc', 'a\nb\nc'],
  ['&#13;', '\r'],
] as const)
  test(`${JSON.stringify(text)} is the token of ${JSON.stringify(meant)}`, (t) => {
    t.is(tokenOf(text, asText), quote(meant));
    t.is(tokenOf(text, converted), quote(meant));
  });

test('a text without a token of its own is left to its codec', (t) => {
  for (const value of [asText, converted]) {
    for (const text of ['', '\u0001', '\ufffe', '\uffff', '\ufffea', '123456789', 'é&amp;'.repeat(5)])
      t.is(tokenOf(text, value), undefined, text);
    t.is(tokenOf('é'.repeat(8), value), quote('é'.repeat(8)));
    t.is(tokenOf('é'.repeat(9), value), undefined);
    t.is(tokenOf('&lt;'.repeat(8), value), quote('<'.repeat(8)));
    t.is(tokenOf('&lt;'.repeat(9), value), undefined);
  }
  t.is(tokenOf('12', integer), '12');
  t.is(tokenOf('12345678', integer), '12345678');
  t.is(tokenOf('123456789', integer), undefined);
  t.is(tokenOf('x', integer), undefined);
  t.is(tokenOf('a', { ...converted, tokenOf: () => '""' }), undefined);
  t.is(tokenOf('a', { ...converted, tokenOf: () => 'null' }), undefined);
  t.is(tokenOf('a', { ...converted, tokenOf: () => 'é漢' }), 'é漢');
});

test('a reference that no reader takes is an error, or left to the codec', (t) => {
  for (const text of ['&bad;', '&', '&lt', '&#x;', '&#xD800;'])
    for (const value of [asText, integer]) t.throws(() => tokenOf(text, value), { instanceOf: XmlError });
});

test('W10: references that XML forbids are counted where they are taken, anew for each document', (t) => {
  t.is(tokenOf('a&#1;&#2;', asText, true), quote('a\u0001\u0002'));
  t.is(texts.quirks, 2);
  t.is(tokenOf('&#xD83D;&#xDE00;', asText, false), quote('😀'));
  t.is(texts.quirks, 1);
  t.is(tokenOf('&#xD83D;&#xDE00;&#1;', asText, true), quote('😀\u0001'));
  t.is(texts.quirks, 2);
  t.is(tokenOf('a', asText, true), quote('a'));
  t.is(texts.quirks, 0);
  t.throws(() => tokenOf('&#1;', asText, false), { instanceOf: XmlError });
  t.throws(() => tokenOf('&#1;', { ...asText, lenient: false }, true), { instanceOf: XmlError });
});

test('tokens lie one behind the other, each by its number, and begin anew with a document', (t) => {
  for (let time = 0; time < 2; time++) {
    texts.start(Buffer.from('<a>x"</a><b>7</b><c>é&lt;</c>'), false);
    t.is(texts.count, 0);
    t.is(texts.read(3, asText), 5);
    t.is(texts.read(12, integer), 13);
    t.is(texts.read(20, asText), 26);
    t.is(texts.count, 3);
    t.deepEqual(
      [0, 1, 2].map((index) => texts.token(index)),
      ['"x\\""', '7', '"é<"'],
    );
    t.is(texts.tokens.toString('utf8', 0, texts.ends[3]), '"x\\""7"é<"');
    t.deepEqual([...texts.ends.subarray(0, 4)], [0, 5, 6, 11]);
    t.true(texts.matches(5, keyOf('</a><b>')));
    t.false(texts.matches(5, keyOf('</a><c>')));
    t.true(texts.isEnd(30));
    t.false(texts.isEnd(29));
  }
});

test('what stood in a document before is no part of a shorter one', (t) => {
  const long = Buffer.from('<a>12345678</a>');
  const longer = Buffer.from('<a>12345678901234567890</a>');
  for (let size = 4; size < long.length; size++)
    for (const value of [asText, converted, integer]) {
      texts.start(size % 2 === 0 ? long : longer, false);
      texts.start(long.subarray(0, size), false);
      t.is(texts.read(3, value), size > 11 ? 11 : -1, `${size}`);
      t.false(texts.matches(size - 1, keyOf(long.toString('latin1', size - 1, size + 1))));
    }
});

test('a document of as many bytes as fit is read up to its end', (t) => {
  const value = { ...asText, maxLength: mostBytes };
  const text = 'x'.repeat(mostBytes - '<a></a>'.length);
  for (const each of [value, { ...value, isText: false }]) {
    t.is(tokenOf(text, each), quote(text));
    t.true(texts.isEnd(mostBytes));
  }
  const quotes = '"'.repeat(text.length);
  t.is(tokenOf(quotes, value), quote(quotes));
});

test('tokens of one document have room for six times its bytes, and what needs more is left to the codecs', (t) => {
  const document = '<a>1</a><b>22</b>';
  const read = (length: number, value: TextValue) => {
    texts.start(Buffer.from(document), false);
    const first = texts.read(3, { ...converted, tokenOf: () => '9'.repeat(length) });
    return [first, texts.read(11, value)];
  };
  // after the first token, the remaining document must still fit
  const rest = (document.length - 11) * 6;
  for (const value of [asText, integer]) {
    t.deepEqual(read(room - rest, value), [4, 13]);
    t.deepEqual(read(room - rest + 1, value), [4, -1]);
  }
  // the limit also applies to the token itself
  const filling = (length: number): TextValue => ({ ...converted, tokenOf: () => '9'.repeat(length) });
  t.deepEqual(read(room, integer), [4, -1]);
  t.is(texts.token(0), '9'.repeat(room));
  t.deepEqual(read(room + 1, integer)[0], -1);
  t.deepEqual(read(100, filling(room - 100)), [4, 13]);
  t.deepEqual(read(100, filling(room - 99)), [4, -1]);
  const wide: TextValue = { ...converted, tokenOf: () => 'é'.repeat((room - 100) / 2 + 1) };
  t.deepEqual(read(100, wide), [4, -1]);
});

test('as many texts as a document has places for are tokens', (t) => {
  const count = mostBytes / 8;
  texts.start(Buffer.from('<a>x</a>'.repeat(count)), false);
  for (let index = 0; index < count; index++) t.is(texts.read(index * 8 + 3, asText), index * 8 + 4);
  t.is(texts.count, count);
  t.is(texts.token(count - 1), '"x"');
});
