import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { until } from '../../until.ts';
import { watchCpu } from '../cpu-time.ts';
import {
  elementText,
  emptyReply,
  envelope,
  type Gateway,
  keyHeaders,
  type Reply,
  send,
  startGateway,
  typesNamespace,
} from '../gateway.ts';

// Upstream replies that take long to read or write are processed in the worker thread.

const megabyte = 1_000_000;
const xml = { 'Content-Type': 'text/xml; charset=utf-8' } as const;
const files = fileURLToPath(new URL('../../siege/files', import.meta.url));
const never: Partial<Limits> = { replyAsideBytes: 2 ** 31 - 1 };
const always: Partial<Limits> = { replyAsideBytes: 1, readAsideMs: 600_000, totalMs: 600_000 };

/** JSON with spaces added at its end to make it large. */
const large = (text: string): string => text.padEnd(80_000);

interface Answered {
  readonly title: string;
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string | Buffer;
}

const getPdf = `<GetPdf xmlns="${typesNamespace}"><Request><Id>1</Id></Request></GetPdf>`;
const pdf = (documentBytes: string): string =>
  `{"data":{"document":{"name":"Zoë & <co>","documentBytes":"${documentBytes}","id":7,"no":1},"responseStatus":{}}}`;

const answers: readonly Answered[] = [
  { title: 'nothing much', body: large(emptyReply) },
  { title: 'a document', body: pdf(Buffer.alloc(600_000, 'any bytes').toString('base64')) },
  { title: 'a document whose slashes are escaped', body: pdf('ab\\/='.repeat(20_000)) },
  { title: 'a document behind a mark', body: Buffer.from(`\ufeff${large(pdf('YQ=='))}`) },
  { title: 'text that is no XML', body: large(pdf('YQ==').replace('co', '\\u0000\\ud800')) },
  { title: 'another type', body: large(emptyReply.replace('{"data":{', '{"data":{"document":"key",')) },
  { title: 'no JSON', body: large('<html>key</html>') },
  { title: 'no UTF-8', body: Buffer.concat([Buffer.from(large(emptyReply)), Buffer.from([0x80])]) },
  { title: 'an empty object', body: large('{}') },
  {
    title: 'a failure in a success',
    body: large('{"data":{"responseStatus":{"errorCode":"No","message":"key"}}}'),
  },
  {
    title: 'a failure',
    status: 404,
    body: large('{"responseStatus":{"errorCode":"None","message":"no key"}}'),
  },
  { title: 'a failure of another form', status: 500, body: large('{"detail":"secret-key is wrong"}') },
  { title: 'a failure without a form', status: 503, headers: { 'retry-after': '7' }, body: large('no') },
  { title: 'a redirection', status: 302, body: large(emptyReply) },
];

/** The result of a call: its reply, and its log lines without times and pseudonyms. */
async function outcomeOf(gateway: Gateway, path: string, body: string, answer: Answered) {
  const before = gateway.log().length;
  gateway.answer(answer);
  const headers = { ...keyHeaders, 'X-Request-Id': 'the-same-id' };
  const reply = await gateway.send('POST', path, headers, body);
  const { date: _date, ...told } = reply.headers;
  await until(() => gateway.log().slice(before).includes('"status":'));
  const lines = gateway
    .log()
    .slice(before)
    .replaceAll(/"(time|ms|upstreamMs|queueMs)":[\d.]+/g, '"$1":0')
    .replaceAll(/"(caller|upstream)":"[^"]*"/g, '"$1":"*"');
  return { status: reply.status, headers: told, text: reply.text, lines };
}

test('a worker thread and the event loop read the same reply', async (t) => {
  const serve = { logMessages: true };
  const onLoop = await startGateway(t, { serve, limits: never });
  const beside = await startGateway(t, { serve, limits: always });
  for (const answer of answers)
    for (const [path, body] of [
      ['/soap11', envelope('1.1', { body: getPdf })],
      ['/soap12', envelope('1.2', { body: getPdf })],
      ['/xml/reply/GetPdf', getPdf],
      ['/json/reply/GetPdf', '{"request":{"id":1}}'],
      ['/json/reply/GetPdf?callback=f', '{"request":{"id":1}}'],
    ] as const)
      t.deepEqual(
        await outcomeOf(beside, path, body, answer),
        await outcomeOf(onLoop, path, body, answer),
        `${answer.title}: ${path}`,
      );
});

// --- limits ----------------------------------------------------------------------------------------

const call = (gateway: Gateway, kind: 'read' | 'write'): Promise<Reply> =>
  send(gateway.port, 'POST', `/xml/reply/${kind}`, xml, `<${kind} xmlns="urn:Files"/>`);

/** A gateway of files with an upstream that answers all calls alike. */
async function startFiles(t: ExecutionContext, answer: object, limits: Partial<Limits>): Promise<Gateway> {
  const gateway = await startGateway(t, { serve: { contract: files }, limits });
  gateway.answer({ body: JSON.stringify(answer) });
  return gateway;
}

test('replyAsideBytes: a reply at the limit is read on the event loop, a larger one in a thread', async (t) => {
  const gateway = await startGateway(t, { limits: { replyAsideBytes: 80_000, readAsideMs: 1 } });
  for (const [body, status] of [
    [large(emptyReply), 200],
    [`${large(emptyReply)} `, 503],
  ] as const) {
    gateway.answer({ body });
    t.is(
      (await gateway.send('POST', '/json/reply/GetPdf', keyHeaders, '{"request":{"id":1}}')).status,
      status,
    );
  }
});

test('a read whose reply is written too slowly gets 503; a write gets an error without retry', async (t) => {
  const answer = { notes: ['&'.repeat(4 * megabyte)] };
  const gateway = await startFiles(t, answer, { readAsideMs: 1 });
  const read = await call(gateway, 'read');
  t.is(read.status, 503);
  t.is(read.headers['retry-after'], '1');
  const write = await call(gateway, 'write');
  t.is(write.status, 504);
  t.is(write.headers['retry-after'], undefined);
  t.regex(write.text, /expected a reply that is read within 1 ms, got a longer time/);
  t.regex(gateway.log(), /"msg":"reading thread restarted"/);
});

test.serial('no event-loop iteration is long while a large reply is written', async (t) => {
  const gateway = await startFiles(
    t,
    { notes: Array(20).fill('&'.repeat(megabyte)) },
    { readAsideMs: 600_000 },
  );
  const turns = watchCpu();
  const reply = await call(gateway, 'read');
  const longest = turns.end();
  t.is(reply.text.length, 20 * 5 * megabyte + reply.text.replaceAll('&amp;', '').length);
  t.true(longest < 100, `${longest} ms of CPU in one turn`); // writing it takes 500 ms
});

test('replies of writes without memory at their time wait for it, and all are sent', async (t) => {
  const answer = { notes: ['&'.repeat(megabyte)] };
  const heldBytes = 5 * megabyte;
  const gateway = await startFiles(t, answer, { heldBytes, roomWaits: 64, leavingBytes: megabyte });
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, gateway.running.load().heldBytes);
  }, 1);
  const replies = await Promise.all(Array.from({ length: 12 }, () => call(gateway, 'write')));
  clearInterval(look);
  for (const { status, text } of replies) {
    t.is(status, 200);
    t.is(elementText(text, 'string')?.length, 5 * megabyte);
  }
  t.true(most < heldBytes + 10 * megabyte, `${most}`);
});
