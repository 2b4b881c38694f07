import test from 'ava';
import { load } from '../../../plain/documents.ts';

test('a body with an unnamed media type has the type of its schema, like one of any type', (t) => {
  const bodies = ['', '*/*'].map((type) => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const post = {
      requestBody: { content: { [type]: { schema } } },
      responses: { 200: { description: '' } },
    };
    const { contract } = load({ openapi: '3.0.0', info: { title: 'Pets' }, paths: { '/pets': { post } } });
    return contract.operations[0]?.upstream.body;
  });
  t.like(bodies[0], { kind: 'json', mediaType: 'application/json' });
  t.deepEqual(bodies[0], bodies[1]);
});
