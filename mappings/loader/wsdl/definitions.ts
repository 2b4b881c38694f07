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

/** All kinds, in the order of a WSDL. */
export const kinds: readonly DefinitionKind[] = ['message', 'portType', 'binding', 'service'];

/** Returns the kind of a definition; undefined for any other element. */
export function kindOf(element: XmlElement): DefinitionKind | undefined {
  return kinds.find((kind) => isA(element, namespaces.wsdl, kind));
}

/** The definitions of all documents, by kind and name. The first of several with the same kind and name is kept. */
export class Definitions {
  readonly #findings: Findings;
  readonly #byName = new Map<string, Definition>();
  readonly #byLocal = new Map<string, Definition[]>();
  readonly #byKind = new Map<DefinitionKind, Definition[]>();
  /** Second definitions with the same kind and name. References to the first are flaws. */
  readonly #second = new Map<Definition, XmlElement>();

  constructor(roots: readonly XmlElement[], findings: Findings) {
    this.#findings = findings;
    for (const root of roots)
      for (const element of root.children) {
        const kind = kindOf(element);
        if (kind !== undefined) this.#add(kind, element, attributeOf(root, 'targetNamespace') ?? '');
      }
  }

  #add(kind: DefinitionKind, element: XmlElement, namespace: string): void {
    const local = attributeOf(element, 'name') ?? '';
    const definition = { name: { namespace, local }, element };
    const key = `${kind} ${expanded(definition.name)}`;
    const before = this.#byName.get(key);
    if (before !== undefined) {
      this.#findings.problem(element, anotherText(kind, local));
      this.#second.set(before, element);
      return;
    }
    this.#byName.set(key, definition);
    addTo(this.#byKind, kind, definition);
    addTo(this.#byLocal, `${kind} ${local}`, definition);
  }

  all(kind: DefinitionKind): readonly Definition[] {
    return this.#byKind.get(kind) ?? [];
  }

  /** Returns the second definition with the same kind and name; undefined if it is unique. */
  secondOf(definition: Definition): XmlElement | undefined {
    return this.#second.get(definition);
  }

  /**
   * Returns the definition that an attribute refers to. A missing definition is reported. If only one definition has
   * the local name, it is used despite another namespace (A3).
   */
  find(kind: DefinitionKind, at: XmlElement, attribute: string): Definition | undefined {
    const value = attributeOf(at, attribute);
    const name = value === undefined ? undefined : qualifiedName(at, value);
    if (name === undefined) {
      this.#findings.problem(at, `expected the name of a ${kind}, got ${shown(value)}`);
      return undefined;
    }
    const found = this.#byName.get(`${kind} ${expanded(name)}`);
    const other = found === undefined ? undefined : this.#second.get(found);
    if (other !== undefined) this.#findings.problem(other, anotherText(kind, name.local));
    if (found !== undefined) return found;
    const [lone, ...more] = this.#byLocal.get(`${kind} ${name.local}`) ?? [];
    if (lone === undefined || more.length > 0) {
      this.#findings.problem(at, `expected the ${kind} ${name.local} in ${shown(name.namespace)}, got none`);
      return undefined;
    }
    this.#findings.warn(
      at,
      `the ${kind} ${name.local} is not in ${shown(name.namespace)}; the only one, in ${shown(lone.name.namespace)}, is used`,
    );
    return lone;
  }
}

function anotherText(kind: DefinitionKind, local: string): string {
  return `expected one ${kind} ${shown(local)}, got another ${kind}`;
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
