import { escapeAttribute, escapeXml } from '../../../mappings/codec/scalars/text.ts';
import type { FaultWords } from '../../../mappings/compile.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import { type Reason, sentence } from '../../../mappings/contract/reason.ts';
import { isNcName } from '../../../mappings/xml/characters.ts';
import type { KeyLock } from '../../call/burnt-keys.ts';
import { headerOfFault, type ReplyHeader, signedBlockOf } from './headers/reply-header.ts';
import { envelopeFrame, type SoapVersion, soap11, soap12 } from './versions.ts';

/** Properties of a fault code. */
interface FaultCodeFacts {
  /** The envelope's own code that this code equals or specialises. */
  readonly is: 'sender' | 'receiver' | 'VersionMismatch' | 'MustUnderstand';
  /** Returns the namespace of a code that is not the envelope's: the faultcode of SOAP 1.1, or the Subcode of 1.2. */
  readonly namespaceOf?: (reply: ReplyHeader | undefined) => string;
}

/**
 * All fault codes (SOAP 1.1 §4.4.1; SOAP 1.2 Part 1 §5.4.6; WS-Addressing SOAP Binding §6.4.1.7; WS-Security 1.1.1 §12;
 * W52).
 */
const faultCodes = {
  sender: { is: 'sender' },
  receiver: { is: 'receiver' },
  VersionMismatch: { is: 'VersionMismatch' },
  MustUnderstand: { is: 'MustUnderstand' },
  OnlyAnonymousAddressSupported: {
    is: 'sender',
    namespaceOf: (reply) => reply?.addressing?.namespace ?? namespaces.addressing10,
  },
  InvalidSecurity: { is: 'sender', namespaceOf: () => namespaces.wsse },
  InvalidSecurityToken: { is: 'sender', namespaceOf: () => namespaces.wsse },
  UnsupportedSecurityToken: { is: 'sender', namespaceOf: () => namespaces.wsse },
  UnsupportedAlgorithm: { is: 'sender', namespaceOf: () => namespaces.wsse },
  SecurityTokenUnavailable: { is: 'sender', namespaceOf: () => namespaces.wsse },
  FailedAuthentication: { is: 'sender', namespaceOf: () => namespaces.wsse },
  FailedCheck: { is: 'sender', namespaceOf: () => namespaces.wsse },
  MessageExpired: { is: 'sender', namespaceOf: () => namespaces.wsu },
} as const satisfies Record<string, FaultCodeFacts>;

/** Names of the fault codes. */
export type FaultCode = keyof typeof faultCodes;

/** Reasons of faults before an operation is called, more precise than fault codes, with the equivalent HTTP status. */
const faultKinds = {
  /** Not well-formed, beyond an XML limit, or not in its declared encoding or charset. */
  MalformedRequest: { status: 400 },
  /** Not a valid SOAP envelope (W41). */
  InvalidEnvelope: { status: 400 },
  /** Not an operation of the contract, or in another namespace (W4). */
  OperationNotFound: { status: 404 },
  /** The action belongs to another operation (W4). */
  WrongAction: { status: 400 },
  /** An invalid header block. The fault must have no detail (SOAP 1.1 §4.4; SOAP 1.2 Part 1 §5.4.5). */
  InvalidHeader: { status: undefined },
  InternalError: { status: 500 },
} as const satisfies Record<string, { readonly status: number | undefined }>;

/** A key of `faultKinds`, or a code that needs no kind. */
export type FaultKind = keyof typeof faultKinds | Exclude<FaultCode, 'sender' | 'receiver'>;

/** The fault that a SOAP caller gets if no operation can be called (W27). */
export class Fault extends Error {
  readonly code: FaultCode;
  /** The parts of the message. */
  readonly reason: Reason;
  /** Name of the error in the log. */
  readonly kind: FaultKind;
  readonly version: SoapVersion;
  /** The header block that a MustUnderstand fault is about. */
  readonly block: { readonly namespace: string; readonly local: string } | undefined;
  /** Request headers that the Header of the fault answers. */
  header: ReplyHeader | undefined;
  /** The fault that the upstream defines itself (A29); undefined for any other. */
  readonly own: FaultWords | undefined;
  /** The keys of a message that may be read again after they are reserved (X24); undefined for any other fault. */
  readonly lock: KeyLock | undefined;

  constructor(
    soapVersion: SoapVersion,
    code: FaultCode,
    reason: Reason,
    details: {
      /** Default: `InvalidEnvelope` for errors of the caller. */
      readonly kind?: FaultKind;
      readonly block?: Fault['block'];
      readonly header?: ReplyHeader | undefined;
      readonly own?: FaultWords | undefined;
      readonly lock?: KeyLock | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(sentence(reason), details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'Fault';
    this.reason = reason;
    this.version = soapVersion;
    this.code = code;
    this.kind = details.kind ?? kindOf(code);
    this.block = details.block;
    this.header = details.header;
    this.own = details.own;
    this.lock = details.lock;
  }
}

function kindOf(code: FaultCode): FaultKind {
  if (code === 'sender') return 'InvalidEnvelope';
  return code === 'receiver' ? 'InternalError' : code;
}

/** Throws a fault with the sender code. */
export function refuse(version: SoapVersion, reason: Reason, kind: FaultKind = 'InvalidEnvelope'): never {
  throw new Fault(version, 'sender', reason, { kind });
}

/** Returns the equivalent HTTP status of a fault; undefined if it must have no detail. */
export function statusOfKind(kind: FaultKind): number | undefined {
  return kind in faultKinds ? faultKinds[kind as keyof typeof faultKinds].status : undefined;
}

/** Returns the status by which metrics and log count a fault before an operation is called. */
export function countedStatus(kind: FaultKind): number {
  return statusOfKind(kind) ?? 400;
}

/** Returns true if a code means an error of the caller. */
export function isSenderCode(code: FaultCode): boolean {
  return faultCodes[code].is === 'sender';
}

/** Returns true for a code of WS-Security (W52). */
export function isSecurityCode(code: FaultCode): boolean {
  const { namespaceOf }: FaultCodeFacts = faultCodes[code];
  const namespace = namespaceOf?.(undefined);
  return namespace === namespaces.wsse || namespace === namespaces.wsu;
}

/**
 * Writes a fault in an envelope. `requestId` is part of the text, so that a caller can quote it (W27).
 *
 * @param detailElement the element of a detail of the gateway; undefined for none
 * @param prefix prefix of SOAP's own codes (`faultCodePrefix`)
 */
export function writeFault(fault: Fault, requestId: string, detailElement?: string, prefix = 's'): string {
  const { version, code, message, own } = fault;
  const detail = own === undefined ? detailElement : own.detail === '' ? undefined : own.detail;
  // the text of a fault that the upstream defines is not changed
  const reason = escapeXml(own === undefined ? `${message} (request ${requestId})` : message, {
    replaced: 0,
  });
  const namespace = namespaceOfCode(fault);
  const declaration = namespace === undefined ? '' : ` xmlns:w="${escapeAttribute(namespace)}"`;
  // the namespace of WS-Security is declared on Fault (W52), any other on the code itself
  const [onFault, onCode] = isSecurityCode(code) ? [declaration, ''] : ['', declaration];
  const actor = own?.actor === undefined ? undefined : escapeXml(own.actor, { replaced: 0 });
  let body: string;
  if (version === soap11) {
    body = `${faultcode(fault, onCode, prefix)}<faultstring>${reason}</faultstring>`;
    if (actor !== undefined) body += `<faultactor>${actor}</faultactor>`;
    if (detail !== undefined) body += `<detail>${detail}</detail>`;
  } else {
    body = `${code12(fault, onCode, prefix)}<s:Reason><s:Text xml:lang="en">${reason}</s:Text></s:Reason>`;
    if (actor !== undefined) body += `<s:Role>${actor}</s:Role>`;
    if (detail !== undefined) body += `<s:Detail>${detail}</s:Detail>`;
  }
  const isOfAddressing = code === 'OnlyAnonymousAddressSupported';
  const header = headerOfFault(fault.header ?? {}, isOfAddressing, blocksOf(fault), own?.action);
  const { before, after } = envelopeFrame(version.namespace, header, signedBlockOf(fault.header));
  return `${before}<s:Fault${onFault}>${body}</s:Fault>${after}`;
}

/**
 * Returns the namespace of a code that is not the envelope's; undefined for a code of the envelope or without a
 * namespace.
 */
function namespaceOfCode({ code, own, header }: Fault): string | undefined {
  if (own?.code !== undefined) return own.code.namespace === '' ? undefined : own.code.namespace;
  const { namespaceOf }: FaultCodeFacts = faultCodes[code];
  return namespaceOf?.(header);
}

/** Returns a code in the envelope's namespace with its declaration: `>s:Server`, or ` xmlns:p="…">p:Server`. */
function envelopeCode({ version, code }: Fault, prefix: string): string {
  const { is }: FaultCodeFacts = faultCodes[code];
  const local = is === 'sender' || is === 'receiver' ? version[is] : is;
  return `${prefix === 's' ? '' : ` xmlns:${prefix}="${version.namespace}"`}>${prefix}:${local}`;
}

/** Returns the `faultcode` of SOAP 1.1 (§4.4.1). */
function faultcode(fault: Fault, declaration: string, prefix: string): string {
  const { code, own } = fault;
  const words = own?.code;
  if (declaration !== '' || isSecurityCode(code))
    return `<faultcode${declaration}>w:${words?.local ?? code}</faultcode>`;
  if (words !== undefined && words.is === undefined) return `<faultcode>${words.local}</faultcode>`;
  return `<faultcode${envelopeCode(fault, prefix)}${words?.more ?? ''}</faultcode>`;
}

/**
 * Returns the `Code` of SOAP 1.2 (Part 1 §5.4.1). An upstream's code that is not SOAP's own becomes the Subcode if it
 * is a QName.
 */
function code12(fault: Fault, declaration: string, prefix: string): string {
  const { code, own } = fault;
  const words = own?.code;
  let subcode: string | undefined;
  if (declaration !== '' || isSecurityCode(code)) subcode = `w:${words?.local ?? code}`;
  else if (words !== undefined && (words.is === undefined || words.more !== '') && isNcName(words.local))
    subcode = words.local;
  const value = `<s:Value${envelopeCode(fault, prefix)}</s:Value>`;
  if (subcode === undefined) return `<s:Code>${value}</s:Code>`;
  return `<s:Code>${value}<s:Subcode><s:Value${declaration}>${subcode}</s:Value></s:Subcode></s:Code>`;
}

/** Returns the header blocks that SOAP 1.2 defines for faults: Upgrade (Part 1 §5.4.7) and NotUnderstood (§5.4.8). */
function blocksOf({ code, version, block }: Fault): string {
  if (version !== soap12) return '';
  if (code === 'VersionMismatch') {
    return (
      `<s:Upgrade><s:SupportedEnvelope qname="e2:Envelope" xmlns:e2="${namespaces.soap12}"/>` +
      `<s:SupportedEnvelope qname="e1:Envelope" xmlns:e1="${namespaces.soap11}"/></s:Upgrade>`
    );
  }
  if (code === 'MustUnderstand' && block !== undefined) {
    const { namespace, local } = block;
    if (namespace === '') return `<s:NotUnderstood qname="${escapeAttribute(local)}"/>`;
    return `<s:NotUnderstood qname="q:${escapeAttribute(local)}" xmlns:q="${escapeAttribute(namespace)}"/>`;
  }
  return '';
}
