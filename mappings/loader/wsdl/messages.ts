import type { AdoptedFault } from '../../contract/adopted.ts';
import { namespaces } from '../../contract/model.ts';
import {
  type AdoptedBody,
  type AdoptedMessage,
  type ElementDeclaration,
  plainElement,
  type QName,
} from '../../contract/type-graph.ts';
import { shown } from '../document/node.ts';
import { type ActionNames, declaredAction, defaultFaultAction } from './addressing-actions.ts';
import { type Definitions, soapChild, soapVersionOf, wordsOf, wsdlChildren } from './definitions.ts';
import { isA } from './documents.ts';
import type { Findings } from './findings.ts';
import type { SchemaComponents } from './schemas.ts';
import { attributeOf, qualifiedName, type XmlElement } from './xml-tree.ts';

/** Dependencies for reading messages. */
export interface MessageContext {
  readonly definitions: Definitions;
  readonly components: SchemaComponents;
  readonly findings: Findings;
}

/** The input or output of an operation in the port type and in the binding, which may omit it. */
export interface WrittenMessage {
  readonly abstract: XmlElement;
  readonly bound: XmlElement | undefined;
  readonly style: 'document' | 'rpc';
  /** The wrapper element of an rpc message (A30). Its namespace applies if `soap:body` has none. */
  readonly wrapper: QName;
}

/** Reads a message. Returns the reason if its operation is not served (A7, A31). */
export function readMessage(
  context: MessageContext,
  written: WrittenMessage,
): AdoptedMessage | { readonly why: string } {
  const { abstract, bound, style, wrapper } = written;
  const message = context.definitions.find('message', abstract, 'message');
  if (message === undefined) return { why: 'its message is missing' };
  if (bound?.children.some(({ namespace }) => namespace === mime))
    return { why: 'its MIME binding is not supported' };
  const body = bound === undefined ? undefined : soapChild(bound, 'body');
  const use = attributeOf(body ?? abstract, 'use') === 'encoded' ? 'encoded' : 'literal';
  const headers = bound === undefined ? [] : headersOf(bound);
  const parts = bodyParts(message.element, body, headers, context);
  const read = headers.flatMap((header) => readHeader(context, header) ?? []);
  if (style === 'rpc') {
    const namespace = (body === undefined ? undefined : attributeOf(body, 'namespace')) ?? wrapper.namespace;
    const elements = parts.map((part) => readPart(context, part));
    return {
      use,
      body: { kind: 'rpc', wrapper: { namespace, local: wrapper.local }, parts: elements },
      headers: read,
    };
  }
  const made = documentBody(context, parts);
  return 'why' in made ? made : { use, body: made, headers: read };
}

const mime = 'http://schemas.xmlsoap.org/wsdl/mime/';

function documentBody(
  context: MessageContext,
  parts: readonly XmlElement[],
): AdoptedBody | { readonly why: string } {
  const [part, ...more] = parts;
  if (part === undefined) return { kind: 'empty' };
  if (more.length > 0) return { why: 'its message has several parts in the body, in document style' };
  if (attributeOf(part, 'element') === undefined)
    return { why: 'the part of its message is of a type, in document style' };
  const element = elementOfPart(context, part);
  return element === undefined ? { why: 'its element is missing' } : { kind: 'element', element };
}

/**
 * Returns the parts in the body, which `soap:body` lists. Without a list, or if no listed part exists, returns all
 * parts that are not headers (WSDL 1.1, 3.5).
 */
function bodyParts(
  message: XmlElement,
  body: XmlElement | undefined,
  headers: readonly XmlElement[],
  { definitions, findings }: MessageContext,
): readonly XmlElement[] {
  const parts = wsdlChildren(message, 'part');
  const listed = body === undefined ? undefined : attributeOf(body, 'parts');
  if (body !== undefined && listed !== undefined) {
    const names = new Set(listed.split(/\s+/).filter((name) => name !== ''));
    const found = parts.filter((part) => names.has(attributeOf(part, 'name') ?? ''));
    for (const part of found) names.delete(attributeOf(part, 'name') ?? '');
    const taken = found.length > 0 ? 'it is ignored' : 'the parts without a header are used';
    for (const name of names)
      findings.warn(
        body,
        `soap:body names the part ${shown(name)}, which the message ${attributeOf(message, 'name')} does not have; ${taken}`,
      );
    if (found.length > 0 || names.size === 0) return found;
  }
  if (parts.length < 2) return parts;
  const taken = new Set(
    headers
      .filter((header) => definitions.find('message', header, 'message')?.element === message)
      .map((header) => attributeOf(header, 'part')),
  );
  return parts.filter((part) => !taken.has(attributeOf(part, 'name')));
}

function headersOf(bound: XmlElement): readonly XmlElement[] {
  return bound.children.filter((child) => soapVersionOf(child) !== undefined && child.local === 'header');
}

/** Reads a header block that a binding declares (A8). */
function readHeader(context: MessageContext, header: XmlElement): ElementDeclaration | undefined {
  const message = context.definitions.find('message', header, 'message');
  if (message === undefined) return undefined;
  const name = attributeOf(header, 'part');
  const part = wsdlChildren(message.element, 'part').find((one) => attributeOf(one, 'name') === name);
  if (part === undefined) {
    context.findings.problem(
      header,
      `expected the part ${name} in the message ${message.name.local}, got none`,
    );
    return undefined;
  }
  if (attributeOf(part, 'element') !== undefined) return elementOfPart(context, part);
  return readPart(context, part, attributeOf(header, 'namespace') ?? '');
}

/** Returns a part as an element with the part's name. It has the part's type or the type of its element (A30). */
function readPart(context: MessageContext, part: XmlElement, namespace = ''): ElementDeclaration {
  const local = attributeOf(part, 'name') ?? '';
  const stated = attributeOf(part, 'type');
  const element = stated === undefined ? elementOfPart(context, part) : undefined;
  const name = stated === undefined ? undefined : qualifiedName(part, stated);
  if (stated !== undefined && name === undefined)
    context.findings.problem(part, `expected a bound prefix, got "${stated}"`);
  const anyType: QName = { namespace: namespaces.xsd, local: 'anyType' };
  const type = element?.type ?? context.components.typeOf(name ?? anyType, part);
  const declared = plainElement({ namespace, local }, type, element?.nillable ?? true);
  return { ...declared, documentation: wordsOf(part) };
}

function elementOfPart(context: MessageContext, part: XmlElement): ElementDeclaration | undefined {
  const stated = attributeOf(part, 'element');
  const name = stated === undefined ? undefined : qualifiedName(part, stated);
  if (name === undefined) {
    context.findings.problem(part, `expected a part with an element or a type, got ${stated ?? 'neither'}`);
    return undefined;
  }
  return context.components.globalElement(name, part);
}

/** Reads the faults of an operation in a port type (A29). The binding determines how they are encoded. */
export function readFaults(
  context: MessageContext,
  operation: XmlElement,
  bound: XmlElement,
  names: ActionNames,
): readonly AdoptedFault[] {
  const faults: AdoptedFault[] = [];
  for (const fault of wsdlChildren(operation, 'fault')) {
    const name = attributeOf(fault, 'name') ?? '';
    const message = context.definitions.find('message', fault, 'message');
    const [part] = message === undefined ? [] : wsdlChildren(message.element, 'part');
    if (part === undefined) continue;
    const itsBinding = bound.children.find(
      (child) => isA(child, namespaces.wsdl, 'fault') && attributeOf(child, 'name') === name,
    );
    const soap = itsBinding === undefined ? undefined : soapChild(itsBinding, 'fault');
    const use = soap !== undefined && attributeOf(soap, 'use') === 'encoded' ? 'encoded' : 'literal';
    const namespace = soap === undefined ? '' : (attributeOf(soap, 'namespace') ?? '');
    const element =
      attributeOf(part, 'element') === undefined
        ? readPart(context, part, namespace)
        : elementOfPart(context, part);
    const action = { declared: declaredAction(fault), default: defaultFaultAction(fault, names) };
    if (element !== undefined) faults.push({ name, element, use, action });
  }
  return faults;
}
