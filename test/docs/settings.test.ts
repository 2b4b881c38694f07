import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readTokens } from '../../gateway/admin/tokens.ts';
import { readCallerLimits } from '../../gateway/process/caller-limits-file.ts';
import { readCallers } from '../../gateway/process/callers-file.ts';
import { readConfig, readListenerPlan, readStore } from '../../gateway/process/config.ts';
import { createAuthority } from '../gateway/certificates.ts';
import { readPage } from './page.ts';

const [limits = ''] = settingsOf('limits.md');
const [listener = '', upstream = '', callers = ''] = settingsOf('credentials.md');
const [several = ''] = settingsOf('commands.md');
const [sqlite = '', postgres = ''] = settingsOf('store.md');
const [addresses = '', admin = '', tokens = ''] = settingsOf('operations.md');

function settingsOf(page: string): readonly string[] {
  return [...readPage(page).matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
}

function folder(t: ExecutionContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'settings-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  return directory;
}

function written(t: ExecutionContext, text: string): string {
  const file = join(folder(t), 'settings.yaml');
  writeFileSync(file, text);
  return file;
}

test('docs/limits.md: the gateway reads the example of limits per caller', (t) => {
  const { rulesOf } = readCallerLimits(written(t, limits));
  t.notDeepEqual(rulesOf('/library'), rulesOf('/v2'));
});

test('docs/operations.md: the gateway reads the settings of the admin listener and its tokens', (t) => {
  const file = written(t, admin);
  const { certFile, keyFile } = createAuthority(t);
  for (const name of ['admin.pem', 'clients-ca.pem']) copyFileSync(certFile, join(file, '..', name));
  copyFileSync(keyFile, join(file, '../admin.key'));
  const list = join(file, '../tokens.yaml');
  writeFileSync(list, tokens);
  chmodSync(list, 0o600);
  t.is(readListenerPlan(file, false).admin?.port, 9090);
  t.deepEqual(
    readTokens(list, true).map(({ name }) => name),
    ['ann', 'prometheus'],
  );
});

test('docs/operations.md: the gateway reads the addresses of an upstream', (t) => {
  const [plan] = readConfig(written(t, addresses));
  t.deepEqual(plan?.upstream?.connection, {
    addresses: [
      { url: 'http://10.0.0.1:8080/api', weight: 2 },
      { url: 'http://10.0.0.2:8080/api', weight: 1 },
    ],
    healthCheck: { path: '/healthz', everyMs: 5_000 },
    maxConnectionAgeMs: 300_000,
  });
});

test('docs/store.md: the gateway reads the settings of a store', (t) => {
  const place = folder(t);
  const file = written(t, sqlite.replace('/var/lib/soapbridge', place));
  t.is(readStore(file, true)?.url, `sqlite:${place}/store.db`);
  t.like(readConfig(file)[0]?.legacy, { url: 'https://legacy.internal.example' });
  const password = join(place, 'password');
  writeFileSync(password, 'secret');
  const url = readStore(written(t, postgres.replace('/run/secrets/store-password', password)), true)?.url;
  t.is(url, 'postgres://soapbridge:secret@db.internal.example/soapbridge?sslmode=verify-full');
});

test('docs/credentials.md: the gateway reads the names of callers', (t) => {
  const file = written(t, callers);
  const callerKey = join(file, '../caller.key');
  writeFileSync(callerKey, 'x'.repeat(32));
  t.notThrows(() => readCallers({ callers: file, callerKey }));
});

test('docs/credentials.md: the gateway reads the TLS settings for callers', (t) => {
  const file = written(t, listener);
  const { tls, clientCertificate } = readListenerPlan(file, false);
  t.like(tls, { clientCertificates: 'require', minVersion: 'TLSv1.3' });
  t.like(clientCertificate, { header: 'X-Api-User', from: 'san' });
});

test.serial('docs/credentials.md: the gateway reads the settings for an upstream', (t) => {
  const secrets = folder(t);
  const file = written(t, upstream.replaceAll('/run/secrets', secrets));
  for (const name of ['key', 'client']) writeFileSync(join(secrets, name), 'secret\n');
  const { certFile, keyFile } = createAuthority(t);
  copyFileSync(certFile, join(file, '../ca.pem'));
  copyFileSync(certFile, join(file, '../gateway.pem'));
  copyFileSync(keyFile, join(file, '../gateway.key'));
  mkdirSync(join(file, '../parcels'));
  process.env.PARCELS_KEY = 'own';
  t.teardown(() => delete process.env.PARCELS_KEY);
  const [plan] = readConfig(file);
  t.is(plan?.upstreamUrl, 'https://parcels.internal.example/api');
  t.like(plan?.upstream, { headers: { 'x-gateway-key': 'own' }, query: 'key=secret' });
  t.is(plan?.upstream?.oauth?.clientSecret, 'secret');
  t.deepEqual(plan?.limits, { upstreamFirstByteMs: 5_000, upstreamConnections: 16 });
});

test('docs/commands.md: the gateway reads the example of several contracts', (t) => {
  const plans = readConfig(written(t, several));
  t.deepEqual(
    plans.map(({ basePath, upstreamUrl }) => [basePath, upstreamUrl]),
    [
      ['/parcels', 'https://parcels.internal.example'],
      ['/screening', 'https://screening.internal.example/api'],
    ],
  );
});
