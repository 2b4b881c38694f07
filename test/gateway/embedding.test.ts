import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import test, { type ExecutionContext } from 'ava';
import Koa from 'koa';
import Router from 'koa-router';
import * as codec from '../../gateway/codec.ts';
import { createGateway, type Gateway, type GatewayOptions, loadContract } from '../../gateway/index.ts';
import { createReferenceUpstream } from '../../upstream/service.ts';
import { listen } from './embedded/library.ts';
import { envelope } from './gateway.ts';

const { contract } = loadContract('mappings/screening');
const library = loadContract({ openapi: 'docs/tutorial/openapi.yaml', overlay: undefined }).contract;
const headers = { 'Content-Type': 'text/xml; charset=utf-8' };
const subUser =
  '<UpdateSubUser xmlns="http://schemas.servicestack.net/types"><Authentication><ApiUserId>demo</ApiUserId>' +
  '<ApiUserKey>demo-key</ApiUserKey></Authentication><Request><SubUserName>jane</SubUserName></Request></UpdateSubUser>';

/** Starts the reference upstream on a new port. */
async function upstreamOf(t: ExecutionContext): Promise<string> {
  const service = createReferenceUpstream();
  t.teardown(() => service.close());
  return listen(t, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const reply = await service.handle({ method: request.method ?? '', path: request.url ?? '', body });
    response.writeHead(reply.status, { ...reply.headers }).end(reply.body);
  });
}

async function gatewayOf(t: ExecutionContext, options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const upstream = options.upstream ?? (await upstreamOf(t));
  const gateway = createGateway({ contract, upstream, publicUrl: 'https://edge.example', ...options });
  t.teardown(() => gateway.close());
  return gateway;
}

const post = (url: string, body: string): Promise<Response> => fetch(url, { method: 'POST', headers, body });
const soapCall = (base: string): Promise<Response> =>
  post(`${base}/v2/soap11`, envelope('1.1', { body: subUser }));

test('the middleware answers the paths of its contract and passes on all others', async (t) => {
  const { middleware } = await gatewayOf(t);
  const app = new Koa();
  const seen: number[] = [];
  app.use(async (ctx, next) => {
    await next();
    seen.push(ctx.status);
  });
  app.use(middleware);
  const routes = new Router();
  routes.get('/health', (ctx) => {
    ctx.body = 'well';
  });
  app.use(routes.routes());
  const base = await listen(t, app.callback());

  const reply = await soapCall(base);
  t.is(reply.status, 200);
  t.regex(await reply.text(), /<Name>Jane O'Sample<\/Name>/);
  const other = await fetch(`${base}/health`);
  t.deepEqual([other.status, await other.text()], [200, 'well']);
  t.is((await fetch(`${base}/healthz`)).status, 404, 'pages of a process are its own');
  t.regex(
    await (await fetch(`${base}/v2/soap11?wsdl`)).text(),
    /location="https:\/\/edge\.example\/v2\/soap11"/,
  );
  t.is((await fetch(`${base}/v2/nothing/here`)).status, 404);
  t.deepEqual(seen, [200, 200, 404, 200, 404]);
});

test('the middleware answers SOAP 1.2, JSON, XML and REST as a process does', async (t) => {
  const app = new Koa();
  app.use((await gatewayOf(t)).middleware);
  const base = await listen(t, app.callback());
  const soap12 = await fetch(`${base}/v2/soap12`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/soap+xml' },
    body: envelope('1.2', { body: subUser }),
  });
  t.regex(await soap12.text(), /UpdateSubUserResponse/);
  t.regex(
    await (await post(`${base}/v2/xml/reply/UpdateSubUser`, subUser)).text(),
    /^<\?xml.*<UpdateSubUserResponse/,
  );
  const rest = await fetch(`${base}/v2/subusers/update`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', 'X-Api-User': 'demo', 'X-Api-Key': 'demo-key' },
    body: '{"request":{"subUserName":"jane"}}',
  });
  t.is(rest.status, 200);
  t.regex(await (await post(`${base}/v2/soap11`, 'not XML')).text(), /<faultcode>s:Client<\/faultcode>/);
});

test('the handler answers in a plain server, and returns 404 for other paths', async (t) => {
  const base = await listen(t, (await gatewayOf(t)).handler);
  t.is((await soapCall(base)).status, 200);
  t.is((await fetch(`${base}/v2/soap11?wsdl`)).status, 200);
  t.is((await fetch(`${base}/elsewhere`)).status, 404);
});

test('the handler passes other paths on to next', async (t) => {
  const { handler } = await gatewayOf(t);
  const next = (response: ServerResponse) => () => response.end('next');
  const base = await listen(t, (request, response) => handler(request, response, next(response)));
  t.is(await (await fetch(`${base}/elsewhere?x=1`)).text(), 'next');
  t.is((await soapCall(base)).status, 200);
});

test('a body is complete if chunks arrived before the program called the gateway', async (t) => {
  const { handler } = await gatewayOf(t);
  const message = envelope('1.1', { body: subUser.padEnd(40_000) });
  const base = await listen(t, (request, response) => {
    const look = setInterval(() => {
      if (request.readableLength < Buffer.byteLength(message)) return;
      clearInterval(look);
      handler(request, response);
    }, 5);
  });
  const sent = httpRequest(`${base}/v2/soap11`, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': Buffer.byteLength(message) },
  });
  sent.write(message.slice(0, 20_000));
  setTimeout(() => sent.end(message.slice(20_000)), 50);
  const [reply] = await once(sent, 'response');
  t.regex(await text(reply), /<Name>Jane O'Sample<\/Name>/);
});

test('several gateways in one process have separate paths, upstreams and counts', async (t) => {
  const screening = await gatewayOf(t);
  const books = await gatewayOf(t, {
    contract: library,
    basePath: '/library',
    upstream: await listen(t, (_request, response) =>
      response
        .writeHead(201, { 'content-type': 'application/json' })
        .end('{"number":9007199254740993,"isbn":"1","reader":"Z","due":"2026-03-28"}'),
    ),
  });
  const app = new Koa();
  app.use(screening.middleware).use(books.middleware);
  const base = await listen(t, app.callback());
  const lend = '<lend xmlns="urn:CityLibrary"><Body><isbn>1</isbn><reader>Z</reader></Body></lend>';
  const loan = await post(`${base}/library/soap11`, envelope('1.1', { body: lend }));
  t.regex(await loan.text(), /<number>9007199254740993<\/number>/);
  t.is((await soapCall(base)).status, 200);
  for (const [gateway, path] of [
    [screening, '/v2'],
    [books, '/library'],
  ] as const) {
    const counts = gateway.metrics().match(/^soapbridge_requests_total.*$/gm);
    t.deepEqual(counts, [`soapbridge_requests_total{contract="${path}",transport="soap11",status="200"} 1`]);
  }
});

test('a logger gets one line per request, without data from the caller', async (t) => {
  const lines: [object, string | undefined][] = [];
  const note = (fields: object, message?: string): unknown => lines.push([fields, message]);
  const { handler } = await gatewayOf(t, { logger: { info: note, warn: note, error: note } });
  await soapCall(await listen(t, handler));
  const line = lines.map(([fields]) => fields).find((fields) => 'status' in fields);
  t.like(line, {
    method: 'POST',
    contract: '/v2',
    transport: 'soap11',
    operation: 'UpdateSubUser',
    status: 200,
  });
  t.notRegex(JSON.stringify(lines), /jane|demo/);
});

test('close lets running calls finish, and refuses others', async (t) => {
  const waiting: (() => void)[] = [];
  const arrived = Promise.withResolvers<void>();
  const upstream = await listen(t, (request: IncomingMessage, response) => {
    request.resume();
    waiting.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{}}'));
    arrived.resolve();
  });
  const gateway = await gatewayOf(t, { upstream });
  const base = await listen(t, gateway.handler);
  const first = soapCall(base);
  await arrived.promise;
  const closed = gateway.close();
  const refused = await soapCall(base);
  t.deepEqual(
    [refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')],
    [503, '1', 'close'],
  );
  waiting[0]?.();
  t.is((await first).status, 200);
  t.true(await closed);
  t.is(await gateway.close(), true);
});

test('a closing gateway waits at most drainMs', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const upstream = await listen(t, () => arrived.resolve());
  const gateway = await gatewayOf(t, { upstream, limits: { drainMs: 50 } });
  const call = soapCall(await listen(t, gateway.handler));
  await arrived.promise;
  t.false(await gateway.close());
  t.is((await call).headers.get('x-status'), '504');
});

test('a body that was read before the gateway is a clear error, and not a hanging call', async (t) => {
  const app = new Koa();
  const errors: string[] = [];
  app.on('error', (error: Error) => errors.push(error.message));
  app.use(async (ctx, next) => {
    for await (const _chunk of ctx.req);
    await next();
  });
  app.use((await gatewayOf(t)).middleware);
  t.is((await soapCall(await listen(t, app.callback()))).status, 500);
  t.deepEqual(errors, [
    'expected an unread body, got a body that was read before. Add the gateway before body parsers',
  ]);
});

test('an embedded gateway does not change the process', async (t) => {
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
  const before = listeners();
  const { handler } = await gatewayOf(t);
  await soapCall(await listen(t, handler));
  t.deepEqual(listeners(), before);
});

for (const [options, message] of [
  [
    { upstream: 'ftp://x' },
    'upstream: expected an http or https URL without credentials and query, got "ftp://x"',
  ],
  [{ publicUrl: '/v2' }, 'publicUrl: expected an http or https URL without credentials and query, got "/v2"'],
  [{ basePath: 'v2' }, 'basePath: expected "/" or a path such as "/edge/v2", got "v2"'],
  [{ limits: { inFlight: 0 } }, 'limits: inFlight: expected a number from 1 to 2147483647, got 0'],
  [
    { limits: { inflight: 1 } as object },
    'limits: expected the name of a limit, got "inflight". Did you mean inFlight?',
  ],
] as const) {
  test(`refuses invalid options: ${message}`, (t) => {
    const given = { contract, upstream: 'http://127.0.0.1:1', publicUrl: 'http://localhost', ...options };
    t.throws(() => createGateway(given), { instanceOf: RangeError, message });
  });
}

test('soapbridge and soapbridge/codec export the same loadContract', (t) => {
  t.is(codec.loadContract, loadContract);
});

for (const [option, message] of [
  ['upstrem', 'upstrem: expected an option of createGateway, got an unknown name. Did you mean upstream?'],
  [
    'trustedProxy',
    'trustedProxy: expected an option of createGateway, got an unknown name. Did you mean trustedProxies?',
  ],
  ['tls', 'tls: expected an option of createGateway, got an unknown name'],
] as const) {
  test(`createGateway refuses the unknown option ${option}`, (t) => {
    const options = { contract, upstream: 'http://127.0.0.1:9', publicUrl: 'http://a', [option]: 'x' };
    t.throws(() => createGateway(options), { instanceOf: RangeError, message });
  });
}
