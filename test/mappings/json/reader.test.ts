import { deepStrictEqual, strictEqual } from 'node:assert';
import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import { JsonReader } from '../../../mappings/json/reader.ts';
import { fc } from '../../property.ts';
import { errorOf, pull, type Seen } from './values.ts';

/** RFC 8259 by sentence: a text and its error, or no error for a valid text. */
const rfc8259: Readonly<Record<string, readonly (readonly [text: string, error?: string])[]>> = {
  'RFC 8259, 2: four blanks may stand between tokens, and no others': [
    [' \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n'],
    [' \t\r\n{ "a" \n:\t1\r}\n'],
    ['\u00a01', 'position 0: expected a value, got U+00A0'],
    ['[1\f]', 'position 2: expected "," or "]", got U+000C'],
    ['[1\v]', 'position 2: expected "," or "]", got U+000B'],
    ['\ufeff{}', 'position 0: expected a value, got U+FEFF'],
    ['1\u2028', 'position 1: expected nothing more, got U+2028'],
    ['[\u0085]', 'position 1: expected a value, got U+0085'],
  ],
  'RFC 8259, 2: a text is one value': [
    ['', 'position 0: expected a value, got the end'],
    [' ', 'position 1: expected a value, got the end'],
    ['1 2', 'position 2: expected nothing more, got U+0032'],
    ['{}}', 'position 2: expected nothing more, got U+007D'],
    ['[],', 'position 2: expected nothing more, got U+002C'],
    ['/**/1', 'position 0: expected a value, got U+002F'],
    ['1//', 'position 1: expected nothing more, got U+002F'],
  ],
  'RFC 8259, 3: literals are lower case and whole': [
    ['true'],
    ['false'],
    ['null'],
    ['True', 'position 0: expected a value, got U+0054'],
    ['TRUE', 'position 0: expected a value, got U+0054'],
    ['tru', 'position 0: expected a value, got U+0074'],
    ['nul]', 'position 0: expected a value, got U+006E'],
    ['falsy', 'position 0: expected a value, got U+0066'],
    ['txue', 'position 0: expected a value, got U+0074'],
    ['fxlse', 'position 0: expected a value, got U+0066'],
    ['nxll', 'position 0: expected a value, got U+006E'],
    ['[nulx]', 'position 1: expected a value, got U+006E'],
    ['[trux,1]', 'position 1: expected a value, got U+0074'],
    ['truefalse', 'position 4: expected nothing more, got U+0066'],
    ['[nulll]', 'position 5: expected "," or "]", got U+006C'],
    ['NaN', 'position 0: expected a value, got U+004E'],
    ['Infinity', 'position 0: expected a value, got U+0049'],
    ['undefined', 'position 0: expected a value, got U+0075'],
  ],
  'RFC 8259, 4: a member is a string, a colon and a value': [
    ['{"":{"a":[]}}'],
    ['{a:1}', 'position 1: expected a member name, got U+0061'],
    ["{'a':1}", 'position 1: expected a member name, got U+0027'],
    ['{1:1}', 'position 1: expected a member name, got U+0031'],
    ['{null:1}', 'position 1: expected a member name, got U+006E'],
    ['{"a"}', 'position 4: expected ":", got U+007D'],
    ['{"a",1}', 'position 4: expected ":", got U+002C'],
    ['{"a";1}', 'position 4: expected ":", got U+003B'],
    ['{"a"::1}', 'position 5: expected a value, got U+003A'],
    ['{"a":}', 'position 5: expected a value, got U+007D'],
    ['{"a":1 "b":2}', 'position 7: expected "," or "}", got U+0022'],
    ['{"a":1,}', 'position 7: expected a value after ",", got U+007D'],
    ['{,}', 'position 1: expected a member name, got U+002C'],
    ['{"a":1]', 'position 6: expected "," or "}", got U+005D'],
    ['{', 'position 1: expected a member name, got the end'],
    ['{"a":1', 'position 6: expected "," or "}", got the end'],
    ['{"a":1,', 'position 7: expected a member name, got the end'],
  ],
  'RFC 8259, 5: items are parted by one comma each': [
    ['[[],[[]],{}]'],
    ['[1,]', 'position 3: expected a value after ",", got U+005D'],
    ['[,1]', 'position 1: expected a value, got U+002C'],
    ['[1,,2]', 'position 3: expected a value, got U+002C'],
    ['[1 2]', 'position 3: expected "," or "]", got U+0032'],
    ['[1;2]', 'position 2: expected "," or "]", got U+003B'],
    ['[1:2]', 'position 2: expected "," or "]", got U+003A'],
    ['[', 'position 1: expected a value, got the end'],
    ['[1', 'position 2: expected "," or "]", got the end'],
    ['[1,', 'position 3: expected a value, got the end'],
    ['[}', 'position 1: expected a value, got U+007D'],
  ],
  'RFC 8259, 6: a number has no plus, no leading zero, and digits on both sides of its point': [
    ['0'],
    ['-0'],
    ['-0.0e-0'],
    ['10.01E+007'],
    ['1e00'],
    ['9'.repeat(1000)],
    ['+1', 'position 0: expected a value, got U+002B'],
    ['-', 'position 1: expected a value, got the end'],
    ['--1', 'position 1: expected a value, got U+002D'],
    ['-a', 'position 1: expected a value, got U+0061'],
    ['01', 'position 1: expected nothing more, got U+0031'],
    ['-01', 'position 2: expected nothing more, got U+0031'],
    ['.5', 'position 0: expected a value, got U+002E'],
    ['5.', 'position 2: expected a digit, got the end'],
    ['5.e1', 'position 2: expected a digit, got U+0065'],
    ['1e', 'position 2: expected a digit, got the end'],
    ['1e+', 'position 3: expected a digit, got the end'],
    ['1e1.5', 'position 3: expected nothing more, got U+002E'],
    ['1.2.3', 'position 3: expected nothing more, got U+002E'],
    ['0x1F', 'position 1: expected nothing more, got U+0078'],
    ['1_000', 'position 1: expected nothing more, got U+005F'],
    ['１', 'position 0: expected a value, got U+FF11'],
  ],
  'RFC 8259, 7: a string has no raw control character and only the nine escapes': [
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u00E9"'],
    ['"\u007f\u0080\u2028\u2029😀"'],
    ['"\\ud800"'],
    ['"a', 'position 2: expected a character of a string or its closing quote, got the end'],
    ['"', 'position 1: expected a character of a string or its closing quote, got the end'],
    ['"a\nb"', 'position 2: expected a character of a string or its closing quote, got U+000A'],
    ['"\u0000"', 'position 1: expected a character of a string or its closing quote, got U+0000'],
    ['"\u001f"', 'position 1: expected a character of a string or its closing quote, got U+001F'],
    ['"\t"', 'position 1: expected a character of a string or its closing quote, got U+0009'],
    ['"\\x41"', 'position 2: expected an escape of JSON, got U+0078'],
    ['"\\U0041"', 'position 2: expected an escape of JSON, got U+0055'],
    ['"\\\'"', 'position 2: expected an escape of JSON, got U+0027'],
    ['"\\0"', 'position 2: expected an escape of JSON, got U+0030'],
    ['"\\', 'position 2: expected an escape of JSON, got the end'],
    ['"\\u12"', 'position 5: expected a hexadecimal digit, got U+0022'],
    ['"\\u12g4"', 'position 5: expected a hexadecimal digit, got U+0067'],
    ['"\\u{41}"', 'position 3: expected a hexadecimal digit, got U+007B'],
    ['"\\u004', 'position 6: expected a hexadecimal digit, got the end'],
    ['{"a\\q":1}', 'position 4: expected an escape of JSON, got U+0071'],
    ["'a'", 'position 0: expected a value, got U+0027'],
  ],
};

for (const [title, rows] of Object.entries(rfc8259)) {
  test(title, (t) => {
    for (const [text, error] of rows) {
      t.is(errorOf(text)?.message, error, JSON.stringify(text));
      if (error === undefined) t.notThrows(() => JSON.parse(text), text);
      else t.throws(() => JSON.parse(text), undefined, text);
    }
  });
}

test('RFC 8259, 7: escapes are decoded, single surrogates too', (t) => {
  t.deepEqual(pull('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u0000"'), { string: '"\\/\b\f\n\r\té\0' });
  t.deepEqual(pull('"\\ud83d\\ude00 \\uD83D \\\\u0041"'), { string: '😀 \ud83d \\u0041' });
  t.deepEqual(pull('{"\\u0069d":1}'), { members: [['id', { number: '1' }]] });
});

test('W15: a number is kept as its text', (t) => {
  for (const text of ['9007199254740993', '12.50', '-0', '1e400', '0.1234567890123456789', '1E+05']) {
    t.deepEqual(pull(text), { number: text });
  }
});

test('members are returned in order, repeated ones too', (t) => {
  t.deepEqual(pull('{"b":1,"a":2,"b":3,"__proto__":4}'), {
    members: [
      ['b', { number: '1' }],
      ['a', { number: '2' }],
      ['b', { number: '3' }],
      ['__proto__', { number: '4' }],
    ],
  });
});

test('a reader may start at any position in a text, and counts positions from its start', (t) => {
  const json = new JsonReader('{"a":[1,x]}', defaultLimits, 5);
  t.throws(() => json.skip(), {
    instanceOf: JsonError,
    message: 'position 8: expected a value, got U+0078',
  });
});

test('a value is described by its kind, never by its content', (t) => {
  const rows = [
    ['"secret"', 'a string'],
    ['{"secret":1}', 'an object'],
    ['["secret"]', 'an array'],
    ['true', 'a boolean'],
    ['false', 'a boolean'],
    [' null', 'null'],
    ['-12', 'a number'],
  ] as const;
  for (const [text, kind] of rows) t.is(new JsonReader(text, defaultLimits).kind(), kind);
  t.throws(() => new JsonReader(' <html>', defaultLimits).kind(), {
    instanceOf: JsonError,
    message: 'position 1: expected a value, got U+003C',
  });
});

test("no message contains the document's text", (t) => {
  const secret = 'k-9f8e7d6c';
  for (const text of [
    `{"apiUserKey":"${secret}" "x"}`,
    `{"apiUserKey":"${secret}}`,
    `{"${secret}"}`,
    `["${secret}",]`,
    `["${secret}\\q"]`,
    `{"apiUserKey":${secret}}`,
    `"${secret}"${secret}`,
  ]) {
    const message = errorOf(text)?.message ?? '';
    t.regex(message, /^position \d+: expected .+, got (?:the end|U\+[0-9A-F]{4})$/);
    t.notRegex(message, /9f8e|7d6c/);
  }
});

test('jsonDepth: that many nested arrays and objects are read, one more is refused', (t) => {
  const limits = { ...defaultLimits, jsonDepth: 5 };
  const rows = [
    ['[[[[[1]]]]]', undefined],
    ['[[[[[[1]]]]]]', 'position 5: nesting deeper than 5'],
    ['{"a":[{"a":[{}]}]}', undefined],
    ['{"a":[{"a":[{"a":[]}]}]}', 'position 17: nesting deeper than 5'],
    // depth counts open values, not all values
    ['[[[[[]]]],[[[[]]]],{"a":{"a":{"a":{}}}}]', undefined],
  ] as const;
  for (const [text, message] of rows) {
    const error = errorOf(text, limits);
    t.is(error?.message, message);
    t.is(error?.limit, message === undefined ? undefined : 'jsonDepth');
  }
});

test('jsonDepth: a hundred thousand brackets are refused at the 65th', (t) => {
  t.is(errorOf('['.repeat(100_000))?.message, 'position 64: nesting deeper than 64');
  t.is(errorOf('{"":'.repeat(100_000))?.message, 'position 256: nesting deeper than 64');
});

test('jsonMembers: that many members and items are read, one more is refused', (t) => {
  const limits = { ...defaultLimits, jsonMembers: 6 };
  const rows = [
    ['[1,2,3,4,5,6]', undefined],
    ['[1,2,3,4,5,6,7]', 'position 13: more than 6 members and items'],
    ['{"a":[1,2],"b":{"c":[]},"d":1}', undefined],
    ['{"a":[1,2],"b":{"c":[1]},"d":1}', 'position 25: more than 6 members and items'],
  ] as const;
  for (const [text, message] of rows) {
    const error = errorOf(text, limits);
    t.is(error?.message, message);
    t.is(error?.limit, message === undefined ? undefined : 'jsonMembers');
  }
});

test('invalid JSON exceeds no limit', (t) => {
  t.is(errorOf('[1')?.limit, undefined);
});

test('RFC 8259, 7: each of the four digits of an escape is hexadecimal', (t) => {
  for (let code = 32; code < 512; code++) {
    const digit = String.fromCharCode(code);
    for (let place = 0; place < 4; place++) {
      const text = `"\\u${'123'.slice(0, place)}${digit}${'456'.slice(place)}"`;
      const expected = /[0-9a-fA-F]/.test(digit) ? undefined : place + 3;
      t.is(errorOf(text)?.position, expected, text);
    }
  }
});

test('RFC 8259, 7: exactly nine characters may follow a backslash', (t) => {
  for (let code = 0; code < 512; code++) {
    const letter = String.fromCharCode(code);
    const isRead = errorOf(`"\\${letter}0000"`) === undefined;
    t.is(isRead, '"\\/bfnrtu'.includes(letter), letter);
  }
});

/**
 * Converts a value of JSON.parse for comparison. Works only for texts whose numbers are written as by JSON.stringify.
 */
function seenOf(value: unknown): Seen {
  if (typeof value === 'string') return { string: value };
  if (Array.isArray(value)) return { items: value.map(seenOf) };
  if (typeof value === 'object' && value !== null) {
    return { members: Object.entries(value).map(([name, member]) => [name, seenOf(member)]) };
  }
  return typeof value === 'number' ? { number: JSON.stringify(value) } : { literal: String(value) };
}

const strings = fc.string({ unit: 'binary' });
const values = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' });

test('any JSON value reads as by JSON.parse, with any blanks and escapes', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        values,
        fc.constantFrom('', ' ', '\n', '\t\r\n '),
        fc.boolean(),
        (value, blank, escaped) => {
          let text = JSON.stringify(value, undefined, blank);
          if (escaped)
            text = text.replace(
              /[^\0-~]/g,
              (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
            );
          deepStrictEqual(pull(`${blank}${text}${blank}`), seenOf(JSON.parse(text)));
        },
      ),
      { numRuns: 300 },
    ),
  );
});

const pieces = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u',
    '-',
    '+',
    '.',
    'e',
    '0',
    '01',
    'true',
    'nul',
    ' ',
    '\n',
  ],
  ...['\u0000', '\u00a0', '\ufeff', '/', '//', "'", 'NaN', '\ud800', '"":', '{}', '[]', '""'],
);

test('a truncated text is read or refused exactly as by JSON.parse, and never fails otherwise', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.oneof(
          values.map((value) => JSON.stringify(value)),
          strings,
        ),
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(3), pieces), { maxLength: 3 }),
        (text, cuts) => {
          let torn = text;
          for (const [place, length, piece] of cuts) {
            const at = Math.floor(place * (torn.length + 1));
            torn = torn.slice(0, at) + piece + torn.slice(at + length);
          }
          let parsed: unknown;
          let refused = false;
          try {
            parsed = JSON.parse(torn);
          } catch {
            refused = true; // the reader must reject it too
          }
          strictEqual(errorOf(torn) !== undefined, refused, torn);
          if (!refused) strictEqual(typeof parsed === 'string', 'string' in pull(torn));
        },
      ),
      { numRuns: 1500 },
    ),
  );
});

test('a string decodes to the same text for any length', (t) => {
  for (const piece of ['\\n', 'a\\"', '\\u00e9b', '\\\\', 'é\\/', '\\ud83d\\ude00'])
    for (const count of [1, 42, 43, 85, 86, 127, 128, 129, 256, 300]) {
      const text = `"${piece.repeat(count)}"`;
      const json = new JsonReader(`[${text},"\\t"]`, defaultLimits, 1);
      t.is(json.string(), JSON.parse(text));
      t.is(json.position, text.length + 1);
    }
});

test('a reader advances behind its value, and reports if numbers and strings are plain', (t) => {
  for (const [text, move, says, end] of [
    ['12,', (json: JsonReader) => json.scanNumber(), true, 2],
    ['-0', (json: JsonReader) => json.scanNumber(), true, 2],
    ['1.0', (json: JsonReader) => json.scanNumber(), false, 3],
    ['0.5', (json: JsonReader) => json.scanNumber(), false, 3],
    ['1e5', (json: JsonReader) => json.scanNumber(), false, 3],
    ['1E-5 ', (json: JsonReader) => json.scanNumber(), false, 4],
    ['1.5e+05', (json: JsonReader) => json.number(), '1.5e+05', 7],
    ['"a b"', (json: JsonReader) => json.scanString(), true, 5],
    ['"a\\n"', (json: JsonReader) => json.scanString(), false, 5],
    ['false', (json: JsonReader) => json.literal(), 'false', 5],
    [' "a" : 1', (json: JsonReader) => json.name(), 'a', 7],
    [' \t\r\n1', (json: JsonReader) => json.peek(), 49, 4],
    [' ', (json: JsonReader) => json.peek(), Number.NaN, 1],
  ] as const) {
    const json = new JsonReader(text, defaultLimits);
    t.is(move(json), says, text);
    t.is(json.position, end, text);
  }
});

test('a number starts with a minus or a digit', (t) => {
  for (const [text, kind] of [
    ['-', 'a number'],
    ['0', 'a number'],
    ['9', 'a number'],
  ] as const)
    t.is(new JsonReader(text, defaultLimits).kind(), kind);
  for (const text of ['/', ':', '+', '.', ''])
    t.throws(() => new JsonReader(text, defaultLimits).kind(), { message: /^position 0: expected a value/ });
});

test('a JSON error has a name and a position', (t) => {
  const error = t.throws<JsonError>(() => new JsonReader(' x', defaultLimits).skip(), {
    instanceOf: JsonError,
  });
  t.like(error, { name: 'JsonError', position: 1, limit: undefined });
});
