import { hash } from 'node:crypto';
import type { Saml } from '../contract/credentials.ts';
import type { Limits } from '../contract/limits.ts';
import {
  type Assertion,
  type Confirmation,
  isAssertion,
  issuerOf,
  readAssertion,
  type Window,
} from './assertion.ts';
import type { CanonicalForm } from './canonical.ts';
import { type Certificate, parseCertificate } from './certificate.ts';
import { elementsIn } from './elements.ts';
import { rsaBits, rsaRange } from './key-size.ts';
import { type BareKey, readKeyValue } from './key-value.ts';
import type { Ids } from './message.ts';
import { names } from './names.ts';
import { invalid, SecurityProblem } from './problem.ts';
import { readSignature, readSignedInfo, type SignatureRules } from './signed-info.ts';
import type { NamedToken, Tokens } from './tokens.ts';
import { readTree, type TreeElement } from './tree.ts';
import { compareDigest, isSignedBy } from './verify-value.ts';

/** The key of a holder that an issuer vouches for, with its certificate if the Assertion has one. */
export type HolderKey = NamedToken | { readonly signer: BareKey; readonly element: undefined };

/** A Signature of the message, as the confirmation of an Assertion needs it. */
export interface ConfirmingSignature {
  readonly signer: {
    readonly signer: Pick<BareKey, 'keyHash'> & { readonly x509: Certificate['x509'] | undefined };
  };
  /** False for a key that only an Assertion vouches for. */
  readonly isTrusted: boolean;
  /** The Assertion that its KeyInfo names. */
  readonly assertion: TreeElement | undefined;
  readonly covered: ReadonlySet<TreeElement>;
}

/** A confirmed Assertion. */
export interface Confirmed {
  readonly assertion: Assertion;
  readonly method: Confirmation['method'];
  /** The addresses that it is for; undefined for any. */
  readonly recipients: readonly string[] | undefined;
  /** The end of its validity in ms since 1970; undefined for none. */
  readonly until: number | undefined;
  /** The key for the memory of messages: 32 bytes, one character each. */
  readonly key: string;
  /** Throws SecurityProblem for another audience or time. It is called after the SOAP headers are read (X27). */
  readonly check: () => void;
}

/** The certificates of issuers by name. */
export type Issuers = ReadonlyMap<string, readonly Certificate[]>;

/** Returns the certificates of the issuers of a contract. The loader has checked all files. */
export function issuersOf({ issuers }: Saml): Issuers {
  return new Map(
    issuers.map(({ name, certificates }) => [
      name,
      certificates.flatMap((bytes) => parseCertificate(Buffer.from(bytes, 'base64')) ?? []),
    ]),
  );
}

/** The parts of a verifier that Assertions need. */
export interface AssertionContext {
  readonly saml: Saml;
  readonly issuers: Issuers;
  readonly rules: SignatureRules;
  readonly limits: Limits;
  /** Time in ms since 1970. */
  readonly now: number;
  readonly ids: Ids;
  readonly tokens: Tokens;
  /** Returns the canonical form of an element without another one. Throws SecurityProblem. */
  readonly formWithout: (element: TreeElement, form: CanonicalForm, omitted: TreeElement) => string;
}

/** An Assertion of the block, with its own Signature. */
interface Given {
  readonly element: TreeElement;
  readonly signature: TreeElement | undefined;
  /** Verified on first use. */
  octets: string | undefined;
}

/** Verifies the Assertion of a message (X26). */
export class Assertions {
  readonly #context: AssertionContext;
  #given: Given | undefined;

  constructor(context: AssertionContext) {
    this.#context = context;
  }

  /** Reads the shape of a child of the block (X27). Returns false for an element that is not an Assertion. */
  add(element: TreeElement): boolean {
    if (!isAssertion(element)) return false;
    if (this.#given !== undefined)
      invalid({ expected: 'at most one Assertion in Security', got: 'several' }, 'limit');
    const [signature, ...others] = element.children.filter((child) => child.is(names.ds, 'Signature'));
    if (others.length > 0)
      invalid({ expected: 'at most one Signature in Assertion', got: 'several' }, 'shape');
    if (signature !== undefined) readSignature(signature, true);
    this.#given = { element, signature, octets: undefined };
    return true;
  }

  /** Returns the keys of the holder of an Assertion that an issuer signed. Throws SecurityProblem. */
  holdersOf(element: TreeElement): readonly HolderKey[] {
    const given = this.#given;
    if (given?.element !== element)
      return invalid(
        { expected: 'an Assertion in Security for the key of a Signature', got: 'none' },
        'place',
      );
    const { confirmations } = this.#read(this.#signedOctets(given) ?? refuse(unsigned));
    const keys = confirmations.filter(({ method }) => method === 'holder-of-key').flatMap((one) => one.keys);
    if (keys.length === 0) refuse('the Assertion names no key of a holder');
    return keys.map((key) => this.#holderOf(key));
  }

  /**
   * Confirms the Assertion by the Signatures of the message, and reads it from verified octets. Returns undefined if there
   * is none. Throws SecurityProblem.
   *
   * @param signatures the verified Signatures of the message
   * @param octets the octets of the elements that they cover
   * @param covering the elements that the Signature of a sender that vouches must cover, apart from the Assertion;
   *   undefined if one is missing
   */
  confirm(
    signatures: readonly ConfirmingSignature[],
    octets: ReadonlyMap<TreeElement, string>,
    covering: readonly TreeElement[] | undefined,
  ): Confirmed | undefined {
    const given = this.#given;
    if (given === undefined) return undefined;
    const signed = this.#signedOctets(given);
    const assertion = this.#read(signed ?? octets.get(given.element) ?? refuse(unsigned));
    if (!this.#context.issuers.has(assertion.issuer)) refuse(unknownIssuer);
    if (assertion.id === '') invalid({ expected: 'an ID on Assertion', got: 'none' }, 'assertion');
    const wanted = covering && [...covering, given.element];
    const problems = assertion.confirmations.map((one) =>
      this.#problemOf(one, given.element, signed !== undefined, signatures, wanted),
    );
    const fitting = assertion.confirmations.filter((_, index) => problems[index] === undefined);
    if (fitting.length > 0) return this.#confirmed(assertion, fitting);
    throw problems[0] ?? refusal('the Assertion has no confirmation');
  }

  #problemOf(
    { method, keys }: Confirmation,
    element: TreeElement,
    isSigned: boolean,
    signatures: readonly ConfirmingSignature[],
    wanted: readonly TreeElement[] | undefined,
  ): SecurityProblem | undefined {
    const { vouchers, bearer } = this.#context.saml;
    if (method === undefined)
      return new SecurityProblem(
        'UnsupportedSecurityToken',
        { detail: 'the confirmation method of the Assertion is not supported' },
        'token',
      );
    if (method === 'sender-vouches') {
      const isVoucher = ({ isTrusted, signer }: ConfirmingSignature) =>
        isTrusted && vouchers.includes(fingerprintOf(signer.signer.x509));
      const isSufficient = signatures.some(
        (one) => isVoucher(one) && wanted?.every((part) => one.covered.has(part)) === true,
      );
      if (isSufficient) return undefined;
      return refusal(
        signatures.some(isVoucher)
          ? 'the Signature of a sender that vouches must cover Body, Timestamp and Assertion'
          : 'the signer of the message may not vouch for an Assertion',
      );
    }
    if (!isSigned) return refusal(unsigned);
    if (method === 'bearer') return bearer ? undefined : refusal('bearer Assertions are not accepted');
    const named = signatures.filter(({ assertion }) => assertion === element);
    const hashes = named.length === 0 ? [] : keys.map((key) => this.#holderOf(key).signer.keyHash);
    const isHolder = named.some(({ signer }) => hashes.includes(signer.signer.keyHash));
    return isHolder ? undefined : refusal('the Signature of the message must name the Assertion as its key');
  }

  /**
   * Uses the confirmations with the method of the first one that is valid now.
   *
   * @param fitting the confirmations whose key or method the message has
   */
  #confirmed(assertion: Assertion, fitting: readonly Confirmation[]): Confirmed {
    const { saml, now, limits } = this.#context;
    const valid = fitting.filter(({ window }) => timeProblem(window, now, limits) === undefined);
    const [first] = valid.length === 0 ? fitting : valid;
    if (first === undefined) throw new RangeError('expected a confirmation');
    const { method, window } = first;
    const used = valid.length === 0 ? [first] : valid.filter((one) => one.method === method);
    const recipients = used.flatMap(({ recipient }) => recipient ?? []);
    const untils = used.flatMap(({ window: { until } }) => until ?? []);
    const { audience } = saml;
    const isOther =
      audience !== undefined &&
      (assertion.audiences.length === 0 || assertion.audiences.some((list) => !list.includes(audience)));
    const problem = isOther
      ? refusal('the Assertion is for another audience', 'audience')
      : (timeProblem(assertion.window, now, limits) ?? timeProblem(window, now, limits));
    const latest = untils.length < used.length ? undefined : Math.max(...untils);
    const ends = [assertion.window.until, latest].filter((end) => end !== undefined);
    return {
      assertion,
      method,
      recipients: recipients.length < used.length ? undefined : recipients,
      until: ends.length === 0 ? undefined : Math.min(...ends),
      key: hash('sha256', `assertion ${assertion.issuer}\n${assertion.id}`, 'latin1'),
      check: () => {
        if (problem !== undefined) throw problem;
      },
    };
  }

  #read(octets: string): Assertion {
    return readAssertion(readTree(octets, this.#context.limits));
  }

  /** Returns the octets of an Assertion without its Signature, once that is verified; undefined if it has none. */
  #signedOctets(given: Given): string | undefined {
    const { element, signature } = given;
    if (signature === undefined) return undefined;
    given.octets ??= this.#verify(element, signature);
    return given.octets;
  }

  /** Verifies the Signature of an Assertion with the certificates of its issuer. Returns the octets. Throws SecurityProblem. */
  #verify(element: TreeElement, signature: TreeElement): string {
    const { issuers, rules, limits, now, ids, formWithout } = this.#context;
    const certificates = issuers.get(issuerOf(element)) ?? refuse(unknownIssuer);
    const { signedInfo, value, keyInfo } = readSignature(signature, true);
    const { form, method } = readSignedInfo(signedInfo, rules);
    const valid = certificates.filter(({ from, to }) => from <= now && now <= to);
    if (valid.length === 0) refuse('the certificate is not trusted', 'expired');
    if (keyInfo !== undefined && !valid.some((one) => isNamed(keyInfo, one)))
      refuse('the Assertion is signed with another certificate than that of its issuer', 'issuer key');
    const octets = formWithout(signedInfo, form, signature);
    if (!valid.some(({ publicKey }) => isSignedBy(octets, value, method, publicKey)))
      throw new SecurityProblem(
        'FailedCheck',
        { detail: 'the SignatureValue of the Assertion does not match SignedInfo' },
        'value',
      );
    const { references } = readSignedInfo(readTree(octets, limits).root, rules);
    const [reference, ...others] = references;
    if (
      reference === undefined ||
      others.length > 0 ||
      !reference.isEnveloped ||
      reference.isToken ||
      reference.isPart ||
      reference.form.kind !== 'exclusive' ||
      ids.resolve(reference.uri) !== element
    )
      return invalid(
        {
          expected:
            'one Reference to the ID of the Assertion, with enveloped-signature and exclusive canonicalization',
        },
        'assertion',
      );
    const content = formWithout(element, reference.form, signature);
    compareDigest(reference, content, 'Assertion');
    return content;
  }

  #holderOf(keyInfo: TreeElement): HolderKey {
    const [child] = keyInfo.children;
    const isValue = child?.is(names.ds, 'KeyValue') === true && elementsIn(keyInfo).length === 1;
    const key = isValue ? readKeyValue(child) : undefined;
    const holder: HolderKey =
      key === undefined ? this.#context.tokens.ofKeyInfo(keyInfo) : { signer: key, element: undefined };
    const bits = rsaBits(holder.signer.publicKey);
    if (bits !== undefined && (bits < rsaRange.least || bits > rsaRange.most))
      refuse('the certificate is not trusted', 'short key');
    return holder;
  }
}

const unsigned = 'the Assertion is not signed by its issuer';
const unknownIssuer = 'the issuer of the Assertion is not trusted';

function refusal(detail: string, logged = 'assertion'): SecurityProblem {
  return new SecurityProblem('FailedAuthentication', { detail }, logged);
}

function refuse(detail: string, logged?: string): never {
  throw refusal(detail, logged);
}

function fingerprintOf(x509: Certificate['x509'] | undefined): string {
  return x509?.fingerprint256.replaceAll(':', '').toLowerCase() ?? '';
}

function timeProblem(
  { from, until }: Window,
  now: number,
  { wsseSkewMs }: Limits,
): SecurityProblem | undefined {
  const isEarly = from !== undefined && now + wsseSkewMs < from;
  const isLate = until !== undefined && now - wsseSkewMs >= until;
  if (!isEarly && !isLate) return undefined;
  const here = `the time of the gateway is ${new Date(now).toISOString()}`;
  const detail = `the Assertion ${isEarly ? 'is not valid yet' : 'has expired'}, ${here}`;
  return new SecurityProblem('MessageExpired', { detail }, 'assertion time');
}

/**
 * Returns true unless the KeyInfo of an Assertion's Signature names another key than that of a certificate. The
 * certificate of the issuer is configured, so other hints are not read.
 */
function isNamed(keyInfo: TreeElement, certificate: Certificate): boolean {
  const found: { is: boolean }[] = [];
  const pending = [...keyInfo.children];
  for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
    const text = element.text.replace(/[ \t\r\n]/g, '');
    if (element.is(names.ds, 'X509Certificate'))
      found.push({ is: Buffer.from(text, 'base64').equals(certificate.bytes) });
    else if (element.is(names.ds, 'KeyValue'))
      found.push({ is: readKeyValue(element).keyHash === certificate.keyHash });
    else pending.push(...element.children);
  }
  return found.length === 0 || found.some(({ is }) => is);
}
