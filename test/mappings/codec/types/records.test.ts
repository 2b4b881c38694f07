import test from 'ava';
import { compile, writeReply } from '../codec-calls.ts';
import { memberOf } from './member.ts';

const string = { type: 'string' };
const integer = { type: 'integer' };
const schemas = {
  Thing: {
    type: 'object',
    properties: {
      a: string,
      b: string,
      c: string,
      point: { $ref: '#/components/schemas/Point' },
      loop: { $ref: '#/components/schemas/Loop' },
    },
  },
  Point: {
    type: 'object',
    required: ['x', 'y'],
    properties: { x: integer, y: integer, 'a b': string, 'ä-ö': string },
  },
  Loop: {
    type: 'object',
    required: ['self', 'name'],
    properties: { self: { $ref: '#/components/schemas/Loop' }, name: { type: 'string', minLength: 1 } },
  },
  Cat: { type: 'object', required: ['kind'], properties: { name: string, kind: { enum: ['cat', 'tiger'] } } },
  Dog: { type: 'object', required: ['kind'], properties: { kind: { const: 'dog' } } },
};
const ref = (name: keyof typeof schemas): object => ({ $ref: `#/components/schemas/${name}` });

const records = {
  closed: memberOf(ref('Thing'), {}, schemas),
  lenient: memberOf({ type: 'object', properties: { a: string, point: ref('Point') } }, {}, schemas, {
    unknownElements: 'ignore',
  }),
  empty: memberOf({ type: 'object', additionalProperties: false }),
  nullable: memberOf({
    type: 'object',
    required: ['a'],
    properties: { a: { type: ['string', 'null'] }, b: { type: ['integer', 'null'] } },
  }),
  wide: memberOf({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`member${index}`, string])),
  }),
  comma: memberOf({ type: 'object', properties: { a: string, ',': string } }),
  symbols: memberOf({ type: 'object', properties: { '€': string, 'class-1': string, other: string } }),
  open: memberOf({ type: 'object', properties: { a: string, b: integer }, additionalProperties: integer }),
  free: memberOf({ type: 'object', properties: { a: string }, additionalProperties: true }),
  shapes: memberOf(
    { type: 'object', properties: { a: string }, additionalProperties: ref('Point') },
    {},
    schemas,
  ),
  checked: memberOf(
    {
      type: 'object',
      properties: { a: string },
      additionalProperties: { type: 'string', maxLength: 2 },
    },
    { validate: 'strict' },
  ),
  absent: memberOf(
    { type: 'object', properties: { a: string }, additionalProperties: { type: 'string', maxLength: 2 } },
    { validate: 'strict' },
    {},
    { emptyElements: 'absent' },
  ),
  tagged: memberOf({ oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind' } }, {}, schemas),
  either: memberOf({ oneOf: [ref('Point'), ref('Dog')] }, {}, schemas),
};
type Name = keyof typeof records;

const long = 'k'.repeat(70);
const cut = 'k'.repeat(64);
const entry = (key: string, value: string) => `<Entry><Key>${key}</Key><Value>${value}</Value></Entry>`;
const more = (...entries: string[]) => `<AdditionalProperties>${entries.join('')}</AdditionalProperties>`;
const json = (...entries: string[]) => `<AdditionalJson>${entries.join('')}</AdditionalJson>`;

for (const [name, given, becomes] of [
  ['closed', '<b>1</b><a>2</a>', '{"b":"1","a":"2"}'],
  ['closed', '<c>1</c><b>2</b><a>3</a>', '{"c":"1","b":"2","a":"3"}'],
  ['closed', '<a>1</a><c>2</c><b>3</b>', '{"a":"1","c":"2","b":"3"}'],
  [
    'closed',
    '<c>1</c><b>2</b><a>3</a><b>4</b>',
    'DuplicateElement m.b: expected the element once, got it again',
  ],
  ['closed', `<${long}/>`, `UnknownElement m.${cut}: unknown element, expected a, b, c, point, loop`],
  ['closed', '<x>1</x>', 'UnknownElement m.x: unknown element; x is a member of point'],
  ['closed', '<X>1</X>', 'UnknownElement m.X: unknown element; x is a member of point'],
  ['closed', '<point><x>1</x><y>2</y></point>', '{"point":{"x":1,"y":2}}'],
  ['closed', '<point><x>1</x></point>', 'm.point.y is missing'],
  ['closed', '<point/>', 'm.point.x is missing; m.point.y is missing'],
  [
    'closed',
    '<loop/>',
    'm.loop.self_06c6.self_06c6 is missing; m.loop.self_06c6.name is missing; m.loop.name is missing',
  ],
  [
    'closed',
    '<loop><name/></loop>',
    'm.loop.self_06c6.self_06c6 is missing; m.loop.self_06c6.name is missing; m.loop.name must not be empty',
  ],
  ['closed', '<loop i:nil="true"/>', '{"loop":null}'],
  [
    'closed',
    '<multiRef/>',
    'UnknownElement m.multiRef: document/literal expected, got SOAP encoding (<multiRef>)',
  ],
  [
    'closed',
    '<a xmlns="urn:x">1</a>',
    'UnknownElement m.a: expected it in namespace "urn:Members", got "urn:x"',
  ],
  ['closed', '<z xmlns="urn:x">1</z>', 'UnknownElement m.z: unknown element, did you mean a?'],
  [
    'closed',
    '<point>text</point>',
    'InvalidType m.point: expected elements, got text; m.point.x is missing; m.point.y is missing',
  ],
  [
    'lenient',
    '<b/><a>1</a><point><x>1</x><y>2</y><z/></point>',
    '{"a":"1","point":{"x":1,"y":2}} without b,z',
  ],
  ['nullable', '<a i:nil="true"/>', '{"a":null}'],
  ['nullable', '', 'm.a is missing'],
  ['nullable', '<a/>', '{"a":""}'],
  ['empty', '', '{}'],
  ['empty', '<a/>', 'UnknownElement m.a: unknown element, none is expected here'],
  [
    'wide',
    '<other/>',
    'UnknownElement m.other: unknown element, expected member0, member1, member2, member3, member4, member5, member6, member7, member8, member9, member10, member11, …',
  ],
  ['wide', '<member20/>', 'UnknownElement m.member20: unknown element, did you mean member0?'],
  ['symbols', '<class1/>', 'UnknownElement m.class1: unknown element, did you mean class-1?'],
  ['symbols', '<CLASS1/>', 'UnknownElement m.CLASS1: unknown element, did you mean class-1?'],
  ['symbols', '<_/>', 'UnknownElement m._: unknown element, expected _x20AC_, class-1, other'],
  ['symbols', '<oter/>', 'UnknownElement m.oter: unknown element, did you mean other?'],
  ['open', `<a>1</a>${more(entry('k', '1'), entry('l', '2'))}<b>2</b>`, '{"a":"1","k":1,"l":2,"b":2}'],
  ['open', `${more(entry('k', '1'))}<a>1</a>`, '{"k":1,"a":"1"}'],
  ['open', `${more()}<a>1</a>${json()}`, '{"a":"1"}'],
  ['open', `<a>1</a>${json(entry('l', '"x"'))}${more(entry('k', '1'))}`, '{"a":"1","l":"x","k":1}'],
  [
    'open',
    more(entry('k', '1')) + json(entry('k', '"x"')),
    'DuplicateElement m.AdditionalJson[0]: expected each key once, got one again',
  ],
  [
    'open',
    more(entry('k', '1')) + more(entry('k', '2')),
    'DuplicateElement m.AdditionalProperties[0]: expected each key once, got one again',
  ],
  [
    'open',
    more(entry('a', '1')),
    'DuplicateElement m.AdditionalProperties[0]: expected each key once, got one again',
  ],
  ['open', more(entry('k', 'x')), 'InvalidType m.AdditionalProperties[0].Value: expected xs:long, got "x"'],
  [
    'open',
    json(entry('k', 'x')),
    'InvalidType m.AdditionalJson[0].Value: expected JSON text, got invalid JSON (position 0: expected a value, got U+0078)',
  ],
  [
    'open',
    '<AdditionalProperties i:nil="true"/><a>1</a>',
    'InvalidType m.AdditionalProperties: expected elements, got xsi:nil',
  ],
  ['open', '<other/>', 'UnknownElement m.other: unknown element, expected a, b'],
  [
    'open',
    '<AdditionalProperties>text</AdditionalProperties>',
    'InvalidType m.AdditionalProperties: expected elements, got text',
  ],
  ['free', more(entry('k', '{"b":1}')), '{"k":{"b":1}}'],
  ['free', json(entry('k', '1')), 'UnknownElement m.AdditionalJson: unknown element, expected a'],
  ['checked', more(entry('k', 'ab')) + json(entry('l', '"ab"')), '{"k":"ab","l":"ab"}'],
  [
    'checked',
    more(entry('k', 'abc')) + json(entry('l', '"abc"')),
    'OutOfRange m.AdditionalProperties[0].Value: expected at most 2 characters, got 3; OutOfRange m.AdditionalJson[0].Value: expected at most 2 characters, got 3',
  ],
  [
    'checked',
    json(entry('l', 'abc')),
    'InvalidType m.AdditionalJson[0].Value: expected JSON text, got invalid JSON (position 0: expected a value, got U+0061)',
  ],
  ['absent', json('<Entry><Key>k</Key><Value/></Entry>'), '{"k":null}'],
  ['tagged', '<Cat/>', 'm.Cat.kind is missing'],
  ['tagged', '<Cat><kind>tiger</kind><name>n</name></Cat>', '{"kind":"tiger","name":"n"}'],
  [
    'tagged',
    '<Cat><kind>dog</kind></Cat>',
    'InvalidEnum m.Cat.kind: expected one of cat, tiger, got "dog"; m.Cat.kind is missing',
  ],
  ['tagged', '<Dog/>', '{"kind":"dog"}'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a record from elements, ${name}: ${given || 'none'}`, (t) =>
    t.is(records[name].read(given), becomes));

for (const [name, given, becomes] of [
  ['closed', '{"b":"1","a":"2"}', '{"b":"1","a":"2"}'],
  ['closed', '{ "B" :\n"1" , "a":"2"}', '{ "b" :\n"1" , "a":"2"}'],
  ['closed', `{"${long}":1}`, `UnknownElement m.${cut}: unknown member, expected a, b, c, point, loop`],
  ['closed', '{"x":1}', 'UnknownElement m.x: unknown member; x is a member of point'],
  ['closed', '{"ab":1}', 'UnknownElement m.ab: unknown member, did you mean a?'],
  [
    'closed',
    '{"point":{"ab":1,"x":1,"y":2}}',
    'UnknownElement m.point.ab: unknown member, did you mean a b?',
  ],
  [
    'closed',
    '{"loop":{}}',
    'm.loop.self.self is missing; m.loop.self.name is missing; m.loop.name is missing',
  ],
  ['closed', '{"loop":null}', '{"loop":null}'],
  ['closed', '{"B":":1","a":"2"}', '{"b":":1","a":"2"}'],
  ['closed', '{"point":{"x":null,"y":2}}', 'm.point.x must not be empty'],
  ['lenient', '{"b":[1],"a":"1"}', '{"a":"1"} without b'],
  ['lenient', '{"b":{}}', '{} without b'],
  ['lenient', '{"a":"1", "b":2 ,"c":[]}', '{"a":"1"} without b,c'],
  ['nullable', '{"a":null}', '{"a":null}'],
  ['nullable', '{}', 'm.a is missing'],
  ['nullable', '{"a":""}', '{"a":""}'],
  ['empty', '{"a":1}', 'UnknownElement m.a: unknown member, none is expected here'],
  [
    'wide',
    '{"other":1}',
    'UnknownElement m.other: unknown member, expected member0, member1, member2, member3, member4, member5, member6, member7, member8, member9, member10, member11, …',
  ],
  ['open', '{"a":"1","A":1,"k":"x"}', '{"a":"1","A":1,"k":"x"}'],
  ['open', '{"a":"1","a":"2"}', 'DuplicateElement m.a: expected the member once, got it again'],
  ['checked', '{"a":"abc","k":"ab","l":7}', '{"a":"abc","k":"ab","l":7}'],
  ['checked', `{"${long}":"abc"}`, `OutOfRange m.${cut}: expected at most 2 characters, got 3`],
  [
    'checked',
    '{"k":"abc","l":"abcd"}',
    'OutOfRange m.k: expected at most 2 characters, got 3; OutOfRange m.l: expected at most 2 characters, got 4',
  ],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a record of a JSON caller, ${name}: ${given || 'none'}`, (t) =>
    t.is(records[name].pass(given), becomes));

for (const [name, given, becomes] of [
  ['closed', '{"b":"1","a":"2"}', '<a>2</a><b>1</b>'],
  ['closed', '{"a":"1","b":"2","a":"3"}', 'm.a: expected the member once, got it again'],
  ['closed', '{"z":1}', ' 1 dropped'],
  ['closed', '{"a":[]}', 'm.a: expected a string, got an array'],
  ['closed', '{"a":null,"point":{"x":null,"y":2}}', '<point><y>2</y></point>'],
  ['closed', '{"point":{"x":"x"}}', 'm.point.x: expected xs:long, got a string that is no number'],
  ['closed', '{"\\u0061":"x","\\u007a":1}', '<a>x</a> 1 dropped'],
  ['closed', '{1:2}', 'position 6: expected a member name, got byte 31'],
  ['closed', '{"a":1,}', 'position 12: expected a value after ",", got byte 7D'],
  ['closed', '{"a":"1","xb":"2"}', '<a>1</a> 1 dropped'],
  ['lenient', '{"z":1,"a":"1"}', '<a>1</a> 1 dropped'],
  ['empty', '{}', ''],
  ['empty', '{"a":1}', ' 1 dropped'],
  ['nullable', '{"a":null,"b":null}', '<a i:nil="true"/><b i:nil="true"/>'],
  ['comma', '{"a":"1","b":"2"}', '<a>1</a> 1 dropped'],
  ['comma', '{"a":"1","x,":"2"}', '<a>1</a> 1 dropped'],
  [
    'open',
    '{"k":1,"a":"x","l":"x","m":2,"n":"y","b":3}',
    '<a>x</a><b>3</b><AdditionalProperties><Entry><Key>k</Key><Value>1</Value></Entry><Entry><Key>m</Key><Value>2</Value></Entry></AdditionalProperties><AdditionalJson><Entry><Key>l</Key><Value>"x"</Value></Entry><Entry><Key>n</Key><Value>"y"</Value></Entry></AdditionalJson>',
  ],
  [
    'open',
    '{"l":"x","k":1}',
    '<AdditionalProperties><Entry><Key>k</Key><Value>1</Value></Entry></AdditionalProperties><AdditionalJson><Entry><Key>l</Key><Value>"x"</Value></Entry></AdditionalJson>',
  ],
  ['open', '{"k":1,"k":2}', 'm.k: expected each member once, got it again'],
  ['open', '{"k":1,"\\u006b":"x"}', 'm.k: expected each member once, got it again'],
  [
    'open',
    '{"k":null}',
    '<AdditionalProperties><Entry><Key>k</Key><Value i:nil="true"/></Entry></AdditionalProperties>',
  ],
  [
    'open',
    '{"k":"1","l":"2"}',
    '<AdditionalJson><Entry><Key>k</Key><Value>"1"</Value></Entry><Entry><Key>l</Key><Value>"2"</Value></Entry></AdditionalJson>',
  ],
  [
    'open',
    '{"":1,"\\u0000":2,"<":"3"}',
    '<AdditionalProperties><Entry><Key/><Value>1</Value></Entry><Entry><Key>�</Key><Value>2</Value></Entry></AdditionalProperties><AdditionalJson><Entry><Key>&lt;</Key><Value>"3"</Value></Entry></AdditionalJson>',
  ],
  [
    'open',
    '{"k":1,"l":[2]}',
    '<AdditionalProperties><Entry><Key>k</Key><Value>1</Value></Entry></AdditionalProperties><AdditionalJson><Entry><Key>l</Key><Value>[2]</Value></Entry></AdditionalJson>',
  ],
  ['open', '{"k":}', 'position 10: expected a value, got byte 7D'],
  ['open', '{}', ''],
  ['open', '{"k":1,"a":7}', `<a>7</a>${more(entry('k', '1'))}`],
  ['free', '{"k":}', 'position 10: expected a value, got byte 7D'],
  [
    'free',
    '{"k":1,"a":"x","l":{"m":[]}}',
    '<a>x</a><AdditionalProperties><Entry><Key>k</Key><Value>1</Value></Entry><Entry><Key>l</Key><Value>{"m":[]}</Value></Entry></AdditionalProperties>',
  ],
  [
    'shapes',
    '{"k":{"x":1,"y":2},"l":{"x":"1","y":2},"m":{"x":1,"z":2},"n":7}',
    '<AdditionalProperties><Entry><Key>k</Key><Value><x>1</x><y>2</y></Value></Entry><Entry><Key>m</Key><Value><x>1</x></Value></Entry></AdditionalProperties><AdditionalJson><Entry><Key>l</Key><Value>{"x":"1","y":2}</Value></Entry><Entry><Key>n</Key><Value>7</Value></Entry></AdditionalJson> 1 dropped',
  ],
  [
    'shapes',
    '{"k":{"x":1,"y":2,"a b":"3"},"l":{"x":1,"a b":4}}',
    '<AdditionalProperties><Entry><Key>k</Key><Value><x>1</x><y>2</y><a_x0020_b>3</a_x0020_b></Value></Entry></AdditionalProperties><AdditionalJson><Entry><Key>l</Key><Value>{"x":1,"a b":4}</Value></Entry></AdditionalJson>',
  ],
  ['tagged', '{"kind":"tiger"}', '<Cat><kind>tiger</kind></Cat>'],
  ['either', '{"x":1,"y":2}', '<Point><x>1</x><y>2</y></Point>'],
  ['either', '{"x":null,"y":2}', '<Json>{"x":null,"y":2}</Json>'],
  ['either', '{"x":1,"y":2,"a b":null}', '<Json>{"x":1,"y":2,"a b":null}</Json>'],
] as const satisfies readonly (readonly [Name, string, string])[])
  test(`a record of a reply, ${name}: ${given || 'none'}`, (t) => t.is(records[name].write(given), becomes));

for (const [additionalProperties, good, bad, reason] of [
  [{ type: 'integer', maximum: 9 }, '9', '10', 'expected at most 9, got 10'],
  [{ type: 'boolean', enum: [true] }, 'true', 'false', 'expected true, got "false"'],
  [{ type: 'array', items: integer, maxItems: 1 }, '[1]', '[1,2]', 'expected at most 1 items, got 2'],
  [
    { type: 'object', properties: { x: integer }, maxProperties: 0 },
    '{}',
    '{"x":1}',
    'expected at most 0 members, got 1',
  ],
] as const)
  test(`validate: strict checks additional members of JSON: ${reason}`, (t) => {
    const { read, pass } = memberOf(
      { type: 'object', properties: { a: string }, additionalProperties },
      { validate: 'strict' },
    );
    t.is(pass(`{"k":${good},"l":"other"}`), `{"k":${good},"l":"other"}`);
    t.regex(pass(`{"k":${bad}}`), new RegExp(`^\\w+ m\\.k: ${reason}$`));
    t.is(read(json(entry('k', good))), `{"k":${good}}`);
    t.regex(read(json(entry('k', bad))), new RegExp(`^\\w+ m\\.AdditionalJson\\[0\\]\\.Value: ${reason}$`));
  });

/** An object with members of every kind of type, and its XML. */
const everything = memberOf(
  {
    type: 'object',
    properties: {
      pad: integer,
      strings: { type: 'array', items: { type: ['string', 'null'] } },
      things: { type: 'array', items: { $ref: '#/components/schemas/Everything' } },
    },
  },
  {},
  {
    ...schemas,
    Everything: {
      type: 'object',
      properties: {
        record: ref('Point'),
        open: {
          type: 'object',
          properties: { a: string, b: string },
          additionalProperties: { $ref: '#/components/schemas/Point' },
        },
        tuple: { type: 'array', prefixItems: [integer, string, string], items: integer },
        map: { type: 'object', additionalProperties: string },
        union: { oneOf: [ref('Point'), string] },
        date: { type: 'string', format: 'date-time' },
        json: {},
      },
    },
  },
);
const thing = `{"record":{"x":1,"a b":"2"},"open":{"k":{"x":3,"y":4},"b":"5","l":6,"m":{"x":7}},"tuple":[8,"9",null,10,11],
  "map":{"n":"12","o":"<13>"},"union":{"x":14,"y":15},"date":"2026-01-31T09:05:00Z","json":{"p":["&16"]}}`;

test('a reply is written the same for any tape position of its parts', (t) => {
  const written = (json: string): string => {
    // a grown tape is reused by its contract, so the contract is compiled again
    const { xml } = writeReply(compile(everything.compiled.contract), 'put', `{"m":${json}}`);
    return /<m>(.*)<\/m>/.exec(xml)?.[1] ?? xml;
  };
  const things = written(`{"things":[${thing}]}`);
  t.regex(things, /^<things><Everything>.*<\/Everything><\/things>$/);
  // four words for a text, two for a null, three for a number, so that the tape grows at each word
  const nil = '<string i:nil="true"/>';
  for (let count = 994; count < 1_023; count++)
    for (const [first, last, before, behind] of [
      ['', '', '', ''],
      ['', ',null', '', nil],
      ['"pad":1,', '', '<pad>1</pad>', ''],
      ['"pad":1,', ',null', '<pad>1</pad>', nil],
    ] as const)
      t.is(
        written(`{${first}"strings":[${'"a",'.repeat(count)}"a"${last}],"things":[${thing}]}`),
        `${before}<strings>${'<string>a</string>'.repeat(count + 1)}${behind}</strings>${things}`,
      );
});
