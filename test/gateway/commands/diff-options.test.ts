import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { file } from './file.ts';
import { run } from './run.ts';

const openapi = fileURLToPath(new URL('../../fixtures/contracts/parcels/openapi.yaml', import.meta.url));
const text = readFileSync(openapi, 'utf8');

test('diff counts changes that break only strict clients if --strict is set', async (t) => {
  const next = file(
    t,
    text.replace(
      '        insured: { type: boolean }',
      '        insured: { type: boolean }\n        fragile: { type: boolean }',
    ),
  );
  t.is((await run(t, ['diff', openapi, next]).ended).code, 0);
  t.is((await run(t, ['diff', openapi, next, '--strict']).ended).code, 1);
});

test('diff accepts folders, and prints JSON', async (t) => {
  const folder = join(openapi, '..');
  const { code, out } = await run(t, ['diff', openapi, folder, '--json']).ended;
  t.is(code, 1);
  const { breaking, changes } = JSON.parse(out);
  t.true(breaking);
  t.deepEqual(changes[0], {
    grade: 'breaking',
    where: 'address',
    what: '/ is /post',
    why: 'clients post to the address they were built with',
  });
});

test('problems of a document are printed as JSON with --json', async (t) => {
  const { code, out, err } = await run(t, ['diff', openapi, file(t, 'swagger: "1.2"\n'), '--json']).ended;
  t.deepEqual([code, err], [2, '']);
  const [problem] = JSON.parse(out).problems;
  t.is(problem.pointer, '/swagger');
  t.is(problem.line, 1);
});
