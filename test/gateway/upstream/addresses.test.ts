import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { stuckMs } from '../../../gateway/upstream/operation-paces.ts';
import { until } from '../../until.ts';
import { send, startGateway } from '../gateway.ts';
import { call, configWith, startService, startWith, up } from './addresses.ts';

const never = 1_000_000;
/** Limits with which two failures open the circuit breaker, and no probe follows. */
const quickBreaker = { breakerCalls: 2, breakerFailingMs: 1, breakerWindowMs: never, breakerProbeMs: never };
const noRetries = { retryPercent: 0, retrySavings: 0 };

test('calls are distributed over the addresses by weight', async (t) => {
  const [one, two] = [await startService(t), await startService(t)];
  const gateway = await startWith(t, { addresses: [{ url: one.url, weight: 3 }, { url: two.url }] });
  for (let count = 0; count < 20; count++) t.is((await call(gateway, 'write')).status, 204);
  t.is(one.hits.length, 15);
  t.is(two.hits.length, 5);
});

test('the path of each address precedes the path of its calls', async (t) => {
  const [one, two] = [await startService(t), await startService(t)];
  const gateway = await startWith(t, { addresses: [{ url: `${one.url}/a` }, { url: `${two.url}/b/` }] });
  await call(gateway, 'read');
  await call(gateway, 'read');
  t.deepEqual([one.hits, two.hits], [['GET /a/read'], ['GET /b/read']]);
});

test('an address that refuses connections costs no call, is ejected and returns', async (t) => {
  const [gone, well] = [await startService(t), await startService(t)];
  await gone.stop();
  const limits = { ...quickBreaker, ...noRetries, breakerProbeMs: 1 };
  const gateway = await startWith(t, { addresses: [{ url: gone.url }, { url: well.url }] }, limits);
  for (let count = 0; count < 10; count++)
    t.is((await call(gateway, count % 2 === 0 ? 'write' : 'read')).status, 204);
  t.is(well.hits.length, 10);
  t.deepEqual(await up(gateway), { [gone.url]: 0, [well.url]: 1 });
  t.regex(gateway.log(), new RegExp(`"upstream":"${gone.url}","breaker":"open"`));
  const back = await startService(t, gone);
  await until(async () => (await call(gateway, 'write')).status === 204 && back.hits.length > 0);
  t.deepEqual(await up(gateway), { [gone.url]: 1, [well.url]: 1 });
});

test('an ejected address gets no call before the time of its probe', async (t) => {
  const [gone, well] = [await startService(t), await startService(t)];
  await gone.stop();
  const gateway = await startWith(t, { addresses: [{ url: gone.url }, { url: well.url }] }, quickBreaker);
  for (let count = 0; count < 10; count++) await call(gateway, 'write');
  const back = await startService(t, gone);
  for (let count = 0; count < 10; count++) t.is((await call(gateway, 'write')).status, 204);
  t.is(back.hits.length, 0);
});

test('calls are rejected when no address accepts connections', async (t) => {
  const [one, two] = [await startService(t), await startService(t)];
  await one.stop();
  await two.stop();
  const gateway = await startWith(t, { addresses: [{ url: one.url }, { url: two.url }] }, quickBreaker);
  for (let count = 0; count < 3; count++) t.is((await call(gateway, 'write')).status, 503);
  await until(async () => Object.values(await up(gateway)).every((value) => value === 0));
  const { status, headers } = await call(gateway, 'write');
  t.is(status, 503);
  t.truthy(headers['retry-after']);
});

test('a write that was sent to one address is not sent to another', async (t) => {
  const [broken, well] = [await startService(t), await startService(t)];
  broken.answer = (request) => request.socket.destroy();
  const gateway = await startWith(t, { addresses: [{ url: broken.url }, { url: well.url }] });
  const statuses = [await call(gateway, 'write'), await call(gateway, 'write')].map(({ status }) => status);
  t.deepEqual(statuses.toSorted(), [204, 502]);
  t.deepEqual([broken.hits.length, well.hits.length], [1, 1]);
});

test('a read is repeated at another address', async (t) => {
  const [broken, well] = [await startService(t), await startService(t)];
  broken.answer = (request) => request.socket.destroy();
  const gateway = await startWith(t, { addresses: [{ url: broken.url }, { url: well.url }] });
  t.is((await call(gateway, 'read')).status, 204);
  t.is((await call(gateway, 'read')).status, 204);
  t.deepEqual([broken.hits.length, well.hits.length], [1, 2]);
});

test('a read is repeated once, even if there is a third address', async (t) => {
  const services = [await startService(t), await startService(t), await startService(t)];
  for (const service of services) service.answer = (request) => request.socket.destroy();
  const gateway = await startWith(t, { addresses: services.map(({ url }) => ({ url })) });
  t.is((await call(gateway, 'read')).status, 502);
  t.is(services.flatMap(({ hits }) => hits).length, 2);
});

test('an address whose operation fails gets no further calls of it', async (t) => {
  const [failing, well] = [await startService(t), await startService(t)];
  failing.answer = ({ method }, response) => response.writeHead(method === 'POST' ? 500 : 204).end();
  const gateway = await startWith(t, { addresses: [{ url: failing.url }, { url: well.url }] }, quickBreaker);
  for (let count = 0; count < 10; count++) await call(gateway, 'write');
  t.is(failing.hits.length, 2);
  for (let count = 0; count < 4; count++) t.is((await call(gateway, 'read')).status, 204);
  t.is(failing.hits.length, 4);
});

test('an address that fails its health check gets no calls until it passes', async (t) => {
  const [sick, well] = [await startService(t), await startService(t)];
  sick.health = 503;
  const addresses = [{ url: sick.url }, { url: well.url }];
  const gateway = await startWith(t, { addresses, healthCheck: { path: '/healthz', every: '100ms' } });
  await call(gateway, 'write');
  await until(async () => (await up(gateway))[sick.url] === 0);
  const before = sick.hits.length;
  for (let count = 0; count < 6; count++) t.is((await call(gateway, 'write')).status, 204);
  t.is(sick.hits.length, before);
  t.regex(gateway.log(), /"health":"failed".*health check failed: it responded with an error/);
  sick.health = 200;
  await until(async () => (await up(gateway))[sick.url] === 1);
  await call(gateway, 'write');
  await call(gateway, 'write');
  t.is(sick.hits.length, before + 1);
});

test('a waiting call is not sent to an address that failed its health check meanwhile', async (t) => {
  const [well, sick] = [await startService(t), await startService(t)];
  const held: (() => void)[] = [];
  well.answer = (_request, response) => held.push(() => response.writeHead(204).end());
  const addresses = [{ url: well.url }, { url: sick.url }];
  const healthCheck = { path: '/healthz', every: '100ms' };
  const gateway = await startWith(t, { addresses, healthCheck }, { upstreamConnections: 1 });
  const first = call(gateway, 'write');
  await until(() => held.length === 1);
  const second = call(gateway, 'write');
  await until(() => gateway.running.upstreams().some(([, { waiting }]) => waiting === 1));
  sick.health = 503;
  await until(async () => (await up(gateway))[sick.url] === 0);
  held.pop()?.();
  await until(() => held.length === 1 || sick.hits.length === 1);
  held.pop()?.();
  t.is((await first).status, 204);
  t.is((await second).status, 204);
  t.deepEqual([well.hits.length, sick.hits.length], [2, 0]);
});

test('an address that does not answer keeps at most the connections of its stuck calls', async (t) => {
  const [hung, well] = [await startService(t), await startService(t)];
  hung.answer = () => {};
  const addresses = [{ url: hung.url }, { url: well.url }];
  // more than one stuck call is too many of 16 connections
  const gateway = await startWith(t, { addresses }, { upstreamConnections: 16 });
  const first = Array.from({ length: 4 }, () => call(gateway, 'write').catch(() => {}));
  await until(() => hung.hits.length === 2 && well.hits.length === 2);
  await pause(stuckMs + 100);
  for (let count = 0; count < 10; count++) t.is((await call(gateway, 'write')).status, 204);
  t.is(hung.hits.length, 2);
  t.is(well.hits.length, 12);
  await hung.stop();
  await Promise.all(first);
});

test('calls continue if all addresses fail their health check', async (t) => {
  const [one, two] = [await startService(t), await startService(t)];
  one.health = 404;
  two.health = 404;
  const addresses = [{ url: one.url }, { url: two.url }];
  const gateway = await startWith(t, { addresses, healthCheck: { path: '/healthz', every: '100ms' } });
  await call(gateway, 'write');
  await until(async () => Object.values(await up(gateway)).every((value) => value === 0));
  for (let count = 0; count < 4; count++) t.is((await call(gateway, 'write')).status, 204);
});

test('a health check that passes closes the circuit breaker of a single address', async (t) => {
  const gone = await startService(t);
  await gone.stop();
  const healthCheck = { path: '/healthz', every: '100ms' };
  const gateway = await startWith(t, { url: gone.url, healthCheck }, { ...quickBreaker, ...noRetries });
  await until(async () => {
    await call(gateway, 'write');
    return gateway.log().includes('"breaker":"open"');
  });
  const back = await startService(t, gone);
  await until(() => gateway.log().includes('"breaker":"closed"'));
  t.is(back.hits.length, 0);
  t.is((await call(gateway, 'write')).status, 204);
});

test('a call in progress is answered by its address after a reload replaced it', async (t) => {
  const [former, next] = [await startService(t), await startService(t)];
  const held: (() => void)[] = [];
  former.answer = (_request, response) => held.push(() => response.writeHead(204).end());
  const config = configWith(t, former.url);
  const gateway = await startGateway(t, { isPatient: true, serve: { config } });
  const first = call(gateway, 'write');
  await until(() => held.length === 1);
  writeFileSync(config, readFileSync(config, 'utf8').replace(former.url, next.url));
  await gateway.running.reload();
  t.is((await call(gateway, 'write')).status, 204);
  held.pop()?.();
  t.is((await first).status, 204);
  t.deepEqual([former.hits.length, next.hits.length], [1, 1]);
});

test('addresses with the same host and different paths have one metric', async (t) => {
  const service = await startService(t);
  const gateway = await startWith(t, {
    addresses: [{ url: `${service.url}/a` }, { url: `${service.url}/b` }],
  });
  await call(gateway, 'read');
  const { text } = await send(gateway.port, 'GET', '/metrics');
  t.is(text.match(/^soapbridge_upstream_address_up\{/gm)?.length, 1);
});
