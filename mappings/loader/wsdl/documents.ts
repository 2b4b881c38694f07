import type { AdoptedDocument, AdoptedPlace } from '../../contract/adopted.ts';
import { namespaces } from '../../contract/model.ts';
import type { Allowance } from '../document/allowance.ts';
import { addTo, shown } from '../document/node.ts';
import type { NotOpened } from '../document/other-files.ts';
import { builtInSchemas } from './built-in-schemas.ts';
import { type WsdlPlace, type XmlFile, XmlFiles } from './files.ts';
import type { Findings } from './findings.ts';
import {
  attributeOf,
  contentOffsets,
  contentSpan,
  elementSpan,
  findAttribute,
  readSource,
  readTree,
  valueOffsets,
  valueSpan,
  type XmlElement,
  type XmlSource,
} from './xml-tree.ts';

/** A schema as it is used: an included one without a namespace is one of its includer's for each that includes it (A2). */
export interface Schema {
  readonly element: XmlElement;
  readonly namespace: string;
  /** Namespaces that it imports. */
  readonly imports: ReadonlySet<string>;
  /** True for one that comes with the code. */
  readonly builtIn: boolean;
}

/** An import, include or redefine that was not followed, and the namespace of the components that are missing for it. */
export interface BrokenLocation {
  readonly at: XmlElement;
  readonly namespace: string;
  readonly message: string;
  /** True for a file that was read and is not the expected one. */
  readonly isOther: boolean;
  /** `../` or several of them, of a path that leads out of the folder and that no folder of `refs` covers. */
  readonly beginning?: string | undefined;
}

/** The address of a port, by offsets in the source's text. */
export interface AddressMark {
  readonly from: number;
  readonly to: number;
  readonly port: string;
}

/** The bindings and ports by their SOAP versions, and the addresses of each source. */
export interface ServiceMarks {
  readonly versions: ReadonlyMap<XmlElement, '1.1' | '1.2' | 'other'>;
  readonly addresses: ReadonlyMap<XmlSource, readonly AddressMark[]>;
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
  /** Marks the content of an element in the same way. */
  readonly addContentPlace: (at: XmlElement, port: string) => void;
  /** Marks a binding or port as one of a SOAP version. */
  readonly addVersionPlace: (at: XmlElement, soap: '1.1' | '1.2' | 'other') => void;
  /** What was marked so, in characters. */
  readonly marks: ServiceMarks;
  /** Removes the places of ports that are not served: their addresses stay as they are. */
  readonly dropPlaces: (ports: ReadonlySet<string>) => void;
}

type PlaceUse =
  | { readonly kind: 'location'; readonly document: AdoptedDocument; readonly location: string }
  | { readonly kind: 'address'; readonly port: string }
  | { readonly kind: 'version'; readonly soap: '1.1' | '1.2' | 'other' };

interface OpenDocument {
  /** Its number is known once all documents are. */
  readonly document: { -readonly [member in keyof AdoptedDocument]: AdoptedDocument[member] };
  readonly places: AdoptedPlace[];
  /** The numbers that locations give it, such as 2 of `http://old.example/Service?xsd=2`, in order of mention. */
  readonly numbers: number[];
}

/** Reads the first WSDL and all that it leads to, and numbers the documents (A2). */
export function readDocuments(place: WsdlPlace, allowance: Allowance, findings: Findings): WsdlDocuments {
  return new DocumentReader(new XmlFiles(place, allowance, findings), allowance, findings).read();
}

class DocumentReader {
  readonly #files: XmlFiles;
  readonly #findings: Findings;
  readonly #opened = new Map<XmlFile, OpenDocument>();
  readonly #bySource = new Map<XmlSource, OpenDocument>();
  readonly #marks = {
    versions: new Map<XmlElement, '1.1' | '1.2' | 'other'>(),
    addresses: new Map<XmlSource, AddressMark[]>(),
  };
  /** The schemas of the code that imports lead to, by namespace. */
  readonly #builtIn = new Map<string, XmlFile>();
  readonly #allowance: Allowance;
  readonly #definitions: XmlElement[] = [];
  readonly #schemas: Schema[] = [];
  /** The namespaces that each schema was added with. */
  readonly #added = new Map<XmlElement, Set<string>>();
  readonly #broken: BrokenLocation[] = [];
  /** What is still to be looked through, in the order of mention. */
  readonly #waiting: (() => void)[] = [];

  constructor(files: XmlFiles, allowance: Allowance, findings: Findings) {
    this.#files = files;
    this.#allowance = allowance;
    this.#findings = findings;
  }

  read(): WsdlDocuments {
    const first = this.#files.first();
    if (first !== undefined) {
      const { root } = first;
      if (isA(root, namespaces.wsdl, 'definitions')) this.#enter(first, 'wsdl');
      else this.#findings.wrong(root, `expected wsdl:definitions of WSDL 1.1, got <${root.local}>`);
    }
    // grows meanwhile
    for (const next of this.#waiting) next();
    numberDocuments([...this.#opened.values()]);
    const held = new Set(this.#schemas.map(({ namespace }) => namespace));
    return {
      definitions: this.#definitions,
      schemas: this.#schemas,
      documents: [...this.#opened.values()].map(({ document }) => document),
      // what is there by another way, or built in, isn't missed
      broken: this.#broken.filter(({ at, namespace, isOther }) => {
        if (at.local !== 'import' || isOther) return true;
        return !held.has(namespace) && !builtInSchemas.has(namespace) && namespace !== namespaces.xsd;
      }),
      addPlace: (at, name, port) => {
        this.#mark(at, name, { kind: 'address', port });
        const attribute = findAttribute(at, name);
        this.#addAddress(at, attribute && valueOffsets(at.source, attribute), port);
      },
      addVersionPlace: (at, soap) => {
        this.#markSpan(at, elementSpan(at), { kind: 'version', soap });
        this.#marks.versions.set(at, soap);
      },
      marks: this.#marks,
      addContentPlace: (at, port) => {
        this.#markSpan(at, contentSpan(at), { kind: 'address', port });
        this.#addAddress(at, contentOffsets(at), port);
      },
      dropPlaces: (ports) => {
        for (const { places } of this.#opened.values()) {
          const kept = places.filter((place) => place.kind !== 'address' || !ports.has(place.port));
          places.splice(0, places.length, ...kept);
        }
        for (const [source, marks] of this.#marks.addresses)
          this.#marks.addresses.set(
            source,
            marks.filter(({ port }) => !ports.has(port)),
          );
      },
    };
  }

  #enter(file: XmlFile, kind: 'wsdl' | 'xsd'): OpenDocument {
    const before = this.#opened.get(file);
    if (before !== undefined) return before;
    const places: AdoptedPlace[] = [];
    const { source } = file.root;
    const { bytes, charset } = source;
    const isBuiltIn = this.#isBuiltIn(file);
    const document = { kind, file: file.file, number: 0, isBuiltIn, bytes, charset, places };
    const entered = { document, places, numbers: [] };
    this.#opened.set(file, entered);
    this.#bySource.set(source, entered);
    if (kind === 'wsdl') this.#waiting.push(() => this.#readDefinitions(file.root));
    return entered;
  }

  #isBuiltIn(file: XmlFile): boolean {
    return this.#builtIn.get(attributeOf(file.root, 'targetNamespace') ?? '') === file;
  }

  /**
   * The schema that comes with the code, for an import that leads to no file. A URL of the web stays: clients can load it, as
   * they did from the old service.
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

  /** Follows a location; undefined where there is none, or where it leads nowhere. */
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
    this.#mark(at, attribute, { kind: 'location', document, location: location.trim() });
    return found;
  }

  /** Adds a location whose file is not the expected one. */
  #refuse(at: XmlElement, namespace: string, message: string): void {
    this.#broken.push({ at, namespace, message, isOther: true });
  }

  /** Keeps a place, in their order and once: a schema may be looked through for several namespaces. */
  #mark(at: XmlElement, name: string, what: PlaceUse): void {
    const attribute = findAttribute(at, name);
    this.#markSpan(at, attribute && valueSpan(at.source, attribute), what);
  }

  #addAddress(
    { source }: XmlElement,
    offsets: { readonly start: number; readonly end: number } | undefined,
    port: string,
  ): void {
    if (offsets !== undefined)
      addTo(this.#marks.addresses, source, { from: offsets.start, to: offsets.end, port });
  }

  #markSpan(at: XmlElement, span: { from: number; to: number } | undefined, what: PlaceUse): void {
    const places = this.#bySource.get(at.source)?.places;
    if (span === undefined || places === undefined) return;
    let index = places.length;
    while (index > 0 && (places[index - 1]?.from ?? 0) > span.from) index--;
    if (places[index - 1]?.from !== span.from) places.splice(index, 0, { ...span, ...what });
  }

  #readDefinitions(root: XmlElement): void {
    this.#definitions.push(root);
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

  /** Adds a schema, with the namespace of its includer where it has none itself. */
  #addSchema(element: XmlElement, includer: string | undefined, at: XmlElement): void {
    const own = attributeOf(element, 'targetNamespace');
    if (includer !== undefined && own !== undefined && own !== includer) {
      const got = `got one of ${shown(own)}`;
      this.#refuse(at, includer, `expected an included schema of ${shown(includer)}, ${got}`);
      return;
    }
    const namespace = own ?? includer ?? '';
    const before = this.#added.get(element) ?? new Set();
    if (before.has(namespace)) return;
    this.#added.set(element, before.add(namespace));
    const imports = new Set<string>();
    const builtIn = this.#bySource.get(element.source)?.document.isBuiltIn === true;
    this.#schemas.push({ element, namespace, imports, builtIn });
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

  /** The schema of an import; those of a WSDL are added with it. */
  #addImported(root: XmlElement, imported: string, at: XmlElement): void {
    if (root.local === 'definitions') return;
    const own = attributeOf(root, 'targetNamespace') ?? '';
    if (own === imported) this.#addSchema(root, undefined, at);
    else this.#refuse(at, imported, `expected a schema of ${shown(imported)}, got one of ${shown(own)}`);
  }
}

/**
 * Numbers documents (A2). A part keeps the number of its first location with a free one, as JAX-WS numbers parts; clients with
 * a stored WSDL ask for these. The others get the lowest free numbers in order of first mention.
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
export const noRedefine = 'expected no xs:redefine, which is not supported; write what it makes';

function kindOf(root: XmlElement): 'wsdl' | 'xsd' | undefined {
  if (isA(root, namespaces.wsdl, 'definitions')) return 'wsdl';
  return isA(root, namespaces.xsd, 'schema') ? 'xsd' : undefined;
}

/** Whether an element has this name. */
export function isA(element: XmlElement, namespace: string, local: string): boolean {
  return element.local === local && element.namespace === namespace;
}

/** A schema that comes with the code, by its namespace; undefined for any other. */
export function builtInSchema(namespace: string, allowance: Allowance): Schema | undefined {
  const text = builtInSchemas.get(namespace);
  if (text === undefined) return undefined;
  const { source } = readSource(`(built in) ${namespace}`, Buffer.from(text));
  const element = readTree(source, allowance);
  return { element, namespace, imports: new Set(), builtIn: true };
}
