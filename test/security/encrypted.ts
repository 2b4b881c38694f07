import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { folder } from './captures.ts';
import { startSigned } from './signed.ts';

// Gateways that decrypt, with the key of the captured clients.

/** An attack on decryption: the envelope is a file of the attacks. */
export interface EncryptedAttack {
  readonly config: keyof typeof settings;
  readonly clock: string;
  readonly contentType: string;
  readonly expect: string;
  readonly why: string;
}

/** Results of captures with `open`, and attacks on decryption. */
export const encrypted: {
  readonly open: Readonly<Record<string, string>>;
  readonly attacks: Readonly<Record<string, EncryptedAttack>>;
} = JSON.parse(readFileSync(join(folder, 'encrypted.json'), 'utf8'));

/** Settings of `x509` and `decrypt`, apart from the keys. */
const settings = {
  wide: ['require: [body], sha1: true, replay: allow', 'cbc: true'],
  transport: ['require: [timestamp], sha1: true, replay: allow', 'cbc: true'],
  open: ['require: [], sha1: true, replay: allow', 'cbc: true'],
  decrypt: ['require: [body, timestamp], sha1: false, replay: allow', 'cbc: true'],
  'decrypt-open': ['require: [], sha1: false, replay: allow', 'cbc: true'],
  gcm: ['require: [body, timestamp], sha1: false, replay: allow', 'cbc: false'],
  encryption: ['require: [body, encryption], sha1: true, replay: allow', 'cbc: true'],
} as const;

/** Starts a gateway that decrypts. */
export function startEncrypted(
  t: Pick<ExecutionContext, 'teardown'>,
  name: keyof typeof settings | readonly [x509: string, decrypt: string],
  limits: Partial<Limits> = {},
  sign = '',
): Promise<Gateway> {
  const [x509, decrypt] = typeof name === 'string' ? settings[name] : name;
  const keys = mkdtempSync(join(tmpdir(), 'encrypted-'));
  t.teardown(() => rmSync(keys, { recursive: true, force: true }));
  for (const file of ['gateway.key', 'gateway.crt']) {
    copyFileSync(join(folder, 'keys', file), join(keys, file));
    chmodSync(join(keys, file), 0o600);
  }
  const pair = `key: ${JSON.stringify(join(keys, 'gateway.key'))}, certificate: ${JSON.stringify(join(keys, 'gateway.crt'))}`;
  const signing = sign === '' ? '' : `, sign: { ${pair}, ${sign} }`;
  const text = `${x509} }${signing}, decrypt: { ${decrypt.includes('keys:') ? '' : `keys: [{ ${pair} }], `}${decrypt}`;
  return startSigned(t, text, undefined, limits);
}
