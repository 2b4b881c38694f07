import test from 'ava';
import { compile, operationOf, readXml, screening, writeReply } from '../contracts.ts';
import { memberOf } from './member.ts';

const mapOf = (additionalProperties: object): object => ({ type: 'object', additionalProperties });
const maps = {
  strings: memberOf(mapOf({ type: ['string', 'null'] })),
  integers: memberOf(mapOf({ type: 'integer' })),
  lists: memberOf(mapOf({ type: 'array', items: { type: 'integer' } })),
  nested: memberOf(mapOf(mapOf({ type: 'boolean' }))),
  lenient: memberOf(mapOf({ type: 'integer' }), {}, {}, { unknownElements: 'ignore' }),
  checked: memberOf(mapOf({ type: 'string', maxLength: 2 }), { validate: 'strict' }),
};
type Name = keyof typeof maps;
const long = 'k'.repeat(70);
const cut = 'k'.repeat(64);

for (const [name, given, becomes] of [
  ['strings', '', '{}'],
  [
    'strings',
    '<Entry><Key>a</Key><Value>1</Value></Entry><Entry><Key>b</Key><Value>2</Value></Entry>',
    '{"a":"1","b":"2"}',
  ],
  ['strings', '<Entry><Value>1</Value><Key>a</Key></Entry>', '{"a":"1"}'],
  [
    'strings',
    '<Entry><Key>a</Key></Entry><Entry><Key>b</Key><Value i:nil="true"/></Entry>',
    '{"a":null,"b":null}',
  ],
  ['strings', '<Entry><Key/><Value/></Entry>', '{"":""}'],
  ['strings', '<Entry xmlns=""><Key>a</Key><Value>1</Value></Entry>', '{"a":"1"}'],
  [
    'strings',
    '<Entry><Key xmlns="urn:x">a</Key></Entry>',
    'UnknownElement m[0].Key: expected <Key> and <Value>, got <Key>; NotEmpty m[0]: expected <Key>, got none',
  ],
  [
    'strings',
    '<Entry><Key>a</Key><Value xmlns="urn:x">1</Value></Entry>',
    'UnknownElement m[0].Value: expected <Key> and <Value>, got <Value>',
  ],
  [
    'strings',
    '<Entry xmlns="urn:x"><Key>a</Key></Entry>',
    'UnknownElement m[0]: expected <Entry>, got <Entry>',
  ],
  ['strings', `<${long}/>`, `UnknownElement m[0]: expected <Entry>, got <${cut}>`],
  [
    'strings',
    `<Entry><Key>a</Key><${long}/></Entry>`,
    `UnknownElement m[0].${cut}: expected <Key> and <Value>, got <${cut}>`,
  ],
  [
    'strings',
    '<Entry><Key>a</Key><Key>b</Key></Entry>',
    'DuplicateElement m[0].Key: expected the element once, got it again',
  ],
  [
    'strings',
    '<Entry><Key>a</Key><Value>1</Value><Value>2</Value></Entry>',
    'DuplicateElement m[0].Value: expected the element once, got it again',
  ],
  [
    'strings',
    '<Entry><Key>a</Key></Entry><Entry><Key>a</Key></Entry>',
    'DuplicateElement m[1]: expected each key once, got one again',
  ],
  ['strings', '<Entry><Key i:nil="true"/></Entry>', 'NotEmpty m[0].Key: expected a key, got none'],
  [
    'strings',
    '<Entry i:nil="true"/><Entry><Key>a</Key></Entry>',
    'InvalidType m[0]: expected elements, got xsi:nil',
  ],
  [
    'strings',
    '<Entry href="#1"/>',
    'InvalidType m[0]: document/literal expected, got SOAP encoding (href, arrayType, itemType or Ref)',
  ],
  ['strings', '<Entry><Value>1</Value></Entry>', 'NotEmpty m[0]: expected <Key>, got none'],
  ['strings', '<Entry/>', 'NotEmpty m[0]: expected <Key>, got none'],
  ['strings', '<Entry>text<Key>a</Key></Entry>', 'InvalidType m[0]: expected elements, got text'],
  ['strings', 'text', 'InvalidType m: expected elements, got text'],
  [
    'integers',
    '<Entry><Key>a</Key><Value>x</Value></Entry><Entry><Key>b</Key><Value>2</Value></Entry>',
    'InvalidType m[0].Value: expected xs:long, got "x"',
  ],
  [
    'integers',
    '<Entry><Key>a</Key><Value>1</Value></Entry><Entry><Key>b</Key><Value>y</Value></Entry>',
    'InvalidType m[1].Value: expected xs:long, got "y"',
  ],
  [
    'lists',
    '<Entry><Key>a</Key><Value><long>1</long><long>x</long></Value></Entry>',
    'InvalidType m[0].Value[1]: expected xs:long, got "x"',
  ],
  [
    'nested',
    '<Entry><Key>a</Key><Value><Entry><Key>a</Key><Value>1</Value></Entry></Value></Entry><Entry><Key>b</Key><Value/></Entry>',
    '{"a":{"a":true},"b":{}}',
  ],
  [
    'nested',
    '<Entry><Key>a</Key><Value><Entry><Key>a</Key></Entry><Entry><Key>a</Key></Entry></Value></Entry>',
    'DuplicateElement m[0].Value[1]: expected each key once, got one again',
  ],
  ['lenient', '<Other/><Entry><Key>a</Key><Note/><Value>1</Value></Entry>', '{"a":1} without Other,Note'],
  ['checked', '<Entry><Key>a</Key><Value>ab</Value></Entry>', '{"a":"ab"}'],
  [
    'checked',
    '<Entry><Key>a</Key><Value>abc</Value></Entry>',
    'OutOfRange m[0].Value: expected at most 2 characters, got 3',
  ],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a map from elements, ${name}: ${given || 'none'}`, (t) => t.is(maps[name].read(given), becomes));

for (const [name, given, becomes] of [
  ['strings', '{}', '{}'],
  ['strings', '{"a":"1","b":null,"":""}', '{"a":"1","b":null,"":""}'],
  ['strings', '{"a":"1","a":"2"}', 'DuplicateElement m.a: expected each key once, got it again'],
  ['strings', '{"a":"1","\\u0061":"2"}', 'DuplicateElement m.a: expected each key once, got it again'],
  ['strings', '{"a":1,"b":"2"}', 'InvalidType m.a: expected a string, got a number'],
  ['strings', `{"${long}":1}`, `InvalidType m.${cut}: expected a string, got a number`],
  ['strings', '[]', 'InvalidType m: expected an object, got an array'],
  ['strings', 'null', 'null'],
  ['integers', '{"a":"1","b":2}', '{"a":1,"b":2}'],
  ['nested', '{"a":{"b":true},"b":{"b":"no"}}', 'InvalidType m.b.b: expected a boolean, got "no"'],
  ['checked', '{"a":"ab","b":"abc"}', 'OutOfRange m.b: expected at most 2 characters, got 3'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a map of a JSON caller, ${name}: ${given || 'none'}`, (t) => t.is(maps[name].pass(given), becomes));

for (const [name, given, becomes] of [
  ['strings', '{}', ''],
  [
    'strings',
    '{"b":"1","a":null,"":""}',
    '<Entry><Key>b</Key><Value>1</Value></Entry><Entry><Key>a</Key><Value i:nil="true"/></Entry><Entry><Key/><Value/></Entry>',
  ],
  ['strings', '{"a":"1","b":"2","a":"3"}', 'm: expected each key once, got one again'],
  ['strings', '{"a":"1","\\u0061":"2"}', 'm: expected each key once, got one again'],
  [
    'strings',
    '{"<é>":"1","\\u0000\\n":"2","\\\\":"3"}',
    '<Entry><Key>&lt;é&gt;</Key><Value>1</Value></Entry><Entry><Key>�\n</Key><Value>2</Value></Entry><Entry><Key>\\</Key><Value>3</Value></Entry>',
  ],
  ['strings', '{"a":{}}', 'm: expected a string, got an object'],
  ['strings', '{1:"a"}', 'position 6: expected a member name, got byte 31'],
  [
    'strings',
    '{"a" : "1" , "b":"2" }',
    '<Entry><Key>a</Key><Value>1</Value></Entry><Entry><Key>b</Key><Value>2</Value></Entry>',
  ],
  ['strings', '[]', 'm: expected an object, got an array'],
  ['strings', 'null', ''],
  [
    'integers',
    '{"a":1,"b":"2","c":""}',
    '<Entry><Key>a</Key><Value>1</Value></Entry><Entry><Key>b</Key><Value>2</Value></Entry><Entry><Key>c</Key><Value i:nil="true"/></Entry>',
  ],
  ['lists', '{"a":[1,}', 'position 13: expected a value, got byte 7D'],
  [
    'lists',
    '{"a":[1,2],"b":[]}',
    '<Entry><Key>a</Key><Value><long>1</long><long>2</long></Value></Entry><Entry><Key>b</Key><Value/></Entry>',
  ],
  [
    'nested',
    '{"a":{"b":true},"b":{}}',
    '<Entry><Key>a</Key><Value><Entry><Key>b</Key><Value>true</Value></Entry></Value></Entry><Entry><Key>b</Key><Value/></Entry>',
  ],
  ['nested', '{"a":{"b":true,"b":false}}', 'm: expected each key once, got one again'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a map of a reply, ${name}: ${given || 'none'}`, (t) => t.is(maps[name].write(given), becomes));

test('W20: a reply is written the same for any memory position of map entries', (t) => {
  const family = compile(screening);
  const name = 'KeyValueOfstringstring';
  const written = (first: string): string => {
    const entries = Array.from({ length: 720 }, (_, index) => `"${1_000 + index}":"v"`).join();
    const status = `{"meta":{"${first}":"v",${entries}}}`;
    return writeReply(family, 'RenewAllPepSearches', `{"data":{"responseStatus":${status},"count":1}}`).xml;
  };
  const entryOf = (key: string) => `<a:${name}><a:Key>${key}</a:Key><a:Value>v</a:Value></a:${name}>`;
  // 91 bytes per entry, so that the buffer of 64 KiB overflows at each entry for some length
  const expected = Array.from({ length: 720 }, (_, index) => entryOf(`${1_000 + index}`)).join('');
  for (let length = 1; length <= 100; length++) {
    const first = 'f'.repeat(length);
    t.true(written(first).includes(`>${entryOf(first)}${expected}</Meta>`), first);
  }
});

test('W11: entries have the types namespace, that of arrays or none', (t) => {
  const { contract } = maps.strings.compiled;
  const namespaces = { ...contract.namespaces, arrays: 'urn:arrays' };
  const compiled = compile({ ...contract, namespaces });
  for (const entry of [
    '<Entry><Key>k</Key><Value>1</Value></Entry>',
    '<a:Entry><a:Key>k</a:Key><Value>1</Value></a:Entry>',
    '<Entry xmlns=""><Key>k</Key><a:Value>1</a:Value></Entry>',
  ]) {
    const { input, problems } = readXml(compiled, 'put', `<Body><m>${entry}</m></Body>`);
    t.deepEqual(problems, []);
    t.is(operationOf(compiled, 'put').jsonOf(input), '{"Body":{"m":{"k":"1"}}}');
  }
  const { problems } = readXml(compiled, 'put', '<Body><m><Entry xmlns="urn:other"/></m></Body>');
  t.deepEqual(problems, ['UnknownElement Body.m[0]: expected <Entry>, got <Entry>']);
});

test('W13: a nil map is null', (t) => {
  const inside = memberOf({ type: 'object', properties: { map: mapOf({ type: 'integer' }) } });
  t.is(inside.read('<map i:nil="true"/>'), '{"map":null}');
});
