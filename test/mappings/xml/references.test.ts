import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { XmlError } from '../../../mappings/xml/error.ts';
import { XmlReader } from '../../../mappings/xml/reader.ts';

/** Returns the text of an element with this content, or undefined if the document is rejected. */
function textOf(content: string): string | undefined {
  try {
    const xml = new XmlReader(`<a>${content}</a>`, defaultLimits);
    xml.readRoot();
    const text = xml.readText(1_000, false);
    xml.finish();
    return text;
  } catch (error) {
    if (error instanceof XmlError) return undefined;
    throw error;
  }
}

test('[66] CharRef: exactly the digits of each radix are accepted', (t) => {
  for (let code = 32; code < 128; code++) {
    const digit = String.fromCharCode(code);
    if (digit === '<' || digit === '&') continue;
    const tens = /\d/.test(digit) ? String.fromCharCode(100 + Number(digit)) : undefined;
    t.is(textOf(`&#10${digit};`), digit === ';' ? '\n;' : tens, digit);
    const value = Number.parseInt(digit, 16);
    const sixteens = Number.isNaN(value) ? undefined : String.fromCharCode(0x40 + value);
    t.is(textOf(`&#x4${digit};`), digit === ';' ? undefined : sixteens, digit);
  }
});

test('[2] Char: a reference names a legal character, up to the last one', (t) => {
  for (const [code, isTaken] of [
    [0, false],
    [8, false],
    [9, true],
    [0x1f, false],
    [0x20, true],
    [0xd7ff, true],
    [0xd800, false],
    [0xdfff, false],
    [0xe000, true],
    [0xfffd, true],
    [0xfffe, false],
    [0xffff, false],
    [0x10000, true],
    [0x10ffff, true],
    [0x110000, false],
  ] as const) {
    const expected = isTaken ? String.fromCodePoint(code) : undefined;
    t.is(textOf(`&#${code};`), expected, `${code}`);
    t.is(textOf(`&#x${code.toString(16)};`), expected, `${code}`);
    t.is(textOf(`&#x000${code.toString(16).toUpperCase()};`), expected, `${code}`);
  }
});

test('[68] EntityRef: exactly five names are known', (t) => {
  for (const [name, character] of [
    ['amp', '&'],
    ['lt', '<'],
    ['gt', '>'],
    ['quot', '"'],
    ['apos', "'"],
  ] as const)
    t.is(textOf(`x&${name};y`), `x${character}y`);
  for (const content of [
    '&',
    '&;',
    '&am;',
    '&amps;',
    '&AMP;',
    '&amp',
    '&nbsp;',
    '&#;',
    '&#x;',
    '&#X41;',
    '&#65',
  ])
    t.is(textOf(content), undefined, content);
});

test('W10: two references are a surrogate pair at every edge of the ranges, and no others', (t) => {
  const read = (high: number, low: number): string | undefined => {
    const xml = new XmlReader(`<a>&#${high};&#x${low.toString(16)};</a>`, defaultLimits);
    xml.readRoot();
    return xml.readText(9, true);
  };
  for (const high of [0xd800, 0xd801, 0xdbff])
    for (const low of [0xdc00, 0xdc01, 0xdfff])
      t.is(read(high, low), String.fromCharCode(high, low), `${high} ${low}`);
  for (const [high, low, got] of [
    [0xd7ff, 0xdc00, 'U+DC00'],
    [0xdc00, 0xdc00, 'U+DC00'],
    [0xd800, 0xdbff, 'U+D800'],
    [0xdbff, 0xe000, 'U+DBFF'],
    [0xd800, 0x110000, 'U+D800'],
  ] as const)
    t.throws(() => read(high, low), { message: new RegExp(`got ${got.replace('+', '.')}$`) });
});
