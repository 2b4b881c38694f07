import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readArchive, writeArchive } from './records.ts';

const folder = mkdtempSync(join(tmpdir(), 'records-'));
test.after.always(() => rmSync(folder, { recursive: true }));

test('an archive returns the bytes and properties of its records in the order of names', (t) => {
  const file = join(folder, 'both');
  const binary = { name: 'b', bytes: Buffer.from('\r\n\n\0\u00ff{"name":"c"}\n', 'latin1') };
  const empty = { name: 'a', note: 'é', bytes: Buffer.alloc(0) };
  writeArchive(file, [binary, empty]);
  t.deepEqual(readArchive(file), [empty, binary]);
});

test('an archive with a wrong length or with two records of one name is rejected', (t) => {
  const file = join(folder, 'wrong');
  writeFileSync(file, '{"name":"a","length":3}\nab\n');
  t.throws(() => readArchive(file), { message: `${file}: expected 3 bytes of a` });
  writeFileSync(file, '{"name":"a","length":1}\na\n{"name":"a","length":1}\nb\n');
  t.throws(() => readArchive(file), { message: `${file}: expected one a, got two` });
});
