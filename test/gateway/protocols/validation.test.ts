import test, { type ExecutionContext } from 'ava';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { folderOf } from '../../plain/folders.ts';
import { file } from '../commands/file.ts';
import { send, soap11Namespace, startGateway, statusOf } from '../gateway.ts';

const strict = folderOf('strict-validation');

test('patternSteps: two letters and a digit take 32 steps, three digits 48', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: strict }, limits: { patternSteps: 32 } });
  gateway.answer({ status: 204, body: '' });
  const put = async (id: string) => {
    const body = `<putStrict xmlns="urn:Strict"><id>${id}</id></putStrict>`;
    const envelope = `<s:Envelope xmlns:s="${soap11Namespace}"><s:Body>${body}</s:Body></s:Envelope>`;
    const headers = { 'Content-Type': 'text/xml; charset=utf-8' };
    return (await send(gateway.port, 'POST', '/soap11', headers, envelope)).text;
  };
  t.true((await put('GB1')).includes('putStrictResponse'));
  t.true((await put('GB123')).includes('id: expected less text to match with patterns in one request'));
});

/** Starts a gateway for a contract with one operation, with some limits. */
async function startWith(t: ExecutionContext, operation: object, limits: Partial<Limits>) {
  const openapi = {
    openapi: '3.1.0',
    info: { title: 'Limits', version: '1' },
    paths: { '/': { post: { operationId: 'put', responses: { 204: { description: '' } }, ...operation } } },
  };
  const contract = {
    openapi: file(t, JSON.stringify(openapi)),
    overlay: file(t, JSON.stringify({ validate: 'strict' })),
  };
  const gateway = await startGateway(t, { serve: { contract }, limits });
  gateway.answer({ status: 204, body: '' });
  const headers = { 'Content-Type': 'application/json' };
  const put = (body: object) => send(gateway.port, 'POST', '/json/reply/put', headers, JSON.stringify(body));
  return { put, hits: gateway.hits };
}

const bodyOf = (type: string, schema: object) => ({ requestBody: { content: { [type]: { schema } } } });

test('rereadText: a nested list is read twice, and once more each with unique items', async (t) => {
  const list = { type: 'array', uniqueItems: true, items: { type: 'string' } };
  const schema = { type: 'array', minItems: 1, items: list };
  const { put } = await startWith(t, bodyOf('application/json', schema), { rereadText: 19 });
  t.is((await put({ Body: [['a']] })).status, 204); // 5 characters are counted twice, and 7 once
  const refused = await put({ Body: [['ab']] });
  t.is(refused.status, 400);
  t.regex(refused.text, /expected less in lists and objects/);
});

test('parameterText: eight characters of JSON and text fit into a query, nine do not', async (t) => {
  const q = { name: 'q', in: 'query', schema: { type: 'string' } };
  const { put, hits } = await startWith(t, { parameters: [q] }, { parameterText: 8 });
  t.is((await put({ q: 'abcdef' })).status, 204);
  t.is((await put({ q: 'abcdefg' })).status, 400);
  const refused = await put({ q: 'éé' }); // q=%C3%A9%C3%A9
  t.is(refused.status, 400);
  t.regex(refused.text, /q: expected at most 8 characters for its place, got more characters/);
  t.is(hits.length, 1);
});

test('parameterText: a name is part of the text of each member, and counts each time', async (t) => {
  const d = {
    name: 'd',
    in: 'query',
    style: 'deepObject',
    schema: { type: 'object', additionalProperties: {} },
  };
  const { put, hits } = await startWith(t, { parameters: [d] }, {});
  const members = Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [index, 1]));
  const refused = await put({ d: { ['k'.repeat(30_000)]: members } });
  t.is(refused.status, 400);
  t.regex(refused.text, /d: expected at most 65536 characters for its place, got more characters/);
  t.is(hits.length, 0);
});

test('formText: a form of that many characters is sent, one more is refused', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const { put, hits } = await startWith(t, bodyOf('application/x-www-form-urlencoded', schema), {
    formText: 6,
  });
  t.is((await put({ Body: { a: 'bcde' } })).status, 204);
  const refused = await put({ Body: { a: 'bcdef' } });
  t.is(refused.status, 400);
  t.regex(refused.text, /Body\.a: expected at most 6 characters for its place, got more characters/);
  t.is(hits.length, 1);
});

test('formText: a part of a list has the list’s name in its head, and counts with it', async (t) => {
  const schema = { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } };
  const { put } = await startWith(t, bodyOf('multipart/form-data', schema), { formText: 1_000 });
  t.is((await put({ Body: { a: ['x', 'x'] } })).status, 204);
  const refused = await put({ Body: { ['a'.repeat(400)]: ['x', 'x', 'x'] } });
  t.is(refused.status, 400);
  t.regex(refused.text, /expected parts of at most 1000 bytes in all, got more bytes/);
});

test('validate: strict returns errors in the caller’s format', async (t) => {
  const { port, hits } = await startGateway(t, { serve: { contract: strict } });
  const headers = { 'Content-Type': 'application/json' };
  const reply = await send(port, 'POST', '/json/reply/putStrict', headers, '{"id":"gb1","Body":{"size":3}}');
  t.is(reply.status, 400);
  t.true(reply.text.includes('id: expected text that matches ^[A-Z]{2}'));
  t.true(reply.text.includes('Body.size: expected one of 1, 2, 5'));
  t.deepEqual(hits, []);
});

const messagesOf = (reply: string): readonly string[] =>
  (statusOf(reply).errors ?? []).map(({ message }) => message);

test('validate: strict checks unions and renamed members in JSON as in XML', async (t) => {
  const { port, answer } = await startGateway(t, { serve: { contract: strict } });
  answer({ body: '{}' });
  const put = (body: string) =>
    send(port, 'POST', '/json/reply/putStrict', {}, `{"id":"GB1","Body":${body}}`);
  for (const [body, expected] of [
    ['{"either":"ab"}', ['Body.either: expected at most 1 characters, got 2']],
    ['{"either":4}', ['Body.either: expected at least 5, got 4']],
    ['{"other":10}', ['Body.other: expected at most 9, got 10']],
    [
      '{"either":4,"a":10,"b":9,"c":90}',
      [
        'Body.either: expected at least 5, got 4',
        'Body.a: expected at most 9, got 10',
        'Body.c: expected at most 9, got 90',
      ],
    ],
    ['{"either":"a","other":9}', []],
    ['{"either":5,"other":null}', []],
    ['{"either":[true,{}],"other":"of no type"}', []],
  ] as const) {
    const reply = await put(body);
    t.is(reply.status, expected.length === 0 ? 200 : 400, body);
    t.deepEqual(expected.length === 0 ? [] : messagesOf(reply.text), [...expected]);
  }
});

test('validate: strict also applies to an element that accepts any JSON', async (t) => {
  const { port, hits } = await startGateway(t, { serve: { contract: strict } });
  const put = async (body: string) => {
    const root = `<putStrict xmlns="urn:Strict"><id>GB1</id><Body>${body}</Body></putStrict>`;
    const headers = { 'Content-Type': 'application/xml', Accept: 'application/json' };
    return messagesOf((await send(port, 'POST', '/xml/reply/putStrict', headers, root)).text);
  };
  const entry = '<Entry><Key>k</Key><Value>10</Value></Entry>';
  t.deepEqual(await put(`<either><Json>4</Json></either><AdditionalJson>${entry}</AdditionalJson>`), [
    'Body.either.Json: expected at least 5, got 4',
    'Body.AdditionalJson[0].Value: expected at most 9, got 10',
  ]);
  t.deepEqual(hits, []);
});
