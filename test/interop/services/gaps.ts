/** A check of a service that a stack cannot pass, whatever the gateway does. A gap that passes fails the run. */
export interface ServiceGap {
  /** The stack's folder. */
  readonly stack: string;
  readonly service: string;
  /** All checks where it is absent. */
  readonly check?: string;
  readonly reason: string;
}

/** Checks that fail because a value type of WCF has no null. */
const wcfValues = ['read', 'change'];

export const serviceGaps: readonly ServiceGap[] = [
  ...wcfValues.map((check) => ({
    stack: 'mono-wcf',
    service: 'shop',
    check,
    reason:
      'svcutil makes value types of optional numbers and dates: an absent value is read and written as 0',
  })),
  {
    stack: 'mono-wcf',
    service: 'shop',
    check: 'fault',
    reason: "Mono's svcutil generates no class for a fault's detail",
  },
  {
    stack: 'mono-wcf',
    service: 'orders',
    reason: "Mono's svcutil generates no proxy for types with attributes",
  },
  {
    stack: 'camel',
    service: 'shop',
    check: 'fault',
    reason: "Camel's TypeNameStrategy finds no exception for a fault with a detail",
  },
  {
    stack: 'gowsdl',
    service: 'shop',
    check: 'change',
    reason: 'gowsdl leaves out a boolean that is false',
  },
  {
    stack: 'kdsoap',
    service: 'shop',
    check: 'fault',
    reason: 'KDSoap returns a fault as one sentence, without its detail',
  },
  ...['read', 'polymorphism', 'write'].map((check) => ({
    stack: 'php-plain',
    service: 'orders',
    check,
    reason: 'without a WSDL SoapClient reads and writes no attributes',
  })),
  {
    stack: 'tclws',
    service: 'shop',
    check: 'fault',
    reason: "tclws returns no fault's detail",
  },
  {
    stack: 'soap-wsdl',
    service: 'shop',
    check: 'fault',
    reason: 'SOAP::WSDL reads no fault with a detail',
  },
  {
    stack: 'nusoap',
    service: 'orders',
    check: 'write',
    reason: 'NuSOAP writes an empty element for a nillable date without a value',
  },
  ...['node-soap', 'nusoap', 'strong-soap'].map((stack) => ({
    stack,
    service: 'orders',
    check: 'polymorphism',
    reason: `${stack === 'nusoap' ? 'NuSOAP' : stack} returns no xsi:type`,
  })),
  {
    stack: 'node-soap',
    service: 'orders',
    check: 'list',
    reason: 'node-soap leaves out an empty item of a list',
  },
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
