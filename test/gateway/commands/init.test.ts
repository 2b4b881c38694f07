import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { readContract, schemaFiles } from '../../../mappings/loader/load.ts';
import { file } from './file.ts';
import { run } from './run.ts';

const openapi = fileURLToPath(new URL('../../fixtures/contracts/parcels/openapi.yaml', import.meta.url));

/** Copies the document and runs init on it. Returns the paths of the copy and the overlay. */
async function init(t: ExecutionContext): Promise<{ readonly document: string; readonly overlay: string }> {
  const document = file(t, '');
  copyFileSync(openapi, document);
  const { code, out, err } = await run(t, ['init', '--openapi', document]).ended;
  t.deepEqual([code, err], [0, '']);
  const overlay = join(dirname(document), 'soap.yaml');
  t.true(out.startsWith(`wrote ${overlay}`));
  return { document, overlay };
}

test('init writes an overlay that changes nothing', async (t) => {
  const { document, overlay } = await init(t);
  const alone = readContract({ openapi: document, overlay: undefined }).contract;
  t.deepEqual(readContract({ openapi: document, overlay }).contract, alone);
});

test('each line that init comments out is the default of its key', async (t) => {
  const { document, overlay } = await init(t);
  const alone = readContract({ openapi: document, overlay: undefined }).contract;
  const text = readFileSync(overlay, 'utf8');
  const examples = ['credentials', 'routes', 'upstreamTimeZone', 'wsse'];
  const keys = [...text.matchAll(/^# (\w+):(?: .*)?(?:\n# {2,}.*)*$/gm)].filter(
    ([, key = '']) => !examples.includes(key),
  );
  t.true(keys.length > 15);
  for (const [lines, key] of keys) {
    const said = lines.replace(/^# /gm, '');
    t.deepEqual(Object.keys(parse(said)), [key]);
    writeFileSync(overlay, text.replace(lines, said));
    t.deepEqual(readContract({ openapi: document, overlay }).contract, alone, key);
  }
});

test('init names the overlay’s JSON Schema for editors, and the parts that callers do not see', async (t) => {
  const { overlay } = await init(t);
  const text = readFileSync(overlay, 'utf8');
  const schema = /^# yaml-language-server: \$schema=(.*)$/m.exec(text)?.[1] ?? '';
  t.is(join(dirname(overlay), schema), schemaFiles.overlay);
  t.regex(
    text,
    /^# Sent as JSON text in an xs:string, because no closed type fits:\n# {3}\/components\/schemas\/Parcel\/properties\/extra: /m,
  );
});

test('init overwrites no file without --force', async (t) => {
  const { document, overlay } = await init(t);
  writeFileSync(overlay, 'service: Mine\n');
  const refused = await run(t, ['init', '--openapi', document]).ended;
  t.is(refused.code, 2);
  t.is(refused.err, `${overlay}: expected no file, got a file. Replace it with --force\n`);
  t.is(readFileSync(overlay, 'utf8'), 'service: Mine\n');
  const forced = await run(t, ['init', '--openapi', document, '--force', '--json']).ended;
  t.deepEqual(JSON.parse(forced.out), { written: overlay });
});

test('init needs a document', async (t) => {
  const { code, err } = await run(t, ['init']).ended;
  t.is(code, 2);
  t.is(err, 'expected an OpenAPI document as argument or --openapi, got none\n');
});
