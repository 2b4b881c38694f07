import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { deflateSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { folderOf } from '../../plain/folders.ts';
import { file } from '../commands/file.ts';
import {
  authentication,
  elementText,
  emptyReply,
  envelope,
  type Gateway,
  getSearch,
  keyHeaders,
  send,
  sharedGateway,
  startGateway,
  statusOf,
  typesNamespace,
} from '../gateway.ts';

const gateway = await sharedGateway();

// --- the message: accepted at N, rejected at N + 1 ---------------------------------------------------

const repeat = (count: number, each: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => each(index)).join('');

/** A GetSearch with a sub user name of `length` characters. */
const named = (length: number): string =>
  `<GetSearch xmlns="${typesNamespace}">${authentication}<Request><SubUserName>${'x'.repeat(length)}</SubUserName></Request></GetSearch>`;

interface XmlRow {
  readonly limit: keyof Limits;
  readonly n: number;
  /** A complete envelope that reaches the limit `n`. */
  readonly message: (n: number) => string;
  readonly said: RegExp;
  /** The same as a body of /xml/reply; undefined if the limit applies only to SOAP. */
  readonly plain?: ((n: number) => string) | undefined;
}

/**
 * Number of elements of `envelope(getSearch)`: Envelope, Body, GetSearch, Authentication and its two children, Request,
 * Id.
 */
const elements = 8;
/** Number of its namespace declarations. It has no attributes. */
const attributes = 2;

const xmlRows: readonly XmlRow[] = [
  {
    limit: 'xmlDepth',
    n: 8,
    message: (n) => envelope('1.1', { header: '<u>'.repeat(n - 2) + '</u>'.repeat(n - 2) }),
    said: /nesting deeper than 8/,
  },
  {
    limit: 'xmlElements',
    n: 40,
    message: (n) => envelope('1.1', { header: `<u>${'<v/>'.repeat(n - elements - 2)}</u>` }),
    said: /more than 40 elements/,
  },
  {
    limit: 'xmlChildren',
    n: 6,
    message: (n) => envelope('1.1', { header: `<u>${'<v/>'.repeat(n)}</u>` }),
    said: /more than 6 child elements/,
  },
  {
    limit: 'xmlAttributes',
    n: 6,
    message: (n) =>
      envelope('1.1', { header: `<u${repeat(n - 1, (index) => ` a${index}=""`)} xmlns:b="urn:b"/>` }),
    said: /more than 6 attributes/,
  },
  {
    limit: 'xmlAllAttributes',
    n: 12,
    message: (n) =>
      envelope('1.1', { header: `${'<u a=""/>'.repeat(n - attributes - 2)}<u b="" xmlns:b="urn:b"/>` }),
    said: /more than 12 attributes in all/,
  },
  {
    limit: 'xmlNamespace',
    n: 100,
    message: (n) => envelope('1.1', { header: `<u xmlns:b="${'u'.repeat(n)}"/>` }),
    said: /namespace longer than 100 characters/,
  },
  {
    limit: 'xmlName',
    n: 40,
    message: (n) => envelope('1.1', { header: `<${'u'.repeat(n)}/>` }),
    said: /name longer than 40 characters/,
  },
  {
    limit: 'xmlAttributeValue',
    n: 90,
    message: (n) => envelope('1.1', { header: `<u a="${'x'.repeat(n)}"/>` }),
    said: /value longer than 90 characters/,
  },
  {
    limit: 'xmlText',
    n: 30,
    message: (n) => envelope('1.1', { body: named(n) }),
    said: /text longer than 30 characters/,
    plain: named,
  },
  {
    limit: 'soapHeaderBlocks',
    n: 3,
    message: (n) => envelope('1.1', { header: '<u/>'.repeat(n) }),
    said: /more than 3 header blocks/,
  },
  {
    limit: 'soapHeaderText',
    n: 100,
    message: (n) => envelope('1.1', { header: `<u>${' '.repeat(n - 7)}</u>` }),
    said: /Header longer than 100 characters/,
  },
];

for (const { limit, n, message, said, plain } of xmlRows) {
  test(`W10, W44: ${limit}: ${n} is read, ${n + 1} is a Client fault`, async (t) => {
    const { send, hits } = await startGateway(t, { limits: { [limit]: n } });
    const good = await send('POST', '/soap11', {}, message(n));
    t.is(good.status, 200, good.text);
    t.is(good.headers['x-status'], undefined, good.text);
    t.is(hits.length, 1);
    const bad = await send('POST', '/soap11', {}, message(n + 1));
    t.is(bad.status, 500, bad.text);
    t.regex(elementText(bad.text, 'faultstring') ?? '', said);
    t.is(elementText(bad.text, 'faultcode'), 's:Client');
    if (plain !== undefined) {
      t.is((await send('POST', '/xml/reply/GetSearch', {}, plain(n))).status, 200);
      const refused = await send('POST', '/xml/reply/GetSearch', {}, plain(n + 1));
      t.is(refused.status, 400);
      t.is(elementText(refused.text, 'ErrorCode'), 'MalformedRequest');
    }
    t.is(hits.length, plain === undefined ? 1 : 2);
  });
}

test.serial('W10: the default XML limits refuse the classic attacks', async (t) => {
  for (const [attack, said] of [
    ['<a>'.repeat(100_000), /nesting deeper than 64/],
    [`<a${repeat(20_000, (index) => ` a${index}=""`)}/>`, /more than 64 attributes/],
    [`<a${repeat(20_000, (index) => ` xmlns:p${index}="u"`)}/>`, /more than 64 attributes/],
    [`<${'a'.repeat(500_000)}/>`, /name longer than 256/],
    [`<a>${'<b/>'.repeat(200_000)}</a>`, /more than 50000 child elements/],
    [`<!DOCTYPE a [${'<!ENTITY a "b">'.repeat(50_000)}]><a/>`, /expected no DTD/],
    [`<!--${' '.repeat(64_000)}--><!DOCTYPE a><a/>`, /expected no DTD/],
  ] as const) {
    const reply = await gateway.send('POST', '/soap12', {}, attack);
    t.is(reply.status, 500);
    t.regex(reply.text, said);
  }
});

const jsonRows: readonly (readonly [
  limit: keyof Limits,
  n: number,
  body: (n: number) => string,
  said: RegExp,
])[] = [
  ['jsonDepth', 5, (n) => `${'{"x":'.repeat(n)}1${'}'.repeat(n)}`, /nesting deeper than 5/],
  ['jsonDepth', 5, (n) => `{"x":${'['.repeat(n - 1)}${']'.repeat(n - 1)}}`, /nesting deeper than 5/],
  [
    'jsonMembers',
    9,
    (n) => `{${Array.from({ length: n }, (_, index) => `"x${index}":1`)}}`,
    /more than 9 members/,
  ],
  ['jsonMembers', 9, (n) => `{"x":[${Array.from({ length: n - 1 }, () => '0')}]}`, /more than 9 members/],
];

for (const [row, [limit, n, body, said]] of jsonRows.entries()) {
  test(`W43, W44: ${limit}: ${n} is read, ${n + 1} is MalformedRequest (${row})`, async (t) => {
    const { send } = await startGateway(t, { limits: { [limit]: n } });
    const good = await send('POST', '/json/reply/GetSearch', keyHeaders, body(n));
    t.is(statusOf(good.text).errorCode, 'ValidationError'); // the body was read completely: `x` is not a member
    const bad = await send('POST', '/json/reply/GetSearch', keyHeaders, body(n + 1));
    t.is(bad.status, 400);
    t.is(statusOf(bad.text).errorCode, 'MalformedRequest');
    t.regex(statusOf(bad.text).message, said);
  });
}

test('W43: 100 000 opening brackets are MalformedRequest', async (t) => {
  const reply = await gateway.send(
    'POST',
    '/json/reply/GetSearch',
    keyHeaders,
    `{"x":${'['.repeat(100_000)}`,
  );
  t.is(statusOf(reply.text).errorCode, 'MalformedRequest');
});

test('W43: errors: 3 are reported, a fourth is not', async (t) => {
  const { send } = await startGateway(t, { limits: { errors: 3 } });
  for (const [count, told] of [
    [3, 3],
    [4, 3],
  ] as const) {
    const body = `{${Array.from({ length: count }, (_, index) => `"x${index}":1`)}}`;
    const reply = await send('POST', '/json/reply/GetSearch', keyHeaders, body);
    t.is(statusOf(reply.text).errors?.length, told);
  }
});

test('errors: 49,000 unreported unknown members next to 300 reported ones are refused quickly', async (t) => {
  // all names are so similar that comparing each with all others would take minutes
  const name = (kind: string, index: number): string => `${kind.repeat(56)}${index}`;
  const properties = Object.fromEntries(
    Array.from({ length: 300 }, (_, index) => [name('a', index), { type: 'string' }]),
  );
  const json = { 'application/json': { schema: { type: 'object', properties } } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Many' },
    paths: { '/put': { put: { operationId: 'put', requestBody: { content: json }, responses: {} } } },
  };
  const { port } = await startGateway(t, {
    limits: { bodyBytes: 8_000_000 },
    serve: { contract: { openapi: file(t, JSON.stringify(document)), overlay: undefined } },
  });
  const xml = `<put xmlns="urn:Many"><Body>${repeat(49_000, (index) => `<${name('b', index)}/>`)}</Body></put>`;
  const members = Array.from({ length: 49_000 }, (_, index) => `"${name('b', index)}":0`).join();
  for (const [path, body] of [
    ['/xml/reply/put', xml],
    ['/json/reply/put', `{"body":{${members}}}`],
  ] as const) {
    const reply = await send(port, 'POST', path, {}, body);
    t.is(reply.status, 400);
    t.is(reply.text.match(/unknown (?:element|member), expected/g)?.length, 21, reply.text.slice(0, 500));
  }
});

test('W24: credential: 8 characters pass, 9 are Unauthorized, in header and body', async (t) => {
  const { send } = await startGateway(t, { limits: { credential: 8 } });
  for (const [length, status] of [
    [8, 200],
    [9, 401],
  ] as const) {
    const key = 'k'.repeat(length);
    t.is(
      (await send('POST', '/json/reply/GetSearch', { 'X-Api-User': 'u', 'X-Api-Key': key }, '{}')).status,
      status,
    );
    const body = JSON.stringify({ authentication: { apiUserId: 'u', apiUserKey: key } });
    t.is((await send('POST', '/json/reply/GetSearch', {}, body)).status, status);
  }
});

test('W5: acceptRanges: the second range is read, the third is ignored', async (t) => {
  const { send } = await startGateway(t, { limits: { acceptRanges: 2 } });
  for (const [accept, type] of [
    ['text/html, application/xml', 'application/xml'],
    ['text/html, text/plain, application/xml', 'application/json'],
  ] as const) {
    const reply = await send('POST', '/json/reply/GetSearch', { ...keyHeaders, Accept: accept }, '{}');
    t.is(reply.headers['content-type'], `${type}; charset=utf-8`);
  }
});

// --- the body ----------------------------------------------------------------------------------------

const small = { bodyBytes: 1_000, bodyBytesWithBinary: 1_000 };

/** JSON and XML bodies of `bytes` bytes. */
const padded = {
  json: (bytes: number): string => '{"request":{"id":1}}'.padEnd(bytes),
  xml: (bytes: number): string => getSearch.padEnd(bytes),
  soap: (bytes: number): string => envelope('1.1').padEnd(bytes),
};

function bodyCall({ send }: Gateway, face: keyof typeof padded, bytes: number, headers = {}) {
  const path = { json: '/json/reply/GetSearch', xml: '/xml/reply/GetSearch', soap: '/soap11' }[face];
  return send('POST', path, { ...keyHeaders, ...headers }, padded[face](bytes));
}

for (const face of ['json', 'xml', 'soap'] as const) {
  for (const [what, headers] of [
    ['with Content-Length', {}],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
  ] as const) {
    test(`W44: bodyBytes: 1000 bytes of ${face} ${what} are read, 1001 are 413`, async (t) => {
      const local = await startGateway(t, { limits: small });
      t.is((await bodyCall(local, face, 1_000, headers)).status, 200);
      const bad = await bodyCall(local, face, 1_001, headers);
      t.is(bad.status, 413);
      if (face === 'soap') {
        t.is(bad.headers['content-type'], 'text/plain; charset=utf-8');
        t.regex(bad.text, /^expected a body of at most 1000 bytes, got a larger body/);
      } else t.true(bad.text.includes('RequestTooLarge'));
      if (face === 'xml') t.true(bad.text.includes('<GetSearchResponse '));
      t.is(local.hits.length, 1);
    });
  }
}

test('bodyPieces and bodyPieceBytes: 40 chunks of 1 byte pass, 41 are 413; 41 of 4 bytes pass', async (t) => {
  const { raw } = await startGateway(t, { limits: { bodyPieces: 40, bodyPieceBytes: 4 } });
  const head =
    'POST /v2/json/reply/GetSearch HTTP/1.1\r\nHost: x\r\nX-Api-User: u\r\nX-Api-Key: key\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
  for (const [count, size, status] of [
    [40, 1, 200],
    [41, 1, 413],
    [41, 4, 200],
  ] as const) {
    const body = '{}'.padEnd(count * size);
    const chunks = Array.from({ length: count }, (_, index) => body.slice(index * size, (index + 1) * size));
    const reply = await raw(head, `${chunks.map((chunk) => `${size}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`);
    t.is(Number(reply.slice(9, 12)), status, reply);
    if (status === 413) t.regex(reply, /expected a body of at most 40 chunks, or of chunks of 4 bytes/);
  }
});

test('writtenBytes: a reply of that size in XML is written, a larger one is 502', async (t) => {
  const limits = { writtenBytes: 200_000 };
  const { answer, send } = await startGateway(t, { limits });
  for (const [bytes, status] of [
    [39_000, undefined],
    [41_000, '502'],
  ] as const) {
    answer({ body: `{"data":{"subUser":{"name":"${'&'.repeat(bytes)}"},"responseStatus":{}}}` });
    const body = envelope('1.1', {
      body: `<UpdateSubUser xmlns="${typesNamespace}">${authentication}<Request><SubUserName>a</SubUserName></Request></UpdateSubUser>`,
    });
    const reply = await send('POST', '/soap11', {}, body);
    t.is(reply.headers['x-status'], status);
    if (status === undefined) t.is(elementText(reply.text, 'Name'), '&amp;'.repeat(bytes));
    else t.regex(reply.text, /expected at most 200000 bytes of XML/);
  }
});

test('W44: a body far above the limit is 413, the connection closes, and the reply arrives', async (t) => {
  const big = Buffer.alloc(6 * 1024 * 1024, 120);
  for (const headers of [{}, { 'Transfer-Encoding': 'chunked' }]) {
    const reply = await gateway.send('POST', '/soap11', headers, big);
    t.is(reply.status, 413);
    t.is(reply.headers.connection, 'close');
  }
});

test('W44: the default limit is 1 MiB for a contract without binary inputs', async (t) => {
  const at = defaultLimits.bodyBytes;
  t.is((await bodyCall(gateway, 'json', at)).status, 200);
  t.is((await bodyCall(gateway, 'json', at + 1)).status, 413);
});

for (const [what, coding, compress] of [
  ['gzip', 'gzip', gzipSync],
  ['x-gzip', 'X-GZIP', gzipSync],
  ['deflate', 'deflate', deflateSync],
] as const) {
  test(`W44: bodyBytes: counts the unpacked size of ${what}: 1000 are read, 1001 are 413`, async (t) => {
    const { send } = await startGateway(t, { limits: small });
    for (const [bytes, status] of [
      [1_000, 200],
      [1_001, 413],
    ] as const) {
      for (const face of ['json', 'soap'] as const) {
        const headers = { ...keyHeaders, 'Content-Encoding': coding };
        const path = face === 'json' ? '/json/reply/GetSearch' : '/soap11';
        t.is((await send('POST', path, headers, compress(padded[face](bytes)))).status, status);
      }
    }
  });
}

for (const [coding, compress] of [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
] as const) {
  for (const [what, behind] of [
    ['a zero', '\0'],
    ['zeros and another body', Buffer.concat([Buffer.from('\0\0'), compress('{}')])],
  ] as const) {
    test(`refuses bytes after a body of ${coding}, with their position: ${what}`, async (t) => {
      const packed = compress('{}');
      const headers = { ...keyHeaders, 'Content-Encoding': coding };
      const body = Buffer.concat([packed, Buffer.from(behind)]);
      const reply = await gateway.send('POST', '/json/reply/GetSearch', headers, body);
      t.is(reply.status, 400);
      t.is(
        statusOf(reply.text).message,
        `expected the body to end with its Content-Encoding at byte ${packed.length}, got ${behind.length} bytes more`,
      );
    });
  }
}

/** A gzip file of `bytes` bytes, filled up with its comment field (RFC 1952 §2.3.1). */
function gzipOf(text: string, bytes: number): Buffer {
  const plain = gzipSync(text);
  const head = Buffer.from(plain.subarray(0, 10));
  head[3] = 0x10;
  const comment = `${'x'.repeat(bytes - plain.length - 1)}\0`;
  return Buffer.concat([head, Buffer.from(comment), plain.subarray(10)]);
}

test('compressionRatio: beyond 1 MiB a ratio of 100 passes, a body of one byte less is refused', async (t) => {
  const { send } = await startGateway(t, { limits: { bodyBytes: 16 * 1024 * 1024 } });
  const headers = { ...keyHeaders, 'Content-Encoding': 'gzip' };
  const size = 2_000_000;
  for (const [body, status] of [
    [gzipOf(padded.json(size), size / 100), 200],
    [gzipOf(padded.json(size), size / 100 - 1), 413],
    [gzipSync(padded.json(1024 * 1024)), 200],
    [gzipSync(padded.json(1024 * 1024 + 1)), 413],
  ] as const) {
    t.is((await send('POST', '/json/reply/GetSearch', headers, body)).status, status);
  }
});

test('bodyBytesWithBinary: with base64 in an input 1000 bytes are read, 1001 are 413', async (t) => {
  const { port } = await startGateway(t, {
    limits: { bodyBytes: 100, bodyBytesWithBinary: 1_000 },
    serve: { contract: folderOf('scalars') },
  });
  for (const [bytes, status] of [
    [1_000, 200],
    [1_001, 413],
  ] as const) {
    const reply = await send(port, 'POST', '/json/reply/putValues', {}, '{}'.padEnd(bytes));
    t.is(reply.status, status, reply.text);
  }
});

test('upstreamError: an error of 200 characters is complete, one of 201 is cut', async (t) => {
  const { port, answer } = await startGateway(t, {
    limits: { upstreamError: 200 },
    serve: { contract: folderOf('scalars') },
  });
  for (const length of [200, 201]) {
    const said = `{"detail":"${'x'.repeat(length - 13)}"}`;
    answer({ status: 400, body: said });
    const reply = await send(port, 'POST', '/json/reply/putValues', {}, '{}');
    t.is(statusOf(reply.text).meta?.Upstream, length === 200 ? said : undefined);
  }
});

for (const coding of ['br', 'gzip, gzip', 'zstd', 'compress', 'gzip;q=1']) {
  test(`W44: Content-Encoding ${coding} is 415`, async (t) => {
    const headers = { ...keyHeaders, 'Content-Encoding': coding };
    const soap = await gateway.send('POST', '/soap11', headers, gzipSync(envelope('1.1')));
    t.is(soap.status, 415);
    t.is(soap.headers['content-type'], 'text/plain; charset=utf-8');
    const json = await gateway.send('POST', '/json/reply/GetSearch', headers, gzipSync('{}'));
    t.is(json.status, 415);
    t.is(statusOf(json.text).errorCode, 'UnsupportedMediaType');
  });
}

test('W27, W44: a body that does not match its coding is undecodable: a fault, or 400 in JSON', async (t) => {
  const headers = { ...keyHeaders, 'Content-Encoding': 'gzip' };
  for (const body of ['{}', '', gzipSync('{}').subarray(0, -6)]) {
    const json = await gateway.send('POST', '/json/reply/GetSearch', headers, body);
    t.is(json.status, 400);
    t.is(statusOf(json.text).errorCode, 'MalformedRequest');
    const soap = await gateway.send('POST', '/soap11', headers, body);
    t.is(soap.status, 500);
    t.is(elementText(soap.text, 'faultcode'), 's:Client');
  }
});

for (const coding of ['identity', 'Identity', '']) {
  test(`refuses the Content-Encoding "${coding}"`, async (t) => {
    const headers = { ...keyHeaders, 'Content-Encoding': coding };
    t.is((await gateway.send('POST', '/json/reply/GetSearch', headers, '{}')).status, 200);
  });
}

// --- Expect: 100-continue -------------------------------------------------------------------------------

const post = (path: string, lines: string, body = ''): string =>
  `POST /v2${path} HTTP/1.1\r\nHost: x\r\n${lines}\r\n\r\n${body}`;

test('Expect: 100-continue: the body is requested if all checks pass', async (t) => {
  const body = envelope('1.1');
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write(
    post('/soap11', `Expect: 100-continue\r\nConnection: close\r\nContent-Length: ${body.length}`),
  );
  const [first] = await once(socket, 'data');
  t.is(String(first), 'HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(body);
  t.regex(await text(socket), /^HTTP\/1\.1 200 OK\r\n/);
});

for (const [what, path, lines, status] of [
  ['too large', '/soap11', 'Content-Length: 99999999', 413],
  ['of a coding we don’t read', '/soap11', 'Content-Length: 9\r\nContent-Encoding: br', 415],
  ['multipart', '/soap12', 'Content-Length: 9\r\nContent-Type: multipart/related', 415],
  ['for an unknown path', '/nothing', 'Content-Length: 9', 404],
  ['for an unknown operation', '/json/reply/Nothing', 'Transfer-Encoding: chunked', 404],
  ['for another verb', '/subusers/update', 'Content-Length: 9', 405],
] as const) {
  test.serial(
    `Expect: 100-continue with a body ${what} is ${status} instead, and the connection closes`,
    async (t) => {
      const reply = await gateway.raw(post(path, `Expect: 100-continue\r\n${lines}`));
      t.regex(reply, new RegExp(`^HTTP/1\\.1 ${status} `));
      t.regex(reply, /\r\nConnection: close\r\n/i);
      t.is(reply.match(/HTTP\/1\.1 /g)?.length, 1);
    },
  );
}

test('an HTTP/1.0 caller never gets 100 Continue', async (t) => {
  const body = envelope('1.1');
  const head = `POST /v2/soap11 HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`;
  t.regex(await gateway.raw(head, body), /^HTTP\/1\.1 200 OK\r\n/);
});

test('another expectation is 417', async (t) => {
  t.regex(
    await gateway.raw(post('/soap11', 'Expect: tea\r\nConnection: close\r\nContent-Length: 0')),
    /^HTTP\/1\.1 417 /,
  );
  const id = 'X-Request-Id: caller-0417\r\nConnection: close';
  t.regex(await gateway.raw(post('/soap11', `Expect: tea\r\n${id}`)), /^X-Request-Id: caller-0417\r$/m);
});

test('a message that is refused after reading keeps its connection', async (t) => {
  const calls = ['/soap11', '/json/reply/GetSearch'].map((path) => post(path, 'Content-Length: 1', '<'));
  const replies = await gateway.raw(...calls, post('/soap11', 'Connection: close\r\nContent-Length: 1', '<'));
  t.deepEqual(replies.match(/HTTP\/1\.1 \d+|^Connection: [\w-]+/gim), [
    ...['HTTP/1.1 500', 'Connection: keep-alive'],
    ...['HTTP/1.1 400', 'Connection: keep-alive'],
    ...['HTTP/1.1 500', 'Connection: close'],
  ]);
});

test('bytes after an unread body on the same connection are never parsed as a request', async (t) => {
  const smuggled = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
  const reply = await gateway.raw(
    post('/soap11', `Content-Type: multipart/a\r\nContent-Length: ${smuggled.length}`, smuggled),
  );
  t.is(reply.match(/HTTP\/1\.1 /g)?.length, 1);
  t.regex(reply, /^HTTP\/1\.1 415 /);
});

// --- headers -------------------------------------------------------------------------------------------

test('headerCount: 100 lines are read, 101 are 431', async (t) => {
  const { raw } = await startGateway(t);
  const body = envelope('1.1');
  // Host, Connection and Content-Length are three of the lines
  const lines = (count: number): string =>
    `${repeat(count - 3, (index) => `X-${index}: 1\r\n`)}Connection: close\r\nContent-Length: ${body.length}`;
  t.regex(await raw(post('/soap11', lines(100), body)), /^HTTP\/1\.1 200 /);
  t.regex(await raw(post('/soap11', lines(101), body)), /^HTTP\/1\.1 431 /);
});

test('headerBytes: target, names and values of 16 KiB are read, one more byte is 431', async (t) => {
  const { headerBytes } = defaultLimits;
  const request = (bytes: number): string => {
    const [path, name] = ['/v2/soap11', 'X-Long'];
    const rest = bytes - `${path}HostxConnectionclose${name}`.length;
    return `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${name}: ${'x'.repeat(rest)}\r\n\r\n`;
  };
  t.regex(await gateway.raw(request(headerBytes)), /^HTTP\/1\.1 200 /);
  t.regex(await gateway.raw(request(headerBytes + 1)), /^HTTP\/1\.1 431 /);
});

// --- time ----------------------------------------------------------------------------------------------

for (const [path, said] of [
  ['/soap11', /^HTTP\/1\.1 408 .*text\/plain/s],
  ['/json/reply/GetSearch', /^HTTP\/1\.1 408 .*"errorCode":"RequestTimeout"/s],
  ['/xml/reply/GetSearch', /^HTTP\/1\.1 408 .*<GetSearchResponse .*<ErrorCode>RequestTimeout</s],
] as const) {
  test(`bodyMs: a body at ${path} that does not end is 408`, async (t) => {
    const { raw } = await startGateway(t, { limits: { bodyMs: 100 } });
    t.regex(await raw(post(path, 'Content-Length: 99', '{"a')), said);
  });
}

test('replyBytes and replyBytesWithBinary: a reply at its limit is read, one more byte is 502', async (t) => {
  const { send, answer } = await startGateway(t, { limits: { replyBytes: 100, replyBytesWithBinary: 200 } });
  for (const [length, plain, binary] of [
    [100, 200, 200],
    [101, 502, 200],
    [200, 502, 200],
    [201, 502, 502],
  ] as const) {
    answer({ body: emptyReply.padEnd(length) });
    t.is((await send('POST', '/json/reply/GetSearch', keyHeaders, '{}')).status, plain);
    t.is((await send('POST', '/json/reply/GetPdf', keyHeaders, '{}')).status, binary);
  }
});

// --- connections -----------------------------------------------------------------------------------------

test('requestsPerSocket: the second reply has Connection: close, and a third is not started', async (t) => {
  const { raw } = await startGateway(t, { limits: { requestsPerSocket: 2 } });
  const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
  const [first = '', second = '', ...more] = (
    await raw(`${get}\r\n${get}\r\n${get}Connection: close\r\n\r\n`)
  ).split(/(?=HTTP\/1\.1 )/);
  t.regex(first, /^HTTP\/1\.1 200 .*\r\nConnection: keep-alive\r\n/is);
  t.regex(second, /^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/is);
  t.deepEqual(more, []);
});

test('upstreamConnections: at most two calls run at once', async (t) => {
  const { send, answer } = await startGateway(t, { limits: { upstreamConnections: 2 } });
  const under: ServerResponse[] = [];
  let most = 0;
  answer((_hit, response) => {
    under.push(response);
    most = Math.max(most, under.length);
    // answers two together, after a third has had time to arrive
    if (under.length === 2) setTimeout(() => under.splice(0).map((each) => each.end(emptyReply)), 40);
  });
  const replies = await Promise.all(
    Array.from({ length: 6 }, () => send('POST', '/json/reply/GetSearch', keyHeaders, '{}')),
  );
  t.true(replies.every(({ status }) => status === 200));
  t.is(most, 2);
});
