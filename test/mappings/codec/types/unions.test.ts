import test from 'ava';
import { problemText, startReading } from '../../../../mappings/codec/problem.ts';
import { load } from '../../../plain/documents.ts';
import { compile, operationOf, readJson, readXml, writeReply } from '../codec-calls.ts';

const object = (required: readonly string[], properties: object): object => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});

const string = { type: 'string' };

const schemas = {
  Cat: object(['kind', 'lives'], {
    kind: { const: 'cat' },
    lives: { type: 'integer' },
    name: { type: 'string' },
  }),
  Dog: object(['kind'], { kind: { const: 'dog' }, name: { type: 'string' }, good: { type: 'boolean' } }),
  Point: object(['x', 'y'], { x: { type: 'number' }, y: { type: 'number' } }),
  Line: object(['x'], { x: { type: 'number' }, to: { type: 'string' } }),
  Bare: object([], { a: { type: 'integer' } }),
  Label: object([], { text: { type: 'string' }, to: { type: 'string' } }),
};
const ref = (name: keyof typeof schemas): { readonly $ref: string } => ({
  $ref: `#/components/schemas/${name}`,
});

/** Compiles an operation that takes and returns an object whose member `m` has a schema. */
function compiledFor(schema: object, overlay?: object) {
  const content = { 'application/json': { schema: { type: 'object', properties: { m: schema } } } };
  const put = {
    operationId: 'put',
    requestBody: { content },
    responses: { 200: { description: '', content } },
  };
  const info = { title: 'Kinds', version: '1' };
  const document = { openapi: '3.1.0', info, paths: { '/': { put } }, components: { schemas } };
  return compile(load(document, undefined, overlay).contract);
}

const ofAnyKind = compiledFor({
  oneOf: [
    { type: 'string' },
    { type: 'integer' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'array', items: { type: 'integer' } },
    ref('Point'),
    ref('Line'),
    ref('Label'),
  ],
});
const mapping = { cat: ref('Cat').$ref, dog: ref('Dog').$ref };
const tagged = compiledFor({
  oneOf: [ref('Cat'), ref('Dog')],
  discriminator: { propertyName: 'kind', mapping },
});

/** A variant without a member for the tag. */
const tagless = compiledFor({
  oneOf: [ref('Bare'), ref('Dog')],
  discriminator: { propertyName: 'kind', mapping: { bare: ref('Bare').$ref, dog: ref('Dog').$ref } },
});
const wrapped = compiledFor({
  oneOf: [object([], { inner: ref('Point') }), { type: 'null' }, { type: 'string' }],
});
const strict = compiledFor(
  { oneOf: [{ type: 'string', maxLength: 2 }, { type: 'integer', maximum: 5 }, ref('Point')] },
  { validate: 'strict' },
);

/** Returns the XML of the member of a reply, with the number of dropped JSON members if there are any. */
function written(compiled: typeof tagged, json: string): string {
  const { xml, dropped } = writeReply(compiled, 'put', `{"m":${json}}`);
  const [, content = ''] = /<m>(.*)<\/m>/.exec(xml) ?? [];
  return dropped === 0 ? content : `${content} ${dropped} dropped`;
}

/** Returns the JSON of the member of a request, or its problem. */
function read(compiled: typeof tagged, content: string): string {
  const { input, problems, missing } = readXml(compiled, 'put', `<Body><m>${content}</m></Body>`);
  if (problems.length + missing.length > 0) return [...problems, ...missing].join('; ');
  const json = operationOf(compiled, 'put').jsonOf(input);
  return /^\{"Body":\{"m":(.*)\}\}$/.exec(json)?.[1] ?? json;
}

const replies = [
  ['"a"', '<String>a</String>'],
  ['""', '<String/>'],
  ['1', '<Integer>1</Integer>'],
  ['-1', '<Integer>-1</Integer>'],
  ['1.5', '<Decimal>1.5</Decimal>'],
  ['1e2', '<Decimal>100</Decimal>'],
  ['true', '<Boolean>true</Boolean>'],
  ['false', '<Boolean>false</Boolean>'],
  ['null', ''],
  ['[]', '<Items/>'],
  ['[1,2]', '<Items><long>1</long><long>2</long></Items>'],
  ['["x"]', '<Json>["x"]</Json>'],
  ['[1,2.5]', '<Json>[1,2.5]</Json>'],
  ['{}', '<Label/>'],
  ['{"x":1,"y":2}', '<Point><x>1</x><y>2</y></Point>'],
  ['{"x":1}', '<Line><x>1</x></Line>'],
  ['{"x":1,"to":"a"}', '<Line><x>1</x><to>a</to></Line>'],
  ['{"to":"a"}', '<Label><to>a</to></Label>'],
  ['{"text":"t","to":"a"}', '<Label><text>t</text><to>a</to></Label>'],
  ['{"x":1,"y":2,"to":"q"}', '<Json>{"x":1,"y":2,"to":"q"}</Json>'],
  ['{"x":"no","y":1}', '<Json>{"x":"no","y":1}</Json>'],
  ['{"z":1}', '<Json>{"z":1}</Json>'],
  ['{"\\u0078":1,"y":2}', '<Point><x>1</x><y>2</y></Point>'],
  ['{"x":1,"y":[1]}', '<Json>{"x":1,"y":[1]}</Json>'],
] as const;
const requests = [
  ['<String>a</String>', '"a"'],
  ['<String/>', '""'],
  ['<Integer>1</Integer>', '1'],
  ['<Decimal>1.50</Decimal>', '1.50'],
  ['<Boolean>1</Boolean>', 'true'],
  ['<Point><x>1</x><y>2</y></Point>', '{"x":1,"y":2}'],
  ['<Point><x>1</x></Point>', 'Body.m.Point.y'],
  ['<Line><x>1</x><to>a</to></Line>', '{"x":1,"to":"a"}'],
  ['<Items><long>1</long></Items>', '[1]'],
  ['<Items/>', '[]'],
  [
    '<String>a</String><Integer>1</Integer>',
    'DuplicateElement Body.m: expected one element, got <Integer> and <String>',
  ],
  ['<String i:nil="true"/><Integer>1</Integer>', '1'],
  [
    '<String i:nil="true"/>',
    'NotEmpty Body.m: expected one of <String>, <Integer>, <Decimal>, <Boolean>, <Point>, <Line>, <Label>, <Items>, <Json>, got none',
  ],
  [
    '',
    'NotEmpty Body.m: expected one of <String>, <Integer>, <Decimal>, <Boolean>, <Point>, <Line>, <Label>, <Items>, <Json>, got none',
  ],
  [
    'text',
    'InvalidType Body.m: expected one of <String>, <Integer>, <Decimal>, <Boolean>, <Point>, <Line>, <Label>, <Items>, <Json>, got text',
  ],
  [
    '<Other/>',
    'UnknownElement Body.m: expected one of <String>, <Integer>, <Decimal>, <Boolean>, <Point>, <Line>, <Label>, <Items>, <Json>, got <Other>',
  ],
  [
    '<Other/><String>a</String>',
    'UnknownElement Body.m: expected one of <String>, <Integer>, <Decimal>, <Boolean>, <Point>, <Line>, <Label>, <Items>, <Json>, got <Other>',
  ],
  [
    '<o:String xmlns:o="urn:o">a</o:String>',
    'UnknownElement Body.m: expected one of <String>, <Integer>, <Decimal>, <Boolean>, <Point>, <Line>, <Label>, <Items>, <Json>, got <String>',
  ],
  ['<String xmlns="">a</String>', '"a"'],
  [
    `<${'k'.repeat(65)}/>`,
    `UnknownElement Body.m: expected one of <String>, <Integer>, <Decimal>, <Boolean>, <Point>, <Line>, <Label>, <Items>, <Json>, got <${'k'.repeat(64)}>`,
  ],
  ['<Json>{"a":1}</Json>', '{"a":1}'],
  [
    '<Json>[1</Json>',
    'InvalidType Body.m.Json: expected JSON text, got invalid JSON (position 2: expected "," or "]", got the end)',
  ],
  ['<Integer>x</Integer>', 'InvalidType Body.m.Integer: expected xs:long, got "x"'],
] as const;
const taggedReplies = [
  ['{"kind":"cat","lives":9}', '<cat><kind>cat</kind><lives>9</lives></cat>'],
  ['{"name":"x","kind":"dog","good":true}', '<dog><kind>dog</kind><name>x</name><good>true</good></dog>'],
  ['{"kind":"cow"}', '<Json>{"kind":"cow"}</Json>'],
  ['{"lives":1}', '<Json>{"lives":1}</Json>'],
  ['{"kind":"cat","lives":"x"}', '<Json>{"kind":"cat","lives":"x"}</Json>'],
  ['{"kind":"cat","lives":9,"more":1}', '<cat><kind>cat</kind><lives>9</lives></cat> 1 dropped'],
  ['{"k\\u0069nd":"c\\u0061t","lives":9}', '<cat><kind>cat</kind><lives>9</lives></cat>'],
  ['{"kind":1}', '<Json>{"kind":1}</Json>'],
  ['{"kind" : "cat" ,"lives":9}', '<cat><kind>cat</kind><lives>9</lives></cat>'],
  ['{"kind":null,"name":"a"}', '<Json>{"kind":null,"name":"a"}</Json>'],
  ['{"kind":"dog"}', '<dog><kind>dog</kind></dog>'],
  ['{"kind":"cow","kind2":"cat"}', '<Json>{"kind":"cow","kind2":"cat"}</Json>'],
  ['[]', '<Json>[]</Json>'],
  ['"cat"', '<Json>"cat"</Json>'],
  ['7', '<Json>7</Json>'],
] as const;
const taggedRequests = [
  ['<cat><lives>9</lives></cat>', '{"kind":"cat","lives":9}'],
  ['<dog><good>true</good></dog>', '{"kind":"dog","good":true}'],
  ['<dog/>', '{"kind":"dog"}'],
  ['<cat/>', 'Body.m.cat.lives'],
  ['<cat><kind>cat</kind><lives>1</lives></cat>', '{"kind":"cat","lives":1}'],
  [
    '<cat><kind>dog</kind><lives>1</lives></cat>',
    'InvalidEnum Body.m.cat.kind: expected "cat", as the element says, got another value',
  ],
  [
    '<cat><kind>dog</kind><lives>1</lives></cat>text',
    'InvalidEnum Body.m.cat.kind: expected "cat", as the element says, got another value; InvalidType Body.m: expected one of <cat>, <dog>, <Json>, got text',
  ],
  [
    '<dog><lives>1</lives></dog>',
    'UnknownElement Body.m.dog.lives: unknown element, expected kind, name, good',
  ],
  ['<Dog/>', 'UnknownElement Body.m: expected one of <cat>, <dog>, <Json>, got <Dog>'],
] as const;

const taglessReplies = [
  ['{"kind":"bare","a":1}', '<bare><a>1</a></bare>'],
  ['{"a":1,"kind":"bare","x":2}', '<bare><a>1</a></bare> 1 dropped'],
  ['{"kind":"dog","x":2}', '<dog><kind>dog</kind></dog> 1 dropped'],
  ['{"kind":"bare","a":"x"}', '<Json>{"kind":"bare","a":"x"}</Json>'],
] as const;
const taglessRequests = [
  ['<bare><a>1</a></bare>', '{"kind":"bare","a":1}'],
  ['<Json>{"kind":"bare"}</Json>', '{"kind":"bare"}'],
] as const;
const wrappedReplies = [
  ['{"inner":{"x":1,"y":2}}', '<WithInner><inner><x>1</x><y>2</y></inner></WithInner>'],
  ['{"inner":{"x":1,"y":2,"z":3}}', '<Json>{"inner":{"x":1,"y":2,"z":3}}</Json>'],
  ['{"inner":{"x":"1","y":2}}', '<Json>{"inner":{"x":"1","y":2}}</Json>'],
] as const;
const strictRequests = [
  ['<Json>"ab"</Json>', '"ab"'],
  ['<Json>"abc"</Json>', 'OutOfRange Body.m.Json: expected at most 2 characters, got 3'],
  ['<Json>7</Json>', 'OutOfRange Body.m.Json: expected at most 5, got 7'],
  ['<Json>{"x":1,"y":2}</Json>', '{"x":1,"y":2}'],
  ['<Json>true</Json>', 'true'],
  ['<Json i:nil="true"/><Integer>1</Integer>', '1'],
  [
    '<Json>[</Json>',
    'InvalidType Body.m.Json: expected JSON text, got invalid JSON (position 1: expected a value, got the end)',
  ],
  ['<Integer>9</Integer>', 'OutOfRange Body.m.Integer: expected at most 5, got 9'],
  ['<String>abc</String>', 'OutOfRange Body.m.String: expected at most 2 characters, got 3'],
] as const;

const decimals = compiledFor({ oneOf: [{ type: 'number' }, { type: 'string' }] });
const decimalReplies = [
  ['7', '<Decimal>7</Decimal>'],
  ['-7.50', '<Decimal>-7.50</Decimal>'],
  ['true', '<Json>true</Json>'],
] as const;
/** Objects with the same members but different required ones. */
const shapes = compiledFor({
  oneOf: [
    { ...object(['a'], { a: string, b: string }), title: 'One' },
    { ...object(['a', 'b'], { a: string, b: string }), title: 'Both' },
    { ...object(['b'], { a: string, b: string, c: string }), title: 'Other' },
  ],
});
const shapeReplies = [
  ['{"a":"1","b":"2"}', '<Both><a>1</a><b>2</b></Both>'],
  ['{"a":"1"}', '<One><a>1</a></One>'],
  ['{"b":"2"}', '<Other><b>2</b></Other>'],
  ['{"a":"1","c":"3"}', '<Other><a>1</a><c>3</c></Other>'],
] as const;

for (const [what, compiled, rows, becomes] of [
  ['a reply of which an inner part would be lost is JSON text', wrapped, wrappedReplies, written],
  ['a whole number is a decimal where there is no integer', decimals, decimalReplies, written],
  ['of objects the one whose requirements fit best is taken', shapes, shapeReplies, written],
  ['a reply of a union is written as the variant that its JSON is of', ofAnyKind, replies, written],
  ['a request of a union is read as its element says', ofAnyKind, requests, read],
  ['a reply with a tag is written as the variant that the tag names', tagged, taggedReplies, written],
  ['a request of a union with a tag has the tag from its element', tagged, taggedRequests, read],
  [
    'a tag that is no member of its variant is said by the element of a reply',
    tagless,
    taglessReplies,
    written,
  ],
  ['and by that of a request', tagless, taglessRequests, read],
  [
    'validate: strict holds the variants of a union in XML, and what comes as JSON text',
    strict,
    strictRequests,
    read,
  ],
] as const)
  test(what, (t) => {
    for (const [given, expected] of rows) t.is(becomes(compiled, given), expected, given);
  });

test('W13: a nil union is null', (t) => {
  const { input, problems } = readXml(wrapped, 'put', '<Body><m i:nil="true"/></Body>');
  t.deepEqual(problems, []);
  t.is(operationOf(wrapped, 'put').jsonOf(input), '{"Body":{"m":null}}');
});

test('validate: strict checks the variants of a union in JSON', (t) => {
  const problemsOf = (json: string): readonly string[] =>
    readJson(strict, 'put', `{"Body":{"m":${json}}}`).problems;
  t.deepEqual(problemsOf('"ab"'), []);
  t.deepEqual(problemsOf('"abc"'), ['OutOfRange Body.m: expected at most 2 characters, got 3']);
  t.deepEqual(problemsOf('7'), ['OutOfRange Body.m: expected at most 5, got 7']);
});

/** Returns the value of a union parameter with this text. */
function parameter(variants: readonly object[], text: string): string {
  const get = {
    operationId: 'get',
    parameters: [{ name: 'p', in: 'query', schema: { oneOf: variants } }],
    responses: { 200: { description: '' } },
  };
  const info = { title: 'Kinds', version: '1' };
  const compiled = compile(load({ openapi: '3.1.0', info, paths: { '/': { get } } }).contract);
  const reading = startReading(5);
  const given = { field: 'p', shownName: 'p', text };
  operationOf(compiled, 'get').readParameters([given], reading);
  const [problem] = reading.problems;
  return problem === undefined ? reading.slots.join('') : `${problem.code} ${problemText(problem)}`;
}

const integer = { type: 'integer' };
const boolean = { type: 'boolean' };
const items = { type: 'array', items: integer };
for (const [variants, text, expected] of [
  [[string, integer, boolean], '12', '12'],
  [[string, integer, boolean], 'true', 'true'],
  [[string, integer, boolean], '1.5', '"1.5"'],
  [[string, integer, boolean], '', '""'],
  [[string, integer, { type: 'number' }], '1.5', '1.5'],
  [[items, integer, boolean], '12', '12'],
  [
    [items, integer, boolean],
    'x',
    'InvalidType p: expected one of <Integer>, <Boolean>, <Items>, <Json>, got other text',
  ],
  [
    [integer, boolean, schemas.Point],
    '[1]',
    'InvalidType p: expected one of <Integer>, <Boolean>, <WithXY>, <Json>, got other text',
  ],
] as const)
  test(`a parameter of ${JSON.stringify(variants)} with the text ${JSON.stringify(text)}`, (t) =>
    t.is(parameter(variants, text), expected));

test('each union value of a long reply is written as its variant', (t) => {
  const compiled = compiledFor({
    type: 'array',
    items: { oneOf: [string, ref('Point'), { type: 'boolean' }] },
  });
  const values = '"a",{"x":1,"y":2},true,'.repeat(2_000);
  const { xml } = writeReply(compiled, 'put', `{"m":[${values}null]}`);
  const variants = [...xml.matchAll(/<(String>a|Point><x>1|Boolean>true)</g)].map(([, text = '']) => text);
  t.deepEqual(
    variants,
    Array.from({ length: 2_000 }, () => ['String>a', 'Point><x>1', 'Boolean>true']).flat(),
  );
});

test('validate: strict reads tagged variants without rules', (t) => {
  const variants = { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind', mapping } };
  const compiled = compiledFor(variants, { validate: 'strict' });
  t.is(read(compiled, '<cat><lives>9</lives></cat>'), '{"kind":"cat","lives":9}');
});

test('variants of objects are distinguished by numbers, and by the names they accept', (t) => {
  const numbered = compiledFor({
    oneOf: [
      { ...object(['v'], { v: { const: 1 }, a: string }), title: 'One' },
      { ...object(['v'], { v: { const: 2 }, a: string }), title: 'Two' },
    ],
  });
  t.is(written(numbered, '{"v":2,"a":"b"}'), '<_x0032_><v>2</v><a>b</a></_x0032_>');
  t.is(written(numbered, '{"v":1}'), '<_x0031_><v>1</v></_x0031_>');
  t.is(written(numbered, '{"v":3}'), '<Json>{"v":3}</Json>');
  const open = {
    type: 'object',
    title: 'Open',
    properties: { a: string },
    additionalProperties: { type: 'integer' },
  };
  const either = compiledFor({ oneOf: [open, ref('Point')] });
  t.is(
    written(either, '{"a":"b","c":2}'),
    '<Open><a>b</a><AdditionalProperties><Entry><Key>c</Key><Value>2</Value></Entry></AdditionalProperties></Open>',
  );
  t.is(written(either, '{"x":1,"y":2}'), '<Point><x>1</x><y>2</y></Point>');
  const map = compiledFor({ oneOf: [{ type: 'object', additionalProperties: boolean }, ref('Point')] });
  t.is(
    written(map, '{"c":true}'),
    '<MapOfboolean><Entry><Key>c</Key><Value>true</Value></Entry></MapOfboolean>',
  );
  t.is(written(map, '{"x":1,"y":2}'), '<Point><x>1</x><y>2</y></Point>');
});

test('of variants with one tag the first is written', (t) => {
  const of = (values: readonly string[], title: string) => ({
    ...object(['kind'], { kind: { enum: values }, a: string }),
    title,
  });
  const compiled = compiledFor({
    oneOf: [of(['a', 'b'], 'First'), of(['b', 'c'], 'Second')],
    discriminator: { propertyName: 'kind' },
  });
  t.is(written(compiled, '{"kind":"b"}'), '<a><kind>b</kind></a>');
  t.is(written(compiled, '{"kind":"c"}'), '<b><kind>c</kind></b>');
});

test('validate: strict tries no other variant if the element names one', (t) => {
  const compiled = compile(strict.contract, {}, { patternSteps: 0 });
  t.is(read(compiled, '<String>ab</String>'), '"ab"');
  t.is(
    read(compiled, '<Json>"ab"</Json>'),
    'OutOfRange Body.m.Json: expected fewer values within others in one request',
  );
});

test('a value after a union value reads as it would without', (t) => {
  const compiled = compiledFor({
    type: 'object',
    properties: { union: { oneOf: [ref('Point'), { type: 'boolean' }] }, text: string },
  });
  t.is(
    written(compiled, '{"union":{"x":1,"y":2},"text":7}'),
    '<union><Point><x>1</x><y>2</y></Point></union><text>7</text>',
  );
  t.is(written(compiled, '{"union":"none","text":7}'), '<union><Json>"none"</Json></union><text>7</text>');
});

test('an invalid JSON reply of objects is reported with its position', (t) => {
  t.throws(() => written(shapes, '{1:2}'), { message: 'position 6: expected a member name, got byte 31' });
  t.throws(() => written(shapes, '{"a":"\\x"}'), {
    message: 'position 12: expected an escape of JSON, got byte 78',
  });
  t.throws(() => written(tagged, '{"kind":"cat","lives":01}'), {
    message: 'position 28: expected "," or "}", got byte 31',
  });
});

test('JSON callers send any value instead of a union', (t) => {
  t.deepEqual(readJson(ofAnyKind, 'put', '{"Body":{"m":{"a":[1,"1",null]}}}').problems, []);
});

test('next to tagged variants, the other variants are selected by all their members', (t) => {
  const members = { kind: string, w: { type: 'integer' } };
  const compiled = compiledFor({
    oneOf: [
      { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind', mapping } },
      { ...object([], members), title: 'Loose' },
      { ...object(['kind', 'w'], { ...members, z: string }), title: 'Firm' },
    ],
  });
  t.is(written(compiled, '{"kind":"dog"}'), '<dog><kind>dog</kind></dog>');
  t.is(written(compiled, '{"kind":"k","w":1}'), '<Firm><kind>k</kind><w>1</w></Firm>');
  t.is(written(compiled, '{"w":1}'), '<Loose><w>1</w></Loose>');
});

test('a value that matches none of eight fully tried variants is JSON text', (t) => {
  const variant = (index: number) => ({
    ...object([], { text: string, end: object([], { [`k${index}`]: { type: 'integer' } }) }),
    title: `V${index}`,
  });
  const compiled = compiledFor({ oneOf: Array.from({ length: 12 }, (_, index) => variant(index)) });
  const json = (index: number) => `{"text":"${'t'.repeat(1_000)}","end":{"k${index}":1}}`;
  t.regex(written(compiled, json(7)), /^<V7><text>t+<\/text><end><k7>1<\/k7><\/end><\/V7>$/);
  t.regex(written(compiled, json(11)), /^<Json>\{"text":"t+","end":\{"k11":1\}\}<\/Json>$/);
});
