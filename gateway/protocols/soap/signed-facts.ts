import { hash } from 'node:crypto';
import { instantFromXml } from '../../../mappings/codec/scalars/dates.ts';
import type { Signing, Wsse } from '../../../mappings/contract/credentials.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import { valueFrom } from '../../../mappings/security/assertion.ts';
import type { SignedMessage } from '../../../mappings/security/message.ts';
import { invalid, SecurityProblem } from '../../../mappings/security/problem.ts';
import type { Confirmed } from '../../../mappings/security/saml.ts';
import { readTree } from '../../../mappings/security/tree.ts';
import { callerOf, type Verified, type VerifiedSignature } from '../../../mappings/security/verify.ts';
import type { OnceEntry, SignedCredentials } from '../../call/credentials.ts';
import { certificatePart } from '../../http/certificate-part.ts';
import type { AuditedFacts, SignedFacts } from './headers/reply-header.ts';
import { windowProblem } from './headers/timestamp.ts';
import { receiverBlocks } from './signed-coverage.ts';
import { isTimestamp, isToken } from './verified-document.ts';
import type { SoapVersion } from './versions.ts';

/** Data about the signer of a message. It is plain data, because a worker thread may read it. */
export interface SignerFacts {
  readonly credentials: SignedCredentials;
  readonly shown: SignedFacts;
}

/** Settings of a contract, and the time of the call in ms since 1970. */
interface FactSettings {
  readonly wsse: Wsse;
  readonly signing: Signing;
  readonly limits: Limits;
  readonly now: number;
}

/**
 * Returns the facts of a message that a call and the log use; undefined for a message without a Signature and an Assertion.
 * Throws SecurityProblem for a message that is accepted once and cannot be remembered.
 */
export function factsOf(
  message: SignedMessage,
  { signatures, octets }: Verified,
  confirmed: Confirmed | undefined,
  version: SoapVersion,
  { wsse, signing, limits, now }: FactSettings,
): SignerFacts | undefined {
  const [first] = signatures;
  if (first === undefined && confirmed === undefined) return undefined;
  const { credential, replay, require } = signing;
  const x509 = first?.signer.signer.x509;
  const signer = x509 && certificatePart(x509, credential?.from ?? 'subject');
  const values = new Map<string, string>();
  if (credential !== undefined && signer !== undefined && first?.isTrusted === true)
    values.set(credential.name, signer);
  const ofAssertion = wsse.saml?.credential;
  const value = confirmed && ofAssertion && valueFrom(confirmed.assertion, ofAssertion.from);
  if (ofAssertion !== undefined && value !== undefined) values.set(ofAssertion.name, value);
  const once =
    replay === 'allow' || first === undefined
      ? []
      : entriesOf(signatures, lifetimeOf(message, octets, limits, now));
  const entry = confirmed && entryOf(confirmed, replay, limits);
  const fingerprint = x509 && certificatePart(x509, 'fingerprint');
  return {
    credentials: {
      values,
      once: entry === undefined ? once : [...once, entry],
      recipients: confirmed?.recipients,
      to: require.includes('to') ? receiversOf(message, octets, version, limits) : [],
    },
    shown: {
      signer,
      signerCertificate: fingerprint?.slice(0, 16),
      signature: signatures.map((one) => describe(one, message)).join(', ') || undefined,
      assertion: confirmed?.assertion.issuer,
      usesSha1: signatures.some((one) => one.usesSha1),
      audited: first && auditedOf(signatures, fingerprint, octets.get(message.body)),
    },
  };
}

/** Returns the values of the signed `wsa:To` blocks (X17). */
function receiversOf(
  { header }: SignedMessage,
  octets: Verified['octets'],
  version: SoapVersion,
  limits: Limits,
): readonly string[] {
  return receiverBlocks(header, version).flatMap((one) => {
    const text = octets.get(one);
    return text === undefined ? [] : [readTree(text, limits).root.text.trim()];
  });
}

/** Returns the time until which a message with this Timestamp is accepted (X17, X18). Throws SecurityProblem. */
function lifetimeOf(
  { block }: SignedMessage,
  octets: Verified['octets'],
  limits: Limits,
  now: number,
): number {
  const timestamp = block.children.find(isTimestamp);
  const text = timestamp === undefined ? undefined : octets.get(timestamp);
  if (text === undefined) return invalid({ expected: 'Timestamp to be signed', got: 'none' }, 'coverage');
  const { root } = readTree(text, limits);
  const timeOf = (local: string): number | undefined => {
    const element = root.children.find((child) => child.is(namespaces.wsu, local));
    return element === undefined ? undefined : instantFromXml(element.text);
  };
  const created = timeOf('Created');
  if (created === undefined)
    return invalid({ expected: 'an xs:dateTime in Created of Timestamp', got: 'other text' }, 'timestamp');
  const end = created + limits.wsseSignedLifeMs;
  const late = windowProblem('the signed message', { created, end }, now, limits);
  if (late !== undefined) throw new SecurityProblem('MessageExpired', late, 'expired');
  return Math.min(end, timeOf('Expires') ?? created + limits.wsseFreshMs) + limits.wsseSkewMs;
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

/**
 * Returns the entries of verified Signatures. The key is the SHA-256 of the hash of the signer's public key and the
 * octets of SignedInfo, because SignatureValue and the certificate can be replaced (X17).
 */
function entriesOf(signatures: readonly VerifiedSignature[], until: number): readonly OnceEntry[] {
  return signatures.map((signature) => {
    const { signer, octets } = signature;
    const bytes = Buffer.concat([Buffer.from(signer.signer.keyHash, 'latin1'), Buffer.from(octets)]);
    return { key: hash('sha256', bytes, 'latin1'), until, caller: callerOf(signature) };
  });
}

/**
 * Returns the facts of a message for the audit of a write. They prove later that a stored message is the one that was
 * processed (X29).
 *
 * @param body the octets of Body; undefined if no Signature covers it
 */
function auditedOf(
  signatures: readonly VerifiedSignature[],
  signerFingerprint: string | undefined,
  body: string | undefined,
): AuditedFacts {
  return {
    signerFingerprint,
    signatureSha256: signatures.map(({ value }) => hash('sha256', value)).join(', '),
    bodySha256: body === undefined ? undefined : hash('sha256', body),
  };
}

/** The last time that the memory of messages can store, in ms since 1970. */
const lastUntil = Date.UTC(2100, 0);

/** Returns the entry of an Assertion that is accepted once only; undefined for any other. Throws SecurityProblem. */
function entryOf(
  { assertion, method, until, key }: Confirmed,
  replay: Signing['replay'],
  { wsseSkewMs }: Limits,
): OnceEntry | undefined {
  if (!assertion.isOneTime && (method !== 'bearer' || replay === 'allow')) return undefined;
  if (until === undefined)
    return invalid(
      { expected: 'NotOnOrAfter in an Assertion that is accepted once', got: 'none' },
      'assertion',
    );
  return { key, until: Math.min(until + wsseSkewMs, lastUntil), caller: `issuer ${assertion.issuer}` };
}
