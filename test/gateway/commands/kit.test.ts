import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { unzipSync } from 'fflate';
import { file } from './file.ts';
import { run } from './run.ts';

const contract = fileURLToPath(new URL('../doctor/contract', import.meta.url));

test('kit writes a folder with programs, samples and collections, and overwrites nothing', async (t) => {
  const out = join(dirname(file(t, '')), 'kit');
  const args = [
    'kit',
    contract,
    '--out',
    out,
    '--operation',
    'FindOrder',
    '--public-url',
    'https://api.example',
  ];
  const { code, out: said, err } = await run(t, args).ended;
  t.deepEqual([code, err], [0, '']);
  t.regex(said, /^wrote .*kit: \d+ files, for https:\/\/api\.example\n$/);
  t.regex(readFileSync(join(out, 'FindOrder/call.sh'), 'utf8'), /'https:\/\/api\.example\/soap11'/);
  t.true(existsSync(join(out, 'soapui-project.xml')));
  t.false(existsSync(join(out, 'PlaceOrder')));
  const again = await run(t, args).ended;
  t.is(again.code, 2);
  t.regex(again.err, /^--out: expected no file at .*README\.txt, got a file. Replace it with --force\n$/);
  t.is((await run(t, [...args, '--force']).ended).code, 0);
});

test('kit writes a zip of all operations', async (t) => {
  const out = join(dirname(file(t, '')), 'kit.zip');
  t.is((await run(t, ['kit', contract, '--out', out]).ended).code, 0);
  const names = Object.keys(unzipSync(readFileSync(out)));
  t.true(names.includes('PlaceOrder/samples/request.soap12.xml') && names.includes('FindOrder/call_zeep.py'));
});

test('kit of an unknown operation exits with 2 and a sentence', async (t) => {
  const out = join(dirname(file(t, '')), 'kit');
  const { code, err } = await run(t, ['kit', contract, '--out', out, '--operation', 'Nothing']).ended;
  t.deepEqual([code, err], [2, 'operation: expected one of the contract, got "Nothing"\n']);
});
