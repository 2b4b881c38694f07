import { adoptedOperation } from '../mappings/contract/adopted.ts';
import type { Contract } from '../mappings/contract/model.ts';
import { documentName } from './adopted.ts';
import { hasSchemaNumber, schemaList } from './schema.ts';
import { ports as writtenPorts } from './wsdl.ts';

/**
 * The service, ports, documents and actions of the WSDL that a contract publishes: the WSDL that it was loaded from (A1, A5), or
 * the one that `wsdl.ts` writes (W32).
 */

export interface Port {
  readonly name: string;
  /** The name of the binding in collections of requests, which is the port's name in a WSDL that the contract was loaded from. */
  readonly binding: string;
  /** Below the contract's base path. */
  readonly path: string;
  readonly soap: '1.1' | '1.2';
  /** Returns true if the port has an operation. */
  readonly has: (operation: string) => boolean;
}

/** The ports of a contract, in the order of its WSDL. */
export function portsOf({ adopted }: Contract): readonly Port[] {
  if (adopted === undefined) return writtenPorts.map((port) => ({ ...port, has: () => true }));
  const { service, endpoints } = adopted;
  return service.ports.map((port) => ({
    name: port.name,
    binding: port.name,
    path: endpoints.find(({ ports }) => ports.includes(port))?.path ?? '',
    soap: port.soap,
    has: (name) => port.operations.some((operation) => operation.name === name),
  }));
}

/** A path at which SOAP calls are answered. */
export interface SoapPath {
  readonly path: string;
  /** A version that a port of the path has. */
  readonly version: '1.1' | '1.2';
}

/** The paths of a contract in the order of its ports, each once for each version of its ports. */
export function soapPathsOf(contract: Contract): readonly SoapPath[] {
  const versions = new Map<string, Set<'1.1' | '1.2'>>();
  for (const { path, soap } of portsOf(contract))
    versions.set(path, (versions.get(path) ?? new Set()).add(soap));
  return [...versions].flatMap(([path, all]) => [...all].toSorted().map((version) => ({ path, version })));
}

/** The queries at which the documents of a contract are served, such as `xsd=1`; the WSDL is the first. */
export function documentNames(contract: Contract): readonly string[] {
  const { adopted } = contract;
  if (adopted !== undefined) return adopted.service.documents.map(documentName);
  const schemas = schemaList.filter((number) => hasSchemaNumber(contract, number));
  return ['wsdl', ...schemas.map((number) => `xsd=${number}`)];
}

/** The names of a contract's service. */
export function serviceOf({ adopted, service, namespaces }: Contract): {
  readonly name: string;
  readonly namespace: string;
} {
  return adopted?.service ?? { name: service, namespace: namespaces.types };
}

/** The binding of an operation. */
export interface Binding {
  /** The operation's name in the WSDL. */
  readonly wsdlName: string;
  /** The SOAPAction of requests. */
  readonly action: string;
  /** All actions that requests may have: `action`, and others that the WSDL declares (W4, A6). */
  readonly actions: readonly string[];
  readonly isEncoded: boolean;
}

/** The binding of an operation of a contract. */
export function bindingOf(contract: Contract, name: string): Binding {
  const found = adoptedOperation(contract, name);
  if (found === undefined) return { wsdlName: name, action: name, actions: [name], isEncoded: false };
  const { wsdlName, action, actions, input } = found;
  return { wsdlName, action, actions: [action, ...actions], isEncoded: input.use === 'encoded' };
}
