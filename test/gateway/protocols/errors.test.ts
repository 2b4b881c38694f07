import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { until } from '../../until.ts';
import {
  type Answer,
  elementText,
  emptyReply,
  envelope,
  type Gateway,
  getSearch,
  keyHeaders,
  type Reply,
  sharedGateway,
  startGateway,
  statusOf,
  typesNamespace,
} from '../gateway.ts';
import { startSockets } from '../sockets.ts';
import { broken } from '../upstream/broken-upstreams.ts';

const gateway = await sharedGateway();

// --- W43: the order of checks ------------------------------------------------------------------------

const order: readonly (readonly [
  what: string,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  status: number,
  said: string,
])[] = [
  ['path before verb', 'PATCH', '/nothing', {}, '', 404, 'NotFound'],
  ['path before format', 'POST', '/nothing?format=x', {}, '', 404, 'NotFound'],
  ['verb before the operation of a path', 'GET', '/json/reply/Nothing', {}, '', 405, 'MethodNotAllowed'],
  ['verb before callback', 'GET', '/json/reply/GetSearch?callback=1', {}, '', 405, 'MethodNotAllowed'],
  ['operation before callback', 'POST', '/json/reply/Nothing?callback=1', {}, '', 404, 'OperationNotFound'],
  [
    'callback before format',
    'POST',
    '/json/reply/GetSearch?format=x&callback=1',
    {},
    '',
    400,
    'InvalidCallback',
  ],
  [
    'format before media type',
    'POST',
    '/json/reply/GetSearch?format=x',
    { 'Content-Type': 'multipart/a' },
    'x',
    400,
    'UnsupportedFormat',
  ],
  ['format before a body where none belongs', 'GET', '/dbs/1?format=x', {}, 'x', 400, 'UnsupportedFormat'],
  [
    'media type before form',
    'POST',
    '/json/reply/GetSearch',
    { 'Content-Type': 'multipart/a' },
    '{',
    415,
    'UnsupportedMediaType',
  ],
  [
    'coding before form',
    'POST',
    '/json/reply/GetSearch',
    { 'Content-Encoding': 'br' },
    '{',
    415,
    'UnsupportedMediaType',
  ],
  [
    'charset before form',
    'POST',
    '/xml/reply/GetSearch',
    { 'Content-Type': 'text/xml; charset=utf-7' },
    '<',
    415,
    'UnsupportedMediaType',
  ],
  ['form before members', 'POST', '/json/reply/GetSearch', {}, '{"nothing":1', 400, 'MalformedRequest'],
  ['form before parameters', 'POST', '/json/reply/GetSearch?x=1', {}, '{', 400, 'MalformedRequest'],
  ['form before the root', 'POST', '/xml/reply/GetSearch', {}, '<Nothing><', 400, 'line 1, column'],
  [
    'limits before members',
    'POST',
    '/json/reply/GetSearch',
    {},
    `{"nothing":${'['.repeat(65)}${']'.repeat(65)}}`,
    400,
    'MalformedRequest',
  ],
  [
    'members before credentials',
    'POST',
    '/json/reply/GetSearch',
    {},
    '{"request":{"id":"x"}}',
    400,
    'ValidationError',
  ],
  [
    'members before conflicting credentials',
    'POST',
    '/json/reply/GetSearch',
    { 'X-Api-Key': 'k' },
    '{"x":1,"authentication":{"apiUserKey":"l"}}',
    400,
    'ValidationError',
  ],
  [
    'members before required members',
    'POST',
    '/json/reply/GetDbsSearch',
    keyHeaders,
    '{"subUserName":{}}',
    400,
    'InvalidType',
  ],
  ['parameters before credentials', 'GET', '/dbs/1?x=1', {}, '', 400, 'ValidationError'],
  ['credentials before required members', 'POST', '/json/reply/GetDbsSearch', {}, '{}', 401, 'Unauthorized'],
  [
    'required members before the upstream',
    'POST',
    '/json/reply/GetDbsSearch',
    keyHeaders,
    '{}',
    400,
    'NotEmpty',
  ],
];

for (const [what, method, path, headers, body, status, said] of order) {
  test(`W43: ${what}`, async (t) => {
    const reply = await gateway.send(method, path, headers, body === '' ? undefined : body);
    t.is(reply.status, status, reply.text);
    t.true(reply.text.includes(said), reply.text);
    t.is(gateway.hits.length, 0);
  });
}

const unknownHeader = '<u:a xmlns:u="urn:u" e:mustUnderstand="1"/>';
const wrongMember = `<GetSearch xmlns="${typesNamespace}"><Nothing/></GetSearch>`;

const soapOrder: readonly (readonly [
  what: string,
  headers: Readonly<Record<string, string>>,
  text: string,
  said: RegExp,
])[] = [
  ['media type before all', { 'Content-Type': 'multipart/related' }, '<', /^expected a boundary/],
  ['charset before form', { 'Content-Type': 'text/xml; charset=utf-7' }, '<', /^charset/],
  ['form before the version', {}, '<e:Envelope xmlns:e="urn:e"><', /line 1, column/],
  ['form before the root', {}, '<a><b></a>', /line 1, column/],
  [
    'form before the operation',
    {},
    envelope('1.1', { body: '<Nothing/>' }).replace('</e:Envelope>', ''),
    /line 1, column/,
  ],
  ['form before a spoofed action', { SOAPAction: 'GetPdf' }, `${envelope('1.1')}<`, /line 1, column/],
  [
    'form before mustUnderstand',
    {},
    envelope('1.1', { header: unknownHeader }).slice(0, -3),
    /line 1, column/,
  ],
  ['form before members', {}, envelope('1.1', { body: wrongMember }).slice(0, -3), /line 1, column/],
  [
    'limits before the operation',
    {},
    envelope('1.1', { body: `<Nothing/>${'<a>'.repeat(70)}` }),
    /nesting deeper than 64/,
  ],
  [
    'envelope before mustUnderstand',
    {},
    envelope('1.1', { header: unknownHeader, body: '' }),
    /in Body, got none/,
  ],
  [
    'two payloads before mustUnderstand',
    {},
    envelope('1.1', { header: unknownHeader, body: getSearch + getSearch }),
    /one element in Body/,
  ],
  [
    'operation before mustUnderstand',
    {},
    envelope('1.1', { header: unknownHeader, body: '<Nothing/>' }),
    /an operation of the contract/,
  ],
  [
    'spoofed action before mustUnderstand',
    { SOAPAction: 'GetPdf' },
    envelope('1.1', { header: unknownHeader }),
    /the action of GetSearch/,
  ],
  ['envelope before members', {}, envelope('1.1', { body: `${wrongMember}<a/>` }), /one element in Body/],
  [
    'mustUnderstand before members',
    {},
    envelope('1.1', { header: unknownHeader, body: wrongMember }),
    /mustUnderstand/,
  ],
];

for (const [what, headers, text, said] of soapOrder) {
  test(`W43, W44: SOAP, ${what}`, async (t) => {
    const reply = await gateway.send('POST', '/soap11', headers, text);
    const refused = said.source.startsWith('^');
    t.is(reply.status, refused ? 415 : 500, reply.text);
    t.is(reply.headers['content-type'], refused ? 'text/plain; charset=utf-8' : 'text/xml; charset=utf-8');
    t.regex(refused ? reply.text : (elementText(reply.text, 'faultstring') ?? ''), said);
    t.is(gateway.hits.length, 0);
  });
}

test('W43: all wrong members are reported at once, at most twenty', async (t) => {
  const items = Array.from({ length: 30 }, (_, index) => `"x${index}":1`).join(',');
  const reply = await gateway.send('POST', '/json/reply/GetSearch', {}, `{${items}}`);
  t.is(statusOf(reply.text).errors?.length, 20);
  const query = Array.from({ length: 30 }, (_, index) => `x${index}=1`).join('&');
  const byQuery = await gateway.send('GET', `/dbs/1?${query}`);
  t.is(statusOf(byQuery.text).errors?.length, 20);
  const elements = Array.from({ length: 30 }, (_, index) => `<X${index}/>`).join('');
  const body = `<GetSearch xmlns="${typesNamespace}">${elements}</GetSearch>`;
  const soap = await gateway.send('POST', '/soap11', {}, envelope('1.1', { body }));
  t.is(soap.text.match(/<ResponseError>/g)?.length, 20);
});

test('W29: errors of the gateway contain the request id and no stack', async (t) => {
  const reply = await gateway.send('POST', '/json/reply/GetSearch', { 'X-Request-Id': 'my-request-1' }, '{');
  t.deepEqual(statusOf(reply.text).meta, { requestId: 'my-request-1' });
  t.is(reply.headers['x-request-id'], 'my-request-1');
  t.false(/stackTrace|\.ts|node_modules/.test(reply.text));
  for (const bad of ['short', 'a b c d e f g h', 'x'.repeat(65), '<script>alert(1)']) {
    const other = await gateway.send('POST', '/json/reply/GetSearch', { 'X-Request-Id': bad }, '{');
    t.regex(String(other.headers['x-request-id']), /^[\w-]{3,64}$/);
    t.not(other.headers['x-request-id'], bad);
  }
});

// --- W30: upstream errors ----------------------------------------------------------------------------

const envelopes = { soap11: envelope('1.1'), soap12: envelope('1.2') } as const;
type Face = 'soap11' | 'soap12' | 'xml' | 'json';
const faces = ['soap11', 'soap12', 'xml', 'json'] as const;

function callGetSearch({ send }: Gateway, face: Face): Promise<Reply> {
  if (face === 'json') return send('POST', '/json/reply/GetSearch', keyHeaders, '{"request":{"id":1}}');
  if (face === 'xml') return send('POST', '/xml/reply/GetSearch', {}, getSearch);
  return send('POST', `/${face}`, {}, envelopes[face]);
}

/** Checks the status and code of an error reply in its format (W26). */
function isError(
  t: ExecutionContext,
  face: Face,
  reply: Reply,
  status: number,
  code: string,
  what = '',
): void {
  const shown = `${what}: ${reply.text}`;
  const soap = face === 'soap11' || face === 'soap12';
  t.is(reply.status, soap ? 200 : status, shown);
  t.is(reply.headers['x-status'], soap && status >= 400 ? String(status) : undefined, shown);
  t.is(reply.headers['cache-control'], 'no-store');
  if (face === 'json') {
    t.is(statusOf(reply.text).errorCode, code, shown);
    t.deepEqual(Object.keys(JSON.parse(reply.text)), ['data']);
    t.deepEqual(Object.keys(JSON.parse(reply.text).data), ['responseStatus']);
  } else {
    t.is(elementText(reply.text, 'ErrorCode'), code, shown);
    t.regex(
      reply.text,
      /<GetSearchResponse [^>]*><Data><ResponseStatus><ErrorCode>.*<\/ResponseStatus><\/Data><\/GetSearchResponse>/,
    );
  }
}

const told = '{"errorCode":"Told","message":"as told"}';
const html = '<!doctype html><title>Down</title>';

const upstreamErrors: readonly (readonly [what: string, answer: Answer, status: number, code: string])[] = [
  // the four shapes
  ['400 with data.responseStatus', { status: 400, body: `{"data":{"responseStatus":${told}}}` }, 400, 'Told'],
  ['404 with top-level responseStatus', { status: 404, body: `{"responseStatus":${told}}` }, 404, 'Told'],
  ['500 with data.responseStatus', { status: 500, body: `{"data":{"responseStatus":${told}}}` }, 500, 'Told'],
  ['501 with top-level responseStatus', { status: 501, body: `{"responseStatus":${told}}` }, 501, 'Told'],
  ['200 with an errorCode in data', { body: `{"data":{"responseStatus":${told}}}` }, 200, 'Told'],
  ['201 with an errorCode on top', { status: 201, body: `{"responseStatus":${told}}` }, 201, 'Told'],
  [
    '200 with an errorCode before a member of the wrong type',
    { body: `{"data":{"responseStatus":${told},"searchRecord":5}}` },
    200,
    'Told',
  ],
  [
    '200 with an errorCode after a member of the wrong type',
    { body: `{"data":{"searchRecord":5,"responseStatus":${told}}}` },
    200,
    'Told',
  ],
  [
    '422 with a member too many',
    { status: 422, body: `{"data":{"a":[1],"responseStatus":${told}},"b":{}}` },
    422,
    'Told',
  ],
  [
    '400 with numbers for texts',
    { status: 400, body: '{"responseStatus":{"errorCode":7,"message":true,"errors":{},"meta":{"a":1}}}' },
    400,
    '7',
  ],
  [
    '400 with members twice',
    { status: 400, body: '{"responseStatus":{"errorCode":"First","errorCode":"Second"}}' },
    400,
    'First',
  ],
  // neither code nor status
  ...(
    [
      [400, 'BadRequest'],
      [401, 'Unauthorized'],
      [403, 'Forbidden'],
      [404, 'NotFound'],
      [409, 'Conflict'],
      [422, 'UnprocessableEntity'],
      [429, 'TooManyRequests'],
      [402, 'Status402'],
      [418, 'Status418'],
      [499, 'Status499'],
    ] as const
  ).flatMap(([status, code]): [string, Answer, number, string][] => [
    [`${status} with {}`, { status, body: '{}' }, status, code],
    [`${status} with nothing`, { status }, status, code],
    [`${status} with HTML`, { status, body: html, headers: { 'content-type': 'text/html' } }, status, code],
    [
      `${status} with an empty responseStatus`,
      { status, body: '{"data":{"responseStatus":{}}}' },
      status,
      code,
    ],
    [
      `${status} with a responseStatus without code`,
      { status, body: '{"responseStatus":{"message":"m"}}' },
      status,
      code,
    ],
  ]),
  ['500 with {}', { status: 500, body: '{}' }, 502, 'UpstreamInvalidResponse'],
  ['500 with HTML', { status: 500, body: html }, 502, 'UpstreamInvalidResponse'],
  ['501 with nothing', { status: 501 }, 502, 'UpstreamInvalidResponse'],
  ['502 with HTML', { status: 502, body: html }, 502, 'UpstreamInvalidResponse'],
  ['503 with nothing', { status: 503 }, 503, 'UpstreamUnavailable'],
  ['503 with HTML', { status: 503, body: html }, 503, 'UpstreamUnavailable'],
  ['504 with {}', { status: 504, body: '{}' }, 504, 'UpstreamTimeout'],
  [
    '500 with a message without code',
    { status: 500, body: '{"responseStatus":{"message":"m"}}' },
    500,
    'UpstreamInvalidResponse',
  ],
  ['301', { status: 301, headers: { location: '/json/reply/GetPdf' } }, 502, 'UpstreamInvalidResponse'],
  [
    '302 with a whole reply',
    { status: 302, headers: { location: '/x' }, body: emptyReply },
    502,
    'UpstreamInvalidResponse',
  ],
  ['307', { status: 307, headers: { location: '/x' } }, 502, 'UpstreamInvalidResponse'],
  ['304', { status: 304 }, 502, 'UpstreamInvalidResponse'],
  // 2xx without a valid reply
  ...(
    [
      ['{}', '{}'],
      ['nothing', ''],
      ['blanks', '  '],
      ['HTML', html],
      ['data null', '{"data":null}'],
      ['an array', '[]'],
      ['null', 'null'],
      ['a string', '"x"'],
      ['data an array', '{"data":[]}'],
      ['truncated JSON', '{"data":{"responseStatus":{}'],
      ['NaN', '{"data":{"numOfResults":NaN}}'],
      ['two objects', '{"data":{}}{"data":{}}'],
      ['data twice', '{"data":{},"data":{}}'],
      ['an object for an array', '{"data":{"linkedTo":{}}}'],
      ['text for a number', '{"data":{"searchRecord":{"id":"five"}}}'],
      ['a number out of range', '{"data":{"searchRecord":{"id":2147483648}}}'],
      ['nesting deeper than 64', `{"data":{"x":${'['.repeat(70)}${']'.repeat(70)}}}`],
    ] as const
  ).map(([what, body]): [string, Answer, number, string] => [
    `200 with ${what}`,
    { body },
    502,
    'UpstreamInvalidResponse',
  ]),
  ['204', { status: 204 }, 502, 'UpstreamInvalidResponse'],
  [
    '200 with bytes that are not UTF-8',
    { body: Buffer.from('7b2264617461223a7b2278223a22ff227d7d', 'hex') },
    502,
    'UpstreamInvalidResponse',
  ],
  [
    '200 in a gzip nobody asked for',
    { body: gzipSync(emptyReply), headers: { 'content-encoding': 'gzip' } },
    502,
    'UpstreamInvalidResponse',
  ],
];

for (const face of faces) {
  test(`W22, W30: maps upstream errors of every shape in ${face}`, async (t) => {
    const local = await startGateway(t);
    for (const [what, answer, status, code] of upstreamErrors) {
      local.answer(answer);
      const before = local.hits.length;
      isError(t, face, await callGetSearch(local, face), status, code, what);
      t.is(local.hits.length, before + 1, `${what}: sent once, a redirect never followed`);
    }
  });
}

test('W22: a mismatch error names the field', async (t) => {
  const { send, answer } = await startGateway(t);
  answer({ body: '{"data":{"searchRecord":{"searchResults":{"euResults":[{},{"names":"x"}]}}}}' });
  const reply = await send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
  t.regex(statusOf(reply.text).message, /data\.searchRecord\.searchResults\.euResults\[1\]\.names: expected/);
});

test('W26, W30: a valid Retry-After is passed on in every form, an invalid one is not', async (t) => {
  const local = await startGateway(t);
  for (const face of faces) {
    for (const [given, passed] of [
      ['120', '120'],
      ['Fri, 31 Dec 1999 23:59:59 GMT', 'Fri, 31 Dec 1999 23:59:59 GMT'],
      ['soon', undefined],
      ['1'.repeat(100), undefined],
    ] as const) {
      local.answer({ status: 429, headers: { 'retry-after': given, 'x-other': 'a' }, body: '{}' });
      const reply = await callGetSearch(local, face);
      t.is(reply.headers['retry-after'], passed);
      t.is(reply.headers['x-other'], undefined);
    }
  }
});

test('W29: the stackTrace of an upstream is removed from errors unless the setting keeps it', async (t) => {
  const body = '{"responseStatus":{"errorCode":"E","stackTrace":"at x"}}';
  const drop = await startGateway(t);
  const keep = await startGateway(t, { overlay: 'stackTrace: keep' });
  for (const [local, kept] of [
    [drop, false],
    [keep, true],
  ] as const) {
    local.answer({ status: 400, body });
    for (const face of faces) t.is((await callGetSearch(local, face)).text.includes('at x'), kept);
  }
});

// --- upstream connections that fail ------------------------------------------------------------------

const write = '{"request":{"subUserName":"a"}}';

const whole = `HTTP/1.1 200 OK\r\nContent-Length: ${emptyReply.length}\r\n\r\n${emptyReply}`;

for (const [what, onRequest, status, code, reads, writes] of broken) {
  test(`W30, W35: an upstream that ${what} is ${status} ${code}; reads are sent ${reads === 1 ? 'once' : 'twice'}, writes once`, async (t) => {
    const limits = status === 504 ? { upstreamFirstByteMs: 1_500, totalMs: 2_500 } : {};
    const sockets = await startSockets(t, onRequest);
    const gateway = await startGateway(t, { limits, serve: { upstreamUrl: sockets.url } });
    let sent = 0;
    for (const face of faces) {
      isError(t, face, await callGetSearch(gateway, face), status, code);
      sent += reads;
      t.is(sockets.count(), sent);
      if (status === 504) break; // one timeout is enough
    }
    const reply = await gateway.send('PUT', '/subusers/update', keyHeaders, write);
    t.is(reply.status, status);
    t.is(statusOf(reply.text).errorCode, code);
    t.is(sockets.count(), sent + writes);
    await until(() => sockets.open() === 0); // the socket of a failed exchange is not reused
    t.pass();
  });
}

test('W35: a read on a reset socket is answered by the second attempt', async (t) => {
  const sockets = await startSockets(t, (socket, count) => {
    if (count === 1) socket.resetAndDestroy();
    else socket.write(whole);
  });
  const gateway = await startGateway(t, { serve: { upstreamUrl: sockets.url } });
  t.is((await callGetSearch(gateway, 'json')).text, emptyReply);
  t.is(sockets.count(), 2);
});

test('W35: a write on a reset keep-alive socket is not repeated', async (t) => {
  const sockets = await startSockets(t, (socket, count) => {
    if (count === 1) socket.write(whole);
    else socket.resetAndDestroy();
  });
  const { send } = await startGateway(t, { serve: { upstreamUrl: sockets.url } });
  t.is((await send('PUT', '/subusers/update', keyHeaders, write)).status, 200);
  t.is((await send('PUT', '/subusers/update', keyHeaders, write)).status, 502);
  t.is(sockets.count(), 2);
});

test('W29: an upstream that refuses connections is 503 UpstreamUnavailable in every form', async (t) => {
  const sockets = await startSockets(t, () => {});
  const url = new URL(sockets.url);
  // the discard port, on which nothing listens
  url.port = '9';
  const gateway = await startGateway(t, { serve: { upstreamUrl: url.href } });
  for (const face of faces) isError(t, face, await callGetSearch(gateway, face), 503, 'UpstreamUnavailable');
  const nowhere = await startGateway(t, { serve: { upstreamUrl: 'http://nowhere.invalid:80' } });
  isError(t, 'json', await callGetSearch(nowhere, 'json'), 503, 'UpstreamUnavailable');
});

test('a call abandoned while it waits for a socket is never sent', async (t) => {
  const limits = { upstreamConnections: 1, upstreamQueueMs: 100 };
  const gateway = await startGateway(t, { limits });
  let release: (() => void) | undefined;
  gateway.answer((_hit, response) => {
    release = () => response.end(emptyReply);
  });
  const first = gateway.send('POST', '/json/reply/GetPdf', keyHeaders, '{}');
  await until(() => release !== undefined);
  const second = await gateway.send('PUT', '/subusers/update', keyHeaders, write);
  t.is(second.status, 503);
  release?.();
  t.is((await first).status, 200);
  gateway.answer({ body: emptyReply });
  t.is((await gateway.send('POST', '/json/reply/GetPdf', keyHeaders, '{}')).status, 200);
  t.deepEqual(
    gateway.hits.map(({ path }) => path),
    ['/json/reply/GetPdf', '/json/reply/GetPdf'],
  );
});

test('W22: a reply above the limit is 502 and its socket is closed, with and without a length', async (t) => {
  const limits = { replyBytes: 1_000 };
  const padded = (length: number): string => emptyReply + ' '.repeat(length - emptyReply.length);
  const gateway = await startGateway(t, { limits });
  gateway.answer({ body: padded(1_000) });
  t.is((await callGetSearch(gateway, 'json')).status, 200);
  let closed = 0;
  for (const announce of [true, false]) {
    gateway.answer((_hit, response) => {
      response.on('close', () => closed++);
      if (announce) response.setHeader('content-length', 1_001);
      response.write(padded(1_001).slice(0, announce ? 10 : 1_001));
    });
    for (const face of faces)
      isError(t, face, await callGetSearch(gateway, face), 502, 'UpstreamInvalidResponse');
  }
  await until(() => closed === 8);
  t.pass();
});

test('100 Continue and 103 Early Hints before the response are skipped', async (t) => {
  const sockets = await startSockets(t, (socket) => {
    socket.write(`HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${whole}`);
  });
  const gateway = await startGateway(t, { serve: { upstreamUrl: sockets.url } });
  t.is((await callGetSearch(gateway, 'json')).text, emptyReply);
});

test('W35: the path of the upstream’s address is kept', async (t) => {
  const direct = await startGateway(t);
  const upstream = direct.hits;
  await callGetSearch(direct, 'json');
  const port = Number(upstream[0]?.headers.host?.split(':')[1]);
  for (const path of ['/edge/v2', '/edge/v2/']) {
    const gateway = await startGateway(t, { serve: { upstreamUrl: `http://127.0.0.1:${port}${path}` } });
    await callGetSearch(gateway, 'json');
    t.is(upstream.at(-1)?.path, '/edge/v2/json/reply/GetSearch');
  }
});

test('a disconnected caller is not an error: the next call is served and no error is logged', async (t) => {
  const gateway = await startGateway(t);
  const waiting = new Promise<() => void>((resolve) => {
    gateway.answer((_hit, response) => resolve(() => response.end(emptyReply)));
  });
  const body = envelope('1.1');
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write(`POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const answer = await waiting;
  socket.resetAndDestroy();
  answer();
  await until(() => gateway.log().includes('"bytesIn"'));
  // a client that disconnects in the middle of its body
  const half = connect(gateway.port, '127.0.0.1');
  half.write(`POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n<a`, () =>
    half.resetAndDestroy(),
  );
  await until(() => gateway.log().split('"bytesIn"').length === 3);
  gateway.answer({ body: emptyReply });
  t.is((await callGetSearch(gateway, 'json')).status, 200);
  t.false(gateway.log().includes('internal error'), gateway.log());
});
