import type { Limits } from '../contract/limits.ts';
import type { Declaration } from '../xml/namespaces.ts';
import { XmlReader, type XmlTolerance } from '../xml/reader.ts';

/** An attribute of an element. Namespace declarations are not attributes. */
export interface TreeAttribute {
  readonly prefix: string;
  readonly local: string;
  /** `''` for none. */
  readonly namespace: string;
  readonly value: string;
}

const nothing: readonly never[] = [];

/** Maximum number of prefixes in an element that is copied from its source. */
const maxCopiedPrefixes = 4;

/** An element with its content. Comments are dropped, and CDATA sections are text (X14). */
export class TreeElement {
  /** Undefined for the root of a document. */
  parent: TreeElement | undefined;
  /** True for an element that was decrypted. Its content was decrypted too. */
  isDecrypted = false;
  readonly prefix: string;
  readonly local: string;
  /** `''` for none. */
  readonly namespace: string;
  readonly declarations: readonly Declaration[];
  readonly attributes: readonly TreeAttribute[];
  /** Child elements and texts, in order. */
  readonly content: (TreeElement | string)[] = [];
  /** Offsets of the content in the document, the second with the end tag. */
  readonly start: number;
  end = 0;
  /**
   * The source of an element without attributes and declarations in it, if it is the canonical form where `copied` are
   * declared; undefined for any other element.
   */
  source: string | undefined;
  /** An element for each prefix in the source. */
  copied: readonly TreeElement[] = nothing;

  constructor(parent: TreeElement | undefined, xml: XmlReader) {
    this.parent = parent;
    this.start = xml.position;
    this.prefix = xml.prefix;
    this.local = xml.local;
    this.namespace = xml.namespace;
    const { declarations } = xml;
    this.declarations = declarations.length === 0 ? nothing : declarations;
    this.attributes = xml.attributeCount === 0 ? nothing : attributesOf(xml);
  }

  /** The child elements, in order. */
  get children(): TreeElement[] {
    return this.content.filter((node) => typeof node !== 'string');
  }

  /** All text directly in the element. */
  get text(): string {
    let text = '';
    for (const node of this.content) if (typeof node === 'string') text += node;
    return text;
  }

  /** Returns true for an element with this expanded name. */
  is(namespace: string, local: string): boolean {
    return this.local === local && this.namespace === namespace;
  }

  /** Returns the value of an attribute by its expanded name; undefined if it is absent. */
  attribute(namespace: string, local: string): string | undefined {
    return this.attributes.find((one) => one.local === local && one.namespace === namespace)?.value;
  }
}

/** Returns the start of an element's name for an error. No error names an element that was encrypted (X24). */
export function shownName(element: TreeElement): string {
  for (let at: TreeElement | undefined = element; at !== undefined; at = at.parent)
    if (at.isDecrypted) return 'encrypted content';
  return element.local.slice(0, 64);
}

/** A document as a tree. */
export interface Tree {
  readonly root: TreeElement;
  /** Elements that declare a relative namespace name. */
  readonly relative: TreeElement[];
  /** Number of elements, and of attributes with namespace declarations. */
  readonly counts: XmlReader['counts'];
  /** Bytes of MIME parts by the `xop:Include` that names them. Their base64 is digested in its place (X22). */
  readonly included: Map<TreeElement, Buffer>;
}

function attributesOf(xml: XmlReader): TreeAttribute[] {
  const attributes: TreeAttribute[] = [];
  for (let index = 0; index < xml.attributeCount; index++)
    attributes.push({
      prefix: xml.attributePrefix(index),
      local: xml.attributeLocal(index),
      namespace: xml.attributeNamespace(index),
      value: xml.attributeValue(index),
    });
  return attributes;
}

/** A namespace name with a scheme (RFC 3986, 4.3). */
const absolute = /^[a-z][a-z0-9+.-]*:/i;

/** Reads a whole document to a tree with the reader of the codecs. Throws XmlError. */
export function readTree(text: string, limits: Limits, tolerance?: XmlTolerance): Tree {
  return readAll(new XmlReader(text, limits, tolerance), tolerance);
}

/**
 * Reads balanced content of an element: text and elements, without DTD, XML declaration and processing instructions.
 * Throws XmlError.
 *
 * @param scope namespace declarations in scope by prefix
 * @returns the tree of an element with this content
 */
export function readFragment(
  text: string,
  scope: ReadonlyMap<string, string>,
  limits: Limits,
  tolerance?: XmlTolerance,
): Tree {
  // content that closes the element is followed by its second end tag, which is not well-formed
  const xml = new XmlReader(`<content>${text}</content>`, limits, tolerance);
  xml.declare(scope);
  return readAll(xml, tolerance);
}

function readAll(xml: XmlReader, tolerance: XmlTolerance | undefined): Tree {
  const lenient = tolerance?.acceptsIllegalReferences === true;
  const relative: TreeElement[] = [];
  const copies = new Copies(xml);
  const open = (parent: TreeElement | undefined): TreeElement => {
    const element = new TreeElement(parent, xml);
    for (const { namespace } of element.declarations)
      if (namespace !== '' && !absolute.test(namespace)) {
        relative.push(element);
        break;
      }
    return element;
  };
  xml.readRoot();
  const root = open(undefined);
  copies.open(root);
  let current: TreeElement | undefined = root;
  while (current !== undefined) {
    const from = xml.position;
    const isChild = xml.nextTag(lenient);
    if (xml.textBefore !== '') current.content.push(xml.textBefore);
    if (!xml.isTextCanonical) copies.refuse();
    if (isChild) {
      const child = open(current);
      copies.open(child);
      current.content.push(child);
      current = child;
    } else {
      current.end = xml.position;
      copies.close(current, from + xml.textBefore.length);
      current = current.parent;
    }
  }
  xml.finish();
  return { root, relative, counts: xml.counts, included: new Map() };
}

/** Finds elements whose source is their canonical form, in one pass over a document. */
class Copies {
  readonly #xml: XmlReader;
  /** The open elements that can be copied so far: the innermost ones. */
  readonly #open: { readonly start: number; copied: readonly TreeElement[] }[] = [];

  constructor(xml: XmlReader) {
    this.#xml = xml;
  }

  open(element: TreeElement): void {
    const { startOffset: start, position, empty } = this.#xml;
    if (!empty && position - start === nameLength(element) + '<>'.length)
      this.#open.push({ start, copied: [element] });
    else this.refuse();
  }

  /** Records that the open elements have another canonical form. */
  refuse(): void {
    this.#open.length = 0;
  }

  /** @param at offset of the end tag, if no text before it was changed */
  close(element: TreeElement, at: number): void {
    const own = this.#open.pop();
    if (own === undefined) return;
    const { position } = this.#xml;
    if (position - at !== nameLength(element) + '</>'.length) {
      this.refuse();
      return;
    }
    element.source = this.#xml.source(own.start, position);
    element.copied = own.copied;
    const outer = this.#open.at(-1);
    if (outer === undefined) return;
    for (const one of own.copied)
      if (!outer.copied.some(({ prefix }) => prefix === one.prefix)) outer.copied = [...outer.copied, one];
    if (outer.copied.length > maxCopiedPrefixes) this.refuse();
  }
}

function nameLength({ prefix, local }: TreeElement): number {
  return local.length + (prefix === '' ? 0 : prefix.length + 1);
}
