import type { AdoptedDocument } from '../../contract/adopted.ts';
import { namespaces } from '../../contract/model.ts';
import type { Allowance } from '../document/allowance.ts';
import { shown } from '../document/node.ts';
import type { NotOpened } from '../document/other-files.ts';
import { builtInSchemas } from './built-in-schemas.ts';
import { type WsdlPlace, type XmlFile, XmlFiles } from './files.ts';
import { type Findings, placed } from './findings.ts';
import {
  attributeOf,
  contentOffsets,
  elementSpan,
  findAttribute,
  innerSpan,
  readSource,
  readTree,
  valueOffsets,
  type XmlElement,
  type XmlSource,
} from './xml-tree.ts';

/**
 * A schema with its effective namespace. An included schema without a namespace has one entry for each including
 * namespace (A2).
 */
export interface Schema {
  readonly element: XmlElement;
  readonly namespace: string;
  /** Imported namespaces. */
  readonly imports: ReadonlySet<string>;
  /** True for a schema that is built in. */
  readonly builtIn: boolean;
}

/** An import, include or redefine that was not followed, with the namespace of the missing components. */
export interface BrokenLocation {
  readonly at: XmlElement;
  readonly namespace: string;
  readonly message: string;
  /** True for a file that was read and is not the expected one. */
  readonly isOther: boolean;
  /** The start of a path (`../`, possibly repeated) that leaves the folder and that `refs` does not cover. */
  readonly beginning?: string | undefined;
}

type Version = '1.1' | '1.2' | 'other';

/** A part of a document that is replaced when it is served, by offsets in the source's text. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly use:
    | { readonly kind: 'location'; readonly document: AdoptedDocument; readonly location: string }
    | { readonly kind: 'address'; readonly port: string }
    /** A binding or port, with its tags. */
    | { readonly kind: 'version'; readonly soap: Version };
}

interface OpenDocument {
  /** Its number is assigned after all documents are read. */
  readonly document: { -readonly [member in keyof AdoptedDocument]: AdoptedDocument[member] };
  readonly source: XmlSource;
  /** By start. A schema may be processed for several namespaces. */
  readonly marks: Map<number, Mark>;
  /**
   * Numbers in the locations of the document, for example 2 in `http://old.example/Service?xsd=2`, in order of mention.
   */
  readonly numbers: number[];
}

/** The documents of a service: the first WSDL and all documents that it refers to, numbered (A2). */
export class WsdlDocuments {
  /** The `wsdl:definitions`, starting with the first document. */
  readonly definitions: XmlElement[] = [];
  readonly schemas: Schema[] = [];
  readonly #files: XmlFiles;
  readonly #opened = new Map<XmlFile, OpenDocument>();
  readonly #bySource = new Map<XmlSource, OpenDocument>();
  /** Built-in schemas that imports refer to, by namespace. */
  readonly #builtIn = new Map<string, XmlFile>();
  readonly #allowance: Allowance;
  /** The effective namespaces of each schema. */
  readonly #added = new Map<XmlElement, Set<string>>();
  readonly #broken: BrokenLocation[] = [];
  /** Documents and schemas to read, in order of mention. */
  readonly #waiting: (() => void)[] = [];

  constructor(place: WsdlPlace, allowance: Allowance, findings: Findings) {
    this.#files = new XmlFiles(place, allowance, findings);
    this.#allowance = allowance;
    const first = this.#files.first();
    if (first !== undefined) {
      const { root } = first;
      if (isA(root, namespaces.wsdl, 'definitions')) this.#enter(first, 'wsdl');
      else findings.problems.push(placed(root, `expected wsdl:definitions of WSDL 1.1, got <${root.local}>`));
    }
    // The list grows during the loop.
    for (const next of this.#waiting) next();
    numberDocuments([...this.#opened.values()]);
  }

  /** Locations that were not followed. Components of another document and built-in ones are not missing. */
  get broken(): readonly BrokenLocation[] {
    const held = new Set(this.schemas.map(({ namespace }) => namespace));
    return this.#broken.filter(({ at, namespace, isOther }) => {
      if (at.local !== 'import' || isOther) return true;
      return !held.has(namespace) && !builtInSchemas.has(namespace) && namespace !== namespaces.xsd;
    });
  }

  /** Returns the documents as they are served, with all marks as spans of bytes. */
  toServed(): readonly AdoptedDocument[] {
    return [...this.#opened.values()].map(({ document, source }) => {
      document.places = this.marksIn(source).map(({ start, end, use }) => {
        const span =
          use.kind === 'version'
            ? elementSpan({ source, offset: start, end })
            : innerSpan(source, { start, end });
        return { ...span, ...use };
      });
      return document;
    });
  }

  /** Marks an attribute value as a port's address. The addresses are known after the services are read. */
  markAddress(at: XmlElement, attribute: string, port: string): void {
    this.#markValue(at, attribute, { kind: 'address', port });
  }

  /** Marks the content of an element as a port's address. */
  markContent(at: XmlElement, port: string): void {
    this.#mark(at, contentOffsets(at), { kind: 'address', port });
  }

  /** Marks a binding or port with its SOAP version. */
  markVersion(at: XmlElement, soap: Version): void {
    this.#mark(at, { start: at.offset, end: at.end }, { kind: 'version', soap });
  }

  /** Removes the addresses of ports that are not served, which are not changed. */
  dropAddresses(ports: ReadonlySet<string>): void {
    for (const { marks } of this.#opened.values())
      for (const [start, { use }] of marks)
        if (use.kind === 'address' && ports.has(use.port)) marks.delete(start);
  }

  /** Returns the marks of a document, in order. */
  marksIn(source: XmlSource): readonly Mark[] {
    const marks = this.#bySource.get(source)?.marks.values() ?? [];
    return [...marks].toSorted((one, other) => one.start - other.start);
  }

  #enter(file: XmlFile, kind: 'wsdl' | 'xsd'): OpenDocument {
    const before = this.#opened.get(file);
    if (before !== undefined) return before;
    const { source } = file.root;
    const { bytes, charset } = source;
    const isBuiltIn = this.#isBuiltIn(file);
    const document = { kind, file: file.file, number: 0, isBuiltIn, bytes, charset, places: [] };
    const entered = { document, source, marks: new Map<number, Mark>(), numbers: [] };
    this.#opened.set(file, entered);
    this.#bySource.set(source, entered);
    if (kind === 'wsdl') this.#waiting.push(() => this.#readDefinitions(file.root));
    return entered;
  }

  #isBuiltIn(file: XmlFile): boolean {
    return this.#builtIn.get(attributeOf(file.root, 'targetNamespace') ?? '') === file;
  }

  /**
   * Returns the built-in schema for an import without a file. A web URL is kept, because clients can load it as before.
   */
  #openBuiltIn(at: XmlElement, location: string, namespace: string): XmlFile | undefined {
    if (!isA(at, namespaces.xsd, 'import') || /^https?:/i.test(location.trim())) return undefined;
    const known = this.#builtIn.get(namespace);
    if (known !== undefined) return known;
    const schema = builtInSchema(namespace, this.#allowance);
    if (schema === undefined) return undefined;
    const made = { file: schema.element.source.file, root: schema.element };
    this.#builtIn.set(namespace, made);
    return made;
  }

  #open(at: XmlElement, location: string, namespace: string): XmlFile | NotOpened {
    const kinds = isA(at, namespaces.wsdl, 'import')
      ? (['definitions', 'schema'] as const)
      : (['schema'] as const);
    const isOfCode = this.#bySource.get(at.source)?.document.isBuiltIn === true;
    const found = isOfCode
      ? { why: 'got none' }
      : this.#files.open(location, at.source.file, { kinds, namespace, at });
    return 'why' in found ? (this.#openBuiltIn(at, location, namespace) ?? found) : found;
  }

  /** Opens the target of a location. Returns undefined without a location or if it cannot be opened. */
  #follow(at: XmlElement, attribute: string, namespace: string): XmlFile | undefined {
    const location = attributeOf(at, attribute);
    if (location === undefined) return undefined;
    const found = this.#open(at, location, namespace);
    if ('why' in found) {
      const message = `${shown(location)} ${found.why}`;
      this.#broken.push({ at, namespace, message, isOther: false, beginning: found.beginning });
      return undefined;
    }
    const kind = kindOf(found.root);
    if (kind === undefined) {
      const got = `<${found.root.local}>`;
      this.#refuse(at, namespace, `expected a schema or a WSDL 1.1 at ${shown(location)}, got ${got}`);
      return undefined;
    }
    const { document, numbers } = this.#enter(found, kind);
    const [, word, number] = /[?&](wsdl|xsd)=(\d{1,9})(?:&|$)/i.exec(location) ?? [];
    if (number !== undefined && word?.toLowerCase() === kind) numbers.push(Number(number));
    this.#markValue(at, attribute, { kind: 'location', document, location: location.trim() });
    return found;
  }

  /** Records a location with an unexpected file. */
  #refuse(at: XmlElement, namespace: string, message: string): void {
    this.#broken.push({ at, namespace, message, isOther: true });
  }

  #markValue(at: XmlElement, name: string, use: Mark['use']): void {
    const attribute = findAttribute(at, name);
    this.#mark(at, attribute && valueOffsets(at.source, attribute), use);
  }

  #mark({ source }: XmlElement, offsets: Pick<Mark, 'start' | 'end'> | undefined, use: Mark['use']): void {
    const marks = this.#bySource.get(source)?.marks;
    if (offsets !== undefined && marks?.has(offsets.start) === false)
      marks.set(offsets.start, { ...offsets, use });
  }

  #readDefinitions(root: XmlElement): void {
    this.definitions.push(root);
    for (const child of root.children) {
      if (isA(child, namespaces.wsdl, 'import')) {
        const file = this.#follow(child, 'location', attributeOf(child, 'namespace') ?? '');
        if (file?.root.local === 'schema') this.#addSchema(file.root, undefined, child);
      } else if (isA(child, namespaces.wsdl, 'types')) {
        for (const inner of child.children)
          if (isA(inner, namespaces.xsd, 'schema')) this.#addSchema(inner, undefined, inner);
      }
    }
  }

  /** Adds a schema. A schema without a namespace gets that of its includer. */
  #addSchema(element: XmlElement, includer: string | undefined, at: XmlElement): void {
    const own = attributeOf(element, 'targetNamespace');
    if (includer !== undefined && own !== undefined && own !== includer) {
      const got = `got the namespace ${shown(own)}`;
      this.#refuse(at, includer, `expected an included schema of ${shown(includer)}, ${got}`);
      return;
    }
    const namespace = own ?? includer ?? '';
    const before = this.#added.get(element) ?? new Set();
    if (before.has(namespace)) return;
    this.#added.set(element, before.add(namespace));
    const imports = new Set<string>();
    const builtIn = this.#bySource.get(element.source)?.document.isBuiltIn === true;
    this.schemas.push({ element, namespace, imports, builtIn });
    this.#waiting.push(() => this.#readSchema(element, namespace, imports));
  }

  #readSchema(element: XmlElement, namespace: string, imports: Set<string>): void {
    for (const child of element.children) {
      if (isA(child, namespaces.xsd, 'redefine')) this.#refuse(child, namespace, noRedefine);
      if (isA(child, namespaces.xsd, 'import')) {
        const imported = attributeOf(child, 'namespace') ?? '';
        imports.add(imported);
        const file = this.#follow(child, 'schemaLocation', imported);
        if (file !== undefined) this.#addImported(file.root, imported, child);
      }
      if (isA(child, namespaces.xsd, 'include')) {
        const file = this.#follow(child, 'schemaLocation', namespace);
        if (file !== undefined) this.#addSchema(file.root, namespace, child);
      }
    }
  }

  /** Adds an imported schema. Schemas inside a WSDL are added together with the WSDL. */
  #addImported(root: XmlElement, imported: string, at: XmlElement): void {
    if (root.local === 'definitions') return;
    const own = attributeOf(root, 'targetNamespace') ?? '';
    if (own === imported) this.#addSchema(root, undefined, at);
    else
      this.#refuse(at, imported, `expected a schema of ${shown(imported)}, got the namespace ${shown(own)}`);
  }
}

/**
 * Numbers the documents (A2). A document keeps the first free number in its locations, as JAX-WS numbers documents,
 * because clients with a stored WSDL request these numbers. Other documents get the lowest free numbers in order of
 * mention.
 */
function numberDocuments(opened: readonly OpenDocument[]): void {
  const taken = { wsdl: new Set([0]), xsd: new Set<number>() };
  const unnumbered: OpenDocument[] = [];
  for (const one of opened.slice(1)) {
    const numbers = taken[one.document.kind];
    const own = one.numbers.find((number) => !numbers.has(number));
    if (own === undefined) unnumbered.push(one);
    else {
      one.document.number = own;
      numbers.add(own);
    }
  }
  const next = { wsdl: 0, xsd: 0 };
  for (const { document } of unnumbered) {
    const { kind } = document;
    while (taken[kind].has(next[kind])) next[kind]++;
    document.number = next[kind]++;
  }
}

/** The problem of an `xs:redefine`. */
export const noRedefine = 'expected no xs:redefine, which is not supported. Write its result instead';

function kindOf(root: XmlElement): 'wsdl' | 'xsd' | undefined {
  if (isA(root, namespaces.wsdl, 'definitions')) return 'wsdl';
  return isA(root, namespaces.xsd, 'schema') ? 'xsd' : undefined;
}

/** Returns true if an element has this name. */
export function isA(element: XmlElement, namespace: string, local: string): boolean {
  return element.local === local && element.namespace === namespace;
}

/** Returns the built-in schema of a namespace; undefined if there is no built-in schema. */
export function builtInSchema(namespace: string, allowance: Allowance): Schema | undefined {
  const text = builtInSchemas.get(namespace);
  if (text === undefined) return undefined;
  const { source } = readSource(`(built in) ${namespace}`, Buffer.from(text));
  const element = readTree(source, allowance);
  return { element, namespace, imports: new Set(), builtIn: true };
}
