import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { run } from '../gateway/commands/run.ts';
import { readPage } from './page.ts';

const page = readPage('contract.md');
const all = [...page.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)];
/** Returns the page's code blocks with this fence, in order. */
const blocks = (fence: string): readonly string[] =>
  all.filter(([, said]) => said === fence).map(([, , text = '']) => text);
const [openapi = ''] = blocks('yaml openapi');
const [overlay = ''] = blocks('yaml overlay');
const [request = '', reply = ''] = blocks('xml');
const [, holds = '', problems = ''] = blocks('');

/** Creates the folder of the page's contract in a temporary folder. */
function contractFolder(t: ExecutionContext, document = openapi, soap = overlay): string {
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const folder = join(directory, 'parcels');
  mkdirSync(folder);
  writeFileSync(join(folder, 'openapi.yaml'), document);
  writeFileSync(join(folder, 'soap.yaml'), soap);
  return folder;
}

test('docs/contract.md: check prints the result of the example', async (t) => {
  const { code, out } = await run(t, ['check', '--contract', contractFolder(t)]).ended;
  t.is(code, 0);
  t.is(out, holds);
});

test('docs/contract.md: the example call gives the upstream request and the reply on the page', async (t) => {
  const translate = ['translate', '--contract', contractFolder(t)];
  const call = await run(t, [...translate, '--header', 'X-Api-Key: k'], {}, request).ended;
  t.regex(call.out, /^GET \/parcels\/A%201\n(?:.*\n)*x-api-key: k\n/);
  const json = '{"to":"Zo\u00eb","grams":250,"marks":["fragile"]}';
  const back = [...translate, '--to', 'xml', '--operation', 'TrackParcel'];
  const { out } = await run(t, back, {}, json).ended;
  t.true(out.includes(reply.trimEnd()), out);
});

test('docs/contract.md: check prints the problems on the page', async (t) => {
  const folder = contractFolder(
    t,
    openapi.replace('schemas/Parcel"', 'schemas/Parsel"'),
    `${overlay}routes: { GET /parcels: ListParcels }\n`,
  );
  const { code, err } = await run(t, ['check', '--contract', folder]).ended;
  t.is(code, 2);
  t.is(err.replaceAll(join(folder, '..', '/'), ''), `errors in the contract or the settings:\n${problems}`);
});
