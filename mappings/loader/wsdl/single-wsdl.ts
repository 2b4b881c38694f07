import type { SinglePiece } from '../../contract/adopted.ts';
import { namespaces } from '../../contract/model.ts';
import { addTo } from '../document/node.ts';
import { declaredAction, metadataNamespace, replyAction } from './addressing-actions.ts';
import { builtInSchemas } from './built-in-schemas.ts';
import type { DefinitionKind } from './definitions.ts';
import { isA, type Schema, type ServiceMarks } from './documents.ts';
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

/** The documents that are combined into a single WSDL. */
export interface SingleParts {
  /** The `wsdl:definitions`, starting with the first document. */
  readonly definitions: readonly XmlElement[];
  readonly schemas: readonly Schema[];
  readonly marks: ServiceMarks;
}

/** A change of an element's text, or the address of a port inside. `from` and `to` are offsets in the source's text. */
type Edit = { readonly from: number; readonly to: number } & (
  | { readonly text: string }
  | { readonly port: string }
);

type Version = SinglePiece['soap'];

/** A definition with the namespace of its document. */
interface Target {
  readonly element: XmlElement;
  readonly namespace: string;
}

const kinds: readonly DefinitionKind[] = ['message', 'portType', 'binding', 'service'];

/**
 * Returns a single WSDL with all definitions of a service's documents (A2), like WCF's `?singleWsdl`. All definitions
 * are in the target namespace of the first document, and all schemas in one `wsdl:types`. Undefined if the first
 * document is the only one, or has no target namespace.
 */
export function singleWsdl(parts: SingleParts): readonly SinglePiece[] | undefined {
  const [main] = parts.definitions;
  const namespace = main === undefined ? '' : (attributeOf(main, 'targetNamespace') ?? '');
  if (main === undefined || namespace === '' || !hasImports(parts)) return undefined;
  return new SingleWriter(parts, main, namespace).write();
}

/** Returns true if a document imports or includes another by location. */
function hasImports({ definitions, schemas }: SingleParts): boolean {
  const imports = definitions.some(({ children }) =>
    children.some((child) => isA(child, namespaces.wsdl, 'import')),
  );
  const isLocated = (child: XmlElement): boolean =>
    child.namespace === namespaces.xsd && attributeOf(child, 'schemaLocation') !== undefined;
  return imports || schemas.some(({ element }) => element.children.some(isLocated));
}

class SingleWriter {
  readonly #parts: SingleParts;
  readonly #main: XmlElement;
  readonly #namespace: string;
  readonly #pieces: SinglePiece[] = [];
  /** Prefix of the target namespace, which no document declares or uses. */
  readonly #prefix: string;
  /** New names of definitions with conflicting names, by element. */
  readonly #renamed = new Map<XmlElement, string>();
  /** The namespaces of the schemas. */
  readonly #held: Set<string>;
  /** Definitions by kind and local name. */
  readonly #byLocal = new Map<string, Target[]>();
  /** Parents of the grandchildren of the roots. */
  readonly #parents = new Map<XmlElement, XmlElement>();

  constructor(parts: SingleParts, main: XmlElement, namespace: string) {
    this.#parts = parts;
    this.#main = main;
    this.#namespace = namespace;
    this.#held = new Set(parts.schemas.map((schema) => schema.namespace));
    const texts = parts.definitions.map(({ source }) => source.text);
    let prefix = 'tns';
    for (
      let count = 0;
      texts.some((text) => text.includes(`${prefix}:`) || text.includes(`:${prefix}=`));
      count++
    )
      prefix = `tns${count}`;
    this.#prefix = prefix;
    for (const root of parts.definitions)
      for (const child of root.children) {
        for (const schema of child.children) this.#parents.set(schema, child);
        const target = { element: child, namespace: attributeOf(root, 'targetNamespace') ?? '' };
        if (kinds.some((kind) => isA(child, namespaces.wsdl, kind)))
          addTo(this.#byLocal, `${child.local} ${attributeOf(child, 'name')}`, target);
      }
  }

  write(): readonly SinglePiece[] {
    this.#rename();
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
    for (const schema of this.#parts.schemas) this.#schema(schema);
    this.#text(`\n</${prefix}types>`);
    const { definitions } = this.#parts;
    this.#each(({ namespace }) => namespace !== namespaces.wsdl, definitions);
    for (const kind of kinds) this.#each((child) => isA(child, namespaces.wsdl, kind), definitions);
    this.#text(`\n</${name}>\n`);
    return this.#pieces;
  }

  #each(isWanted: (child: XmlElement) => boolean, roots: readonly XmlElement[]): void {
    for (const root of roots)
      for (const child of root.children) if (isWanted(child)) this.#definition(child, root);
  }

  /** Renames definitions that have the same name in different namespaces. */
  #rename(): void {
    const taken = new Set<string>();
    for (const root of this.#parts.definitions)
      for (const child of root.children) {
        if (!kinds.some((kind) => isA(child, namespaces.wsdl, kind))) continue;
        const own = attributeOf(child, 'name') ?? '';
        let name = own;
        for (let count = 1; taken.has(`${child.local} ${name}`); count++) name = `${own}_${count}`;
        taken.add(`${child.local} ${name}`);
        if (name !== own) this.#renamed.set(child, name);
      }
  }

  #definition(element: XmlElement, root: XmlElement): void {
    const edits: Edit[] = [];
    const renamed = this.#renamed.get(element);
    const name = findAttribute(element, 'name');
    if (renamed !== undefined && name !== undefined) edits.push(valueEdit(element, name, renamed));
    this.#qualify(element, edits);
    if (isA(element, namespaces.wsdl, 'portType')) this.#keepActions(element, root, edits);
    this.#element(element, root, '', edits);
  }

  /**
   * Writes the default actions of replies explicitly if the namespace or name of the port type changes, because they
   * are derived from both (A34).
   */
  #keepActions(element: XmlElement, root: XmlElement, edits: Edit[]): void {
    const namespace = attributeOf(root, 'targetNamespace') ?? '';
    if (namespace === this.#namespace && !this.#renamed.has(element)) return;
    const portType = attributeOf(element, 'name') ?? '';
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
      const renamed = this.#renamed.get(target.element);
      if (renamed === undefined && target.namespace === this.#namespace) continue;
      const local = renamed ?? attributeOf(target.element, 'name') ?? '';
      edits.push(valueEdit(element, attribute, `${this.#prefix}:${local}`));
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
    const all = [{ from: at, to: at, text: declarations + attributes }, ...edits, ...this.#marked(element)];
    const versions = this.#versionsIn(element);
    const versionAt = (position: number): Version =>
      versions.find(({ from, to }) => from <= position && position < to)?.soap;
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

  /** The spans of a binding, or of the ports in a service, with their versions. */
  #versionsIn(element: XmlElement): readonly { from: number; to: number; soap: Version }[] {
    return [element, ...element.children].flatMap((one) => {
      const soap = this.#parts.marks.versions.get(one);
      return soap === undefined ? [] : [{ from: one.offset, to: one.end, soap }];
    });
  }

  /** Returns the addresses in a service, and the offsets at which its ports start and end. */
  #marked(element: XmlElement): readonly Edit[] {
    if (!isA(element, namespaces.wsdl, 'service')) return [];
    const addresses = this.#parts.marks.addresses.get(element.source) ?? [];
    const ends = this.#versionsIn(element).flatMap(({ from, to }) => [from, to]);
    return [
      ...addresses.filter(({ from }) => element.offset < from && from < element.end),
      ...ends.map((at) => ({ from: at, to: at, text: '' })),
    ];
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
