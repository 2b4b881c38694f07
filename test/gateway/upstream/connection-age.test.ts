import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { until } from '../../until.ts';
import { call, ownHost, startService, startWith } from './addresses.ts';

test('maxConnectionAge: an old connection gets no further call, and no call is cut', async (t) => {
  const service = await startService(t);
  const gateway = await startWith(t, { url: service.url, maxConnectionAge: '200ms' });
  service.answer = (_request, response) => setTimeout(() => response.writeHead(204).end(), 400);
  t.is((await call(gateway, 'write')).status, 204);
  t.is((await call(gateway, 'write')).status, 204);
  t.is(service.connections(), 2);
  await until(() => service.open() <= 1);
});

test('maxConnectionAge: a younger connection is kept', async (t) => {
  const service = await startService(t);
  const gateway = await startWith(t, { url: service.url, maxConnectionAge: '24h' });
  for (let count = 0; count < 3; count++) t.is((await call(gateway, 'write')).status, 204);
  t.is(service.connections(), 1);
});

test('maxConnectionAge: new connections use the new address of a host name', async (t) => {
  const former = await startService(t);
  const next = await startService(t, { port: former.port, host: ownHost() });
  let address = former.host;
  const resolve: LookupFunction = (hostname, options, callback) => {
    if (hostname !== 'service.test') {
      lookup(hostname, options, callback);
      return;
    }
    const found: LookupAddress = { address, family: 4 };
    if (options.all === true) callback(null, [found]);
    else callback(null, found.address, found.family);
  };
  const upstream = { url: `http://service.test:${former.port}`, maxConnectionAge: '100ms' };
  const gateway = await startWith(t, upstream, {}, { way: { lookup: resolve } });
  t.is((await call(gateway, 'write')).status, 204);
  t.deepEqual([former.hits.length, next.hits.length], [1, 0]);
  address = next.host;
  await pause(200);
  t.is((await call(gateway, 'write')).status, 204);
  t.deepEqual([former.hits.length, next.hits.length], [1, 1]);
});
