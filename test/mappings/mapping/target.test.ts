import test from 'ava';
import { SchemaReader } from '../../../mappings/mapping/schemas.ts';
import { targetOperation } from '../../../mappings/mapping/target.ts';

/** An operation of an OpenAPI document as the target of a mapping (M1). */

for (const [types, taken] of [
  [['application/x-ndjson', 'application/json'], 'application/json'],
  [['text/json', 'application/vnd.x+json; charset=utf-8'], 'application/vnd.x+json; charset=utf-8'],
  [['application/json-seq', 'application/*+json', 'application/geo+json'], 'application/geo+json'],
  [['application/jsonl'], ''],
] as const)
  test(`of ${types.join(' and ')} the body is ${taken === '' ? 'none' : taken}, and this is reported`, (t) => {
    const content = Object.fromEntries(types.map((type) => [type, { schema: { title: type } }]));
    const root = { paths: { '/do': { post: { requestBody: { content } } } } };
    const operation = targetOperation(root, new SchemaReader(root, 100), 'POST', '/do');
    if (typeof operation === 'string') throw new Error(operation);
    t.is(operation.bodyType, taken);
    t.deepEqual(operation.schemas.body, taken === '' ? undefined : { title: taken });
  });
