import test from 'ava';
import { load } from '../../../plain/documents.ts';
import { compile, operationOf, readJson, readXml, writeReply } from '../codec-calls.ts';

type Unknown = 'refuse' | 'ignore';

/** Compiles an operation that takes and returns an object whose member `m` has a schema. */
function compiledFor(schema: object, unknownElements: Unknown) {
  const content = { 'application/json': { schema: { type: 'object', properties: { m: schema } } } };
  const put = {
    operationId: 'put',
    requestBody: { content },
    responses: { 200: { description: '', content } },
  };
  const info = { title: 'Tuples', version: '1' };
  return compile(load({ openapi: '3.1.0', info, paths: { '/': { put } } }).contract, { unknownElements });
}

const prefixItems = [{ type: 'integer' }, { type: ['string', 'null'] }];
const schemas = {
  'of two': { type: 'array', prefixItems, items: false },
  'of two and more': { type: 'array', prefixItems, items: { type: 'boolean' } },
} as const;
type Kind = keyof typeof schemas;

/** Returns the JSON of the member of a request, its problem, or the ignored elements. */
function read(kind: Kind, content: string, unknown: Unknown): string {
  const compiled = compiledFor(schemas[kind], unknown);
  const { input, problems, ignored } = readXml(compiled, 'put', `<Body><m>${content}</m></Body>`);
  if (problems.length > 0) return problems.join('; ');
  const json = operationOf(compiled, 'put').jsonOf(input);
  const value = /^\{"Body":\{"m":(.*)\}\}$/.exec(json)?.[1] ?? json;
  return ignored.length === 0 ? value : `${value} without ${ignored}`;
}

/** Returns the problems and ignored members of a JSON request. */
function passed(kind: Kind, json: string, unknown: Unknown): string {
  const compiled = compiledFor(schemas[kind], unknown);
  const { problems, ignored } = readJson(compiled, 'put', `{"Body":{"m":${json}}}`);
  return [...problems, ...ignored.map((name) => `without ${name}`)].join('; ');
}

/** Returns the XML of the member of a reply, or its mismatch. */
function written(kind: Kind, json: string): string {
  try {
    const { xml, dropped } = writeReply(compiledFor(schemas[kind], 'refuse'), 'put', `{"m":${json}}`);
    const content = /<m>(.*)<\/m>|<m\/>/.exec(xml)?.[1] ?? '';
    return dropped === 0 ? content : `${content} ${dropped} dropped`;
  } catch (error) {
    return String(error);
  }
}

const more = '<Items><boolean>true</boolean><boolean>0</boolean></Items>';

for (const [kind, content, expected, whenIgnored] of [
  ['of two', '', '[]'],
  ['of two', '<Item1>1</Item1>', '[1]'],
  ['of two', '<Item1 xmlns="">1</Item1>', '[1]'],
  ['of two', '<Item1>1</Item1><Item2>a</Item2>', '[1,"a"]'],
  ['of two', '<Item2>a</Item2><Item1>1</Item1>', '[1,"a"]'],
  ['of two', '<Item1>1</Item1><Item2/>', '[1,""]'],
  ['of two', '<Item1>1</Item1><Item2 i:nil="true"/>', '[1,null]'],
  ['of two', '<Item1 i:nil="true"/><Item2>a</Item2>', '[null,"a"]'],
  [
    'of two',
    '<Item2>a</Item2>',
    'NotEmpty Body.m.Item1: expected a value or xsi:nil before <Item2>, got none',
  ],
  [
    'of two',
    '<Item1>1</Item1><Item1>2</Item1>',
    'DuplicateElement Body.m.Item1: expected the element once, got it again',
  ],
  ['of two', '<Item1>x</Item1><Item2>a</Item2>', 'InvalidType Body.m.Item1: expected xs:long, got "x"'],
  [
    'of two',
    '<Item1>x</Item1><Item1>1</Item1>',
    'InvalidType Body.m.Item1: expected xs:long, got "x"; DuplicateElement Body.m.Item1: expected the element once, got it again',
  ],
  ['of two', 'text', 'InvalidType Body.m: expected elements, got text'],
  [
    'of two',
    '<Item1>1</Item1><Other/>',
    'UnknownElement Body.m.Other: unknown element, expected <Item1>, <Item2>',
    '[1] without Other',
  ],
  [
    'of two',
    '<x:Item1 xmlns:x="urn:x">1</x:Item1>',
    'UnknownElement Body.m.Item1: unknown element, expected <Item1>, <Item2>',
    '[] without Item1',
  ],
  [
    'of two',
    `<${'k'.repeat(65)}/>`,
    `UnknownElement Body.m.${'k'.repeat(64)}: unknown element, expected <Item1>, <Item2>`,
    `[] without ${'k'.repeat(65)}`,
  ],
  ['of two and more', `<Item1>1</Item1><Item2/>${more}`, '[1,"",true,false]'],
  ['of two and more', `${more}<Item2>a</Item2><Item1>1</Item1>`, '[1,"a",true,false]'],
  ['of two and more', '<Item1>1</Item1><Items/>', '[1]'],
  ['of two and more', '<Items/>', '[]'],
  ['of two and more', '<Item1>1</Item1><Items i:nil="true"/>', '[1]'],
  ['of two and more', `<Item1>1</Item1><Item2/><Items i:nil="true"/>${more}`, '[1,"",true,false]'],
  [
    'of two and more',
    more,
    'NotEmpty Body.m.Item1: expected a value or xsi:nil before <Items>, got none; NotEmpty Body.m.Item2: expected a value or xsi:nil before <Items>, got none',
  ],
  [
    'of two and more',
    `<Item1>1</Item1>${more}`,
    'NotEmpty Body.m.Item2: expected a value or xsi:nil before <Items>, got none',
  ],
  [
    'of two and more',
    '<Items><boolean>x</boolean></Items>',
    'InvalidType Body.m.Items[0]: expected xs:boolean, got "x"',
  ],
  [
    'of two and more',
    '<Other/>',
    'UnknownElement Body.m.Other: unknown element, expected <Item1>, <Item2>, <Items>',
    '[] without Other',
  ],
] as const satisfies readonly (readonly [Kind, string, string, string?])[])
  test(`W11: a tuple ${kind} from ${content || 'no element'}`, (t) => {
    t.is(read(kind, content, 'refuse'), expected);
    t.is(read(kind, content, 'ignore'), whenIgnored ?? expected);
  });

test('W13: a nil tuple is null', (t) => {
  const compiled = compiledFor({ ...schemas['of two'], type: ['array', 'null'] }, 'refuse');
  const { input, problems } = readXml(compiled, 'put', '<Body><m i:nil="true"/></Body>');
  t.deepEqual(problems, []);
  t.is(operationOf(compiled, 'put').jsonOf(input), '{"Body":{"m":null}}');
});

for (const [kind, json, expected, whenIgnored] of [
  ['of two', '[]', ''],
  ['of two', '[1,"a"]', ''],
  [
    'of two',
    '[1,"a",true,0]',
    'UnknownElement Body.m[2]: expected at most 2 items; UnknownElement Body.m[3]: expected at most 2 items',
    'without [2]; without [3]',
  ],
  ['of two', '["x"]', 'InvalidType Body.m[0]: expected xs:long, got "x"'],
  ['of two', '{}', 'InvalidType Body.m: expected an array, got an object'],
  ['of two and more', '[1,"a",true,false]', ''],
  ['of two and more', '[1,"a",true,0]', 'InvalidType Body.m[3]: expected a boolean, got a number'],
] as const satisfies readonly (readonly [Kind, string, string, string?])[])
  test(`a tuple ${kind} from the JSON ${json}`, (t) => {
    t.is(passed(kind, json, 'refuse'), expected);
    t.is(passed(kind, json, 'ignore'), whenIgnored ?? expected);
  });

test('W12: unknownElements: ignore drops items after the last position of a JSON tuple', (t) => {
  const compiled = compiledFor(schemas['of two'], 'ignore');
  const { input } = readJson(compiled, 'put', '{"Body":{"m":[ 1,"a" , true,[2] ]}}');
  t.is(operationOf(compiled, 'put').request(input, undefined)?.body?.toString(), '{"m":[ 1,"a" ]}');
});

for (const [kind, json, expected] of [
  ['of two', '[]', ''],
  ['of two', '[1]', '<Item1>1</Item1>'],
  ['of two', '[1,"a"]', '<Item1>1</Item1><Item2>a</Item2>'],
  ['of two', '[null,null]', '<Item1 i:nil="true"/><Item2 i:nil="true"/>'],
  ['of two', '[1,"a",true,[]]', '<Item1>1</Item1><Item2>a</Item2> 2 dropped'],
  ['of two', '["x"]', 'MismatchError: Result.m[0]: expected xs:long, got a string that is no number'],
  ['of two', '7', 'MismatchError: Result.m: expected an array, got a number'],
  ['of two', '[1,}', 'JsonError: position 8: expected a value, got byte 7D'],
  ['of two and more', '[1,"a"]', '<Item1>1</Item1><Item2>a</Item2>'],
  [
    'of two and more',
    '[1,"a",true,false]',
    '<Item1>1</Item1><Item2>a</Item2><Items><boolean>true</boolean><boolean>false</boolean></Items>',
  ],
  [
    'of two and more',
    '[1,"a",true,"b"]',
    'MismatchError: Result.m[3]: expected a boolean, got an invalid string',
  ],
] as const)
  test(`the JSON ${json} as a tuple ${kind}`, (t) => t.is(written(kind, json), expected));
