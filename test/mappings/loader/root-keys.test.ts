import test from 'ava';
import { buildContract } from '../../../mappings/loader/build-contract.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';

const answers = {
  200: { description: 'ok', content: { 'application/json': { schema: { type: 'object' } } } },
};
const document = {
  openapi: '3.0.3',
  info: { title: 'T', version: '1' },
  paths: { '/a': { get: { operationId: 'getA', responses: answers } } },
};

function load(openapi: unknown) {
  return buildContract({ openapi, openapiName: 'o.yaml', overlay: {}, overlayName: 'soap.yaml' });
}

for (const [key, value, meant] of [
  ['servrs', [{ url: 'https://a.example' }], 'servers'],
  ['componets', { schemas: {} }, 'components'],
  ['Components', { schemas: {} }, 'components'],
  ['sercurity', [], 'security'],
  ['tag', [], 'tags'],
  ['webhook', {}, 'webhooks'],
] as const)
  test(`a misspelt key of the root is a warning: ${key}`, (t) => {
    const { warnings } = load({ ...document, [key]: value });
    const message = `expected a key of OpenAPI, got "${key}". Did you mean ${meant}?`;
    t.deepEqual(warnings, [{ file: 'o.yaml', pointer: `/${key}`, message }]);
  });

test('extensions, OpenAPI keys and dissimilar keys are no warning', (t) => {
  const { warnings } = load({
    ...document,
    'x-servrs': [],
    'x-paths': {},
    tags: [],
    jsonSchemaDialect: 'https://a.example',
    somethingElse: 1,
  });
  t.deepEqual(warnings, []);
});

test('a misspelt key of the root of a Swagger document is a warning', (t) => {
  const swagger = {
    swagger: '2.0',
    info: document.info,
    paths: { '/a': { get: { operationId: 'getA', responses: { 200: { description: 'ok' } } } } },
    basepath: '/v1',
  };
  t.deepEqual(
    load(swagger).warnings.map(({ message }) => message),
    ['expected a key of OpenAPI, got "basepath". Did you mean basePath?'],
  );
});

test('a misspelt key is reported before the dangling references that it causes', (t) => {
  const schema = { $ref: '#/components/schemas/A' };
  const content = { 'application/json': { schema } };
  const paths = {
    '/a': { get: { operationId: 'getA', responses: { 200: { description: 'ok', content } } } },
  };
  const componets = { schemas: { A: { type: 'object' } } };
  const error = t.throws(() => load({ ...document, paths, componets }), { instanceOf: ContractError });
  t.deepEqual(
    error?.problems.map(({ pointer }) => pointer),
    ['/componets', '/paths/~1a/get/responses/200/content/application~1json/schema/$ref'],
  );
});

test('a misspelt key is listed with other problems', (t) => {
  const error = t.throws(() => load({ ...document, paths: {}, servrs: [] }), { instanceOf: ContractError });
  t.deepEqual(
    error?.problems.map(({ pointer }) => pointer),
    ['/servrs', '/paths'],
  );
});
