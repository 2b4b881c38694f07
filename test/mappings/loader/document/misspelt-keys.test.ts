import test from 'ava';
import { ContractError } from '../../../../mappings/loader/document/error.ts';
import { misspeltKeys } from '../../../../mappings/loader/document/misspelt-keys.ts';
import { readContract } from '../../../../mappings/loader/load.ts';
import { folderOf } from '../wsdl/wsdl-folder.ts';

const json = { schema: { type: 'string' } };
const operation = { responses: { 200: { description: 'ok', content: { 'application/json': json } } } };

for (const [pointer, meant, item] of [
  ['/gett', 'get', { gett: operation }],
  ['/paramaters', 'parameters', { get: operation, paramaters: [] }],
  ['/get/operationID', 'operationId', { get: { ...operation, operationID: 'a' } }],
  ['/post/requestbody', 'requestBody', { post: { ...operation, requestbody: {} } }],
  ['/get/respones', 'responses', { get: { respones: {} } }],
  ['/post/requestBody/contnet', 'content', { post: { ...operation, requestBody: { contnet: {} } } }],
  ['/get/responses/200/contents', 'content', { get: { responses: { 200: { contents: {} } } } }],
  [
    '/get/responses/200/content/application~1json/schem',
    'schema',
    { get: { responses: { 200: { content: { 'application/json': { schem: {} } } } } } },
  ],
] as const) {
  test(`the misspelt key ${pointer} of a path is found, with ${meant}`, (t) => {
    const key = pointer.slice(pointer.lastIndexOf('/') + 1);
    const why = `expected a key of OpenAPI, got "${key}". Did you mean ${meant}?`;
    t.deepEqual(misspeltKeys({ paths: { '/a/{b}': item } }), [{ pointer: `/paths/~1a~1{b}${pointer}`, why }]);
  });
}

test('known keys, extensions, references and keys of other tools are not misspelt', (t) => {
  const item = { $ref: 'a', 'x-get': 1, get: { ...operation, security: [], securitys: [], owner: 'me' } };
  t.deepEqual(misspeltKeys({ paths: { '/a': item, 'x-paths': { gett: {} } } }), []);
  t.deepEqual(misspeltKeys({}), []);
});

test('at most 1,000 unknown keys are compared', (t) => {
  const many = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`unknown${at}`, 1]));
  t.is(misspeltKeys({ paths: { '/a': { ...many(999), gett: {} } } }).length, 1);
  t.is(misspeltKeys({ paths: { '/a': { ...many(1_000), gett: {} } } }).length, 0);
});

test('a misspelt key is a warning, and part of the error if nothing is left to serve', (t) => {
  const place = (item: object): string =>
    folderOf(t, {
      'openapi.json': JSON.stringify({
        openapi: '3.1.0',
        info: { title: 'A', version: '1' },
        paths: { '/a': item },
      }),
    });
  const message = 'expected a key of OpenAPI, got "gett". Did you mean get?';
  t.like(readContract(place({ post: operation, gett: operation })).warnings, [
    { pointer: '/paths/~1a/gett', message },
  ]);
  const error = t.throws(() => readContract(place({ gett: operation })), { instanceOf: ContractError });
  t.deepEqual(
    error?.problems.map(({ pointer }) => pointer),
    ['/paths', '/paths/~1a/gett'],
  );
});
