import test from 'ava';
import { buildContract } from '../../../../mappings/loader/build-contract.ts';

const number = (bounds: object): object => ({ type: 'number', ...bounds });

/** Returns the locations of numbers that are reported as unbounded. */
function unboundedOf(overlay: object, properties: object): readonly string[] {
  const openapi = {
    openapi: '3.1.0',
    info: { title: 'N' },
    paths: {
      '/n': {
        get: {
          operationId: 'n',
          responses: {
            200: {
              description: 'n',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/N' } } },
            },
          },
        },
      },
    },
    components: { schemas: { N: { type: 'object', properties } } },
  };
  const source = { openapi, openapiName: 'openapi.yaml', overlay, overlayName: 'soap.yaml' };
  const { unbounded } = buildContract(source);
  return unbounded
    .filter(({ why }) => why.includes('(decimal of .NET)'))
    .map(({ pointer }) => pointer.replace('/components/schemas/N/properties/', ''));
}

const properties = {
  any: number({}),
  above: number({ minimum: 0 }),
  below: number({ exclusiveMaximum: 9 }),
  both: number({ minimum: 0, maximum: 9 }),
  excluded: number({ exclusiveMinimum: 0, exclusiveMaximum: 9 }),
  older: number({ minimum: 0, exclusiveMinimum: true, maximum: 9 }),
  double: number({ format: 'double' }),
  whole: { type: 'integer' },
};

test('for .NET callers, a decimal without a bound is a warning', (t) => {
  const overlay = { dialect: 'servicestack', soapErrors: 'fault' };
  t.deepEqual(unboundedOf(overlay, properties), ['any', 'above', 'below']);
});

test('with the plain dialect it is not', (t) => {
  t.deepEqual(unboundedOf({}, properties), []);
});
