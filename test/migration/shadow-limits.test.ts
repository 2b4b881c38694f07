import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { maxWaitingShadows } from '../../gateway/migration/shadow-capacity.ts';
import { until } from '../until.ts';
import { comparedIn, headers, message, path, results, startComparing } from './comparing.ts';

const body = message('GRANT1');

/** Extends a message to a size, with white space after its root element. */
function extended(text: string, bytes: number): string {
  return text.padEnd(bytes);
}

/** A service whose replies wait until they are released. */
interface Waiting {
  readonly url: string;
  /** Replies to all requests so far. */
  readonly open: ServerResponse[];
  /** Maximum number of requests in progress so far. */
  readonly most: () => number;
}

async function startWaiting(t: ExecutionContext): Promise<Waiting> {
  const open: ServerResponse[] = [];
  let current = 0;
  let most = 0;
  const server = createServer((request, response) => {
    request.resume();
    open.push(response);
    most = Math.max(most, ++current);
    response.on('close', () => current--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, open, most: () => most };
}

test('compareBytes: a request of 600 bytes is compared, one of 601 bytes is not', async (t) => {
  const site = await startComparing(t, {}, { limits: { compareBytes: 600 } });
  const plain = (bytes: number) => ({ headers, body: extended(body, bytes) });
  // a body without a length is copied until it is too large
  const chunked = (bytes: number) => ({
    headers: { ...headers, 'Transfer-Encoding': 'chunked' },
    chunks: [body, extended('', bytes - body.length)],
  });
  const packed = (bytes: number) => ({
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    body: gzipSync(extended(body, bytes)),
  });
  let count = 0;
  for (const form of [plain, chunked, packed])
    for (const bytes of [600, 601]) {
      const got = await site.send({ path, ...form(bytes) });
      t.is(got.body.toString(), site.replies.legacy);
      t.is((await results(site, ++count)).at(-1), bytes === 600 ? 'equal' : 'skipped:size', `${form}`);
    }
  t.is(site.legacy.hits.length, 6);
  t.is(site.legacy.hits[3]?.body.length, 601);
});

test('compareBytes: a reply of 600 bytes is compared, one of 601 bytes is not', async (t) => {
  const site = await startComparing(t, {}, { limits: { compareBytes: 600 } });
  const xml = { 'content-type': 'text/xml' };
  let count = 0;
  const resultOf = async (): Promise<unknown> => {
    await site.send({ path, headers, body });
    return (await results(site, ++count)).at(-1);
  };
  const { legacy, new: fresh } = site.replies;
  for (const [bytes, wanted] of [
    [600, 'equal'],
    [601, 'skipped:size'],
  ] as const) {
    site.legacy.answer = { status: 200, headers: xml, body: extended(legacy, bytes) };
    t.is(await resultOf(), wanted);
    const packed = { ...xml, 'content-encoding': 'gzip' };
    site.legacy.answer = { status: 200, headers: packed, body: gzipSync(extended(legacy, bytes)) };
    t.is(await resultOf(), wanted);
    site.legacy.answer = {
      status: 200,
      headers: { ...xml, 'transfer-encoding': 'chunked' },
      body: extended(legacy, bytes),
    };
    t.is(await resultOf(), wanted);
    site.legacy.answer = { status: 200, headers: xml, body: legacy };
    site.upstream.answer = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: extended(fresh, bytes),
    };
    t.is(await resultOf(), wanted);
    site.upstream.answer = { ...site.upstream.answer, body: fresh };
  }
});

test('shadowBytes: copies and replies of exactly that size are compared, of one byte more are not', async (t) => {
  for (const more of [0, 1]) {
    const probe = await startComparing(t);
    const { legacy, new: fresh } = probe.replies;
    const total = [body, legacy, fresh].reduce((sum, text) => sum + text.length, 0);
    const site = await startComparing(t, {}, { limits: { shadowBytes: total } });
    site.upstream.answer = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: extended(fresh, fresh.length + more),
    };
    t.is((await site.send({ path, headers, body })).body.toString(), legacy);
    t.deepEqual(await results(site, 1), [more === 0 ? 'equal' : 'skipped:busy']);
  }
});

test('shadowCalls: 2 shadow requests run and 256 wait; one more is not sent', async (t) => {
  const waiting = await startWaiting(t);
  const site = await startComparing(
    t,
    {},
    {
      limits: { shadowCalls: 2, shadowMs: 600_000 },
      upstream: waiting.url,
    },
  );
  const call = async (): Promise<void> => {
    t.is((await site.send({ path, headers, body })).body.toString(), site.replies.legacy);
  };
  await call();
  await call();
  await until(() => waiting.open.length === 2);
  await call();
  t.is(waiting.open.length, 2);
  waiting.open[0]?.end('{}');
  await until(() => waiting.open.length === 3);
  t.is((await results(site, 1)).length, 1);
  for (let index = 0; index < maxWaitingShadows; index++) await call();
  await call();
  t.deepEqual((await results(site, 2)).slice(1), ['skipped:busy']);
  t.is(waiting.open.length, 3);
});

test('shadowMs: a reply in time is compared, and a shadow request without one is cancelled', async (t) => {
  const waiting = await startWaiting(t);
  const patient = await startComparing(t, {}, { limits: { shadowMs: 600_000 }, upstream: waiting.url });
  await patient.send({ path, headers, body });
  await until(() => waiting.open.length === 1);
  waiting.open[0]?.setHeader('Content-Type', 'application/json').end(patient.replies.new);
  t.deepEqual(await results(patient, 1), ['equal']);
  const site = await startComparing(t, {}, { limits: { shadowMs: 1 }, upstream: waiting.url });
  await site.send({ path, headers, body });
  t.deepEqual(await results(site, 1), ['skipped:aborted']);
});

test('G27: shadow requests use at most 16 connections', async (t) => {
  const waiting = await startWaiting(t);
  const site = await startComparing(t, {}, { limits: { shadowMs: 400 }, upstream: waiting.url });
  for (let index = 0; index < 40; index++) await site.send({ path, headers, body });
  await until(() => comparedIn(site).length === 40);
  t.true(waiting.most() > 1 && waiting.most() <= 16, String(waiting.most()));
});
