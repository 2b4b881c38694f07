import { buildContract, type LoadedContract } from '../../mappings/loader/build-contract.ts';
import type { ContractNames } from '../../mappings/loader/names/names.ts';
import { fc } from '../property.ts';

/** A small OpenAPI document whose schemas use all features. */
export interface SmallDocument {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Readonly<Record<string, object>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** Some names differ only by case and punctuation, some are not XML names, and one is reserved. */
const components = [
  ...['Card', 'Bank', 'account', 'Account', 'my.type', 'ArrayOfstring', 'Json', 'tree'],
  ...['1st', '日本', '名前'],
];
const members = [
  'id',
  'ID',
  'a b',
  'a-b',
  '@type',
  'größe',
  '1st',
  '',
  'class',
  'value',
  'AdditionalProperties',
];

const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
const references = fc.constantFrom(...components).map(ref);

const scalars: fc.Arbitrary<object> = fc.constantFrom<object>(
  { type: 'string' },
  { type: 'string', format: 'date' },
  { type: 'string', format: 'date-time' },
  { type: 'string', format: 'byte' },
  { type: 'string', format: 'uuid' },
  { type: 'string', enum: ['red', 'dark blue'] },
  { type: 'string', enum: ['asc', 'ASC', ''] },
  { type: 'integer' },
  { type: 'integer', format: 'int32', enum: [1, 2, 5] },
  { type: 'integer', format: 'uint64' },
  { type: 'number' },
  { type: 'number', format: 'double' },
  { type: 'boolean' },
  { const: 'fixed' },
  { type: ['string', 'null'] },
  { type: ['integer', 'null'] },
  {},
  { type: 'object' },
  { type: 'array', items: {} },
);

const { schema } = fc.letrec<{ schema: object; object: object; variants: object[] }>((tie) => ({
  object: fc
    .record({
      properties: fc.dictionary(fc.constantFrom(...members), tie('schema'), { maxKeys: 4 }),
      required: fc.subarray(members, { maxLength: 2 }),
      additionalProperties: fc.option(fc.oneof(tie('schema'), fc.boolean()), { nil: undefined, freq: 3 }),
    })
    .map(({ properties, required, additionalProperties }) => ({
      type: 'object',
      properties: Object.fromEntries(Object.entries(properties)),
      required,
      ...(additionalProperties === undefined ? {} : { additionalProperties }),
    })),
  variants: fc.array(tie('schema'), { minLength: 2, maxLength: 3 }),
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    references,
    tie('object'),
    tie('schema').map((items) => ({ type: 'array', items })),
    fc
      .tuple(tie('variants'), fc.oneof(fc.constantFrom(false, true), tie('schema')))
      .map(([prefixItems, items]) => ({ prefixItems, items })),
    tie('schema').map((additionalProperties) => ({ type: 'object', additionalProperties })),
    tie('variants').map((oneOf) => ({ oneOf })),
    tie('variants').map((anyOf) => ({ anyOf: [...anyOf, { type: 'null' }] })),
    tie('object').map((own) => ({ allOf: [ref('Card'), own] })),
    tie('variants').map((oneOf) => ({ type: 'object', properties: { id: { type: 'string' } }, oneOf })),
    fc.tuple(references, tie('variants')).map(([reference, anyOf]) => ({ ...reference, anyOf })),
    fc.tuple(references, tie('object')).map(([reference, own]) => ({ ...reference, ...own })),
    tie('variants').map((oneOf) => ({ allOf: [ref('Card'), { required: ['id'] }], oneOf })),
    fc.constant({ type: 'string', anyOf: [{ format: 'date' }, { format: 'uuid' }] }),
    fc.constant({ oneOf: [ref('Card'), ref('Bank')], discriminator: { propertyName: 'kind' } }),
    fc.constant({ type: ['string', 'number', 'boolean'] }),
  ),
}));

/** A variant of a discriminator must be an object with that member. */
const tagged = fc.dictionary(fc.constantFrom(...members), schema, { maxKeys: 3 }).map((properties) => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: { type: 'string' }, ...properties },
}));

const operationNames = [
  'getCard',
  'GetCard',
  'get-card',
  'account',
  'list_all',
  'ListAll',
  'listAllResponse',
  '2nd',
  '更新',
];

const requestTypes = ['application/json', 'application/merge-patch+json'];

/** Documents of up to five operations with eleven schemas. */
export const documents: fc.Arbitrary<SmallDocument> = fc
  .record({
    bodies: fc.array(
      fc.tuple(fc.constantFrom(...operationNames), fc.constantFrom(...requestTypes), schema, schema),
      {
        minLength: 1,
        maxLength: 5,
      },
    ),
    schemas: fc.tuple(tagged, tagged, ...components.slice(2).map(() => schema)),
  })
  .map(({ bodies, schemas }) => ({
    openapi: '3.1.0',
    info: { title: 'Small', version: '1' },
    paths: Object.fromEntries(
      bodies.map(([operationId, requestType, request, reply], index) => [
        `/p${index}`,
        {
          post: {
            operationId,
            requestBody: { content: { [requestType]: { schema: request } } },
            responses: { 200: { description: '', content: { 'application/json': { schema: reply } } } },
          },
        },
      ]),
    ),
    components: {
      schemas: withoutCircles(
        Object.fromEntries(components.map((name, index) => [name, schemas[index] ?? {}])),
      ),
    },
  }));

/** Replaces schemas that refer to themselves without an object in between, which no contract may have. */
function withoutCircles(schemas: Record<string, { readonly $ref?: string }>): Record<string, object> {
  const isCircular = (name: string, before: readonly string[]): boolean => {
    const next = schemas[name]?.$ref?.replace('#/components/schemas/', '');
    return next !== undefined && (before.includes(next) || isCircular(next, [...before, next]));
  };
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isCircular(name, [name]) ? {} : schema]),
  );
}

/** Loads a document, by default without an overlay. */
export function load(openapi: object, names?: ContractNames, overlay?: object): LoadedContract {
  return buildContract({
    openapi,
    openapiName: 'openapi.yaml',
    overlay,
    overlayName: 'soap.yaml',
    names,
  });
}
