import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { run } from '../gateway/commands/run.ts';
import { readPage, runPage } from './page.ts';

const page = readPage('mapping.md');

test('docs/mapping.md: every command on the example prints what the page shows', async (t) => {
  t.deepEqual(await runPage(t, page, new Map()), { served: 0, compared: 3 });
});

test('docs/mapping.md: the mapping with parameters makes the call and the reply of the page', async (t) => {
  const [, section = ''] = page.split('\n## Path, query, headers and lists\n');
  const block = (fence: string): string =>
    new RegExp(`^\`\`\`${fence}\\n(.*?)^\`\`\`$`, 'ms').exec(section)?.[1] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'mapping-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  cpSync(new URL('parameters-mapping/', import.meta.url), folder, { recursive: true });
  writeFileSync(join(folder, 'mapping.yaml'), block('yaml'));
  const call = await run(t, ['translate', '--contract', folder], {}, block('xml')).ended;
  const [, expected = ''] = section.split('\n```\nGET ');
  t.true(call.out.startsWith(`GET ${expected.split('\n```')[0]}\n`), call.out + call.err);
  const answer =
    '{"display_name":"Ann","phones":["1","2"],"address":"Main St","orders":[{"id":"A1"},{"id":"A2"}]}';
  const toXml = ['translate', '--contract', folder, '--to', 'xml', '--operation', 'GetCustomer'];
  const reply = await run(t, toXml, {}, answer).ended;
  t.regex(
    reply.out.replaceAll('n0:', ''),
    /<Name>Ann<\/Name><Phone>1<\/Phone><Address>Main St<\/Address><Order><Number>A1<\/Number><\/Order><Order><Number>A2</,
  );
});
