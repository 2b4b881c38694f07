import { namespaces } from '../../contract/model.ts';
import type { AdoptedDocument, AdoptedPlace } from '../../contract/schema-components.ts';
import type { Allowance } from '../document/allowance.ts';
import { shown } from '../document/node.ts';
import { builtInSchemas } from './built-in-schemas.ts';
import { type WsdlPlace, type XmlFile, xmlFilesOf } from './files.ts';
import type { Findings } from './findings.ts';
import { attributeOf, findAttribute, readSource, readTree, valueSpan, type XmlElement } from './xml-tree.ts';

/** A schema as it is used: an included one without a namespace is one of its includer's for each that includes it (A2). */
export interface Schema {
  readonly element: XmlElement;
  readonly namespace: string;
  /** Namespaces that it imports. */
  readonly imports: ReadonlySet<string>;
  /** True for one that comes with the code. */
  readonly builtIn: boolean;
}

/** A location that leads nowhere, and the namespace of what is missed. */
export interface BrokenLocation {
  readonly at: XmlElement;
  readonly namespace: string;
  readonly message: string;
}

/** The documents of a service: what they define and how they hang together. */
export interface WsdlDocuments {
  /** The `wsdl:definitions`, the first document's first. */
  readonly definitions: readonly XmlElement[];
  readonly schemas: readonly Schema[];
  readonly documents: readonly AdoptedDocument[];
  readonly broken: readonly BrokenLocation[];
  /** Marks the value of an attribute as the place of a port's address, which is known once services are read. */
  readonly addPlace: (at: XmlElement, attribute: string, port: string) => void;
}

interface OpenDocument {
  readonly document: AdoptedDocument;
  readonly places: AdoptedPlace[];
}

/** Reads the first WSDL and all that it leads to; documents are numbered in the order of first mention (A2). */
export function readDocuments(place: WsdlPlace, allowance: Allowance, findings: Findings): WsdlDocuments {
  const files = xmlFilesOf(place, allowance, findings);
  const opened = new Map<XmlFile, OpenDocument>();
  const documentOf = new Map<string, OpenDocument>();
  const counts = { wsdl: 0, xsd: 0 };
  const definitions: XmlElement[] = [];
  const schemas: Schema[] = [];
  const seen = new Map<XmlElement, Set<string>>();
  const broken: BrokenLocation[] = [];
  /** What is still to be looked through, in the order of mention. */
  const waiting: (() => void)[] = [];

  function enter(file: XmlFile, kind: 'wsdl' | 'xsd'): AdoptedDocument {
    const before = opened.get(file);
    if (before !== undefined) return before.document;
    const places: AdoptedPlace[] = [];
    const { bytes } = file.root.source;
    const entered = { document: { kind, file: file.file, number: counts[kind]++, bytes, places }, places };
    opened.set(file, entered);
    documentOf.set(file.root.source.file, entered);
    if (kind === 'wsdl') waiting.push(() => readDefinitions(file.root));
    return entered.document;
  }

  /** Follows a location; undefined where there is none, or where it leads nowhere that matters. */
  function follow(at: XmlElement, attribute: string, namespace: string): XmlFile | undefined {
    const location = attributeOf(at, attribute);
    if (location === undefined) return undefined;
    const { file } = at.source;
    const kinds = isA(at, namespaces.wsdl, 'import')
      ? (['definitions', 'schema'] as const)
      : (['schema'] as const);
    const found = files.open(location, file, { kinds, namespace });
    if (!('why' in found)) {
      const kind = isA(found.root, namespaces.wsdl, 'definitions')
        ? 'wsdl'
        : isA(found.root, namespaces.xsd, 'schema')
          ? 'xsd'
          : undefined;
      if (kind === undefined) {
        findings.problem(
          at,
          `expected a schema or a WSDL 1.1 at ${shown(location)}, got <${found.root.local}>`,
        );
        return undefined;
      }
      mark(at, attribute, { kind: 'location', document: enter(found, kind) });
      return found;
    }
    broken.push({ at, namespace, message: `${shown(location)} ${found.why}` });
    return undefined;
  }

  function mark(
    at: XmlElement,
    name: string,
    what:
      | { readonly kind: 'location'; readonly document: AdoptedDocument }
      | { readonly kind: 'address'; readonly port: string },
  ): void {
    const attribute = findAttribute(at, name);
    const document = documentOf.get(at.source.file);
    if (attribute !== undefined && document !== undefined)
      document.places.push({ ...valueSpan(at.source, attribute), ...what });
  }

  function readDefinitions(root: XmlElement): void {
    definitions.push(root);
    for (const child of root.children) {
      if (isA(child, namespaces.wsdl, 'import')) {
        const namespace = attributeOf(child, 'namespace') ?? '';
        const file = follow(child, 'location', namespace);
        if (file?.root.local === 'schema') addSchema(file.root, undefined, child);
      } else if (isA(child, namespaces.wsdl, 'types')) {
        for (const inner of child.children)
          if (isA(inner, namespaces.xsd, 'schema')) addSchema(inner, undefined, inner);
      }
    }
  }

  /** Adds a schema, with the namespace of its includer where it has none itself. */
  function addSchema(element: XmlElement, includer: string | undefined, at: XmlElement): void {
    const own = attributeOf(element, 'targetNamespace');
    if (includer !== undefined && own !== undefined && own !== includer) {
      findings.problem(at, `expected an included schema of ${shown(includer)}, got one of ${shown(own)}`);
      return;
    }
    const namespace = own ?? includer ?? '';
    const before = seen.get(element) ?? new Set();
    if (before.has(namespace)) return;
    seen.set(element, before.add(namespace));
    const imports = new Set<string>();
    schemas.push({ element, namespace, imports, builtIn: false });
    waiting.push(() => readSchema(element, namespace, imports));
  }

  function readSchema(element: XmlElement, namespace: string, imports: Set<string>): void {
    for (const child of element.children) {
      if (child.namespace !== namespaces.xsd) continue;
      if (child.local === 'redefine')
        findings.problem(child, 'expected no xs:redefine, which is not supported; write what it makes');
      if (child.local === 'import') {
        const imported = attributeOf(child, 'namespace') ?? '';
        imports.add(imported);
        const file = follow(child, 'schemaLocation', imported);
        if (file !== undefined) addSchemas(file.root, imported, child);
      }
      if (child.local === 'include') {
        const file = follow(child, 'schemaLocation', namespace);
        if (file !== undefined) addSchema(file.root, namespace, child);
      }
    }
  }

  /** The schema of an import; of a WSDL, those that it holds. */
  function addSchemas(root: XmlElement, imported: string, at: XmlElement): void {
    if (root.local === 'definitions') return;
    const own = attributeOf(root, 'targetNamespace') ?? '';
    if (own !== imported)
      findings.problem(at, `expected a schema of ${shown(imported)}, got one of ${shown(own)}`);
    else addSchema(root, undefined, at);
  }

  const first = files.first();
  if (first !== undefined) {
    if (isA(first.root, namespaces.wsdl, 'definitions')) enter(first, 'wsdl');
    else findings.problem(first.root, `expected wsdl:definitions of WSDL 1.1, got <${first.root.local}>`);
  }
  // grows meanwhile
  for (const next of waiting) next();

  const held = new Set(schemas.map(({ namespace }) => namespace));
  return {
    definitions,
    schemas,
    documents: [...opened.values()].map(({ document, places }) => {
      places.sort((a, b) => a.from - b.from);
      return document;
    }),
    // what is there by another way, or built in, isn't missed
    broken: broken.filter(({ at, namespace }) => {
      if (at.local === 'include') return true;
      return !held.has(namespace) && !builtInSchemas.has(namespace) && namespace !== namespaces.xsd;
    }),
    addPlace: (at, attribute, port) => mark(at, attribute, { kind: 'address', port }),
  };
}

export function isA(element: XmlElement, namespace: string, local: string): boolean {
  return element.local === local && element.namespace === namespace;
}

/** A schema that comes with the code, by its namespace; undefined for any other. */
export function builtInSchema(namespace: string, allowance: Allowance): Schema | undefined {
  const text = builtInSchemas.get(namespace);
  if (text === undefined) return undefined;
  const { source } = readSource(`(built in) ${namespace}`, Buffer.from(text));
  const element = readTree(source, { allowance, opaque: new Set() });
  return { element, namespace, imports: new Set(), builtIn: true };
}
