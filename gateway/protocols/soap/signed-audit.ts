import { hash } from 'node:crypto';
import type { VerifiedSignature } from '../../../mappings/security/verify.ts';
import { certificatePart } from '../../http/certificate-part.ts';
import type { AuditedFacts } from './headers/reply-header.ts';

/**
 * Returns the facts of a message for the audit of a write. They prove later that a stored message is the one that was
 * processed (X29).
 *
 * @param body the octets of Body; undefined if no Signature covers it
 */
export function auditedOf(
  signatures: readonly VerifiedSignature[],
  body: string | undefined,
): AuditedFacts | undefined {
  const [first] = signatures;
  if (first === undefined) return undefined;
  const { x509 } = first.signer.signer;
  return {
    signerFingerprint: x509 && certificatePart(x509, 'fingerprint'),
    signatureSha256: signatures.map(({ value }) => hash('sha256', value)).join(', '),
    bodySha256: body === undefined ? undefined : hash('sha256', body),
  };
}
