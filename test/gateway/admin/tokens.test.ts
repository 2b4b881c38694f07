import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createToken, readTokens } from '../../../gateway/admin/tokens.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { sha256 } from './admin.ts';

function written(t: ExecutionContext, content: string, mode = 0o600): string {
  const folder = mkdtempSync(join(tmpdir(), 'tokens-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'tokens.yaml');
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

const hash = sha256('token');
const entry = `{ name: ann, role: read, sha256: "${hash}" }`;

test('a token file has tokens and certificates', (t) => {
  const file = written(
    t,
    `- ${entry}
- { name: bob, role: change, sha256: "${hash.toUpperCase()}", expires: 2027-01-31T12:00:00+01:00 }
- { name: prometheus, role: read, certificate: "CN=prometheus,O=Acme" }`,
  );
  t.like(readTokens(file, true), [
    { name: 'ann', role: 'read', sha256: Buffer.from(hash, 'hex'), expires: undefined },
    { name: 'bob', role: 'change', expires: Date.UTC(2027, 0, 31, 11) },
    { name: 'prometheus', role: 'read', certificate: 'CN=prometheus,O=Acme' },
  ]);
});

for (const [what, content, message] of [
  ['no content', '', /expected at least one entry, got none/],
  ['an empty list', '[]', /expected at least one entry, got none/],
  ['a map', entry, /expected a list/],
  ['an entry without a name', `[{ role: read, sha256: "${hash}" }]`, /0\/name: expected a name, got none/],
  [
    'an entry without a role',
    `[{ name: ann, sha256: "${hash}" }]`,
    /0\/role: expected read or change, got none/,
  ],
  ['another role', `[{ name: ann, role: write, sha256: "${hash}" }]`, /0\/role: expected/],
  ['an unknown key', `[{ name: ann, role: read, sha256: "${hash}", expire: x }]`, /0\/expire/],
  ['neither hash nor certificate', '[{ name: ann, role: read }]', /expected sha256 or certificate, got none/],
  ['a hash and a certificate', `[{ name: a, role: read, sha256: "${hash}", certificate: CN=a }]`, /got both/],
  ['a name twice', `[${entry}, ${entry}]`, /1\/name: expected a unique name, got ann twice/],
  [
    'a time without a zone',
    `[{ name: a, role: read, sha256: "${hash}", expires: 2027-01-31T00:00:00 }]`,
    /expected a time/,
  ],
  [
    'a time that does not exist',
    `[{ name: a, role: read, sha256: "${hash}", expires: 2027-13-31T00:00:00Z }]`,
    /that exists/,
  ],
] as const)
  test(`a token file with ${what} is rejected`, (t) => {
    const error = t.throws(() => readTokens(written(t, content), true), { instanceOf: ContractError });
    t.regex(error?.message ?? '', message);
  });

test('an error does not show a token that is in the place of its hash', (t) => {
  const file = written(t, '[{ name: ann, role: read, sha256: my-secret-token }]');
  const error = t.throws(() => readTokens(file, true), { instanceOf: ContractError });
  t.regex(error?.message ?? '', /0\/sha256: expected the SHA-256 of a token as 64 hexadecimal digits/);
  t.notRegex(error?.message ?? '', /my-secret-token/);
});

test('a token file that others can read is rejected, one that its group can read is not', (t) => {
  for (const mode of [0o604, 0o644, 0o602])
    t.throws(() => readTokens(written(t, `[${entry}]`, mode), true), {
      message: /without access for others/,
    });
  t.is(readTokens(written(t, `[${entry}]`, 0o640), true).length, 1);
});

test('a missing token file is rejected', (t) => {
  t.throws(() => readTokens('/nowhere/tokens.yaml', true), { instanceOf: ContractError });
});

test('a created token has an entry that the gateway reads', (t) => {
  const now = Date.UTC(2026, 10, 28);
  const { token, entry: line } = createToken({ name: 'ann', role: 'change', days: 90 }, now);
  t.regex(token, /^[\w-]{43}$/);
  t.not(createToken({ name: 'ann', role: 'change', days: 90 }, now).token, token);
  const [read] = readTokens(written(t, line), false);
  t.deepEqual(read, {
    name: 'ann',
    role: 'change',
    sha256: Buffer.from(sha256(token), 'hex'),
    expires: Date.UTC(2027, 1, 26),
    certificate: undefined,
  });
});
