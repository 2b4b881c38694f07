/** What a stack can't do with an adopted service whatever the gateway does. One that passes after all fails the run. */
export interface AdoptedGap {
  /** The stack's folder. */
  readonly stack: string;
  readonly service: string;
  /** All checks where it is absent. */
  readonly check?: string;
  readonly reason: string;
}

export const adoptedGaps: readonly AdoptedGap[] = [
  {
    stack: 'axis',
    service: 'orders',
    reason: 'WSDL2Java ends at a soap12:fault: "Missing <soap:fault> element inFault"',
  },
  {
    stack: 'axis',
    service: 'catalogue',
    reason: 'Axis 1.4 has no substitution groups: it writes the head, which is abstract',
  },
  {
    stack: 'gsoap',
    service: 'orders',
    check: 'list',
    reason: 'a list of std::string holds no nil: wsdl2h reads it as empty text',
  },
  {
    stack: 'gsoap',
    service: 'orders-rpc',
    check: 'fault',
    reason:
      'soapcpp2 looks for an element called as the fault around the part; Axis, whose service it was, writes the part alone',
  },
  {
    stack: 'jaxws-ri',
    service: 'orders-rpc',
    reason: 'wsimport refuses rpc/encoded: "Use of SOAP Encoding is not supported"',
  },
  {
    stack: 'php',
    service: 'catalogue',
    check: 'fault',
    reason: "SoapClient reads no attributes of a fault's detail",
  },
];
