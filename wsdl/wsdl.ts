// Documents derived from a contract: WSDL, XSD, the metadata page, and the differences between two contracts. Each is a
// pure function of the model: it reads no file, no request and no OpenAPI document.
import type { Contract, Operation, Port } from '../mappings/contract/model.ts';
import { namespaces } from '../mappings/contract/model.ts';
import { type DocumentNode, documentation, element, writeXml } from './document.ts';
import { type PolicyName, policyElement, policyReference } from './policy.ts';
import { createSchemas } from './schema.ts';

/** Prefixes of WSDL's binding elements. */
const prefixes = { '1.1': 'soap', '1.2': 'soap12' } as const;

/**
 * Writes the contract as one WSDL 1.1 document, document/literal wrapped, with inline schemas (W32). The same contract
 * and address give the same bytes. `address` is the contract's public base without a slash at the end, such as
 * `https://api.example.com/v2` (W34). With `mtom` both bindings ask for MTOM (W68).
 *
 * @param options.policy the policy of both bindings (W55); undefined: none
 * @param options.soap the only SOAP version to describe (W2); undefined: both
 */
export function writeWsdl(
  contract: Contract,
  options: {
    readonly address: string;
    readonly policy?: PolicyName | undefined;
    readonly mtom?: boolean;
    readonly soap?: '1.1' | '1.2' | undefined;
  },
): string {
  const { policy, soap } = options;
  const described = contract.ports.filter((port) => soap === undefined || port.soap === soap);
  const isDescribed = (version: '1.1' | '1.2'): boolean => soap === undefined || soap === version;
  const policies = [
    ...(policy === undefined ? [] : [policyReference()]),
    ...(options.mtom === true ? [mtomPolicy] : []),
  ];
  return writeXml(
    element(
      'wsdl:definitions',
      {
        'xmlns:wsdl': namespaces.wsdl,
        ...(isDescribed('1.1') && { 'xmlns:soap': namespaces.wsdlSoap11 }),
        ...(isDescribed('1.2') && { 'xmlns:soap12': namespaces.wsdlSoap12 }),
        'xmlns:tns': contract.namespaces.types,
        'xmlns:typ': contract.namespaces.types,
        'xmlns:wsaw': namespaces.wsdlAddressing,
        name: contract.service,
        targetNamespace: contract.namespaces.types,
      },
      policy === undefined ? undefined : policyElement(policy, contract.wsse),
      element('wsdl:types', {}, ...createSchemas(contract)),
      ...contract.operations.flatMap(messages),
      ...credentialsMessage(contract),
      ...faultMessage(contract),
      portType(contract),
      ...described.map((port) => binding(contract, port, policies, described)),
      service(contract, options.address, described),
    ),
  );
}

/** `<wsdl:message name="{Op}In"><wsdl:part name="parameters" element="typ:{Op}"/></wsdl:message>` and `{Op}Out` */
function messages({ name }: Operation): DocumentNode[] {
  return [message(`${name}In`, 'parameters', name), message(`${name}Out`, 'parameters', `${name}Response`)];
}

function message(name: string, part: string, of: string): DocumentNode {
  return element('wsdl:message', { name }, element('wsdl:part', { name: part, element: `typ:${of}` }));
}

const credentialsHeader = { message: 'CredentialsHeader', part: 'credentials' } as const;

/**
 * `<wsdl:message name="CredentialsHeader"><wsdl:part name="credentials" element="typ:Credentials"/></wsdl:message>`. It
 * is omitted if bodies hold the credentials (W24).
 */
function credentialsMessage({ credentials }: Contract): DocumentNode[] {
  if (credentials?.block === undefined) return [];
  return [message(credentialsHeader.message, credentialsHeader.part, credentials.block.element)];
}

/** Name of the fault message and of the operations' faults. Generators name an exception after it. */
const faultName = 'ServiceFault';

/** `<wsdl:message name="ServiceFault"><wsdl:part name="detail" element="typ:FaultDetail"/></wsdl:message>` (W27) */
function faultMessage({ faultDetail }: Contract): DocumentNode[] {
  return faultDetail === undefined ? [] : [message(faultName, 'detail', faultDetail.element)];
}

/**
 * `<wsdl:portType name="I{Service}"> <wsdl:operation name="{Op}"> documentation, input, output </wsdl:operation> …
 * </wsdl:portType>`
 */
function portType(contract: Contract): DocumentNode {
  const documented = contract.settings.documentation !== 'none';
  const fault =
    contract.faultDetail === undefined
      ? undefined
      : element('wsdl:fault', {
          'wsaw:Action': `${namespaces.addressing10}/soap/fault`,
          message: `tns:${faultName}`,
          name: faultName,
        });
  const operations = contract.operations.map(({ name, documentation: text }) =>
    element(
      'wsdl:operation',
      { name },
      documented && text !== '' ? documentation('wsdl', text) : undefined,
      element('wsdl:input', { 'wsaw:Action': name, message: `tns:${name}In` }),
      element('wsdl:output', { 'wsaw:Action': `${name}Response`, message: `tns:${name}Out` }),
      fault,
    ),
  );
  return element('wsdl:portType', { name: portTypeName(contract) }, ...operations);
}

/**
 * `<wsdl:binding name="Soap11Binding" type="tns:I{Service}"> <soap:binding transport="…" style="document"/>
 * <wsdl:operation name="{Op}"> soap:operation, input, output, fault </wsdl:operation> … </wsdl:binding>`. The input
 * also declares the optional header block of credentials.
 *
 * Both bindings need the fault, or Axis2's generator fails ("Element QName is null for ServiceFault"). In the SOAP 1.2
 * binding, Axis 1.4 requires a SOAP 1.1 fault ("Missing <soap:fault> element"), so that binding has both.
 *
 * SOAP 1.2 uses the transport URI of SOAP 1.1, because Mono's `wsdl` fails on the other one.
 */
function binding(
  contract: Contract,
  { binding: name, soap }: Port,
  policies: readonly DocumentNode[],
  described: readonly Port[],
): DocumentNode {
  const prefix = prefixes[soap];
  const { message: of, part } = credentialsHeader;
  const header =
    contract.credentials?.block === undefined
      ? undefined
      : element(`${prefix}:header`, { message: `tns:${of}`, part, use: 'literal' });
  const faultPrefixes = prefix === 'soap' || described.length === 1 ? [prefix] : [prefix, 'soap'];
  const fault =
    contract.faultDetail === undefined
      ? undefined
      : element(
          'wsdl:fault',
          { name: faultName },
          ...faultPrefixes.map((each) => element(`${each}:fault`, { name: faultName, use: 'literal' })),
        );
  const operations = contract.operations.map((operation) =>
    element(
      'wsdl:operation',
      { name: operation.name },
      element(`${prefix}:operation`, { soapAction: operation.name, style: 'document' }),
      element('wsdl:input', {}, element(`${prefix}:body`, { use: 'literal' }), header),
      element('wsdl:output', {}, element(`${prefix}:body`, { use: 'literal' })),
      fault,
    ),
  );
  return element(
    'wsdl:binding',
    { name, type: `tns:${portTypeName(contract)}` },
    ...policies,
    element(`${prefix}:binding`, { transport: namespaces.httpTransport, style: 'document' }),
    ...operations,
  );
}

/**
 * JAX-WS RI, Metro, CXF and svcutil send MTOM automatically if this policy is present. It is not marked optional,
 * because CXF then ignores it (W68).
 */
const mtomPolicy = element(
  'wsp:Policy',
  { 'xmlns:wsp': namespaces.policy },
  element('wsoma:OptimizedMimeSerialization', { 'xmlns:wsoma': namespaces.mtomPolicy }),
);

/**
 * `<wsdl:service name="{Service}"> <wsdl:port name="Soap11" binding="tns:Soap11Binding"><soap:address
 * location="…"/></wsdl:port> … </wsdl:service>`
 */
function service(contract: Contract, address: string, described: readonly Port[]): DocumentNode {
  return element(
    'wsdl:service',
    { name: contract.service },
    ...described.map(({ name, binding, path, soap }) =>
      element(
        'wsdl:port',
        { name, binding: `tns:${binding}` },
        element(`${prefixes[soap]}:address`, { location: `${address}${path}` }),
      ),
    ),
  );
}

function portTypeName(contract: Contract): string {
  return `I${contract.service}`;
}
