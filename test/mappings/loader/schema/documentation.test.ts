import test from 'ava';
import type { Field, NamedType, Words } from '../../../../mappings/contract/model.ts';
import { buildContract } from '../../../../mappings/loader/build-contract.ts';

type Schema = Readonly<Record<string, unknown>>;

const schemas = {
  Mail: { type: 'string', format: 'email', maxLength: 64, description: 'Where letters go.' },
  State: { type: 'string', enum: ['new', 'sent', 'lost'], description: 'How far it is.' },
  Box: { type: 'object', description: 'A box.', maxProperties: 3, properties: { side: { type: 'number' } } },
  Marks: { type: 'array', description: 'What stands on it.', maxItems: 10, items: { type: 'string' } },
};
const ref = (name: keyof typeof schemas) => ({ $ref: `#/components/schemas/${name}` });

function contractOf(member: unknown, version: string, operation: Schema = {}) {
  const body = { type: 'object', properties: { member } };
  const openapi = {
    openapi: version,
    info: { title: 'Parcels' },
    paths: {
      '/parcels': {
        post: {
          operationId: 'Send',
          requestBody: { content: { 'application/json': { schema: body } } },
          responses: { 204: { description: 'sent' } },
          ...operation,
        },
      },
    },
    components: { schemas },
  };
  return buildContract({ openapi, openapiName: 'openapi.yaml', overlay: {}, overlayName: 'soap.yaml' })
    .contract;
}

/** Returns the documentation of a member with this schema. */
function wordsOf(member: unknown, version = '3.1.0'): Words | undefined {
  const [body] = contractOf(member, version).operations[0]?.input.fields ?? [];
  return body?.type.kind === 'record' ? body.type.fields[0]?.words : undefined;
}

for (const [schema, facts] of [
  [{ type: 'string', default: 'a' }, 'Default: a.'],
  [{ type: 'integer', default: 5, minimum: 1, maximum: 10 }, 'Default: 5. From 1, up to 10.'],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1.5 }, 'Above 0, below 1.5.'],
  [{ type: 'number', maximum: 5, multipleOf: 0.01 }, 'Up to 5. Multiple of 0.01.'],
  [{ type: 'string', format: 'email', pattern: '^a+$' }, 'Format: email. Pattern: ^a+$.'],
  [{ type: 'string', pattern: '^.*/[*/]$' }, 'Pattern: ^.*\\/[*\\/]$.'],
  [{ type: 'string', format: 'of our own' }, 'Format: of our own.'],
  [{ type: 'integer', format: 'unix-time' }, 'Format: unix-time.'],
  [{ type: 'string', minLength: 1, maxLength: 64 }, 'Length: 1 to 64.'],
  [{ type: 'string', minLength: 8, maxLength: 8 }, 'Length: 8.'],
  [{ type: 'string', minLength: 0, maxLength: 8 }, 'Length: at most 8.'],
  [{ type: 'integer', enum: [1, 2, 5] }, 'One of: 1, 2, 5.'],
  [{ type: 'string', enum: ['', 'a', 'A', 'b, c', ' d'] }, 'One of: "", a, A, "b, c", " d".'],
  [{ type: 'boolean', const: true }, 'Always: true.'],
  [
    { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
    'Items: at least 1. No item twice.',
  ],
  [{ type: 'array', items: ref('Mail') }, 'Each item: Format: email. Length: at most 64.'],
  [
    { type: 'object', additionalProperties: { type: 'string', maxLength: 2 }, maxProperties: 3 },
    'Members: at most 3. Each value: Length: at most 2.',
  ],
  [{ type: 'string', readOnly: true, deprecated: true }, 'Read only. Deprecated.'],
  [{ type: 'string', writeOnly: true }, 'Write only.'],
  [{ default: { a: [1, null] } }, 'Default: {"a":[1,null]}.'],
] as const) {
  test(`${JSON.stringify(schema)} is documented as "${facts}"`, (t) => {
    t.deepEqual(wordsOf(schema), { description: '', facts });
  });
}

for (const [why, schema] of [
  ['its type says all', { type: 'integer', format: 'int32' }],
  ['its dates are of a type', { type: 'string', format: 'date-time' }],
  ['its values stand in the schema', { type: 'string', enum: ['a', 'b'] }],
  ['the type of its items has words of its own', { type: 'array', items: ref('Box') }],
  ['the type that it refers to has words of its own', ref('Box')],
  ['digits of its bounds are lost', { type: 'integer', format: 'int64', maximum: 2 ** 63 }],
  ['digits of its default are lost', { type: 'array', items: {}, default: [[2 ** 60]] }],
  ['its type in line has its description', { ...schemas.Box, maxProperties: undefined }],
] as const) {
  test(`a member has no documentation if ${why}`, (t) => {
    t.is(wordsOf(schema), undefined);
  });
}

test('a recursive default is not documented', (t) => {
  const circle: unknown[] = [];
  circle.push(circle);
  t.is(wordsOf({ type: 'array', items: { type: 'string' }, default: circle }), undefined);
});

test('a type without a place for its description is documented by each member that uses it', (t) => {
  t.deepEqual(wordsOf(ref('Mail')), {
    description: 'Where letters go.',
    facts: 'Format: email. Length: at most 64.',
  });
  t.deepEqual(wordsOf(ref('Marks')), { description: 'What stands on it.', facts: 'Items: at most 10.' });
  t.deepEqual(wordsOf(ref('State')), { description: 'How far it is.', facts: '' });
});

test('a description next to a $ref belongs to the member, and adds to the target’s', (t) => {
  const beside = { ...ref('Mail'), description: ' Mine. ', maxLength: 9, default: 'a@b' };
  t.deepEqual(wordsOf(beside), {
    description: 'Mine.',
    facts: 'Default: a@b. Format: email. Length: at most 9.',
  });
  t.deepEqual(wordsOf({ ...ref('Box'), description: 'Mine.' }), { description: 'Mine.', facts: '' });
  t.deepEqual(wordsOf({ ...ref('State'), enum: ['new', 'sent'] }), {
    description: 'How far it is.',
    facts: 'One of: new, sent.',
  });
});

test('OpenAPI 3.0 keeps only the description next to a $ref', (t) => {
  t.deepEqual(wordsOf({ ...ref('Mail'), description: 'Mine.', maxLength: 9 }, '3.0.3'), {
    description: 'Mine.',
    facts: 'Format: email. Length: at most 64.',
  });
});

test('OpenAPI 3.0 marks an exclusive bound by a boolean', (t) => {
  const schema = { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false };
  t.is(wordsOf(schema, '3.0.3')?.facts, 'Above 0, up to 9.');
});

test('the parts of an allOf, and a nullable type, are documented as one', (t) => {
  t.deepEqual(wordsOf({ allOf: [ref('Mail'), { minLength: 3 }], description: 'Mine.' }), {
    description: 'Mine.',
    facts: 'Format: email. Length: 3 to 64.',
  });
  t.is(wordsOf({ anyOf: [ref('Mail'), { type: 'null' }] })?.description, 'Where letters go.');
});

const described: Schema = {
  parameters: [
    {
      name: 'page',
      in: 'query',
      description: 'Which page.',
      deprecated: true,
      schema: { type: 'integer', default: 1, description: 'A number.' },
    },
    { name: 'X-Sort', in: 'header', schema: { type: 'string', description: 'By what.' } },
  ],
  requestBody: {
    description: 'What is sent.',
    required: true,
    content: { 'application/json': { schema: ref('Box') } },
  },
  responses: {
    200: {
      description: '',
      headers: { 'X-Left': { description: 'Calls that are left.', schema: { type: 'integer' } } },
      content: { 'application/json': { schema: ref('Mail') } },
    },
  },
};

test('descriptions of parameters, bodies and headers precede those of their schemas', (t) => {
  const { operations, types } = contractOf({}, '3.1.0', described);
  t.deepEqual(wordsByName(operations[0]?.input.fields), {
    page: 'Which page.|Default: 1. Deprecated.',
    X_Sort: 'By what.|',
    Body: 'What is sent.|',
  });
  const result = types.find(({ name }) => name === 'SendResult');
  t.deepEqual(wordsByName(fieldsOf(result)), {
    'X-Left': 'Calls that are left.|',
    Body: 'Where letters go.|Format: email. Length: at most 64.',
  });
});

test('positions of a list have their own descriptions', (t) => {
  const longitude = { type: 'number', description: 'Longitude.', minimum: -180, maximum: 180 };
  const { types } = contractOf({ type: 'array', prefixItems: [longitude, { type: 'string' }] }, '3.1.0');
  const tuple = types.find(({ kind }) => kind === 'tuple');
  t.deepEqual(tuple?.kind === 'tuple' && tuple.positions.map(({ words }) => words), [
    { description: 'Longitude.', facts: 'From -180, up to 180.' },
    undefined,
  ]);
});

test('a file among the parts of a body keeps its description', (t) => {
  const file = { type: 'string', format: 'binary', description: 'A photograph.' };
  const schema = { type: 'object', properties: { photo: file } };
  const { types } = contractOf({}, '3.1.0', {
    requestBody: { content: { 'multipart/form-data': { schema } } },
  });
  t.deepEqual(wordsByName(fieldsOf(types.find(({ name }) => name === 'SendBody'))), {
    photo: 'A photograph.|',
  });
});

function fieldsOf(type: NamedType | undefined): readonly Field[] {
  return type?.kind === 'record' ? type.fields : [];
}

function wordsByName(fields: readonly Field[] = []): object {
  return Object.fromEntries(
    fields.flatMap(({ xml, words }) =>
      words === undefined ? [] : [[xml, `${words.description}|${words.facts}`]],
    ),
  );
}
