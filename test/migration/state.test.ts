import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { EvidenceData } from '../../gateway/migration/evidence.ts';
import { readEvidencePlan } from '../../gateway/migration/evidence-settings.ts';
import { EvidenceStore } from '../../gateway/migration/evidence-store.ts';
import {
  type EvidenceSettings,
  readState,
  type State,
  writeState,
} from '../../gateway/migration/state-file.ts';
import type { LegacyPlan } from '../../gateway/process/legacy-plan.ts';
import { start } from '../gateway/commands/run.ts';
import { until } from '../until.ts';
import { contractFolder, startSite } from './scenario.ts';

const reads = ['GetSubmissionList', 'GetOpportunityList', 'GetApplicationZip'];

function folderOf(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-state-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function settingsOf(state: string | undefined, contract = '/'): EvidenceSettings {
  const ready = { calls: 1, callers: 1, days: 7, unanswered: 0.01 };
  return { contract, ready, state, maxFindings: 100, reads: ['GetSubmissionList'], dated: [] };
}

function dataOf(equal: number): EvidenceData {
  const counts = { equal, explained: 0, different: 0, more: 0, unanswered: 0, noisePairs: 0 };
  const more = { replaced: 0, replacedLast: 0, first: 1, callers: [7], legacyMs: { 40: equal }, newMs: {} };
  const finding = {
    operation: 'GetSubmissionList',
    path: 'Item[].Status',
    kind: 'value' as const,
    ...{ count: 2, calls: 1, noise: 0, first: 1, last: 2, callers: [7] },
    examples: [{ path: 'Item[0].Status', class: 'case', legacy: 'a', new: 'A', requestId: 'r1', at: 1 }],
  };
  return { operations: [{ operation: 'GetSubmissionList', ...counts, ...more }], findings: [finding] };
}

const silent = { info: () => {}, warn: () => {}, error: () => {} };

test('G48: the store merges evidence, and writes it atomically for its owner only', async (t) => {
  const folder = folderOf(t);
  const state = join(folder, 'state.json');
  writeFileSync(`${state}.${process.pid}.part`, 'of a killed process', { mode: 0o644 });
  writeFileSync(state, '', { mode: 0o644 });
  const store = new EvidenceStore(silent);
  store.add([{ settings: settingsOf(state), data: dataOf(3) }]);
  store.add([{ settings: settingsOf(state), data: dataOf(4) }]);
  await Promise.all([store.save(), store.save()]);
  t.is(statSync(state).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(folder), ['state.json']);
  const read = readState(state);
  t.like(read, {
    format: 'soapbridge migration state',
    version: 1,
    contract: '/',
    reads: ['GetSubmissionList'],
  });
  t.like(read?.operations[0], { equal: 7, legacyMs: { 40: 7 }, callers: [7] });
  t.like(read?.findings[0], { count: 4, calls: 2 });
  t.is(read?.findings[0]?.examples.length, 2);
});

test('G48: a write that the file system takes only in part leaves the file as it was', async (t) => {
  const state = join(folderOf(t), 'state.json');
  const blockBytes = 512;
  const settingsTo = (padding: number) => settingsOf(state, `/${'a'.repeat(padding)}`);
  await writeState(state, settingsTo(0), dataOf(1));
  // the last two bytes of the new file are in a block that the process must not write
  const padding = blockBytes + 2 - (statSync(state).size % blockBytes);
  const blocks = Math.floor((statSync(state).size + padding) / blockBytes);
  writeFileSync(state, 'before');
  const code = `import { writeState } from '${new URL('../../gateway/migration/state-file.ts', import.meta.url)}';
    await writeState('${state}', ${JSON.stringify(settingsTo(padding))}, ${JSON.stringify(dataOf(1))})
      .then(() => console.log('written'), ({ code }) => console.log(code));`;
  const { NODE_COMPILE_CACHE: _, NODE_V8_COVERAGE: __, ...env } = process.env;
  const run = promisify(execFile);
  const outputOf = async (most: number): Promise<string> => {
    const command = `ulimit -f ${most}; exec "$0" --input-type=module --eval "$1"`;
    return (await run('sh', ['-c', command, process.execPath, code], { env })).stdout.trim();
  };
  t.is(await outputOf(blocks), 'EFBIG');
  t.is(readFileSync(state, 'utf8'), 'before');
  t.is(await outputOf(blocks + 1), 'written');
  t.is(readState(state)?.operations[0]?.equal, 1);
});

test('G48: a new store continues from the file', async (t) => {
  const state = join(folderOf(t), 'state.json');
  for (let start = 1; start <= 2; start++) {
    const store = new EvidenceStore(silent, () => 1);
    store.add([{ settings: settingsOf(state), data: dataOf(5) }]);
    await store.save();
    t.is(readState(state)?.operations[0]?.equal, 5 * start);
    const [family] = store.read();
    const labels = 'contract="/",operation="GetSubmissionList",verdict="different"';
    t.deepEqual(
      family?.samples.filter(({ value }) => value === 1).map((one) => one.labels),
      [labels],
    );
  }
});

test('G48: without new evidence the file is not written again', async (t) => {
  const state = join(folderOf(t), 'state.json');
  const store = new EvidenceStore(silent);
  const part = { settings: settingsOf(state), data: undefined };
  store.add([part]);
  await store.save();
  rmSync(state);
  store.add([part]);
  await store.save();
  t.is(readState(state), undefined);
  store.add([{ ...part, settings: { ...part.settings, reads: [] } }]);
  await store.save();
  t.deepEqual(readState(state)?.reads, []);
});

test('G48: a failed write is logged once a minute, and the evidence stays in memory', async (t) => {
  const folder = folderOf(t);
  const inside = join(folder, 'inside');
  mkdirSync(inside);
  const state = join(inside, 'state.json');
  const lines: object[] = [];
  const store = new EvidenceStore({ ...silent, error: (fields) => lines.push(fields) });
  store.add([{ settings: settingsOf(state), data: dataOf(1) }]);
  rmSync(inside, { recursive: true });
  await store.save();
  await store.save();
  t.is(lines.length, 1);
  t.like(lines[0], { contract: '/', state, code: 'ENOENT' });
  store.add([{ settings: settingsOf(join(inside, 'other.json'), '/other'), data: undefined }]);
  await store.save();
  t.is(lines.length, 2);
  mkdirSync(inside);
  await store.save();
  t.is(readState(state)?.operations[0]?.equal, 1);
});

test('G51: verdicts of contracts that are not served any more are no metrics', (t) => {
  const store = new EvidenceStore(silent);
  const [one, other] = ['/one', '/other'].map((path) => ({
    settings: settingsOf(undefined, path),
    data: undefined,
  }));
  t.truthy(one && other);
  if (one === undefined || other === undefined) return;
  store.add([one, other]);
  t.is(store.read()[0]?.samples.length, 8);
  store.add([other]);
  t.true(store.read()[0]?.samples.every(({ labels }) => labels.startsWith('contract="/other"')));
});

function problemsOf(stated: LegacyPlan['stated'], file = '/none/soapbridge.yaml'): readonly string[] {
  const problems: string[] = [];
  const plan = { file, at: '/contracts/~1', stated } as LegacyPlan;
  readEvidencePlan(plan, '/', (pointer, message) => problems.push(`${pointer}: ${message}`));
  return problems;
}

test('G3: `ready` and `state` are checked', (t) => {
  const at = '/contracts/~1/migration';
  const folder = folderOf(t);
  const file = join(folder, 'soapbridge.yaml');
  t.deepEqual(problemsOf({ ready: { calls: 5, unanswered: '1 in 20' }, state: 'state.json' }, file), []);
  for (const unanswered of ['0%', '101%', 'x', '2 in 1'])
    t.regex(problemsOf({ ready: { unanswered } })[0] ?? '', /ready\/unanswered: expected a share such as 1%/);
  const missing = join(folder, 'missing', 'state.json');
  t.deepEqual(problemsOf({ state: 'missing/state.json' }, file), [
    `${at}/state: expected a file in a folder that exists and is writable, got ${missing}`,
  ]);
  t.deepEqual(problemsOf({ state: '.' }, file), [
    `${at}/state: ${folder}: expected a readable file, got EISDIR`,
  ]);
});

test('G48: a damaged or foreign state file is a configuration error that names the file', async (t) => {
  const folder = folderOf(t);
  const state = join(folder, 'state.json');
  const store = new EvidenceStore(silent);
  store.add([{ settings: settingsOf(state), data: dataOf(1) }]);
  await store.save();
  const whole = readFileSync(state, 'utf8');
  const problemOf = (text: string): string | undefined => {
    writeFileSync(state, text);
    return problemsOf({ state }, join(folder, 'soapbridge.yaml'))[0];
  };
  const changed = (change: (root: State) => object): string => JSON.stringify(change(JSON.parse(whole)));
  t.is(problemOf(whole), undefined);
  t.is(problemOf(''), undefined);
  const at = `/contracts/~1/migration/state: ${state}: expected`;
  t.is(problemOf(whole.slice(0, -5)), `${at} a migration state, got a file that is not JSON`);
  for (const foreign of ['[]', '{}', '7', 'null'])
    t.is(problemOf(foreign), `${at} a migration state, got another JSON document`);
  t.is(
    problemOf(changed((root) => ({ ...root, version: 2 }))),
    `${at} a migration state of version 1, got another version`,
  );
  t.is(
    problemOf(changed((root) => ({ ...root, contract: '/x' }))),
    `${at} the migration state of /, got that of "/x"`,
  );
  const damages: readonly ((root: State) => object)[] = [
    (root) => ({ ...root, operations: undefined }),
    (root) => ({ ...root, findings: {} }),
    (root) => ({ ...root, ready: { calls: 1 } }),
    (root) => ({ ...root, dated: [{ reason: 'x' }] }),
    (root) => ({ ...root, operations: [{ ...root.operations[0], equal: '1' }] }),
    (root) => ({ ...root, operations: [{ ...root.operations[0], callers: ['x'] }] }),
    (root) => ({ ...root, operations: [{ ...root.operations[0], legacyMs: { x: 1 } }] }),
    (root) => ({ ...root, findings: [{ ...root.findings[0], last: -1 }] }),
    (root) => ({ ...root, findings: [{ ...root.findings[0], reason: 1 }] }),
    (root) => ({ ...root, findings: [{ ...root.findings[0], examples: [{ path: 'x' }] }] }),
  ];
  for (const damage of damages)
    t.is(problemOf(changed(damage)), `${at} a migration state, got a damaged one`);
});

test('G48: a reload reads only state files that are new for their contract', async (t) => {
  const folder = folderOf(t);
  const [state, other] = [join(folder, 'state.json'), join(folder, 'other.json')];
  const site = await startSite(t, { contract: contractFolder('contracts/agency'), config: config(state) });
  const reloaded = async (file: string): Promise<boolean> => {
    const before = site.log().filter(({ msg, message }) => (msg ?? message) === 'reloaded').length;
    await site.reconfigure(config(file));
    return site.log().filter(({ msg, message }) => (msg ?? message) === 'reloaded').length > before;
  };
  for (const file of [state, other]) writeFileSync(file, 'damaged');
  t.true(await reloaded(state));
  t.false(await reloaded(other));
  t.true(await reloaded(state));
  rmSync(folder, { recursive: true });
  t.false(await reloaded(state));
});

const rule = { path: 'AvailableApplicationNumber', ignore: true, reason: 'counts differ' };

function config(state: string) {
  const compare = {
    rules: [
      { ...rule, until: '2026-10-01T00:00:00Z' },
      { ...rule, reason: 'for good' },
    ],
  };
  return { legacy: { url: '{legacy}' }, migration: { state, ready: { calls: 1 }, compare } };
}

test('G48: one process continues from the file, and writes it when it stops', async (t) => {
  const state = join(folderOf(t), 'state.json');
  const store = new EvidenceStore(silent);
  store.add([{ settings: settingsOf(state), data: dataOf(2) }]);
  await store.save();
  const { running } = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: config(state),
  });
  const verdicts = running.metrics().find(({ name }) => name === 'migration_verdict');
  t.deepEqual(
    verdicts?.samples.filter(({ value }) => value === 1).map(({ labels }) => labels),
    reads.map((operation, index) => {
      const verdict = index === 0 ? 'collecting' : 'none';
      return `contract="/",operation="${operation}",verdict="${verdict}"`;
    }),
  );
  await running.stop(0);
  const read = readState(state);
  t.deepEqual(read?.reads, reads);
  t.deepEqual(read?.dated, [{ reason: 'counts differ', until: Date.UTC(2026, 9, 1) }]);
  t.like(read?.operations[0], { operation: 'GetSubmissionList', equal: 2 });
});

test('G48: several workers continue from the file, and the primary writes it when they stop', async (t) => {
  const folder = folderOf(t);
  const state = join(folder, 'state.json');
  const store = new EvidenceStore(silent);
  store.add([{ settings: settingsOf(state), data: dataOf(2) }]);
  await store.save();
  const file = join(folder, 'soapbridge.yaml');
  const contract = contractFolder('contracts/agency');
  const { legacy, ...more } = { ...config('state.json'), upstream: 'http://127.0.0.1:9' };
  const all = { contract, legacy: 'http://127.0.0.1:9', ...more };
  writeFileSync(file, JSON.stringify({ contracts: { '/': all } }));
  const { child, ended } = await start(t, ['--config', file, '--workers', '2', '--drain-delay', '0']);
  child.kill('SIGTERM');
  t.is((await ended).code, 0);
  const read = readState(state);
  t.deepEqual(read?.reads, reads);
  t.is(read?.operations[0]?.equal, 2);
});

test('G48: the primary adds the evidence of its workers; a killed worker loses only new evidence', async (t) => {
  const state = join(folderOf(t), 'state.json');
  const primary = fork(
    join(import.meta.dirname, 'evidence-primary.ts'),
    [JSON.stringify(settingsOf(state))],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  );
  t.teardown(() => primary.kill('SIGKILL'));
  const equal = (): number => readState(state)?.operations[0]?.equal ?? 0;
  // each of the two workers has compared one call at its start
  await until(() => equal() === 2);
  primary.send('add 10 and kill');
  await once(primary, 'message');
  primary.send('add 100');
  await until(() => equal() === 102);
  primary.send('add 1000 and stop');
  await once(primary, 'exit');
  t.is(equal(), 1_102);
});
