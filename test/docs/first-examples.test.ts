import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readPage, runPage } from './page.ts';

const root = join(import.meta.dirname, '../..');
const bin = `exec '${process.execPath}' '${root}/bin/soapbridge.js'`;

for (const name of ['operations.md', 'limits.md', 'credentials.md', 'pages.md', 'scale.md', 'security.md']) {
  test(`docs/${name}: the first example runs in an empty folder`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'example-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const lineOf = (command: string) => command.replace(/^npx soapbridge/, bin);
    const [example = ''] = readPage(name).split('\n## ');
    const { served } = await runPage(t, example, new Map(), undefined, { folder, environment: {}, lineOf });
    t.is(served, 1);
  });
}

for (const [name, counts] of [
  ['attachments.md', { served: 0, compared: 1 }],
  ['contract.md', { served: 1, compared: 0 }],
  ['openapi-to-soap.md', { served: 0, compared: 0 }],
  ['derived-openapi.md', { served: 0, compared: 0 }],
  ['commands.md', { served: 0, compared: 0 }],
  ['configuration.md', { served: 1, compared: 1 }],
] as const) {
  test(`docs/${name}: the first example runs in a clone`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'example-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const [example = ''] = readPage(name).split('\n## ');
    const places = new Map([['--out orders', `--out ${join(folder, 'orders')}`]]);
    t.deepEqual(await runPage(t, example, places), counts);
  });
}
