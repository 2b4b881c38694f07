import { strictEqual } from 'node:assert';
import test from 'ava';
import { SaxesParser } from 'saxes';
import { string } from '../../../../mappings/codec/scalars/strings.ts';
import {
  escapeAttribute,
  escapeXml,
  excerpt,
  foldAscii,
  quoteJson,
  someNames,
} from '../../../../mappings/codec/scalars/text.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { nearest } from '../../../../mappings/contract/nearest.ts';
import { JsonReader } from '../../../../mappings/json/reader.ts';
import { fc } from '../../../property.ts';
import { legalText } from '../elements.ts';

function escaped(text: string): { readonly xml: string; readonly replaced: number } {
  const count = { replaced: 0 };
  return { xml: escapeXml(text, count), replaced: count.replaced };
}

const w21: Readonly<Record<string, readonly (readonly [text: string, xml: string, replaced: number])[]>> = {
  'W21: & < > are escaped, quotes in content are not': [
    ['a & b < c > d', 'a &amp; b &lt; c &gt; d', 0],
    [']]><x/>', ']]&gt;&lt;x/&gt;', 0],
    ['--><x/>', '--&gt;&lt;x/&gt;', 0],
    ['</Name><Admin>1', '&lt;/Name&gt;&lt;Admin&gt;1', 0],
    ['&amp;', '&amp;amp;', 0],
    ['<', '&lt;', 0],
    ['>', '&gt;', 0],
    [`"it's"`, `"it's"`, 0],
    ['', '', 0],
  ],
  'W21: a carriage return is written as a reference, other blanks as they are': [
    ['a\r\nb\tc d', 'a&#13;\nb\tc d', 0],
    ['\r', '&#13;', 0],
    ['  ', '  ', 0],
  ],
  'W21: what XML 1.0 can’t carry becomes U+FFFD and is counted': [
    ['\0', '\ufffd', 1],
    ['a\u0001b\u000bc\u001f', 'a\ufffdb\ufffdc\ufffd', 3],
    ['\ufffe\uffff', '\ufffd\ufffd', 2],
    ['\ud83d', '\ufffd', 1],
    ['\ude00', '\ufffd', 1],
    ['\ude00\ud83d', '\ufffd\ufffd', 2],
    ['\ud83d\ud83d\ude00', '\ufffd😀', 1],
    ['\ud83dx', '\ufffdx', 1],
    ['\ud800\udbff\udc00\udc00\udfff', '\ufffd\u{10fc00}\ufffd\ufffd', 3],
    ['\udbff\ue000', '\ufffd\ue000', 1],
    ['\udfff', '\ufffd', 1],
    ['\ud800', '\ufffd', 1],
  ],
  'W21: every other character stays': [
    ['é漢😀\u{10ffff}', 'é漢😀\u{10ffff}', 0],
    ['\u007f\u0085\u2028\ue000\ufffd\ufeff', '\u007f\u0085\u2028\ue000\ufffd\ufeff', 0],
    ['=>?@', '=&gt;?@', 0],
  ],
};

for (const [title, rows] of Object.entries(w21)) {
  test(title, (t) => {
    for (const [text, xml, replaced] of rows)
      t.deepEqual(escaped(text), { xml, replaced }, JSON.stringify(text));
  });
}

test('W21: a JSON string becomes exactly the same XML text', (t) => {
  for (const [text, xml, replaced] of Object.values(w21).flat()) {
    const json = JSON.stringify(text);
    const reader = new JsonReader(json, defaultLimits);
    t.is(string.toXml(reader), xml, JSON.stringify(text));
    t.is(reader.replaced, replaced);
    t.is(reader.position, json.length);
    if (/["\\\p{Cc}]/u.test(text)) continue;
    // after a blank, with all of its characters unchanged
    t.is(string.toXml(new JsonReader(` "${text}"`, defaultLimits)), xml, JSON.stringify(text));
  }
});

test('W21: quotes are escaped in an attribute too', (t) => {
  t.is(escapeAttribute('http://x/?a=1&b="<>"'), 'http://x/?a=1&amp;b=&quot;&lt;&gt;&quot;');
});

function parsed(content: string): string {
  let text = '';
  const parser = new SaxesParser();
  parser.on('text', (piece) => {
    text += piece;
  });
  parser.on('error', (error) => {
    throw error;
  });
  parser.write(`<e>${content}</e>`).close();
  return text;
}

const units = fc.string({
  unit: fc.oneof(
    fc.constantFrom('&', '<', '>', ']]>', '\r', '\n', '\r\n', '"', '\0', '\ufffe', '\ud800', '\udc00', '😀'),
    fc.nat(0xffff).map((code) => String.fromCharCode(code)),
  ),
});

test('W21: saxes reads any text back unchanged, with U+FFFD for characters not allowed in XML', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(units, (text) => {
        const { xml, replaced } = escaped(text);
        const expected = legalText(text);
        strictEqual(parsed(xml), expected.text);
        strictEqual(replaced, expected.replaced);
      }),
      { numRuns: 500 },
    ),
  );
});

test('an excerpt is quoted, cut after 32 characters, with control characters escaped', (t) => {
  t.is(excerpt('five'), '"five"');
  t.is(excerpt('a"b\n\0'), '"a\\"b\\n\\u0000"');
  t.is(excerpt('x'.repeat(32)), `"${'x'.repeat(32)}"`);
  t.is(excerpt('x'.repeat(33)), `"${'x'.repeat(32)}…"`);
  t.is(excerpt('😀'.repeat(40)), `"${'😀'.repeat(32)}…"`);
  t.is(excerpt('x'.repeat(1_000_000)).length, 35);
});

test('a list of names shows the first twelve, and that there are more', (t) => {
  const names = Array.from({ length: 13 }, (_, index) => `n${index}`);
  t.is(someNames(names.slice(0, 2)), 'n0, n1');
  t.is(someNames(names.slice(0, 12)), 'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11');
  t.is(someNames(names), 'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, …');
});

test('a JSON string equals JSON.stringify’s, for any characters in any position', (t) => {
  const characters = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), 'é', '\u2028'];
  for (const character of [...characters, '\ud7ff', '\ud800', '\udfff', '\ue000', '\ufffd', '😀'])
    for (const text of [character, `${character}xx`, `xx${character}`, 'x'.repeat(63) + character])
      for (const long of [text, text.padEnd(70, 'y')]) t.is(quoteJson(long), JSON.stringify(long));
  t.is(quoteJson(''), '""');
});

test('W37: only A to Z become lower case', (t) => {
  const codes = Array.from({ length: 0x250 }, (_, code) => code);
  const all = String.fromCharCode(...codes);
  const folded = String.fromCharCode(...codes.map((code) => (code >= 65 && code <= 90 ? code + 32 : code)));
  for (const size of [1, 65, 66, 90, 91, 92, 128, 0x250])
    t.is(foldAscii(all.slice(0, size)), folded.slice(0, size));
  t.is(foldAscii('AéZ'), 'aéz');
  t.is(foldAscii('ÄÖÜ'), 'ÄÖÜ');
  t.is(foldAscii(''), '');
});

test('W12: the nearest name has the fewest edits, ignoring case', (t) => {
  const known = ['SubUserName', 'Permissions', 'Id', 'OnlyShowUnresolvedResults'];
  const rows = [
    ['SubUsername', 'SubUserName'],
    ['subUserName', 'SubUserName'],
    ['SubUserNam', 'SubUserName'],
    ['SubUsrNme', 'SubUserName'],
    ['UserName', undefined],
    ['Permission', 'Permissions'],
    ['Permisions', 'Permissions'],
    ['ID', 'Id'],
    ['I', 'Id'],
    ['Ids', 'Id'],
    ['OnlyUnresolvedResults', 'OnlyShowUnresolvedResults'],
    ['Email', undefined],
    ['Xy', undefined],
    ['', undefined],
    ['SubUserName'.repeat(6), undefined],
    ['__proto__', undefined],
  ] as const;
  for (const [name, expected] of rows) t.is(nearest(name, known), expected, name);
});

test('W12: a name is near if its edits are at most a third of its letters, or one', (t) => {
  for (const [name, known, isNear] of [
    ['a', 'b', true],
    ['a', 'bc', false],
    ['ab', 'ax', true],
    ['ab', 'xy', false],
    ['abcde', 'abcdx', true],
    ['abcde', 'abcxy', false],
    ['abcdef', 'abcdxy', true],
    ['abcdef', 'abcdefgh', true],
    ['abcdef', 'abcd', true],
    ['abcdef', 'xabcdey', true],
    ['abcdef', 'xabcde', true],
    ['abcdef', 'bacdef', true],
    ['abcdef', 'abcdefghi', false],
    ['abcdefghi', 'abcdef', true],
    ['abcdefghi', 'abcde', false],
    ['kittens', 'sitting', false],
    ['kittens', 'kitting', true],
    ['abcdefghi', 'axcyefzhi', true],
    ['abcdefghi', 'axcyefzhw', false],
    ['a'.repeat(64), `${'a'.repeat(63)}b`, true],
    ['a'.repeat(65), `${'a'.repeat(64)}b`, false],
  ] as const)
    t.is(nearest(name, [known]), isNear ? known : undefined, `${name} ${known}`);
});

test('W12: the nearest of several near names is suggested, in any position', (t) => {
  const known = ['abcdxyz', 'abcdefz', 'abcdefgh', 'abcdyyz'];
  for (let turn = 0; turn < known.length; turn++) {
    const turned = [...known.slice(turn), ...known.slice(0, turn)];
    t.is(
      nearest('abcdefgz', turned),
      turned.find((name) => name === 'abcdefz' || name === 'abcdefgh'),
    );
    t.is(nearest('ABCDXYZ', turned), 'abcdxyz');
  }
});

test('W12: the first of equally near names is suggested, or none', (t) => {
  t.is(nearest('Nam1', ['Name', 'Namo']), 'Name');
  t.is(nearest('Name', []), undefined);
});
