import test from 'ava';
import { folderOf } from '../plain/folders.ts';
import { envelope, send, startGateway, typesNamespace } from './gateway.ts';

const credentials = { 'X-Api-User': 'canary-user', 'X-Api-Key': 'canary-key', 'X-User-Id': 'canary-id' };

test('a request is one JSON line: what it was, what it came to, nothing that the caller sent', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({
    status: 404,
    body: '{"responseStatus":{"errorCode":"NotFound","message":"no canary-name"}}',
  });
  await gateway.send(
    'POST',
    '/json/reply/UpdateSubUser?format=xml',
    { ...credentials, 'X-Request-Id': 'caller-0001' },
    '{"request":{"subUserName":"canary-name"}}',
  );
  const lines = gateway.log().trim().split('\n');
  t.is(lines.length, 1);
  const { time, ms, bytesOut, ...line } = JSON.parse(lines[0] ?? '');
  t.true(Number.isInteger(time) && ms > 0 && bytesOut > 100);
  t.deepEqual(line, {
    level: 30,
    requestId: 'caller-0001',
    method: 'POST',
    transport: 'json',
    operation: 'UpdateSubUser',
    status: 404,
    bytesIn: 41,
    clientIp: '127.0.0.1',
  });
  t.false(gateway.log().includes('canary'));
});

test('values of a reply that are of no type, and pass all the same, are counted', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: folderOf('enums') } });
  gateway.answer({ body: '{"closed":"canary","folded":"any"}' });
  const reply = await send(
    gateway.port,
    'POST',
    '/soap11',
    { 'Content-Type': 'text/xml' },
    envelope('1.1', { body: '<putEnums xmlns="urn:Enums"/>' }),
  );
  t.regex(reply.text, /<closed>canary</);
  t.deepEqual(JSON.parse(gateway.log()).noted, {
    ignored: [],
    quirks: 0,
    dropped: 0,
    replaced: 0,
    passed: 1,
  });
});

test('W10, W12, W20, W21: what a call was let through with is counted, and named by name alone', async (t) => {
  const gateway = await startGateway(t, { overlay: 'unknownElements: ignore' });
  gateway.answer({ body: '{"data":{"responseStatus":{},"subUser":{"name":"a\\u0001","nick":"canary"}}}' });
  const body = `<UpdateSubUser xmlns="${typesNamespace}"><Request><SubUserName>a&#xB;b&#xD83D;&#xDE00;</SubUserName><Nick>canary</Nick></Request></UpdateSubUser>`;
  const reply = await gateway.send('POST', '/xml/reply/UpdateSubUser', credentials, body);
  t.is(reply.status, 200);
  t.regex(reply.text, /<Name>a\ufffd<\/Name>/);
  t.is(gateway.hits[0]?.body.includes('"subUserName":"a\\u000bb😀"'), true);
  t.deepEqual(JSON.parse(gateway.log()).noted, {
    ignored: ['Nick'],
    quirks: 2,
    dropped: 1,
    replaced: 1,
    passed: 0,
  });
  t.false(gateway.log().includes('canary'));
});
