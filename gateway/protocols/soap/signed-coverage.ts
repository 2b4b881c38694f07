import type { Attachments } from '../../../mappings/codec/attachments.ts';
import type { Signing } from '../../../mappings/contract/credentials.ts';
import type { SignedMessage } from '../../../mappings/security/message.ts';
import { refuseUncovered } from '../../../mappings/security/parts.ts';
import { invalid } from '../../../mappings/security/problem.ts';
import { shownName, type TreeElement } from '../../../mappings/security/tree.ts';
import type { VerifiedSignature } from '../../../mappings/security/verify.ts';
import { isForUs } from './headers/header-block.ts';
import { addressing, isTimestamp, isToken } from './verified-document.ts';
import type { SoapVersion } from './versions.ts';

type Item = Signing['require'][number];

const itemNames: Readonly<Record<string, string>> = {
  body: 'Body',
  timestamp: 'Timestamp',
  token: 'UsernameToken',
  to: 'To',
  attachments: 'each part',
};

/** Refuses a message without a Signature. Throws SecurityProblem. */
export function refuseUnsigned(require: readonly Item[]): never {
  const items = require.filter((item) => item === 'body' || item === 'timestamp');
  const wanted = (items.length === 0 ? require : items).map((item) => itemNames[item] ?? item);
  return invalid({ expected: `${wanted.join(' and ')} to be signed`, got: 'none' }, 'no signature');
}

/** Returns the Signatures that cover all required items. Throws SecurityProblem unless one does (X4). */
export function coveringSignatures(
  require: readonly Item[],
  message: SignedMessage,
  signatures: readonly VerifiedSignature[],
  version: SoapVersion,
  attachments: Attachments | undefined,
): readonly VerifiedSignature[] {
  let missing: readonly string[] = [];
  const sufficient = signatures.filter((signature) => {
    missing = require.filter((item) => !isCovered(item, message, signature, version));
    return missing.length === 0;
  });
  if (sufficient.length > 0 || require.length === 0) return sufficient;
  const [first] = signatures;
  if (missing.every((item) => item === 'attachments') && first !== undefined && attachments !== undefined)
    refuseUncovered(attachments, [...attachments.parts.keys()], first.parts);
  const covered = first === undefined ? [] : [...new Set([...first.covered].map(shownName))];
  const expected = `expected ${missing.map((item) => itemNames[item] ?? item).join(' and ')} to be signed`;
  const got =
    signatures.length > 1
      ? 'by one Signature'
      : `got ${covered.length === 0 ? 'none' : `only ${covered.join(' and ')}`}`;
  return invalid(
    { detail: signatures.length > 1 ? `${expected} ${got}` : `${expected}, ${got}` },
    'coverage',
  );
}

function isCovered(
  item: Item,
  { header, block, body, parts }: SignedMessage,
  { covered, parts: coveredParts }: VerifiedSignature,
  version: SoapVersion,
): boolean {
  switch (item) {
    case 'attachments':
      return parts === undefined || coveredParts.size === parts.size;
    case 'encryption':
      return true; // checked after all Signatures
    case 'body':
      return covered.has(body);
    case 'timestamp': {
      const timestamps = block.children.filter(isTimestamp);
      return timestamps.length > 0 && timestamps.every((one) => covered.has(one));
    }
    case 'token':
      return block.children.filter(isToken).every((one) => covered.has(one));
    case 'to':
      return receiverBlocks(header, version).every((one) => covered.has(one));
  }
}

/** Returns the `wsa:To` blocks for the gateway. */
export function receiverBlocks(header: TreeElement, version: SoapVersion): readonly TreeElement[] {
  return header.children.filter(
    (one) => one.local === 'To' && addressing.has(one.namespace) && isForUs(one, version),
  );
}

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
