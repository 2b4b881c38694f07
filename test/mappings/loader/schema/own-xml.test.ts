import test from 'ava';
import { load } from '../../../plain/documents.ts';

test('XML hints of a member’s schema are reported if its element differs', (t) => {
  const properties = {
    same: { type: 'string', xml: { name: 'same' } },
    called: { type: 'string', xml: { name: 'Other' } },
    id: { type: 'integer', xml: { attribute: true, namespace: 'urn:a', prefix: 'a' } },
    list: { type: 'array', items: { type: 'string' }, xml: { wrapped: true } },
    plain: { type: 'string' },
  };
  const content = { 'application/json': { schema: { type: 'object', properties } } };
  const paths = { '/pets': { get: { responses: { 200: { description: '', content } } } } };
  const { ownXml } = load({ openapi: '3.1.0', info: { title: 'Pets' }, paths });
  const schema = '/paths/~1pets/get/responses/200/content/application~1json/schema/properties';
  t.deepEqual(ownXml, [
    { pointer: `${schema}/called/xml`, why: 'the xml keyword says: has the name "Other"' },
    {
      pointer: `${schema}/id/xml`,
      why: 'the xml keyword says: is an attribute, has its own namespace',
    },
    { pointer: `${schema}/list/xml`, why: 'the xml keyword says: has a wrapper element' },
  ]);
});
