import type { Version } from '../checks.ts';

/** A check of a service that a stack cannot pass, whatever the gateway does. A gap that passes fails the run. */
export interface ServiceGap {
  /** The stack's folder. */
  readonly stack: string;
  /** If absent, the gap applies to all services that the stack calls. */
  readonly service?: string;
  /** If absent, the gap applies to all versions. */
  readonly version?: Version;
  /** If absent, the gap applies to all checks, `import` included. */
  readonly check?: string;
  readonly reason: string;
}

/** Checks that fail because a value type of WCF has no null. */
const wcfValues = ['read', 'change'];

/** Stacks that do not import a WSDL. */
const noImport = {
  curl: 'curl reads no WSDL',
  luasoap: 'LuaSOAP reads no WSDL',
  'php-plain': 'this client runs without a WSDL',
  'soap-lite': 'SOAP::Lite makes no nested inputs from a WSDL',
};

export const serviceGaps: readonly ServiceGap[] = [
  ...Object.entries(noImport).map(([stack, reason]) => ({ stack, check: 'import', reason })),
  ...wcfValues.map((check) => ({
    stack: 'mono-wcf',
    service: 'shop',
    check,
    reason: 'svcutil generates value types for optional numbers and dates, so an absent value is 0',
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
    check: 'fault',
    reason: "Camel's TypeNameStrategy finds no exception for a fault with a detail",
  },
  {
    stack: 'gowsdl',
    service: 'shop',
    check: 'change',
    reason: 'gowsdl omits a false boolean',
  },
  {
    stack: 'kdsoap',
    check: 'fault',
    reason: 'KDSoap returns a fault as one sentence, without its detail',
  },
  ...['read', 'polymorphism', 'write'].map((check) => ({
    stack: 'php-plain',
    service: 'orders',
    check,
    reason: 'without a WSDL SoapClient reads and writes no attributes',
  })),
  { stack: 'tclws', check: 'fault', reason: "tclws returns no fault's detail" },
  ...['polymorphism', 'write'].map((check) => ({
    stack: 'tclws',
    service: 'orders',
    check,
    reason: 'tclws reads and writes only the members of the declared type',
  })),
  { stack: 'tclws', service: 'orders', check: 'any', reason: 'tclws reads no element of xs:any' },
  { stack: 'soap-wsdl', check: 'fault', reason: 'SOAP::WSDL reads no fault with a detail' },
  ...['polymorphism', 'write'].map((check) => ({
    stack: 'soap-wsdl',
    service: 'orders',
    check,
    reason: 'SOAP::WSDL reads and writes no xsi:type',
  })),
  { stack: 'soap-wsdl', service: 'orders', check: 'any', reason: 'SOAP::WSDL reads no element of xs:any' },
  ...['soap-lite', 'pysimplesoap'].map((stack) => ({
    stack,
    version: '1.2' as const,
    check: 'fault',
    reason: `${stack === 'soap-lite' ? 'SOAP::Lite' : 'PySimpleSOAP'} reads only faults of SOAP 1.1`,
  })),
  ...['read', 'polymorphism', 'write'].map((check) => ({
    stack: 'pysimplesoap',
    service: 'orders',
    check,
    reason: 'PySimpleSOAP reads and writes no attributes and no members of a choice',
  })),
  {
    stack: 'pysimplesoap',
    service: 'orders',
    version: '1.1',
    check: 'fault',
    reason: 'PySimpleSOAP reads a detail only if its element has no prefix',
  },
  {
    stack: 'luasoap',
    service: 'orders',
    check: 'header',
    reason: 'LuaSOAP returns no header blocks',
  },
  {
    stack: 'gowsdl',
    service: 'orders',
    check: 'read',
    reason: 'gowsdl reads no attributes of an element with text',
  },
  ...['polymorphism', 'write'].map((check) => ({
    stack: 'gowsdl',
    service: 'orders',
    check,
    reason: 'gowsdl reads and writes no xsi:type, and omits 0 and nil',
  })),
  {
    stack: 'gowsdl',
    service: 'orders',
    check: 'header',
    reason: 'gowsdl reads no header blocks of replies',
  },
  {
    stack: 'kdsoap',
    service: 'orders',
    check: 'write',
    reason: 'KDSoap writes xsi:type only in encoded messages',
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
    reason: 'node-soap omits an empty item of a list',
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
      'soapcpp2 expects an element with the name of the fault around the part; the original Axis service writes only the part',
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
