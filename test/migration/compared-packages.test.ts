import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { until } from '../until.ts';
import { headers, message, metricOf, path, results, startComparing } from './comparing.ts';
import { getCall, getReply, startRecording } from './recording-site.ts';

const body = message('GRANT1');
const type =
  'multipart/related; type="application/xop+xml"; boundary="b"; start="<r>"; start-info="text/xml"';
const json = { 'content-type': 'application/json' };
const packaged = { replies: { package: 'always' } };

/** Returns a package with an envelope of a size and these parts. */
function packed(envelope: string, ...parts: readonly string[]): Buffer {
  const root = `--b\r\nContent-Type: application/xop+xml; type="text/xml"\r\nContent-ID: <r>\r\n\r\n${envelope}`;
  const others = parts.map((content, index) => `\r\n--b\r\nContent-ID: <p${index}>\r\n\r\n${content}`);
  return Buffer.from(`${root}${others.join('')}\r\n--b--\r\n`, 'latin1');
}

const file = (id: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><a:GetApplicationZipResponse xmlns:a="http://desk.example/services/Agency-V2"><a:FileDataHandler><x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:${id}"/></a:FileDataHandler></a:GetApplicationZipResponse></s:Body></s:Envelope>`;

const bytes = 'PK'.repeat(10_000);
const fileJson = JSON.stringify({ FileDataHandler: Buffer.from(bytes).toString('base64') });

test('G27: a package above compareBytes is compared by the size and SHA-256 of its parts', async (t) => {
  for (const answer of ['legacy', 'new'] as const) {
    const site = await startComparing(t, { answer }, { limits: { compareBytes: 30_000 }, ...packaged });
    const reply = packed(file('p0'), bytes, 'not referred to'.repeat(100_000));
    site.upstream.answer = { status: 200, headers: json, body: fileJson };
    site.legacy.answer = { status: 200, headers: { 'content-type': type }, body: reply };
    const got = await site.send({ path, headers, body });
    if (answer === 'legacy') t.deepEqual(got.body, reply);
    t.deepEqual(await results(site, 1), ['equal'], answer);
    const chunked = { 'content-type': type, 'transfer-encoding': 'chunked' };
    site.legacy.answer = { status: 200, headers: chunked, body: reply };
    await site.send({ path, headers, body });
    t.deepEqual(await results(site, 2), ['equal', 'equal'], answer);
    site.legacy.answer = { status: 200, headers: chunked, body: packed(file('p0'), `${bytes}P`) };
    await site.send({ path, headers, body });
    t.is((await results(site, 3))[2], 'different', answer);
    const labels = 'operation="GetApplicationZip",kind="value"';
    t.is(metricOf(site, 'migration_differences_total', labels), 1);
  }
});

test('G46: two packages of the legacy service above compareBytes are compared', async (t) => {
  const site = await startComparing(
    t,
    {},
    { limits: { compareBytes: 1_000 }, compare: { noise: '100%' }, ...packaged },
  );
  let replies = 0;
  site.legacy.onHit = () => {
    replies++;
    const parts = replies === 4 ? `${bytes}P` : bytes;
    site.legacy.answer = { status: 200, headers: { 'content-type': type }, body: packed(file('p0'), parts) };
  };
  const noise = (result: string): number =>
    metricOf(site, 'migration_noise_total', `operation="GetApplicationZip",result="${result}"`);
  await site.send({ path, headers, body });
  t.deepEqual(await results(site, 1), ['different']);
  await until(() => noise('equal') === 1);
  await site.send({ path, headers, body });
  await until(() => noise('different') === 1);
});

test('compareBytes: an envelope of that size in a package is compared, of one byte more is not', async (t) => {
  const most = 600;
  const site = await startComparing(t, {}, { limits: { compareBytes: most }, ...packaged });
  let count = 0;
  for (const size of [most, most + 1]) {
    const reply = packed(file('p0').padEnd(size), 'PK\x03\x04', bytes);
    site.legacy.answer = { status: 200, headers: { 'content-type': type }, body: reply };
    t.deepEqual((await site.send({ path, headers, body })).body, reply);
    t.is((await results(site, ++count)).at(-1), size === most ? 'equal' : 'skipped:size');
  }
});

test('streamBytes: a shadow package of that size is compared, of one byte more is not', async (t) => {
  const reply = packed(file('p0'), bytes);
  for (const [more, result] of [
    [0, 'equal'],
    [1, 'skipped:aborted'],
  ] as const) {
    const limits = { compareBytes: 30_000, streamBytes: reply.length - more };
    const site = await startComparing(t, { answer: 'new' }, { limits, ...packaged });
    site.upstream.answer = { status: 200, headers: json, body: fileJson };
    const chunked = { 'content-type': type, 'transfer-encoding': 'chunked' };
    site.legacy.answer = { status: 200, headers: chunked, body: reply };
    t.is((await site.send({ path, headers, body })).status, 200);
    t.deepEqual(await results(site, 1), [result]);
  }
});

test('G27: a package of 200 MB takes little memory', async (t) => {
  const [head = '', end = ''] = packed(file('p0'), '|').toString('latin1').split('|');
  const piece = Buffer.alloc(1_000_000, 1);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': type });
    response.write(head);
    let count = 0;
    const pour = (): void => {
      while (count++ < 200)
        if (!response.write(piece)) {
          response.once('drain', pour);
          return;
        }
      response.end(end);
    };
    pour();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const legacy = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // the memory of copies is counted, and 64 KiB are enough
  const site = await startComparing(
    t,
    { answer: 'new' },
    { legacy, limits: { shadowBytes: 65_536, shadowMs: 600_000 }, ...packaged },
  );
  await site.send({ path, headers, body });
  t.deepEqual(await results(site, 1), ['different']);
});

test('G56: the reply to a shadow request is recorded whole, or by its size and SHA-256', async (t) => {
  const envelope = getReply('<Long>1</Long>');
  const reply = packed(envelope, bytes);
  for (const isWhole of [true, false]) {
    const site = await startRecording(t, {
      migration: { routes: [{ name: 'c', mode: 'compare', answer: 'new' }] },
      limits: { recordBytes: reply.length - (isWhole ? 0 : 1) },
    });
    site.upstream.answer = { status: 200, headers: json, body: '{"Long":1}' };
    site.legacy.answer = { status: 200, headers: { 'content-type': type }, body: reply };
    t.is((await site.send(getCall)).status, 200);
    await until(() => site.recorded().length > 0);
    const [exchange] = site.recorded();
    const sha256 = createHash('sha256').update(reply).digest('hex');
    t.is(exchange?.legacy?.length, isWhole ? reply.length - bytes.length + '***'.length : undefined);
    t.is(exchange?.details.legacy?.sha256, isWhole ? undefined : sha256);
    t.is(exchange?.details.legacy?.size, reply.length);
  }
});
