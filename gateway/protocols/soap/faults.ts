import { escapeAttribute, escapeXml } from '../../../mappings/codec/scalars/text.ts';
import type { FaultWords } from '../../../mappings/compile.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
import { type Reason, sentence } from '../../../mappings/contract/reason.ts';
import { isNcName } from '../../../mappings/xml/characters.ts';
import { headerOfFault, type ReplyHeader } from './headers/reply-header.ts';
import { envelopeFrame, type SoapVersion, soap11, soap12 } from './versions.ts';

/** What a fault's code is in an envelope. */
interface FaultCodeFacts {
  /** The envelope's own code that it is, or that it is a kind of. */
  readonly is: 'sender' | 'receiver' | 'VersionMismatch' | 'MustUnderstand';
  /** The namespace of a code that isn't the envelope's: the faultcode of SOAP 1.1, the Subcode of 1.2. */
  readonly namespaceOf?: (reply: ReplyHeader | undefined) => string;
}

/** Every code (SOAP 1.1, 4.4.1; SOAP 1.2 Part 1, 5.4.6; WS-Addressing SOAP Binding, 6.4.1.7; WS-Security 1.1.1, 12; W52). */
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
  FailedAuthentication: { is: 'sender', namespaceOf: () => namespaces.wsse },
  MessageExpired: { is: 'sender', namespaceOf: () => namespaces.wsu },
} as const satisfies Record<string, FaultCodeFacts>;

/** The codes of faults, by what each is here. */
export type FaultCode = keyof typeof faultCodes;

/** Why no operation can answer, beyond what the codes of SOAP tell apart; each with the HTTP status that it is like. */
const faultKinds = {
  /** Not well-formed, over a limit of XML, or not of its coding or charset. */
  MalformedRequest: { status: 400 },
  /** Not an envelope as SOAP has it (W41). */
  InvalidEnvelope: { status: 400 },
  /** No operation of the contract, or not in its namespace (W4). */
  OperationNotFound: { status: 404 },
  /** An action that is none of the operation's (W4). */
  WrongAction: { status: 400 },
  /** A header block, of which a detail may say nothing (SOAP 1.1, 4.4; SOAP 1.2 Part 1, 5.4.5). */
  InvalidHeader: { status: undefined },
  InternalError: { status: 500 },
} as const satisfies Record<string, { readonly status: number | undefined }>;

/** A row of `faultKinds`, or the code that says it all. */
export type FaultKind = keyof typeof faultKinds | Exclude<FaultCode, 'sender' | 'receiver'>;

/** What a SOAP caller meets when no operation can answer (W27). */
export class Fault extends Error {
  readonly code: FaultCode;
  /** The data of the message. */
  readonly reason: Reason;
  /** What the log calls it. */
  readonly kind: FaultKind;
  readonly version: SoapVersion;
  /** The header block that a MustUnderstand fault is about. */
  readonly block: { readonly namespace: string; readonly local: string } | undefined;
  /** What the fault's Header answers of the request's. */
  header: ReplyHeader | undefined;
  /** The fault that the upstream names itself (A29); undefined for any other. */
  readonly own: FaultWords | undefined;

  constructor(
    soapVersion: SoapVersion,
    code: FaultCode,
    reason: Reason,
    details: {
      /** By default `InvalidEnvelope` of what the caller can mend. */
      readonly kind?: FaultKind;
      readonly block?: Fault['block'];
      readonly header?: ReplyHeader | undefined;
      readonly own?: FaultWords | undefined;
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
  }
}

function kindOf(code: FaultCode): FaultKind {
  if (code === 'sender') return 'InvalidEnvelope';
  return code === 'receiver' ? 'InternalError' : code;
}

/** Throws a fault that the caller can mend. */
export function refuse(version: SoapVersion, reason: Reason, kind: FaultKind = 'InvalidEnvelope'): never {
  throw new Fault(version, 'sender', reason, { kind });
}

/** The HTTP status that a fault before any operation is like; undefined where its detail may say nothing. */
export function statusOfKind(kind: FaultKind): number | undefined {
  return kind in faultKinds ? faultKinds[kind as keyof typeof faultKinds].status : undefined;
}

/** Whether the caller can mend what a code is about. */
export function isSenderCode(code: FaultCode): boolean {
  return faultCodes[code].is === 'sender';
}

/** Whether a code is one of WS-Security's (W52). */
export function isSecurityCode(code: FaultCode): boolean {
  const { namespaceOf }: FaultCodeFacts = faultCodes[code];
  const namespace = namespaceOf?.(undefined);
  return namespace === namespaces.wsse || namespace === namespaces.wsu;
}

/**
 * A fault in an envelope; `requestId` goes into the text, so that a caller can name it (W27).
 *
 * @param told the element of a detail of ours; undefined for none
 * @param prefix that of SOAP's own codes (`faultCodePrefix`)
 */
export function writeFault(fault: Fault, requestId: string, told?: string, prefix = 's'): string {
  const { version, code, message, own } = fault;
  const detail = own === undefined ? told : own.detail === '' ? undefined : own.detail;
  // a fault of the upstream's own has its words and no more
  const reason = escapeXml(own === undefined ? `${message} (request ${requestId})` : message, {
    replaced: 0,
  });
  const namespace = namespaceOfCode(fault);
  const declaration = namespace === undefined ? '' : ` xmlns:w="${escapeAttribute(namespace)}"`;
  // of WS-Security on Fault (W52), of any other namespace on the code itself
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
  const { before, after } = envelopeFrame(version.namespace, header);
  return `${before}<s:Fault${onFault}>${body}</s:Fault>${after}`;
}

/** The namespace of a code that is not the envelope's; undefined for the envelope's, and for a code in no namespace. */
function namespaceOfCode({ code, own, header }: Fault): string | undefined {
  if (own?.code !== undefined) return own.code.namespace === '' ? undefined : own.code.namespace;
  const { namespaceOf }: FaultCodeFacts = faultCodes[code];
  return namespaceOf?.(header);
}

/** A code of the envelope's own namespace with its declaration: `>s:Server`, or ` xmlns:p="…">p:Server`. */
function envelopeCode({ version, code }: Fault, prefix: string): string {
  const { is }: FaultCodeFacts = faultCodes[code];
  const local = is === 'sender' || is === 'receiver' ? version[is] : is;
  return `${prefix === 's' ? '' : ` xmlns:${prefix}="${version.namespace}"`}>${prefix}:${local}`;
}

/** `faultcode` of SOAP 1.1 (4.4.1). */
function faultcode(fault: Fault, declaration: string, prefix: string): string {
  const { code, own } = fault;
  const words = own?.code;
  if (declaration !== '' || isSecurityCode(code))
    return `<faultcode${declaration}>w:${words?.local ?? code}</faultcode>`;
  if (words !== undefined && words.is === undefined) return `<faultcode>${words.local}</faultcode>`;
  return `<faultcode${envelopeCode(fault, prefix)}${words?.more ?? ''}</faultcode>`;
}

/** `Code` of SOAP 1.2 (part 1, 5.4.1). A code of the upstream's that is not SOAP's own is the Subcode, if it is a QName. */
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

/** What SOAP 1.2 says of a fault in header blocks: Upgrade (Part 1, 5.4.7) and NotUnderstood (5.4.8). */
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
