import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { LimitStore } from '../../gateway/admission/limit-store.ts';
import { SharedEntries } from '../../gateway/admission/shared-entries.ts';
import { kill, startReplica, startStore, startUpstream, storeTool } from '../fleet/fleet.ts';
import { freePort } from '../free-port.ts';
import { contractWith } from '../gateway/gateway.ts';
import { sendRaw } from '../send-raw.ts';
import { until } from '../until.ts';
import { folder } from './captures.ts';
import { signed, usualPayload } from './sign.ts';
import { requestOf } from './signed.ts';

// The memory of accepted messages in a real store, with gateways in processes of their own.

/** Writes a contract that accepts each signed message once. */
function contractOf(t: ExecutionContext): string {
  const at = (name: string): string => JSON.stringify(join(folder, 'keys', name));
  const x509 = `x509: { ca: [${at('issuing.crt')}, ${at('root.crt')}] }`;
  const contract = contractWith(t, `wsse: { username: apiUserId, password: apiUserKey, ${x509} }`);
  const file = join(contract, 'soap.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^ {2}member: authentication$/m, '$&\n  required: []'));
  return contract;
}

/** Returns a message that is signed now. Two calls with one name return the same payload. */
function requestNow(name: string): Buffer {
  const now = Date.now();
  const [created = '', expires = ''] = [now, now + 300_000].map((at) => new Date(at).toISOString());
  const payload = usualPayload.replace('jane', name);
  return requestOf(signed({ payload, created, expires }), 'text/xml; charset=utf-8');
}

async function codeOf(url: string, request: Buffer): Promise<string> {
  const { status, body } = await sendRaw(url, request);
  return (
    /<faultcode[^>]*>([^<]*)</.exec(body)?.[1] ?? (body.includes('Overloaded') ? 'Overloaded' : `${status}`)
  );
}

interface Fleet {
  readonly urls: readonly string[];
  readonly met: ReadonlyMap<string, number>;
  readonly stopStore: () => Promise<void>;
  readonly startStore: () => Promise<void>;
}

/** Starts processes that share a store. */
async function startFleet(
  t: ExecutionContext,
  environments: readonly Record<string, string>[],
): Promise<Fleet> {
  t.truthy(storeTool, 'valkey-server or redis-server is installed');
  const port = await freePort();
  let store = await startStore(t, port);
  const { url, met } = await startUpstream(t, 0);
  const contract = contractOf(t);
  const urls: string[] = [];
  for (const environment of environments) {
    const own = await freePort();
    await startReplica(t, own, {
      SOAPBRIDGE_CONTRACT: contract,
      SOAPBRIDGE_UPSTREAM_URL: url,
      SOAPBRIDGE_LIMIT_STORE: `redis://127.0.0.1:${port}`,
      ...environment,
    });
    urls.push(`http://127.0.0.1:${own}`);
  }
  return {
    urls,
    met,
    stopStore: () => kill(store),
    startStore: async () => {
      store = await startStore(t, port);
    },
  };
}

test('X17: two processes with a shared store accept a message once', async (t) => {
  const { urls, met } = await startFleet(t, [{}, {}]);
  const [first = '', second = ''] = urls;
  const request = requestNow('once');
  t.is(await codeOf(first, request), '200');
  t.is(await codeOf(second, request), 'w:FailedAuthentication');
  t.is(await codeOf(first, request), 'w:FailedAuthentication');
  t.is(await codeOf(second, requestNow('other')), '200');
  const same = requestNow('race');
  const codes = await Promise.all([first, second, first, second].map((url) => codeOf(url, same)));
  t.is(codes.filter((code) => code === '200').length, 1, codes.join());
  t.deepEqual([met.get('once'), met.get('other'), met.get('race')], [1, 1, 1]);
});

test('X17: two workers with a shared store accept a message once', async (t) => {
  const { urls, met } = await startFleet(t, [{ SOAPBRIDGE_WORKERS: '2' }]);
  const [url = ''] = urls;
  const request = requestNow('worker');
  const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(url, request)));
  t.is(codes.filter((code) => code === '200').length, 1, codes.join());
  t.is(met.get('worker'), 1);
});

test('X17: a call is refused while the store is away, and accepted afterwards', async (t) => {
  const { urls, met, stopStore, startStore: again } = await startFleet(t, [{}]);
  const [url = ''] = urls;
  t.is(await codeOf(url, requestNow('before')), '200');
  await stopStore();
  t.is(await codeOf(url, requestNow('away')), 'Overloaded');
  await again();
  const request = requestNow('back');
  await until(async () => (await codeOf(url, request)) === '200');
  t.is(await codeOf(url, request), 'w:FailedAuthentication');
  t.deepEqual([met.get('away'), met.get('back')], [undefined, 1]);
});

test('W49, X17: entries of the store have limits, shares and ends', async (t) => {
  const port = await freePort();
  const child = await startStore(t, port);
  const url = `redis://127.0.0.1:${port}`;
  const store = await LimitStore.open({ url, timeoutMs: 5_000, onChange: () => {} });
  t.teardown(() => store.close());
  const entries = new SharedEntries(store, 'test', 10);
  const other = new SharedEntries(store, 'other', 10);
  const key = (name: string): string => name.padEnd(32, '\xff');
  const now = Date.now();
  const keep = (name: string, caller = 'ann', at = now) => entries.keep(key(name), at + 1_000, at, caller);
  t.is(await keep('a'), 'new');
  t.is(await keep('a'), 'used');
  t.is(await keep('a', 'bob'), 'used');
  t.is(await other.keep(key('a'), now + 1_000, now, 'ann'), 'new', 'another list');
  t.is(await entries.keep(key('late'), now - 1, now, 'ann'), 'used');
  t.true(await entries.holds(key('a'), now));
  t.false(await entries.holds(key('b'), now));
  const both = ['b', 'a'].map((name) => ({ key: key(name), until: now + 1_000, caller: 'ann' }));
  t.is(await entries.keepAll(both, now), 'used');
  t.false(await entries.holds(key('b'), now), 'all or none');
  const twice = ['c', 'c'].map((name) => ({ key: key(name), until: now + 1_000, caller: 'ann' }));
  t.is(await entries.keepAll(twice, now), 'new');
  for (const name of ['d', 'e', 'f', 'g', 'h', 'i']) t.is(await keep(name), 'new', name);
  t.is(await keep('j'), 'full', 'eight entries are four times the two that are free');
  t.is(await keep('j', 'bob'), 'new');
  t.is(await keep('a'), 'used', 'a full list forgets nothing');
  const later = now + 2_000;
  await until(() => Date.now() > later);
  t.is(await keep('j', 'ann', Date.now()), 'new', 'ended entries are removed');
  await kill(child);
  t.is(await keep('k'), 'away');
  t.false(await entries.holds(key('a'), now));
});
