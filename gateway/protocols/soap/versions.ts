import type { Frame } from '../../../mappings/compile.ts';
import { namespaces } from '../../../mappings/contract/model.ts';

/** The differences between SOAP 1.1 and 1.2 (W3, W7, W27, W28). */
export interface SoapVersion {
  readonly name: '1.1' | '1.2';
  readonly format: 'soap11' | 'soap12';
  readonly namespace: string;
  readonly contentType: string;
  /** Fault codes for errors of the caller and of the gateway. */
  readonly sender: 'Client' | 'Sender';
  readonly receiver: 'Server' | 'Receiver';
  readonly roleAttribute: 'actor' | 'role';
  /** Roles of the gateway, in addition to an absent or empty one. */
  readonly ourRoles: readonly string[];
  /** The frame of a payload without Header. */
  readonly frame: Frame;
}

/** The XML declaration of all XML replies, with or without envelope (W8). */
export const xmlDeclaration = '<?xml version="1.0" encoding="utf-8"?>';

const headerEnd = '</s:Header>';

/**
 * Returns the envelope around a payload. `header` is the complete Header element, or empty.
 *
 * @param signedBlock last block of Header if the reply is signed. Body then has an Id (X31).
 */
export function envelopeFrame(namespace: string, header: string, signedBlock?: string): Frame {
  const start = `${xmlDeclaration}<s:Envelope xmlns:s="${namespace}">`;
  const opened = header === '' ? '<s:Header>' : header.slice(0, -headerEnd.length);
  const body = signedBlock === undefined ? '<s:Body>' : `<s:Body xmlns:u="${namespaces.wsu}" u:Id="_2">`;
  const between = `${signedBlock ?? ''}${headerEnd}${body}`;
  return {
    before: signedBlock === undefined ? start + header + body : start + opened + between,
    after: '</s:Body></s:Envelope>',
    headed: { before: start + opened, between },
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

/** The address of a SOAP request. */
export interface SoapAddress {
  /** The version of a fault until the envelope's own version is known (W3). */
  readonly version: SoapVersion;
  /** True if ports of both versions of an adopted service have this path. */
  readonly hasBothVersions?: boolean;
  /**
   * The path of an adopted service's ports, below the base path (A5); undefined means all operations of the contract.
   */
  readonly endpoint: string | undefined;
}

/** Returns a SOAP version by its name. */
export function versionNamed(name: SoapVersion['name']): SoapVersion {
  return name === '1.1' ? soap11 : soap12;
}
