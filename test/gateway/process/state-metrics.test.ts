import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { stateMetrics } from '../../../gateway/process/state-metrics.ts';
import { type Snapshot, writeSnapshot } from '../../../gateway/telemetry/metrics.ts';
import { startGateway } from '../gateway.ts';

const operation = (name: string) => ({
  get: { operationId: name, responses: { 200: { description: 'done' } } },
});

/** Writes a document with these operations, each at the path of its name. */
function write(file: string, names: readonly string[], version = '1.2.0'): void {
  const paths = Object.fromEntries(names.map((name) => [`/${name}`, operation(name)]));
  writeFileSync(file, JSON.stringify({ openapi: '3.0.3', info: { title: 'Shop', version }, paths }));
}

function gaugeOf(snapshot: Snapshot, name: string): number | undefined {
  return snapshot.find((family) => family.name === name)?.samples[0]?.value;
}

function labelsOf(snapshot: Snapshot, name: string): string | undefined {
  return snapshot.find((family) => family.name === name)?.samples[0]?.labels;
}

async function start(t: ExecutionContext) {
  const folder = mkdtempSync(join(tmpdir(), 'state-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const openapi = join(folder, 'openapi.yaml');
  write(openapi, ['list', 'find', 'count']);
  const gateway = await startGateway(t, { serve: { contract: { openapi } } });
  return { openapi, gateway };
}

test('metrics have the version of the gateway and the hash and version of each contract', async (t) => {
  const { openapi, gateway } = await start(t);
  const { running } = gateway;
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  t.is(labelsOf(running.metrics(), 'build_info'), `version="${version}"`);
  const before = labelsOf(running.metrics(), 'contract_info');
  t.regex(before ?? '', /^contract="\/",hash="[0-9a-f]{16}",version="1\.2\.0"$/);
  await running.reload();
  t.is(labelsOf(running.metrics(), 'contract_info'), before);
  write(openapi, ['list', 'find', 'count', 'more']);
  await running.reload();
  t.not(labelsOf(running.metrics(), 'contract_info'), before);
  const hash = /hash="(\w+)"/.exec(labelsOf(running.metrics(), 'contract_info') ?? '')?.[1];
  t.true(gateway.log().includes(`"hashes":{"/":"${hash}"}`));
});

test('a failed reload sets config_last_reload_successful to 0 and keeps the timestamp', async (t) => {
  const { openapi, gateway } = await start(t);
  const { running } = gateway;
  const started = gaugeOf(running.metrics(), 'config_last_reload_timestamp') ?? 0;
  t.true(Math.abs(started - Date.now() / 1_000) < 600);
  t.is(gaugeOf(running.metrics(), 'config_last_reload_successful'), 1);
  writeFileSync(openapi, 'openapi: [');
  await running.reload();
  t.is(gaugeOf(running.metrics(), 'config_last_reload_successful'), 0);
  t.is(gaugeOf(running.metrics(), 'config_last_reload_timestamp'), started);
  write(openapi, ['list']);
  await running.reload();
  t.is(gaugeOf(running.metrics(), 'config_last_reload_successful'), 1);
  t.true((gaugeOf(running.metrics(), 'config_last_reload_timestamp') ?? 0) > started);
});

test('a reload that removes an operation in use logs its name', async (t) => {
  const { openapi, gateway } = await start(t);
  const call = (name: string) =>
    fetch(`${gateway.running.url}/json/reply/${name}`, { method: 'POST', body: '{}' }).then((reply) =>
      reply.text(),
    );
  await call('find');
  write(openapi, ['list', 'find']);
  await gateway.running.reload();
  t.notRegex(gateway.log(), /reload removed/);
  write(openapi, ['list']);
  await gateway.running.reload();
  const line = gateway
    .log()
    .split('\n')
    .find((each) => each.includes('reload removed'));
  t.like(JSON.parse(line ?? '{}'), { level: 40, contract: '/', operations: ['find'] });
});

test('labels escape the characters of a document version', (t) => {
  const contract = { path: '/', service: 'S', hash: 'h', operations: [], loadedAt: new Date() };
  const version = `a"b\\c\nd${'x'.repeat(200)}`;
  const page = writeSnapshot(stateMetrics([{ ...contract, version }], { isSuccessful: true, loadedAt: 0 }));
  t.true(page.includes(`version="a\\"b\\\\c\\nd${'x'.repeat(93)}"} 1\n`));
});
