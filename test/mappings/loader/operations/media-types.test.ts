import test from 'ava';
import { load } from '../../../plain/documents.ts';

test('a body whose media type has no name is of the type that its schema says, as one of any type is', (t) => {
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
