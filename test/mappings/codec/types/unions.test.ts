import test from 'ava';
import { load } from '../../../plain/documents.ts';
import { compile, operationOf, readXml, writeReply } from '../contracts.ts';

const object = (required: readonly string[], properties: object): object => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});

const schemas = {
  Cat: object(['kind', 'lives'], {
    kind: { const: 'cat' },
    lives: { type: 'integer' },
    name: { type: 'string' },
  }),
  Dog: object(['kind'], { kind: { const: 'dog' }, name: { type: 'string' }, good: { type: 'boolean' } }),
  Point: object(['x', 'y'], { x: { type: 'number' }, y: { type: 'number' } }),
  Line: object(['x'], { x: { type: 'number' }, to: { type: 'string' } }),
  Label: object([], { text: { type: 'string' }, to: { type: 'string' } }),
};
const ref = (name: keyof typeof schemas): { readonly $ref: string } => ({
  $ref: `#/components/schemas/${name}`,
});

/** An operation that takes and gives an object whose member `m` is of a schema. */
function compiledFor(schema: object) {
  const content = { 'application/json': { schema: { type: 'object', properties: { m: schema } } } };
  const put = {
    operationId: 'put',
    requestBody: { content },
    responses: { 200: { description: '', content } },
  };
  const info = { title: 'Kinds', version: '1' };
  return compile(load({ openapi: '3.1.0', info, paths: { '/': { put } }, components: { schemas } }).contract);
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

/** What the member of a reply is written as, with how many members of its JSON were dropped, where any were. */
function written(compiled: typeof tagged, json: string): string {
  const { xml, dropped } = writeReply(compiled, 'put', `{"m":${json}}`);
  const [, content = ''] = /<m>(.*)<\/m>/.exec(xml) ?? [];
  return dropped === 0 ? content : `${content} ${dropped} dropped`;
}

/** What the member of a request is read as, or what is wrong with it. */
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
    'DuplicateElement Body.m: expected one element, got <Integer> beside <String>',
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
  ['<Json>{"a":1}</Json>', '{"a":1}'],
  [
    '<Json>[1</Json>',
    'InvalidType Body.m.Json: expected JSON text, got text that is none (position 2: expected "," or "]", got the end)',
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
    '<dog><lives>1</lives></dog>',
    'UnknownElement Body.m.dog.lives: unknown element, expected kind, name, good',
  ],
  ['<Dog/>', 'UnknownElement Body.m: expected one of <cat>, <dog>, <Json>, got <Dog>'],
] as const;

for (const [what, compiled, rows, becomes] of [
  ['a reply of a union is written as the variant that its JSON is of', ofAnyKind, replies, written],
  ['a request of a union is read as its element says', ofAnyKind, requests, read],
  ['a reply with a tag is written as the variant that the tag names', tagged, taggedReplies, written],
  ['a request of a union with a tag has the tag from its element', tagged, taggedRequests, read],
] as const)
  test(what, (t) => {
    for (const [given, expected] of rows) t.is(becomes(compiled, given), expected, given);
  });
