import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { run } from '../gateway/commands/run.ts';
import { readPage, runPage } from './page.ts';

const root = join(import.meta.dirname, '../..');
const [, example = ''] = readPage('upgrading.md').split('\n## ');
const npx = /^npx soapbridge/gm;

test('docs/upgrading.md: the comparison of two versions runs, and shows a change of the WSDL', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'upgrading-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(root, 'docs'), join(folder, 'docs'));
  const own = `'${process.execPath}' '${root}/bin/soapbridge.js'`;
  const lineOf = (command: string) => `set -e\n${command.replaceAll(npx, own)}`;
  const place = { folder, environment: {}, lineOf };
  t.deepEqual(await runPage(t, example, new Map(), undefined, place), { served: 0, compared: 1 });

  const after = join(folder, 'after/service.wsdl');
  writeFileSync(after, readFileSync(after, 'utf8').replaceAll('name="isbn"', 'name="code"'));
  const { code, out } = await run(t, ['diff', join(folder, 'before'), join(folder, 'after')]).ended;
  t.is(code, 1);
  t.regex(out, /^breaking +Loan in requests, isbn: /m);
});
