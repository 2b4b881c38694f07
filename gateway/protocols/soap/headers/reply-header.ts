import { escapeXml } from '../../../../mappings/codec/scalars/text.ts';
import type { FaultAction } from '../../../../mappings/contract/adopted.ts';
import { namespaces } from '../../../../mappings/contract/model.ts';
import type { AnsweredSignatures } from '../../../../mappings/security/sign.ts';
import { writeTimestamp } from './timestamp.ts';

/**
 * Request headers that the Header of a reply or fault answers, with a member per kind of block. Plain data, because a
 * worker thread may read the request.
 */
export interface ReplyHeader {
  addressing?: Addressing;
  /** From a Security block that was read. */
  security?: SecurityFacts;
}

/** Data of a request's Security block, for the reply and the log. */
export interface SecurityFacts {
  /** Time of reading in ms since 1970, if the block contained a Timestamp, even an invalid one (W53). */
  timestamp: number | undefined;
  /** Kind of UsernameToken in the block. */
  token: 'text' | 'digest' | 'none';
  /** Names of elements that were ignored without verification (W50). */
  readonly unverified: string[];
  /** Facts about a verified signature for the log (X29). */
  signed?: SignedFacts | undefined;
  /** Undefined for a message without encryption. */
  decrypted?: DecryptedFacts | undefined;
  /** Why a signature was refused, for the log (X29). */
  refused?: string | undefined;
  /** Data of the request's Signatures for a signed reply; undefined if the reply is not signed (X30). */
  answered?: AnsweredSignatures | undefined;
}

/** Decrypted parts of a message, for the log (X29). */
export interface DecryptedFacts {
  /** Algorithm and elements for the log: `aes128-gcm body+signature`. */
  readonly shown: string;
  readonly usesCbc: boolean;
}

/** The signer of a message, and what the signature covers, for the log (X29). */
export interface SignedFacts {
  /** Undefined for a message without a Signature, and for a key without a certificate. */
  readonly signer?: string | undefined;
  /** SHA-256 of the certificate, 16 hex digits. */
  readonly signerCertificate?: string | undefined;
  /** Undefined for a message without a Signature. */
  readonly signature?: string | undefined;
  /** The issuer of a SAML Assertion; undefined for none. */
  readonly assertion?: string | undefined;
  /** True if the signature or a digest uses SHA-1. */
  readonly usesSha1: boolean;
  /** Undefined for a message without a Signature. */
  readonly audited?: AuditedFacts | undefined;
}

/** The signer of a message, and hashes of its verified parts, for the audit of a write (X29). Hashes have hex digits. */
export interface AuditedFacts {
  /** SHA-256 of the certificate; undefined for a key without a certificate. */
  readonly signerFingerprint: string | undefined;
  /** SHA-256 of each SignatureValue. */
  readonly signatureSha256: string;
  /** SHA-256 of the octets of Body; undefined if no Signature covers it. */
  readonly bodySha256: string | undefined;
}

/** WS-Addressing of one request, which is answered in the same version (W28). */
export interface Addressing {
  readonly namespace: string;
  messageId: string | undefined;
}

/** Returns the Header of a reply with its action (W28); empty if there is nothing to answer. */
export function headerOfReply({ addressing, security }: ReplyHeader, action: string): string {
  return headerElement(addressing, action, '', security);
}

/**
 * Returns the Header of a fault; empty if it has no content.
 *
 * @param isOfAddressing true if the fault's code is one of WS-Addressing (WS-Addressing SOAP Binding §6)
 * @param blocks header blocks that SOAP itself defines for faults, as text
 * @param declared actions of a fault that the WSDL declares (A34); undefined for any other fault
 */
export function headerOfFault(
  { addressing, security }: ReplyHeader,
  isOfAddressing: boolean,
  blocks: string,
  declared: FaultAction | undefined,
): string {
  return headerElement(addressing, faultAction(addressing, isOfAddressing, declared), blocks, security);
}

/** Returns the action of a fault. The version of 2004 has no default pattern for faults (§3.3.2 there). */
function faultAction(
  addressing: Addressing | undefined,
  isOfAddressing: boolean,
  declared: FaultAction | undefined,
): string {
  const is2004 = addressing?.namespace === namespaces.addressing2004;
  const action = declared?.declared ?? (is2004 ? undefined : declared?.default);
  return action ?? `${addressing?.namespace}${isOfAddressing || is2004 ? '' : '/soap'}/fault`;
}

/** Returns the Security block of a reply that is signed after it was written (X31); undefined for any other reply. */
export function signedBlockOf(header: ReplyHeader | undefined): string | undefined {
  const { answered, timestamp } = header?.security ?? {};
  return answered === undefined ? undefined : writeTimestamp(timestamp ?? Date.now());
}

/**
 * Returns a Header element. The Timestamp is its last block (W53). That of a signed reply is added with `signedBlockOf`,
 * so that no block of the upstream is after it.
 */
function headerElement(
  addressing: Addressing | undefined,
  action: string,
  blocks: string,
  security: SecurityFacts | undefined,
): string {
  const { timestamp, answered } = security ?? {};
  const time = timestamp === undefined || answered !== undefined ? '' : writeTimestamp(timestamp);
  if (addressing === undefined) {
    const content = blocks + time;
    return content === '' ? '' : `<s:Header>${content}</s:Header>`;
  }
  const { namespace, messageId } = addressing;
  const relates =
    messageId === undefined ? '' : `<w:RelatesTo>${escapeXml(messageId, { replaced: 0 })}</w:RelatesTo>`;
  return `<s:Header xmlns:w="${namespace}"><w:Action>${escapeXml(action, { replaced: 0 })}</w:Action>${relates}${blocks}${time}</s:Header>`;
}
