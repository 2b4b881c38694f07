import type { Saml } from '../contract/credentials.ts';
import type { Limits } from '../contract/limits.ts';
import { issuerOf } from './assertion.ts';
import { type Budget, CanonicalError, type CanonicalForm, canonicalize } from './canonical.ts';
import type { Certificate } from './certificate.ts';
import { checkPlace, Ids, type SignedMessage } from './message.ts';
import { names, valueTypes } from './names.ts';
import { invalid, SecurityProblem, unsupportedToken } from './problem.ts';
import { Assertions, type Confirmed, type HolderKey, type Issuers } from './saml.ts';
import type { AnsweredSignatures } from './sign.ts';
import {
  type Reference,
  readSignature,
  readSignedInfo,
  type Signature,
  type SignatureRules,
  type SignedInfo,
} from './signed-info.ts';
import { type NamedToken, Tokens } from './tokens.ts';
import { readTree, TreeElement } from './tree.ts';
import type { Trust } from './trust.ts';
import { compareDigest, isSignedBy } from './verify-value.ts';

/** Maximum number of Signatures of a block (X39). */
export const maxSignatures = 2;

/** Characters of the canonical forms of one call, as a multiple of the characters of its document (X39). */
export const canonicalShare = 4;

/** A Signature that was verified. */
export interface VerifiedSignature {
  readonly algorithm: string;
  readonly usesSha1: boolean;
  readonly signer: HolderKey;
  /** False for a key that only an Assertion vouches for: its certificate does not pass X11. */
  readonly isTrusted: boolean;
  /** The Assertion with the key; undefined for another key (X26). */
  readonly assertion: TreeElement | undefined;
  /** The SignatureValue. */
  readonly value: Buffer;
  /** The octets of SignedInfo. */
  readonly octets: string;
  /** The elements that it covers. */
  readonly covered: Set<TreeElement>;
  /** Positions of the MIME parts that it covers. */
  readonly parts: ReadonlySet<number>;
}

/** The result of verifying all Signatures of a message. */
export interface Verified {
  readonly signatures: readonly VerifiedSignature[];
  /** The octets of the covered elements. The gateway reads these elements from nothing else (X12). */
  readonly octets: Map<TreeElement, string>;
}

/**
 * Returns the caller whose share of a memory a Signature uses (X17, X24). An issuer can vouch for any number of keys, so the keys that
 * are not trusted themselves count as one.
 */
export function callerOf({
  signer,
  isTrusted,
  assertion,
}: Pick<VerifiedSignature, 'signer' | 'isTrusted' | 'assertion'>): string {
  return isTrusted || assertion === undefined
    ? `signer ${signer.signer.keyHash}`
    : `issuer ${issuerOf(assertion)}`;
}

/** A Signature before anything is verified. */
interface Found {
  readonly signature: Signature;
  /** The certificate, or the Assertion with the key. */
  readonly signer: NamedToken | TreeElement;
  readonly info: SignedInfo;
}

/** A Signature whose SignatureValue was verified. */
interface Opened extends Pick<VerifiedSignature, 'signer' | 'isTrusted' | 'assertion' | 'value'> {
  readonly octets: string;
  /** The content of SignedInfo, read from its octets. */
  readonly info: SignedInfo;
}

/** Settings of a contract, and the time of the call. */
export interface Verifying {
  readonly trust: Trust;
  readonly rules: SignatureRules;
  readonly limits: Limits;
  /** Time in ms since 1970. */
  readonly now: number;
  /** Settings for SAML Assertions; undefined for a contract that reads none. */
  readonly saml?: { readonly settings: Saml; readonly issuers: Issuers } | undefined;
}

/** Verifies the Signatures of one message. */
export class Verifier {
  readonly #message: SignedMessage;
  readonly #verifying: Verifying;
  readonly ids: Ids;
  readonly #tokens: Tokens;
  readonly #budget: Budget;
  readonly #octets = new Map<TreeElement, string>();
  readonly #found: Found[] = [];
  readonly #opened = new Map<TreeElement, Opened>();
  readonly #signatures: VerifiedSignature[] = [];
  /** Undefined for a contract that reads no Assertions. */
  readonly assertions: Assertions | undefined;

  /** @param characters length of the document */
  constructor(message: SignedMessage, verifying: Verifying, characters: number) {
    const { tree, block } = message;
    this.#message = message;
    this.#verifying = verifying;
    this.ids = new Ids(tree.root);
    this.#tokens = new Tokens(block, this.ids, verifying.trust, verifying.now);
    this.assertions = this.#openAssertions();
    this.#budget = { left: (characters + (message.parts?.characters ?? 0)) * canonicalShare };
  }

  /** Reads the next Signature of the block, and finds its certificate (X12 step 1, X10). Throws SecurityProblem. */
  add(element: TreeElement): void {
    if (this.#found.length === maxSignatures)
      invalid({ detail: `more than ${maxSignatures} Signatures in Security` }, 'limit');
    const signature = readSignature(element);
    const info = readSignedInfo(signature.signedInfo, this.#verifying.rules);
    this.#found.push({
      signature,
      info,
      signer: this.#tokens.assertionOf(signature.keyInfo) ?? this.#tokens.ofKeyInfo(signature.keyInfo),
    });
  }

  #openAssertions(): Assertions | undefined {
    const { saml, rules, limits, now } = this.#verifying;
    if (saml === undefined) return undefined;
    return new Assertions({
      saml: saml.settings,
      issuers: saml.issuers,
      rules,
      limits,
      now,
      ids: this.ids,
      tokens: this.#tokens,
      formWithout: (element, form, omitted) => this.formOf(element, form, false, omitted),
    });
  }

  /** Verifies the SignatureValue of each Signature that was added (X12 steps 2 to 4). Throws SecurityProblem. */
  open(): void {
    for (const found of this.#found) {
      const { element } = found.signature;
      if (!this.#opened.has(element)) this.#opened.set(element, this.#open(found));
    }
    const { signer } = this;
    for (const other of this.#opened.values())
      if (signer !== undefined && !other.signer.signer.bytes.equals(signer.signer.bytes))
        invalid({ expected: 'Signatures of one signer in Security', got: 'another' }, 'two signers');
  }

  /** The signer of a Signature whose SignatureValue was verified; undefined for none. */
  get signer(): HolderKey | undefined {
    const [first] = this.#opened.values();
    return first?.signer;
  }

  /** The caller whose share of a memory the message uses; undefined without a verified SignatureValue. */
  get caller(): string | undefined {
    const [first] = this.#opened.values();
    return first && callerOf(first);
  }

  /** The certificate of this signer, if it is trusted itself (X11, X32). */
  get trustedSigner(): Certificate | undefined {
    const [first] = this.#opened.values();
    return first?.isTrusted === true && 'others' in first.signer ? first.signer.signer : undefined;
  }

  /** Returns true for a Signature whose SignatureValue was verified. */
  isOpened(element: TreeElement): boolean {
    return this.#opened.has(element);
  }

  /** Compares the digests of a Signature (X12 step 5). Throws SecurityProblem. */
  check(element: TreeElement): void {
    const opened = this.#opened.get(element);
    if (opened === undefined) throw new RangeError('a Signature that was not opened');
    this.#signatures.push(this.#verified(opened));
  }

  /** The result of the Signatures that were checked so far. */
  get verified(): Verified {
    return { signatures: this.#signatures, octets: this.#octets };
  }

  /** The algorithms of the first Signature that was read, whether it is valid or not (X31). */
  get algorithms(): Pick<AnsweredSignatures, 'method' | 'digest'> {
    const info = this.#found[0]?.info;
    return { method: info?.method.name, digest: info?.references[0]?.hash };
  }

  /**
   * Returns the canonical form of an element within the limit of X39. Throws SecurityProblem.
   *
   * @param keepsIncludes true for the text that the gateway reads, false for the text that is digested (X22)
   * @param omitted an element that is left out (X13)
   */
  formOf(element: TreeElement, form: CanonicalForm, keepsIncludes = false, omitted?: TreeElement): string {
    try {
      return canonicalize(this.#message.tree, element, form, this.#budget, omitted, keepsIncludes);
    } catch (error) {
      if (!(error instanceof CanonicalError)) throw error;
      if (error.problem === 'too long') refuseLong();
      if (error.problem === 'xml:base')
        invalid({ expected: 'no xml:base around signed content' }, 'canonical form');
      return invalid({ expected: 'no relative namespace name in signed content' }, 'canonical form');
    }
  }

  /** Checks the certificate and the SignatureValue, and reads SignedInfo again from its octets (X12 steps 2 to 4). */
  #open({ signature, info, signer: named }: Found): Opened {
    const { trust, limits, rules, now } = this.#verifying;
    const assertion = named instanceof TreeElement ? named : undefined;
    const keys = named instanceof TreeElement ? this.#holdersOf(named) : [named];
    const distrustOf = (key: HolderKey | undefined) =>
      key === undefined || !('others' in key) ? 'unknown CA' : trust.check(key, now);
    const distrust = assertion === undefined ? distrustOf(keys[0]) : undefined;
    if (distrust !== undefined)
      throw new SecurityProblem(
        'FailedAuthentication',
        { detail: 'the certificate is not trusted' },
        distrust,
      );
    const octets = this.formOf(signature.signedInfo, info.form);
    const signer = keys.find((key) => isSignedBy(octets, signature.value, info.method, key.signer.publicKey));
    if (signer === undefined)
      throw new SecurityProblem(
        'FailedCheck',
        { detail: 'the SignatureValue does not match SignedInfo' },
        'value',
      );
    const { root } = readTree(octets, limits);
    const isTrusted = assertion === undefined || distrustOf(signer) === undefined;
    const { value } = signature;
    return { signer, isTrusted, assertion, value, octets, info: readSignedInfo(root, rules) };
  }

  /** Confirms the Assertion of the message (X26); undefined for none. Throws SecurityProblem. */
  confirm({ signatures, octets }: Verified): Confirmed | undefined {
    const { block, body } = this.#message;
    const timestamps = block.children.filter((child) => child.is(names.wsu, 'Timestamp'));
    const covering = timestamps.length === 0 ? undefined : [body, ...timestamps];
    return this.assertions?.confirm(signatures, octets, covering);
  }

  /** Returns the keys of the holder of an Assertion (X26). Throws SecurityProblem. */
  #holdersOf(assertion: TreeElement): readonly HolderKey[] {
    return this.assertions?.holdersOf(assertion) ?? unsupportedToken('Assertions are not supported');
  }

  #verified({ info, ...opened }: Opened): VerifiedSignature {
    const covered = new Set<TreeElement>();
    const parts = new Set<number>();
    const targets = info.references.map((reference) => this.#targetOf(reference));
    for (const [index, reference] of info.references.entries()) {
      const target = targets[index];
      if (typeof target === 'number') {
        this.#checkPart(reference, target);
        parts.add(target);
      }
      const element = typeof target === 'object' ? this.#check(reference, target) : undefined;
      if (element === undefined) continue;
      covered.add(element);
      for (const part of this.#message.parts?.within(element) ?? []) parts.add(part);
    }
    const { name, hash: method } = info.method;
    const usesSha1 = method === 'sha1' || info.references.some((one) => one.hash === 'sha1');
    return { ...opened, algorithm: name, usesSha1, covered, parts };
  }

  /** Returns the element that a Reference names, or the position of a part (X7, X8, X22). Throws SecurityProblem. */
  #targetOf({ uri, isPart }: Reference): TreeElement | number {
    if (isPart !== (uri?.startsWith('cid:') === true))
      invalid(
        { expected: 'the Transform Attachment-Content-Signature exactly for each cid: reference' },
        'part',
      );
    if (isPart)
      return (
        this.#message.parts?.find(uri) ??
        invalid({ expected: 'a multipart message with the signed part', got: 'none' }, 'part')
      );
    const element = this.ids.resolve(uri);
    checkPlace(element, this.#message);
    return element;
  }

  /** Compares the digest of a Reference. Returns the element that it covers; undefined for a token without one. */
  #check(reference: Reference, element: TreeElement): TreeElement | undefined {
    const { form, isToken } = reference;
    const token = isToken ? this.#tokenOf(element, form) : undefined;
    const octets = token?.octets ?? this.formOf(element, form);
    compareDigest(reference, octets, element.local.slice(0, 64));
    const target = isToken ? token?.element : element;
    if (target === undefined || this.#octets.has(target)) return target;
    const hasIncludes = (this.#message.parts?.within(target).length ?? 0) > 0;
    this.#octets.set(target, hasIncludes && !isToken ? this.formOf(target, form, true) : octets);
    return target;
  }

  /** Compares the digest of a Reference to a part (X22). Throws SecurityProblem. */
  #checkPart(reference: Reference, index: number): void {
    const bytes = this.#message.parts?.bytesOf(index) ?? Buffer.alloc(0);
    this.#budget.left -= bytes.length;
    if (this.#budget.left < 0) refuseLong();
    compareDigest(reference, bytes, 'a part');
  }

  /** Returns the replacement of a SecurityTokenReference by an STR-Transform (X13). */
  #tokenOf(
    reference: TreeElement,
    form: CanonicalForm,
  ): { readonly octets: string; readonly element: TreeElement | undefined } {
    if (!reference.is(names.wsse, 'SecurityTokenReference'))
      unsupportedToken('an STR-Transform applies only to a SecurityTokenReference');
    const assertion = this.#tokens.assertionOf(reference);
    const { element, signer } =
      assertion === undefined
        ? this.#tokens.ofReference(reference)
        : { element: assertion, signer: undefined };
    if (element !== undefined) {
      const octets = this.formOf(element, form);
      const end = 1 + (element.prefix === '' ? 0 : element.prefix.length + 1) + element.local.length;
      const isDeclared = octets.startsWith(' xmlns="', end);
      return {
        octets: isDeclared ? octets : `${octets.slice(0, end)} xmlns=""${octets.slice(end)}`,
        element,
      };
    }
    const { prefix } = reference;
    const name = prefix === '' ? 'BinarySecurityToken' : `${prefix}:BinarySecurityToken`;
    const declared = prefix === '' ? `xmlns="${names.wsse}"` : `xmlns="" xmlns:${prefix}="${names.wsse}"`;
    const text = signer?.bytes.toString('base64') ?? '';
    return {
      octets: `<${name} ${declared} ValueType="${valueTypes.certificate}">${text}</${name}>`,
      element,
    };
  }
}

function refuseLong(): never {
  return invalid(
    { detail: `the signed content is more than ${canonicalShare} times as long as the message` },
    'limit',
  );
}
