import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { ask, changeToken, entries, readToken } from './admin.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Waits for a condition, at most 100 s. */
async function until<T>(read: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const limit = performance.now() + 100_000; performance.now() < limit; await pause(20)) {
    const found = await read();
    if (found !== undefined) return found;
  }
  throw new Error('expected the condition within 100 s');
}

/** Starts `soapbridge serve` with two workers and an admin listener on a free port. */
async function start(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'admin-workers-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: unknown): void => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    chmodSync(join(folder, name), 0o600);
  };
  const get = { operationId: 'find', responses: { 200: { description: 'done' } } };
  write('openapi.yaml', {
    openapi: '3.0.3',
    info: { title: 'Shop', version: '7' },
    paths: { '/find': { get } },
  });
  write('tokens.yaml', entries);
  write('soapbridge.yaml', {
    admin: { listen: '127.0.0.1:0', tokens: 'tokens.yaml' },
    contracts: { '/shop': { openapi: 'openapi.yaml', upstream: 'http://127.0.0.1:1' } },
  });
  const child: ChildProcess = spawn(process.execPath, ['bin/soapbridge.js', 'serve', '--workers', '2'], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      SOAPBRIDGE_CONFIG: join(folder, 'soapbridge.yaml'),
      SOAPBRIDGE_LIMITS: 'inFlight=77',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let out = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  await until(() => (out.includes('soapbridge listens') ? true : undefined));
  const line = out.split('\n').find((each) => each.includes('admin listener opened'));
  const { url } = JSON.parse(line ?? '{}');
  const read = async (path: string) => JSON.parse((await ask(url, path, { token: readToken })).text);
  return { child, url, write, read, log: () => out };
}

test.serial('several workers share the admin port, and each response covers all of them', async (t) => {
  const { child, url, write, read, log } = await start(t);
  t.is((await ask(url, '/readyz')).status, 200);
  const page = await ask(url, '/metrics', { token: readToken });
  t.regex(page.text, /^soapbridge_workers 2$/m);
  for (const worker of [1, 2])
    t.regex(
      page.text,
      new RegExp(`^soapbridge_config_last_reload_successful\\{worker="${worker}"\\} 1$`, 'm'),
    );
  const pools = await read('/api/v1/pools');
  t.like(pools.items, [
    { contract: '/shop', worker: '1' },
    { contract: '/shop', worker: '2' },
  ]);
  t.is((await read('/api/v1/breakers')).items.length, 2);
  t.like((await read('/api/v1/contracts')).items, [{ path: '/shop', version: '7', operations: ['find'] }]);
  const { settings } = await read('/api/v1/config');
  const sources = new Map(
    settings.map(({ name, value, source }: Record<string, unknown>) => [name, [value, source]]),
  );
  t.deepEqual(sources.get('workers'), [2, 'flag']);
  t.deepEqual(sources.get('limits.inFlight'), [77, 'environment']);
  t.deepEqual(sources.get('log-level'), ['info', 'default']);
  const json = { origin: url, 'content-type': 'application/json' };
  const body = JSON.stringify({ token: changeToken });
  const signedIn = await ask(url, '/api/v1/session', { method: 'POST', headers: json, body });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0];
  for (let requests = 0; requests < 10; requests++)
    t.is((await ask(url, '/api/v1/session', { headers: { cookie } })).status, 200);
  const headers = { ...json, cookie, 'x-csrf-token': JSON.parse(signedIn.text).csrf };
  t.is((await ask(url, '/api/v1/reload', { method: 'POST', headers, body: '{}' })).status, 200);
  await until(() => ((log().match(/"msg":"reloaded"/g)?.length ?? 0) >= 3 ? true : undefined));
  t.is((await ask(url, '/api/v1/session', { method: 'DELETE', headers })).status, 204);
  for (let requests = 0; requests < 10; requests++)
    t.is((await ask(url, '/api/v1/session', { headers: { cookie } })).status, 401);
  write('tokens.yaml', entries.slice(1));
  child.kill('SIGHUP');
  await until(() => (log().match(/"msg":"reloaded"/g)?.length === 5 ? true : undefined));
  for (let requests = 0; requests < 10; requests++)
    t.is((await ask(url, '/api/v1/pools', { token: readToken })).status, 401);
});
