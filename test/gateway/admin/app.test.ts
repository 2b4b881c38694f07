import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createAdminApp } from '../../../gateway/admin/app.ts';
import { maxItems, pageOf } from '../../../gateway/admin/page.ts';
import { Problem } from '../../../gateway/admin/problem.ts';
import { maxNetworks, maxRequestsPerSecond, RequestRates } from '../../../gateway/admin/request-rates.ts';
import type { AdminRoute } from '../../../gateway/admin/route.ts';
import type { AdminState } from '../../../gateway/process/admin.ts';
import { AdminMemory } from '../../../gateway/process/admin-memory.ts';
import { createCallers } from '../../../gateway/telemetry/callers.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { ask, changeToken, readToken, sha256 } from './admin.ts';

const state: AdminState = {
  version: '1',
  isReady: () => true,
  metrics: async () => '',
  snapshot: async () => [],
  settings: () => [],
  contracts: () => [],
  upstreams: async () => [],
  migrations: () => [],
  routeSync: () => undefined,
  callers: () => createCallers(),
  limits: defaultLimits,
  reload: async () => [],
};

/** Serves routes that no file of `routes/` has yet: changes, parameters and failures. */
async function serve(t: ExecutionContext, routes: readonly AdminRoute[]) {
  const errors: unknown[] = [];
  const statuses: number[] = [];
  const token = (name: string, role: 'read' | 'change', text: string) => {
    return {
      name,
      role,
      sha256: Buffer.from(sha256(text), 'hex'),
      expires: undefined,
      certificate: undefined,
    };
  };
  const memory = new AdminMemory();
  const app = createAdminApp({
    routes,
    state,
    tokens: () => [token('a', 'read', readToken), token('b', 'change', changeToken)],
    isOwnHost: () => true,
    rates: new RequestRates(() => 0),
    anonymousRates: new RequestRates(() => 0),
    memory: async (command) => memory.run(command),
    origin: () => 'http://127.0.0.1',
    onStatus: (status) => statuses.push(status),
    log: { info: () => {}, warn: () => {}, error: (fields) => errors.push(fields) },
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    errors,
    statuses,
    ask: (...args: Parameters<typeof ask> extends [string, ...infer Rest] ? Rest : never) =>
      ask(url, ...args),
  };
}

const change: AdminRoute = {
  method: 'PUT',
  path: '/api/v1/contracts/:c/routes',
  summary: 'A change.',
  access: 'change',
  answer: ({ params }) => ({ json: { changed: params.c } }),
};

test('a change needs the role change', async (t) => {
  const { ask } = await serve(t, [change, { ...change, method: 'GET', access: 'read' }]);
  const path = '/api/v1/contracts/%2Fv2/routes';
  t.is((await ask(path, { method: 'PUT' })).status, 401);
  const refused = await ask(path, { method: 'PUT', token: readToken });
  t.is(refused.status, 403);
  t.is(refused.headers['content-type'], 'application/problem+json');
  const changed = await ask(path, { method: 'PUT', token: changeToken });
  t.deepEqual(JSON.parse(changed.text), { changed: '/v2' });
  t.is((await ask(path, { token: readToken })).status, 200);
  const other = await ask(path, { method: 'POST', token: readToken });
  t.is(other.headers.allow, 'PUT, GET, HEAD');
});

test('an internal error is a problem without details, and is logged', async (t) => {
  const failing: AdminRoute = {
    ...change,
    method: 'GET',
    path: '/fails',
    answer: () => {
      throw new Error('secret detail');
    },
  };
  const { ask, errors, statuses } = await serve(t, [failing]);
  const reply = await ask('/fails', { token: changeToken });
  t.is(reply.status, 500);
  t.notRegex(reply.text, /secret/);
  t.is(errors.length, 1);
  t.deepEqual(statuses, [500]);
});

test('lists have pages of up to 200 items in the order of their keys', (t) => {
  const all = Array.from({ length: 450 }, (_, index) => `/c${String(index).padStart(3, '0')}`);
  const found: string[] = [];
  let query: { cursor?: string } = {};
  for (let pages = 0; pages < 3; pages++) {
    const { items, cursor } = pageOf(all.toReversed(), query, (item) => item);
    found.push(...items);
    query = cursor === null ? {} : { cursor };
  }
  t.deepEqual(found, all);
  t.deepEqual(query, {});
  t.is(pageOf(all, { limit: String(maxItems) }, (item) => item).items.length, maxItems);
  t.is(pageOf(all.slice(0, maxItems), {}, (item) => item).cursor, null);
});

for (const query of [
  { limit: String(maxItems + 1) },
  { limit: '0' },
  { limit: '' },
  { limit: 'ten' },
  { limit: '-1' },
  { limit: ['1', '2'] },
  { cursor: '!' },
  { cursor: ['a', 'b'] },
])
  test(`a list rejects ${JSON.stringify(query)}`, (t) => {
    const error = t.throws(() => pageOf([], query, String), { instanceOf: Problem });
    t.is(error?.status, 400);
    t.is(error?.problems[0]?.pointer, `/${Object.keys(query)[0]}`);
  });

test('request rates are counted by network, and for at most 1,000 networks', (t) => {
  let now = 0;
  const rates = new RequestRates(() => now);
  const send = (address: string, count: number) =>
    Array.from({ length: count }, () => rates.take(address)).filter(Boolean).length;
  t.is(send('10.0.0.1', maxRequestsPerSecond + 1), maxRequestsPerSecond);
  t.is(send('::ffff:10.0.0.1', 1), 0);
  t.is(send('2001:db8::1', maxRequestsPerSecond), maxRequestsPerSecond);
  t.is(send('2001:db8::2', 1), 0);
  for (let network = 2; network < maxNetworks; network++) rates.take(`10.1.${network >> 8}.${network & 255}`);
  t.is(send('10.2.0.1', 1), 1);
  t.is(send('10.2.0.2', maxRequestsPerSecond), maxRequestsPerSecond - 1);
  t.is(send('10.0.0.1', 1), 0);
  now = 1_000;
  t.is(send('10.0.0.1', 1), 1);
});
