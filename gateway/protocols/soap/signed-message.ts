import type { Attachments } from '../../../mappings/codec/attachments.ts';
import type { Signing, Wsse } from '../../../mappings/contract/credentials.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import type { Decryption } from '../../../mappings/security/decryption.ts';
import type { SignedMessage } from '../../../mappings/security/message.ts';
import { names } from '../../../mappings/security/names.ts';
import { Parts } from '../../../mappings/security/parts.ts';
import { invalid, SecurityProblem } from '../../../mappings/security/problem.ts';
import { issuersOf } from '../../../mappings/security/saml.ts';
import { trustOf } from '../../../mappings/security/settings.ts';
import type { AnsweredSignatures } from '../../../mappings/security/sign.ts';
import { readTree, type Tree, type TreeElement } from '../../../mappings/security/tree.ts';
import type { Trust } from '../../../mappings/security/trust.ts';
import { Verifier, type Verifying } from '../../../mappings/security/verify.ts';
import type { XmlTolerance } from '../../../mappings/xml/reader.ts';
import type { KeyLock } from '../../call/burnt-keys.ts';
import {
  addSignature,
  answeredOf,
  lockOf,
  type OpenDecryption,
  type OpenedCall,
  openDecryption,
  openSignatures,
  refuseEncryptedHeaders,
  refuseUnencryptable,
  verifyInOrder,
} from './encrypted-message.ts';
import { isForUs } from './headers/header-block.ts';
import { maxHeaderBlocks } from './headers/headers.ts';
import type { DecryptedFacts } from './headers/reply-header.ts';
import { unsupported } from './headers/security.ts';
import { checkPartsOf, coveringSignatures, refuseUnsigned } from './signed-coverage.ts';
import { factsOf, type SignerFacts } from './signed-facts.ts';
import { addressing, Composer, type EnvelopeParts, isTimestamp, isToken } from './verified-document.ts';
import { type SoapVersion, soap11, soap12 } from './versions.ts';

/**
 * The result of reading a message for its signatures.
 * `plain`: it has nothing to verify, and none is required. `malformed`: it is not an envelope, and the usual reader
 * reports why. `read`: the document of everything that the gateway may read.
 */
export type SignedReading =
  | { readonly kind: 'plain' }
  | { readonly kind: 'malformed' }
  | {
      readonly kind: 'read';
      readonly version: SoapVersion;
      readonly document: string;
      /** Returns the same document without unsigned actions; undefined if Body need not be signed (X4). */
      readonly signedActions: (() => string) | undefined;
      /** Throws SecurityProblem if the operation read a part that no sufficient Signature covers (X22). */
      readonly checkParts: (() => void) | undefined;
      /** Throws SecurityProblem for an Assertion with another audience or time (X27). */
      readonly checkAssertion: (() => void) | undefined;
      /** Undefined for a message without a Signature and an Assertion. */
      readonly facts: SignerFacts | undefined;
      /** Data of the Signatures for a signed reply; undefined if the reply is not signed (X30). */
      readonly answered: AnsweredSignatures | undefined;
      /** Undefined for a message without encryption. */
      readonly decrypted: DecryptedFacts | undefined;
    };

/** A fault before anything of the message is read, with what its Header answers. */
export interface SignedRefusal {
  readonly problem: SecurityProblem;
  readonly version: SoapVersion;
  readonly hasTimestamp: boolean;
  readonly answered: AnsweredSignatures | undefined;
  readonly addressing: { readonly namespace: string; messageId: string | undefined } | undefined;
  /** Set if the message was refused only until its keys are reserved (X24). */
  readonly lock?: KeyLock | undefined;
}

/** Verifies the signatures of a contract's messages (X12). */
export class SignedReader {
  readonly #wsse: Wsse;
  readonly #signing: Signing;
  readonly #limits: Limits;
  readonly #tolerance: XmlTolerance;
  readonly #trust: Trust;
  /** Undefined for a contract that decrypts nothing. */
  readonly #openDecryption: OpenDecryption | undefined;
  readonly #saml: Verifying['saml'];

  constructor(wsse: Wsse, signing: Signing, limits: Limits, tolerance: XmlTolerance) {
    this.#tolerance = tolerance;
    this.#wsse = wsse;
    this.#signing = signing;
    this.#limits = limits;
    this.#trust = trustOf(signing);
    const { decrypt } = wsse;
    if (decrypt !== undefined) this.#openDecryption = openDecryption(decrypt, limits, tolerance);
    this.#saml = wsse.saml && { settings: wsse.saml, issuers: issuersOf(wsse.saml) };
  }

  /** Reads a decoded document. With reserved keys, AES-CBC is decrypted (X24). Throws XmlError. */
  read(
    text: string,
    attachments: Attachments | undefined,
    now: number,
    isReserved: boolean,
  ): SignedReading | SignedRefusal {
    const tree = readTree(text, this.#limits, this.#tolerance);
    const parts = partsOf(tree, this.#limits);
    if (parts === undefined) return { kind: 'malformed' };
    const { blocks, ...refusal } = refusalOf(tree);
    const isAnswered = this.#wsse.sign !== undefined && hasSignature(blocks);
    const call: OpenedCall = {};
    try {
      if (parts === 'two bodies') invalid({ expected: 'one Body in Envelope' }, 'place');
      return this.#verified(parts, text.length, attachments, now, isReserved, call);
    } catch (error) {
      const problem = call.decryption?.problemOf(error) ?? error;
      if (!(problem instanceof SecurityProblem)) throw problem;
      const answered = isAnswered ? (call.answered ?? answeredOf(call, [])) : undefined;
      return { ...refusal, problem, answered, lock: lockOf(error) };
    }
  }

  /** @param call gets what a refusal may reveal about the message */
  #verified(
    parts: EnvelopeParts,
    characters: number,
    attachments: Attachments | undefined,
    now: number,
    isReserved: boolean,
    call: OpenedCall,
  ): SignedReading {
    const { header, blocks, body, tree, version } = parts;
    const { require } = this.#signing;
    const [block, ...others] = blocks;
    if (others.length > 0)
      invalid({ expected: 'one Security block for this service', got: 'two blocks' }, 'two blocks');
    const isPlain =
      block === undefined || block.children.every((child) => isToken(child) || isTimestamp(child));
    if (this.#openDecryption !== undefined) refuseEncryptedHeaders(header);
    if (isPlain && require.length === 0) return { kind: 'plain' };
    if (header === undefined || block === undefined) return refuseUnsigned(require);
    const { soapHeaderText } = this.#limits;
    if (charactersIn(header) > soapHeaderText)
      invalid({ detail: `the Header has more than ${soapHeaderText} characters` }, 'limit');
    const attached = attachments === undefined ? undefined : new Parts(attachments, tree, block);
    const message: SignedMessage = { tree, header, block, body, parts: attached };
    const rules = { sha1: this.#signing.sha1, references: this.#limits.wsseReferences };
    const verifier = new Verifier(
      message,
      { trust: this.#trust, rules, limits: this.#limits, now, saml: this.#saml },
      characters,
    );
    const decryption = this.#openDecryption?.(message, verifier, now);
    Object.assign(call, { verifier, decryption });
    const isSigned = this.#addAll(block, verifier, decryption);
    if (!isSigned && require.length > 0) return refuseUnsigned(require);
    if (!isSigned) decryption?.refuseCbc();
    openSignatures(verifier, decryption, isReserved);
    call.answered = answeredOf(call, []);
    verifyInOrder(
      block,
      verifier,
      decryption,
      (element) => isToken(element) || isTimestamp(element) || verifier.assertions?.add(element) === true,
    );
    const { verified } = verifier;
    const { signatures } = verified;
    const sufficient = coveringSignatures(require, message, signatures, version, attachments);
    decryption?.checkAll(require.includes('encryption'));
    const isAnswered = isSigned && this.#wsse.sign !== undefined;
    if (isAnswered) refuseUnencryptable(call);
    const confirmed = verifier.confirm(verified);
    const composer = new Composer(parts, block, verified, verifier, this.#wsse, decryption?.signedContent);
    const signsBody = require.includes('body');
    return {
      kind: 'read',
      version,
      document: composer.document(true),
      signedActions: signsBody ? () => composer.document(false) : undefined,
      checkParts: checkPartsOf(sufficient, attachments, body, signsBody),
      checkAssertion: confirmed?.check,
      facts: factsOf(message, verified, confirmed, version, {
        wsse: this.#wsse,
        signing: this.#signing,
        limits: this.#limits,
        now,
      }),
      answered: isAnswered ? answeredOf(call, signatures) : undefined,
      decrypted: decryption?.facts,
    };
  }

  /** Reads the form of each child of the block in order (X12). Returns true if there is a Signature. */
  #addAll(block: TreeElement, verifier: Verifier, decryption: Decryption | undefined): boolean {
    let hasSignature = false;
    if (/[^ \t\r\n]/.test(block.text))
      invalid({ expected: 'only elements in Security', got: 'text' }, 'shape');
    for (const child of block.children) {
      if (child.is(names.ds, 'Signature')) {
        hasSignature = true;
        addSignature(child, block, verifier, decryption);
      } else if (decryption?.add(child) === true) hasSignature ||= child.is(names.xenc, 'EncryptedData');
      else if (verifier.assertions?.add(child) === true) continue;
      else if (child.namespace === names.ds)
        invalid({ expected: 'Signature as the only element of its namespace in Security' }, 'place');
      else if (!this.#isRead(child))
        throw new SecurityProblem(
          'UnsupportedSecurityToken',
          unsupported(child.local, elementsRead),
          'element',
        );
    }
    decryption?.finish();
    return hasSignature;
  }

  #isRead(child: TreeElement): boolean {
    const isReference = child.namespace === namespaces.wsse && readInBlock.has(child.local);
    const isConfirmation = child.is(namespaces.wsse11, 'SignatureConfirmation');
    const isIgnored = this.#wsse.unverified.some((name) => name === child.local);
    return isTimestamp(child) || isReference || isConfirmation || isIgnored;
  }
}

/** Other children of the block that may be there. Only a UsernameToken and a Timestamp are read for their content. */
const readInBlock: ReadonlySet<string> = new Set([
  'UsernameToken',
  'BinarySecurityToken',
  'SecurityTokenReference',
]);

const elementsRead = 'a Signature, a BinarySecurityToken, a UsernameToken and a Timestamp';

/** Splits an envelope; undefined for a document that the usual reader refuses. */
function partsOf(tree: Tree, limits: Limits): EnvelopeParts | 'two bodies' | undefined {
  const { root } = tree;
  const version = [soap11, soap12].find(({ namespace }) => root.is(namespace, 'Envelope'));
  if (version === undefined || hasText(root)) return undefined;
  const children = root.children;
  const bodies = children.filter((child) => child.is(version.namespace, 'Body'));
  if (bodies.length > 1) return 'two bodies';
  const [body] = bodies;
  const rest = children.filter((child) => child !== body);
  const [header, ...others] = rest;
  const isHeaderFirst =
    header === undefined || (children[0] === header && header.is(version.namespace, 'Header'));
  if (body === undefined || others.length > 0 || !isHeaderFirst) return undefined;
  const { soapHeaderBlocks = maxHeaderBlocks } = limits;
  if (header !== undefined && (hasText(header) || header.children.length > soapHeaderBlocks))
    return undefined;
  const blocks = (header?.children ?? []).filter(
    (child) => child.is(namespaces.wsse, 'Security') && isForUs(child, version),
  );
  return { tree, version, header, body, blocks };
}

function hasText(element: TreeElement): boolean {
  return /[^ \t\r\n]/.test(element.text);
}

/** Returns the number of characters between the tags of a Header. */
function charactersIn({ start, end, local, prefix: own }: TreeElement): number {
  return end - start - `</>${local}`.length - (own === '' ? 0 : own.length + 1);
}

/** Returns true for a block with a Signature, or with an encrypted element that may be one (X24, X30). */
function hasSignature(blocks: readonly TreeElement[]): boolean {
  return blocks.some(({ children }) =>
    children.some((child) => child.is(names.ds, 'Signature') || child.is(names.xenc, 'EncryptedData')),
  );
}

/**
 * Returns what a fault answers, and the Security blocks for the gateway. It is found before decryption, so that it
 * reveals nothing (X24).
 */
function refusalOf({
  root,
}: Tree): Omit<SignedRefusal, 'problem' | 'answered' | 'lock'> & { readonly blocks: readonly TreeElement[] } {
  const version = root.namespace === soap12.namespace ? soap12 : soap11;
  const all = root.children
    .filter((child) => child.is(version.namespace, 'Header'))
    .flatMap((one) => one.children);
  const blocks = all.filter((one) => one.is(namespaces.wsse, 'Security') && isForUs(one, version));
  const hasTimestamp = blocks.some((one) => one.children.some(isTimestamp));
  const addressed = all.find(({ namespace }) => addressing.has(namespace));
  const id = all.find(({ namespace, local }) => namespace === addressed?.namespace && local === 'MessageID');
  return {
    version,
    blocks,
    hasTimestamp,
    addressing:
      addressed === undefined
        ? undefined
        : { namespace: addressed.namespace, messageId: id?.text.trim().slice(0, 1_024) },
  };
}
