import type { SinglePiece } from '../../contract/adopted.ts';
import { namespaces } from '../../contract/model.ts';
import { addTo } from '../document/node.ts';
import { declaredAction, metadataNamespace, replyAction } from './addressing-actions.ts';
import { builtInSchemas } from './built-in-schemas.ts';
import { type DefinitionKind, kindOf, kinds } from './definitions.ts';
import { isA, type Mark, type Schema, type WsdlDocuments } from './documents.ts';
import {
  attributeOf,
  findAttribute,
  nameEnd,
  namespaceOf,
  qualifiedName,
  startTagEnd,
  valueOffsets,
  type XmlAttribute,
  type XmlElement,
  type XmlSource,
} from './xml-tree.ts';

/** A change of an element's text, or the address of a port inside. `from` and `to` are offsets in the source's text. */
type Edit = { readonly from: number; readonly to: number } & (
  | { readonly text: string }
  | { readonly port: string }
);

type Version = SinglePiece['soap'];

/** A definition with the namespace of its document, its own name and its name in the single WSDL. */
interface Target {
  readonly element: XmlElement;
  readonly namespace: string;
  readonly own: string;
  readonly name: string;
}

/**
 * Returns a single WSDL with all definitions of a service's documents (A2), like WCF's `?singleWsdl`. All definitions
 * are in the target namespace of the first document, and all schemas in one `wsdl:types`. Undefined if the first
 * document is the only one, or has no target namespace.
 */
export function singleWsdl(documents: WsdlDocuments): readonly SinglePiece[] | undefined {
  const [main] = documents.definitions;
  const namespace = main === undefined ? '' : (attributeOf(main, 'targetNamespace') ?? '');
  if (main === undefined || namespace === '' || !hasImports(documents)) return undefined;
  return new SingleWriter(documents, main, namespace).write();
}

/** Returns true if a document imports or includes another by location. */
function hasImports({ definitions, schemas }: WsdlDocuments): boolean {
  const imports = definitions.some(({ children }) =>
    children.some((child) => isA(child, namespaces.wsdl, 'import')),
  );
  const isLocated = (child: XmlElement): boolean =>
    child.namespace === namespaces.xsd && attributeOf(child, 'schemaLocation') !== undefined;
  return imports || schemas.some(({ element }) => element.children.some(isLocated));
}

class SingleWriter {
  readonly #documents: WsdlDocuments;
  readonly #main: XmlElement;
  readonly #namespace: string;
  readonly #pieces: SinglePiece[] = [];
  /** Prefix of the target namespace, which no document declares or uses. */
  readonly #prefix: string;
  readonly #targets = new Map<XmlElement, Target>();
  /** The namespaces of the schemas. */
  readonly #held: Set<string>;
  /** Definitions by kind and local name. */
  readonly #byLocal = new Map<string, Target[]>();
  /** Parents of the grandchildren of the roots. */
  readonly #parents = new Map<XmlElement, XmlElement>();

  constructor(documents: WsdlDocuments, main: XmlElement, namespace: string) {
    this.#documents = documents;
    this.#main = main;
    this.#namespace = namespace;
    this.#held = new Set(documents.schemas.map((schema) => schema.namespace));
    const texts = documents.definitions.map(({ source }) => source.text);
    let prefix = 'tns';
    for (
      let count = 0;
      texts.some((text) => text.includes(`${prefix}:`) || text.includes(`:${prefix}=`));
      count++
    )
      prefix = `tns${count}`;
    this.#prefix = prefix;
    const taken = new Set<string>();
    for (const root of documents.definitions)
      for (const child of root.children) {
        for (const schema of child.children) this.#parents.set(schema, child);
        if (kindOf(child) !== undefined) this.#addTarget(child, root, taken);
      }
  }

  /** Adds a definition. Definitions that have the same name in different namespaces get different names. */
  #addTarget(element: XmlElement, root: XmlElement, taken: Set<string>): void {
    const { local } = element;
    const own = attributeOf(element, 'name') ?? '';
    let name = own;
    for (let count = 1; taken.has(`${local} ${name}`); count++) name = `${own}_${count}`;
    taken.add(`${local} ${name}`);
    const target = { element, namespace: attributeOf(root, 'targetNamespace') ?? '', own, name };
    this.#targets.set(element, target);
    addTo(this.#byLocal, `${local} ${own}`, target);
  }

  write(): readonly SinglePiece[] {
    const { source, offset } = this.#main;
    const end = nameEnd(this.#main);
    const name = source.text.slice(offset + 1, end);
    const prefix = name.slice(0, name.indexOf(':') + 1);
    this.#text('<?xml version="1.0" encoding="utf-8"?>\n');
    this.#span(source, offset, end);
    this.#text(` xmlns:${this.#prefix}="${escaped(this.#namespace)}"`);
    this.#span(source, end, startTagEnd(this.#main));
    this.#each((child) => isA(child, namespaces.wsdl, 'documentation'), [this.#main]);
    this.#text(`\n<${prefix}types>`);
    for (const schema of this.#documents.schemas) this.#schema(schema);
    this.#text(`\n</${prefix}types>`);
    const { definitions } = this.#documents;
    this.#each(({ namespace }) => namespace !== namespaces.wsdl, definitions);
    for (const kind of kinds) this.#each((child) => kindOf(child) === kind, definitions);
    this.#text(`\n</${name}>\n`);
    return this.#pieces;
  }

  #each(isWanted: (child: XmlElement) => boolean, roots: readonly XmlElement[]): void {
    for (const root of roots)
      for (const child of root.children) if (isWanted(child)) this.#definition(child, root);
  }

  #definition(element: XmlElement, root: XmlElement): void {
    const edits: Edit[] = [];
    const target = this.#targets.get(element);
    const name = findAttribute(element, 'name');
    if (target !== undefined && name !== undefined && target.own !== target.name)
      edits.push(valueEdit(element, name, target.name));
    this.#qualify(element, edits);
    if (target !== undefined && element.local === 'portType') this.#keepActions(target, edits);
    this.#element(element, root, '', edits);
  }

  /**
   * Writes the default actions of replies explicitly if the namespace or name of the port type changes, because they
   * are derived from both (A34).
   */
  #keepActions({ element, namespace, own: portType, name }: Target, edits: Edit[]): void {
    if (namespace === this.#namespace && name === portType) return;
    for (const operation of element.children) {
      const names = { namespace, portType, operation: attributeOf(operation, 'name') ?? '' };
      for (const message of operation.children) {
        const action = replyAction(message, names);
        if (action === undefined || declaredAction(message) !== undefined) continue;
        const at = nameEnd(message);
        const text = ` xmlns:wsam="${metadataNamespace}" wsam:Action="${escaped(action)}"`;
        edits.push({ from: at, to: at, text });
      }
    }
  }

  /** Changes references to messages, port types and bindings that have another namespace or a new name. */
  #qualify(element: XmlElement, edits: Edit[]): void {
    for (const attribute of element.attributes) {
      const kind = attribute.namespace === '' ? referenceOf(element, attribute.local) : undefined;
      const target = kind === undefined ? undefined : this.#find(kind, element, attribute.value);
      if (target === undefined) continue;
      if (target.name === target.own && target.namespace === this.#namespace) continue;
      edits.push(valueEdit(element, attribute, `${this.#prefix}:${target.name}`));
    }
    for (const child of element.children) this.#qualify(child, edits);
  }

  /** Returns the definition of a QName, or the only one with its local name (A3). */
  #find(kind: DefinitionKind, at: XmlElement, value: string): Target | undefined {
    const name = qualifiedName(at, value);
    const found = this.#byLocal.get(`${kind} ${name?.local}`) ?? [];
    return (
      found.find(({ namespace }) => namespace === name?.namespace) ??
      (found.length === 1 ? found[0] : undefined)
    );
  }

  /** Writes a schema without the locations of its imports. A schema without a namespace gets that of its includer. */
  #schema({ element, namespace }: Schema): void {
    const parent = this.#parents.get(element);
    const edits: Edit[] = [];
    for (const child of element.children) {
      if (isA(child, namespaces.xsd, 'include')) edits.push({ from: child.offset, to: child.end, text: '' });
      const location = findAttribute(child, 'schemaLocation');
      if (!isA(child, namespaces.xsd, 'import') || location === undefined) continue;
      const imported = attributeOf(child, 'namespace') ?? '';
      const isHeld = this.#held.has(imported) || this.#bringBuiltIn(imported);
      if (!isHeld && /^https?:/i.test(location.value.trim()) && imported !== namespaces.xsd) continue;
      // includes the space before the attribute
      edits.push({ from: location.offset - 1, to: valueOffsets(element.source, location).end + 1, text: '' });
    }
    const isChameleon = namespace !== '' && attributeOf(element, 'targetNamespace') === undefined;
    const unbound = isChameleon && (namespaceOf(element, '') ?? '') === '';
    const target = isChameleon ? ` targetNamespace="${escaped(namespace)}"` : '';
    this.#element(element, parent, target, edits, unbound ? namespace : undefined);
  }

  /** Adds the built-in schema of a namespace once. Returns false if there is no built-in schema. */
  #bringBuiltIn(namespace: string): boolean {
    const text = builtInSchemas.get(namespace);
    if (text === undefined) return false;
    this.#held.add(namespace);
    for (const [, imported = ''] of text.matchAll(/<import namespace="([^"]*)"/g))
      if (!this.#held.has(imported)) this.#bringBuiltIn(imported);
    this.#text(`\n${text.replace(/ schemaLocation="[^"]*"/g, '')}`);
    return true;
  }

  /**
   * Copies an element. Its start tag gets the namespace declarations inherited in its own document.
   *
   * @param defaultNamespace default namespace that replaces its own
   */
  #element(
    element: XmlElement,
    parent: XmlElement | undefined,
    attributes: string,
    edits: readonly Edit[],
    defaultNamespace?: string,
  ): void {
    const { source, offset, end } = element;
    const declarations = this.#inherited(element, parent, defaultNamespace);
    const at = nameEnd(element);
    const all: Edit[] = [{ from: at, to: at, text: declarations + attributes }, ...edits];
    const versions: { readonly start: number; readonly end: number; readonly soap: Version }[] = [];
    for (const { start, end: to, use } of this.#marksIn(element)) {
      if (use.kind === 'address') all.push({ from: start, to, port: use.port });
      if (use.kind !== 'version') continue;
      versions.push({ start, end: to, soap: use.soap });
      // The text is parted where a binding or port starts and ends.
      for (const edge of [start, to]) all.push({ from: edge, to: edge, text: '' });
    }
    const versionAt = (position: number): Version =>
      versions.find((one) => one.start <= position && position < one.end)?.soap;
    this.#text('\n');
    let from = offset;
    for (const edit of all.toSorted((one, other) => one.from - other.from)) {
      this.#span(source, from, edit.from, versionAt(from));
      if ('port' in edit) this.#pieces.push({ soap: versionAt(edit.from), port: edit.port });
      else this.#text(edit.text, versionAt(edit.from));
      from = edit.to;
    }
    this.#span(source, from, end, versionAt(from));
  }

  /** Returns the addresses in an element, and its binding or ports with their versions. */
  #marksIn({ source, offset, end }: XmlElement): readonly Mark[] {
    return this.#documents.marksIn(source).filter(({ start }) => offset <= start && start < end);
  }

  #inherited(
    element: XmlElement,
    parent: XmlElement | undefined,
    defaultNamespace: string | undefined,
  ): string {
    const text = element.source.text.slice(element.offset, element.end);
    const own = element.scope === parent?.scope ? [] : (element.scope?.declarations ?? []);
    const declared = new Map<string, string>();
    if (defaultNamespace !== undefined) declared.set('', defaultNamespace);
    for (let scope = parent?.scope; scope !== undefined; scope = scope.outer)
      for (const { prefix, namespace } of scope.declarations)
        if (!declared.has(prefix)) declared.set(prefix, namespace);
    if (!declared.has('')) declared.set('', '');
    return [...declared]
      .filter(([prefix, namespace]) => {
        const isOwn = own.some((declaration) => declaration.prefix === prefix);
        const isUsed = prefix === '' || text.includes(`${prefix}:`);
        return isUsed && !isOwn && (namespaceOf(this.#main, prefix) ?? '') !== namespace;
      })
      .map(([prefix, namespace]) => ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escaped(namespace)}"`)
      .join('');
  }

  #span({ whole }: XmlSource, from: number, to: number, soap?: Version): void {
    this.#text(whole.slice(from, to), soap);
  }

  #text(text: string, soap?: Version): void {
    const last = this.#pieces.at(-1);
    if (text === '') return;
    if (last !== undefined && 'text' in last && last.soap === soap)
      this.#pieces[this.#pieces.length - 1] = { soap, text: last.text + text };
    else this.#pieces.push({ soap, text });
  }
}

/** Returns the kind of definition that an attribute of WSDL or its SOAP binding refers to. */
function referenceOf({ namespace, local }: XmlElement, attribute: string): DefinitionKind | undefined {
  const isWsdl = namespace === namespaces.wsdl;
  if (isWsdl && local === 'binding' && attribute === 'type') return 'portType';
  if (isWsdl && local === 'port' && attribute === 'binding') return 'binding';
  const isSoap = namespace === namespaces.wsdlSoap11 || namespace === namespaces.wsdlSoap12;
  return (isWsdl || isSoap) && attribute === 'message' ? 'message' : undefined;
}

function valueEdit({ source }: XmlElement, attribute: XmlAttribute, text: string): Edit {
  const { start, end } = valueOffsets(source, attribute);
  return { from: start, to: end, text: escaped(text) };
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
