import { readFileSync } from 'node:fs';
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

/**
 * Starts a gateway that decrypts.
 *
 * @param sign further keys of `wsse`
 */
export function startEncrypted(
  t: Pick<ExecutionContext, 'teardown'>,
  name: keyof typeof settings | readonly [x509: string, decrypt: string],
  sign = '',
  limits: Partial<Limits> = {},
): Promise<Gateway> {
  const [x509, decrypt] = typeof name === 'string' ? settings[name] : name;
  const keys = decrypt.includes('keys:') ? '' : 'keys: [{ key: gateway.key, certificate: gateway.crt }], ';
  const more = `${sign}decrypt: { ${keys}${decrypt} }`;
  return startSigned(t, x509, undefined, limits, undefined, more);
}
