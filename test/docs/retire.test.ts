import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import { parse } from 'yaml';
import { startSite } from '../migration/scenario.ts';

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
