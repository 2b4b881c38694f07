import test from 'ava';
import type { CompiledContract } from '../../../mappings/compile.ts';
import { load } from '../../plain/documents.ts';
import { compile, operationOf, readXml } from './codec-calls.ts';

const part = { type: 'object', properties: { sku: { type: 'string' } } };
const body = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    count: { type: 'integer' },
    part,
    parts: { type: 'array', items: part },
    byName: { type: 'object', additionalProperties: { type: 'string' } },
    either: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    state: { type: 'string', enum: ['open', 'done'] },
    anything: {},
  },
};

function contractOf(overlay: object): CompiledContract {
  const put = {
    operationId: 'put',
    parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }],
    requestBody: { content: { 'application/json': { schema: body } } },
    responses: { 204: { description: '' } },
  };
  const info = { title: 'Attributes', version: '1' };
  return compile(load({ openapi: '3.1.0', info, paths: { '/': { put } } }, undefined, overlay).contract);
}

const tolerant = contractOf({});
const strict = contractOf({ validate: 'strict' });
const types = 'urn:Attributes';

/** Requests with an unknown attribute, its path, and the JSON. */
const places = [
  ['<Body><part name="lost"><sku>s</sku></part></Body>', 'Body.part.name', '{"part":{"sku":"s"}}'],
  ['<Body name="lost"><id>1</id></Body>', 'Body.name', '{"id":"1"}'],
  ['<Body><id lost="">1</id></Body>', 'Body.id.lost', '{"id":"1"}'],
  ['<Body><count lost="">1</count></Body>', 'Body.count.lost', '{"count":1}'],
  ['<Body><state lost="">open</state></Body>', 'Body.state.lost', '{"state":"open"}'],
  ['<Body><anything lost="">7</anything></Body>', 'Body.anything.lost', '{"anything":7}'],
  ['<Body><parts lost=""><Part/></parts></Body>', 'Body.parts.lost', undefined],
  ['<Body><byName lost=""/></Body>', 'Body.byName.lost', '{"byName":{}}'],
  [
    '<Body><byName><Entry lost=""><Key>a</Key><Value>b</Value></Entry></byName></Body>',
    'Body.byName[0].lost',
    '{"byName":{"a":"b"}}',
  ],
  [
    '<Body><byName><Entry><Key>a</Key><Value lost="">b</Value></Entry></byName></Body>',
    'Body.byName[0].Value.lost',
    '{"byName":{"a":"b"}}',
  ],
  ['<Body><either><Integer lost="">7</Integer></either></Body>', 'Body.either.Integer.lost', '{"either":7}'],
  ['<q lost="">x</q><Body/>', 'q.lost', '{}'],
  [`<Body><p:id xmlns:p="${types}" p:qualified="">1</p:id></Body>`, 'Body.id.qualified', '{"id":"1"}'],
] as const;

for (const [content, place, json] of places)
  test(`W11: the unknown attribute ${place} is recorded, and refused under validate: strict`, (t) => {
    const { input, problems } = readXml(tolerant, 'put', content);
    if (json !== undefined) {
      t.deepEqual(problems, []);
      t.is(operationOf(tolerant, 'put').request(input, undefined)?.body, json);
    }
    t.deepEqual([...(input.reading.deviations ?? [])], ['unknownAttribute']);
    const refused = readXml(strict, 'put', content);
    t.is(
      refused.problems[0],
      `UnknownAttribute ${place}: expected no attributes, got "${place.split('.').at(-1)}"`,
    );
    t.is(refused.input.reading.deviations, undefined);
  });

test('W11: an unknown attribute of the operation’s element counts too', (t) => {
  const { input } = readXml(tolerant, 'put', '', ' lost=""');
  t.deepEqual([...(input.reading.deviations ?? [])], ['unknownAttribute']);
  t.deepEqual(readXml(strict, 'put', '', ' lost=""').problems, [
    'UnknownAttribute lost: expected no attributes, got "lost"',
  ]);
});

test('W11: attributes of xsi, SOAP and other namespaces are no deviations', (t) => {
  for (const compiled of [tolerant, strict]) {
    const { input, problems } = readXml(
      compiled,
      'put',
      '<Body><id i:type="x" s:encodingStyle="" xml:lang="en" xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" u:Id="1" xmlns:u="urn:u">1</id><part i:nil="true"/></Body>',
    );
    t.deepEqual(problems, []);
    t.is(input.reading.deviations, undefined);
  }
});

test('W12: with unknownElements: ignore an unknown attribute is recorded under validate: strict', (t) => {
  const lenient = contractOf({ validate: 'strict', unknownElements: 'ignore' });
  const { input, problems } = readXml(lenient, 'put', '<Body><id lost="">1</id></Body>');
  t.deepEqual(problems, []);
  t.deepEqual([...(input.reading.deviations ?? [])], ['unknownAttribute']);
});
