import { namespaces } from '../../contract/model.ts';
import { attributeOf, type XmlElement } from './xml-tree.ts';

/** Actions of WS-Addressing that a WSDL declares, and the default ones (A34). */

/** The namespace of the Action attribute in WS-Addressing 1.0 Metadata. */
export const metadataNamespace = 'http://www.w3.org/2007/05/addressing/metadata';

/** Namespaces of the Action attribute, the newest first. If a message has several, the newest is used. */
const attributeNamespaces: readonly string[] = [
  metadataNamespace,
  namespaces.wsdlAddressing,
  'http://www.w3.org/2006/02/addressing/wsdl',
  'http://www.w3.org/2005/03/addressing/wsdl',
  namespaces.addressing10,
  namespaces.addressing2004,
];

/** The names that a default action consists of (WS-Addressing 1.0 Metadata, 4.4.4). */
export interface ActionNames {
  /** The `targetNamespace` of the document that defines the port type. */
  readonly namespace: string;
  readonly portType: string;
  readonly operation: string;
}

/**
 * Returns the action that an input, output or fault of a port type declares (WS-Addressing 1.0 Metadata, 4.4.1), or
 * undefined if it declares none.
 */
export function declaredAction(message: XmlElement): string | undefined {
  for (const namespace of attributeNamespaces) {
    const action = collapsed(attributeOf(message, 'Action', namespace) ?? '');
    if (action !== '') return action;
  }
  return undefined;
}

/** Returns the action of an output: the declared one, or the default (WS-Addressing 1.0 Metadata, 4.4.1 and 4.4.4). */
export function outputAction(output: XmlElement, names: ActionNames): string {
  // The default name of an output (WSDL 1.1, 2.4.5).
  const name = attributeOf(output, 'name') || `${names.operation}Response`;
  return declaredAction(output) ?? defaultAction(names, [name]);
}

/** Returns the default action of a fault (WS-Addressing 1.0 Metadata, 4.4.4). */
export function defaultFaultAction(fault: XmlElement, names: ActionNames): string {
  return defaultAction(names, [names.operation, 'Fault', attributeOf(fault, 'name') ?? '']);
}

/** Returns the action of an output or fault; undefined for any other element of an operation. */
export function replyAction(message: XmlElement, names: ActionNames): string | undefined {
  if (message.namespace !== namespaces.wsdl) return undefined;
  if (message.local === 'output') return outputAction(message, names);
  if (message.local === 'fault') return declaredAction(message) ?? defaultFaultAction(message, names);
  return undefined;
}

function defaultAction({ namespace, portType }: ActionNames, last: readonly string[]): string {
  const delimiter = /^urn:/i.test(namespace) ? ':' : '/';
  const start = namespace.endsWith(delimiter) ? namespace.slice(0, -1) : namespace;
  return collapsed([start, portType, ...last].join(delimiter));
}

/** Collapses the whitespace of a URI (XSD 1.0 Part 2, 3.2.17). A line break would end the line of a header. */
export function collapsed(uri: string): string {
  return uri.replace(/[\t\n\r ]+/g, ' ').trim();
}
