import test from 'ava';
import { operationOf } from '../codec-calls.ts';
import { memberOf } from './member.ts';

const xsd = 'xmlns:x="http://www.w3.org/2001/XMLSchema"';
const encoding = 'xmlns:e="http://schemas.xmlsoap.org/soap/encoding/"';
const string = { type: 'string' };
const members = {
  strings: memberOf({
    type: 'object',
    properties: { a: string, b: string, i: { type: 'integer' }, d: { type: 'string', format: 'date' } },
  }),
  others: memberOf({
    type: 'object',
    properties: { a: { type: 'integer' } },
    additionalProperties: { type: 'string', format: 'date' },
  }),
  empties: memberOf(
    { type: 'object', properties: { i: { type: 'integer' }, d: { type: 'string', format: 'date' } } },
    {},
    {},
    { emptyElements: 'absent' },
  ),
  list: memberOf({ type: 'array', items: { type: 'integer' } }),
  nullableList: memberOf({ type: 'array', items: { type: ['integer', 'null'] } }),
  union: memberOf({ oneOf: [{ type: 'string', format: 'date' }, { type: 'integer' }, { type: 'boolean' }] }),
};
type Name = keyof typeof members;

for (const [name, given, becomes] of [
  ['strings', `<a ${xsd} i:type="x:base64Binary">w6k=</a>`, '{"a":"é"}'],
  ['strings', `<a ${xsd} i:type=" x:base64Binary ">w6k=</a>`, '{"a":"é"}'],
  ['strings', `<a ${xsd} i:type="x:base64">w6k=</a>`, '{"a":"é"}'],
  ['strings', `<a ${encoding} i:type="e:base64">w6k=</a>`, '{"a":"é"}'],
  ['strings', `<a ${encoding} i:type="e:base64Binary">w6k=</a>`, '{"a":"é"}'],
  ['strings', `<a ${xsd} i:type="x:string">w6k=</a>`, '{"a":"w6k="}'],
  ['strings', `<a i:type="y:base64Binary" xmlns:y="urn:y">w6k=</a>`, '{"a":"w6k="}'],
  ['strings', `<a i:type="base64Binary">w6k=</a>`, '{"a":"w6k="}'],
  [
    'strings',
    `<x:a xmlns:x="urn:Members" xmlns="http://www.w3.org/2001/XMLSchema" i:type="base64Binary">w6k=</x:a>`,
    '{"a":"é"}',
  ],
  ['strings', `<a ${xsd} type="x:base64Binary">w6k=</a>`, '{"a":"w6k="}'],
  ['strings', `<a ${xsd} i:type="x:base64Binary">77u/YQ==</a>`, '{"a":"\ufeffa"}'],
  [
    'strings',
    `<a ${xsd} i:type="x:base64Binary">/w==</a>`,
    'InvalidType m.a: expected the base64 of UTF-8 text, as its xsi:type says, got other text',
  ],
  [
    'strings',
    `<a ${xsd} i:type="x:base64Binary">w6k</a>`,
    'InvalidType m.a: expected the base64 of UTF-8 text, as its xsi:type says, got other text',
  ],
  ['strings', `<a ${xsd} i:type="x:base64Binary"></a>`, '{"a":""}'],
  ['strings', '<a id="1">w6k=</a>', '{"a":"w6k="}'],
  [
    'strings',
    '<i/>',
    'NotEmpty m.i: expected xs:long, got an empty element; leave the element out where no value is meant',
  ],
  [
    'strings',
    '<i> </i>',
    'NotEmpty m.i: expected xs:long, got an empty element; leave the element out where no value is meant',
  ],
  [
    'strings',
    '<d/>',
    'NotEmpty m.d: expected xs:date, got an empty element; leave the element out where no value is meant (node-soap writes a JavaScript Date like this: pass it as an ISO string)',
  ],
  ['strings', '<i><b/></i>', 'InvalidType m.i: expected xs:long, got elements'],
  ['strings', '<a><b/></a>', 'InvalidType m.a: expected xs:string, got elements'],
  ['strings', '<i>x</i>', 'InvalidType m.i: expected xs:long, got "x"'],
  ['strings', '<a>&#xB;</a>', '{"a":"\\u000b"}'],
  ['empties', '<i/><d> </d>', '{}'],
  ['empties', '<i>1</i><d>2026-01-31</d>', '{"i":1,"d":"2026-01-31"}'],
  ['list', '<long>1</long><long i:nil="true"/>', '[1]'],
  ['nullableList', '<long>1</long><long i:nil="true"/>', '[1,null]'],
  ['strings', '<a i:nil="true"/><i i:nil="true"/><d i:nil="true"/>', '{"a":null}'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a scalar from an element, ${name}: ${given || 'none'}`, (t) =>
    t.is(members[name].read(given), becomes));

for (const [name, given, becomes] of [
  ['strings', '{"a":null,"i":null,"d":null}', '{"a":null,"i":null,"d":null}'],
  ['strings', '{"i": "7" ,"a":"x"}', '{"i": 7 ,"a":"x"}'],
  ['strings', '{"i":7.5}', 'InvalidType m.i: expected xs:long, got "7.5"'],
  ['strings', '{"d":7}', 'InvalidType m.d: expected xs:date, got a number'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a scalar of a JSON caller, ${name}: ${given || 'none'}`, (t) =>
    t.is(members[name].pass(given), becomes));

for (const [name, given, becomes] of [
  ['strings', '{"a":"","i":"","d":""}', '<a/>'],
  ['strings', '{"a":7,"i":"8","d":"2026-01-31"}', '<a>7</a><i>8</i><d>2026-01-31</d>'],
  ['strings', '{"a":[]}', 'm.a: expected a string, got an array'],
  ['strings', '{"i":1.50}', 'm.i: expected xs:long, got a fraction'],
  [
    'others',
    '{"k":"","l":"2026-01-31","m":7,"n":null}',
    '<AdditionalProperties><Entry><Key>l</Key><Value>2026-01-31</Value></Entry><Entry><Key>n</Key><Value i:nil="true"/></Entry></AdditionalProperties><AdditionalJson><Entry><Key>k</Key><Value>""</Value></Entry><Entry><Key>m</Key><Value>7</Value></Entry></AdditionalJson>',
  ],
  [
    'others',
    '{"k":"01/02/2026","l":true}',
    '<AdditionalJson><Entry><Key>k</Key><Value>"01/02/2026"</Value></Entry><Entry><Key>l</Key><Value>true</Value></Entry></AdditionalJson>',
  ],
  ['union', '""', '<String/>'],
  ['union', '"2026-01-31"', '<String>2026-01-31</String>'],
  ['union', '"x"', '<String>x</String>'],
  ['union', '7', '<Integer>7</Integer>'],
  ['union', '7.0', '<Integer>7</Integer>'],
  ['union', '"7"', '<String>7</String>'],
  ['union', 'true', '<Boolean>true</Boolean>'],
  ['union', '"true"', '<String>true</String>'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a scalar of a reply, ${name}: ${given || 'none'}`, (t) => t.is(members[name].write(given), becomes));

test('numbers beyond a .NET decimal are counted, in any spelling', (t) => {
  const { compiled } = memberOf({ type: 'array', items: { type: 'number' } });
  const inexactOf = (items: string) =>
    operationOf(compiled, 'put').writeReply(Buffer.from(`{"m":[${items}]}`), { before: '', after: '' })
      .inexact;
  t.is(inexactOf('1,1.5,"2.5",null,""'), undefined);
  t.is(inexactOf(`${'9'.repeat(40)},1e40,"1e40",1.5`), 3);
});

test('wrongly typed values that are written are counted', (t) => {
  const dates = { type: 'array', items: { type: 'string', format: 'date' } };
  const { compiled } = memberOf(dates, {}, {}, { invalidDates: 'pass' });
  const passedOf = (items: string) =>
    operationOf(compiled, 'put').writeReply(Buffer.from(`{"m":[${items}]}`), { before: '', after: '' })
      .passed;
  t.is(passedOf('"2026-01-31",null,""'), 0);
  t.is(passedOf('"31 January","2026-01-31","soon"'), 2);
});
