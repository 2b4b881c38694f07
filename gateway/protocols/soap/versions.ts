import type { Frame } from '../../../mappings/compile.ts';
import { namespaces } from '../../../mappings/contract/model.ts';

/** Everything that differs between SOAP 1.1 and 1.2, as one value each (W3, W7, W27, W28). */
export interface SoapVersion {
  readonly name: '1.1' | '1.2';
  readonly format: 'soap11' | 'soap12';
  readonly namespace: string;
  readonly contentType: string;
  /** Code of a fault that the caller can mend, and of one that it can't. */
  readonly sender: 'Client' | 'Sender';
  readonly receiver: 'Server' | 'Receiver';
  readonly roleAttribute: 'actor' | 'role';
  /** Roles that are ours besides an absent or empty one. */
  readonly ourRoles: readonly string[];
  /** What a payload goes out in when there is no header to write. */
  readonly frame: Frame;
}

/** Reply bodies in XML start with it, in an envelope or not (W8). */
export const xmlDeclaration = '<?xml version="1.0" encoding="utf-8"?>';

const headerEnd = '</s:Header>';

/** An envelope around a payload; `header` is the whole Header element, or empty. */
export function envelopeFrame(namespace: string, header: string): Frame {
  const start = `${xmlDeclaration}<s:Envelope xmlns:s="${namespace}">`;
  const opened = header === '' ? '<s:Header>' : header.slice(0, -headerEnd.length);
  return {
    before: `${start}${header}<s:Body>`,
    after: '</s:Body></s:Envelope>',
    headed: { before: start + opened, between: `${headerEnd}<s:Body>` },
  };
}

/** SOAP 1.1 (W3C Note of 8 May 2000). */
export const soap11: SoapVersion = {
  name: '1.1',
  format: 'soap11',
  namespace: namespaces.soap11,
  contentType: 'text/xml; charset=utf-8',
  sender: 'Client',
  receiver: 'Server',
  roleAttribute: 'actor',
  ourRoles: ['http://schemas.xmlsoap.org/soap/actor/next'],
  frame: envelopeFrame(namespaces.soap11, ''),
};

/** SOAP 1.2 (W3C Recommendation, second edition). */
export const soap12: SoapVersion = {
  name: '1.2',
  format: 'soap12',
  namespace: namespaces.soap12,
  contentType: 'application/soap+xml; charset=utf-8',
  sender: 'Sender',
  receiver: 'Receiver',
  roleAttribute: 'role',
  ourRoles: [
    'http://www.w3.org/2003/05/soap-envelope/role/next',
    'http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver',
  ],
  frame: envelopeFrame(namespaces.soap12, ''),
};

/** Where a SOAP request came to. */
export interface SoapAddress {
  /** The version of a fault until the envelope's own version is known (W3). */
  readonly version: SoapVersion;
  /** Whether ports of both versions of an adopted service have this path. */
  readonly hasBothVersions?: boolean;
  /** The path below the base path, where ports of an adopted service answer (A5); undefined: all that the contract has. */
  readonly endpoint: string | undefined;
}

/** A SOAP version by its name. */
export function versionNamed(name: SoapVersion['name']): SoapVersion {
  return name === '1.1' ? soap11 : soap12;
}
