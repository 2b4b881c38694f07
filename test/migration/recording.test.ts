import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { until } from '../until.ts';
import { metricOf } from './comparing.ts';
import { getCall, getMessage, getReply, type RecordingSite, startRecording } from './recording-site.ts';
import { contractFolder } from './scenario.ts';

const xml = { 'content-type': 'text/xml', 'retry-after': '7' };
const json = { 'content-type': 'application/json' };
const legacy = getReply('<Long>1</Long>');

/** Lets both services answer. */
function answerGet(site: RecordingSite): void {
  site.legacy.answer = { status: 200, headers: xml, body: legacy };
  site.upstream.answer = { status: 200, headers: json, body: '{"Long":1}' };
}

/** Returns the metric of the recorded exchanges. */
function kept(site: RecordingSite): number {
  const samples = site.running.metrics().find(({ name }) => name === 'record_kept_total')?.samples ?? [];
  return samples.find(({ labels }) => labels === 'contract="/"')?.value ?? 0;
}

/** Waits for the first recorded exchange. */
async function first(site: RecordingSite) {
  await until(() => site.recorded().length > 0);
  const [exchange] = site.recorded();
  if (exchange === undefined) throw new RangeError('no exchange');
  const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();
  return {
    ...exchange,
    texts: { request: textOf(exchange.request), legacy: textOf(exchange.legacy), new: textOf(exchange.new) },
  };
}

const routeTo = (mode: string, more: object = {}) => ({ routes: [{ name: mode, mode, ...more }] });

for (const [mode, sides, migration] of [
  ['legacy', { legacy }, {}],
  ['new', { new: '{"Long":1}' }, routeTo('new')],
  ['compare', { legacy, new: '{"Long":1}' }, routeTo('compare')],
  ['compare', { legacy, new: '{"Long":1}' }, routeTo('compare', { answer: 'new' })],
  ['fallback', { new: '{"Long":1}' }, routeTo('fallback')],
  [
    'blend',
    { legacy: getReply('<Code>a</Code>'), new: '{"Code":["b"]}' },
    { ...routeTo('blend', { operations: ['Get'] }), blend: { Get: { list: 'Code' } } },
  ],
] as const)
  test.serial(
    `G56: records a call with mode ${mode} and sides ${Object.keys(sides)} (${JSON.stringify(migration).length})`,
    async (t) => {
      const site = await startRecording(t, { migration, callers: ['acme'] });
      const replies: { readonly legacy?: string; readonly new?: string } = sides;
      site.legacy.answer = { status: 200, headers: xml, body: replies.legacy ?? legacy };
      site.upstream.answer = { status: 200, headers: json, body: replies.new ?? '{}' };
      t.is((await site.send({ ...getCall, caller: 'acme' })).status, 200);
      const { operation, caller, rule, texts, requestJson, details, ...exchange } = await first(site);
      t.like(exchange, { mode, contract: '/', redaction: 'pseudonyms' });
      t.is(operation, 'Get');
      t.is(caller, 'acme');
      t.is(rule, 'routes' in migration ? mode : 'otherwise');
      t.deepEqual({ legacy: undefined, new: undefined, ...sides, request: getMessage }, texts);
      t.is(requestJson, '{}');
      t.is(details.legacy?.status, 'legacy' in sides ? 200 : undefined);
      if ('legacy' in sides)
        t.deepEqual(details.legacy?.headers, { 'Content-Type': 'text/xml', 'Retry-After': '7' });
      t.deepEqual(details.request, {
        headers: { 'Content-Type': 'text/xml' },
        size: getMessage.length,
      });
      await until(() => kept(site) === 1);
    },
  );

test.serial('G56: records both replies of a fallback to the legacy service', async (t) => {
  const site = await startRecording(t, { migration: routeTo('fallback') });
  answerGet(site);
  site.upstream.answer = { status: 404, headers: json, body: '{"message":"none"}' };
  t.is((await site.send(getCall)).body.toString(), legacy);
  const { texts, details } = await first(site);
  t.deepEqual(texts, { request: getMessage, legacy, new: '{"message":"***"}' });
  t.is(details.new?.status, 404);
});

test.serial('G56: records an unreadable request without bodies', async (t) => {
  const site = await startRecording(t, {});
  answerGet(site);
  await site.send({ ...getCall, body: '<MARKER/>' });
  const { operation, texts, details } = await first(site);
  t.is(operation, '?');
  t.deepEqual(texts, { request: undefined, legacy: undefined, new: undefined });
  t.is(details.request.size, 9);
  t.is(details.legacy?.size, legacy.length);
});

test.serial('G56: records no operation that is not named', async (t) => {
  const site = await startRecording(t, { record: { operations: [], sample: '100%' } });
  answerGet(site);
  await site.send(getCall);
  await site.running.stop(0);
  t.deepEqual(site.recorded(), []);
});

test.serial('G56: records a body of recordBytes, and size and SHA-256 of a larger one', async (t) => {
  const size = getMessage.length + 100;
  const site = await startRecording(t, { limits: { recordBytes: size } });
  answerGet(site);
  const bodies = [100, 101].map((blanks) =>
    getMessage.replace('<soap:Body>', `${' '.repeat(blanks)}<soap:Body>`),
  );
  for (const body of bodies) await site.send({ ...getCall, body });
  await until(() => site.recorded().length === 2);
  const [within, above] = site.recorded();
  t.is(within?.request?.length, size);
  t.is(above?.request, undefined);
  t.deepEqual(above?.details.request, {
    headers: { 'Content-Type': 'text/xml' },
    size: size + 1,
    sha256: createHash('sha256')
      .update(bodies[1] ?? '')
      .digest('hex'),
  });
});

test.serial('recordBytes: a compressed reply above it after decompression has no body', async (t) => {
  const { gzipSync } = await import('node:zlib');
  const site = await startRecording(t, { limits: { recordBytes: 1_000 } });
  const body = gzipSync(getReply(`<Text>${'a'.repeat(2_000)}</Text>`));
  site.legacy.answer = { status: 200, headers: { ...xml, 'content-encoding': 'gzip' }, body };
  await site.send(getCall);
  const { texts, details } = await first(site);
  t.is(texts.legacy, undefined);
  t.is(details.legacy?.size, body.length);
  t.is(details.legacy?.sha256, createHash('sha256').update(body).digest('hex'));
});

test.serial('recordQueueBytes: drops and counts an exchange above it, and no call fails', async (t) => {
  const site = await startRecording(t, { limits: { recordQueueBytes: getMessage.length + legacy.length } });
  answerGet(site);
  t.is((await site.send(getCall)).status, 200);
  await until(() => site.recorded().length === 1);
  site.legacy.answer = { status: 200, headers: xml, body: `${legacy} ` };
  t.is((await site.send(getCall)).status, 200);
  await until(() => metricOf(site, 'record_dropped_total', 'reason="queue"') === 1);
  t.is(site.recorded().length, 1);
});

const person = 'MARKER Ann Lee';
const secret = 'MARKER-s3cret-token';

test.serial(
  'G57: a reply that repeats cookies or credentials of the gateway is recorded without them',
  async (t) => {
    const site = await startRecording(t, {
      config: {
        legacy: { url: '{legacy}', headers: { 'X-Key': 'key-of-the-gateway' } },
        migration: { record: { sample: '100%' } },
      },
    });
    const body = getReply('<Text>key-of-the-gateway cookie-of-ann</Text>');
    site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body };
    await site.send({ ...getCall, headers: { ...getCall.headers, Cookie: 'a=cookie-of-ann' } });
    await until(() => site.recorded().length === 1);
    const [legacy] = site.recorded().map((one) => Buffer.from(one.legacy ?? []).toString());
    t.is(legacy, getReply('<Text>*** ***</Text>'));
  },
);

test.serial('G57: personal and secret values are nowhere: store, log, metrics', async (t) => {
  const site = await startRecording(t, {
    contract: contractFolder('contracts/orders'),
    migration: routeTo('compare', { operations: ['GetOrder'] }),
  });
  const order = `<GetOrderResponse xmlns="http://orders.example/"><GetOrderResult id="17"><Customer><Name>${person}</Name><Phone>${person}</Phone></Customer><Placed>2006-03-01T09:30:00Z</Placed><Total>10.50</Total><Status>Open</Status><x:Any xmlns:x="urn:x">${person}</x:Any></GetOrderResult></GetOrderResponse>`;
  const envelope = (body: string, header = '') =>
    `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">${header}<soap:Body>${body}</soap:Body></soap:Envelope>`;
  site.legacy.answer = {
    status: 200,
    headers: { 'content-type': 'text/xml', 'set-cookie': secret },
    body: envelope(order),
  };
  const fresh = { GetOrderResult: { id: 17, Customer: { Name: person }, Extra: person } };
  site.upstream.answer = { status: 200, headers: json, body: JSON.stringify(fresh) };
  const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
  const header = `<soap:Header><w:Security xmlns:w="${wsse}"><w:UsernameToken><w:Username>${secret}</w:Username></w:UsernameToken></w:Security></soap:Header>`;
  await site.send({
    path: '/shop/Orders.asmx',
    headers: {
      'Content-Type': 'text/xml',
      SOAPAction: '"http://orders.example/GetOrder"',
      Cookie: `a=${secret}`,
      Authorization: `Bearer ${secret}`,
    },
    body: envelope('<GetOrder xmlns="http://orders.example/"><orderId>17</orderId></GetOrder>', header),
  });
  site.legacy.answer = {
    status: 500,
    headers: { 'content-type': 'text/xml' },
    body: envelope(
      `<soap:Fault><faultcode>soap:Server</faultcode><faultstring>wrong ${secret}</faultstring></soap:Fault>`,
    ),
  };
  await site.send({
    path: '/shop/Orders.asmx',
    headers: { 'Content-Type': 'text/xml', Authorization: `Bearer ${secret}` },
    body: envelope('<GetOrder xmlns="http://orders.example/"><orderId>18</orderId></GetOrder>'),
  });
  await until(() => site.recorded().length === 2);
  const metrics = JSON.stringify(site.running.metrics());
  await site.running.stop(0);
  const files = readdirSync(site.folder).map((name) => readFileSync(join(site.folder, name), 'latin1'));
  t.true(site.recorded().every(({ request }) => request !== undefined));
  for (const text of [...files, metrics, JSON.stringify(site.log())]) t.false(text.includes('MARKER'));
});
