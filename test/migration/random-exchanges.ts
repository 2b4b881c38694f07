import { gzipSync } from 'node:zlib';
import type { RawHeaders, RawMessage, RawReply, RawRequest } from './raw-http.ts';
import { valuesOf } from './raw-http.ts';

// Random exchanges with a service, and the differences that a gateway in front of it makes (G14, G16).

/** An exchange: bytes of the request, and of the reply that the service sends. */
export interface RandomExchange {
  readonly request: RawRequest;
  readonly isHttp10: boolean;
  readonly reply: RawReply;
  /** Number of writes of the request. */
  readonly pieces: number;
  /** Properties for the statistics of a run. */
  readonly features: readonly string[];
}

/** Path of the port. */
const path = '/agency/services/v2/AgencyPort';
const operations = [
  'NotifyArrival',
  'ConfirmApplicationDelivery',
  'GetSubmissionList',
  'GetOpportunityList',
  'Unknown',
];

/** Draws numbers from a seed, by the algorithm mulberry32. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  of<Value>(first: Value, ...others: readonly Value[]): Value {
    return [first, ...others][this.below(others.length + 1)] ?? first;
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count);
    for (let at = 0; at < count; at++) bytes[at] = this.below(256);
    return bytes;
  }
}

function envelopeOf(random: Random): string {
  const operation = random.of(operations[0] ?? '', ...operations.slice(1));
  const version = random.of(
    'http://schemas.xmlsoap.org/soap/envelope/',
    'http://www.w3.org/2003/05/soap-envelope',
  );
  const header = random.oneIn(3)
    ? `<s:Header><x:h xmlns:x="urn:x">${'h'.repeat(random.below(900))}</x:h></s:Header>`
    : '';
  const text = '漢😀&#65;x'.repeat(random.below(20) ** random.of(1, 2, 3));
  const number = `<c:GrantsGovTrackingNumber>${text}</c:GrantsGovTrackingNumber>`;
  return `${random.of('', '<?xml version="1.0"?>\r\n')}<s:Envelope xmlns:s="${version}">${header}<s:Body><a:${operation}Request xmlns:a="http://desk.example/services/Agency-V2" xmlns:c="http://desk.example/system/Common-V1">${number}</a:${operation}Request></s:Body></s:Envelope>`;
}

/** Returns the content type and body of a message. */
function contentOf(random: Random, features: string[]): readonly [string, Buffer] {
  const kind = random.of('text/xml; charset=utf-8', 'application/soap+xml', 'MTOM', 'garbage', 'empty');
  features.push(kind);
  if (kind === 'empty') return ['text/xml', Buffer.alloc(0)];
  if (kind === 'garbage') return ['application/octet-stream', random.bytes(random.below(3000))];
  if (kind !== 'MTOM') return [kind, Buffer.from(envelopeOf(random))];
  const head = '--b\r\nContent-ID: <root>\r\nContent-Type: application/xop+xml; type="text/xml"\r\n\r\n';
  const part = '\r\n--b\r\ncontent-id: <p>\r\nContent-Transfer-Encoding: binary\r\n\r\n';
  const body = [head, envelopeOf(random), part, random.bytes(random.below(20) ** 3), '\r\n--b--\r\n'];
  return [
    'multipart/related; type="application/xop+xml"; start="<root>"; start-info="text/xml"; boundary=b',
    Buffer.concat(body.map((piece) => Buffer.from(piece))),
  ];
}

/**
 * Returns lines of headers with odd names, values and order. `known` is not repeated: the gateway refuses a request with
 * two values of a header that selects the operation.
 */
function oddHeaders(random: Random, known: readonly string[]): string[] {
  const names = [
    'Accept',
    'x-lower',
    'X-UPPER',
    'x-MiXeD',
    'X_Under',
    'X-Repeated',
    'x-repeated',
    "X-!#$%&'*+.^`|~",
    ...known,
  ];
  const lines: string[] = [];
  for (let count = random.below(9); count > 0; count--) {
    const [name = ''] = names.splice(random.below(names.length), 1);
    const value = random.of(
      '',
      'a,  b;c="d"',
      '\t"quoted" ',
      'caf\xe9',
      'x'.repeat(random.below(500)),
      `${random.below(1e9)}`,
    );
    lines.push(`${name}:${random.of('', ' ', '  ')}${value}`);
  }
  return lines;
}

/** Returns a body in chunks of random sizes, with extensions and trailers. */
function chunked(random: Random, body: Buffer, features: string[]): Buffer {
  const pieces: (string | Buffer)[] = [];
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + 1 + random.below(random.of(4, 4000, 40_000)));
    pieces.push(`${piece.length.toString(16)}${random.oneIn(9) ? ';ext=1' : ''}\r\n`, piece, '\r\n');
    at += piece.length;
  }
  const hasTrailers = random.oneIn(3);
  if (hasTrailers) features.push('trailers');
  pieces.push(`0\r\n${hasTrailers ? 'X-Trailer: dropped\r\n' : ''}\r\n`);
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}

function requestOf(random: Random, features: string[]): Pick<RandomExchange, 'request' | 'isHttp10'> {
  const isHttp10 = random.oneIn(8);
  const method = random.of('POST', 'POST', 'POST', 'POST', 'GET', 'HEAD', 'PUT', 'DELETE', 'PATCH');
  const query = random.of('', '', '?a=b', '?disco', '?x=%20&&y=+/?', '/sub/%7Eother;p=1?q');
  const isPage = (method === 'GET' || method === 'HEAD') && query === '';
  const target = `${path}${isPage ? '?disco' : method === 'POST' ? query.replace(/^\/.*/, '') : query}`;
  const lines = [`${method} ${target} HTTP/1.${isHttp10 ? 0 : 1}`, 'Host: callers.example'];
  features.push(method, ...(isHttp10 ? ['HTTP/1.0'] : []));
  const [type, plain] = contentOf(random, features);
  const headers = oddHeaders(random, [
    random.of('SOAPAction', 'soapaction'),
    'Cookie',
    'Authorization',
    'X-Soapbridge-Route',
    'X-Caller',
    'x-soapbridge-shadow',
    'Proxy-Authorization',
  ]);
  if (random.oneIn(6)) headers.push('Connection: x-hop', 'X-Hop: 1');
  if (random.oneIn(6)) headers.push('TE: trailers');
  let body = plain;
  if (method === 'GET' || method === 'HEAD')
    return { request: bytesOf(lines, headers, undefined, method), isHttp10 };
  headers.push(`${random.of('Content-Type', 'content-TYPE')}: ${type}`);
  if (random.oneIn(4)) {
    body = gzipSync(plain);
    headers.push('Content-Encoding: gzip');
    features.push('gzip');
  }
  const isChunked = !isHttp10 && random.oneIn(2);
  if (!isHttp10 && random.oneIn(8)) headers.push('Expect: 100-continue');
  if (isChunked) {
    features.push('chunked');
    headers.push('Transfer-Encoding: chunked');
    return { request: bytesOf(lines, headers, chunked(random, body, features), method), isHttp10 };
  }
  headers.splice(random.below(headers.length), 0, `Content-Length: ${body.length}`);
  return { request: bytesOf(lines, headers, body, method), isHttp10 };
}

function bytesOf(
  lines: readonly string[],
  headers: readonly string[],
  body: Buffer | undefined,
  method: string,
): RawRequest {
  const head = Buffer.from(`${[...lines, ...headers].join('\r\n')}\r\n\r\n`, 'latin1');
  return { bytes: Buffer.concat([head, body ?? Buffer.alloc(0)]), isHead: method === 'HEAD' };
}

function replyOf(
  random: Random,
  { request, isHttp10 }: Pick<RandomExchange, 'request' | 'isHttp10'>,
  features: string[],
): RawReply {
  const status = random.of(
    200,
    200,
    200,
    201,
    202,
    204,
    206,
    301,
    302,
    304,
    307,
    400,
    401,
    403,
    404,
    405,
    409,
    418,
    429,
    500,
    502,
    503,
    599,
  );
  const [type, plain] = contentOf(random, []);
  const isPacked = random.oneIn(4);
  const body = isPacked ? gzipSync(plain) : plain;
  const headers = oddHeaders(random, [
    'Set-Cookie',
    'set-cookie',
    'WWW-Authenticate',
    'Location',
    'ETag',
    'Server',
    'Date',
    'X-Request-Id',
    'Proxy-Authenticate',
  ]);
  headers.push(`${random.of('Content-Type', 'content-TYPE')}: ${type}`);
  if (isPacked) headers.push('Content-Encoding: gzip');
  if (random.oneIn(6)) headers.push('Connection: X-Hop', 'X-Hop: 1');
  if (random.oneIn(6)) headers.push('Keep-Alive: timeout=60');
  const isBare = request.isHead || status === 204 || status === 304;
  const framing =
    isBare && status !== 200
      ? 'none'
      : isHttp10
        ? random.of('length', 'end')
        : random.of('length', 'chunked', 'end');
  features.push(`reply ${framing}`, `reply ${status}`);
  if (framing === 'chunked') headers.push('Transfer-Encoding: chunked');
  if (framing === 'length') headers.splice(random.below(headers.length), 0, `Content-Length: ${body.length}`);
  const interim =
    random.oneIn(5) && !isHttp10
      ? random.of('103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-hInT: 1', '102 Processing')
      : undefined;
  if (interim !== undefined) features.push('interim');
  const head = `${interim === undefined ? '' : `HTTP/1.1 ${interim}\r\n\r\n`}HTTP/1.1 ${status} ${random.of('OK', 'Own Words', '', 'Own  \t (words)')}\r\n${headers.join('\r\n')}\r\n\r\n`;
  const sent = isBare ? Buffer.alloc(0) : framing === 'chunked' ? chunked(random, body, features) : body;
  return { bytes: Buffer.concat([Buffer.from(head, 'latin1'), sent]), endsConnection: framing === 'end' };
}

/** Returns the exchange of a seed. */
export function randomExchange(seed: number): RandomExchange {
  const random = new Random(seed);
  const features: string[] = [];
  const asked = requestOf(random, features);
  const reply = replyOf(random, asked, features);
  return { ...asked, reply, pieces: random.of(1, 2, 5), features };
}

const ofConnection = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;
const ofRequests = /^(?:x-soapbridge-(?:route|shadow)|x-caller|x-test-certificate|expect)$/;
const added = /^(?:host|x-request-id|traceparent|x-forwarded-(?:for|proto|host))$/;

/**
 * Headers that a gateway keeps, in order. `Content-Length` comes last, because HTTP clients write it themselves. They also
 * choose the framing of an empty body.
 */
function kept(headers: RawHeaders, alsoRemoved?: RegExp, isEmpty = false): readonly string[] {
  const named = valuesOf(headers, 'connection').flatMap((value) => value.toLowerCase().split(/[ ,]+/));
  const lines: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const lower = headers[at]?.toLowerCase() ?? '';
    const isRemoved = ofConnection.test(lower) || named.includes(lower) || alsoRemoved?.test(lower) === true;
    if (!isRemoved && lower !== 'content-length') lines.push(`${headers[at]}: ${headers[at + 1]}`);
  }
  if (isEmpty) return lines;
  return [...lines, ...valuesOf(headers, 'content-length').map((value) => `Content-Length: ${value}`)];
}

/** A request as the service received it, and the reply as the client received it. */
export interface Seen {
  readonly request: RawMessage;
  readonly reply: RawMessage;
}

/** Returns what differs between an exchange with the service and one through a gateway; empty for equal ones. */
export function differences(direct: Seen, forwarded: Seen, isHttp10: boolean): readonly string[] {
  const found: string[] = [];
  const compare = (what: string, before: unknown, after: unknown): void => {
    const [expected, got] = [JSON.stringify(before), JSON.stringify(after)];
    if (expected !== got)
      found.push(`${what}: expected ${expected?.slice(0, 600)}, got ${got?.slice(0, 600)}`);
  };
  const words = (line: string): string => line.replace(/ HTTP\/1\.[01]$/, '');
  compare('request line', words(direct.request.line), words(forwarded.request.line));
  const also = new RegExp(`${added.source}|${ofRequests.source}`);
  const asked = ({ request }: Seen): readonly string[] =>
    kept(request.headers, also, request.body.length === 0);
  compare('request headers', asked(direct), asked(forwarded));
  if (direct.request.body.length > 0)
    compare('request chunks', direct.request.isChunked, forwarded.request.isChunked);
  compare('request body', direct.request.body.toString('latin1'), forwarded.request.body.toString('latin1'));
  compare('status line', direct.reply.line, forwarded.reply.line);
  compare('reply headers', kept(direct.reply.headers), kept(forwarded.reply.headers));
  compare('reply body', direct.reply.body.toString('latin1'), forwarded.reply.body.toString('latin1'));
  const interim = ({ reply }: Seen): unknown => reply.interim.map(([line, ...rest]) => [line, ...kept(rest)]);
  if (!isHttp10) compare('interim responses', interim(direct), interim(forwarded));
  return found;
}
