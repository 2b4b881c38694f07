import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { startSite } from '../migration/scenario.ts';
import { checkFiles, clone, run, type Served, serve, stepsOf } from './page.ts';

const page = readFileSync(new URL('../../docs/retire.md', import.meta.url), 'utf8');

/** Returns the settings of docs/retire.md: the first YAML block, with the keys of the other blocks. */
function settings(): { readonly contracts: Record<string, { readonly migration: object }> } {
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text);
  return parse(blocks.filter((text) => !text.startsWith('store')).join(''));
}

test('docs/retire.md: the gateway reads the settings, and sends the headers of the page', async (t) => {
  const { migration } = settings().contracts['/parcels'] ?? {};
  const site = await startSite(t, {
    contract: resolve('test/fixtures/contracts/parcels'),
    config: { migration },
    callers: ['acme'],
  });
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  const headers = { 'content-type': 'application/json', 'x-api-key': 'k' };
  const reply = await site.send({ path: '/json/reply/TrackParcel', headers, body: '{"number":"1"}' });
  const [, shown = ''] = /```\n(Deprecation: .*?)```/s.exec(page) ?? [];
  for (const line of shown.trimEnd().split('\n')) {
    const name = line.slice(0, line.indexOf(':'));
    t.is(String(reply.headers[name.toLowerCase()]), line.slice(name.length + 2));
  }
});

/** Replaces times, pseudonyms, versions and widths of columns, which differ in each run. */
function steady(printed: string): string {
  return printed
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/(?<= )[\w-]{16}(?= )/g, 'CALLER')
    .replace(/curl\/\S+/g, 'curl')
    .replace(/ +/g, ' ')
    .trimEnd();
}

test('docs/retire.md: the example counts calls, and `usage` prints them as the page shows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'retire-example-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of ['examples/retire', 'docs/tutorial'])
    cpSync(part, join(folder, part), { recursive: true });
  const place = { ...clone, folder };
  const config = join(folder, 'examples/retire/soapbridge.yaml');
  let gateway: Served | undefined;
  let compared = 0;
  for (const { command, serves, prints } of stepsOf(page)) {
    if (serves && command.includes('upstream.mjs')) {
      const { port } = await serve(t, command, { ...place, environment: { PORT: '0' } });
      writeFileSync(config, readFileSync(config, 'utf8').replace('9090', port));
    } else if (serves) gateway = await serve(t, `${command} --port 0`, place);
    else {
      if (command.includes(' usage ')) await gateway?.stop();
      const { out, code } = await run(t, command.replaceAll('8080', gateway?.port ?? '8080'), place);
      t.is(code, 0, command);
      if (prints === undefined) continue;
      t.is(steady(out), steady(prints));
      compared++;
    }
  }
  t.is(compared, 1);
});

test('docs/retire.md names existing files', (t) => {
  checkFiles(t, page);
});
