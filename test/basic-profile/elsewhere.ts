import type { Requirement } from './description.ts';

/** Requirements without a test: a rule for the client, or for something that the gateway does not have. */
export interface Inapplicable extends Requirement {
  readonly why: string;
}

const rpc = 'the description has no rpc/literal binding';
const headers = 'the description has no header and no fault';
const imports = 'the description is one document with inline schemas';
const consumer = 'a rule for the client';
const uddi = 'no UDDI registry';

export const inapplicable: readonly Inapplicable[] = [
  {
    id: 'R1002',
    says: 'detail may have any children',
    why: 'the detail has the one element that the WSDL declares, or no element (W27)',
  },
  { id: 'R1003', says: 'detail may have qualified attributes, which are accepted', why: consumer },
  { id: 'R1007', says: 'no encodingStyle on grandchildren of Body', why: rpc },
  { id: 'R1016', says: 'xml:lang on faultstring is accepted', why: consumer },
  { id: 'R1030', says: 'the receiver of a fault should inform the user, if practical', why: consumer },
  { id: 'R1107', says: 'a Body whose one child is a Fault is read as a fault', why: consumer },
  { id: 'R1110', says: 'port 80 may be used', why: 'permitted; the port is a setting' },
  { id: 'R1108', says: 'no HTTP Extension Framework', why: consumer },
  { id: 'R1112', says: '200 or 202 without an envelope', why: 'every operation has a reply' },
  {
    id: 'R1113',
    says: 'a malformed request should be 400',
    why: 'errors in a SOAP message get an envelope with 500, which .NET reads (W27); other errors get 400',
  },
  { id: 'R1119', says: 'an unquoted SOAPAction may be rejected', why: 'it is accepted (W4)' },
  { id: 'R1120', says: 'cookies may be used', why: 'the gateway uses none' },
  { id: 'R1122', says: 'cookies should follow RFC 2965', why: 'the gateway uses none' },
  { id: 'R1123', says: 'a cookie’s value is opaque', why: consumer },
  { id: 'R1130', says: 'a redirect has status 307', why: 'the gateway sends no redirects' },
  { id: 'R1131', says: 'a consumer may follow a redirect', why: consumer },
  { id: 'R1140', says: 'HTTP/1.1 should be used', why: consumer },
  { id: 'R2002', says: 'schemas are imported by xs:import', why: imports },
  {
    id: 'R2005',
    says: 'an imported description has the target namespace of the import',
    why: imports,
  },
  { id: 'R2007', says: 'wsdl:import has a location', why: imports },
  { id: 'R2008', says: 'a location may be ignored', why: consumer },
  { id: 'R2009', says: 'an imported schema may begin with a byte order mark', why: imports },
  { id: 'R2010', says: 'an imported schema is UTF-8 or UTF-16', why: imports },
  { id: 'R2011', says: 'an imported schema is XML 1.0', why: imports },
  { id: 'R2020', says: 'wsdl:documentation may be in wsdl:import', why: imports },
  {
    id: 'R2021',
    says: 'wsdl:documentation may be in wsdl:part',
    why: 'permitted; the gateway writes it in operations',
  },
  {
    id: 'R2024',
    says: 'wsdl:documentation may be in wsdl:definitions',
    why: 'permitted; the gateway writes it in operations',
  },
  {
    id: 'R2025',
    says: 'extensions of WSDL may be used',
    why: 'permitted; the gateway uses wsaw:Action of the W3C',
  },
  { id: 'R2027', says: 'a mandatory extension is understood', why: consumer },
  {
    id: 'R2112',
    says: 'the wrapper of an array should not be called ArrayOfX',
    why: 'a SHOULD for rpc/literal wrappers; types have such names, as in the proxies of existing clients (W32)',
  },
  { id: 'R2203', says: 'rpc parts refer to a type', why: rpc },
  { id: 'R2205', says: 'parts of headers and faults refer to an element', why: headers },
  {
    id: 'R2207',
    says: 'parts that refer to elements are permitted if no rpc body uses them',
    why: rpc,
  },
  { id: 'R2208', says: 'parts may be bound in headers', why: headers },
  { id: 'R2211', says: 'no xsi:nil on part accessors', why: rpc },
  { id: 'R2212', says: 'an rpc envelope has one accessor per part', why: rpc },
  { id: 'R2213', says: 'an envelope without parts has an empty Body', why: 'every message has a part' },
  { id: 'R2214', says: 'an rpc envelope without parts has no accessor', why: rpc },
  { id: 'R2301', says: 'children of Body have the order of the parts', why: 'every message has one part' },
  { id: 'R2302', says: 'parameterOrder determines which part is the return value', why: rpc },
  { id: 'R2305', says: 'parameterOrder omits at most one part', why: rpc },
  { id: 'R2707', says: 'use is literal by default', why: consumer },
  {
    id: 'R2714',
    says: 'a one-way operation has no envelope in the response',
    why: 'every operation has a reply',
  },
  {
    id: 'R2750',
    says: 'a consumer ignores an envelope in the response of a one-way operation',
    why: 'every operation has a reply',
  },
  {
    id: 'R2727',
    says: 'a consumer does not treat a received one-way call as processed',
    why: 'every operation has a reply',
  },
  { id: 'R2717', says: 'an rpc soap:body has a namespace', why: rpc },
  { id: 'R2719', says: 'header faults may be omitted', why: headers },
  { id: 'R2720', says: 'soap:header refers to one part', why: headers },
  { id: 'R2721', says: 'soap:fault has a name', why: headers },
  { id: 'R2722', says: 'use is permitted on soap:fault', why: headers },
  { id: 'R2723', says: 'use on soap:fault is literal', why: headers },
  {
    id: 'R2725',
    says: 'VersionMismatch, MustUnderstand and Client faults are checked in this order',
    why: 'not followed if two apply: an invalid envelope or operation is reported before an unknown header block (W43); nothing is processed in either case',
  },
  { id: 'R2726', says: 'an rpc soap:header has no namespace', why: headers },
  { id: 'R2729', says: 'the wrapper of an rpc reply has the name of the operation', why: rpc },
  { id: 'R2735', says: 'part accessors have no namespace', why: rpc },
  { id: 'R2737', says: 'children of part accessors have the namespace of their type', why: rpc },
  { id: 'R2738', says: 'described headers are in the envelope', why: headers },
  {
    id: 'R2739',
    says: 'other headers are permitted in the envelope',
    why: 'permitted; a request with WS-Addressing gets a reply with WS-Addressing (W28)',
  },
  {
    id: 'R2740',
    says: 'known faults should be described',
    why: 'a SHOULD that is not followed: errors are members of the reply, and importers fail on a wsdl:fault (W26, W32)',
  },
  { id: 'R2741', says: 'known header faults should be described', why: headers },
  { id: 'R2742', says: 'other faults may occur', why: 'permitted' },
  { id: 'R2743', says: 'other header faults may occur', why: 'permitted' },
  { id: 'R2747', says: 'a consumer treats every extension of the SOAP binding as required', why: consumer },
  { id: 'R2748', says: 'the same, regardless of the value of wsdl:required', why: consumer },
  { id: 'R2749', says: 'soap:header has part, not parts', why: headers },
  { id: 'R2751', says: 'the order of headers is free', why: 'permitted' },
  { id: 'R2752', says: 'a header may be repeated', why: headers },
  {
    id: 'R2753',
    says: 'headers outside the description may be mandatory',
    why: 'permitted; W28 has the gateway’s rule',
  },
  { id: 'R2754', says: 'soap:fault has the name of the wsdl:fault', why: headers },
  { id: 'R2755', says: 'rpc accessors have the names of the parts', why: rpc },
  { id: 'R3100', says: 'a bindingTemplate has an accessPoint', why: uddi },
  { id: 'R2803', says: 'the namespace of a wsdl:import is not a relative URI', why: imports },
  { id: 'R3002', says: 'a tModel uses WSDL as its description language', why: uddi },
  { id: 'R3003', says: 'a tModel is categorized as wsdlSpec', why: uddi },
  { id: 'R3010', says: 'a tModel refers to a binding', why: uddi },
  { id: 'R3011', says: 'the binding that a tModel refers to conforms', why: uddi },
  { id: 'R5000', says: 'HTTPS may be used', why: 'permitted; the gateway or a load balancer terminates TLS' },
  {
    id: 'R5001',
    says: 'the address in the description is https if HTTPS is required',
    why: 'SOAPBRIDGE_PUBLIC_URL sets the address',
  },
  {
    id: 'R5010',
    says: 'HTTPS with client certificates may be required',
    why: 'permitted; the gateway or a load balancer terminates TLS',
  },
];
