import { namespaces } from '../../contract/model.ts';
import type {
  AdoptedMessage,
  AdoptedOperation,
  AdoptedPort,
  AdoptedService,
} from '../../contract/schema-components.ts';
import type { Allowance } from '../document/allowance.ts';
import { addTo } from '../document/node.ts';
import {
  type Definition,
  type Definitions,
  readDefinitions,
  soapChild,
  soapVersionOf,
  wordsOf,
  wsdlChildren,
} from './definitions.ts';
import { isA, type WsdlDocuments } from './documents.ts';
import type { Findings } from './findings.ts';
import { type MessageContext, readFaults, readMessage } from './messages.ts';
import { nameOperations, type UnnamedOperation } from './operation-names.ts';
import type { SchemaComponents } from './schemas.ts';
import { attributeOf, stepAt, type XmlElement } from './xml-tree.ts';

/** What a WSDL says of its service, but for what policies ask. */
export type ReadService = Pick<
  AdoptedService,
  'namespace' | 'name' | 'documentation' | 'ports' | 'operations' | 'notServed'
> & {
  /** Those of its ports. */
  readonly bindings: readonly Definition[];
};

/** A binding of SOAP and the port types' operations that it binds. */
interface BoundBinding {
  readonly definition: Definition;
  readonly portType: Definition;
  readonly soap: '1.1' | '1.2';
  readonly style: 'document' | 'rpc';
}

/** Reads services, ports, bindings and operations (A4, A5, A7 to A9, A29, A30). */
export function readService(
  documents: WsdlDocuments,
  components: SchemaComponents,
  lockedNames: ReadonlyMap<string, string>,
  allowance: Allowance,
  findings: Findings,
): ReadService {
  const [root] = documents.definitions;
  const definitions = readDefinitions(documents.definitions, findings);
  const notServed: { name: string; reason: string }[] = [];
  const bindings = new Map<Definition, BoundBinding>();
  for (const definition of definitions.all('binding')) {
    const bound = readBinding(definition, definitions);
    if (typeof bound === 'string') notServed.push({ name: definition.name.local, reason: bound });
    else if (bound !== undefined) bindings.set(definition, bound);
    const soap = soapChild(definition.element, 'binding');
    documents.addVersionPlace(definition.element, (soap && soapVersionOf(soap)) ?? 'other');
  }
  const ports = readPorts(definitions, bindings, documents, findings, notServed);
  const context = { definitions, components, findings };
  const reader = new OperationReader(context, allowance, notServed);
  for (const { binding } of ports) reader.readBinding(binding);
  const made = nameOperations(reader.operations(), lockedNames, notServed);
  const of = (binding: BoundBinding): readonly AdoptedOperation[] =>
    reader.keysOf(binding).flatMap((key) => made.get(key) ?? []);
  const services = definitions.all('service');
  const [service] = services;
  return {
    namespace: root === undefined ? '' : (attributeOf(root, 'targetNamespace') ?? ''),
    name: service?.name.local ?? (root === undefined ? '' : (attributeOf(root, 'name') ?? '')),
    documentation: (service && wordsOf(service.element)) || (root === undefined ? '' : wordsOf(root)),
    ports: ports.map(
      ({ name, path, binding }): AdoptedPort => ({
        name,
        path,
        soap: binding.soap,
        operations: of(binding),
      }),
    ),
    operations: [...made.values()],
    notServed,
    bindings: [...new Set(ports.map(({ binding }) => binding.definition))],
  };
}

/** A SOAP binding; why another isn't served; undefined for one that is wrong, which is told. */
function readBinding(definition: Definition, definitions: Definitions): BoundBinding | string | undefined {
  const { element } = definition;
  const soap = soapChild(element, 'binding');
  const version = soap === undefined ? undefined : soapVersionOf(soap);
  if (soap === undefined || version === undefined)
    return 'its binding is not of SOAP, but of HTTP or another';
  const transport = attributeOf(soap, 'transport') ?? '';
  if (/jms|tcp|pipe|smtp|msmq/i.test(transport)) return 'its transport is not HTTP';
  const portType = definitions.find('portType', element, 'type');
  const style = attributeOf(soap, 'style') === 'rpc' ? 'rpc' : 'document';
  return portType === undefined ? undefined : { definition, portType, soap: version, style };
}

interface ReadPort {
  readonly name: string;
  readonly path: string | undefined;
  readonly binding: BoundBinding;
}

/** The ports with a SOAP address (A5); and, as every operation of a SOAP binding is one (A4), bindings whose port type no port has. */
function readPorts(
  definitions: Definitions,
  bindings: ReadonlyMap<Definition, BoundBinding>,
  documents: WsdlDocuments,
  findings: Findings,
  notServed: { name: string; reason: string }[],
): readonly ReadPort[] {
  const ports: ReadPort[] = [];
  const names = new Set<string>();
  for (const service of definitions.all('service')) {
    for (const port of wsdlChildren(service.element, 'port')) {
      const own = attributeOf(port, 'name') ?? '';
      const name = names.has(own) ? `${service.name.local}_${own}` : own;
      names.add(name);
      const definition = definitions.find('binding', port, 'binding');
      const binding = definition === undefined ? undefined : bindings.get(definition);
      const address = soapChild(port, 'address');
      documents.addVersionPlace(port, binding?.soap ?? 'other');
      if (binding === undefined || address === undefined) {
        notServed.push({ name, reason: 'a port without a SOAP binding and address' });
        continue;
      }
      documents.addPlace(address, 'location', name);
      for (const endpoint of endpointAddresses(port)) documents.addContentPlace(endpoint, name);
      ports.push({ name, path: pathOf(attributeOf(address, 'location')), binding });
    }
  }
  const reached = new Set(ports.map(({ binding }) => binding.portType));
  for (const binding of bindings.values()) {
    const { name, element } = binding.definition;
    if (reached.has(binding.portType)) continue;
    findings.warn(element, `no port has the binding ${name.local}, which is taken for one`);
    ports.push({ name: name.local, path: undefined, binding });
  }
  return ports;
}

/** The namespaces of WS-Addressing in which a port has an endpoint reference: the recommendation and the submission of 2004. */
const addressingNamespaces: ReadonlySet<string> = new Set([
  namespaces.addressing10,
  namespaces.addressing2004,
]);

/**
 * The `Address` elements of a port's endpoint references (WS-Addressing 1.0 Metadata §4.1). WCF reads them before the
 * `soap:address`.
 */
function endpointAddresses(port: XmlElement): readonly XmlElement[] {
  return port.children
    .filter(({ local, namespace }) => local === 'EndpointReference' && addressingNamespaces.has(namespace))
    .flatMap(({ namespace, children }) => children.filter((child) => isA(child, namespace, 'Address')));
}

/** The path of an address; undefined where it has none. */
function pathOf(address: string | undefined): string | undefined {
  const path = address === undefined ? undefined : URL.parse(address.trim())?.pathname;
  return path === undefined || path === '/' || !path.startsWith('/') ? undefined : path;
}

/** Reads the operations of bindings, each port type's once however many bindings it has. */
class OperationReader {
  readonly #context: MessageContext;
  readonly #allowance: Allowance;
  readonly #notServed: { name: string; reason: string }[];
  /** By their element in the port type; undefined for one that isn't served. */
  readonly #operations = new Map<XmlElement, UnnamedOperation | undefined>();
  readonly #keys = new Map<BoundBinding, XmlElement[]>();

  constructor(context: MessageContext, allowance: Allowance, notServed: { name: string; reason: string }[]) {
    this.#context = context;
    this.#allowance = allowance;
    this.#notServed = notServed;
  }

  operations(): ReadonlyMap<XmlElement, UnnamedOperation> {
    const served = new Map<XmlElement, UnnamedOperation>();
    for (const [key, operation] of this.#operations) if (operation !== undefined) served.set(key, operation);
    return served;
  }

  keysOf(binding: BoundBinding): readonly XmlElement[] {
    return this.#keys.get(binding) ?? [];
  }

  readBinding(binding: BoundBinding): void {
    if (this.#keys.has(binding)) return;
    const keys: XmlElement[] = [];
    this.#keys.set(binding, keys);
    const abstract = new Map<string, XmlElement[]>();
    for (const operation of wsdlChildren(binding.portType.element, 'operation'))
      addTo(abstract, attributeOf(operation, 'name') ?? '', operation);
    for (const bound of wsdlChildren(binding.definition.element, 'operation')) {
      stepAt(this.#allowance, bound);
      const name = attributeOf(bound, 'name') ?? '';
      const all = abstract.get(name) ?? [];
      const operation = all.length < 2 ? all[0] : all.find((one) => hasSameMessages(one, bound));
      if (operation === undefined) {
        this.#context.findings.problem(
          bound,
          `expected an operation of the port type ${binding.portType.name.local}, got ${name}`,
        );
        continue;
      }
      keys.push(operation);
      this.#readOnce(operation, bound, binding);
    }
  }

  #readOnce(operation: XmlElement, bound: XmlElement, binding: BoundBinding): void {
    const soap = soapChild(bound, 'operation');
    const action = collapsed((soap === undefined ? undefined : attributeOf(soap, 'soapAction')) ?? '');
    const before = this.#operations.get(operation);
    if (before !== undefined) {
      if (action !== '' && !before.actions.includes(action))
        this.#operations.set(operation, { ...before, actions: [...before.actions, action] });
      return;
    }
    if (this.#operations.has(operation)) return;
    const style = (soap === undefined ? undefined : attributeOf(soap, 'style')) ?? binding.style;
    const read = this.#read(operation, bound, binding, style === 'rpc' ? 'rpc' : 'document', action);
    if (typeof read === 'string')
      this.#notServed.push({
        name: `${binding.portType.name.local}.${attributeOf(operation, 'name')}`,
        reason: read,
      });
    this.#operations.set(operation, typeof read === 'string' ? undefined : read);
  }

  /** An operation; or why it isn't served. */
  #read(
    operation: XmlElement,
    bound: XmlElement,
    binding: BoundBinding,
    style: 'document' | 'rpc',
    action: string,
  ): UnnamedOperation | string {
    const wsdlName = attributeOf(operation, 'name') ?? '';
    const [first, second] = operation.children.filter(({ local }) => local === 'input' || local === 'output');
    if (first === undefined || first.local === 'output') return 'a notification, which the service begins';
    const { namespace } = binding.definition.name;
    const messageOf = (abstract: XmlElement, local: string): AdoptedMessage | { readonly why: string } =>
      readMessage(this.#context, {
        abstract,
        bound: wsdlChildren(bound, abstract.local)[0],
        style,
        wrapper: { namespace, local },
      });
    const input = messageOf(first, wsdlName);
    if ('why' in input) return input.why;
    const output = second === undefined ? undefined : messageOf(second, `${wsdlName}Response`);
    if (output !== undefined && 'why' in output) return output.why;
    return {
      wsdlName,
      portType: binding.portType.name.local,
      documentation: wordsOf(operation),
      style,
      action,
      actions: action === '' ? [] : [action],
      input,
      output,
      faults: readFaults(this.#context, operation, bound),
    };
  }
}

/** True where a binding's operation is of an overloaded one's messages (WSDL 1.1, 2.5). */
function hasSameMessages(operation: XmlElement, bound: XmlElement): boolean {
  return ['input', 'output'].every((local) => {
    const [one, other] = [wsdlChildren(operation, local)[0], wsdlChildren(bound, local)[0]];
    return (one && attributeOf(one, 'name')) === (other && attributeOf(other, 'name'));
  });
}

/** A URI by the whitespace rule of its type (XSD 1.0 Part 2, 3.2.17): its line breaks would end a header. */
function collapsed(uri: string): string {
  return uri.replace(/[\t\n\r ]+/g, ' ').trim();
}
