import type { Attachments } from '../../../mappings/codec/attachments.ts';
import { instantFromXml } from '../../../mappings/codec/scalars/dates.ts';
import type { Signing, Wsse } from '../../../mappings/contract/credentials.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import type { Decryption } from '../../../mappings/security/decryption.ts';
import type { SignedMessage } from '../../../mappings/security/message.ts';
import { names } from '../../../mappings/security/names.ts';
import { Parts, refuseUncovered } from '../../../mappings/security/parts.ts';
import { invalid, SecurityProblem } from '../../../mappings/security/problem.ts';
import { type Confirmed, issuersOf } from '../../../mappings/security/saml.ts';
import { trustOf } from '../../../mappings/security/settings.ts';
import type { AnsweredSignatures } from '../../../mappings/security/sign.ts';
import { readTree, shownName, type Tree, type TreeElement } from '../../../mappings/security/tree.ts';
import type { Trust } from '../../../mappings/security/trust.ts';
import {
  type Verified,
  type VerifiedSignature,
  Verifier,
  type Verifying,
} from '../../../mappings/security/verify.ts';
import type { XmlReader, XmlTolerance } from '../../../mappings/xml/reader.ts';
import type { KeyLock } from '../../call/burnt-keys.ts';
import type { SignedCredentials } from '../../call/credentials.ts';
import { certificatePart } from '../../http/certificate-part.ts';
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
import type { DecryptedFacts, SignedFacts } from './headers/reply-header.ts';
import { unsupported } from './headers/security.ts';
import { windowProblem } from './headers/timestamp.ts';
import { factsOfAssertion } from './signed-assertion.ts';
import { auditedOf } from './signed-audit.ts';
import { entriesOf } from './signed-once.ts';
import { checkPartsOf } from './signed-parts.ts';
import { addressing, Composer, type EnvelopeParts, isTimestamp, isToken } from './verified-document.ts';
import { type SoapVersion, soap11, soap12 } from './versions.ts';

/** Data about the signer of a message. It is plain data, because a worker thread may read it. */
export interface SignerFacts {
  readonly credentials: SignedCredentials;
  readonly shown: SignedFacts;
}

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
      /** The same document without unsigned actions; undefined if Body need not be signed (X4). */
      readonly signedActions: string | undefined;
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

/** Reads a decoded document. With reserved keys, AES-CBC is decrypted (X24). Throws XmlError. */
export type ReadSigned = (
  text: string,
  attachments: Attachments | undefined,
  now: number,
  isReserved: boolean,
) => SignedReading | SignedRefusal;

/** Returns a function that verifies the signatures of a contract's messages (X12). */
export function createReadSigned(
  wsse: Wsse,
  signing: Signing,
  limits: Limits,
  tolerance: XmlTolerance,
): ReadSigned {
  const reader = new SignedReader(wsse, signing, limits, tolerance);
  return (text, attachments, now, isReserved) => reader.read(text, attachments, now, isReserved);
}

class SignedReader {
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
    const sufficient = this.#checkCoverage(message, verified, parts, attachments);
    decryption?.checkAll(require.includes('encryption'));
    const isAnswered = isSigned && this.#wsse.sign !== undefined;
    if (isAnswered) refuseUnencryptable(call);
    const confirmed = verifier.confirm(verified);
    const composer = new Composer(parts, block, verified, verifier, this.#wsse, decryption?.signedContent);
    const document = composer.document(true);
    const signsBody = require.includes('body');
    return {
      kind: 'read',
      version,
      document,
      signedActions: signsBody ? composer.document(false) : undefined,
      checkParts: checkPartsOf(sufficient, attachments, body, signsBody),
      checkAssertion: confirmed?.check,
      facts: this.#factsOf(message, verified, now, confirmed),
      answered: isAnswered ? answeredOf(call, verified.signatures) : undefined,
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

  /** Returns the Signatures that cover all required items. Throws SecurityProblem unless one does (X4). */
  #checkCoverage(
    message: SignedMessage,
    { signatures }: Verified,
    { version }: EnvelopeParts,
    attachments: Attachments | undefined,
  ): readonly VerifiedSignature[] {
    const { require } = this.#signing;
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

  #factsOf(
    message: SignedMessage,
    { signatures, octets }: Verified,
    now: number,
    confirmed: Confirmed | undefined,
  ): SignerFacts | undefined {
    const [first] = signatures;
    if (first === undefined && confirmed === undefined) return undefined;
    const { credential, replay } = this.#signing;
    const { saml } = this.#wsse;
    const asserted =
      confirmed === undefined || saml === undefined
        ? undefined
        : factsOfAssertion(confirmed, saml, replay, this.#limits);
    const x509 = first?.signer.signer.x509;
    const value = x509 && certificatePart(x509, credential?.from ?? 'subject');
    const once =
      replay === 'allow' || first === undefined
        ? []
        : entriesOf(signatures, this.#lifetime(message, octets, now));
    const isSigner = credential !== undefined && value !== undefined && first?.isTrusted === true;
    const values = new Map([
      ...(isSigner ? [[credential.name, value] as const] : []),
      ...(asserted?.values ?? []),
    ]);
    return {
      credentials: { values, once: [...once, ...(asserted?.once ?? [])], recipients: asserted?.recipients },
      shown: {
        signer: value,
        signerCertificate: x509 && certificatePart(x509, 'fingerprint')?.slice(0, 16),
        signature: signatures.map((one) => describe(one, message)).join(', ') || undefined,
        assertion: asserted?.issuer,
        usesSha1: signatures.some((one) => one.usesSha1),
        audited: auditedOf(signatures, octets.get(message.body)),
      },
    };
  }

  /** Returns the time until which a message with this Timestamp is accepted (X17, X18). Throws SecurityProblem. */
  #lifetime({ block }: SignedMessage, octets: Verified['octets'], now: number): number {
    const { wsseSignedLifeMs, wsseFreshMs, wsseSkewMs } = this.#limits;
    const timestamp = block.children.find(isTimestamp);
    const text = timestamp === undefined ? undefined : octets.get(timestamp);
    if (text === undefined) return invalid({ expected: 'Timestamp to be signed', got: 'none' }, 'coverage');
    const { root } = readTree(text, this.#limits);
    const timeOf = (local: string): number | undefined => {
      const element = root.children.find((child) => child.is(namespaces.wsu, local));
      return element === undefined ? undefined : instantFromXml(element.text);
    };
    const created = timeOf('Created');
    if (created === undefined)
      return invalid({ expected: 'an xs:dateTime in Created of Timestamp', got: 'other text' }, 'timestamp');
    const end = created + wsseSignedLifeMs;
    const late = windowProblem('the signed message', { created, end }, now, this.#limits);
    if (late !== undefined) throw new SecurityProblem('MessageExpired', late, 'expired');
    return Math.min(end, timeOf('Expires') ?? created + wsseFreshMs) + wsseSkewMs;
  }
}

/** Other children of the block that may be there. Only a UsernameToken and a Timestamp are read for their content. */
const readInBlock: ReadonlySet<string> = new Set([
  'UsernameToken',
  'BinarySecurityToken',
  'SecurityTokenReference',
]);

const elementsRead = 'a Signature, a BinarySecurityToken, a UsernameToken and a Timestamp';

const itemNames: Readonly<Record<string, string>> = {
  body: 'Body',
  timestamp: 'Timestamp',
  token: 'UsernameToken',
  to: 'To',
  attachments: 'each part',
};

function refuseUnsigned(require: Signing['require']): never {
  const items = require.filter((item) => item === 'body' || item === 'timestamp');
  const wanted = (items.length === 0 ? require : items).map((item) => itemNames[item] ?? item);
  return invalid({ expected: `${wanted.join(' and ')} to be signed`, got: 'none' }, 'no signature');
}

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
    (child) => child.is(namespaces.wsse, 'Security') && isForUs(attributesOf(child), version),
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

/** Returns the part of a reader that the check of a role needs. */
function attributesOf(element: TreeElement): Pick<XmlReader, 'attribute'> {
  return { attribute: (namespace, local) => element.attribute(namespace, local) };
}

function isCovered(
  item: Signing['require'][number],
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
      return header.children
        .filter(
          (one) => one.local === 'To' && addressing.has(one.namespace) && isForUs(attributesOf(one), version),
        )
        .every((one) => covered.has(one));
  }
}

/** Describes a Signature for the log: its algorithm, and the items that it covers. */
function describe(
  { algorithm, covered, parts }: VerifiedSignature,
  { body, block, header }: SignedMessage,
): string {
  const items: string[] = [];
  if (covered.has(body)) items.push('body');
  for (const element of covered) {
    if (element.parent === block && isTimestamp(element)) items.push('timestamp');
    else if (element.parent === block && isToken(element)) items.push('token');
    else if (element.parent === header && element.local === 'To') items.push('to');
  }
  if (parts.size > 0) items.push('parts');
  return items.length === 0 ? algorithm : `${algorithm} ${items.join('+')}`;
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
  const blocks = all.filter(
    (one) => one.is(namespaces.wsse, 'Security') && isForUs(attributesOf(one), version),
  );
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
