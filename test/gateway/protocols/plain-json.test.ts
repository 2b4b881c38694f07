import test from 'ava';
import { folderOf } from '../../plain/folders.ts';
import { send, sharedGateway, soap11Namespace, startGateway } from '../gateway.ts';

const replies = await sharedGateway({ serve: { contract: folderOf('replies') } });

async function ask(operation: string, answer: Parameters<typeof replies.answer>[0], inputs = '{}') {
  replies.answer(answer);
  const { status, text, headers } = await send(replies.port, 'POST', `/json/reply/${operation}`, {}, inputs);
  return { status, text, type: headers['content-type'] };
}

test.serial('W23: a JSON caller gets a whole-body reply unchanged', async (t) => {
  const body = '[ {"id":"j", "more":1.50} ]';
  t.like(await ask('list', { body }), { status: 200, text: body });
});

test.serial('a JSON caller gets a reply with headers and status as the object that XML has', async (t) => {
  const answer = { status: 202, body: '{ "ticket":7 }' };
  t.like(await ask('startJob', answer), {
    status: 202,
    text: '{"StatusCode":202,"Body202":{ "ticket":7 }}',
  });
});

test.serial('a JSON caller gets text and bytes as one JSON string', async (t) => {
  const answer = { status: 201, headers: { 'content-type': 'image/png' }, body: Buffer.from([0x89, 0xff]) };
  t.like(await ask('ranges', answer), {
    status: 201,
    text: '{"StatusCode":201,"Body201":"if8="}',
    type: 'application/json; charset=utf-8',
  });
});

test.serial('a redirect is a success for a JSON caller, without Location', async (t) => {
  const answer = { status: 302, headers: { location: '/elsewhere' } };
  t.like(await ask('download', answer, '{"id":"1"}'), {
    status: 200,
    text: '{"StatusCode":302,"Location":"/elsewhere"}',
  });
});

test.serial('a body with more than one JSON value cannot add members to the object', async (t) => {
  const { status, text } = await ask('startJob', { status: 202, body: '{"ticket":7},"Body200":{"id":"j"}' });
  t.is(status, 502);
  t.true(text.includes('UpstreamInvalidResponse'));
});

test.serial('text that does not match its charset is a 502', async (t) => {
  const answer = {
    status: 203,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: Buffer.from([0xff]),
  };
  const { status, text } = await ask('ranges', answer);
  t.is(status, 502);
  t.true(text.includes('expected text in the charset that it says, got other bytes'), text);
});

test.serial('text in another charset is decoded', async (t) => {
  const answer = {
    status: 203,
    headers: { 'content-type': 'text/plain; charset="ISO-8859-1"' },
    body: Buffer.from([0xe9]),
  };
  t.like(await ask('ranges', answer), { status: 203, text: '{"StatusCode":203,"Body2XX":"é"}' });
});

for (const [said, body, text] of [
  ['with something', 'done', '{"StatusCode":205,"Body2XX":"done"}'],
  ['with nothing', '', '{"StatusCode":205}'],
] as const)
  test.serial(`text that is ${said} in a 205 is a reply ${said}`, async (t) => {
    const answer = { status: 205, headers: { 'content-type': 'text/plain' }, body };
    t.is((await ask('ranges', answer)).text, text);
  });

test('endless JSON Lines are cut at the limit of a reply', async (t) => {
  const { port, answer } = await startGateway(t, {
    limits: { replyBytes: 1_000 },
    serve: { contract: folderOf('json-lines') },
  });
  const closed = new Promise<void>((resolve) => {
    answer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const write = (): void => {
        if (!response.destroyed) response.write('{"id":1}\n', () => setImmediate(write));
      };
      response.once('close', resolve);
      write();
    });
  });
  const { status, text } = await send(port, 'POST', '/json/reply/events', {}, '{}');
  t.is(status, 502);
  t.true(text.includes('got more than 1000 bytes'), text);
  await closed;
});

for (const [status, path] of [
  [200, '/json/reply/pets'],
  [404, '/json/reply/pets'],
  [200, '/soap11'],
] as const) {
  test.serial(
    `replyHeaders: a ${status} at ${path} has only the response headers that the overlay names`,
    async (t) => {
      const gateway = await startGateway(t, { serve: { contract: folderOf('reply-envelope') } });
      gateway.answer({ status, headers: { 'X-Trace': 't-1', 'X-Secret': 's' }, body: '[]' });
      const envelope = `<s:Envelope xmlns:s="${soap11Namespace}"><s:Body><pets xmlns="urn:Envelopes"/></s:Body></s:Envelope>`;
      const { headers } = await send(gateway.port, 'POST', path, {}, path === '/soap11' ? envelope : '{}');
      t.is(headers['x-trace'], 't-1');
      t.is(headers['x-left'], undefined);
      t.is(headers['x-secret'], undefined);
    },
  );
}
