import { readFileSync } from 'node:fs';
import test from 'ava';
import { parse, parseDocument } from 'yaml';

type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly minLength?: number;
  readonly default?: unknown;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

interface Body {
  readonly description?: string;
  readonly content: { readonly 'application/json': { readonly schema: Schema; readonly example: Json } };
}

interface Post {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly requestBody: Body;
  readonly responses: { readonly '200': Body; readonly default: { readonly $ref: string } };
}

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly post: Post }>>;
  readonly components: {
    readonly responses: { readonly Error: Body };
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

interface Overlay {
  readonly service: string;
  readonly basePath: string;
  readonly namespaces: Readonly<Record<string, string>>;
  readonly credentials: {
    readonly member: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly secret: readonly string[];
  };
  readonly routes: Readonly<Record<string, string>>;
  readonly operations: Readonly<Record<string, { readonly readOnly: boolean }>>;
  readonly types: Readonly<Record<string, { readonly order?: readonly string[]; readonly item?: string }>>;
}

/** One element of a type: XML name, XSD type, nillable. */
type Row = readonly [string, string, boolean];

/** The type table of the screening contract, row by row. */
interface Table {
  readonly operations: readonly string[];
  readonly elements: Readonly<Record<string, readonly Row[]>>;
  readonly records: Readonly<Record<string, readonly Row[]>>;
  readonly arrays: Readonly<
    Record<string, { readonly namespace: string; readonly item: string; readonly type: string }>
  >;
  readonly maps: Readonly<Record<string, unknown>>;
  readonly enums: Readonly<Record<string, readonly string[]>>;
}

const text = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const files = ['openapi.yaml', 'soap.yaml'].map(
  (name) => [name, text(`../../../mappings/screening/${name}`)] as const,
);
const [api, overlay] = files.map(([, yaml]) => parse(yaml)) as unknown as [OpenApi, Overlay];
const table: Table = JSON.parse(text('../../fixtures/types-table.json'));
const posts = Object.values(api.paths).map((path) => path.post);
const schemas = api.components.schemas;

const xsdTypes: Readonly<Record<string, string>> = {
  string: 'xs:string',
  'string uuid': 'xs:string',
  'string date-time': 'xs:dateTime',
  'string base64': 'xs:base64Binary',
  boolean: 'xs:boolean',
  'integer int32': 'xs:int',
  'integer int64': 'xs:long',
  'integer int16': 'xs:short',
  'integer uint8': 'xs:unsignedByte',
  'number double': 'xs:double',
  'number decimal': 'xs:decimal',
  object: 'arr:ArrayOfKeyValueOfstringstring',
};

const wireForm = /^\/Date\(-?\d+(?:[+-]\d{4})?\)\/$/;
const upper = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const refName = (schema: Schema) => schema.$ref?.replace('#/components/schemas/', '');
const body = (of: Body) => of.content['application/json'];
const nullable = (schema: Schema) =>
  (Array.isArray(schema.type) && schema.type.includes('null')) ||
  (schema.anyOf?.some((one) => one.type === 'null') ?? false);

/** Removes null from a schema: `[T, 'null']` becomes T, `anyOf [$ref, null]` the reference. */
function bare(schema: Schema): Schema & { readonly type?: string } {
  const one = schema.anyOf?.find((option) => option.type !== 'null') ?? schema;
  const { type, ...rest } = one;
  const word = typeof type === 'string' ? type : type?.find((name) => name !== 'null');
  return word === undefined ? rest : { ...rest, type: word };
}

function named(name: string): Schema {
  const schema = schemas[name];
  if (schema === undefined) {
    throw new Error(`components.schemas: expected ${name}, got nothing`);
  }
  return schema;
}

/** Returns every member of an object schema, those of `allOf` first (W18). */
function members(schema: Schema): [string, Schema][] {
  const parts = schema.allOf ?? [];
  const name = refName(schema);
  return [
    ...(name === undefined ? [] : members(named(name))),
    ...parts.flatMap(members),
    ...Object.entries(schema.properties ?? {}),
  ];
}

function xsdType(schema: Schema): string {
  const one = bare(schema);
  const name = refName(one);
  if (name !== undefined) {
    return `tns:${name}`;
  }
  if (one.type === 'array') {
    const item = one.items ?? {};
    return item.$ref === undefined ? `arr:ArrayOf${item.type}` : `tns:ArrayOf${refName(item)}`;
  }
  const key = [one.type, one.format ?? one.contentEncoding].filter((word) => word !== undefined).join(' ');
  return xsdTypes[key] ?? `no XSD type for ${key}`;
}

/** Returns the elements of a type: order of W18, types and nillability of W33. */
function rows(type: string, schema: Schema, direction: 'request' | 'reply'): Row[] {
  const byJson = new Map(members(schema));
  const order = overlay.types[type]?.order ?? [
    ...(byJson.has('responseStatus') ? ['responseStatus'] : []),
    ...[...byJson.keys()].filter((name) => name !== 'responseStatus').sort(),
  ];
  return order.map((name) => {
    const member = byJson.get(name) ?? {};
    const xsd = xsdType(member);
    const plain = /^xs:(?!string|dateTime|base64Binary)/.test(xsd);
    return [upper(name), xsd, direction === 'reply' || !plain || member.default !== undefined];
  });
}

/** Returns the names of the components below a schema. The schema itself is included only if it is recursive. */
function reached(schema: Schema, into = new Set<string>()): Set<string> {
  const name = refName(schema);
  if (name !== undefined && !into.has(name)) {
    into.add(name);
    reached(named(name), into);
  }
  const below = [...Object.values(schema.properties ?? {}), ...(schema.allOf ?? []), ...(schema.anyOf ?? [])];
  for (const one of [...below, ...(schema.items === undefined ? [] : [schema.items])]) {
    reached(one, into);
  }
  return into;
}

const requestTypes = new Set(posts.flatMap((post) => [...reached(body(post.requestBody).schema)]));
const replyTypes = new Set(posts.flatMap((post) => [...reached(body(post.responses['200']).schema)]));

/** Every inline object and named type of requests, by its name in the table. */
const requestObjects: [string, Schema][] = [
  ...posts.map((post): [string, Schema] => [post.operationId, body(post.requestBody).schema]),
  ...[...requestTypes].map((name): [string, Schema] => [name, named(name)]),
];

/** Returns the reasons why a value is not an instance of a schema that forbids unknown members. */
function mismatches(schema: Schema, value: Json, path: string): string[] {
  const one = bare(schema);
  if (value === null) {
    return nullable(schema) ? [] : [`${path}: expected no null`];
  }
  if (one.enum !== undefined && !one.enum.includes(String(value))) {
    return [`${path}: expected one of ${one.enum.join(', ')}`];
  }
  const name = refName(one);
  if (name !== undefined) {
    return mismatches(named(name), value, path);
  }
  if (one.type === 'array') {
    return Array.isArray(value)
      ? value.flatMap((item: Json, i) => mismatches(one.items ?? {}, item, `${path}[${i}]`))
      : [`${path}: expected an array`];
  }
  if (one.type === 'object' || one.allOf !== undefined) {
    if (typeof value !== 'object' || Array.isArray(value)) {
      return [`${path}: expected an object`];
    }
    const known = new Map(members(one));
    const missing = (one.required ?? []).filter((member) => !Object.hasOwn(value, member));
    return [
      ...missing.map((member) => `${path}: expected ${member}`),
      ...Object.entries(value).flatMap(([key, item]) => {
        const member = known.get(key) ?? one.additionalProperties;
        return member === undefined
          ? [`${path}: expected no ${key}`]
          : mismatches(member, item, `${path}.${key}`);
      }),
    ];
  }
  const right =
    one.type === 'integer'
      ? Number.isSafeInteger(value)
      : one.format === 'date-time'
        ? wireForm.test(String(value))
        : typeof value === one.type && String(value).length >= (one.minLength ?? 0);
  return right ? [] : [`${path}: expected ${xsdType(one)}, got ${JSON.stringify(value)}`];
}

for (const [name, yaml] of files) {
  test(`${name} is strict YAML without duplicate keys, and reads the same in YAML 1.1`, (t) => {
    const document = parseDocument(yaml, { strict: true, uniqueKeys: true });
    t.deepEqual([...document.errors, ...document.warnings], []);
    t.deepEqual(parse(yaml, { version: '1.1' }), document.toJS());
  });
}

test('W35: the operations are the table’s, in its order, each a POST to /json/reply/{Op}', (t) => {
  t.deepEqual(
    posts.map((post) => post.operationId),
    table.operations,
  );
  t.deepEqual(
    Object.keys(api.paths),
    table.operations.map((name) => `/json/reply/${name}`),
  );
});

for (const post of posts) {
  const name = post.operationId;
  const call = body(post.requestBody);
  const reply = body(post.responses['200']);

  test(`W18, W33, W35: ${name} has the inputs and outputs of the table`, (t) => {
    t.deepEqual(rows(name, call.schema, 'request'), [...(table.elements[name] ?? [])]);
    t.deepEqual(rows(`${name}Response`, reply.schema, 'reply'), [
      ...(table.elements[`${name}Response`] ?? []),
    ]);
    t.is(Object.keys(call.schema.properties ?? {}).at(-1), 'authentication');
  });

  test(`${name} has descriptions, and examples that match its schemas`, (t) => {
    t.true([post.summary, post.description, post.responses['200'].description].every(Boolean));
    t.deepEqual(post.responses.default, { $ref: '#/components/responses/Error' });
    t.deepEqual(mismatches(call.schema, call.example, 'request'), []);
    t.deepEqual(mismatches(reply.schema, reply.example, 'reply'), []);
  });
}

test('the example of an error matches its schema', (t) => {
  const { schema, example } = body(api.components.responses.Error);
  t.deepEqual(mismatches(schema, example, 'error'), []);
});

for (const [name, expected] of Object.entries(table.records)) {
  test(`W18, W33: ${name} has the table’s elements`, (t) => {
    t.deepEqual(rows(name, named(name), requestTypes.has(name) ? 'request' : 'reply'), [...expected]);
  });
}

test('the named types are the table’s records and enums and the parts of allOf', (t) => {
  const parts = ['SearchResultCommon', 'PdfDocument'];
  const expected = [...Object.keys(table.records), ...Object.keys(table.enums), ...parts].sort();
  t.deepEqual(Object.keys(schemas).sort(), expected);
  t.deepEqual([...new Set([...requestTypes, ...replyTypes])].sort(), expected);
  t.deepEqual(
    [...requestTypes].filter((name) => replyTypes.has(name)),
    [],
  );
});

test('every named type has a description', (t) => {
  t.deepEqual(
    Object.keys(schemas).filter((name) => !named(name).description),
    [],
  );
});

test('enums have the table’s values in its order', (t) => {
  t.deepEqual(
    Object.keys(table.enums).map((name) => named(name).enum),
    Object.values(table.enums),
  );
});

test('W20: arrays are the table’s, with items named after their type or by the overlay', (t) => {
  const used = new Map<string, { namespace: string; item: string; type: string; nillable: boolean }>();
  for (const schema of Object.values(schemas)) {
    for (const [, member] of members(schema)) {
      const { type, items } = bare(member);
      if (type === 'array' && items !== undefined) {
        const name = refName(items);
        const item = name === undefined ? 'string' : (overlay.types[name]?.item ?? name);
        const namespace = name === undefined ? 'arrays' : 'types';
        used.set(xsdType(member).slice(4), { namespace, item, type: xsdType(items), nillable: true });
      }
    }
  }
  t.deepEqual(Object.fromEntries(used), { ...table.arrays });
});

test('W20: maps have text or null as values, like the one map type of the table', (t) => {
  const maps = Object.values(schemas)
    .flatMap(members)
    .filter(([, member]) => bare(member).type === 'object');
  t.deepEqual(Object.keys(table.maps), ['ArrayOfKeyValueOfstringstring']);
  t.deepEqual(
    maps.map(([name, member]) => [name, member.additionalProperties]),
    Array.from({ length: 2 }, () => ['meta', { type: ['string', 'null'] }]),
  );
});

test('W42: the gateway refuses a call without exactly these members', (t) => {
  const required = requestObjects.flatMap(([name, schema]) =>
    (schema.required ?? []).map((member) => `${name}.${member}`),
  );
  t.deepEqual(
    required.sort(),
    [
      ...table.operations.map((name) => `${name}.authentication`),
      'Authentication.apiUserId',
      'Authentication.apiUserKey',
      'DeleteClient.id',
      'GetDbsSearch.id',
      'UpdateSubUser.request',
      'UpdateSubUserRequest.subUserName',
    ].sort(),
  );
  const filled = requestObjects.flatMap(([, schema]) =>
    members(schema).filter(([, member]) => member.minLength !== undefined),
  );
  t.deepEqual(
    filled.map(([name, member]) => [name, member.minLength]),
    [['subUserName', 1]],
  );
});

test('W33: exactly daysIncomplete and isValidateMe have a default, which makes them nillable', (t) => {
  const all = [...requestObjects, ...[...replyTypes].map((name) => [name, named(name)] as const)];
  t.deepEqual(
    all.flatMap(([type, schema]) =>
      members(schema)
        .filter(([, member]) => 'default' in member)
        .map(([name, member]) => [type, name, member.default]),
    ),
    [
      ['CountIncompleteClients', 'daysIncomplete', 7],
      ['CountIncompleteClients', 'isValidateMe', true],
    ],
  );
});

test('a member may be null unless it is required or not nillable in the table', (t) => {
  const wrong: string[] = [];
  for (const [name, expected] of Object.entries({ ...table.records, ...table.elements })) {
    const schema = Object.fromEntries(requestObjects)[name] ?? schemas[name];
    for (const [json, member] of schema === undefined ? [] : members(schema)) {
      const nillable = expected.find(([xml]) => xml === upper(json))?.[2] ?? false;
      const reference = member.$ref !== undefined; // record members of a call, and the required enum of a reply
      const may = nillable && !reference && !(schema?.required?.includes(json) ?? false);
      if (nullable(member) !== may) {
        wrong.push(`${name}.${json}`);
      }
    }
  }
  t.deepEqual(wrong, []);
});

test('W21: only SubUser.userId is a uuid', (t) => {
  const uuids = Object.entries(schemas).flatMap(([name, schema]) =>
    members(schema)
      .filter(([, member]) => member.format === 'uuid')
      .map(([member]) => `${name}.${member}`),
  );
  t.deepEqual(uuids, ['SubUser.userId']);
});

test('W42: CountIncompleteClients accepts two of the values of ClientState', (t) => {
  const call = posts.find((post) => post.operationId === 'CountIncompleteClients');
  const state = call && body(call.requestBody).schema.properties?.state;
  t.is(state?.$ref, '#/components/schemas/ClientState');
  t.deepEqual(state?.enum, ['PendingCompletion', 'PendingVerification']);
});

test('W24, W31, W32: the overlay has the names of the family and of the specification', (t) => {
  t.is(overlay.service, 'ScreeningApi');
  t.is(overlay.basePath, '/v2');
  t.deepEqual(overlay.namespaces, {
    types: 'http://schemas.servicestack.net/types',
    arrays: 'http://schemas.microsoft.com/2003/10/Serialization/Arrays',
  });
  t.deepEqual(overlay.credentials.headers, {
    apiUserId: 'X-Api-User',
    apiUserKey: 'X-Api-Key',
    userId: 'X-User-Id',
  });
  t.deepEqual(overlay.credentials.secret, ['apiUserKey']);
});

test('W35: the overlay has the seven routes, with parameters of their operations', (t) => {
  t.deepEqual(overlay.routes, {
    'PUT /subusers/update': 'UpdateSubUser',
    'PUT /validid/update': 'UpdateValidId',
    'GET /clients/template': 'AddClientTemplate',
    'GET /dbs/{Id}?subUserName': 'GetDbsSearch',
    'PUT /peps/renew/all': 'RenewAllPepSearches',
    'DELETE /clients/{Id}': 'DeleteClient',
    'POST /sanctions/get': 'GetSearch',
  });
  for (const [route, name] of Object.entries(overlay.routes)) {
    const inputs = (table.elements[name] ?? []).map(([xml]) => xml);
    const parameters = [...route.matchAll(/\{(\w+)\}|[?&](\w+)/g)].map((match) =>
      upper(match[1] ?? match[2] ?? ''),
    );
    t.deepEqual(
      parameters.filter((parameter) => !inputs.includes(parameter)),
      [],
      route,
    );
  }
});

test('the overlay lists exactly the operations without side effects as read-only', (t) => {
  const writes = ['UpdateSubUser', 'UpdateValidId', 'RenewAllPepSearches', 'DeleteClient'];
  t.deepEqual(
    overlay.operations,
    Object.fromEntries(
      table.operations.filter((name) => !writes.includes(name)).map((name) => [name, { readOnly: true }]),
    ),
  );
});

test('an order of the overlay names every member of its type once', (t) => {
  const ordered = Object.entries(overlay.types).filter(([, type]) => type.order !== undefined);
  t.deepEqual(
    ordered.map(([name]) => name),
    ['ResponseStatus', 'ResponseError'],
  );
  for (const [name, type] of ordered) {
    t.deepEqual(
      [...(type.order ?? [])].sort(),
      members(named(name))
        .map(([json]) => json)
        .sort(),
    );
  }
});
