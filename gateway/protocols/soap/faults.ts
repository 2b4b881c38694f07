import { escapeAttribute, escapeXml } from '../../../mappings/codec/scalars/text.ts';
import { namespaces } from '../../../mappings/contract/model.ts';
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

/** What a SOAP caller meets when no operation can answer (W27). */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly version: SoapVersion;
  /** The header block that a MustUnderstand fault is about. */
  readonly block: { readonly namespace: string; readonly local: string } | undefined;
  /** What the fault's Header answers of the request's. */
  header: ReplyHeader | undefined;
  /** The detail's element (A29); undefined for none. */
  readonly detail: string | undefined;

  constructor(
    soapVersion: SoapVersion,
    code: FaultCode,
    reason: string,
    details: {
      readonly block?: Fault['block'];
      readonly header?: ReplyHeader | undefined;
      readonly detail?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(reason, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'Fault';
    this.version = soapVersion;
    this.code = code;
    this.block = details.block;
    this.header = details.header;
    this.detail = details.detail;
  }
}

/** Throws a fault that the caller can mend. */
export function refuse(version: SoapVersion, reason: string): never {
  throw new Fault(version, 'sender', reason);
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

/** A fault in an envelope; `requestId` goes into the text, so that a caller can name it (W27). */
export function writeFault(fault: Fault, requestId: string): string {
  const { version, code, message, detail } = fault;
  const { is, namespaceOf }: FaultCodeFacts = faultCodes[code];
  // a declared fault is what the service said, and no more
  const reason = escapeXml(detail === undefined ? `${message} (request ${requestId})` : message, {
    replaced: 0,
  });
  const own = is === 'sender' || is === 'receiver' ? version[is] : is;
  const namespace = namespaceOf?.(fault.header);
  const declaration = namespace === undefined ? '' : ` xmlns:w="${namespace}"`;
  // of WS-Security on Fault (W52), of WS-Addressing on the code itself
  const [onFault, onCode] = isSecurityCode(code) ? [declaration, ''] : ['', declaration];
  let body: string;
  if (version === soap11) {
    const faultcode = namespace === undefined ? `s:${own}` : `w:${code}`;
    body = `<faultcode${onCode}>${faultcode}</faultcode><faultstring>${reason}</faultstring>`;
    if (detail !== undefined) body += `<detail>${detail}</detail>`;
  } else {
    const subcode =
      namespace === undefined ? '' : `<s:Subcode><s:Value${onCode}>w:${code}</s:Value></s:Subcode>`;
    body =
      `<s:Code><s:Value>s:${own}</s:Value>${subcode}</s:Code>` +
      `<s:Reason><s:Text xml:lang="en">${reason}</s:Text></s:Reason>`;
    if (detail !== undefined) body += `<s:Detail>${detail}</s:Detail>`;
  }
  const isOfAddressing = code === 'OnlyAnonymousAddressSupported';
  const header = headerOfFault(fault.header ?? {}, isOfAddressing, blocksOf(fault));
  const { before, after } = envelopeFrame(version.namespace, header);
  return `${before}<s:Fault${onFault}>${body}</s:Fault>${after}`;
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
