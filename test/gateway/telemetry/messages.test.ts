import test from 'ava';
import { folderOf } from '../../plain/folders.ts';
import { emptyReply, envelope, type Gateway, send, startGateway, typesNamespace } from '../gateway.ts';

const serve = { logMessages: true };
const secret = 'canary-key';
const credentials = { 'X-Api-User': 'canary-user', 'X-Api-Key': secret };

/** Returns the messages that a gateway logged, in order. */
function messagesOf(gateway: Gateway): readonly { readonly message: string; readonly body: unknown }[] {
  return gateway
    .log()
    .split('\n')
    .filter((line) => line.includes('"message"'))
    .map((line) => JSON.parse(line));
}

test('without the setting no message is logged', async (t) => {
  const gateway = await startGateway(t, { serve: { logLevel: 'trace' } });
  await gateway.send('POST', '/json/reply/GetSearch', credentials, '{"request":{"id":7}}');
  t.deepEqual(messagesOf(gateway), []);
});

const element = `<GetSearch xmlns="${typesNamespace}"><Authentication><ApiUserId>canary-user</ApiUserId><ApiUserKey>${secret}</ApiUserKey></Authentication><Request><Id>7</Id><SubUserName>canary-name</SubUserName></Request></GetSearch>`;

for (const [form, path, body] of [
  ['SOAP 1.1', '/soap11', envelope('1.1', { body: element })],
  ['SOAP 1.2', '/soap12', envelope('1.2', { body: element })],
  ['plain XML', '/xml/reply/GetSearch', element],
  [
    'JSON',
    '/json/reply/GetSearch',
    `{"Authentication":{"apiUserId":"canary-user","apiUserKey":"${secret}"},"REQUEST":{"id":7,"SUBUSERNAME":"canary-name"}}`,
  ],
] as const) {
  test(`a request and a reply in ${form} are logged without credentials and personal members`, async (t) => {
    const gateway = await startGateway(t, { serve });
    gateway.answer({
      body: `{"data":{"responseStatus":{"message":"canary"},"searchRecord":{"id":7,"searchType":"list ${secret} of canary-user","searchCriteria":{"name":"canary"},"unlisted":"canary"},"linkedTo":null}}`,
    });
    const reply = await gateway.send('POST', path, { 'X-Request-Id': 'caller-0001' }, body);
    t.is(reply.status, 200);
    const [request, answer] = messagesOf(gateway).map(({ body: told, ...line }) => {
      const folded = JSON.stringify(told).toLowerCase(); // JSON names have the caller's case
      return { ...line, time: 0, body: JSON.parse(folded) };
    });
    const line = { level: 20, time: 0, requestId: 'caller-0001', contract: '/v2', operation: 'GetSearch' };
    t.deepEqual<unknown, unknown>(request, {
      ...line,
      message: 'request',
      body: { authentication: '***', request: { id: 7, subusername: '***' } },
    });
    t.deepEqual<unknown, unknown>(answer, {
      ...line,
      message: 'reply',
      body: {
        data: {
          responsestatus: '***',
          searchrecord: { id: 7, searchtype: 'list *** of ***', searchcriteria: { name: '***' }, '***': 1 },
          linkedto: null,
        },
      },
    });
    t.false(gateway.log().includes('canary'));
  });
}

test('a refused request is logged as far as it was read, an unreadable one is not', async (t) => {
  const gateway = await startGateway(t, { serve });
  for (const body of ['{"request":{"id":"x","canary":"canary"}}', '{"request":{"id":1']) {
    t.is((await gateway.send('POST', '/json/reply/GetSearch', credentials, body)).status, 400);
  }
  t.deepEqual(
    messagesOf(gateway).map(({ body }) => body),
    [{ request: { id: '***', '***': 1 } }],
  );
  t.false(gateway.log().includes('canary'));
});

test('inputs of a path, a query and headers are logged too; the reply of a failure is not', async (t) => {
  const gateway = await startGateway(t, { serve });
  gateway.answer({ status: 404, body: '{"responseStatus":{"errorCode":"NotFound","message":"canary"}}' });
  await gateway.send('GET', '/dbs/7?subUserName=canary', credentials);
  t.deepEqual(
    messagesOf(gateway).map(({ message, body }) => [message, body]),
    [['request', { id: 7, subUserName: '***' }]],
  );
  t.false(gateway.log().includes('canary'));
});

test('a long text and a long message are cut in the log', async (t) => {
  const gateway = await startGateway(t, { serve, limits: { loggedMessage: 400 } });
  const summary = { disclosureLevel: 'x'.repeat(1_000), disclosureStatus: 'y'.repeat(1_000), status: 'z' };
  gateway.answer({ body: JSON.stringify({ data: { responseStatus: {}, summary } }) });
  await gateway.send('GET', '/dbs/7', credentials);
  const cut = { disclosureLevel: `${'x'.repeat(256)}…`, disclosureStatus: `${'y'.repeat(256)}…`, '…': '…' };
  t.deepEqual(messagesOf(gateway)[1]?.body, {
    data: { responseStatus: '***', summary: cut, '…': '…' },
    '…': '…',
  });
});

test('a single-value reply and an empty one are logged', async (t) => {
  const gateway = await startGateway(t, { serve: { ...serve, contract: folderOf('enums') } });
  gateway.answer({ body: '{"closed":"canary","folded":"any"}' });
  const call = envelope('1.1', { body: '<putEnums xmlns="urn:Enums"/>' });
  await send(gateway.port, 'POST', '/soap11', { 'Content-Type': 'text/xml' }, call);
  t.deepEqual(
    messagesOf(gateway).map(({ body }) => body),
    [{}, { closed: 'canary', folded: 'any' }],
  );
});

test('a success without data of its own is logged', async (t) => {
  const gateway = await startGateway(t, { serve });
  gateway.answer({ body: emptyReply });
  await gateway.send('POST', '/json/reply/GetSearch', credentials, '');
  t.deepEqual(
    messagesOf(gateway).map(({ body }) => body),
    [{}, { data: { responseStatus: '***' } }],
  );
});
