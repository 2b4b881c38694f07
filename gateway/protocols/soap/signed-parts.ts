import type { Attachments } from '../../../mappings/codec/attachments.ts';
import { refuseUncovered } from '../../../mappings/security/parts.ts';
import type { TreeElement } from '../../../mappings/security/tree.ts';
import type { VerifiedSignature } from '../../../mappings/security/verify.ts';

/**
 * Returns the check of the parts that the operation read. It is undefined if the Body that refers to them need not be
 * signed and is not signed.
 */
export function checkPartsOf(
  signatures: readonly VerifiedSignature[],
  attachments: Attachments | undefined,
  body: TreeElement,
  signsBody: boolean,
): (() => void) | undefined {
  const ofBody = signsBody ? signatures : signatures.filter(({ covered }) => covered.has(body));
  const [first, ...others] = ofBody;
  if (attachments === undefined || first === undefined) return undefined;
  return () => {
    const { taken } = attachments;
    const isCoveredBy = ({ parts }: VerifiedSignature) => taken.every((index) => parts.has(index));
    if (!others.some(isCoveredBy)) refuseUncovered(attachments, taken, first.parts);
  };
}
