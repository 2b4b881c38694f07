import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { compileContract } from '../../../mappings/compile.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { buildContract, type LoadedContract } from '../../../mappings/loader/build-contract.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { writeWsdl } from '../../../wsdl/wsdl.ts';
import { fc } from '../../property.ts';

// --- small contracts -------------------------------------------------------------------------------

type Schema = boolean | object;

const json = (schema: Schema): object => ({ content: { 'application/json': { schema } } });
const done = {
  200: { description: 'done', ...json({ type: 'object', properties: { done: { type: 'boolean' } } }) },
};

/** Returns a document with one operation, with added or replaced parts. */
function api(parts: Readonly<Record<string, unknown>> = {}): object {
  return {
    openapi: '3.1.0',
    info: { title: 'parcel post', version: '1' },
    paths: { '/parcels': { get: { operationId: 'ListParcels', responses: done } } },
    ...parts,
  };
}

/** Returns a document with one operation whose body has these members, and with these components. */
function taking(properties: Readonly<Record<string, Schema>>, schemas: object = {}): object {
  const schema = { type: 'object', properties };
  return api({
    paths: {
      '/parcels': { post: { operationId: 'SendParcel', requestBody: json(schema), responses: done } },
    },
    components: { schemas },
  });
}

const operation = (parts: object = {}): object => ({ operationId: 'SendParcel', responses: done, ...parts });

function build(openapi: unknown, overlay: unknown = {}): LoadedContract {
  return buildContract({ openapi, openapiName: 'openapi.yaml', overlay, overlayName: 'soap.yaml' });
}

/** Returns `file#pointer: message` of each problem. */
function problemsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ContractError) return error.message.split('\n');
    throw error;
  }
  return [];
}

/** Creates a folder with these files. */
function folder(t: ExecutionContext, files: Readonly<Record<string, string | Buffer>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

// --- invalid files ---------------------------------------------------------------------------------

const yaml = JSON.stringify(api()); // JSON is YAML
const soap = 'service: Parcels\n';
const laughs = [
  'a: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha]',
  ...['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, at) => {
    const aliases = Array.from({ length: 9 }, () => `*${'abcdefgh'.charAt(at)}`);
    return `${name}: &${name} [${aliases.join(', ')}]`;
  }),
].join('\n');

const files: readonly (readonly [string, Readonly<Record<string, string | Buffer>>, readonly string[]])[] = [
  [
    'an empty folder lacks its document',
    {},
    [
      'openapi.yaml#: no such file; a contract is a folder with openapi.yaml or a legacy WSDL, and an optional soap.yaml (or .yml, .json)',
    ],
  ],
  [
    'both files are read before anything is said of one',
    { 'openapi.yaml': 'openapi: [', 'soap.yaml': 'service: "a' },
    [
      'openapi.yaml#: line 1, column 11: Flow sequence in block collection must be sufficiently indented and end with a ]',
      'soap.yaml#: line 1, column 12: Missing closing "quote',
    ],
  ],
  [
    'a key given twice is told with its place',
    { 'openapi.yaml': yaml, 'soap.yaml': 'service: A\njsonp: true\nservice: B\n' },
    ['soap.yaml#: line 3, column 1: expected each key once, got this key again'],
  ],
  [
    'a key given twice in JSON is one too',
    { 'openapi.json': '{"openapi": "3.1.0",\n "openapi": "3.1.0"}', 'soap.yaml': soap },
    ['openapi.json#: line 2, column 2: expected each key once, got this key again'],
  ],
  [
    'a second document in a file is refused',
    { 'openapi.yaml': yaml, 'soap.yaml': `${soap}---\n${soap}` },
    ['soap.yaml#: line 2, column 1: expected one document, got another document'],
  ],
  [
    'a tag of one’s own is refused',
    { 'openapi.yaml': yaml, 'soap.yaml': 'service: !name Parcels\n' },
    ['soap.yaml#: line 1, column 10: Unresolved tag: !name'],
  ],
  [
    'a tag of a language that has nothing to say of the value is read over',
    { 'openapi.yaml': yaml, 'soap.yaml': 'service: !!python/object/apply:name Parcels - x\n' },
    ['soap.yaml:1#/service: expected the service\'s name, an identifier, got "Parcels - x"'],
  ],
  [
    'bytes that are no UTF-8 are refused',
    { 'openapi.yaml': yaml, 'soap.yaml': Buffer.from('service: Caf\xe9\n', 'latin1') },
    ['soap.yaml#: expected UTF-8, got other bytes'],
  ],
  [
    'an alias without an anchor is refused',
    { 'openapi.yaml': yaml, 'soap.yaml': 'service: *name\n' },
    ['soap.yaml#: line 1, column 10: expected an anchor before its alias *name, got none'],
  ],
  [
    'aliases that multiply are refused',
    { 'openapi.yaml': laughs, 'soap.yaml': soap },
    [
      'openapi.yaml#: line 4, column 12: expected at most 100 uses of an anchor, got more uses. Use a $ref instead',
    ],
  ],
  [
    'lists in one another without end are refused',
    { 'openapi.yaml': `a: ${'['.repeat(50_000)}`, 'soap.yaml': soap },
    ['openapi.yaml#: line 1: expected at most 500 levels of nested lists and objects, got more levels'],
  ],
  [
    'a file of gigabytes would be refused before it is read as YAML',
    { 'openapi.yaml': Buffer.alloc(64 * 1024 * 1024 + 1, 32), 'soap.yaml': soap },
    ['openapi.yaml#: expected at most 67108864 bytes, got 67108865'],
  ],
];

for (const [title, given, expected] of files) {
  test(title, (t) => {
    const directory = folder(t, given);
    const problems = problemsOf(() => readContract(directory)).map((line) =>
      line.replace(`${directory}/`, ''),
    );
    t.true(problems.length <= 20);
    if (expected[0]?.endsWith(' ')) t.true(problems[0]?.startsWith(expected[0]));
    else t.deepEqual(problems, [...expected]);
  });
}

test('the error for an unreadable folder has the reason', (t) => {
  const directory = folder(t, { 'soap.yaml': soap });
  mkdirSync(join(directory, 'openapi.yaml'));
  t.deepEqual(
    problemsOf(() => readContract(directory)),
    [`${directory}/openapi.yaml#: expected a file, got a directory`],
  );
});

test('the error for a file instead of a folder names the key and the option for files', (t) => {
  const file = join(folder(t, { 'openapi.yaml': yaml }), 'openapi.yaml');
  t.deepEqual(
    problemsOf(() => readContract(file)),
    [
      `${file}#: expected a folder, got a file. For an OpenAPI document, use \`openapi:\` in soapbridge.yaml, or --openapi`,
    ],
  );
});

test('named files may have any names, and each missing one is reported', (t) => {
  const directory = folder(t, { 'parcels.json': yaml, 'parcels.soap': soap });
  const openapi = join(directory, 'parcels.json');
  const overlay = join(directory, 'parcels.soap');
  t.is(readContract({ openapi, overlay }).contract.service, 'Parcels');
  t.deepEqual(
    problemsOf(() => readContract({ openapi: `${openapi}x`, overlay: `${overlay}x` })),
    [`${openapi}x#: no such file`, `${overlay}x#: no such file`],
  );
});

test('a document without an overlay is a contract of the plain dialect with all defaults', (t) => {
  const directory = folder(t, { 'openapi.yaml': yaml });
  const byFolder = readContract(directory).contract;
  t.deepEqual(byFolder, build(api(), { dialect: 'plain' }).contract);
  const openapi = join(directory, 'openapi.yaml');
  t.deepEqual(readContract({ openapi, overlay: undefined }).contract, byFolder);
});

for (const [title, servers, service] of [
  ['parcel post', [], 'ParcelPost'],
  ['Société: l’été (v2)', [], 'SocieteLEteV2'],
  ['3D printing', [], 'N_3DPrinting'],
  ['郵便', [{ url: 'https://api.post.example/v1' }], 'Post'],
  ['A title that is a sentence of words', [{ url: 'https://api.post.co.uk/v1' }], 'Post'],
  ['A title that is a sentence of words', [{ url: 'http://127.0.0.1:80' }], 'ATitleThatIsASentenceOfWords'],
  ['', [{ url: '/v1' }], 'Api'],
  ['a'.repeat(200), [], `A${'a'.repeat(29)}`],
] as const) {
  test(`a service titled ${title.slice(0, 40) || 'with nothing'} is called ${service.slice(0, 40)}`, (t) => {
    const { contract } = build(api({ info: { title }, servers }));
    t.is(contract.service, service);
    t.is(contract.namespaces.types, `urn:${service}`);
  });
}

for (const [title, given] of [
  ['openapi.yml and soap.yml', { 'openapi.yml': yaml, 'soap.yml': soap }],
  [
    'openapi.json and soap.json, indented by tabs',
    { 'openapi.json': JSON.stringify(api(), null, '\t'), 'soap.json': '{"service":"Parcels"}' },
  ],
  [
    'a byte order mark and CRLF',
    { 'openapi.yaml': `\ufeff${yaml}\r\n`, 'soap.yaml': '\ufeffservice: Parcels\r\n' },
  ],
  [
    'a status that is a number, as YAML reads it',
    { 'openapi.yaml': yaml.replace('"200"', '200'), 'soap.yaml': soap },
  ],
  [
    'an overlay of comments, all defaults',
    { 'openapi.yaml': yaml.replace('parcel post', 'Parcels'), 'soap.yaml': '# all as it is\n' },
  ],
] as const) {
  test(`a contract may have the form ${title}`, (t) => {
    const { contract } = readContract(folder(t, given));
    const expected = build(api(), { service: 'Parcels' }).contract;
    t.deepEqual({ ...contract, about: undefined }, { ...expected, about: undefined });
  });
}

// --- invalid documents -----------------------------------------------------------------------------

type DocumentCase = readonly [title: string, openapi: unknown, problems: readonly string[], overlay?: object];

const documents: readonly DocumentCase[] = [
  ['a list is no document', [], ['/openapi: expected OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, got a list']],
  [
    'an empty file is no document',
    null,
    ['/openapi: expected OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, got null'],
  ],
  ['no version', {}, ['/openapi: expected OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, got nothing']],
  [
    'a later version',
    { openapi: '4.0.0' },
    ['/openapi: expected OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, got "4.0.0"'],
  ],
  [
    'a version that only begins alike',
    { openapi: '3.10.0' },
    ['/openapi: expected OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, got "3.10.0"'],
  ],
  [
    'a version with a character that none has',
    { openapi: '3.0.3\0' },
    ['/openapi: expected OpenAPI 3.0, 3.1 or 3.2, or Swagger 2.0, got "3.0.3\\u0000"'],
  ],
  [
    'an older Swagger',
    { swagger: '1.2' },
    ['/swagger: expected Swagger 2.0, or OpenAPI 3.0 to 3.2, got Swagger "1.2"'],
  ],
  ['no operations', api({ paths: {} }), ['/paths: expected at least one supported operation, got none']],
];

for (const [title, openapi, expected, overlay] of documents) {
  const says = expected.length === 0 ? 'is fine' : 'is told with its pointer';
  test(`document: ${title} ${says}`, (t) => {
    t.deepEqual(
      problemsOf(() => build(openapi, { service: 'Parcels', ...overlay })),
      expected.map((problem) => `openapi.yaml#${problem}`),
    );
  });
}

test('document: a recursive YAML alias is sent as JSON text, and the loader ends', (t) => {
  const text = [
    'openapi: 3.1.0',
    'paths:',
    '  /a:',
    '    post:',
    '      requestBody: { content: { application/json: { schema: *n } } }',
    '      responses: { 200: { content: { application/json: { schema: *n } } } }',
  ].join('\n');
  const directory = folder(t, {
    'openapi.yaml': `x: &n {type: object, properties: {a: *n, b: {type: array, items: *n}, c: {allOf: [*n]}}}\n${text}`,
    'soap.yaml': soap,
  });
  t.deepEqual(
    readContract(directory).notes,
    ['requestBody', 'responses/200'].flatMap((body) =>
      ['a', 'b/items', 'c/allOf/0'].map((at) => ({
        pointer: `/paths/~1a/post/${body}/content/application~1json/schema/properties/${at}`,
        why: 'is an alias of an enclosing schema; expected a $ref',
      })),
    ),
  );
});

// --- operations that are not served ----------------------------------------------------------------

const leftOut: readonly DocumentCase[] = [
  [
    'what the overlay asks of a body or path that lacks it',
    api({
      paths: {
        '/a': { post: operation({ requestBody: json({ type: 'object', properties: { a: {} } }) }) },
      },
    }),
    [
      '/paths/~1a/post: expected {id} in the path, because the overlay lists it under slashes',
      '/paths/~1a/post/requestBody/content: expected text/csv that the gateway can send, got application/json',
      '/paths/~1a/post/responses: expected text/csv among the replies, got application/json',
    ],
    { operations: { SendParcel: { mediaType: 'text/csv', accept: 'text/csv', spansSegments: ['id'] } } },
  ],
  [
    'what the service calls others with, and TRACE,',
    api({
      paths: {
        '/a': {
          trace: operation(),
          put: operation({ callbacks: { onSent: { '{$request.body#/url}': {} } } }),
        },
        'x-order': ['/a'],
      },
      webhooks: { lost: { post: operation({ operationId: 'Lost' }) } },
    }),
    [
      '/paths/~1a/trace: it would show headers that proxies add',
      '/paths/~1a/put/callbacks/onSent: the service sends this call itself, so it does not pass the gateway',
      '/webhooks/lost: the service sends this call itself, so it does not pass the gateway',
    ],
  ],
  [
    'a path that is no object',
    api({ paths: { '/a': 1, '/b': { get: operation() } } }),
    ['/paths/~1a: expected an object of methods, got 1'],
  ],
  [
    'an operation that is no object',
    api({ paths: { '/a': { get: [], put: operation() } } }),
    ['/paths/~1a/get: expected an operation, an object, got a list'],
  ],
  [
    'a path whose query has a blank',
    api({ paths: { '/a?action=send it': { get: operation() } } }),
    [
      '/paths/~1a?action=send it/get: expected a path of URL characters and {parameters}, got "/a?action=send it"',
    ],
  ],
  [
    'a path without a slash, or with a blank',
    api({ paths: { 'a b': { get: operation() } } }),
    ['/paths/a b/get: expected a path of URL characters and {parameters}, got "a b"'],
  ],
  [
    'a hole in the path without a parameter',
    api({
      paths: {
        '/a/{id}': {
          get: operation({ parameters: [{ name: 'id', in: 'query', schema: { type: 'string' } }] }),
        },
      },
    }),
    ["/paths/~1a~1{id}/get: expected a path parameter for the path's {id}, got none"],
  ],
  [
    'a path parameter without a hole',
    api({
      paths: {
        '/a': {
          get: operation({
            parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          }),
        },
      },
    }),
    ['/paths/~1a/get: expected {id} in the path for the parameter id'],
  ],
  [
    'parameters that can’t be carried',
    api({
      paths: {
        '/a': {
          parameters: 'none',
          get: operation({
            parameters: [
              { name: 'session', in: 'body', schema: { type: 'string' } },
              { in: 'query', schema: { type: 'string' } },
              { name: 'list', in: 'query', style: 'matrix', schema: { type: 'string' } },
              { name: 'filter', in: 'query', content: { 'image/png': { schema: {} } } },
              { name: 'x y', in: 'header', schema: { type: 'string' } },
            ],
          }),
        },
      },
    }),
    [
      '/paths/~1a/parameters: expected a list, got "none"',
      '/paths/~1a/get/parameters/0/in: expected one of path, query, header, cookie, got "body"',
      "/paths/~1a/get/parameters/1/name: expected the parameter's name, got nothing",
      '/paths/~1a/get/parameters/2/style: expected one of form, spaceDelimited, pipeDelimited, deepObject in a query, got "matrix"',
      '/paths/~1a/get/parameters/3: expected a schema, or content of application/json, got neither key',
      '/paths/~1a/get/parameters/4/name: expected the name of an HTTP header, got "x y"',
    ],
  ],
  [
    'a request body of parts without names, a reply without an end',
    api({
      paths: {
        '/a': {
          post: operation({
            requestBody: { content: { 'multipart/mixed': {}, 'a b/c': {} } },
            responses: { 200: { content: { 'text/event-stream': {} } } },
          }),
        },
      },
    }),
    [
      '/paths/~1a/post/requestBody/content: expected a media type that the gateway can send, got multipart/mixed, a b/c',
      '/paths/~1a/post/responses/200/content: expected a supported media type, got text/event-stream; a stream has no end',
    ],
  ],
  [
    'a body that has no members to be the wrapper’s children',
    api({
      paths: {
        '/a': {
          post: operation({
            requestBody: json({ type: 'array', items: {} }),
            responses: { 200: json({ allOf: [{ oneOf: [{ type: 'object' }, { type: 'string' }] }] }) },
          }),
        },
        '/b': { post: operation({ operationId: 'Empty', responses: { 204: {} } }) },
      },
    }),
    [
      "/paths/~1a/post/requestBody/content/application~1json/schema: expected an object whose members become the wrapper's children: it can be another type than an object",
      "/paths/~1a/post/responses/200/content/application~1json/schema/allOf/0/oneOf: expected an object whose members become the wrapper's children: oneOf fits no closed type",
      '/paths/~1b/post/responses/204: expected content of application/json, got none. This dialect has no other replies',
    ],
    { dialect: 'servicestack', soapErrors: 'fault' },
  ],
];

for (const [title, openapi, expected, overlay] of leftOut) {
  test(`operation: ${title} is not served, with its reasons, and the others are`, (t) => {
    const { paths, ...rest } = openapi as { paths: object };
    const { contract, notServed } = build(
      { ...rest, paths: { ...paths, '/served': { get: { operationId: 'Served', responses: done } } } },
      { service: 'Parcels', ...overlay },
    );
    t.true(contract.operations.some(({ name }) => name === 'Served'));
    t.deepEqual(
      notServed.flatMap(({ reasons }) => reasons.map(({ pointer, why }) => `${pointer}: ${why}`)),
      [...expected],
    );
  });
}

const unresolved: readonly DocumentCase[] = [
  [
    'references that lead nowhere, outside, round in a circle, or are none',
    api({
      paths: {
        '/a': { $ref: 'paths.yaml#/a' },
        '/b': { $ref: '#/paths/~1c' },
        '/c': { $ref: '#/paths/~1b' },
        '/d': { put: operation({ requestBody: { $ref: '#anchor' }, responses: { 200: { $ref: '#/%zz' } } }) },
        '/served': { get: operation() },
      },
    }),
    [
      '/paths/~1a/$ref: "paths.yaml#/a" is outside this file. Copy its target to /components',
      '/paths/~1b/$ref: refers to itself; expected a reference to a value',
      '/paths/~1c/$ref: refers to itself; expected a reference to a value',
      '/paths/~1d/put/requestBody/$ref: expected a JSON pointer such as "#/components/schemas/Name", got "#anchor"',
      '/paths/~1d/put/responses/200/$ref: expected a JSON pointer such as "#/components/schemas/Name", got "#/%zz"',
    ],
  ],
  [
    'schemas that refer to themselves, also in a circle',
    taking(
      { a: { $ref: '#/components/schemas/Self' }, b: { $ref: '#/components/schemas/Round' } },
      {
        Self: { $ref: '#/components/schemas/Self' },
        Round: { $ref: '#/components/schemas/Turn' },
        Turn: { $ref: '#/components/schemas/Round' },
      },
    ),
    [
      '/components/schemas/Self/$ref: refers to itself; expected a reference to a value',
      '/components/schemas/Round/$ref: refers to itself; expected a reference to a value',
    ],
  ],
  [
    'schemas that refer to nothing, also by names that every object has',
    taking({ a: { $ref: '#/components/schemas/Gone' }, b: { $ref: '#/components/schemas/constructor' } }),
    [
      '/paths/~1parcels/post/requestBody/content/application~1json/schema/properties/a/$ref: "#/components/schemas/Gone" does not exist; expected a part of this file',
      '/paths/~1parcels/post/requestBody/content/application~1json/schema/properties/b/$ref: "#/components/schemas/constructor" does not exist; expected a part of this file',
    ],
  ],
];

for (const [title, openapi, expected] of unresolved) {
  test(`references: ${title} are refused with their pointers`, (t) => {
    t.deepEqual(
      problemsOf(() => build(openapi, { service: 'Parcels' })),
      expected.map((message) => `openapi.yaml#${message}`),
    );
  });
}

test('a document without any operation that can be served is refused with all reasons', (t) => {
  t.deepEqual(
    problemsOf(() => build(api({ paths: { '/a b': { get: operation() } } }), { service: 'Parcels' })),
    [
      'openapi.yaml#/paths/~1a b/get: expected a path of URL characters and {parameters}, got "/a b"',
      'openapi.yaml#/paths: expected at least one supported operation, got none',
    ],
  );
});

// --- invalid overlays ------------------------------------------------------------------------------

const parcel = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    grams: { type: 'integer' },
    marks: { type: 'array', items: { $ref: '#/components/schemas/Mark' } },
  },
};

/** A document whose parts the overlay refers to. */
const named = api({
  paths: {
    '/send': {
      post: operation({ requestBody: json({ $ref: '#/components/schemas/Parcel' }) }),
    },
    '/find': {
      get: {
        operationId: 'FindParcel',
        parameters: [
          { name: 'name', in: 'query', required: true, schema: { type: 'string' } },
          { name: 'page', in: 'query', schema: { type: 'integer' } },
        ],
        responses: { 200: json({ $ref: '#/components/schemas/Parcel' }) },
      },
    },
  },
  components: {
    schemas: { Parcel: parcel, Mark: { type: 'object', properties: { text: { type: 'string' } } } },
  },
});

const overlays: readonly (readonly [title: string, overlay: unknown, problems: readonly string[]])[] = [
  [
    'text for an overlay',
    'dialect',
    [': expected an object with keys such as dialect, service, refs, got "dialect"'],
  ],
  [
    'an unknown key',
    { Dialect: 'plain' },
    ['/Dialect: expected a known key, got "Dialect". Did you mean dialect?'],
  ],
  [
    '__proto__ as a key',
    JSON.parse('{"__proto__": {"dialect": "servicestack"}}'),
    ['/__proto__: unknown key, expected one of '],
  ],
  [
    'an unknown dialect',
    { dialect: 'constructor' },
    ['/dialect: expected one of servicestack, plain, got "constructor"'],
  ],
  [
    'a service that is no identifier',
    { service: 'parcel post' },
    ['/service: expected the service\'s name, an identifier, got "parcel post"'],
  ],
  ['a service that is no text', { service: ['Parcels'] }, ['/service: expected text, got a list']],
  [
    'a base path that ends with a slash',
    { basePath: '/v2/' },
    ['/basePath: expected a path such as /v2, without a slash at its end, got "/v2/"'],
  ],
  [
    'a base path with a blank',
    { basePath: '/v 2' },
    ['/basePath: expected a path such as /v2, without a slash at its end, got "/v 2"'],
  ],
  [
    'namespaces that are none',
    { namespaces: { types: 'parcels', arrays: 'urn:a b', other: 1 } },
    [
      '/namespaces/types: expected a URI of the contract\'s own, such as urn:example:parcels, got "parcels"',
      '/namespaces/arrays: expected a URI of the contract\'s own, such as urn:example:parcels, got "urn:a b"',
      '/namespaces/other: unknown key, expected one of types, arrays',
    ],
  ],
  [
    'a namespace that is SOAP’s',
    { namespaces: { types: 'http://www.w3.org/2003/05/soap-envelope' } },
    [
      '/namespaces/types: expected a URI of the contract\'s own, such as urn:example:parcels, got "http://www.w3.org/2003/05/soap-envelope"',
    ],
  ],
  [
    'a time zone that nobody knows',
    { upstreamTimeZone: 'Europe/Atlantis' },
    ['/upstreamTimeZone: expected an IANA zone such as Europe/London, got "Europe/Atlantis"'],
  ],
  [
    'settings of other words',
    { dates: 'ISO', jsonp: 'yes', stackTrace: true, cors: ['https://app.example/'] },
    [
      '/dates: expected one of wcf, iso, text, got "ISO". Did you mean iso?',
      '/jsonp: expected true or false, got "yes"',
      '/stackTrace: expected one of drop, keep, got true',
      '/cors/0: expected an origin such as https://app.example, or "*", got "https://app.example/"',
    ],
  ],
  [
    'in-band errors without a place for them',
    { soapErrors: 'in-band' },
    ['/soapErrors: expected data.responseStatus in every reply, got none in SendParcel. Use fault'],
  ],
  [
    'credentials without headers',
    { credentials: {} },
    ['/credentials/headers: expected at least one `name: Header-Name`, got none'],
  ],
  [
    'credentials of the wrong kinds',
    {
      credentials: {
        headers: { key: 'X Key', host: 'Host', id: 'X-Id', again: 'x-id' },
        secret: 'key',
        required: ['key'],
        send: 'query',
        member: 1,
        query: 'key',
      },
    },
    [
      '/credentials/headers/key: expected the name of an HTTP header that only the API uses, got "X Key"',
      '/credentials/secret: expected a list of names from /credentials/headers, got "key"',
      '/credentials/send: expected one of body, headers, got "query"',
      '/credentials/member: expected text, got 1',
      '/credentials/query: unknown key, expected one of member, headers, required, secret, send, basic',
      '/credentials/headers/host: expected the name of an HTTP header that only the API uses, got "Host"',
      '/credentials/headers/again: expected a header for each name, got x-id again',
      '/credentials/required: expected names from /credentials/headers, got "key"',
    ],
  ],
  [
    'credentials sent in a body without a member for them',
    { credentials: { headers: { key: 'X-Key' }, send: 'body' } },
    ['/credentials/send: expected headers, because /credentials/member is not set'],
  ],
  [
    'a credentials member that some request lacks',
    { credentials: { member: 'Body', headers: { name: 'X-Name' } } },
    ['/credentials/member: expected one object Body in every request, got none in FindParcel'],
  ],
  [
    'an unknown operation',
    { operations: { sendParcel: { readOnly: true } } },
    ['/operations/sendParcel: expected the name of an operation, got "sendParcel". Did you mean SendParcel?'],
  ],
  [
    'a media type that an operation has nowhere',
    { operations: { SendParcel: { as: ['text/csv'] } } },
    ['/operations/SendParcel/as: expected media types of its request body or its replies, got "text/csv"'],
  ],
  [
    'operations said wrongly',
    { operations: { SendParcel: { readonly: true }, FindParcel: { readOnly: 'no' } } },
    [
      '/operations/SendParcel/readonly: expected a known key, got "readonly". Did you mean readOnly?',
      '/operations/FindParcel/readOnly: expected true or false, got "no"',
    ],
  ],
  [
    'an unknown type',
    { types: { parcel: { item: 'P' }, Parcel: [] } },
    [
      '/types/Parcel: expected an object with order, item, got a list',
      '/types/parcel: expected the name of a type that an operation reaches, got "parcel". Did you mean Parcel?',
    ],
  ],
  [
    'an order with too few, too many and repeated members',
    { types: { Parcel: { order: ['grams', 'weight', 'name', 'name'] } } },
    [
      '/types/Parcel/order: expected each member once, got "name" again',
      '/types/Parcel/order: Parcel has no member weight; expected name, grams, marks',
      '/types/Parcel/order: expected all members of Parcel, marks is missing',
    ],
  ],
  [
    'an order for what is no object, an item for what no array holds',
    { types: { ArrayOfMark: { order: ['Mark'] }, Parcel: { item: 'Packet' } } },
    [
      '/types/ArrayOfMark/order: expected none, because ArrayOfMark is not an object',
      '/types/Parcel/item: expected none, because no array of Parcel exists',
    ],
  ],
  [
    'an order that is no list, an item that is no name',
    { types: { Mark: { order: 'text', item: 'a mark' } } },
    [
      '/types/Mark/order: expected a list of all JSON members of the type, got "text"',
      '/types/Mark/item: expected the name of an XML element, got "a mark"',
    ],
  ],
  [
    'routes that are no object',
    { routes: ['GET /a'] },
    ['/routes: expected an object with `METHOD /path: Operation`, got a list'],
  ],
  [
    'routes that don’t parse',
    { routes: { 'get /a': 'FindParcel', 'GET a': 'FindParcel', 'GET /': 'FindParcel', 'GET /b': 7 } },
    [
      '/routes/GET ~1b: expected the name of an operation, got 7',
      '/routes/get ~1a: expected "METHOD /path/{Input}?input", got "get /a"',
      '/routes/GET a: expected "METHOD /path/{Input}?input", got "GET a"',
      '/routes/GET ~1: expected "METHOD /path/{Input}?input", got "GET /"',
    ],
  ],
  [
    'a route of an unknown operation',
    { routes: { 'GET /a': 'GetParcel' } },
    ['/routes/GET ~1a: expected the name of an operation, got "GetParcel". Did you mean SendParcel?'],
  ],
  [
    'a route that names an unknown input, or an object',
    { routes: { 'GET /a/{Name}?size': 'FindParcel', 'PUT /a?body': 'SendParcel' } },
    [
      '/routes/GET ~1a~1{Name}?size: expected an input of FindParcel that is not an object or array, got "size"',
      '/routes/PUT ~1a?body: expected an input of SendParcel that is not an object or array, got "body"',
      '/routes/PUT ~1a?body: PUT takes its inputs only from the body (W38), not Body from the path or query',
    ],
  ],
  [
    'a route whose verb has no body and that leaves out what is required',
    { routes: { 'GET /a': 'FindParcel', 'DELETE /a/{name}': 'FindParcel' } },
    ['/routes/GET ~1a: GET has no body; expected the required name in the path or the query'],
  ],
  [
    'a route whose verb has a body, with inputs beside it',
    { routes: { 'POST /a?name': 'FindParcel', 'PATCH /a/{name}': 'FindParcel' } },
    [
      '/routes/POST ~1a?name: POST takes its inputs only from the body (W38), not name from the path or query',
      '/routes/PATCH ~1a~1{name}: PATCH takes its inputs only from the body (W38), not name from the path or query',
    ],
  ],
  [
    'a route that has an input twice',
    { routes: { 'GET /a/{name}?Name': 'FindParcel' } },
    ['/routes/GET ~1a~1{name}?Name: expected name once, got name twice'],
  ],
  [
    'a hole in part of a segment, an empty segment, a letter that no path has',
    { routes: { 'GET /a-{name}': 'FindParcel', 'PUT /a//b': 'SendParcel', 'PUT /größe': 'SendParcel' } },
    [
      '/routes/GET ~1a-{name}: expected letters of a path or {Input} between two slashes, got "a-{name}"',
      '/routes/GET ~1a-{name}: GET has no body; expected the required name in the path or the query',
      '/routes/PUT ~1a~1~1b: expected letters of a path or {Input} between two slashes, got ""',
      '/routes/PUT ~1größe: expected letters of a path or {Input} between two slashes, got "größe"',
    ],
  ],
  [
    'two routes of one path',
    { routes: { 'GET /a/{name}': 'FindParcel', 'GET /A/{Page}?name': 'FindParcel' } },
    ['/routes/GET ~1A~1{Page}?name: expected a path other than "GET /a/{name}"'],
  ],
  [
    'routes where the gateway serves something else',
    {
      routes: {
        'PUT /Soap11': 'SendParcel',
        'PUT /json/reply/x': 'SendParcel',
        'PUT /list.json': 'SendParcel',
      },
    },
    [
      '/routes/PUT ~1Soap11: expected a path that the gateway does not use itself (soap11, soap12, json/reply, xml/reply)',
      '/routes/PUT ~1json~1reply~1x: expected a path that the gateway does not use itself (soap11, soap12, json/reply, xml/reply)',
      '/routes/PUT ~1list.json: expected a path without .json, .xml, .soap11 or .soap12 at its end, because these select the format of the reply',
    ],
  ],
];

for (const [jsonp, taken] of [
  [true, ['format', 'Callback', '_']],
  [false, ['format', '_']],
] as const)
  test(`query inputs that select the reply format are reported if jsonp is ${jsonp}`, (t) => {
    const parameters = ['format', 'Callback', '_', 'other'].map((name) => ({
      name,
      in: 'query',
      schema: { type: 'string' },
    }));
    const document = api({ paths: { '/find': { get: operation({ parameters }) } } });
    const route = 'GET /find?format&callback&_&other';
    const problems = problemsOf(() => build(document, { jsonp, routes: { [route]: 'SendParcel' } }));
    t.deepEqual(
      problems,
      taken.map(
        (name) =>
          `soap.yaml#/routes/GET ~1find?format&callback&_&other: expected no input ${name} in the query, because the gateway uses this name for the format of the reply`,
      ),
    );
    t.deepEqual(
      problemsOf(() => build(document, { jsonp, routes: { 'GET /find/{format}?other': 'SendParcel' } })),
      [],
    );
  });

for (const [title, overlay, expected] of overlays) {
  test(`overlay: ${title} is reported with its pointer`, (t) => {
    const problems = problemsOf(() => build(named, overlay));
    const wanted = expected.map((problem) => `soap.yaml#${problem}`);
    if (wanted[0]?.endsWith(' ')) t.true(problems[0]?.startsWith(wanted[0]), problems[0]);
    else t.deepEqual(problems, wanted);
  });
}

test('all errors of both files are reported at once', (t) => {
  const broken = api({
    paths: { '/a/{id}': { get: operation({ responses: { 200: { $ref: '#/gone' } } }) } },
    info: { title: '' },
  });
  t.deepEqual(
    problemsOf(() => build(broken, { colour: 'red', types: { T: {} }, routes: { 'GET /b': 'B' } })).map(
      (line) => line.split(':')[0],
    ),
    [
      'soap.yaml#/colour',
      'openapi.yaml#/paths/~1a~1{id}/get',
      'openapi.yaml#/paths/~1a~1{id}/get/responses/200/$ref',
      'openapi.yaml#/paths',
      'soap.yaml#/types/T',
      'soap.yaml#/routes/GET ~1b',
    ],
  );
});

// --- credentials in the body -----------------------------------------------------------------------

/** Returns a document with two requests whose member `who` has these schemas. */
function asking(first: Schema, second: Schema): object {
  const call = (operationId: string, who: Schema): object =>
    operation({ operationId, requestBody: json({ type: 'object', properties: { who } }) });
  return api({
    paths: { '/a': { post: call('A', first) }, '/b': { post: call('B', second) } },
    components: {
      schemas: {
        Who: { type: 'object', properties: { id: { type: 'string' }, key: { type: 'string' } } },
        Other: { type: 'object', properties: { id: { type: 'string' }, key: { type: 'string' } } },
        Odd: { type: 'object', properties: { id: { type: 'integer' }, more: { type: 'string' } } },
      },
    },
  });
}

const who = { $ref: '#/components/schemas/Who' };
const credentials = { member: 'who', headers: { id: 'X-Id', key: 'X-Key' } };

for (const [title, document, expected] of [
  ['one type in every request', asking(who, who), []],
  [
    'two types alike',
    asking(who, { $ref: '#/components/schemas/Other' }),
    ['/credentials/member: expected one object who in every request, got another object in B'],
  ],
  [
    'text in one request',
    asking(who, { type: 'string' }),
    ['/credentials/member: expected one object who in every request, got another type in B'],
  ],
  [
    'members that aren’t text, that lack, and that have no header',
    asking({ $ref: '#/components/schemas/Odd' }, { $ref: '#/components/schemas/Odd' }),
    [
      '/credentials/headers/id: expected a string id in Odd, got another type',
      '/credentials/headers/key: expected a string key in Odd, got none',
      '/credentials/headers: expected a header for more, the member of Odd, got none',
    ],
  ],
] as const) {
  test(`W25: a credentials member of ${title} is ${expected.length === 0 ? 'accepted' : 'reported'}`, (t) => {
    const overlay = { dialect: 'servicestack', soapErrors: 'fault', service: 'Parcels', credentials };
    t.deepEqual(
      problemsOf(() => build(document, overlay)),
      expected.map((problem) => `soap.yaml#${problem}`),
    );
  });
}

// --- arbitrary values in the files -----------------------------------------------------------------

/** Returns the path of every value in a document. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

/** Replaces the value at a path. */
function replaced(value: unknown, [key, ...rest]: readonly string[], other: unknown): unknown {
  if (key === undefined) return other;
  if (Array.isArray(value))
    return value.map((item, at) => (String(at) === key ? replaced(item, rest, other) : item));
  const entries = Object.entries(value as object);
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, name === key ? replaced(inner, rest, other) : inner]),
  );
}

const parcels = join(import.meta.dirname, '../../fixtures/contracts/parcels');

for (const [name, directory, numRuns] of [
  ['screening', screeningContract, 50],
  ['parcels', parcels, 500],
] as const) {
  test(`the ${name} contract with any change is invalid, or served without later errors`, (t) => {
    const [openapi, overlay] = ['openapi.yaml', 'soap.yaml'].map((file): unknown =>
      parse(readFileSync(join(directory, file), 'utf8')),
    );
    const places = placesIn({ openapi, overlay }).filter(({ length }) => length > 1);
    const words = [
      'object',
      'array',
      'string',
      '#/components/schemas/Parcel',
      '#/components/schemas/Address',
      '__proto__',
      'a b',
      '{',
      'null',
    ];
    const names = [
      '$ref',
      'type',
      'allOf',
      'anyOf',
      'items',
      'properties',
      'additionalProperties',
      'enum',
      'required',
      'nullable',
      'name',
      '__proto__',
    ];
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(null, true, false, 0, -1, 1e30, '', ...words),
        fc.string(),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie('any'), { maxKeys: 4 }),
      ),
    })).any;
    let served = 0;
    fc.assert(
      fc.property(fc.constantFrom(...places), value, (place, other) => {
        const mutated = replaced({ openapi, overlay }, place, other) as {
          openapi: unknown;
          overlay: unknown;
        };
        const source = { ...mutated, openapiName: 'openapi.yaml', overlayName: 'soap.yaml' };
        let loaded: LoadedContract;
        try {
          loaded = buildContract(source);
        } catch (error) {
          if (error instanceof ContractError) return error.problems.length > 0;
          throw error;
        }
        served++;
        compileContract(loaded.contract, defaultLimits);
        return writeWsdl(loaded.contract, { address: 'http://127.0.0.1' }).length > 0;
      }),
      { numRuns },
    );
    t.true(served > 0);
  });
}

test('the screening contract has no type that is sent as JSON text', (t) => {
  t.deepEqual(readContract(screeningContract).notes, []);
});
