import type { IncomingMessage } from 'node:http';
import test from 'ava';
import { ambiguityOf, hostList, loopbackHosts } from '../../../gateway/http/framing.ts';

/** A message as Node's parser returns it. It keeps the first of two headers with one name. */
function message(
  url: string | undefined,
  rawHeaders: readonly string[],
  httpVersion = '1.1',
): IncomingMessage {
  const headers: Record<string, string> = {};
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers[(rawHeaders[index] ?? '').toLowerCase()] ??= rawHeaders[index + 1] ?? '';
  // the parts of a request that `ambiguityOf` reads
  return { url, headers, rawHeaders, httpVersion } as IncomingMessage;
}

const coding = 'expected Transfer-Encoding to be chunked, once, in HTTP/1.1';
const once = 'Host: expected one header, got several';
const name = 'Host: expected a name with an optional port, got another value';
const target = 'expected a path, or an http URL of the same host';

test('RFC 9112, 6.1: the only transfer coding is chunked, once, and in HTTP/1.1', (t) => {
  const ofCoding = (value: string, version?: string) =>
    ambiguityOf(message('/', ['Host', 'a', 'Transfer-Encoding', value], version));
  t.is(ofCoding('chunked'), undefined);
  t.is(ofCoding('CHUNKED'), undefined);
  for (const value of ['', 'gzip', 'gzip, chunked', 'chunked, chunked', 'xchunked', 'chunked;q=1'])
    t.is(ofCoding(value), coding, value);
  t.is(ofCoding('chunked', '1.0'), coding);
});

for (const [header, first, second] of [
  ['SOAPAction', '"urn:a"', '"urn:b"'],
  ['SOAPAction', '"urn:a"', ''],
  ['Content-Type', 'text/xml', 'application/soap+xml'],
  ['Content-Type', 'text/xml', 'text/xml; charset=utf-16'],
] as const) {
  test(`RFC 9110, 5.3: two ${header} headers with ${first} and ${second || 'no value'} are refused`, (t) => {
    const refused = `expected one ${header} header, got two values`;
    for (const other of [header, header.toLowerCase(), header.toUpperCase()]) {
      t.is(ambiguityOf(message('/', ['Host', 'a', header, first, 'X', 'y', other, second])), refused);
      t.is(ambiguityOf(message('/', ['Host', 'a', other, first, header, first])), undefined);
    }
    const others = ['X-Soap-Action', first, 'X-Action12', second, 'Content-Typo', second];
    t.is(ambiguityOf(message('/', ['Host', 'a', header, first, ...others])), undefined);
  });
}

test('RFC 9112, 3.2: Host is required once, in any case of its name', (t) => {
  for (const first of ['Host', 'host', 'HOST', 'hOsT']) {
    t.is(ambiguityOf(message('/', [first, 'a'])), undefined);
    for (const second of ['Host', 'host', 'HOST', 'hosT']) {
      t.is(ambiguityOf(message('/', [first, 'a', second, 'a'])), once);
      t.is(ambiguityOf(message('/', ['X', 'y', first, 'a', 'Z', 'y', second, 'b'])), once);
    }
  }
});

test('RFC 9112, 3.2: headers with names or values similar to Host are not a second one', (t) => {
  t.is(
    ambiguityOf(message('/', ['Host', 'a', 'Hosts', 'a', 'X', 'Host', 'Most', 'b', 'Y', 'host'])),
    undefined,
  );
});

test('RFC 9112, 3.2: only HTTP/1.0 may omit Host, and Host is always a name and a port', (t) => {
  t.is(ambiguityOf(message('/', [])), name);
  t.is(ambiguityOf(message('/', [], '1.0')), undefined);
  for (const host of [
    'a',
    'a.example',
    'a.example:8080',
    '127.0.0.1:1',
    '[::1]',
    '[2001:db8::1]:65535',
    'a-b_c~%41',
  ])
    for (const version of ['1.0', '1.1'])
      t.is(ambiguityOf(message('/', ['Host', host], version)), undefined, host);
  for (const host of [
    '',
    'a b',
    'a,b',
    'a/b',
    'a?b',
    'a#b',
    'u@a',
    'a:',
    'a:b',
    'a:123456',
    '[::1',
    '::1',
    '<a>',
    'a\u00e9',
    '[g]',
  ])
    for (const version of ['1.0', '1.1'])
      t.is(ambiguityOf(message('/', ['Host', host], version)), name, host);
});

test('a host has at most 255 characters', (t) => {
  t.is(ambiguityOf(message('/', ['Host', 'a'.repeat(255)])), undefined);
  t.is(ambiguityOf(message('/', ['Host', 'a'.repeat(256)])), name);
});

test('an accepted host does not make the next one valid', (t) => {
  t.is(ambiguityOf(message('/', ['Host', 'good.example'])), undefined);
  t.is(ambiguityOf(message('/', ['Host', 'bad example'])), name);
  t.is(ambiguityOf(message('/', ['Host', 'bad example'])), name);
  t.is(ambiguityOf(message('/', ['Host', 'good.example'])), undefined);
});

test('RFC 9112, 3.2: a target is a path, an asterisk, or a URL of the same host', (t) => {
  const ofTarget = (url: string | undefined, host = 'a.example:80') =>
    ambiguityOf(message(url, ['Host', host]));
  for (const url of [
    '/',
    '/a?b',
    '//b',
    '*',
    'http://a.example:80/',
    'HTTP://A.example:80',
    'https://a.example:80?b',
  ])
    t.is(ofTarget(url), undefined, url);
  t.is(ofTarget('http://A.EXAMPLE/x', 'a.Example'), undefined);
  for (const url of [
    undefined,
    '',
    'a',
    '*a',
    '?a',
    'a.example:80',
    'http://b.example:80/',
    'http://a.example/',
    'http://u@a.example:80/',
    'http:/a.example:80/',
    'ftp://a.example:80/',
    'x http://a.example:80/',
  ])
    t.is(ofTarget(url), target, url);
  t.is(ambiguityOf(message('http://a/', [], '1.0')), target);
});

test('RFC 9110, 15.5.20: listed hosts are accepted in any case and with any port, others refused', (t) => {
  const isKnown = hostList(['A.example', '[::1]', 'b']);
  for (const host of ['a.example', 'A.EXAMPLE', 'a.example:8080', '[::1]', '[::1]:80', 'B', 'b:1'])
    t.true(isKnown(host), host);
  for (const host of [undefined, '', 'c', 'a.example.', 'xa.example', 'a.example:', 'b:123456', '[::2]'])
    t.false(isKnown(host), host);
});

test('a list of hosts accepts only names', (t) => {
  for (const host of ['', 'a b', 'a/b', 'a:80', 'http://a', '[::1]:80'])
    t.throws(() => hostList(['a', host]), {
      instanceOf: RangeError,
      message: `allowed host: expected a name without a port, got ${JSON.stringify(host)}`,
    });
});

test('a gateway on loopback serves loopback names, its public host and names without a dot only', (t) => {
  const isServed = loopbackHosts('https://API.example.com/edge');
  for (const host of [
    undefined,
    'localhost',
    'LOCALHOST:8080',
    'localhost.',
    'shop.localhost:8080',
    'shop.localhost.:8080',
    '127.0.0.1.',
    '127.0.0.1',
    '127.0.0.1:8080',
    '127.8.9.10',
    '[::1]',
    '[::1]:8080',
    '[0:0:0:0:0:0:0:1]:80',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]:8080',
    'gateway:8080',
    'api.example.com',
    'API.example.com:8443',
  ])
    t.true(isServed(host), host);
  for (const host of [
    'evil.example',
    'evil.example:8080',
    'evil.example.',
    'localhost.evil.example',
    'xlocalhost.example',
    '127.0.0.1.evil.example',
    '127.0.0.1.nip.io:8080',
    '127.0.0.evil',
    'api.example.com.evil.example',
    '10.0.0.1',
    '0.0.0.0:8080',
    '192.168.1.1',
    '128.0.0.1',
    '[::2]',
    '[fe80::1]:8080',
    '[::ffff:10.0.0.1]',
    '[::ffff:a00:1]',
  ])
    t.false(isServed(host), host);
  t.false(loopbackHosts(undefined)('api.example.com'));
});
