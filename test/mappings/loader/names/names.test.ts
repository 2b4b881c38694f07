import test from 'ava';
import { buildContract, type LoadedContract } from '../../../../mappings/loader/build-contract.ts';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import type { ContractNames } from '../../../../mappings/loader/names/names.ts';
import {
  compileOperationNames,
  type OperationNames,
} from '../../../../mappings/loader/names/operation-names.ts';
import { fc } from '../../../property.ts';

const json = (schema: object): object => ({ content: { 'application/json': { schema } } });
const done = { 204: { description: 'done' } };

function build(
  paths: object,
  components: object = {},
  overlay: object = {},
  names?: ContractNames,
): LoadedContract {
  return buildContract({
    openapi: { openapi: '3.1.0', info: { title: 'Names', version: '1' }, paths, components },
    openapiName: 'openapi.yaml',
    overlay,
    overlayName: 'soap.yaml',
    names,
  });
}

const namesOf = ({ contract }: LoadedContract): readonly string[] =>
  contract.operations.map(({ name }) => name);
const typesOf = ({ contract }: LoadedContract): readonly string[] => contract.types.map(({ name }) => name);

// --- operations -------------------------------------------------------------------------------------

test('fastapi: the function’s name in PascalCase', (t) => {
  const name = compileOperationNames('fastapi');
  const rows = [
    ['create_flow_flows__post', '/flows/', 'post', 'CreateFlow'],
    ['read_flow_flows__id__get', '/flows/{id}', 'get', 'ReadFlow'],
    ['count_api_v2_collections_tenants__tenant__get', '/api/v2/collections/tenants/{tenant}', 'get', 'Count'],
    ['hello_version_version_get', '/version', 'get', 'HelloVersion'],
    ['all_x_y_post', '/x-y', 'get', 'All'],
    ['listThings', '/things', 'get', ''],
    ['_things_get', '/things', 'get', ''],
  ] as const;
  for (const [operationId, path, method, expected] of rows)
    t.is(name({ operationId, path, method, tag: '' }), expected);
});

test('fastapi: the function’s name is found for every function, path and method', (t) => {
  const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
  const name = compileOperationNames('fastapi');
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 3 }),
      fc.array(
        fc.oneof(
          word,
          word.map((one) => `{${one}}`),
        ),
        { maxLength: 4 },
      ),
      fc.constantFrom('get', 'put', 'post', 'delete', 'patch'),
      (words, segments, method) => {
        const path = `/${segments.join('/')}`;
        const operationId = `${words.join('_')}${path.replace(/\W/g, '_')}_${method}`;
        const expected = words.map((one) => one.charAt(0).toUpperCase() + one.slice(1)).join('');
        t.is(name({ operationId, path, method, tag: '' }), expected);
      },
    ),
  );
});

test('rules: the first rule whose conditions all match names an operation', (t) => {
  const rules: OperationNames = [
    { operationId: '([a-z-]+)/([a-z-]+)-for-([a-z-]+)', name: '{2}{1:singular}Of{3}' },
    { operationId: '([a-z-]+)/([a-z-]+)', name: '{2}{1:singular}' },
    { path: '/v1/(\\w+)/.*', method: 'GET', name: 'Get{path1:singular}' },
    { tag: '(.+)', method: 'delete', name: 'Delete{tag:singular}' },
  ];
  const name = compileOperationNames(rules);
  const rows = [
    ['issues/create', '/issues', 'post', '', 'CreateIssue'],
    ['repositories/list-for-user', '/x', 'get', '', 'ListRepositoryOfUser'],
    ['classes/get-status', '/x', 'get', '', 'GetStatusClass'],
    ['', '/v1/boxes/{id}', 'get', '', 'GetBox'],
    ['', '/v1/boxes/{id}', 'put', '', ''],
    ['', '/v1', 'delete', 'Old news', 'DeleteOldNews'],
  ] as const;
  for (const [operationId, path, method, tag, expected] of rows)
    t.is(name({ operationId, path, method, tag }), expected);
});

test('operationNames names operations; an operation without a matching rule keeps its name', (t) => {
  const paths = {
    '/issues': {
      post: { operationId: 'issues/create', responses: done },
      get: { operationId: 'list', responses: done },
    },
    '/pulls': { post: { operationId: 'pulls/create', responses: done } },
  };
  const operationNames = [{ operationId: '(.+)/(.+)', name: '{2}{1:singular}' }];
  t.deepEqual(namesOf(build(paths, {}, { operationNames })), ['list', 'CreateIssue', 'CreatePull']);
  t.deepEqual(namesOf(build(paths)), ['list', 'issues_create', 'pulls_create']);
  const kept = build(paths, {}, { operationNames }, build(paths).names);
  t.deepEqual(namesOf(kept), ['list', 'issues_create', 'pulls_create']);
});

test('colliding names of operations are made unique, and the wanted names are recorded', (t) => {
  const paths = {
    '/a': { get: { operationId: 'x/a', responses: done } },
    '/b': { get: { operationId: 'x/b', responses: done } },
  };
  const loaded = build(paths, {}, { operationNames: [{ operationId: '(x)/.*', name: 'Get{1}' }] });
  t.regex(namesOf(loaded).join(), /^GetX,GetX_[0-9a-f]{4}$/);
  t.deepEqual([...loaded.wantedOperations.values()], ['GetX', 'GetX']);
});

test('an invalid rule is an error with its position', (t) => {
  const wrong = (operationNames: unknown): string =>
    t.throws(() => build({ '/a': { get: { responses: done } } }, {}, { operationNames }), {
      instanceOf: ContractError,
    }).message;
  t.is(
    wrong([{ operationId: '(a', name: 'A' }]),
    'soap.yaml#/operationNames/0/operationId: expected a pattern that RE2 can match, got "(a"',
  );
  t.regex(wrong([{ operationId: 'a' }]), /\/operationNames\/0: expected the key name, got none/);
  t.regex(wrong([{ name: '{nothing}' }]), /\/operationNames\/0\/name: expected a name such as/);
  t.regex(wrong('flask'), /\/operationNames: expected one of fastapi/);
  t.regex(wrong([{ operationId: 'x'.repeat(201), name: 'A' }]), /a pattern of at most 200 characters/);
  t.notThrows(() =>
    build(
      { '/a': { get: { responses: done } } },
      {},
      { operationNames: [{ operationId: 'x'.repeat(200), name: 'A' }] },
    ),
  );
});

// --- types ------------------------------------------------------------------------------------------

const sharing = {
  paths: Object.fromEntries(
    ['a', 'b', 'c'].map((name) => [
      `/${name}`,
      {
        get: {
          operationId: name,
          parameters: [{ $ref: '#/components/parameters/sort-by' }],
          requestBody: { $ref: '#/components/requestBodies/filter' },
          responses: { 200: { $ref: '#/components/responses/page' } },
        },
        delete: { operationId: `drop${name}`, responses: done },
      },
    ]),
  ),
  components: {
    parameters: {
      'sort-by': { name: 'sort', in: 'query', schema: { type: 'string', enum: ['up', 'down'] } },
    },
    requestBodies: { filter: json({ type: 'object', properties: { word: { type: 'string' } } }) },
    responses: {
      page: { description: 'a page', ...json({ type: 'object', properties: { next: { type: 'string' } } }) },
    },
  },
} as const;

test('types of a component are created once, with a name that depends only on the component', (t) => {
  t.deepEqual(typesOf(build(sharing.paths, sharing.components)), [
    'Empty',
    'FilterBody',
    'PageResult',
    'SortByParameter',
  ]);
  const { '/a': one } = sharing.paths;
  t.deepEqual(typesOf(build({ '/a': one }, sharing.components)), [
    'Empty',
    'FilterBody',
    'PageResult',
    'SortByParameter',
  ]);
});

test('names.lock names types after their operations', (t) => {
  const names: ContractNames = {
    operations: new Map(),
    types: new Map([
      ['/components/parameters/sort-by/schema#ASort', 'ASort'],
      ['/components/parameters/sort-by/schema#aSort', 'aSort'],
      ['/components/responses/page/content/application~1json/schema#bResult', 'bResult'],
      ['/paths/~1c/delete/responses/204#dropcResult', 'dropcResult'],
    ]),
    members: new Map(),
  };
  t.deepEqual(typesOf(build(sharing.paths, sharing.components, {}, names)), [
    'Empty',
    'FilterBody',
    'PageResult',
    'SortByParameter',
    'aSort',
    'bResult',
    'dropcResult',
  ]);
});

const variants = {
  '/a': {
    get: {
      operationId: 'a',
      responses: {
        200: {
          description: '',
          ...json({
            oneOf: [
              { title: 'bank transfer', type: 'object', properties: { iban: { type: 'string' } } },
              {
                type: 'object',
                required: ['card', 'name'],
                properties: { card: { type: 'string' }, name: {}, note: {} },
              },
              { type: 'object', properties: { w: {}, x: {}, y: {}, z: { type: 'string' } } },
              { type: 'object', properties: { w: {}, x: {}, y: {}, z: { type: 'integer' } } },
            ],
          }),
        },
      },
    },
  },
};

function variantsOf({ contract }: LoadedContract): readonly string[] {
  const union = contract.types.find((type) => type.kind === 'union');
  return union?.kind === 'union' ? union.variants.map(({ xml }) => xml) : [];
}

test('a variant is named by its title, by its required members, or by a number', (t) => {
  const loaded = build(variants);
  t.regex(variantsOf(loaded).join(), /^BankTransfer,WithCardName,Option[0-9a-f]{4},Option[0-9a-f]{4},Json$/);
  t.deepEqual(variantsOf(build(variants, {}, {}, loaded.names)), variantsOf(loaded));
});

test('names.lock keeps variants named by numbers', (t) => {
  const names: ContractNames = {
    operations: new Map(),
    types: new Map(),
    members: new Map([
      [
        '/paths/~1a/get/responses/200/content/application~1json/schema#aResult/variants/Option0000',
        'Option0000',
      ],
    ]),
  };
  t.is(variantsOf(build(variants, {}, {}, names))[0], 'BankTransfer');
  const digits = (title: string): string => {
    const [first = ''] = variantsOf(
      build({
        '/a': {
          get: {
            operationId: 'a',
            responses: {
              200: {
                description: '',
                ...json({
                  oneOf: [
                    { title, type: 'object', properties: { a: {} } },
                    { title, type: 'object', properties: { b: {} } },
                    { type: 'object', properties: { a: {}, b: {} } },
                  ],
                }),
              },
            },
          },
        },
      }),
    );
    return first;
  };
  t.is(digits('same'), 'WithA');
});

test('names of operations and types have at most 60 characters, and stay unique', (t) => {
  const long = 'x'.repeat(80);
  const operationIds = [`${long}a`, `${long}b`, 'y'.repeat(52), 'z'.repeat(53)];
  const paths = Object.fromEntries(
    operationIds.map((operationId, index) => [
      `/${index}`,
      {
        get: {
          operationId,
          responses: {
            200: {
              description: '',
              ...json({ type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }),
            },
          },
        },
      },
    ]),
  );
  const loaded = build(paths);
  const names = [...namesOf(loaded).flatMap((name) => [name, `${name}Response`]), ...typesOf(loaded)];
  t.is(new Set(names).size, names.length);
  t.true(Math.max(...names.map(({ length }) => length)) <= 60, names.join());
  t.is(namesOf(loaded)[2], 'y'.repeat(52));
  t.regex(namesOf(loaded)[3] ?? '', /^z{47}_[0-9a-f]{4}$/);
});

test('members called self, _soapheaders and attributes are renamed, no others', (t) => {
  const properties = Object.fromEntries(
    [
      'self',
      'Self',
      'itself',
      '_soapheaders',
      'attributes',
      'Attributes',
      '$value',
      '$xml',
      '$attributes',
    ].map((name) => [name, { type: 'string' }]),
  );
  const { contract } = build(
    {
      '/a': {
        get: {
          operationId: 'a',
          responses: { 200: { description: '', ...json({ $ref: '#/components/schemas/Thing' }) } },
        },
      },
    },
    { schemas: { Thing: { type: 'object', properties } } },
  );
  const record = contract.types.find(({ name }) => name === 'Thing');
  const elements = record?.kind === 'record' ? record.fields.map(({ xml }) => xml).join() : '';
  t.regex(
    elements,
    /^self_[0-9a-f]{4},Self,itself,_soapheaders_[0-9a-f]{4},attributes_[0-9a-f]{4},Attributes.*,_x0024_value,_x0024_xml,_x0024_attributes$/,
  );
});
