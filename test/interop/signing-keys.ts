import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;

/**
 * Returns a folder with the keys and certificates of signed calls, which exists until the process ends: `caller`,
 * `gateway`, and `other`, which has the name of the gateway and another key. Each has a `.key` and a `.crt`. The common
 * name of the caller is the user of its credentials.
 */
export function signingKeys(): string {
  if (folder !== undefined) return folder;
  const created = mkdtempSync(join(tmpdir(), 'interop-keys-'));
  process.once('exit', () => rmSync(created, { recursive: true, force: true }));
  for (const [name, commonName] of [
    ['caller', 'demo'],
    ['gateway', 'gateway'],
    ['other', 'gateway'],
  ])
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${commonName}`],
        ...['-addext', 'keyUsage=digitalSignature,keyEncipherment', '-addext', 'basicConstraints=CA:FALSE'],
        ...['-keyout', `${name}.key`, '-out', `${name}.crt`],
      ],
      { cwd: created, stdio: 'pipe' },
    );
  folder = created;
  return created;
}
