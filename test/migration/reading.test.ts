import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { deflateSync, gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { until } from '../until.ts';
import { contractFolder, type Site, startSite } from './scenario.ts';

const path = '/agency/services/v2/AgencyPort';
const zip = 'GetApplicationZip';
const reply = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"FileDataHandler":"UEsDBA=="}',
};

/** A request whose value is after `padding` bytes of white space. */
function envelope(number: string, padding = 0, soap = 'http://schemas.xmlsoap.org/soap/envelope/'): string {
  return `<s:Envelope xmlns:s="${soap}"><s:Body><a:${zip}Request xmlns:a="http://desk.example/services/Agency-V2">${' '.repeat(padding)}<c:GrantsGovTrackingNumber xmlns:c="http://desk.example/system/Common-V1">${number}</c:GrantsGovTrackingNumber></a:${zip}Request></s:Body></s:Envelope>`;
}

async function start(
  t: ExecutionContext,
  when: object | undefined,
  more: Partial<Parameters<typeof startSite>[1]> = {},
): Promise<Site> {
  const routes = [{ name: 'r', operations: [zip], mode: 'new', ...(when === undefined ? {} : { when }) }];
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: { legacy: '{legacy}', migration: { routes } },
    ...more,
  });
  site.legacy.answer = { status: 200, body: 'legacy' };
  site.upstream.answer = reply;
  return site;
}

/** Sends a body in chunks of 16 KiB. */
function sendChunked(site: Site, headers: Record<string, string>, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = site;
    const request = httpRequest({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false });
    request.on('error', reject);
    request.on('response', (response) => buffer(response).then((text) => resolve(text.toString()), reject));
    for (let at = 0; at < body.length; at += 16_384) request.write(body.subarray(at, at + 16_384));
    request.end();
  });
}

const xml = { 'Content-Type': 'text/xml' };
const soap12 = { 'Content-Type': 'application/soap+xml' };
const soap12Namespace = 'http://www.w3.org/2003/05/soap-envelope';

const value = { GrantsGovTrackingNumber: { startsWith: 'GRANT8' } };
const whens = [
  ['without a condition', undefined],
  ['with a condition on a value', { value }],
  ['with a share of the values', { percent: { of: 100, by: 'GrantsGovTrackingNumber' } }],
] as const;

for (const [title, when] of whens)
  test(`G8, G15: mode new ${title} reads small, large, compressed and chunked requests`, async (t) => {
    const site = await start(t, when);
    for (const padding of [0, 70_000, 200_000]) {
      const text = Buffer.from(envelope('GRANT80', padding));
      for (const [headers, body] of [
        [xml, text],
        [{ ...xml, 'Content-Encoding': 'gzip' }, gzipSync(text)],
        [{ ...xml, 'Content-Encoding': 'deflate' }, deflateSync(text)],
        [xml, Buffer.from(`\ufeff${text}`, 'utf16le')],
      ] as const) {
        const before = site.upstream.hits.length;
        const sized = { ...headers, 'Content-Length': String(body.length) };
        for (const framed of [sized, headers]) {
          const got = await sendChunked(site, framed, body);
          t.regex(got, />UEsDBA==</, `${title} ${padding} ${JSON.stringify(framed)}`);
        }
        t.is(site.upstream.hits.length - before, 2);
        t.is(site.upstream.hits.at(-1)?.body.toString(), '{"GrantsGovTrackingNumber":"GRANT80"}');
      }
    }
    t.is(site.legacy.hits.length, 0);
  });

test('G8: a request that does not match is forwarded unchanged, whatever its size and coding', async (t) => {
  const site = await start(t, { value });
  for (const padding of [0, 70_000, 200_000]) {
    const text = Buffer.from(envelope('GRANT10', padding));
    for (const [headers, body] of [
      [xml, text],
      [{ ...xml, 'Content-Encoding': 'gzip' }, gzipSync(text)],
    ] as const) {
      t.is(await sendChunked(site, headers, body), 'legacy');
      t.true(site.legacy.hits.at(-1)?.body.equals(body));
      t.like(
        site.log().findLast(({ ms }) => ms !== undefined),
        { operation: zip, rule: 'otherwise' },
      );
    }
  }
  t.is(site.upstream.hits.length, 0);
});

test('G8: the spelling of a value has no effect', async (t) => {
  const site = await start(t, { value });
  for (const spelling of [
    'GRANT80',
    ' GRANT80\n',
    '<![CDATA[GRANT]]>80',
    'GR<!-- x -->ANT80',
    '&#71;RANT8&#x30;',
  ]) {
    t.regex(await sendChunked(site, xml, Buffer.from(envelope(spelling))), />UEsDBA==</, spelling);
  }
});

test('G8, G15: the value of a package is read from its root part, and the rest is streamed', async (t) => {
  const site = await start(t, { value });
  const packageOf = (number: string, padding: number, bytes: number) => {
    const part = 'Content-Type: application/xop+xml; charset=UTF-8; type="text/xml"\r\nContent-ID: <r>';
    const head = `--b\r\n${part}\r\n\r\n${envelope(number, padding)}\r\n--b\r\nContent-ID: <f>\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 'f'), Buffer.from('\r\n--b--\r\n')]);
  };
  const headers = {
    'Content-Type':
      'multipart/related; type="application/xop+xml"; start="<r>"; start-info="text/xml"; boundary=b',
  };
  for (const [padding, bytes] of [
    [0, 10],
    [0, 3_000_000],
    [90_000, 3_000_000],
  ] as const) {
    const body = packageOf('GRANT10', padding, bytes);
    t.is(await sendChunked(site, headers, body), 'legacy');
    t.true(site.legacy.hits.at(-1)?.body.equals(body));
    t.like(
      site.log().findLast(({ ms }) => ms !== undefined),
      { operation: zip, rule: 'otherwise' },
    );
  }
  // the operation has no file, so the new service refuses it
  t.regex(
    await sendChunked(site, headers, packageOf('GRANT80', 0, 3_000_000)),
    /cid:f: nothing in the message refers/,
  );
  t.like(
    site.log().findLast(({ ms }) => ms !== undefined),
    { mode: 'new', rule: 'r' },
  );
});

/** A package with a root part of `bytes` bytes and a file. */
function packageOf(bytes: number, after: number): Buffer {
  const part = 'Content-Type: application/xop+xml; charset=UTF-8; type="text/xml"\r\nContent-ID: <r>';
  const root = envelope('GRANT10', bytes - envelope('GRANT10').length);
  const head = `--b\r\n${part}\r\n\r\n${root}\r\n--b\r\nContent-ID: <f>\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.alloc(after, 'f'), Buffer.from('\r\n--b--\r\n')]);
}

const related = {
  'Content-Type':
    'multipart/related; type="application/xop+xml"; start="<r>"; start-info="text/xml"; boundary=b',
};

test('G15: the root part of a package may have as many bytes as a body', async (t) => {
  const most = 300_000;
  const limits = { bodyBytes: most, bodyBytesWithBinary: most };
  const site = await start(t, { value }, { limits });
  for (const after of [10, 1_000_000]) {
    t.is(await sendChunked(site, related, packageOf(most, after)), 'legacy', `${after}`);
    t.regex(await sendChunked(site, related, packageOf(most + 1, after)), /at most 300000 bytes/);
  }
  t.is(site.legacy.hits.length, 2);
});

/** Sends the first half of a package, which is in its root part. */
function sendHalf(t: ExecutionContext, site: Site) {
  const body = packageOf(200_000, 100_000);
  const half = body.subarray(0, 150_000);
  const socket = connect(site.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const headers = Object.entries({ Host: 'a', ...related, 'Content-Length': body.length });
  const lines = headers.map(([name, text]) => `${name}: ${text}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(half);
  return { socket, half };
}

test('G15: a body that arrives for a decision counts as memory', async (t) => {
  const site = await start(t, { value });
  const { load } = site.running;
  const { socket, half } = sendHalf(t, site);
  await until(() => load().heldBytes >= half.length);
  t.is(load().arriving, 1);
  socket.destroy();
  await until(() => load().heldBytes === 0);
  t.is(load().arriving, 0);
});

test('G15: a body that arrives for a decision has the time of other bodies', async (t) => {
  const site = await start(t, { value }, { limits: { bodyMs: 500 } });
  const { socket } = sendHalf(t, site);
  let got = '';
  socket.on('data', (text) => {
    got += text;
  });
  const slowly = setInterval(() => socket.write('f'), 50); // the limit is noticed with the next piece
  t.teardown(() => clearInterval(slowly));
  await until(() => got.includes('408'));
  clearInterval(slowly);
  t.is(site.legacy.hits.length, 0);
});

test('G8: a request of SOAP 1.2 is routed by its value', async (t) => {
  const site = await start(t, { value });
  t.is(await sendChunked(site, soap12, Buffer.from(envelope('GRANT10', 0, soap12Namespace))), 'legacy');
  await sendChunked(site, soap12, Buffer.from(envelope('GRANT80', 0, soap12Namespace)));
  t.is(site.upstream.hits.length, 1);
});

test('G8: an invalid request is routed by its values, whatever its size and protocol', async (t) => {
  const site = await start(t, { value });
  const twice = (number: string, padding: number) => {
    const element = /<c:Grants.*<\/c:\w+>/.exec(envelope(number))?.[0] ?? '';
    return Buffer.from(envelope(number, padding).replace(element, element + element));
  };
  const ruleOf = async (headers: Record<string, string>, body: Buffer, to = path) => {
    const got = await site.send({ path: to, headers, body });
    const { rule, mode } = site.log().findLast(({ ms }) => ms !== undefined) ?? {};
    return `${rule} ${mode} ${got.status}`;
  };
  for (const padding of [0, 70_000, 200_000]) {
    t.is(await ruleOf(xml, twice('GRANT80', padding)), 'r new 500', `${padding}`);
    t.is(await ruleOf(xml, twice('GRANT10', padding)), 'otherwise legacy 200', `${padding}`);
    const json = (number: string) =>
      Buffer.from(
        JSON.stringify({ GrantsGovTrackingNumber: number, Other: { a: [1] } }) + ' '.repeat(padding),
      );
    const to = `/json/reply/${zip}`;
    t.is(await ruleOf({ 'Content-Type': 'application/json' }, json('GRANT80'), to), 'r new 400');
    t.is(await ruleOf({ 'Content-Type': 'application/json' }, json('GRANT10'), to), 'otherwise legacy 501');
  }
});

test('G12: a malformed payload is forwarded only if the decision needs it', async (t) => {
  const broken = Buffer.from(envelope('GRANT80').replace('</s:Body>', ''));
  const byValue = await start(t, { value });
  t.is(await sendChunked(byValue, xml, broken), 'legacy');
  t.like(
    byValue.log().findLast(({ ms }) => ms !== undefined),
    { operation: '?', rule: 'unreadable' },
  );
  const byOperation = await start(t, undefined);
  t.regex(await sendChunked(byOperation, xml, broken), /faultcode/);
  t.is(byOperation.legacy.hits.length, 0);
});
