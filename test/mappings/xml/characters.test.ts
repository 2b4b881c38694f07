import test from 'ava';
import {
  findIllegal,
  isBlank,
  isCharacter,
  isNameCharacter,
  isNameStart,
  isNcName,
  resolveReferences,
} from '../../../mappings/xml/characters.ts';

/** The productions of XML 1.0, fifth edition. Names have no colon here (Namespaces in XML, 4). */
const productions: readonly (readonly [title: string, is: (code: number) => boolean, pattern: RegExp])[] = [
  [
    '[4] NameStartChar',
    isNameStart,
    /^[A-Z_a-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}]$/u,
  ],
  [
    '[4a] NameChar',
    isNameCharacter,
    /^[-.0-9A-Z_a-z\u{B7}\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{203F}-\u{2040}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}]$/u,
  ],
  ['[2] Char', isCharacter, /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]$/u],
  ['[3] S', isBlank, /^[ \t\r\n]$/],
];

for (const [title, is, pattern] of productions)
  test(`${title} has exactly the characters of its production`, (t) => {
    for (let code = 0; code <= 0x10ffff; code++)
      if (is(code) !== pattern.test(String.fromCodePoint(code))) t.fail(`U+${code.toString(16)}`);
    for (const code of [-1, 0x110000, Number.NaN]) t.false(is(code), `${code}`);
  });

test('[4] NCName is a name start character followed by name characters', (t) => {
  for (let code = 0; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    if (isNcName(character) !== isNameStart(code)) t.fail(`U+${code.toString(16)}`);
    if (isNcName(`a${character}b`) !== isNameCharacter(code)) t.fail(`U+${code.toString(16)} within`);
  }
  for (const text of ['', 'a b', 'a:b', 'a\n', '\na', 'a!b', '1a']) t.false(isNcName(text), text);
});

test('the first forbidden character is found from a given position', (t) => {
  for (let code = 0; code <= 0xffff; code++) {
    const text = `a\u{1f600}${String.fromCharCode(code)}`;
    if (findIllegal(text) !== (isCharacter(code) ? -1 : 3)) t.fail(`U+${code.toString(16)}`);
  }
  for (const illegal of ['\0', '\ufffe', '\uffff', '\ud800']) t.is(findIllegal(illegal), 0);
  t.is(findIllegal('\0a', 1), -1);
  t.is(findIllegal('\ufffea', 1), -1);
  t.is(findIllegal('\uffffa', 1), -1);
  t.is(findIllegal('a\ufffe\0', 1), 1);
});

test('references of a text are resolved, and all others are unchanged', (t) => {
  t.is(resolveReferences('a &amp; b &#65;&#x42;&#0000000000067;'), 'a & b ABC');
  t.is(resolveReferences('&toString; &euro; &#1114112; &amp'), '&toString; &euro; &#1114112; &amp');
});
