import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { LoadedContract } from '../../../../mappings/loader/build-contract.ts';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import { readContract } from '../../../../mappings/loader/load.ts';
import { fc } from '../../../property.ts';

// Documents in several files: a $ref where OpenAPI does not allow one is still resolved.

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const schemas: Json = {
  Thing: {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'integer' },
      part: { $ref: '#/components/schemas/Part' },
      kinds: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    },
  },
  Part: {
    allOf: [{ type: 'object', properties: { name: { type: 'string' } } }],
  },
};

const whole: Json = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1', description: 'All things.' },
  servers: [{ url: 'https://things.example/v1' }],
  paths: {
    '/things/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      get: {
        operationId: 'GetThing',
        tags: ['things'],
        parameters: [{ name: 'full', in: 'query', schema: { type: 'boolean' } }],
        responses: {
          200: {
            description: 'it',
            headers: { 'X-Rate': { schema: { type: 'integer' } } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
          },
        },
      },
      put: {
        operationId: 'PutThing',
        requestBody: {
          required: true,
          content: {
            'multipart/form-data': {
              schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'object' } } },
              encoding: { a: { contentType: 'text/csv' } },
            },
          },
        },
        responses: { 204: { description: 'done' } },
      },
    },
  },
  components: { schemas },
};

/** Paths of values for which OpenAPI does not allow a $ref. */
const places: readonly (readonly string[])[] = [
  ['info'],
  ['info', 'description'],
  ['servers'],
  ['paths'],
  ['components'],
  ['components', 'schemas'],
  ['components', 'schemas', 'Thing', 'properties'],
  ['components', 'schemas', 'Thing', 'required'],
  ['components', 'schemas', 'Part', 'allOf'],
  ['paths', '/things/{id}', 'parameters'],
  ['paths', '/things/{id}', 'get'],
  ['paths', '/things/{id}', 'get', 'tags'],
  ['paths', '/things/{id}', 'get', 'parameters'],
  ['paths', '/things/{id}', 'get', 'responses'],
  ['paths', '/things/{id}', 'get', 'responses', '200', 'headers'],
  ['paths', '/things/{id}', 'get', 'responses', '200', 'content'],
  ['paths', '/things/{id}', 'get', 'responses', '200', 'content', 'application/json'],
  ['paths', '/things/{id}', 'put'],
  ['paths', '/things/{id}', 'put', 'requestBody', 'content', 'multipart/form-data', 'encoding'],
  ['paths', '/things/{id}', 'put', 'requestBody', 'content', 'multipart/form-data', 'encoding', 'a'],
];

/** Files by path. */
type Files = Record<string, Json>;

function load(t: ExecutionContext, files: Files): LoadedContract {
  const folder = mkdtempSync(join(tmpdir(), 'unforeseen-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), JSON.stringify(content));
    }
    return readContract(folder);
  } finally {
    rmSync(folder, { recursive: true });
    t.pass();
  }
}

function problemsOf(t: ExecutionContext, files: Files): readonly string[] {
  const error = t.throws(() => load(t, files), { instanceOf: ContractError });
  return error.problems.map(({ file, line, pointer, message }) => {
    return `${file.slice(file.lastIndexOf('unforeseen-') + 18)}:${line}#${pointer}: ${message}`;
  });
}

/** Moves the part at a path to a separate file in a folder. References within it are adjusted. */
function moved(value: Json, path: readonly string[], file: string, files: Files): Json {
  const [key, ...rest] = path;
  if (key === undefined) {
    files[file] = leadingBack(value);
    return { $ref: file };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`no ${key}`);
  const inner = (value as { readonly [key: string]: Json })[key];
  if (inner === undefined) throw new Error(`no ${key}`);
  return { ...value, [key]: moved(inner, rest, file, files) };
}

function leadingBack(value: Json): Json {
  if (Array.isArray(value)) return value.map(leadingBack);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' && inner.startsWith('#')
        ? `../openapi.json${inner}`
        : leadingBack(inner),
    ]),
  );
}

const expected = (t: ExecutionContext): unknown => load(t, { 'openapi.json': whole }).contract;

for (const path of places) {
  test(`a $ref in place of ${path.join(' ')} is read as its target, with a warning`, (t) => {
    const files: Files = {};
    files['openapi.json'] = moved(whole, path, 'parts/part one.json', files);
    const loaded = load(t, files);
    t.deepEqual(loaded.contract, expected(t));
    t.deepEqual(
      loaded.unforeseen.map(({ pointer }) => pointer),
      [`/${path.map((key) => key.replaceAll('/', '~1')).join('/')}/$ref`],
    );
    t.deepEqual(loaded.notServed, []);
  });
}

test('several such references lead to the same contract, nested ones too', (t) => {
  const all = expected(t);
  fc.assert(
    fc.property(fc.subarray([...places], { minLength: 2 }), (chosen) => {
      const files: Files = {};
      // inner parts first, so that they are moved with the outer part
      const inner = chosen.toSorted((a, b) => b.length - a.length);
      let document: Json = whole;
      for (const [index, path] of inner.entries()) {
        const isWithin = inner.some(
          (other, at) => at < index && path.every((key, place) => other[place] === key),
        );
        if (isWithin) continue;
        document = moved(document, path, `parts/${index}.json`, files);
      }
      files['openapi.json'] = document;
      t.deepEqual(load(t, files).contract, all);
    }),
    { numRuns: 30 },
  );
});

test('a $ref in a referenced file is read too, relative to that file', (t) => {
  const files: Files = {
    'openapi.json': { ...(whole as object), paths: { $ref: 'a/paths.json' } } as Json,
    'a/paths.json': { '/things/{id}': { get: { $ref: 'b/get.json' } } },
    'a/b/get.json': {
      operationId: 'GetThing',
      parameters: { $ref: '../parameters.json#/all' },
      responses: { 200: { $ref: '../../c/response.json' } },
    },
    'a/parameters.json': {
      all: [{ $ref: '#/id' }],
      id: { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
    },
    'c/response.json': { description: 'it', content: { $ref: 'content.json' } },
    'c/content.json': { 'application/json': { schema: { $ref: 'thing.json' } } },
    'c/thing.json': { type: 'object', properties: { $ref: 'properties.json' } },
    'c/properties.json': {
      id: { type: 'integer' },
      part: { $ref: '../openapi.json#/components/schemas/Part' },
    },
  };
  const { contract, unforeseen } = load(t, files);
  const record = contract.types.find((type) => type.kind === 'record' && type.fields.length === 2);
  t.deepEqual(record?.kind === 'record' ? record.fields.map(({ json, type }) => [json, type.kind]) : [], [
    ['id', 'scalar'],
    ['part', 'record'],
  ]);
  t.deepEqual(
    unforeseen.map(({ pointer }) => pointer),
    [
      '/paths/$ref',
      '/paths/~1things~1{id}/get/$ref',
      'a/b/get.json#/parameters/$ref',
      'c/response.json#/content/$ref',
      'c/thing.json#/properties/$ref',
    ],
  );
});

test('all dangling references are reported, in any position', (t) => {
  const document = {
    ...(whole as object),
    tags: { $ref: 'tags.json' },
    paths: {
      '/a': { get: { $ref: 'nowhere.json' }, put: { $ref: '#/paths/~1a/put' } },
      '/b': { get: { responses: { $ref: '#/gone' } } },
    },
  } as Json;
  const problems = problemsOf(t, { 'openapi.json': document });
  t.deepEqual(problems, [
    'openapi.json:1#/paths/~1a/get/$ref: "nowhere.json" cannot be resolved: expected a file below the folder of the document, got none (ENOENT)',
    'openapi.json:1#/paths/~1a/put/$ref: refers to itself; expected a reference to a value',
    'openapi.json:1#/paths/~1b/get/responses/$ref: "#/gone" does not exist; expected a part of this file',
    'openapi.json:1#/tags/$ref: "tags.json" cannot be resolved: expected a file below the folder of the document, got none (ENOENT)',
  ]);
});

test('a document that consists of references is read from their targets', (t) => {
  const problems = problemsOf(t, {
    'openapi.json': { ...(whole as object), paths: { '/a': { get: { $ref: 'nowhere.json' } } } } as Json,
  });
  t.regex(problems.join('\n'), /\/paths\/~1a\/get\/\$ref: "nowhere.json" cannot be resolved/);
});

test('keywords next to such a $ref are reported; a member called $ref is a member', (t) => {
  const beside = load(t, {
    'openapi.json': {
      ...(whole as object),
      paths: { '/a': { get: { $ref: '#/components/x-get', summary: 'Get', 'x-y': 1 } } },
      components: { 'x-get': { operationId: 'GetA', responses: { 204: { description: '' } } } },
    } as Json,
  });
  t.deepEqual(
    beside.unforeseen.map(({ why }) => why),
    ['OpenAPI allows no $ref here; its target was read; ignored next to it: summary'],
  );
  const { contract } = load(t, {
    'openapi.json': {
      ...(whole as object),
      components: {
        schemas: {
          Thing: { type: 'object', properties: { $ref: { type: 'string' }, id: { type: 'integer' } } },
        },
      },
    } as Json,
  });
  const record = contract.types.find(({ name }) => name === 'Thing');
  t.deepEqual(record?.kind === 'record' ? record.fields.map(({ json }) => json) : [], ['$ref', 'id']);
});

test('a schema in place of a type name is ignored with a warning', (t) => {
  const { contract, warnings } = load(t, {
    'openapi.json': {
      ...(whole as object),
      components: {
        schemas: {
          Thing: { type: 'object', properties: { a: { type: { type: 'string', enum: ['x'] } } } },
        },
      },
    } as Json,
  });
  const record = contract.types.find(({ name }) => name === 'Thing');
  t.deepEqual(record?.kind === 'record' ? record.fields.map(({ type }) => type) : [], [
    { kind: 'scalar', scalar: 'json' },
  ]);
  t.deepEqual(
    warnings.map(({ pointer, message }) => `${pointer}: ${message}`),
    [
      '/components/schemas/Thing/properties/a/type: expected the name of a type, got an object. The schema is read without it and accepts any value',
    ],
  );
});

test('an invalid boolean is read as false, with a warning', (t) => {
  const { contract, warnings } = load(t, {
    'openapi.json': {
      ...(whole as object),
      paths: {
        '/orders': {
          put: {
            operationId: 'putOrder',
            parameters: [
              { name: 'page', in: 'query', required: 'yes', schema: { type: 'string', nullable: 'on' } },
            ],
            requestBody: { required: 1, content: { 'application/json': { schema: { type: 'string' } } } },
            responses: { 204: { description: 'done' } },
          },
        },
      },
    } as Json,
  });
  t.deepEqual(
    contract.operations.flatMap(({ input }) => input.fields.map(({ required }) => required)),
    [false, false],
  );
  t.deepEqual(warnings.map(({ pointer, message }) => `${pointer}: ${message}`).toSorted(), [
    '/paths/~1orders/put/parameters/0/required: expected true or false, got "yes". The value false is used',
    '/paths/~1orders/put/parameters/0/schema/nullable: expected true or false, got "on". The value false is used',
    '/paths/~1orders/put/requestBody/required: expected true or false, got 1. The value false is used',
  ]);
});

test('a type that JSON Schema lacks is an error', (t) => {
  const broken = (schema: Json): readonly string[] =>
    problemsOf(t, {
      'openapi.json': { ...(whole as object), components: { schemas: { Thing: schema } } } as Json,
    });
  t.deepEqual(broken({ type: 'date' }), [
    'openapi.json:1#/components/schemas/Thing/type: expected one of object, array, string, integer, number, boolean, null, got "date". A schema without a type accepts any value',
  ]);
  t.regex(
    broken({ type: 'object', properties: { a: { type: ['string', 'any'] } } }).join(),
    /properties\/a\/type\/1: /,
  );
  t.regex(broken({ allOf: [{ type: 'obj' }, { properties: { a: {} } }] }).join(), /allOf\/0\/type: /);
  t.regex(broken({ type: 'array', items: { type: 'file' } }).join(), /items\/type: /);
});
