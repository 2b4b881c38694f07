import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { run } from '../gateway/commands/run.ts';
import { folderOf } from '../gateway/store/opened.ts';
import { headers, message, path, results, startComparing, zip } from './comparing.ts';
import type { SiteOptions } from './scenario.ts';

/** Options of a gateway with a store in a folder. */
function withStore(folder: string, more: Partial<SiteOptions> = {}): Partial<SiteOptions> {
  const callerKey = join(folder, 'key');
  const callers = join(folder, 'callers.yaml');
  writeFileSync(callerKey, '0123456789abcdef');
  writeFileSync(callers, JSON.stringify({ acme: ['acme'] }));
  return {
    root: { store: `sqlite:${join(folder, 'store.db')}` },
    serve: { callerFiles: { callers, callerKey } },
    ...more,
  };
}

const differing = '{"FileDataHandler":"UEsDBQ=="}';

async function startDiffering(t: ExecutionContext, folder: string, more?: Partial<SiteOptions>) {
  const site = await startComparing(t, {}, withStore(folder, more));
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: differing };
  return site;
}

const call = (caller?: string) => ({ path, headers, body: message('GRANT8'), caller });

test('G53: the store has the findings, and `report` reads them', async (t) => {
  const folder = folderOf(t);
  for (let start = 1; start <= 2; start++) {
    const site = await startDiffering(t, folder);
    t.is((await site.send(call('acme'))).status, 200);
    t.deepEqual(await results(site, 1), ['different']);
    await site.running.stop(0);
  }
  const store = `sqlite:${join(folder, 'store.db')}`;
  const { code, out } = await run(t, ['report', '--store', store, '--format', 'json']).ended;
  t.is(code, 0);
  const report = JSON.parse(out);
  const operation = report.operations.find(({ operation: name }: { operation: string }) => name === zip);
  t.like(operation, { verdict: 'different', calls: 2, callers: 1 });
  t.like(operation.findings[0], { count: 2, state: 'different' });
  t.is(operation.findings[0].examples[0].caller, 'acme');
});
