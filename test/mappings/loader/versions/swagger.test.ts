import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { LoadedContract } from '../../../../mappings/loader/build-contract.ts';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import { readContract } from '../../../../mappings/loader/load.ts';
import { load } from '../../../plain/documents.ts';

const info = { title: 'Pets', version: '1' };
const done = { 200: { description: 'Done.' } };
const json = (schema: object): object => ({ content: { 'application/json': { schema } } });
const text = { type: 'string' };

/** Returns the problems of a document. */
function problemsOf(document: object): readonly string[] {
  try {
    load(document);
    return [];
  } catch (error) {
    if (error instanceof ContractError) return error.message.split('\n');
    throw error;
  }
}

function plainOf({ contract }: LoadedContract): unknown {
  return contract;
}

/** The same operation in a document of each version. */
interface Pair {
  readonly swagger: object;
  readonly openapi: object;
  /** Additional members of the document's root. */
  readonly swaggerRoot?: object;
  readonly openapiRoot?: object;
}

const pairs: Readonly<Record<string, Pair>> = {
  'a body': {
    swagger: {
      parameters: [
        { name: 'b', in: 'body', required: true, schema: { type: 'object', properties: { a: text } } },
      ],
      responses: done,
    },
    openapi: {
      requestBody: { required: true, ...json({ type: 'object', properties: { a: text } }) },
      responses: done,
    },
  },
  'media types of the operation before those of the document': {
    swaggerRoot: { consumes: ['text/plain'], produces: ['text/plain'] },
    swagger: {
      consumes: ['application/json'],
      produces: ['application/json'],
      parameters: [{ name: 'b', in: 'body', schema: text }],
      responses: { 200: { description: '', schema: text } },
    },
    openapi: { requestBody: json(text), responses: { 200: { description: '', ...json(text) } } },
  },
  'a shared response in an operation with media types of its own': {
    swaggerRoot: { produces: ['application/json'], responses: { R: { description: '', schema: text } } },
    swagger: { produces: ['text/plain'], responses: { 200: { $ref: '#/responses/R' } } },
    openapi: { responses: { 200: { description: '', content: { 'text/plain': { schema: text } } } } },
  },
  'a schema behind a reference to a part of a path': {
    swagger: {
      parameters: [
        {
          name: 'b',
          in: 'body',
          schema: { type: 'object', properties: { a: { type: 'object', properties: { c: text } } } },
        },
      ],
      responses: {
        200: { description: '', schema: { $ref: '#/paths/~1pets/post/parameters/0/schema/properties/a' } },
      },
    },
    openapi: {
      requestBody: json({ type: 'object', properties: { a: { type: 'object', properties: { c: text } } } }),
      responses: {
        200: {
          description: '',
          ...json({ $ref: '#/paths/~1pets/post/requestBody/content/application~1json/schema/properties/a' }),
        },
      },
    },
  },
  'a nullable member, a name that needs escapes, a schema that holds itself': {
    swaggerRoot: {
      definitions: {
        'a/b %c': {
          type: 'object',
          properties: { n: { ...text, 'x-nullable': true }, of: { $ref: '#/definitions/a~1b%20%25c' } },
        },
      },
    },
    swagger: { responses: { 200: { description: '', schema: { $ref: '#/definitions/a~1b%20%25c' } } } },
    openapiRoot: {
      components: {
        schemas: {
          'a/b %c': {
            type: 'object',
            properties: {
              n: { ...text, nullable: true, 'x-nullable': true },
              of: { $ref: '#/components/schemas/a~1b%20%25c' },
            },
          },
        },
      },
    },
    openapi: {
      responses: { 200: { description: '', ...json({ $ref: '#/components/schemas/a~1b%20%25c' }) } },
    },
  },
  'a member that is called $ref, or type with the value file': {
    swagger: {
      parameters: [
        {
          name: 'b',
          in: 'body',
          schema: { type: 'object', properties: { $ref: text, type: { type: 'string', enum: ['file'] } } },
        },
      ],
      responses: done,
    },
    openapi: {
      requestBody: json({
        type: 'object',
        properties: { $ref: text, type: { type: 'string', enum: ['file'] } },
      }),
      responses: done,
    },
  },
  credentials: {
    swaggerRoot: {
      security: [{ basic: [] }, { key: [] }],
      securityDefinitions: { basic: { type: 'basic' }, key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    },
    swagger: { responses: done },
    openapiRoot: {
      security: [{ basic: [] }, { key: [] }],
      components: {
        securitySchemes: {
          basic: { type: 'http', scheme: 'basic' },
          key: { type: 'apiKey', in: 'header', name: 'X-Key' },
        },
      },
    },
    openapi: { responses: done },
  },
  'a host without schemes': {
    swaggerRoot: { host: 'api.example', basePath: 'v1' },
    swagger: { responses: done },
    openapiRoot: { servers: [{ url: 'https://api.example/v1' }] },
    openapi: { responses: done },
  },
  'a base path alone': {
    swaggerRoot: { basePath: '/v1' },
    swagger: { responses: done },
    openapiRoot: { servers: [{ url: '/v1' }] },
    openapi: { responses: done },
  },
};

for (const [what, { swagger, openapi, swaggerRoot, openapiRoot }] of Object.entries(pairs)) {
  test(`Swagger 2.0 is served like the equivalent OpenAPI 3.0: ${what}`, (t) => {
    const operation = { operationId: 'pets' };
    const two = {
      swagger: '2.0',
      info,
      ...swaggerRoot,
      paths: { '/pets': { post: { ...operation, ...swagger } } },
    };
    const three = {
      openapi: '3.0.3',
      info,
      ...openapiRoot,
      paths: { '/pets': { post: { ...operation, ...openapi } } },
    };
    const before = structuredClone(two);
    t.deepEqual(plainOf(load(two)), plainOf(load(three)));
    t.deepEqual(two, before); // the caller's document is unchanged
  });
}

test('body and form parameters of a path apply to its operations unless they have their own', (t) => {
  const member = (name: string, type: string): object => ({ name, in: 'formData', type });
  const item = {
    parameters: [member('a', 'string'), member('b', 'string'), { name: 'q', in: 'query', type: 'string' }],
    post: { operationId: 'post', responses: done },
    put: { operationId: 'put', parameters: [member('b', 'integer')], responses: done },
  };
  const { contract } = load({ swagger: '2.0', info, paths: { '/pets': item } });
  const bodies = contract.operations.map(({ name, input }) => {
    const body = input.fields.find(({ json }) => json === 'Body')?.type;
    const fields = body?.kind === 'record' ? body.fields : [];
    return `${name} ${fields.map(({ json, type }) => `${json}:${type.kind === 'scalar' ? type.scalar : type.kind}`).join(' ')}`;
  });
  t.deepEqual(bodies, ['put a:string b:long', 'post a:string b:string']);
});

for (const [what, parameter, said] of [
  [
    'a list by tabs',
    { name: 'a', in: 'query', type: 'array', items: text, collectionFormat: 'tsv' },
    'got "tsv"',
  ],
  [
    'a list of a path by blanks',
    { name: 'a', in: 'query', type: 'array', items: { type: 'array', items: text } },
    'got "csv in csv"',
  ],
  [
    'a list of a header by bars',
    { name: 'a', in: 'header', type: 'array', items: text, collectionFormat: 'pipes' },
    'got "pipes"',
  ],
  [
    'a list in a form by tabs',
    { name: 'a', in: 'formData', type: 'array', items: text, collectionFormat: 'tsv' },
    'got "tsv"',
  ],
] as const) {
  test(`${what}, which OpenAPI 3 cannot express, is not served, and reported with its position`, (t) => {
    const operation = { operationId: 'tried', parameters: [parameter], responses: done };
    const { notServed } = load({
      swagger: '2.0',
      info,
      paths: { '/tried': { post: operation }, '/served': { get: { responses: done } } },
    });
    const [reason] = notServed.flatMap(({ reasons }) => reasons);
    t.regex(reason?.pointer ?? '', /^\/paths\/~1tried\/post\/parameters\/0\/collectionFormat/);
    t.true(reason?.why.endsWith(said), reason?.why);
  });
}

test('errors of a Swagger document have positions in that document', (t) => {
  const bad = { type: 'date' };
  t.deepEqual(
    problemsOf({
      swagger: '2.0',
      info,
      paths: {
        '/pets': {
          post: {
            parameters: [
              { name: 'q', in: 'query', ...bad },
              { name: 'b', in: 'body', schema: { properties: { a: bad } } },
              { name: 'h', in: 'header', $ref: 'other.yaml#/h' },
            ],
            responses: {
              200: { description: '', schema: { items: bad, type: 'array' }, headers: { 'X-A': bad } },
            },
          },
        },
      },
      definitions: { Used: bad },
    })
      .map((line) => line.replace(/: expected one of object.*/, ''))
      .toSorted(),
    [
      'openapi.yaml#/paths/~1pets/post/parameters/2/$ref: "other.yaml#/h" is outside this file. Copy its target to /components; in Swagger 2.0 only schemas may be in other files',
      'openapi.yaml#/paths/~1pets/post/parameters/0/type',
      'openapi.yaml#/paths/~1pets/post/parameters/1/schema/properties/a/type',
      'openapi.yaml#/paths/~1pets/post/responses/200/schema/items/type',
    ].toSorted(),
  );
});

test('schemas of a Swagger document may be in other files', (t) => {
  const { names } = inFolder(t, {
    'openapi.yaml': `swagger: '2.0'
info: { title: Pets }
paths: { /pets: { get: { operationId: Pets, responses: { 200: { description: '', schema: { $ref: 'types.yaml#/Pet' } } } } } }
`,
    'types.yaml': 'Pet: { type: object, properties: { name: { type: string } } }',
  });
  t.true([...names.types.values()].includes('Pet'));
});

function inFolder(t: ExecutionContext, files: Readonly<Record<string, string>>): LoadedContract {
  const directory = mkdtempSync(join(tmpdir(), 'swagger-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return readContract(directory);
}

for (const [what, root, said] of [
  [
    'Swagger 1.2',
    { swagger: '1.2' },
    'openapi.yaml#/swagger: expected Swagger 2.0, or OpenAPI 3.0 to 3.2, got Swagger "1.2"',
  ],
  [
    'OpenAPI 4',
    { openapi: '4.0.0' },
    'openapi.yaml#/openapi: expected OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, got "4.0.0"',
  ],
  [
    'Swagger with nothing in it',
    { swagger: 2 },
    'openapi.yaml#/paths: expected at least one supported operation, got none',
  ],
] as const) {
  test(`refuses ${what} and names the expected value`, (t) => {
    t.deepEqual(problemsOf(root), [said]);
  });
}
