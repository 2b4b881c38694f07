import test from 'ava';
import { GatheredText, replaceCharacters, replacementsOf } from '../../../mappings/xml/gathered-text.ts';

const pieces = [
  '',
  'a',
  'é',
  'ÿ',
  'Ā',
  '漢',
  '😀',
  '\ud800',
  '\uffff',
  '\u{10000}',
  'x'.repeat(256),
  'y'.repeat(257),
  '漢'.repeat(300),
];

test('a text collected from parts and characters is these in order, and the next starts empty', (t) => {
  const gathered = new GatheredText();
  for (const count of [1, 2, 100, 16_383, 16_384, 16_385, 40_000])
    for (const piece of pieces.filter(({ length }) => length < 10 || count < 1_000)) {
      const code = piece.codePointAt(0) ?? 0x2028;
      let expected = '';
      for (let index = 0; index < count; index++) {
        gathered.add(`<${piece}>`, 1, piece.length + 1);
        gathered.addCharacter(code);
        expected += piece + String.fromCodePoint(code);
      }
      t.is(gathered.length, expected.length);
      t.true(gathered.take() === expected, `${count} of ${JSON.stringify(piece.slice(0, 4))}`);
      t.is(gathered.length, 0);
    }
});

test('runs of a character and long parts are collected in order', (t) => {
  const gathered = new GatheredText();
  for (const count of [0, 1, 2, 255, 256, 257, 1_000, 20_000]) {
    gathered.add('é漢', 0, 2);
    gathered.addRun(0x20, count);
    gathered.addCharacter(0x78);
    gathered.addRun(0x79, 3);
    gathered.add('z'.repeat(count), 0, count);
    const expected = `é漢${' '.repeat(count)}xyyy${'z'.repeat(count)}`;
    t.is(gathered.length, expected.length);
    t.is(gathered.take(), expected);
  }
});

test('characters are replaced in any position', (t) => {
  const replacements = replacementsOf({ '\r': '%0D', '"': '', '\u007f': '漢', a: 'aa' });
  for (const text of [
    '',
    'x',
    'é\u0080',
    '\r',
    'a',
    '\ra"\u007f',
    'x\ry',
    '\rx',
    'x\r',
    `${'x\ra'.repeat(10_000)}é`,
  ]) {
    const expected = text
      .replaceAll('a', 'aa')
      .replaceAll('\r', '%0D')
      .replaceAll('"', '')
      .replaceAll('\u007f', '漢');
    t.is(replaceCharacters(text, replacements), expected);
  }
});
