import { once } from 'node:events';
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { createGateway, loadContract } from '../../../gateway/index.ts';
import type { LoadReport } from '../../../gateway/process/load-report.ts';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { folderOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { until } from '../../until.ts';
import { run } from '../commands/run.ts';
import { watchCpu } from '../cpu-time.ts';
import { envelope, type Gateway, send, startGateway } from '../gateway.ts';

/** An adopted WSDL with a mapping to an unrelated JSON service (M1 to M4). */

const openapi = `openapi: 3.1.0
info: { title: Shop, version: '2' }
paths:
  /orders/{id}:
    get:
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer } }
        - { name: X-Branch, in: header, schema: { type: string } }
      responses:
        '200': { description: The order., content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } }
  /orders/{id}/cancellation:
    post:
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses:
        '200': { description: Done., content: { application/json: { schema: {} } } }
        '204': { description: Done. }
components:
  schemas:
    Order:
      type: object
      required: [id, state, total, lines]
      properties:
        id: { type: integer }
        state: { type: string, enum: [open, sent, cancelled] }
        total: { type: number }
        placed: { type: string }
        buyer: { type: string }
        lines: { type: array, items: { type: object, properties: { sku: { type: string }, price: { type: number }, count: { type: integer } } } }
`;

const mapping = `GetOrder:
  call: { GET: '/orders/{id}' }
  request: { path.id: orderId, header.X-Branch: '@headers.SessionHeader.branch' }
  omit: [culture, '@headers.SessionHeader.session', '@headers.SessionHeader.@attributes']
  reply:
    GetOrderResult.id: id
    GetOrderResult.Placed: placed
    GetOrderResult.Shipped: { const: null }
    GetOrderResult.Total: total
    GetOrderResult.Status: { from: state, values: { open: Open, sent: Shipped, cancelled: Cancelled } }
    GetOrderResult.Customer.Name: buyer
    GetOrderResult.Line: { each: lines, map: { quantity: count, Article: sku, Price: price } }
CancelOrder:
  call: { POST: '/orders/{id}/cancellation' }
  request: { path.id: orderId }
  omit: ['@headers']
  reply: {}
`;

const shop = '/shop/Orders.asmx';
const getOrder = '<GetOrder xmlns="http://orders.example/"><orderId>12345678901</orderId></GetOrder>';
const header = '<SessionHeader xmlns="http://orders.example/"><branch>north</branch></SessionHeader>';

function mappedFolder(t: ExecutionContext, rules = mapping): string {
  const folder = folderOf(t, { 'openapi.yaml': openapi, 'mapping.yaml': rules });
  copyFileSync('docs/adopt/Orders.wsdl', join(folder, 'Orders.wsdl'));
  return folder;
}

async function serveMapped(t: ExecutionContext, rules = mapping): Promise<Gateway> {
  return startGateway(t, { serve: { contract: mappedFolder(t, rules) } });
}

const call = (gateway: Gateway, body: string, block = header) =>
  send(gateway.port, 'POST', shop, { 'Content-Type': 'text/xml' }, envelope('1.1', { header: block, body }));

test('M1: maps a legacy call to the new service and its response back, with the same digits', async (t) => {
  const gateway = await serveMapped(t);
  gateway.answer({
    body: '{"id":17,"state":"sent","total":10.50,"placed":"2020-01-01T00:00:00Z","buyer":"Zoë","lines":[{"sku":"a","price":1.00,"count":2}]}',
  });
  const small = getOrder.replace('12345678901', '17');
  const { text, status } = await call(gateway, small);
  t.is(status, 200, text);
  const [hit] = gateway.hits;
  t.is(`${hit?.method} ${hit?.path} ${hit?.headers['x-branch']} ${hit?.body}`, 'GET /orders/17 north ');
  t.is(hit?.headers['content-type'], undefined);
  t.true(
    text.includes(
      '<n0:GetOrderResult id="17"><n0:Customer><n0:Name>Zoë</n0:Name></n0:Customer><n0:Placed>2020-01-01T00:00:00Z</n0:Placed><n0:Shipped i:nil="true"/><n0:Total>10.50</n0:Total><n0:Status>Shipped</n0:Status><n0:Line quantity="2"><n0:Article>a</n0:Article><n0:Price>1.00</n0:Price></n0:Line></n0:GetOrderResult>',
    ),
    text,
  );
});

test('M1: a header set by a mapping is sent once, whatever else sets it', async (t) => {
  const rules = mapping
    .replace("'@headers.SessionHeader.branch'", 'culture')
    .replace("omit: [culture, '@headers.SessionHeader.session',", "omit: ['@headers.SessionHeader.branch',");
  const folder = mappedFolder(t, rules);
  writeFileSync(
    join(folder, 'soap.yaml'),
    'headers: { SessionHeader.session: { header: X-Branch, format: "{}" } }',
  );
  const gateway = await startGateway(t, { serve: { contract: folder } });
  const session = header.replace('<branch>', '<session>s</session><branch>');
  const body =
    '<GetOrder xmlns="http://orders.example/"><orderId>1</orderId><culture>de</culture></GetOrder>';
  await call(gateway, body, session);
  t.is(gateway.hits[0]?.headers['x-branch'], 'de');
  await call(gateway, body.replace('<culture>de</culture>', ''), session);
  t.is(gateway.hits[1]?.headers['x-branch'], 's');
});

test('M3: refuses a member without a rule by path, and does not serve operations without rules', async (t) => {
  const gateway = await serveMapped(t);
  const attribute = header.replace('<SessionHeader ', '<SessionHeader xmlns:u="urn:u" u:x="1" ');
  t.is((await call(gateway, getOrder.replace('12345678901', '1'), attribute)).status, 500);
  const place = '<PlaceOrder xmlns="http://orders.example/"/>';
  t.regex(
    (await call(gateway, place)).text,
    /expected an operation of the contract in Body, got &lt;PlaceOrder&gt;/,
  );
});

test('W27: an error without a rule is an error of the call; no body is a reply without members', async (t) => {
  const gateway = await serveMapped(t);
  gateway.answer({ status: 404, body: '{"message":"gone"}' });
  const one = getOrder.replace('12345678901', '1');
  const cancel = one.replaceAll('GetOrder', 'CancelOrder');
  const own = await call(gateway, cancel, '');
  t.regex(own.text, /<faultcode>s:Client<\/faultcode><faultstring>NotFound: gone/);
  gateway.answer((_hit, response) => response.writeHead(204).end());
  t.regex((await call(gateway, cancel, '')).text, /<n0:CancelOrderResponse /);
});

const places = `PlaceOrder:
  call: { POST: '/orders/{id}/cancellation' }
  forEach: order.Line
  request: { path.id: quantity }
  omit: ['@headers', 'order.@any', order.id, order.version, order.Customer, order.Placed, order.Shipped, order.Total, order.Status, order.Labels, order.Card, order.Invoice, 'order.Line[].Article', 'order.Line[].Price']
  reply: { PlaceOrderResult: { const: 1 } }
`;

function orderOf(...quantities: readonly number[]): string {
  const lines = quantities.map((quantity) => `<Line quantity="${quantity}"><Price>1</Price></Line>`).join('');
  const musts =
    '<Placed>2020-01-01T00:00:00Z</Placed><Shipped>2020-01-02T00:00:00Z</Shipped><Total>1</Total><Status>Open</Status>';
  return `<PlaceOrder xmlns="http://orders.example/"><order id="1">${musts}${lines}</order></PlaceOrder>`;
}

test('M4: a write of several calls that fails in between reports the answered ones, without retry', async (t) => {
  const gateway = await startGateway(t, {
    serve: { contract: mappedFolder(t, places) },
    limits: { upstreamFirstByteMs: 2_000 },
  });
  const secondIs = (answer: (response: ServerResponse) => unknown) => {
    const before = gateway.hits.length;
    gateway.answer((_hit, response) => {
      if (gateway.hits.length === before + 2) answer(response);
      else response.writeHead(204).end();
    });
    return call(gateway, orderOf(1, 2, 3), '');
  };
  const whole = await secondIs((response) => response.writeHead(204).end());
  t.is(whole.status, 200, whole.text);
  t.is(gateway.hits.length, 3);
  const busy = await secondIs((response) => response.writeHead(503, { 'Retry-After': '1' }).end());
  t.is(busy.headers['retry-after'], undefined);
  t.is(gateway.hits.length, 3 + 2);
  const silent = await secondIs(() => {});
  t.regex(silent.text, /UpstreamTimeout: 1 of 3 calls succeeded, then: /);
  const garbled = await secondIs((response) => response.end(Buffer.from('"\u00eb"', 'latin1')));
  t.regex(garbled.text, /UpstreamInvalidResponse: 2 of 3 calls succeeded, then: .*text that is not UTF-8/);
});

test('M4: a write without items makes no call, and the audit log records it as unsent', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: mappedFolder(t, places) } });
  gateway.answer((_hit, response) => response.writeHead(204).end());
  const { status, text } = await call(gateway, orderOf(), '');
  t.is(status, 200, text);
  t.is(gateway.hits.length, 0);
  await until(() => gateway.log().includes('"audit":"settled"'));
  t.regex(gateway.log(), /"outcome":"unsent"/);
});

test('M4: the calls of one write do not count as retries', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: mappedFolder(t, places) } });
  gateway.answer((_hit, response) => response.writeHead(204).end());
  t.is((await call(gateway, orderOf(1, 2, 3), '')).status, 200);
  t.regex((await send(gateway.port, 'GET', '/metrics')).text, /^soapbridge_upstream_retries_total\S* 0$/m);
  while (gateway.log() === '') await delay(10);
  t.false(gateway.log().includes('"retry"'), gateway.log());
});

test('W35: each call of a read may be retried once if nothing was received', async (t) => {
  const folder = mappedFolder(t, places);
  writeFileSync(join(folder, 'soap.yaml'), 'operations: { PlaceOrder: { readOnly: true } }');
  for (const [retrySavings, hits, status] of [
    [3, 6, 200],
    [2, 5, 500],
  ] as const) {
    const limits = { retryPercent: 0, retrySavings };
    const gateway = await startGateway(t, { serve: { contract: folder }, limits });
    gateway.answer((_hit, response) => {
      if (gateway.hits.length % 2 === 1) response.destroy();
      else response.writeHead(204).end();
    });
    t.is((await call(gateway, orderOf(1, 2, 3), '')).status, status);
    t.is(gateway.hits.length, hits);
    t.regex(
      (await send(gateway.port, 'GET', '/metrics')).text,
      new RegExp(`^soapbridge_upstream_retries_total\\S* ${retrySavings}$`, 'm'),
    );
  }
});

test('M4: a write whose responses cannot be mapped reports that all were answered', async (t) => {
  const status = places.replace('{ const: 1 }', '{ from: status, values: { 204: 1 } }');
  const gateway = await serveMapped(t, status);
  gateway.answer((_hit, response) => response.writeHead(204).end());
  t.is((await call(gateway, orderOf(1, 2), '')).status, 200);
  gateway.answer((_hit, response) => response.writeHead(202).end());
  t.regex(
    (await call(gateway, orderOf(1, 2), '')).text,
    /UpstreamInvalidResponse: 2 of 2 calls succeeded, then: the reply/,
  );
  t.regex((await call(gateway, orderOf(1), '')).text, /UpstreamInvalidResponse: the reply/);
  gateway.answer((_hit, response) => response.destroy());
  t.is((await call(gateway, orderOf(1, 2), '')).status, 500);
  const written = () => [...gateway.log().matchAll(/"outcome":"(\w+)"/g)].map(([, outcome]) => outcome);
  while (written().length < 4) await delay(10);
  t.deepEqual(written(), ['answered', 'answered', 'answered', 'unknown']);
});

test('M4: a write whose second call gets no connection is not reported as unsent', async (t) => {
  const gateway = await startGateway(t, {
    serve: { contract: mappedFolder(t, places + mapping.slice(0, mapping.indexOf('CancelOrder'))) },
    limits: { upstreamConnections: 1, upstreamQueueMs: 3_000 },
  });
  const held: ServerResponse[] = [];
  gateway.answer((_hit, response) => held.push(response));
  const placed = call(gateway, orderOf(1, 2), '');
  while (held.length < 1) await delay(10);
  const other = call(gateway, getOrder.replace('12345678901', '17'));
  const metrics = async (): Promise<string> => (await send(gateway.port, 'GET', '/metrics')).text;
  await until(async () => /^soapbridge_upstream_waiting\{.*\} 1$/m.test(await metrics()));
  held[0]?.writeHead(204).end();
  const { text, headers } = await placed;
  t.regex(text, /UpstreamInvalidResponse: 1 of 2 calls succeeded, then: too many requests are waiting/);
  t.is(headers['retry-after'], undefined);
  held[1]?.writeHead(404).end();
  t.is((await other).status, 500);
});

test('M2: a response that no rule matches is reported with its position', async (t) => {
  const gateway = await serveMapped(t);
  gateway.answer({ body: '{"id":17,"state":"lost","total":1,"lines":[]}' });
  const { text } = await call(gateway, getOrder.replace('12345678901', '17'));
  t.regex(text, /UpstreamInvalidResponse: the reply's state: expected one of open, sent, cancelled/);
  gateway.answer({ body: 'no JSON' });
  t.regex((await call(gateway, getOrder.replace('12345678901', '17'))).text, /UpstreamInvalidResponse/);
});

test('W22: reports a response that is not UTF-8 or repeats a member; skips a byte order mark', async (t) => {
  const gateway = await serveMapped(t);
  const order =
    '{"id":17,"state":"sent","total":1,"placed":"2020-01-01T00:00:00Z","buyer":"Zo\u00eb","lines":[]}';
  const ask = async (body: string | Buffer): Promise<string> => {
    gateway.answer({ body });
    return (await call(gateway, getOrder.replace('12345678901', '17'))).text;
  };
  t.regex(await ask(Buffer.from(order, 'latin1')), /UpstreamInvalidResponse: .*text that is not UTF-8/);
  t.regex(await ask(order.replace('"total"', '"id":18,"total"')), /UpstreamInvalidResponse/);
  t.regex(await ask(`\ufeff${order}`), /<n0:Name>Zo\u00eb<\/n0:Name>/);
});

test('M3: a message whose JSON exceeds a limit, or that no rule matches, is the caller’s fault', async (t) => {
  const gateway = await startGateway(t, {
    serve: { contract: mappedFolder(t, places) },
    limits: { jsonMembers: 8 },
  });
  const { status, text } = await call(gateway, orderOf(1, 2, 3), '');
  t.is(status, 500); // status of SOAP faults
  t.regex(text, /<faultcode>s:Client<\/faultcode><faultstring>ValidationError: .*more than 8 members/);
  t.is(gateway.hits.length, 0);
});

test('M3: an incomplete mapping prevents the start, and each position is reported', async (t) => {
  const folder = mappedFolder(t, mapping.replace('  omit: [culture, ', '  omit: ['));
  const { message = '' } = (await t.throwsAsync(startGateway(t, { serve: { contract: folder } }))) ?? {};
  t.regex(message, /mapping\.yaml.*culture/);
});

test('M3: a number of a mapping that would change its text is reported at start', async (t) => {
  const folder = mappedFolder(t, mapping.replace('GetOrder:\n', 'GetOrder:\n  when: { culture: 1.10 }\n'));
  const { message = '' } = (await t.throwsAsync(startGateway(t, { serve: { contract: folder } }))) ?? {};
  t.regex(message, /mapping\.yaml.*line 2, column 20: expected 1\.1, or '1\.10' in quotes/);
});

test('M3: check lists the call of each operation, and operations without rules', async (t) => {
  const { code, out } = await run(t, ['check', '--contract', mappedFolder(t)]).ended;
  t.is(code, 0);
  t.regex(out, /^mapped: GetOrder to GET \/orders\/\{id\}$/m);
  t.regex(out, /^not served: PlaceOrder \(the mapping has no rule for it\)$/m);
});

test('M1: the start reports operations without rules as not served', async (t) => {
  const reports: LoadReport[] = [];
  const tellLoaded = (report: LoadReport) => reports.push(report);
  await startGateway(t, { serve: { contract: mappedFolder(t), onLoaded: tellLoaded } });
  const [report] = reports;
  t.deepEqual([report?.operations, report?.notServed], [2, 1]);
  t.deepEqual(
    report?.remarks.flatMap(({ all }) => all.map(({ why }) => why)),
    ['the mapping has no rule for it'],
  );
});

test('M1: explain and kit know only mapped operations', async (t) => {
  const folder = mappedFolder(t);
  const place = join(folder, 'place.xml');
  writeFileSync(place, envelope('1.1', { body: '<PlaceOrder xmlns="http://orders.example/"/>' }));
  const explained = await run(t, ['explain', place, folder]).ended;
  t.is(explained.code, 1, explained.err);
  t.regex(explained.out, /<PlaceOrder> is not an operation of this service/);
  const kit = join(folder, 'kit');
  t.is((await run(t, ['kit', folder, '--out', kit]).ended).code, 0);
  t.deepEqual(
    readdirSync(kit).filter((name) => name.endsWith('Order')),
    ['CancelOrder', 'GetOrder'],
  );
});

test('M1: an embedded gateway applies the mapping, and fails without it', async (t) => {
  const calls: string[] = [];
  const service = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"id":17,"state":"open","total":1,"placed":"2020-01-01T00:00:00Z","lines":[]}');
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  t.teardown(() => service.close());
  const upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const { contract, mapping } = loadContract(mappedFolder(t));
  const options = { contract, upstream, publicUrl: 'https://edge.example' };
  t.throws(() => createGateway(options), {
    instanceOf: RangeError,
    message: /^mapping: expected the member mapping/,
  });
  const gateway = createGateway({ ...options, mapping });
  t.teardown(() => gateway.close());
  const server = createServer(gateway.handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const message = envelope('1.1', { body: getOrder.replace('12345678901', '17') });
  const { port } = server.address() as AddressInfo;
  const reply = await send(port, 'POST', shop, { 'Content-Type': 'text/xml', Connection: 'close' }, message);
  t.regex(reply.text, /<n0:Status>Open</);
  t.deepEqual(calls, ['GET /orders/17']);
});

test('M1: a reload reads the mapping again', async (t) => {
  const folder = mappedFolder(t);
  const gateway = await startGateway(t, { serve: { contract: folder } });
  writeFileSync(
    join(folder, 'mapping.yaml'),
    mapping.replace('Customer.Name: buyer', 'Customer.Name: { const: none }'),
  );
  await gateway.running.reload();
  gateway.answer({ body: '{"id":17,"state":"open","total":1,"placed":"2020-01-01T00:00:00Z","lines":[]}' });
  t.regex((await call(gateway, getOrder.replace('12345678901', '1'))).text, /<n0:Name>none</);
});

const looping =
  'export const named = (value: string) => value;\nexport const forever = (): never => { for (;;) {} };\n';

/**
 * Starts a gateway with functions in its mapping. Functions may run for a minute and the worker thread only for
 * `readAsideMs`, so the error shows which limit applied.
 */
async function serveWithCode(
  t: ExecutionContext,
  rules: string,
  readAsideMs: number,
  more: Partial<Limits> = {},
): Promise<Gateway> {
  const folder = mappedFolder(t, rules);
  writeFileSync(join(folder, 'names.ts'), looping);
  return startGateway(t, {
    serve: { contract: folder },
    limits: { mappingCodeMs: 60_000, readAsideMs, readAsideBytes: 1_000, replyAsideBytes: 1_000, ...more },
  });
}

const withCode = (name: string) =>
  mapping
    .replace('GetOrder:\n', 'GetOrder:\n  code: ./names.ts\n')
    .replace('Name: buyer', `Name: { from: buyer, code: ${name} }`);

test('M5: a large reply is mapped in a worker thread while the event loop continues', async (t) => {
  const gateway = await serveWithCode(t, withCode('forever'), 2_000);
  const order = (filler: string) =>
    `{"id":17,"state":"sent","total":1,"placed":"2020-01-01T00:00:00Z","buyer":"b","more":"${filler}","lines":[]}`;
  gateway.answer({ body: order('x'.repeat(2_000)) });
  const large = call(gateway, getOrder.replace('12345678901', '17'));
  const { status } = await send(gateway.port, 'GET', '/healthz');
  t.is(status, 200);
  t.regex((await large).text, /UpstreamTimeout: expected a reply that is read within 2000 ms/);
});

test('M5: a worker thread maps a large request as the event loop maps a small one', async (t) => {
  const rules = (name: string) =>
    withCode('named')
      .replace(
        "header.X-Branch: '@headers.SessionHeader.branch'",
        `header.X-Branch: { from: culture, code: ${name} }`,
      )
      .replace('omit: [culture, ', "omit: ['@headers.SessionHeader.branch', ");
  const request = (culture: string) =>
    `<GetOrder xmlns="http://orders.example/"><orderId>17</orderId><culture>${culture}</culture></GetOrder>`;
  const gateway = await serveWithCode(t, rules('named'), 20_000);
  gateway.answer({
    body: `{"id":17,"state":"sent","total":1,"placed":"2020-01-01T00:00:00Z","buyer":"b","more":"${'é'.repeat(2_000)}","lines":[]}`,
  });
  for (const length of [1, 10, 2_000]) {
    const { text } = await call(gateway, request('c'.repeat(length)));
    t.regex(text, /<n0:Name>b<\/n0:Name>/);
    t.is(gateway.hits.at(-1)?.headers['x-branch'], 'c'.repeat(length));
  }
  const slow = await serveWithCode(t, rules('forever'), 5_000); // includes the time for the thread to start and read
  const { text } = await call(slow, request('c'.repeat(2_000)));
  t.regex(text, /expected a request that is read within 5000 ms/);
  t.is(slow.hits.length, 0);
});

test('M4: responses of several calls are mapped together in a worker thread, within replyBytes', async (t) => {
  const gateway = await startGateway(t, {
    serve: { contract: mappedFolder(t, places) },
    limits: { replyAsideBytes: 1_000, replyBytes: 4_000 },
  });
  const ofBytes = (...sizes: readonly number[]) => {
    const before = gateway.hits.length;
    gateway.answer((_hit, response) => {
      const size = sizes[gateway.hits.length - before - 1] ?? 0;
      if (size === 0) response.writeHead(204).end();
      else response.writeHead(200, { 'Content-Type': 'application/json' }).end(`"${'x'.repeat(size - 2)}"`);
    });
    return call(gateway, orderOf(...sizes), '');
  };
  const { text } = await ofBytes(0, 2_000, 0, 2_000);
  t.regex(text, /<n0:PlaceOrderResult>1</);
  const { text: told } = await ofBytes(2_000, 2_001, 0);
  t.regex(
    told,
    /2 of 3 calls succeeded, then: expected responses of at most 4000 bytes in total \(limit replyBytes\), got larger responses/,
  );
});

test('mappingValues: a small response with much output is mapped in a worker thread too', async (t) => {
  const order = '{"id":17,"state":"sent","total":1,"placed":"2020-01-01T00:00:00Z","buyer":"b","lines":[]}';
  const get = getOrder.replace('12345678901', '17');
  const loopSteps = 5 * 64; // five members of the reply
  const slow = await serveWithCode(t, withCode('forever'), 1_000, { loopSteps });
  slow.answer({ body: order });
  t.regex((await call(slow, get)).text, /UpstreamTimeout: expected a reply that is read within 1000 ms/);
  const gateway = await serveWithCode(t, withCode('named'), 20_000, { loopSteps });
  gateway.answer({ body: order });
  t.regex((await call(gateway, get)).text, /<n0:Name>b<\/n0:Name>/);
});

test('M5: errors of a large message are reported like those of a small one', async (t) => {
  const gateway = await serveWithCode(t, withCode('named'), 20_000);
  const more = 'x'.repeat(2_000);
  gateway.answer({ body: `{"id":17,"state":"lost","total":1,"lines":[],"more":"${more}"}` });
  const get = getOrder.replace('12345678901', '17');
  t.regex(
    (await call(gateway, get)).text,
    /UpstreamInvalidResponse: the reply's state: expected one of open, sent, cancelled/,
  );
  gateway.answer({ body: more });
  t.regex((await call(gateway, get)).text, /UpstreamInvalidResponse: expected a JSON response/);
});

test('M1: a reload reads the documents of a mapping in a worker thread', async (t) => {
  const folder = mappedFolder(t);
  const more = Array.from({ length: 4_000 }, (_, index) => `  /more/${index}: { get: { responses: {} } }\n`);
  writeFileSync(join(folder, 'openapi.yaml'), openapi.replace('components:', `${more.join('')}components:`));
  const gateway = await startGateway(t, { serve: { contract: folder } });
  const before = process.threadCpuUsage();
  loadContract(folder, defaultLimits);
  const { user, system } = process.threadCpuUsage(before);
  const loading = (user + system) / 1000;
  // the least of three, since a collection of V8 may fall into one of them
  let longest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const watch = watchCpu();
    await gateway.running.reload();
    longest = Math.min(longest, watch.end());
  }
  t.log(`${longest.toFixed(0)} ms, of ${loading.toFixed(0)}`);
  t.true(longest < loading / 2);
});
