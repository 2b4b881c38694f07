import { hash } from 'node:crypto';
import { callerOf, type VerifiedSignature } from '../../../mappings/security/verify.ts';
import type { OnceEntry } from '../../call/credentials.ts';

/**
 * Returns the entries of verified Signatures. The key is the SHA-256 of the hash of the signer's public key and the
 * octets of SignedInfo, because SignatureValue and the certificate can be replaced (X17).
 */
export function entriesOf(signatures: readonly VerifiedSignature[], until: number): readonly OnceEntry[] {
  return signatures.map((signature) => {
    const { signer, octets } = signature;
    const bytes = Buffer.concat([Buffer.from(signer.signer.keyHash, 'latin1'), Buffer.from(octets)]);
    return { key: hash('sha256', bytes, 'latin1'), until, caller: callerOf(signature) };
  });
}
