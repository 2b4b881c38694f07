import test from 'ava';
import type { Contract } from '../../mappings/contract/model.ts';
import { buildContract } from '../../mappings/loader/build-contract.ts';
import { compareContracts } from '../../wsdl/diff.ts';

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const grams = { type: 'integer', format: 'int32' };
const parcel: Schema = {
  type: 'object',
  required: ['to'],
  properties: {
    to: text,
    grams,
    state: { type: 'string', enum: ['new', 'sent'] },
    marks: { type: 'array', items: text },
  },
};

/** Returns an operation that takes and returns a schema. */
function passing(name: string, schema: Schema): object {
  const content = { 'application/json': { schema } };
  return {
    operationId: name,
    requestBody: { content },
    responses: { 200: { description: 'done', content } },
  };
}

/** Returns a contract with one operation that takes a parcel and one that returns one, with optional replacements. */
function contract(sent: Schema, given: Schema, overlay: object = {}, paths: object = {}): Contract {
  const openapi = {
    openapi: '3.1.0',
    info: { title: 'Parcels' },
    paths: {
      '/sent': {
        post: {
          operationId: 'Send',
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Sent' } } } },
          responses: { 204: { description: 'done' } },
        },
      },
      '/given': {
        get: {
          operationId: 'Get',
          responses: {
            200: {
              description: 'done',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Given' } } },
            },
          },
        },
      },
      ...paths,
    },
    components: { schemas: { Sent: sent, Given: given } },
  };
  return buildContract({ openapi, openapiName: 'openapi.yaml', overlay, overlayName: 'soap.yaml' }).contract;
}

const properties = parcel.properties as Schema;
/** Returns the parcel schema with additional members. */
const having = (others: Schema): Schema => ({ ...parcel, properties: { ...properties, ...others } });
/** Returns the parcel schema without a member. */
const lacking = (name: string): Schema => ({
  ...parcel,
  properties: Object.fromEntries(Object.entries(properties).filter(([key]) => key !== name)),
});
const enumOf = (...values: readonly string[]) => ({ state: { type: 'string', enum: values } });
const reordered: Schema = {
  ...parcel,
  properties: {
    grams: properties.grams,
    to: properties.to,
    state: properties.state,
    marks: properties.marks,
  },
};

for (const [what, next, inRequests, inReplies] of [
  ['a member that is gone', lacking('grams'), 'breaking', 'breaking'],
  ['a new optional member', having({ note: text }), 'compatible', 'strict'],
  ['a new required member', { ...having({ note: text }), required: ['to', 'note'] }, 'breaking', 'strict'],
  ['a member that is required', { ...parcel, required: ['to', 'grams'] }, 'breaking', undefined],
  ['a member that is no longer required', { ...parcel, required: [] }, 'compatible', undefined],
  ['another order', reordered, undefined, 'breaking'],
  ['a wider number', having({ grams: { type: 'integer', format: 'int64' } }), 'compatible', 'breaking'],
  ['a narrower number', having({ grams: { type: 'integer', format: 'int16' } }), 'breaking', 'compatible'],
  ['text in place of a number', having({ grams: text }), 'breaking', 'breaking'],
  ['a list in place of one', having({ to: { type: 'array', items: text } }), 'breaking', 'breaking'],
  [
    'a number that may be null',
    having({ grams: { type: ['integer', 'null'], format: 'int32' } }),
    'compatible',
    'strict',
  ],
  ['an enum value that is gone', having(enumOf('new')), 'breaking', 'compatible'],
  ['a new enum value', having(enumOf('new', 'sent', 'lost')), 'compatible', 'strict'],
  ['an enum that is open', having({ state: text }), 'compatible', 'strict'],
  [
    'items of another type',
    having({ marks: { type: 'array', items: { type: 'boolean' } } }),
    'breaking',
    'breaking',
  ],
  ['text that may not be empty', having({ to: { type: 'string', minLength: 1 } }), 'breaking', undefined],
  ['another description', { ...parcel, description: 'a box' }, undefined, undefined],
  [
    'a member with other words',
    having({ grams: { ...grams, description: 'what it weighs', default: 5, maximum: 9, deprecated: true } }),
    undefined,
    undefined,
  ],
] as const) {
  const before = contract(parcel, parcel);
  test(`${what} in requests is ${inRequests ?? 'no change'}`, (t) => {
    t.is(compareContracts(before, contract(next, parcel))[0]?.grade, inRequests);
  });
  test(`${what} in replies is ${inReplies ?? 'no change'}`, (t) => {
    t.is(compareContracts(before, contract(parcel, next))[0]?.grade, inReplies);
  });
}

for (const [what, next, expected] of [
  ['the same contract', contract(parcel, parcel), []],
  [
    'a base path',
    contract(parcel, parcel, { basePath: '/v2' }),
    ['breaking address: / is /v2; clients post to the address they were built with'],
  ],
  [
    'a namespace',
    contract(parcel, parcel, { namespaces: { types: 'urn:x' } }),
    [
      'breaking namespace of the types: urn:Parcels is urn:x; clients have it compiled in, and their calls are refused',
      'breaking namespace of the arrays: urn:Parcels is urn:x; clients have it compiled in, and their calls are refused',
    ],
  ],
  [
    'an operation renamed',
    contract(parcel, parcel, { operations: { Send: { name: 'Post' } } }),
    [
      'breaking Send: the operation is called Post; clients that call it meet a fault',
      'compatible Post: the operation is new; clients that are built do not know it',
    ],
  ],
  [
    'an operation hidden',
    contract(parcel, parcel, { operations: { Send: { hide: true } } }),
    ['breaking Send: the operation is gone; clients that call it meet a fault'],
  ],
  [
    'an operation added',
    contract(parcel, parcel, {}, { '/more': { post: passing('More', text) } }),
    ['compatible More: the operation is new; clients that are built do not know it'],
  ],
  [
    'a credential',
    contract(parcel, parcel, { credentials: { headers: { key: 'X-Key' } } }),
    ['breaking credential key: is required; calls without it are refused'],
  ],
  [
    'a setting that lets less through',
    contract(parcel, parcel, { soap12FaultStatus: 'standard' }),
    ['breaking soap12FaultStatus: compatible is standard; .NET and Lua read no fault that comes with 400'],
  ],
  ['a type by another name', contract(parcel, { allOf: [parcel] }), []],
] as const) {
  test(`diff: ${what}`, (t) => {
    t.deepEqual(
      compareContracts(contract(parcel, parcel), next).map(
        ({ grade, where, what: changed, why }) => `${grade} ${where}: ${changed}; ${why}`,
      ),
      expected,
    );
  });
}

test('a list or map whose entries change is reported by the name of the entry', (t) => {
  const inMap = (type: string): Schema =>
    having({ notes: { type: 'object', additionalProperties: { type } } });
  const found = (before: Schema, after: Schema): readonly string[] =>
    compareContracts(contract(before, parcel), contract(after, parcel)).map(
      ({ grade, where, what }) => `${grade} ${where}: ${what}`,
    );
  const values = found(inMap('string'), inMap('boolean'));
  t.is(values.length, 1);
  t.regex(values[0] ?? '', /^breaking .* in requests, Entry, Value: xs:string is xs:boolean$/);
  const items = found(parcel, having({ marks: { type: 'array', items: { type: 'boolean' } } }));
  t.deepEqual(items, [
    'breaking ArrayOfstring in requests, string: it is gone',
    'compatible ArrayOfstring in requests, boolean: it is new',
  ]);
});

test('names that change with the dialect are renamed elements, reported once each', (t) => {
  const changes = compareContracts(
    contract(parcel, parcel),
    contract(parcel, parcel, { names: 'upper-first' }),
  );
  t.true(changes.every(({ grade }) => grade === 'breaking'));
  t.true(changes.some(({ where, what }) => where === 'Sent in requests, to' && what === 'it is <To>'));
  t.is(new Set(changes.map(({ where }) => where)).size, changes.length);
});
