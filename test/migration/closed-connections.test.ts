import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { until } from '../until.ts';
import { headers, message, path, results, startComparing } from './comparing.ts';

// Connections to services that a reload removes.

/** Time after which a service closes an idle connection, in ms. The gateway closes it before. */
const idleMs = 60_000;

/** Time after which the gateway closes the connections of a removed service, in ms. A call must be faster. */
const closingMs = 8_000;

/** Starts a service, and returns its URL and its number of open connections. */
async function startService(t: ExecutionContext, type: string, body: () => string) {
  let open = 0;
  const server = createServer({ keepAliveTimeout: idleMs }, (request, response) => {
    request.resume();
    response.setHeader('Content-Type', type);
    response.end(body());
  });
  server.on('connection', (socket) => {
    open++;
    socket.on('close', () => open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, open: () => open };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('G5, G18: connections of removed services are closed after a successful reload only', async (t) => {
  t.timeout(2 * idleMs);
  let replies = { legacy: '', new: '' };
  const legacy = await startService(t, 'text/xml', () => replies.legacy);
  const fresh = await startService(t, 'application/json', () => replies.new);
  const site = await startComparing(
    t,
    { answer: 'new' },
    { legacy: legacy.url, upstream: fresh.url, limits: { totalMs: closingMs, shadowMs: closingMs } },
  );
  replies = site.replies;
  await site.send({ path, headers, body: message('GRANT1') });
  t.deepEqual(await results(site, 1), ['equal']);
  await site.send({ path, headers, body: message('GRANT1'), caller: 'acme' });
  t.deepEqual(await results(site, 2), ['equal', 'equal']);
  const before = legacy.open();
  t.true(before > 0);
  await site.reconfigure({ upstream: fresh.url, legacy: '{legacy}', migration: { routes: [{ name: 'x' }] } });
  await pause(closingMs + 1_000);
  t.is(legacy.open(), before, 'the reload failed');
  await site.reconfigure({ upstream: '{new}' });
  await until(() => legacy.open() === 0 && fresh.open() === 0);
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: replies.new };
  t.is((await site.send({ path, headers, body: message('GRANT1') })).status, 200);
});

test('G5: connections of shadow requests are closed if no contract has a legacy service any more', async (t) => {
  t.timeout(2 * idleMs);
  let replies = { legacy: '', new: '' };
  const legacy = await startService(t, 'text/xml', () => replies.legacy);
  const fresh = await startService(t, 'application/json', () => replies.new);
  const site = await startComparing(
    t,
    {},
    { legacy: legacy.url, upstream: fresh.url, limits: { totalMs: closingMs, shadowMs: closingMs } },
  );
  replies = site.replies;
  await site.send({ path, headers, body: message('GRANT1') });
  t.deepEqual(await results(site, 1), ['equal']);
  t.is(fresh.open(), 1);
  await site.reconfigure({ upstream: fresh.url });
  await until(() => fresh.open() === 0 && legacy.open() === 0);
  t.is((await site.send({ path, headers, body: message('GRANT1') })).status, 200);
});
