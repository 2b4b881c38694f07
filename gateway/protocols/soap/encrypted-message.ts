import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { Decrypting } from '../../../mappings/contract/credentials.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import type { Decryption } from '../../../mappings/security/decryption.ts';
import type { SignedMessage } from '../../../mappings/security/message.ts';
import { names } from '../../../mappings/security/names.ts';
import { SecurityProblem } from '../../../mappings/security/problem.ts';
import type { AnsweredSignatures } from '../../../mappings/security/sign.ts';
import type { TreeElement } from '../../../mappings/security/tree.ts';
import type { VerifiedSignature, Verifier } from '../../../mappings/security/verify.ts';
import type { XmlTolerance } from '../../../mappings/xml/reader.ts';
import type { KeyLock } from '../../call/burnt-keys.ts';
import { unsupported } from './headers/security.ts';

/** Returns the decryption of one message. */
export type OpenDecryption = (message: SignedMessage, verifier: Verifier, now: number) => Decryption;

/** A message with keys that must be reserved before they are used (X24). */
class LockedMessage extends SecurityProblem {
  readonly lock: KeyLock;

  constructor(lock: KeyLock) {
    super('FailedCheck', {}, 'locked');
    this.name = 'LockedMessage';
    this.lock = lock;
  }
}

/** Returns the keys to reserve before a message is read again; undefined for another error. */
export function lockOf(error: unknown): KeyLock | undefined {
  return error instanceof LockedMessage ? error.lock : undefined;
}

/** Returns a function that opens messages of a contract. Its modules are loaded only for a contract that decrypts. */
export function openDecryption(
  { keys, cbc: acceptsCbc }: Decrypting,
  limits: Limits,
  tolerance: XmlTolerance,
): OpenDecryption {
  const { Decryption: Opened, decryptionKeysOf }: typeof import('../../../mappings/security/decryption.ts') =
    createRequire(import.meta.url)(`../../../mappings/security/decryption${extname(import.meta.url)}`);
  const settings = { keys: decryptionKeysOf(keys), acceptsCbc, limits, tolerance };
  return (message, verifier, now) =>
    new Opened(message, { ...settings, now }, verifier.ids, verifier.verified);
}

/**
 * Verifies all readable SignatureValues before a private key is used (X24). With AES-CBC permitted, throws LockedMessage
 * until the keys of the message are reserved. Throws SecurityProblem.
 */
export function openSignatures(
  verifier: Verifier,
  decryption: Decryption | undefined,
  isReserved: boolean,
): void {
  const isLocked = !isReserved && decryption?.mustReserve === true;
  try {
    verifier.open();
  } catch (error) {
    // read again after the reservation, this error uses up the keys
    if (!isLocked || !(error instanceof SecurityProblem) || error.code !== 'FailedCheck') throw error;
  }
  if (!isLocked) return;
  const { wrappedKeys: keys, hasEncryptedElement: mayHideSigner } = decryption;
  throw new LockedMessage({ keys, caller: verifier.caller, mayHideSigner });
}

/**
 * Reads a Signature of the block (X12 step 1). If its KeyInfo may name an encrypted Assertion, the Signature is read after
 * the decryption. Throws SecurityProblem.
 */
export function addSignature(
  element: TreeElement,
  block: TreeElement,
  verifier: Verifier,
  decryption: Decryption | undefined,
): void {
  try {
    verifier.add(element);
  } catch (error) {
    const mayNeedAssertion =
      decryption !== undefined &&
      verifier.assertions !== undefined &&
      block.children.some((child) => child.is(names.xenc, 'EncryptedData'));
    if (!mayNeedAssertion || !(error instanceof SecurityProblem) || error.logged !== 'id') throw error;
  }
}

/**
 * Decrypts and verifies the children of the block in document order (X23, X27). Throws SecurityProblem.
 *
 * @param isPermitted returns true for an element that may be encrypted, apart from a Signature
 */
export function verifyInOrder(
  block: TreeElement,
  verifier: Verifier,
  decryption: Decryption | undefined,
  isPermitted: (element: TreeElement) => boolean,
): void {
  const replaced = new Map<TreeElement, TreeElement>();
  const passed = new Set<TreeElement>();
  const verify = (element: TreeElement): void => {
    if (element.is(names.ds, 'Signature')) {
      verifier.add(element);
      verifier.open();
      verifier.check(element);
    } else if (!isPermitted(element)) decryption?.refuseElement();
  };
  for (const child of block.children) {
    const hidden = replaced.get(child);
    if (hidden !== undefined) verify(hidden);
    else if (verifier.isOpened(child)) verifier.check(child);
    else if (child.is(names.ds, 'Signature')) verify(child);
    else
      for (const [data, element] of decryption?.decrypt(child) ?? []) {
        // a Signature is verified in its place; a Signature before it may need another element
        if (element.is(names.ds, 'Signature') && !passed.has(data)) replaced.set(data, element);
        else verify(element);
      }
    passed.add(child);
  }
}

/** Data of a message that grow while it is read. */
export interface OpenedCall {
  verifier?: Verifier;
  decryption?: Decryption | undefined;
  /** Data of the Signatures for a fault after the decryption has begun, so that it reveals nothing about the plaintext (X24). */
  answered?: AnsweredSignatures;
}

/** Returns what a signed reply answers, and for whom it is encrypted (X31, X32). */
export function answeredOf(
  { verifier, decryption }: OpenedCall,
  signatures: readonly VerifiedSignature[],
): AnsweredSignatures {
  const values = signatures.map(({ value }) => value.toString('base64'));
  const algorithm = decryption?.algorithm;
  const signer = verifier?.trustedSigner;
  const encryption =
    algorithm === undefined || signer === undefined || decryption?.canAnswer(signer) !== true
      ? undefined
      : { certificate: signer.bytes.toString('base64'), algorithm };
  return { method: undefined, digest: undefined, ...verifier?.algorithms, values, encryption };
}

/** Refuses an encrypted request of a signer whose certificate cannot encrypt the reply (X32). Throws SecurityProblem. */
export function refuseUnencryptable({ verifier, decryption }: OpenedCall): void {
  if (verifier?.signer === undefined || decryption?.algorithm === undefined) return;
  const signer = verifier.trustedSigner;
  if (signer !== undefined && decryption.canAnswer(signer)) return;
  const detail = 'the reply cannot be encrypted for this caller';
  throw new SecurityProblem('UnsupportedSecurityToken', { detail }, 'reply encryption');
}

/** Refuses encrypted header blocks (X36). Throws SecurityProblem. */
export function refuseEncryptedHeaders(header: TreeElement | undefined): void {
  for (const block of header?.children ?? [])
    if (block.is(names.wsse11, 'EncryptedHeader') || block.is(names.xenc, 'EncryptedData'))
      throw new SecurityProblem('UnsupportedSecurityToken', unsupported(block.local), 'element');
}
