import type { Requirement } from './description.ts';

/** Requirements that do not apply, because they bind another party or an unused feature, with the reason. */
export interface Inapplicable extends Requirement {
  readonly why: string;
}

const rpc = 'no rpc/literal binding is described';
const headers = 'no header and no fault is described';
const imports = 'the description is one document, its schemas inline';
const consumer = 'binds who calls';
const uddi = 'no UDDI registry';

export const inapplicable: readonly Inapplicable[] = [
  {
    id: 'R1002',
    says: 'detail may have any children',
    why: 'our faults have no detail, as it hides the fault in WCF and SOAP::WSDL (W27)',
  },
  { id: 'R1003', says: 'detail may have qualified attributes, which are accepted', why: consumer },
  { id: 'R1007', says: 'no encodingStyle on grandchildren of Body', why: rpc },
  { id: 'R1016', says: 'xml:lang on faultstring is accepted', why: consumer },
  { id: 'R1030', says: 'who gets a fault should tell the person behind it, where practical', why: consumer },
  { id: 'R1107', says: 'a Body whose one child is a Fault is read as a fault', why: consumer },
  { id: 'R1110', says: 'port 80 may be used', why: 'permits; the port is a setting' },
  { id: 'R1108', says: 'no HTTP Extension Framework', why: consumer },
  { id: 'R1112', says: '200 or 202 without an envelope', why: 'every operation has a reply' },
  {
    id: 'R1113',
    says: 'a malformed request should be 400',
    why: 'what can be told from a SOAP message is answered in its envelope with 500, which .NET reads (W27); what can’t is 400',
  },
  { id: 'R1119', says: 'an unquoted SOAPAction may be refused', why: 'it is accepted: W4' },
  { id: 'R1120', says: 'cookies may be used', why: 'none are' },
  { id: 'R1122', says: 'cookies should be RFC 2965’s', why: 'none are' },
  { id: 'R1123', says: 'a cookie’s value is opaque', why: consumer },
  { id: 'R1130', says: 'a redirect is 307', why: 'nothing redirects' },
  { id: 'R1131', says: 'a consumer may follow a redirect', why: consumer },
  { id: 'R1140', says: 'HTTP/1.1 should be used', why: consumer },
  { id: 'R2002', says: 'schemas are imported by xs:import', why: imports },
  {
    id: 'R2005',
    says: 'an imported description has the target namespace that the import says',
    why: imports,
  },
  { id: 'R2007', says: 'wsdl:import names a location', why: imports },
  { id: 'R2008', says: 'a location may be ignored', why: consumer },
  { id: 'R2009', says: 'an imported schema may begin with a mark', why: imports },
  { id: 'R2010', says: 'an imported schema is UTF-8 or UTF-16', why: imports },
  { id: 'R2011', says: 'an imported schema is XML 1.0', why: imports },
  { id: 'R2020', says: 'wsdl:documentation may stand in wsdl:import', why: imports },
  {
    id: 'R2021',
    says: 'wsdl:documentation may stand in wsdl:part',
    why: 'permits; ours stands in operations',
  },
  {
    id: 'R2024',
    says: 'wsdl:documentation may stand in wsdl:definitions',
    why: 'permits; ours stands in operations',
  },
  { id: 'R2025', says: 'extensions of WSDL may be used', why: 'permits; ours is wsaw:Action, of the W3C' },
  { id: 'R2027', says: 'an extension that must be understood is', why: consumer },
  {
    id: 'R2112',
    says: 'what wraps an array should not be called ArrayOfX',
    why: 'a SHOULD about the wrappers of rpc/literal; types are called so here, as they are in the proxies of the family’s clients (W32)',
  },
  { id: 'R2203', says: 'parts of rpc name a type', why: rpc },
  { id: 'R2205', says: 'parts of headers and faults name an element', why: headers },
  {
    id: 'R2207',
    says: 'parts that name elements may be there where no body of rpc refers to them',
    why: rpc,
  },
  { id: 'R2208', says: 'parts may be bound in headers', why: headers },
  { id: 'R2211', says: 'no xsi:nil on part accessors', why: rpc },
  { id: 'R2212', says: 'an envelope of rpc has one accessor per part', why: rpc },
  { id: 'R2213', says: 'an envelope without parts has an empty Body', why: 'every message has a part' },
  { id: 'R2214', says: 'an envelope of rpc without parts has no accessor', why: rpc },
  { id: 'R2301', says: 'children of Body come in the order of the parts', why: 'every message has one part' },
  { id: 'R2302', says: 'parameterOrder says which part is the return value', why: rpc },
  { id: 'R2305', says: 'parameterOrder leaves out one part at most', why: rpc },
  { id: 'R2707', says: 'use is literal by default', why: consumer },
  {
    id: 'R2714',
    says: 'a one-way operation has no envelope in the response',
    why: 'every operation has a reply',
  },
  { id: 'R2750', says: 'a consumer ignores one', why: 'every operation has a reply' },
  {
    id: 'R2727',
    says: 'a consumer does not take a one-way call for processed when it was received',
    why: 'every operation has a reply',
  },
  { id: 'R2717', says: 'soap:body of rpc has a namespace', why: rpc },
  { id: 'R2719', says: 'header faults may be left out', why: headers },
  { id: 'R2720', says: 'soap:header names one part', why: headers },
  { id: 'R2721', says: 'soap:fault has a name', why: headers },
  { id: 'R2722', says: 'use may stand on soap:fault', why: headers },
  { id: 'R2723', says: 'use on soap:fault is literal', why: headers },
  {
    id: 'R2725',
    says: 'VersionMismatch, MustUnderstand and Client faults are looked for in this order',
    why: 'not followed where two are due at once: an envelope or operation that is wrong is told before a header block that is not understood (W43); nothing is processed in either case',
  },
  { id: 'R2726', says: 'soap:header of rpc has no namespace', why: headers },
  { id: 'R2729', says: 'an rpc reply’s wrapper is named after the operation', why: rpc },
  { id: 'R2735', says: 'part accessors have no namespace', why: rpc },
  { id: 'R2737', says: 'children of part accessors are of their type’s namespace', why: rpc },
  { id: 'R2738', says: 'described headers are in the envelope', why: headers },
  {
    id: 'R2739',
    says: 'other headers may be too',
    why: 'permits; WS-Addressing is answered where it was used (W28)',
  },
  {
    id: 'R2740',
    says: 'known faults should be described',
    why: 'a SHOULD that is not followed: errors are members of the reply, and a wsdl:fault broke importers (W26, W32)',
  },
  { id: 'R2741', says: 'known header faults should be described', why: headers },
  { id: 'R2742', says: 'other faults may occur', why: 'permits' },
  { id: 'R2743', says: 'other header faults may occur', why: 'permits' },
  { id: 'R2747', says: 'a consumer takes every extension of the SOAP binding for required', why: consumer },
  { id: 'R2748', says: 'whatever its wsdl:required says', why: consumer },
  { id: 'R2749', says: 'soap:header has part, not parts', why: headers },
  { id: 'R2751', says: 'the order of headers is free', why: 'permits' },
  { id: 'R2752', says: 'a header may come more than once', why: headers },
  {
    id: 'R2753',
    says: 'headers that are not described may have to be understood',
    why: 'permits; ours decide by W28',
  },
  { id: 'R2754', says: 'soap:fault’s name is the wsdl:fault’s', why: headers },
  { id: 'R2755', says: 'accessors of rpc are named after the parts', why: rpc },
  { id: 'R3100', says: 'a bindingTemplate has an accessPoint', why: uddi },
  { id: 'R2803', says: 'the namespace of a wsdl:import is no relative URI', why: imports },
  { id: 'R3002', says: 'a tModel describes by WSDL', why: uddi },
  { id: 'R3003', says: 'a tModel is categorized as wsdlSpec', why: uddi },
  { id: 'R3010', says: 'a tModel refers to a binding', why: uddi },
  { id: 'R3011', says: 'that binding conforms', why: uddi },
  { id: 'R5000', says: 'HTTPS may be used', why: 'permits; TLS ends in front of the gateway' },
  {
    id: 'R5001',
    says: 'the address in the description is https where HTTPS is a must',
    why: 'SOAPBRIDGE_PUBLIC_URL says which; TLS ends in front of the gateway',
  },
  {
    id: 'R5010',
    says: 'HTTPS with client certificates may be a must',
    why: 'permits; TLS ends in front of the gateway',
  },
];
