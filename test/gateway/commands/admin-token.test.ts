import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readTokens } from '../../../gateway/admin/tokens.ts';
import { sha256 } from '../admin/admin.ts';
import { run } from './run.ts';

test('admin-token prints a token, and its entry for the token file', async (t) => {
  const { code, out } = await run(t, ['admin-token', '--name', 'ann', '--role', 'change']).ended;
  t.is(code, 0);
  const token = /^[\w-]{43}$/m.exec(out)?.[0] ?? '';
  const entry = /^- \{ .* \}$/m.exec(out)?.[0] ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'token-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'tokens.yaml');
  writeFileSync(file, `${entry}\n`);
  chmodSync(file, 0o600);
  t.like(readTokens(file, false), [
    { name: 'ann', role: 'change', sha256: Buffer.from(sha256(token), 'hex') },
  ]);
});

test('admin-token rejects a missing name, a wrong name, role or number of days', async (t) => {
  for (const args of [
    [],
    ['--name', 'a b'],
    ['--name', ''],
    ['--name', 'ann', '--role', 'write'],
    ['--name', 'ann', '--days', '0'],
    ['--name', 'ann', '--days', '3651'],
  ]) {
    const { code, out, err } = await run(t, ['admin-token', ...args]).ended;
    t.is(code, 2, args.join(' '));
    t.is(out, '');
    t.not(err, '');
  }
});
