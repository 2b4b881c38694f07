/** Documents that grow with a number. The time to load them must grow at most linearly. */

export interface Shape {
  readonly name: string;
  /** A size whose time is long enough to measure. */
  readonly size: number;
  /** Returns the text of the document of a size. */
  readonly document: (size: number) => string;
  /** Returns the text of its overlay; `{}` by default. */
  readonly overlay?: (size: number) => string;
}

type Json = Readonly<Record<string, unknown>>;

const range = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const object = <T>(count: number, entry: (index: number) => readonly [string, T]): Record<string, T> =>
  Object.fromEntries(range(count, entry));

export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const text = { type: 'string' };

/** Returns a document with these schemas and an operation that takes and returns the named one. */
export function documentOf(schemas: Json, root: string | Json = 'Root', more: Json = {}): string {
  const schema = typeof root === 'string' ? ref(root) : root;
  const content = { 'application/json': { schema } };
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Growing' },
    paths: {
      '/it': {
        put: { operationId: 'Put', requestBody: { content }, responses: { 200: { content } } },
      },
    },
    components: { schemas },
    ...more,
  });
}

/** Returns a document of operations. */
function pathsOf(paths: Json, more: Json = {}): string {
  return JSON.stringify({ openapi: '3.0.3', info: { title: 'Growing' }, paths, ...more });
}

const done = { responses: { 200: { content: { 'application/json': { schema: text } } } } };

/** `openapi`, `info` and `paths` as YAML, before the growing part. */
const yamlHead =
  'openapi: 3.0.3\ninfo: {title: Growing}\npaths: {/it: {get: {operationId: Get, responses: {200: {description: it}}}}}\n';

export const shapes: readonly Shape[] = [
  {
    name: 'keys of a YAML object',
    size: 10_000,
    document: (size) => `${yamlHead}x-it:\n${range(size, (at) => `  k${at}: v\n`).join('')}`,
  },
  {
    name: 'keys of a YAML object in braces',
    size: 10_000,
    document: (size) => `${yamlHead}x-it: {${range(size, (at) => `k${at}: v`).join(', ')}}\n`,
  },
  {
    name: 'YAML anchors and their aliases',
    size: 4_000,
    document: (size) => `${yamlHead}x-it:\n${range(size, (at) => `  - &a${at} [x]\n  - *a${at}\n`).join('')}`,
  },
  {
    name: 'problems told with their lines',
    size: 2_000,
    document: () => pathsOf({ '/it': { get: done } }),
    overlay: (size) => range(size, (at) => `k${at}: v\n`).join(''),
  },
  {
    name: 'an allOf of the same schema twice, and so on',
    size: 1_000,
    document: (size) =>
      documentOf({
        ...object(size, (at) => [
          `S${at}`,
          {
            allOf:
              at % 50 === 0 ? [{ properties: { [`m${at}`]: text } }] : [ref(`S${at - 1}`), ref(`S${at - 1}`)],
          },
        ]),
        Root: { properties: object(size, (at) => [`m${at}`, ref(`S${at}`)]) },
      }),
  },
  {
    name: 'the same with rules of values',
    size: 1_000,
    document: (size) =>
      documentOf({
        ...object(size, (at) => [
          `S${at}`,
          at % 50 === 0
            ? { type: 'string', minLength: 1, pattern: `a${at}` }
            : { allOf: [ref(`S${at - 1}`), ref(`S${at - 1}`)], maxLength: at },
        ]),
        Root: { properties: object(size, (at) => [`m${at}`, ref(`S${at}`)]) },
      }),
    overlay: () => '{validate: strict}',
  },
  {
    name: 'a oneOf of the same schema twice, and so on',
    size: 1_000,
    document: (size) =>
      documentOf({
        ...object(size, (at) => [
          `S${at}`,
          at % 20 === 0
            ? { properties: { [`m${at}`]: text } }
            : {
                oneOf: [
                  ref(`S${at - 1}`),
                  ref(`S${at - 1}`),
                  { type: 'object', properties: { [`n${at}`]: text } },
                ],
              },
        ]),
        Root: { properties: object(size, (at) => [`m${at}`, ref(`S${at}`)]) },
      }),
  },
  {
    name: 'variants of a union',
    size: 2_000,
    document: (size) =>
      documentOf({
        ...object(size, (at) => [`S${at}`, { type: 'object', properties: { [`m${at}`]: text } }]),
        Root: { oneOf: range(size, (at) => ref(`S${at}`)) },
      }),
  },
  {
    name: 'variants told apart by a discriminator with a mapping',
    size: 2_000,
    document: (size) =>
      documentOf({
        ...object(size, (at) => [`S${at}`, { type: 'object', properties: { kind: text, [`m${at}`]: text } }]),
        Root: {
          oneOf: range(size, (at) => ref(`S${at}`)),
          discriminator: { propertyName: 'kind', mapping: object(size, (at) => [`k${at}`, `S${at}`]) },
        },
      }),
  },
  {
    name: 'variants told apart by a fixed value of their last member',
    size: 100,
    document: (size) =>
      documentOf({
        Root: {
          oneOf: range(size, (at) => ({
            type: 'object',
            properties: {
              ...object(40, (member) => [`m${member}`, { enum: ['a'] }]),
              kind: { enum: [`k${at}`] },
            },
          })),
        },
      }),
  },
  {
    name: 'arrays among alternatives',
    size: 1_000,
    document: (size) =>
      documentOf({
        ...object(size, (at) => [`S${at}`, { type: 'object', properties: { [`m${at}`]: text } }]),
        Root: { oneOf: range(size, (at) => ({ type: 'array', items: ref(`S${at}`) })) },
      }),
  },
  {
    name: 'what extends a base type',
    size: 2_000,
    document: (size) =>
      documentOf({
        Root: { type: 'object', discriminator: { propertyName: 'kind' }, properties: { kind: text } },
        ...object(size, (at) => [`S${at}`, { allOf: [ref('Root'), { properties: { [`m${at}`]: text } }] }]),
      }),
  },
  {
    name: 'references in turn that many use',
    size: 2_000,
    document: (size) =>
      documentOf({
        ...object(90, (at) => [`S${at}`, at === 0 ? text : ref(`S${at - 1}`)]),
        Root: { properties: object(size, (at) => [`m${at}`, ref('S89')]) },
      }),
  },
  {
    name: 'members of an object',
    size: 5_000,
    document: (size) => documentOf({ Root: { properties: object(size, (at) => [`m${at}`, text]) } }),
  },
  {
    name: 'members with one name for generators',
    size: 2_000,
    document: (size) =>
      documentOf({
        Root: {
          properties: object(size, (at) => [
            `m${'_'.repeat(at % 50)}${'.'.repeat(Math.floor(at / 50))}`,
            text,
          ]),
        },
      }),
  },
  {
    name: 'members in an order of the overlay',
    size: 5_000,
    document: (size) => documentOf({ Root: { properties: object(size, (at) => [`m${at}`, text]) } }),
    overlay: (size) =>
      JSON.stringify({
        types: { Root: { order: range(size, (at) => `m${size - at - 1}`) } },
        personal: range(size, (at) => `m${at}`),
      }),
  },
  {
    name: 'an order of the overlay that is wrong',
    size: 2_000,
    document: (size) => documentOf({ Root: { properties: object(size, (at) => [`m${at}`, text]) } }),
    overlay: (size) => JSON.stringify({ types: { Root: { order: range(size, (at) => `n${at}`) } } }),
  },
  {
    name: 'types that the overlay names',
    size: 2_000,
    document: (size) =>
      documentOf({
        ...object(size, (at) => [`S${at}`, { properties: { a: text } }]),
        Root: { properties: object(size, (at) => [`m${at}`, { type: 'array', items: ref(`S${at}`) }]) },
      }),
    overlay: (size) => JSON.stringify({ types: object(size, (at) => [`S${at}`, { item: 'it' }]) }),
  },
  {
    name: 'parts of an allOf beside a union',
    size: 2_000,
    document: (size) =>
      documentOf({
        Root: {
          allOf: [
            ...range(size, (at) => ({ properties: { [`m${at}`]: text } })),
            { oneOf: [{ properties: { a: text } }, { properties: { b: text } }] },
          ],
        },
      }),
  },
  {
    name: 'conditions',
    size: 1_000,
    document: (size) =>
      documentOf({
        Root: {
          allOf: range(size, (at) => ({
            type: 'object',
            else: { required: [`m${at}`], properties: { [`m${at}`]: text } },
          })),
        },
      }),
  },
  {
    name: 'values of an enum',
    size: 5_000,
    document: (size) =>
      documentOf({ Root: { properties: { it: { type: 'string', enum: range(size, (at) => `v${at}`) } } } }),
  },
  {
    name: 'values of an enum, and fewer of them beside a reference',
    size: 5_000,
    document: (size) =>
      documentOf({
        Values: { type: 'string', enum: range(size, (at) => `v${at}`) },
        Root: { properties: { it: { ...ref('Values'), enum: range(size, (at) => `v${at}`) } } },
      }).replace('3.0.3', '3.1.0'),
  },
  {
    name: 'members of one type, each with a name of its own',
    size: 12_000,
    document: (size) =>
      documentOf({
        It: { properties: { it: text } },
        Root: { properties: object(size, (at) => [`m${at}`, ref('It')]) },
      }),
  },
  {
    name: 'levels of inline objects in one another, equal but for what is innermost',
    size: 120,
    document: (size) =>
      documentOf({
        Root: {
          properties: object(60, (at) => {
            let inner: Json = { type: 'string', enum: [`v${at}`] };
            for (let level = 0; level < size; level++) inner = { type: 'object', properties: { it: inner } };
            return [`m${at}`, inner] as const;
          }),
        },
      }),
  },
  {
    name: 'operations',
    size: 500,
    document: (size) => pathsOf(object(size, (at) => [`/p${at}`, { get: done }])),
  },
  {
    name: 'operations and types that reach one another',
    size: 400,
    document: (size) =>
      pathsOf(
        object(size, (at) => [
          `/p${at}`,
          { get: { responses: { 200: { content: { 'application/json': { schema: ref(`S${at}`) } } } } } },
        ]),
        {
          components: {
            schemas: object(size, (at) => [`S${at}`, { properties: { it: ref(`S${(at + 1) % size}`) } }]),
          },
        },
      ),
  },
  {
    name: 'operations and security schemes',
    size: 500,
    document: (size) =>
      pathsOf(
        object(size, (at) => [`/p${at}`, { get: done }]),
        {
          components: {
            securitySchemes: object(size, (at) => [
              `s${at}`,
              { type: 'apiKey', in: 'header', name: `X-Key-${at}` },
            ]),
          },
        },
      ),
  },
  {
    name: 'paths that refer to one with many servers',
    size: 500,
    document: (size) =>
      pathsOf(
        object(size, (at) => [`/p${at}`, { $ref: '#/components/pathItems/It' }]),
        {
          components: {
            pathItems: { It: { get: done, servers: range(size, (at) => ({ url: `/v${at}` })) } },
          },
        },
      ),
  },
  {
    name: 'parameters of an operation',
    size: 2_000,
    document: (size) =>
      pathsOf({
        '/it': {
          get: { ...done, parameters: range(size, (at) => ({ name: `p${at}`, in: 'query', schema: text })) },
        },
      }),
  },
  {
    name: 'responses with headers',
    size: 400,
    document: (size) =>
      pathsOf({
        '/it': {
          get: {
            responses: object(Math.min(99, size), (at) => [
              String(200 + at),
              {
                headers: object(Math.ceil(size / 50), (header) => [`H${header}`, { schema: text }]),
                content: {
                  'application/json': { schema: { type: 'object', properties: { [`m${at}`]: text } } },
                },
              },
            ]),
          },
        },
      }),
  },
  {
    name: 'routes of the overlay',
    size: 1_000,
    document: (size) =>
      pathsOf(object(size, (at) => [`/p${at}`, { get: { operationId: `Get${at}`, ...done } }])),
    overlay: (size) => JSON.stringify({ routes: object(size, (at) => [`POST /r${at}`, `Get${at}`]) }),
  },
  {
    name: 'tags',
    size: 2_000,
    document: (size) => pathsOf({ '/it': { get: { ...done, tags: range(size, (at) => `t${at}`) } } }),
  },
  {
    name: 'members of a merge patch',
    size: 1_000,
    document: (size) =>
      pathsOf(
        {
          '/it': {
            patch: {
              ...done,
              requestBody: { content: { 'application/merge-patch+json': { schema: ref('Root') } } },
            },
          },
        },
        {
          components: {
            schemas: {
              Root: { properties: object(size, (at) => [`m${at}`, ref(`S${at}`)]) },
              ...object(size, (at) => [`S${at}`, { properties: { a: text } }]),
            },
          },
        },
      ),
  },
];
