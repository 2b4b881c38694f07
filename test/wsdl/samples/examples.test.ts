import test, { type ExecutionContext } from 'ava';
import { compileContract } from '../../../mappings/compile.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { createSampler, type OperationSamples } from '../../../wsdl/samples/samples.ts';
import { folderOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { checkSamples } from './check-samples.ts';

interface Stated {
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses?: object;
  readonly path?: string;
}

const done = { 204: { description: 'done' } };

const pet = {
  type: 'object',
  required: ['name'],
  properties: {
    id: { type: 'string', readOnly: true },
    name: { type: 'string' },
    age: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
  },
};

/** Returns a document with one operation, `run`. */
function documentOf({ path = '/run', ...stated }: Stated): object {
  const operation = { operationId: 'run', responses: done, ...stated };
  const components = {
    schemas: { Pet: pet },
    examples: { Rex: { value: { name: 'Rex', age: 3 } }, Circle: { $ref: '#/components/examples/Circle' } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Examples', version: '1' },
    paths: { [path]: { post: operation } },
    components,
  };
}

/** Returns the samples of the operation after a gateway has accepted all of them. */
async function samplesOf(t: ExecutionContext, document: object): Promise<OperationSamples> {
  const folder = folderOf(t, { 'openapi.json': JSON.stringify(document) });
  await checkSamples(t, folder);
  const samples = createSampler(compileContract(readContract(folder).contract)).samplesOf('run');
  if (samples === undefined) throw new Error('expected samples of run, got none');
  return samples;
}

async function requestOf(t: ExecutionContext, stated: Stated): Promise<Record<string, unknown>> {
  const { requests } = await samplesOf(t, documentOf(stated));
  return JSON.parse(requests.find(({ format }) => format === 'json')?.text ?? '');
}

async function replyOf(t: ExecutionContext, responses: object): Promise<string> {
  const { replies } = await samplesOf(t, documentOf({ responses }));
  return replies.find(({ format }) => format === 'json')?.text ?? '';
}

const reference = { $ref: '#/components/schemas/Pet' };
const bodyOf = (type: string, media: object): Stated => ({
  requestBody: { required: true, content: { [type]: media } },
});

/** Locations of an example of a JSON body in a document, with the expected body of the sample. */
const bodies = [
  ['example', { schema: reference, example: { name: 'Tom' } }, { name: 'Tom' }],
  [
    'an example without its number of 19 digits',
    { schema: reference, example: { name: 'Tom', age: 2 ** 60, tags: ['a'] } },
    { name: 'Tom', tags: ['a'] },
  ],
  [
    'the first of examples',
    { schema: reference, examples: { a: { value: { name: 'Ann' } }, b: { value: { name: 'Bo' } } } },
    { name: 'Ann' },
  ],
  [
    'a reference to an example',
    { schema: reference, examples: { rex: { $ref: '#/components/examples/Rex' } } },
    { name: 'Rex', age: 3 },
  ],
  [
    'an example before one of the schema',
    { schema: { ...pet, example: { name: 'Sue' } }, example: { name: 'Tom' } },
    { name: 'Tom' },
  ],
  ['the example of the schema', { schema: { ...pet, example: { name: 'Sue' } } }, { name: 'Sue' }],
  ['examples of the schema', { schema: { ...pet, examples: [{ name: 'Lou' }] } }, { name: 'Lou' }],
  [
    'an external example, then one of the document',
    { schema: reference, examples: { a: { externalValue: 'a.json' }, b: { value: { name: 'Bo' } } } },
    { name: 'Bo' },
  ],
  [
    'a circle of references, then one of the document',
    {
      schema: reference,
      examples: { a: { $ref: '#/components/examples/Circle' }, b: { value: { name: 'Bo' } } },
    },
    { name: 'Bo' },
  ],
  [
    'a member that the schema lacks',
    { schema: { ...pet, additionalProperties: false }, example: { name: 'Tom', owner: 'me' } },
    { name: 'Tom' },
  ],
  [
    'a member of another type',
    { schema: reference, example: { name: 'Tom', age: 'old', tags: ['a', 1, 'b'] } },
    { name: 'Tom', tags: ['a', 'b'] },
  ],
  [
    'a member that only the service writes',
    { schema: reference, example: { id: '7', name: 'Tom' } },
    { name: 'Tom' },
  ],
  [
    'without a member that is required',
    { schema: reference, example: { age: 4 } },
    { name: 'string', age: 4 },
  ],
] as const;

for (const [what, media, body] of bodies)
  test(`a request sample has the body of a media type with ${what}`, async (t) => {
    const { Body } = await requestOf(t, bodyOf('application/json', media));
    t.deepEqual(Body, body);
  });

for (const type of [
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/merge-patch+json',
])
  test(`a request sample has the example of ${type}`, async (t) => {
    const { Body } = await requestOf(
      t,
      bodyOf(type, { schema: reference, example: { name: 'Tom', age: 2 } }),
    );
    t.deepEqual(Body, { name: 'Tom', age: 2 });
  });

test('a request sample has the example of a text, and of lines', async (t) => {
  const text = await requestOf(
    t,
    bodyOf('text/plain', { schema: { type: 'string' }, example: 'two\nlines' }),
  );
  t.is(text.Body, 'two\nlines');
  const lines = await requestOf(
    t,
    bodyOf('application/jsonl', { schema: { type: 'array', items: reference }, example: [{ name: 'Tom' }] }),
  );
  t.deepEqual(lines.Body, [{ name: 'Tom' }]);
});

test('a file in a multipart sample has a media type, the declared one if any', async (t) => {
  const file = { type: 'string', format: 'binary' };
  const { Body } = await requestOf(t, {
    requestBody: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['a', 'b'],
            properties: { a: file, b: file, c: { type: 'array', items: file } },
          },
          encoding: { b: { contentType: 'image/png' } },
        },
      },
    },
  });
  const bin = { Content: 'AAEC', FileName: 'sample.bin', ContentType: 'application/octet-stream' };
  t.deepEqual(Body, {
    a: bin,
    b: { Content: 'AAEC', FileName: 'sample.png', ContentType: 'image/png' },
    c: [bin],
  });
});

test('a request sample has the examples of parameters, in all places of the document', async (t) => {
  const string = { type: 'string' };
  const request = await requestOf(t, {
    path: '/run/{a}',
    parameters: [
      { name: 'a', in: 'path', required: true, schema: string, example: 'A-1' },
      { name: 'b', in: 'query', schema: string, examples: { one: { value: 'B-1' } } },
      { name: 'c', in: 'query', schema: { ...string, example: 'C-1' } },
      { name: 'd', in: 'header', schema: { ...string, default: 'D-1' } },
      {
        name: 'e',
        in: 'query',
        content: { 'application/json': { schema: reference, example: { name: 'E-1' } } },
      },
      { name: 'f', in: 'query', schema: { type: 'array', items: string }, example: ['F-1', 'F-2'] },
    ],
  });
  t.deepEqual(request, { a: 'A-1', b: 'B-1', c: 'C-1', d: 'D-1', e: { name: 'E-1' }, f: ['F-1', 'F-2'] });
});

test('an example that its upstream place cannot represent is not used', async (t) => {
  const request = await requestOf(t, {
    path: '/run/{a}',
    parameters: [{ name: 'a', in: 'path', required: true, schema: { type: 'string' }, example: '..' }],
  });
  t.deepEqual(request, { a: 'string' });
});

const ruled = [
  [{ pattern: '^[A-Z]{3}-\\d+$' }, /^[A-Z]{3}-\d+$/],
  [{ pattern: '^[a-z]+$', minLength: 12 }, /^[a-z]{12,}$/],
  [{ minLength: 20 }, /^.{20,}$/],
  [{ maxLength: 3 }, /^.{1,3}$/],
  [{ format: 'uuid' }, /^[\da-f]{8}-/],
] as const;
for (const [schema, expected] of ruled)
  test(`a sample matches ${JSON.stringify(schema)} also without strict validation`, async (t) => {
    const string = { type: 'string', ...schema };
    const { Body } = await requestOf(
      t,
      bodyOf('application/json', {
        schema: { type: 'object', properties: { a: string, b: { type: 'array', items: string } } },
      }),
    );
    const { a, b } = Body as { a: string; b: readonly string[] };
    t.regex(a, expected);
    t.regex(b[0] ?? '', expected);
  });

test('a sample matches bounds and factors also without strict validation', async (t) => {
  const properties = {
    a: { type: 'integer', minimum: 10, maximum: 20 },
    b: { type: 'number', exclusiveMinimum: 0.2, exclusiveMaximum: 0.4 },
    c: { type: 'integer', minimum: 11, multipleOf: 5 },
    d: { type: 'array', items: { type: 'string' }, minItems: 2, uniqueItems: true },
  };
  const { Body } = await requestOf(t, bodyOf('application/json', { schema: { type: 'object', properties } }));
  const { a, b, c, d } = Body as { a: number; b: number; c: number; d: readonly string[] };
  t.true(a >= 10 && a <= 20);
  t.true(b > 0.2 && b < 0.4);
  t.true(c >= 11 && c % 5 === 0);
  t.is(new Set(d).size, 2);
});

test('a reply sample has the example of its media type', async (t) => {
  const content = { 'application/json': { schema: reference, example: { id: '7', name: 'Tom' } } };
  t.deepEqual(JSON.parse(await replyOf(t, { 200: { description: 'ok', content } })), {
    id: '7',
    name: 'Tom',
  });
});

test('a reply sample has the status, the headers and the body of one response', async (t) => {
  const json = (name: string) => ({ 'application/json': { schema: reference, example: { name } } });
  const header = { 'X-Total': { schema: { type: 'integer' }, example: 12 } };
  const created = await replyOf(t, {
    201: { description: 'created', headers: header, content: json('new') },
  });
  t.deepEqual(JSON.parse(created), { StatusCode: 201, 'X-Total': 12, Body: { name: 'new' } });
  const text = { 'text/plain': { schema: { type: 'string' }, example: 'later' } };
  const two = await replyOf(t, {
    200: { description: 'ok', content: json('old') },
    202: { description: 'later', content: text },
  });
  t.deepEqual(JSON.parse(two), { StatusCode: 200, Body200: { name: 'old' } });
  const none = await replyOf(t, {
    204: { description: 'none' },
    200: { description: 'ok', content: json('old') },
  });
  t.like(JSON.parse(none), { StatusCode: 200 });
  const range = await replyOf(t, { '2XX': { description: 'ok', headers: header } });
  t.like(JSON.parse(range), { StatusCode: 200, 'X-Total': 12 });
});

test('a reply sample has the example of a document of Swagger 2.0', async (t) => {
  const { replies } = await samplesOf(t, {
    swagger: '2.0',
    info: { title: 'Examples', version: '1' },
    produces: ['application/json'],
    definitions: { Pet: pet },
    paths: {
      '/run': {
        get: {
          operationId: 'run',
          responses: {
            200: {
              description: 'ok',
              schema: { $ref: '#/definitions/Pet' },
              examples: { 'application/json': { name: 'Swagger' } },
            },
          },
        },
      },
    },
  });
  t.true(replies[0]?.text.includes('<name>Swagger</name>'));
});

test('examples of the body apply to inputs if its members are the inputs', async (t) => {
  const folder = folderOf(t, {
    'openapi.json': JSON.stringify(
      documentOf({
        ...bodyOf('application/json', { schema: reference, example: { name: 'Tom', age: 9 } }),
        responses: { 200: { description: 'ok', content: { 'application/json': { schema: reference } } } },
      }),
    ),
    'soap.yaml': 'dialect: servicestack\nsoapErrors: fault\n',
  });
  const samples = createSampler(compileContract(readContract(folder).contract)).samplesOf('run');
  t.like(JSON.parse(samples?.requests.at(-1)?.text ?? ''), { name: 'Tom', age: 9 });
});
