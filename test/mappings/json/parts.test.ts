import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import {
  checkJson,
  itemsOf,
  membersOf,
  type Part,
  readLazyPart,
  readPart,
  skipped,
} from '../../../mappings/json/parts.ts';
import { JsonReader } from '../../../mappings/json/reader.ts';

test('a value is split into its parts, and digits are unchanged', (t) => {
  const rows: readonly (readonly [string, Part])[] = [
    ['"a\\u0041"', { kind: 'text', text: 'aA' }],
    [' 1.50e+2 ', { kind: 'text', text: '1.50e+2' }],
    ['true', { kind: 'text', text: 'true' }],
    ['null', { kind: 'null' }],
    ['"null"', { kind: 'text', text: 'null' }],
    ['[]', { kind: 'list', json: '[]', items: [] }],
    ['{}', { kind: 'object', json: '{}', members: [] }],
    [
      ' [1, null ,[ "b" ] ]',
      {
        kind: 'list',
        json: '[1, null ,[ "b" ] ]',
        items: [
          { kind: 'text', text: '1' },
          { kind: 'null' },
          { kind: 'list', json: '[ "b" ]', items: [{ kind: 'text', text: 'b' }] },
        ],
      },
    ],
    [
      '{"a" : {"b":1}, "c":[],"a":2}',
      {
        kind: 'object',
        json: '{"a" : {"b":1}, "c":[],"a":2}',
        members: [
          ['a', { kind: 'object', json: '{"b":1}', members: [['b', { kind: 'text', text: '1' }]] }],
          ['c', { kind: 'list', json: '[]', items: [] }],
          ['a', { kind: 'text', text: '2' }],
        ],
      },
    ],
  ];
  for (const [text, part] of rows) {
    t.deepEqual(readPart(text, defaultLimits), part, text);
    t.notThrows(() => checkJson(text, defaultLimits));
  }
});

/** Returns a part with plain objects in place of those that are parsed later. */
function plain(part: Part): Part {
  if (part.kind === 'list') return { ...part, items: part.items.map(plain) };
  if (part.kind !== 'object') return part;
  const { kind, json, members } = part;
  return { kind, json, members: members.map(([name, value]) => [name, plain(value)] as const) };
}

test('objects in lists are parsed when their members are read', (t) => {
  const text = '{"a":[{"b":[{"c":1}, {"c":2}]}, 3, {"d":{"e":null}}],"f":{"g":4}}';
  let count = 0;
  const part = readLazyPart(text, defaultLimits, () => count++);
  t.is(count, 7);
  t.deepEqual(plain(part), readPart(text, defaultLimits));
  t.is(count, 14);
  t.deepEqual(plain(part), readPart(text, defaultLimits));
  t.is(count, 14);
  t.throws(() => readLazyPart('[{"a":}]', defaultLimits, () => {}), { instanceOf: JsonError });
});

test('text with more or less than one value is invalid', (t) => {
  for (const [text, message] of [
    ['', 'position 0: expected a value, got the end'],
    ['1 2', 'position 2: expected nothing more, got U+0032'],
    ['[1,]', 'position 3: expected a value after ",", got U+005D'],
    ['{"a"}', 'position 4: expected ":", got U+007D'],
    ['{a:1}', 'position 1: expected a member name, got U+0061'],
    ['[1}', 'position 2: expected "," or "]", got U+007D'],
    ['{"a":1]', 'position 6: expected "," or "}", got U+005D'],
    ['[]]', 'position 2: expected nothing more, got U+005D'],
  ] as const) {
    t.throws(() => readPart(text, defaultLimits), { instanceOf: JsonError, message }, text);
    t.throws(() => checkJson(text, defaultLimits), { instanceOf: JsonError, message }, text);
  }
});

test('members of an object have their own JSON, in their order; another value has none', (t) => {
  t.deepEqual(membersOf(' {"a" : [1, 2] , "\\u0062":"x","a":{}} ', defaultLimits), [
    ['a', '[1, 2]'],
    ['b', '"x"'],
    ['a', '{}'],
  ]);
  t.deepEqual(membersOf('{}', defaultLimits), []);
  for (const text of ['[]', '"a"', '1', 'null', '']) t.is(membersOf(text, defaultLimits), undefined);
  t.throws(() => membersOf('{"a":1', defaultLimits), { message: /^position 6: expected "," or "}"/ });
  t.throws(() => membersOf('{"a":1]', defaultLimits), { message: /^position 6: expected "," or "}"/ });
});

test('items of an array have their own JSON, in their order; another value has none', (t) => {
  t.deepEqual(itemsOf(' [1, "x" ,[ 2 ],{"a":3}]', defaultLimits), ['1', '"x"', '[ 2 ]', '{"a":3}']);
  t.deepEqual(itemsOf('[]', defaultLimits), []);
  for (const text of ['{}', '"a"', '1', 'null', '']) t.is(itemsOf(text, defaultLimits), undefined);
  t.throws(() => itemsOf('[1', defaultLimits), { message: /^position 2: expected "," or "]"/ });
  t.throws(() => itemsOf('[1}', defaultLimits), { message: /^position 2: expected "," or "]"/ });
});

test('a value is skipped without the blanks before it', (t) => {
  const json = new JsonReader('[1, \n{"a":[2]} ]', defaultLimits, 3);
  t.is(skipped(json), '{"a":[2]}');
  t.is(json.position, 14);
});
