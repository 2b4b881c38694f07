import type { AdoptedOperation, AdoptedPort, AdoptedService, NotServedPart } from '../../contract/adopted.ts';
import { namespaces } from '../../contract/model.ts';
import type { AdoptedMessage } from '../../contract/type-graph.ts';
import type { Allowance } from '../document/allowance.ts';
import type { ContractProblem } from '../document/error.ts';
import { addTo } from '../document/node.ts';
import { type ActionNames, collapsed, declaredAction, outputAction } from './addressing-actions.ts';
import {
  type Definition,
  Definitions,
  soapChild,
  soapVersionOf,
  wordsOf,
  wsdlChildren,
} from './definitions.ts';
import { isA, type WsdlDocuments } from './documents.ts';
import { type Findings, notServedFor, placed, unserved } from './findings.ts';
import { type MessageContext, readFaults, readMessage } from './messages.ts';
import { nameOperations, type UnnamedOperation } from './operation-names.ts';
import type { SchemaComponents } from './schemas.ts';
import { attributeOf, stepAt, type XmlElement } from './xml-tree.ts';

/** The service that a WSDL defines, without its policies. */
export type ReadService = Pick<
  AdoptedService,
  'namespace' | 'name' | 'documentation' | 'ports' | 'operations' | 'notServed'
> & {
  /** Bindings of the ports. */
  readonly bindings: readonly Definition[];
  /** By name: the element of each port, or of a binding that is used as a port. */
  readonly portElements: ReadonlyMap<string, XmlElement>;
};

/** A SOAP binding and its port type. */
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
  const definitions = new Definitions(documents.definitions, findings);
  const notServed: NotServedPart[] = [];
  const bindings = new Map<Definition, BoundBinding>();
  for (const definition of definitions.all('binding')) {
    const { local } = definition.name;
    const { value: bound, problems } = findings.collect(() => readBinding(definition, definitions, findings));
    if (typeof bound === 'string') notServed.push(unserved(definition.element, local, bound));
    else if (bound !== undefined && problems.length === 0) bindings.set(definition, bound);
    for (const problem of problems) notServed.push(notServedFor(local, problem));
    const soap = soapChild(definition.element, 'binding');
    documents.markVersion(definition.element, (soap && soapVersionOf(soap)) ?? 'other');
  }
  const ports = readPorts(definitions, bindings, documents, findings, notServed);
  const context = { definitions, components, findings };
  const reader = new OperationReader(context, allowance);
  for (const { binding } of ports) reader.readBinding(binding);
  notServed.push(...reader.notServed());
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
    portElements: new Map(ports.map(({ name, element }) => [name, element])),
  };
}

/**
 * Reads a SOAP binding. Returns the reason for a binding that is not served; undefined for an invalid one, which is
 * reported.
 */
function readBinding(
  definition: Definition,
  definitions: Definitions,
  findings: Findings,
): BoundBinding | string | undefined {
  const { element, name } = definition;
  const second = definitions.secondOf(definition);
  if (second !== undefined)
    findings.problem(second, `expected one binding "${name.local}", got another binding`);
  const soap = soapChild(element, 'binding');
  const version = soap === undefined ? undefined : soapVersionOf(soap);
  if (soap === undefined || version === undefined) return 'its binding is not a SOAP binding';
  const transport = attributeOf(soap, 'transport') ?? '';
  if (/jms|tcp|pipe|smtp|msmq/i.test(transport)) return 'its transport is not HTTP';
  const portType = definitions.find('portType', element, 'type');
  const style = attributeOf(soap, 'style') === 'rpc' ? 'rpc' : 'document';
  return portType === undefined ? undefined : { definition, portType, soap: version, style };
}

interface ReadPort {
  readonly name: string;
  readonly element: XmlElement;
  readonly path: string | undefined;
  readonly binding: BoundBinding;
}

/**
 * Returns the ports with a SOAP address (A5). A SOAP binding is used as a port if its port type has no port, because
 * all its operations are served (A4).
 */
function readPorts(
  definitions: Definitions,
  bindings: ReadonlyMap<Definition, BoundBinding>,
  documents: WsdlDocuments,
  findings: Findings,
  notServed: NotServedPart[],
): readonly ReadPort[] {
  const ports: ReadPort[] = [];
  const names = new Set<string>();
  for (const service of definitions.all('service')) {
    for (const port of wsdlChildren(service.element, 'port')) {
      const own = attributeOf(port, 'name') ?? '';
      const name = names.has(own) ? `${service.name.local}_${own}` : own;
      names.add(name);
      const { value: definition, problems } = findings.collect(() =>
        definitions.find('binding', port, 'binding'),
      );
      const binding = definition === undefined ? undefined : bindings.get(definition);
      const address = soapChild(port, 'address');
      documents.markVersion(port, binding?.soap ?? 'other');
      if (binding === undefined || address === undefined || problems.length > 0) {
        const [problem] = problems;
        const why = 'a port without a SOAP binding and address';
        notServed.push(problem === undefined ? unserved(port, name, why) : notServedFor(name, problem));
        continue;
      }
      documents.markAddress(address, 'location', name);
      for (const endpoint of endpointAddresses(port)) documents.markContent(endpoint, name);
      ports.push({ name, element: port, path: pathOf(attributeOf(address, 'location')), binding });
    }
  }
  const reached = new Set(ports.map(({ binding }) => binding.portType));
  for (const binding of bindings.values()) {
    const { name, element } = binding.definition;
    if (reached.has(binding.portType)) continue;
    findings.warn(element, `no port has the binding ${name.local}, so a port is assumed`);
    ports.push({ name: name.local, element, path: undefined, binding });
  }
  return ports;
}

/** Namespaces of endpoint references in ports: the WS-Addressing recommendation and the 2004 submission. */
const addressingNamespaces: ReadonlySet<string> = new Set([
  namespaces.addressing10,
  namespaces.addressing2004,
]);

/**
 * Returns the `Address` elements of a port's endpoint references (WS-Addressing 1.0 Metadata §4.1). WCF prefers them to
 * the `soap:address`.
 */
function endpointAddresses(port: XmlElement): readonly XmlElement[] {
  return port.children
    .filter(({ local, namespace }) => local === 'EndpointReference' && addressingNamespaces.has(namespace))
    .flatMap(({ namespace, children }) => children.filter((child) => isA(child, namespace, 'Address')));
}

/** Returns the path of an address; undefined if it has none. */
function pathOf(address: string | undefined): string | undefined {
  const path = address === undefined ? undefined : URL.parse(address.trim())?.pathname;
  return path === undefined || path === '/' || !path.startsWith('/') ? undefined : path;
}

/** An operation of a binding that is not served, with the reasons. */
interface RefusedOperation {
  readonly binding: BoundBinding;
  /** `portType.operation` */
  readonly name: string;
  readonly problems: readonly ContractProblem[];
}

/**
 * Reads the operations of bindings. Each operation of a port type is read once, from the first binding that can be
 * served.
 */
class OperationReader {
  readonly #context: MessageContext;
  readonly #allowance: Allowance;
  /** Operations by their element in the port type. */
  readonly #operations = new Map<XmlElement, UnnamedOperation>();
  /** Rejected operations by their element in the port type, or in the binding if the port type has none. */
  readonly #refused = new Map<XmlElement, RefusedOperation[]>();
  readonly #keys = new Map<BoundBinding, XmlElement[]>();

  constructor(context: MessageContext, allowance: Allowance) {
    this.#context = context;
    this.#allowance = allowance;
  }

  operations(): ReadonlyMap<XmlElement, UnnamedOperation> {
    return this.#operations;
  }

  /**
   * Returns each operation that no binding serves once, and operations that another binding serves as
   * `binding.operation`.
   */
  notServed(): readonly NotServedPart[] {
    return [...this.#refused].flatMap(([key, all]) => {
      const isServed = this.#operations.has(key);
      return (isServed ? all : all.slice(0, 1)).flatMap(({ name, binding, problems }) => {
        const prefix = isServed ? `${binding.definition.name.local}: ` : '';
        return problems.map((problem) => notServedFor(prefix + name, problem));
      });
    });
  }

  keysOf(binding: BoundBinding): readonly XmlElement[] {
    return this.#keys.get(binding) ?? [];
  }

  readBinding(binding: BoundBinding): void {
    if (this.#keys.has(binding)) return;
    const keys: XmlElement[] = [];
    this.#keys.set(binding, keys);
    const { portType, definition } = binding;
    const abstract = new Map<string, XmlElement[]>();
    for (const operation of wsdlChildren(portType.element, 'operation'))
      addTo(abstract, attributeOf(operation, 'name') ?? '', operation);
    for (const bound of wsdlChildren(definition.element, 'operation')) {
      stepAt(this.#allowance, bound);
      const name = attributeOf(bound, 'name') ?? '';
      const all = abstract.get(name) ?? [];
      const operation = all.length < 2 ? all[0] : all.find((one) => hasSameMessages(one, bound));
      const { value: read, problems } = this.#context.findings.collect(() => {
        if (operation !== undefined) return this.#readOne(operation, bound, binding);
        const message = `expected an operation of the port type ${portType.name.local}, got ${name}`;
        this.#context.findings.problem(bound, message);
        return message;
      });
      if (operation !== undefined && typeof read !== 'string' && problems.length === 0) {
        this.#operations.set(operation, read);
        keys.push(operation);
        continue;
      }
      // A problem is more specific than the reason derived from it.
      const reasons =
        typeof read === 'string' && problems.length === 0 ? [placed(operation ?? bound, read)] : problems;
      const key = operation ?? bound;
      addTo(this.#refused, key, { binding, name: `${portType.name.local}.${name}`, problems: reasons });
    }
  }

  /**
   * Returns an operation, with an additional action if another binding has it too, or the reason why it is not served.
   */
  #readOne(operation: XmlElement, bound: XmlElement, binding: BoundBinding): UnnamedOperation | string {
    const soap = soapChild(bound, 'operation');
    const action = collapsed((soap === undefined ? undefined : attributeOf(soap, 'soapAction')) ?? '');
    const before = this.#operations.get(operation);
    if (before !== undefined) {
      const isNew = action !== '' && !before.actions.includes(action);
      return isNew ? { ...before, actions: [...before.actions, action] } : before;
    }
    const style = (soap === undefined ? undefined : attributeOf(soap, 'style')) ?? binding.style;
    return this.#read(operation, bound, binding, style === 'rpc' ? 'rpc' : 'document', action);
  }

  /** Returns an operation, or the reason why it is not served. */
  #read(
    operation: XmlElement,
    bound: XmlElement,
    binding: BoundBinding,
    style: 'document' | 'rpc',
    action: string,
  ): UnnamedOperation | string {
    const wsdlName = attributeOf(operation, 'name') ?? '';
    const [first, second] = operation.children.filter(({ local }) => local === 'input' || local === 'output');
    if (first === undefined || first.local === 'output')
      return 'a notification, which the service sends first';
    const { namespace } = binding.definition.name;
    const { name: portType } = binding.portType;
    const names: ActionNames = {
      namespace: portType.namespace,
      portType: portType.local,
      operation: wsdlName,
    };
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
      portType: portType.local,
      documentation: wordsOf(operation),
      style,
      action,
      actions: [...new Set([action, declaredAction(first) ?? ''])].filter((one) => one !== ''),
      replyAction: second === undefined ? undefined : outputAction(second, names),
      input,
      output,
      faults: readFaults(this.#context, operation, bound, names),
    };
  }
}

/** Returns true if an operation in the binding has the messages of this overload (WSDL 1.1, 2.5). */
function hasSameMessages(operation: XmlElement, bound: XmlElement): boolean {
  return ['input', 'output'].every((local) => {
    const [one, other] = [wsdlChildren(operation, local)[0], wsdlChildren(bound, local)[0]];
    return (one && attributeOf(one, 'name')) === (other && attributeOf(other, 'name'));
  });
}
