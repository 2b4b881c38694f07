import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { deflateSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { until } from '../until.ts';
import { contractFolder, type Site, startSite } from './scenario.ts';

const contract = contractFolder('contracts/agency');
const path = '/agency/services/v2/AgencyPort';
const envelope = (operation: string, inner = '') =>
  `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:${operation}Request xmlns:a="http://desk.example/services/Agency-V2" xmlns:c="http://desk.example/system/Common-V1">${inner}</a:${operation}Request></soap:Body></soap:Envelope>`;
const number = (text: string) => `<c:GrantsGovTrackingNumber>${text}</c:GrantsGovTrackingNumber>`;
const xml = { 'Content-Type': 'text/xml; charset=utf-8' };

/** A scripted legacy service with full control over its replies. */
interface Legacy {
  readonly url: string;
  readonly port: number;
  readonly requests: {
    readonly rawHeaders: readonly string[];
    readonly url: string;
    readonly body: Buffer;
  }[];
  answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;
}

async function startLegacy(t: ExecutionContext): Promise<Legacy> {
  const requests: Legacy['requests'] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return; // the gateway broke off the request
    requests.push({ rawHeaders: request.rawHeaders, url: request.url ?? '', body });
    legacy.answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const legacy: Legacy = {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    answer: (_request, response) => response.end(),
  };
  return legacy;
}

async function startForwarding(
  t: ExecutionContext,
  config: object = {},
  more: Partial<Parameters<typeof startSite>[1]> = {},
): Promise<{ readonly site: Site; readonly legacy: Legacy }> {
  const legacy = await startLegacy(t);
  const site = await startSite(t, { contract, config: { legacy: legacy.url, ...config }, ...more });
  return { site, legacy };
}

test('G14: a reason phrase keeps its bytes, or is left out if it is neither ASCII nor UTF-8', async (t) => {
  const { site, legacy } = await startForwarding(t);
  let phrase: Uint8Array = Buffer.alloc(0);
  legacy.answer = ({ socket }) => {
    const rest = Buffer.from('\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    socket.end(Buffer.concat([Buffer.from('HTTP/1.1 207 '), phrase, rest]));
  };
  const phraseOf = async (bytes: Buffer): Promise<Buffer> => {
    phrase = bytes;
    const { status, body, text } = await phrased(site.port);
    t.is(`${status} ${body}`, '207 ok');
    return Buffer.from(text, 'latin1');
  };
  for (const text of ['Own Words', '', 'Geändert', '完成', '😀 \t x'])
    t.deepEqual(await phraseOf(Buffer.from(text)), Buffer.from(text), text);
  for (const bytes of [Buffer.from('Geändert', 'latin1'), Buffer.from([0xff, 0x41])])
    t.is((await phraseOf(bytes)).length, 0);
});

/** Calls a gateway and returns the reply with its reason phrase as Latin-1 text. */
function phrased(
  port: number,
): Promise<{ readonly status: number | undefined; readonly text: string; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      headers: xml,
      agent: false,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status, statusMessage: text = '' } = response;
      buffer(response).then((body) => resolve({ status, text, body: String(body) }), reject);
    });
    request.end(envelope('NotifyArrival', number('G')));
  });
}

test('G16: headers of a connection, the override header and those of certificates are not forwarded', async (t) => {
  const { site, legacy } = await startForwarding(t);
  const headers = [
    ...['Content-Type', 'text/xml', 'Connection', 'close, X-Hop', 'X-Hop', '1', 'TE', 'trailers'],
    ...['Proxy-Authorization', 'Basic eDp5', 'X-Soapbridge-Route', 'new', 'X-Soapbridge-Shadow', '1'],
    ...['X-Forwarded-For', '203.0.113.9', 'X-Forwarded-Proto', 'https', 'X-Caller', 'forged'],
  ];
  await site.send({ path, headers, body: envelope('NotifyArrival', number('G')), caller: 'acme' });
  const [{ rawHeaders = [] } = {}] = legacy.requests;
  const names = rawHeaders.filter((_name, at) => at % 2 === 0).map((name) => name.toLowerCase());
  const unwanted = [
    'x-hop',
    'te',
    'proxy-authorization',
    'x-soapbridge-route',
    'x-soapbridge-shadow',
    'x-caller',
  ];
  for (const name of [...unwanted, 'x-test-certificate']) t.false(names.includes(name), name);
  const headerOf = (name: string) => rawHeaders[names.indexOf(name) * 2 + 1];
  t.is(headerOf('x-forwarded-for'), '203.0.113.9, 127.0.0.1');
  t.is(headerOf('x-forwarded-proto'), 'https');
  t.is(headerOf('host'), new URL(legacy.url).host);
});

test('G16: the identity of the caller is sent in its own header', async (t) => {
  const legacy = await startLegacy(t);
  const config = { legacy: { url: legacy.url, identity: { header: 'X-Who', from: 'caller' } } };
  const site = await startSite(t, { contract, config, callers: ['acme'] });
  const headers = { ...xml, 'x-who': 'forged' };
  await site.send({ path, headers, body: envelope('NotifyArrival', number('G')), caller: 'acme' });
  await site.send({ path, headers, body: envelope('NotifyArrival', number('G')) });
  const values = legacy.requests.map(({ rawHeaders }) =>
    rawHeaders.flatMap((name, at) => (at % 2 === 0 && /^x-who$/i.test(name) ? [rawHeaders[at + 1]] : [])),
  );
  t.deepEqual(values, [['acme'], []]);
});

test('G16: underscores do not hide headers that the gateway removes or sets', async (t) => {
  const legacy = await startLegacy(t);
  const own = {
    url: legacy.url,
    headers: { 'X-Api-Key': 'own' },
    identity: { header: 'X-Who', from: 'caller' },
  };
  const site = await startSite(t, { contract, config: { legacy: own }, callers: ['acme'] });
  const forged = [
    ...['X_Who', 'X_Caller', 'X_Test_Certificate', 'X-Test_Certificate', 'X_Api_Key', 'x.who'],
    ...['X_Forwarded_For', 'X_Request-Id', 'X_Soapbridge_Route', 'X_Soapbridge_Shadow'],
  ];
  const headers = [...Object.entries(xml).flat(), ...forged.flatMap((name) => [name, 'forged'])];
  await site.send({
    path,
    headers: [...headers, 'X_Other', 'kept'],
    body: envelope('NotifyArrival', number('G')),
  });
  const [{ rawHeaders = [] } = {}] = legacy.requests;
  t.false(rawHeaders.includes('forged'), rawHeaders.join(' '));
  t.is(rawHeaders[rawHeaders.indexOf('X_Other') + 1], 'kept');
  t.is(rawHeaders[rawHeaders.indexOf('x-api-key') + 1] ?? '', 'own');
});

test('G2: a URL with a path replaces the path of the port', async (t) => {
  const legacy = await startLegacy(t);
  const site = await startSite(t, { contract, config: { legacy: `${legacy.url}/moved/here` } });
  await site.send({ path: `${path}?a=b`, headers: xml, body: envelope('NotifyArrival', number('G')) });
  t.is(legacy.requests[0]?.url, '/moved/here?a=b');
});

test('G12: a request without a known operation is forwarded unchanged', async (t) => {
  const { site, legacy } = await startForwarding(t);
  legacy.answer = (_request, response) => response.writeHead(418).end('kept');
  const packed = gzipSync('not xml');
  for (const [headers, body] of [
    [xml, '<a'],
    [xml, envelope('Unknown')],
    [
      { ...xml, SOAPAction: '"http://desk.example/GetApplicationZip"' },
      envelope('NotifyArrival', number('G')),
    ],
    [{ 'Content-Type': 'application/dime' }, 'x'],
    [{ 'Content-Type': 'multipart/related; boundary=b' }, '--b\r\n\r\nx\r\n--b--'],
    [{ ...xml, 'Content-Encoding': 'br' }, 'x'],
    [{ ...xml, 'Content-Encoding': 'gzip' }, packed],
    [xml, ''],
  ] as const) {
    const reply = await site.send({ path, headers, body });
    t.is(reply.status, 418);
    t.is(reply.body.toString(), 'kept');
    t.deepEqual(legacy.requests.at(-1)?.body, Buffer.from(body));
    const lineOf = () => site.log().findLast(({ ms }) => ms !== undefined);
    t.like(lineOf(), {
      operation: '?',
      mode: 'legacy',
      rule: 'unreadable',
      side: 'legacy',
      legacyStatus: 418,
    });
  }
});

test('G12: if every route leads to the new service, an unreadable request gets the fault of W27', async (t) => {
  const routes = [{ name: 'all', mode: 'new' }];
  const { site, legacy } = await startForwarding(t, { migration: { routes } });
  const reply = await site.send({ path, headers: xml, body: '<a' });
  t.is(reply.status, 500);
  t.regex(reply.body.toString(), /<faultcode>\w+:Client</);
  t.is(legacy.requests.length, 0);
});

test('G17: the gateway answers documents, and forwards other requests at and below a port', async (t) => {
  const { site, legacy } = await startForwarding(t);
  legacy.answer = (_request, response) => response.end('legacy');
  for (const query of ['?wsdl', '?xsd=1', '?singleWsdl', '?xsd=99']) {
    const reply = await site.send({ method: 'GET', path: path + query });
    t.not(reply.body.toString(), 'legacy', query);
    t.false(reply.body.toString().includes('legacy.desk.example'));
  }
  for (const query of ['?wsdl', '?WSDL=1', '?xsd=a', '?a=b&singleWsdl'])
    for (const method of ['GET', 'HEAD'])
      t.is((await site.send({ method, path: `${path}/mex${query}` })).status, 404, query);
  t.is(legacy.requests.length, 0);
  for (const [method, below] of [
    ['GET', '?disco'],
    ['GET', '/GetZip?number=1'],
    ['PUT', ''],
    ['OPTIONS', ''],
  ] as const) {
    const reply = await site.send({ method, path: path + below });
    t.is(reply.body.toString(), 'legacy', `${method} ${below}`);
    t.is(legacy.requests.at(-1)?.url, path + below);
  }
});

test('G17: a path with dot segments is not forwarded', async (t) => {
  const { site, legacy } = await startForwarding(t);
  const up = [
    '/..',
    '/../../admin',
    '/%2e%2e/%2E./admin',
    '/.%2e\\admin',
    '\\..\\..\\admin',
    '/a/%2f..%2f../x',
  ];
  const parameters = ['/..;x/admin', ';jsessionid=1\\..\\..\\admin', ';jsessionid=1%2f..%2fadmin', '//../x'];
  for (const below of [...up, ...parameters])
    for (const method of below.startsWith(';') ? ['POST', 'PUT'] : ['GET', 'POST', 'PUT']) {
      const body = method === 'GET' ? undefined : envelope('NotifyArrival', number('G'));
      const { status, headers } = await site.send({ method, path: path + below, headers: xml, body });
      t.is(headers['x-status'] ?? String(status), '404', `${method} ${below}`);
    }
  t.is(legacy.requests.length, 0);
  for (const below of ['/a..b', '/...', '/.well', ';jsessionid=a..b', '?a=/../b']) {
    await site.send({ method: 'PUT', path: path + below });
    t.is(legacy.requests.at(-1)?.url, path + below);
  }
});

test('G17: TRACE is not forwarded', async (t) => {
  const { site, legacy } = await startForwarding(t);
  for (const below of ['', '/below', '?disco']) {
    const { status, headers } = await site.send({ method: 'TRACE', path: path + below });
    t.is(status, 405);
    t.regex(headers.allow ?? '', /GET.*POST/);
  }
  t.is(legacy.requests.length, 0);
});

test('G17: with `others: refuse` other requests get 404', async (t) => {
  const legacy = await startLegacy(t);
  const site = await startSite(t, { contract, config: { legacy: { url: legacy.url, others: 'refuse' } } });
  for (const below of ['?disco', '/GetZip'])
    t.is((await site.send({ method: 'GET', path: path + below })).status, 404);
  t.is(legacy.requests.length, 0);
});

test('G15: the head of a request may have 64 KiB, and the rest is streamed', async (t) => {
  const { site, legacy } = await startForwarding(t);
  const rule = async (blanks: number): Promise<unknown> => {
    const start = '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">';
    const rest = envelope('NotifyArrival', number('x'.repeat(100_000))).slice(start.length);
    const end = rest.indexOf('Request xmlns') + rest.slice(rest.indexOf('Request xmlns')).indexOf('>') + 1;
    const body = start + ' '.repeat(blanks - start.length - end) + rest;
    await sendSlowly(site.port, body, blanks);
    t.is(legacy.requests.at(-1)?.body.toString(), body);
    return site.log().findLast(({ ms }) => ms !== undefined)?.rule;
  };
  t.is(await rule(64 * 1024), 'otherwise');
  t.is(await rule(64 * 1024 + 1), 'unreadable');
});

/** Sends a body in two chunks, the second one once the first has arrived. */
async function sendSlowly(port: number, body: string, first: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const headers = { ...xml, 'Transfer-Encoding': 'chunked' };
    const request = httpRequest({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false });
    request.on('error', reject);
    request.on('response', (response) => response.resume().on('end', resolve));
    request.write(body.slice(0, Math.min(first, 64 * 1024)), () =>
      request.end(body.slice(Math.min(first, 64 * 1024))),
    );
  });
}

test('G15: streamBytes limits each direction', async (t) => {
  const streamBytes = 100_000;
  const { site, legacy } = await startForwarding(t, {}, { limits: { streamBytes } });
  legacy.answer = (_request, response) => response.end('x'.repeat(10));
  const whole = envelope('NotifyArrival', number('G'));
  const padded = (bytes: number) => whole + ' '.repeat(bytes - whole.length);
  t.is((await site.send({ path, headers: xml, body: padded(streamBytes) })).status, 200);
  const refused = await site.send({ path, headers: xml, body: padded(streamBytes + 1) });
  t.is(refused.status, 413);
  t.is(legacy.requests.length, 1);
  legacy.answer = (_request, response) => response.end(Buffer.alloc(streamBytes));
  t.is((await site.send({ path, headers: xml, body: whole })).body.length, streamBytes);
  legacy.answer = (_request, response) => response.end(Buffer.alloc(streamBytes + 1));
  t.is((await site.send({ path, headers: xml, body: whole })).headers['x-status'], '502');
  legacy.answer = (_request, response) => {
    response.write(Buffer.alloc(streamBytes));
    response.end('x');
  };
  await t.throwsAsync(site.send({ path, headers: xml, body: whole }), { code: 'ECONNRESET' });
});

test('G15: `streamBytes` of the legacy service limits requests, too', async (t) => {
  const legacy = await startLegacy(t);
  const config = { legacy: { url: legacy.url, limits: { streamBytes: 100_000 } } };
  const site = await startSite(t, { contract, config });
  const whole = envelope('NotifyArrival', number('G'));
  const padded = (bytes: number) => whole + ' '.repeat(bytes - whole.length);
  t.is((await site.send({ path, headers: xml, body: padded(100_000) })).status, 200);
  t.is((await site.send({ path, headers: xml, body: padded(100_001) })).status, 413);
  t.is((await site.send({ method: 'PUT', path, headers: xml, body: padded(100_001) })).status, 413);
  t.is(legacy.requests.length, 1);
});

test('G15: a large package is streamed in both directions', async (t) => {
  const { site, legacy } = await startForwarding(t);
  const root = envelope('NotifyArrival', number('G'));
  const head = `--b\r\nContent-Type: application/xop+xml; type="text/xml"\r\nContent-ID: <r>\r\n\r\n${root}\r\n--b\r\nContent-ID: <f>\r\n\r\n`;
  const file = Buffer.alloc(8 * 1024 * 1024, 'file');
  const body = Buffer.concat([Buffer.from(head), file, Buffer.from('\r\n--b--')]);
  legacy.answer = (_request, response, received) => response.end(received);
  const headers = {
    'Content-Type':
      'multipart/related; type="application/xop+xml"; start="<r>"; start-info="text/xml"; boundary=b',
  };
  const reply = await site.send({ path, headers, body });
  t.true(reply.body.equals(body));
  t.is(site.log().findLast(({ ms }) => ms !== undefined)?.operation, 'NotifyArrival');
});

test('G18: a connection with NTLM or Negotiate credentials is not used again', async (t) => {
  const { site, legacy } = await startForwarding(t);
  const users = new Map<unknown, string>();
  legacy.answer = ({ socket, headers: { authorization } }, response) => {
    if (authorization !== undefined) users.set(socket, authorization);
    response.writeHead(401, { 'WWW-Authenticate': 'NTLM' }).end(users.get(socket) ?? 'nobody');
  };
  const userOf = async (authorization?: string): Promise<string> => {
    const headers = authorization === undefined ? xml : { ...xml, authorization };
    const { status, body } = await site.send({
      path,
      headers,
      body: envelope('NotifyArrival', number('G')),
    });
    t.is(status, 401);
    return body.toString();
  };
  t.is(await userOf('Basic eDp5'), 'Basic eDp5');
  t.is(await userOf(), 'Basic eDp5', 'other connections are used again');
  for (const credentials of ['NTLM abc', 'Negotiate abc', 'negotiate', 'ntlm\tabc']) {
    t.is(await userOf(credentials), credentials);
    t.is(await userOf(), 'nobody', credentials);
  }
  t.is(site.log().filter(({ msg }) => /NTLM/.test(String(msg))).length, 1);
});

for (const [what, isQuickBefore, queueMs] of [
  ['hangs', false, 200],
  ['was quick and hangs', true, 10_000],
] as const) {
  test(`G18: a legacy service that ${what} does not refuse calls to the new service`, async (t) => {
    const limits = { inFlight: 16, queue: 64, queueMs, upstreamConnections: 4 };
    const routes = [{ name: 'zip', operations: ['GetApplicationZip'], mode: 'new' }];
    const { site, legacy } = await startForwarding(t, { migration: { routes } }, { limits });
    site.upstream.answer = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"FileDataHandler":"UEsDBA=="}',
    };
    const held: ServerResponse[] = [];
    const call = (operation: string) =>
      site.send({ path, headers: xml, body: envelope(operation, number('G')) });
    if (isQuickBefore) t.is((await call('NotifyArrival')).status, 200);
    legacy.answer = (_request, response) => held.push(response);
    const waiting = Array.from({ length: 40 }, () => call('NotifyArrival'));
    const { load } = site.running;
    await until(() => load().inFlight + load().queued >= 40);
    t.is((await call('GetApplicationZip')).status, 200);
    legacy.answer = (_request, response) => response.end('<late/>');
    for (const response of held) response.end('<late/>');
    for (const { status } of await Promise.all(waiting)) t.is(status, 200);
    await until(() => load().inFlight === 0);
    t.is(load().queued, 0);
  });
}

test('G18: a call that gets no connection logs its time in the queue', async (t) => {
  const { site, legacy } = await startForwarding(
    t,
    {},
    { limits: { upstreamConnections: 1, upstreamQueueMs: 200 } },
  );
  const held: ServerResponse[] = [];
  legacy.answer = (_request, response) => held.push(response);
  const call = () => site.send({ path, headers: xml, body: envelope('NotifyArrival', number('G')) });
  const first = call();
  await until(() => held.length === 1);
  t.is((await call()).headers['x-status'], '503');
  held[0]?.end('<late/>');
  t.is((await first).status, 200);
  await until(() => site.log().filter(({ operation }) => operation === 'NotifyArrival').length === 2);
  const [rejected] = site.log().filter(({ operation }) => operation === 'NotifyArrival');
  t.true(Number(rejected?.queueMs) >= 200, JSON.stringify(rejected));
  t.is(legacy.requests.length, 1);
});

test('G19: failures of the legacy service are faults of the caller that name it', async (t) => {
  const { site, legacy } = await startForwarding(t, {}, { limits: { upstreamFirstByteMs: 300 } });
  const faults: string[] = [];
  const call = async (): Promise<void> => {
    const { status, headers, body } = await site.send({
      path,
      headers: xml,
      body: envelope('NotifyArrival', number('G')),
    });
    faults.push(`${status} ${headers['x-status']} ${/<faultstring[^>]*>(\w+)/.exec(body.toString())?.[1]}`);
    t.regex(body.toString(), /the legacy service/);
  };
  legacy.answer = () => {}; // never answers
  await call();
  legacy.answer = (request) => request.socket.resetAndDestroy();
  await call();
  legacy.answer = (request) => request.socket.end('garbage\r\n\r\n');
  await call();
  t.deepEqual(faults, [
    '500 504 UpstreamTimeout',
    '500 502 UpstreamInvalidResponse',
    '500 502 UpstreamInvalidResponse',
  ]);
});

test('G19: endless interim responses are 502', async (t) => {
  const limits = { upstreamOverheadBytes: 200_000 };
  const { site, legacy } = await startForwarding(t, {}, { limits });
  const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  const many = Buffer.from(hint.repeat(Math.floor(100_000 / hint.length)));
  legacy.answer = ({ socket }, response) => {
    socket.write(many);
    response.end('ok');
  };
  const call = { path, headers: xml, body: envelope('NotifyArrival', number('G')) };
  t.is((await site.send(call)).status, 200);
  legacy.answer = ({ socket }) => {
    const goOn = (): void => {
      while (socket.writable && socket.write(many));
      if (socket.writable) socket.once('drain', goOn);
    };
    goOn();
  };
  t.is((await site.send(call)).headers['x-status'], '502');
});

test('G19: a reply that breaks off closes the connection of the caller and is logged as cut', async (t) => {
  const { site, legacy } = await startForwarding(t);
  legacy.answer = (request, response) => {
    response.writeHead(200, { 'Content-Length': '1000' });
    response.write('part', () => setImmediate(() => request.socket.destroy()));
  };
  await t.throwsAsync(site.send({ path, headers: xml, body: envelope('NotifyArrival', number('G')) }));
  await until(() => site.log().some(({ cut }) => cut === true));
  t.pass();
});

test('G22: a read is retried once, a write and a signed message are not', async (t) => {
  const { site, legacy } = await startForwarding(t);
  const sendsOf = async (body: string): Promise<number> => {
    const before = legacy.requests.length;
    await site.send({ path, headers: xml, body });
    return legacy.requests.length - before;
  };
  legacy.answer = (request) => request.socket.resetAndDestroy();
  t.is(await sendsOf(envelope('GetApplicationZip', number('G'))), 2);
  t.is(await sendsOf(envelope('NotifyArrival', number('G'))), 1);
  const signed = envelope('GetApplicationZip', number('G')).replace(
    '<soap:Body>',
    '<soap:Header><w:RelatesTo xmlns:w="urn:w">1</w:RelatesTo></soap:Header><soap:Body>',
  );
  t.is(await sendsOf(signed), 1);
});

test('G22: a message whose header blocks are not visible as text is sent once', async (t) => {
  const { site, legacy } = await startForwarding(t);
  legacy.answer = (request) => request.socket.resetAndDestroy();
  const sendsOf = async (
    headers: Readonly<Record<string, string>>,
    body: string | Buffer,
  ): Promise<number> => {
    const before = legacy.requests.length;
    await site.send({ path, headers, body });
    return legacy.requests.length - before;
  };
  const plain = envelope('GetApplicationZip', number('G'));
  const related = { 'Content-Type': 'multipart/related; type="text/xml"; boundary="b"' };
  const packageOf = (body: string, encoding: string, attachment: string): string =>
    [
      `--b\r\nContent-Type: text/xml\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`,
      `\r\n--b\r\nContent-ID: <a>\r\n\r\n${attachment}\r\n--b--\r\n`,
    ].join('');
  t.is(
    await sendsOf({ 'Content-Type': 'text/xml; charset=utf-16' }, Buffer.from(plain, 'utf16le')),
    1,
    'UTF-16 without a byte order mark',
  );
  for (const windowBits of [9, 12, 15])
    t.is(
      await sendsOf({ ...xml, 'Content-Encoding': 'deflate' }, deflateSync(plain, { windowBits })),
      1,
      `zlib ${windowBits}`,
    );
  const inBase64 = Buffer.from(plain).toString('base64');
  t.is(await sendsOf(related, packageOf(inBase64, 'base64', 'Envelope')), 1);
  t.is(await sendsOf(related, packageOf(plain, '8bit', 'Timestamp')), 2);
});

test('G22: a caller that disconnects cancels a read, and not a write', async (t) => {
  const { site, legacy } = await startForwarding(t);
  const closed = { read: false, write: false };
  const leave = async (operation: string, kind: keyof typeof closed): Promise<void> => {
    let isHeld = false;
    let finish = (): void => {};
    legacy.answer = (request, response) => {
      isHeld = true;
      finish = () => response.end('<late/>');
      request.socket.on('close', () => {
        closed[kind] = true;
      });
    };
    const body = envelope(operation, number('G'));
    const socket = connect(site.port, '127.0.0.1', () => {
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
    await until(() => isHeld);
    const lines = site.log().length;
    socket.destroy();
    if (kind === 'read') await until(() => closed.read);
    else {
      await new Promise((resolve) => setTimeout(resolve, 200));
      finish();
    }
    await until(() => site.log().length > lines);
  };
  await leave('GetApplicationZip', 'read');
  await leave('NotifyArrival', 'write');
  t.deepEqual(closed, { read: true, write: false });
  const settled = () => site.audit().findLast(({ audit }) => audit === 'settled');
  await until(() => settled() !== undefined);
  t.like(settled(), { outcome: 'answered', side: 'legacy', rule: 'otherwise' });
});
