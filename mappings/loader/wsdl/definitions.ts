import { namespaces } from '../../contract/model.ts';
import { expanded, type QName } from '../../contract/type-graph.ts';
import { addTo, shown } from '../document/node.ts';
import { isA } from './documents.ts';
import type { Findings } from './findings.ts';
import { attributeOf, plainText, qualifiedName, type XmlElement } from './xml-tree.ts';

/** The symbol spaces of WSDL 1.1 (2.1.1). */
export type DefinitionKind = 'message' | 'portType' | 'binding' | 'service';

/** A message, port type, binding or service element. */
export interface Definition {
  readonly name: QName;
  readonly element: XmlElement;
}

/** Definitions of all documents, by kind and name. */
export interface Definitions {
  /** Returns the second definition with the same kind and name; undefined if it is unique. */
  readonly secondOf: (definition: Definition) => XmlElement | undefined;
  readonly all: (kind: DefinitionKind) => readonly Definition[];
  /**
   * Returns the definition that an attribute refers to. A missing definition is reported. If only one definition has
   * the local name, it is used despite another namespace (A3).
   */
  readonly find: (kind: DefinitionKind, at: XmlElement, attribute: string) => Definition | undefined;
}

const kinds: readonly DefinitionKind[] = ['message', 'portType', 'binding', 'service'];

/**
 * Reads the definitions of documents. The first of several with the same kind and name is kept; references to it are
 * flaws.
 */
export function readDefinitions(roots: readonly XmlElement[], findings: Findings): Definitions {
  const byName = new Map<string, Definition>();
  /** Second definition with the same kind and name. */
  const second = new Map<Definition, XmlElement>();
  const byLocal = new Map<string, Definition[]>();
  const byKind = new Map<DefinitionKind, Definition[]>(kinds.map((kind) => [kind, []]));

  for (const root of roots) {
    const namespace = attributeOf(root, 'targetNamespace') ?? '';
    for (const element of root.children) {
      const kind = kinds.find((one) => isA(element, namespaces.wsdl, one));
      if (kind === undefined) continue;
      const local = attributeOf(element, 'name') ?? '';
      const definition = { name: { namespace, local }, element };
      const key = `${kind} ${expanded(definition.name)}`;
      const before = byName.get(key);
      if (before !== undefined) {
        findings.problem(element, `expected one ${kind} ${shown(local)}, got another ${kind}`);
        second.set(before, element);
        continue;
      }
      byName.set(key, definition);
      byKind.get(kind)?.push(definition);
      addTo(byLocal, `${kind} ${local}`, definition);
    }
  }

  function find(kind: DefinitionKind, at: XmlElement, attribute: string): Definition | undefined {
    const value = attributeOf(at, attribute);
    const name = value === undefined ? undefined : qualifiedName(at, value);
    if (name === undefined) {
      findings.problem(at, `expected the name of a ${kind}, got ${shown(value)}`);
      return undefined;
    }
    const found = byName.get(`${kind} ${expanded(name)}`);
    const other = found === undefined ? undefined : second.get(found);
    if (other !== undefined)
      findings.problem(other, `expected one ${kind} ${shown(name.local)}, got another ${kind}`);
    if (found !== undefined) return found;
    const [lone, ...more] = byLocal.get(`${kind} ${name.local}`) ?? [];
    if (lone === undefined || more.length > 0) {
      findings.problem(at, `expected the ${kind} ${name.local} in ${shown(name.namespace)}, got none`);
      return undefined;
    }
    findings.warn(
      at,
      `the ${kind} ${name.local} is not in ${shown(name.namespace)}; the only one, in ${shown(lone.name.namespace)}, is used`,
    );
    return lone;
  }

  return { all: (kind) => byKind.get(kind) ?? [], find, secondOf: (definition) => second.get(definition) };
}

/** Returns the WSDL children of an element with a local name. */
export function wsdlChildren(element: XmlElement, local: string): readonly XmlElement[] {
  return element.children.filter((child) => isA(child, namespaces.wsdl, local));
}

/** Returns the text of a `wsdl:documentation`; `''` if there is no documentation. */
export function wordsOf(element: XmlElement): string {
  const [documentation] = wsdlChildren(element, 'documentation');
  return documentation === undefined ? '' : plainText(documentation);
}

/** Returns the SOAP extension element with a name (WSDL 1.1, 3; WSDL 1.1 Binding Extension for SOAP 1.2). */
export function soapChild(element: XmlElement, local: string): XmlElement | undefined {
  return element.children.find((child) => soapVersionOf(child) !== undefined && child.local === local);
}

/** The SOAP version of an extension element; undefined for any other element. */
export function soapVersionOf({ namespace }: XmlElement): '1.1' | '1.2' | undefined {
  if (namespace === namespaces.wsdlSoap11) return '1.1';
  return namespace === namespaces.wsdlSoap12 ? '1.2' : undefined;
}
