import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';

/** Returns the text of an element with this content. */
function textOf(content: string, maxLength: number): string | undefined {
  const xml = new XmlReader(`<a>${content}</a>`, defaultLimits);
  xml.readRoot();
  const text = xml.readText(maxLength, false);
  xml.finish();
  return text;
}

const pieces = [
  '\r',
  '\r\n',
  '\n',
  'x\r',
  '\r\r\n',
  'é\ry',
  '漢\r\n',
  '😀\r',
  '&#13;\r',
  ']]\r',
  '\rabc',
  'ab&lt;c\rd',
  '&lt;\r\n',
  '\n\r&lt;x',
];

test('XML 1.0, 2.11: line ends become LF in short and long texts, bytes and wider characters', (t) => {
  for (const piece of pieces)
    for (const length of [1, 10, 255, 256, 257, 300, 1_000, 20_000]) {
      const content = piece.repeat(length);
      const expected = content.replace(/\r\n?/g, '\n').replaceAll('&#13;', '\r').replaceAll('&lt;', '<');
      t.true(textOf(content, expected.length) === expected, `${JSON.stringify(piece)} ${length}`);
      t.throws(() => textOf(content, expected.length - 1), {
        message: `line 1, column 4: text longer than ${expected.length - 1} characters`,
      });
    }
});

/** Text and CDATA sections, and the text that they contain. */
const sectioned: readonly (readonly [content: string, text: string])[] = [
  ['<![CDATA[\r]]>', '\n'],
  ['a&amp;\r\n<![CDATA[<é\r\n]]><!-- \r -->', 'a&\n<é\n'],
  ['<![CDATA[漢\r\r]]>😀', '漢\n\n😀'],
  ['<![CDATA[]]><![CDATA[]]]]><![CDATA[>]]>', ']]>'],
  [`<![CDATA[${'x'.repeat(300)}\r]]>&lt;`, `${'x'.repeat(300)}\n<`],
];

test('a text of few or many CDATA sections is complete, and leaves nothing for the next one', (t) => {
  for (const [content, text] of sectioned)
    for (const count of [1, 5, 15, 16, 17, 100, 5_000]) {
      const times = content.repeat(count);
      const expected = text.repeat(count);
      const message = `${JSON.stringify(content)} ${count}`;
      const xml = new XmlReader(`<a><b>${times}</b><c>${times}<d/></c><b>${times}</b></a>`, defaultLimits);
      xml.readRoot();
      const texts: (string | undefined)[] = [];
      while (xml.nextChild()) texts.push(xml.readText(expected.length, false));
      xml.finish();
      t.is(texts.length, 3, message);
      t.true(texts[0] === expected && texts[1] === undefined && texts[2] === expected, message);
      t.throws(() => textOf(times, expected.length - 1), {
        message: `line 1, column 4: text longer than ${expected.length - 1} characters`,
      });
    }
});
