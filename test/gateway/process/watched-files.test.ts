import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { FileWatch, reloadedFiles } from '../../../gateway/process/watched-files.ts';
import { screeningContract } from '../../../mappings/loader/load.ts';
import { until } from '../../until.ts';
import { type Gateway, send, startGateway } from '../gateway.ts';

/** Files of a mounted Secret, by name. */
type Mounted = Readonly<Record<string, string>>;

const first: Mounted = {
  client: 'first',
  'callers.yaml': 'acme: ["ann"]',
  'limits.yaml': 'each: { rate: 100/h }',
  'secrets.yaml': 'ann: "one"',
};

/**
 * Creates a folder like a mounted Secret: its files are links into the folder `..data`, which is a link, too. Returns
 * the folder, and a function that replaces all files at once, as kubelet does.
 */
function mount(t: ExecutionContext): { readonly folder: string; readonly replace: (files: Mounted) => void } {
  const folder = mkdtempSync(join(tmpdir(), 'mounted-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  let version = 0;
  const replace = (files: Mounted): void => {
    version++;
    const name = `..${version}`;
    mkdirSync(join(folder, name));
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(folder, name, file), text);
      chmodSync(join(folder, name, file), 0o600);
    }
    symlinkSync(name, join(folder, '..next'));
    renameSync(join(folder, '..next'), join(folder, '..data'));
  };
  replace(first);
  for (const file of Object.keys(first)) symlinkSync(`..data/${file}`, join(folder, file));
  return { folder, replace };
}

/** Starts a gateway with a configuration file and all files of the folder. */
async function start(t: ExecutionContext, folder: string): Promise<Gateway> {
  const behind = await startGateway(t);
  const config = join(mkdtempSync(join(tmpdir(), 'config-')), 'soapbridge.yaml');
  const headers = { 'X-Client': { file: join(folder, 'client') } };
  const upstream = { url: `http://127.0.0.1:${behind.port}`, headers };
  writeFileSync(config, JSON.stringify({ contracts: { '/v2': { contract: screeningContract, upstream } } }));
  return startGateway(t, {
    serve: {
      config,
      watchMs: 50,
      wsseSecrets: join(folder, 'secrets.yaml'),
      callerLimits: join(folder, 'limits.yaml'),
      callerFiles: { callers: join(folder, 'callers.yaml') },
    },
  });
}

const isReloaded = (gateway: Gateway): boolean => gateway.log().includes('"msg":"reloaded"');

/** Repeats a change until it is loaded, because a change before the first check of a file is not noticed. */
async function changeUntilReloaded(t: ExecutionContext, gateway: Gateway, change: () => void): Promise<void> {
  change();
  const repeated = setInterval(change, 500);
  t.teardown(() => clearInterval(repeated));
  await until(() => isReloaded(gateway));
  clearInterval(repeated);
}

test('a caller has a new name and a new limit after the mounted files change', async (t) => {
  const { folder, replace } = mount(t);
  const gateway = await start(t, folder);
  const call = (): Promise<number> =>
    send(
      gateway.port,
      'POST',
      '/v2/json/reply/GetSearch',
      { 'X-Api-User': 'ann', 'X-Api-Key': 'k' },
      '{',
    ).then(({ status }) => status);
  t.is(await call(), 400);
  const next = { ...first, 'callers.yaml': 'other-co: ["ann"]', 'limits.yaml': 'each: { rate: 3/h }' };
  await changeUntilReloaded(t, gateway, () => replace(next));
  t.deepEqual([await call(), await call(), await call()], [400, 400, 429]);
  const callers = new Set([...gateway.log().matchAll(/"caller":"([\w-]+)"/g)].map(([, name]) => name));
  t.deepEqual([...callers], ['acme', 'other-co']);
});

for (const file of ['client', 'callers.yaml', 'limits.yaml', 'secrets.yaml']) {
  test(`a change of only ${file} is loaded without a signal`, async (t) => {
    const { folder } = mount(t);
    const gateway = await start(t, folder);
    t.false(isReloaded(gateway));
    await changeUntilReloaded(t, gateway, () => writeFileSync(join(folder, file), `${first[file]} `));
    t.regex(gateway.log(), /secrets, callers or limits changed: reloading/);
  });
}

test('the upstream gets the new secret', async (t) => {
  const { folder, replace } = mount(t);
  const behind = await startGateway(t);
  const config = join(folder, 'soapbridge.yaml');
  const upstreamUrl = await behind
    .send('POST', '/json/reply/GetSearch', { 'X-Api-User': 'u', 'X-Api-Key': 'k' }, '{}')
    .then(() => `http://${behind.hits[0]?.headers.host}`);
  const upstream = { url: upstreamUrl, headers: { 'X-Client': { file: 'client' } } };
  writeFileSync(config, JSON.stringify({ contracts: { '/v2': { contract: screeningContract, upstream } } }));
  const gateway = await startGateway(t, { serve: { config, watchMs: 50 } });
  const sent = async (): Promise<unknown> => {
    await gateway.send('POST', '/json/reply/GetSearch', { 'X-Api-User': 'u', 'X-Api-Key': 'k' }, '{}');
    return behind.hits.at(-1)?.headers['x-client'];
  };
  t.is(await sent(), 'first');
  await changeUntilReloaded(t, gateway, () => replace({ ...first, client: 'second' }));
  t.is(await sent(), 'second');
});

test('an invalid file keeps the previous ones, and a corrected file replaces them', async (t) => {
  const { folder, replace } = mount(t);
  const gateway = await start(t, folder);
  const isSuccessful = (): number | undefined =>
    gateway.running.metrics().find(({ name }) => name === 'config_last_reload_successful')?.samples[0]?.value;
  const change = setInterval(() => replace({ ...first, 'limits.yaml': 'each: { rate: fast }' }), 500);
  t.teardown(() => clearInterval(change));
  await until(() => isSuccessful() === 0);
  clearInterval(change);
  t.regex(gateway.log(), /not reloaded: serving the previous contracts/);
  replace({ ...first, 'limits.yaml': 'each: { rate: 5/h }' });
  await until(() => isSuccessful() === 1);
  t.pass();
});

test('the files that are loaded again are those of options, tokens, secrets and TLS towards upstreams', (t) => {
  const at = (name: string, value: unknown) => ({ name, value, source: 'file' });
  const options = { config: '/etc/soapbridge.yaml', wsseSecrets: 'a', callerFiles: { callerKey: 'b' } };
  t.deepEqual(
    reloadedFiles(options, [
      at('/contracts/~1v2/openapi', 'openapi.yaml'),
      at('/tls/certificate', 'own.pem'),
      at('/admin/tokens', 'tokens.yaml'),
      at('/contracts/~1v2/upstream/headers/X', { file: 'x' }),
      at('/contracts/~1v2/upstream/headers/Y', '***'),
      at('/contracts/~1v2/upstream/basic/password', { file: '/run/x' }),
      at('/contracts/~1v3/upstream/basic/password', { file: '/run/x' }),
      at('/contracts/~1v2/upstream/tls/ca', 'ca.pem'),
      at('/contracts/~1v2/legacy/tls/ca', 'old-ca.pem'),
      at('/contracts/~1v2/legacy/tls/certificate', 'old.pem'),
      at('/contracts/~1v2/legacy/tls/key', 'old.key'),
      at('/contracts/~1v2/upstream/tls/serverName', 'ca'),
      at('/contracts/~1v2/upstream/url', 'https://a'),
    ]),
    [
      'a',
      'b',
      '/etc/tokens.yaml',
      '/etc/x',
      '/run/x',
      '/etc/ca.pem',
      '/etc/old-ca.pem',
      '/etc/old.pem',
      '/etc/old.key',
    ],
  );
});

test('a change between reading and watching, or before the list of files changes, is not lost', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [one, two] = [join(folder, 'one'), join(folder, 'two')];
  writeFileSync(one, '1');
  let changes = 0;
  const files = new FileWatch(20, () => changes++);
  t.teardown(() => files.close());
  files.beginReading([one]);
  files.addRead([one, two]);
  writeFileSync(one, '12');
  files.watch([one]);
  await until(() => changes === 1);
  files.beginReading([one]);
  files.addRead([two]);
  writeFileSync(two, 'created');
  files.watch([one, two]);
  await until(() => changes === 2);
  files.beginReading([one, two]);
  files.watch([two]);
  await pause(200);
  t.is(changes, 2);
});
