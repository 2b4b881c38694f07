import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { checkFiles, clone, readPage, runPage } from './page.ts';

const page = readPage('adopt.md');
const [, overlay = ''] = /^```yaml overlay\n(.*?)^```/ms.exec(page) ?? [];

test('docs/adopt.md: every command works as the page shows', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'adopt-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const orders = join(directory, 'orders');
  const stock = join(directory, 'stock');
  const places = new Map([
    ['--out orders', `--out ${orders}`],
    ['--contract orders', `--contract ${orders}`],
    ['--out stock', `--out ${stock}`],
  ]);
  const result = await runPage(t, page, places, (command) => {
    // the page asks the reader to write the overlay before regenerating the derived document
    if (command.endsWith(' --force')) appendFileSync(join(orders, 'soap.yaml'), overlay);
  });
  t.deepEqual(result, { served: 2, compared: 3 });
  const [, refs = 'refs of the page'] = /^```yaml refs\n(.*?)^```/ms.exec(page) ?? [];
  t.true(readFileSync(join(stock, 'soap.yaml'), 'utf8').includes(refs));
  const copies = [...page.matchAll(/^\| `(docs\/\S+)` \| `(stock\/\S+)` \|$/gm)];
  t.is(copies.length, 2);
  for (const [, from = '', to = ''] of copies)
    t.deepEqual(readFileSync(join(directory, to)), readFileSync(join(clone.folder, from)));
});

test('docs/adopt.md: adopt prints the imported file that is missing, and finds it next to the WSDL', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'adopt-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const adopt = (wsdl: string) =>
    spawnSync(process.execPath, ['bin/soapbridge.js', 'adopt', wsdl, '--out', join(directory, 'out')], {
      cwd: clone.folder,
      encoding: 'utf8',
    });
  const { status, stderr } = adopt('docs/adopt/remote/Stock.wsdl');
  t.is(status, 2);
  const [, printed = 'output of the page'] = /^```sh missing\n[^`]*```\n\n```\n(.*?)^```/ms.exec(page) ?? [];
  t.is(stderr, printed);
  copyFileSync(join(clone.folder, 'docs/adopt/remote/Stock.wsdl'), join(directory, 'Stock.wsdl'));
  copyFileSync(join(clone.folder, 'docs/adopt/schemas/v1/common.xsd'), join(directory, 'another-name.xsd'));
  t.is(adopt(join(directory, 'Stock.wsdl')).status, 0);
});

test('docs/adopt.md names existing files', (t) => {
  checkFiles(t, page);
});
