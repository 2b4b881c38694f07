import test from 'ava';
import { operationOf } from '../codec-calls.ts';
import { memberOf } from './member.ts';

const letters = [...'abcdefghijklm'];
const schemas = {
  Twelve: { type: 'string', enum: letters.slice(1) },
  Many: { type: 'string', enum: letters },
  Way: { type: 'string', enum: ['up', 'down'] },
};
const ref = (name: keyof typeof schemas): object => ({ $ref: `#/components/schemas/${name}` });
const enums = {
  three: memberOf({ type: 'string', enum: ['up', 'so so', '<é>'] }),
  empty: memberOf({ type: 'string', enum: ['up', ''] }),
  twelve: memberOf(ref('Twelve'), {}, schemas),
  many: memberOf(ref('Many'), {}, schemas),
  refused: memberOf(
    { type: 'string', enum: ['up', 'so so', '<é>'] },
    {},
    {},
    { unknownEnumValues: 'refuse' },
  ),
  list: memberOf({ type: 'array', items: ref('Way') }, {}, schemas),
  union: memberOf({ oneOf: [{ type: 'string', enum: ['up', 'down'] }, { type: 'integer' }] }),
  others: memberOf({
    type: 'object',
    properties: { a: { type: 'integer' } },
    additionalProperties: { type: 'string', enum: ['up', 'down'] },
  }),
};
type Name = keyof typeof enums;

for (const [name, given, becomes] of [
  ['three', 'up', '"up"'],
  ['three', 'so so', '"so so"'],
  ['three', '&lt;é>', '"<é>"'],
  ['three', ' up', 'InvalidEnum m: expected one of up, so so, <é>, got " up"'],
  ['three', 'Up', 'InvalidEnum m: expected one of up, so so, <é>, got "Up"'],
  [
    'three',
    '',
    'NotEmpty m: expected one of up, so so, <é>, got an empty element; leave the element out where no value is meant',
  ],
  ['three', '<b/>', 'InvalidType m: expected one of up, so so, <é>, got elements'],
  ['empty', '', '""'],
  ['empty', 'down', '"down"'],
  ['twelve', 'a', 'InvalidEnum m: expected one of b, c, d, e, f, g, h, i, j, k, l, m, got "a"'],
  ['many', 'z', 'InvalidEnum m: expected a value of Many, got "z"'],
  ['list', '<Way>up</Way><Way i:nil="true"/>', '["up"]'],
  ['list', '<string>up</string>', 'UnknownElement m[0]: expected <Way>, got <string>'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`an enumeration from an element, ${name}: "${given}"`, (t) => t.is(enums[name].read(given), becomes));

for (const [name, given, becomes] of [
  ['three', '"up"', '"up"'],
  ['three', '"\\u0075p"', '"\\u0075p"'],
  ['three', '"Up"', 'InvalidEnum m: expected one of up, so so, <é>, got "Up"'],
  ['three', '""', 'InvalidEnum m: expected one of up, so so, <é>, got ""'],
  ['three', 'null', 'null'],
  ['three', '7', 'InvalidType m: expected one of up, so so, <é>, got a number'],
  ['empty', '""', '""'],
  ['list', '["up",null,"so"]', 'InvalidEnum m[2]: expected one of up, down, got "so"'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`an enumeration of a JSON caller, ${name}: ${given || 'none'}`, (t) =>
    t.is(enums[name].pass(given), becomes));

for (const [name, given, becomes] of [
  ['three', '"up"', 'up'],
  ['three', '"\\u0075p"', 'up'],
  ['three', '"<é>"', '&lt;é&gt;'],
  ['three', '"other"', 'other'],
  ['three', '"upper"', 'upper'],
  ['three', '""', ''],
  ['three', 'null', ''],
  ['three', '7', 'm: expected one of up, so so, <é>, got a number'],
  ['three', '{}', 'm: expected one of up, so so, <é>, got an object'],
  ['three', '"\\u0000"', '�'],
  ['empty', '""', ''],
  ['twelve', '7', 'm: expected one of b, c, d, e, f, g, h, i, j, k, l, m, got a number'],
  ['many', '7', 'm: expected a value of Many, got a number'],
  ['refused', '"other"', 'm: expected one of up, so so, <é>, got another value'],
  ['refused', '"so so"', 'so so'],
  ['refused', '""', ''],
  ['list', '["up",null,""]', '<Way>up</Way><Way i:nil="true"/><Way i:nil="true"/>'],
  [
    'others',
    '{"k":"up","l":"","m":null,"n":"other","o":7}',
    '<AdditionalProperties><Entry><Key>k</Key><Value>up</Value></Entry><Entry><Key>l</Key><Value/></Entry><Entry><Key>m</Key><Value i:nil="true"/></Entry><Entry><Key>n</Key><Value>other</Value></Entry></AdditionalProperties><AdditionalJson><Entry><Key>o</Key><Value>7</Value></Entry></AdditionalJson>',
  ],
  ['union', '"up"', '<String>up</String>'],
  ['union', '"other"', '<String>other</String>'],
  ['union', '""', '<String/>'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`an enumeration of a reply, ${name}: ${given || 'none'}`, (t) =>
    t.is(enums[name].write(given), becomes));

test('values of a reply outside an enumeration are counted as passed', (t) => {
  const { compiled } = enums.list;
  const passedOf = (items: string) =>
    operationOf(compiled, 'put').writeReply(Buffer.from(`{"m":[${items}]}`), { before: '', after: '' })
      .passed;
  t.is(passedOf('"up","d\\u006fwn",null,""'), 0);
  t.is(passedOf('"up","side","ways"'), 2);
});
