import { canonicalAttribute, canonicalText } from '../xml/canonical-text.ts';
import { type Declaration, xmlNamespace } from '../xml/namespaces.ts';
import type { Tree, TreeAttribute, TreeElement } from './tree.ts';

/** A canonical form (X14). None of the forms has comments. */
export interface CanonicalForm {
  readonly kind: 'exclusive' | 'inclusive' | 'inclusive11';
  /** Prefixes of the PrefixList of the exclusive form; `''` for `#default`. */
  readonly prefixes: ReadonlySet<string>;
}

/** Why an element has no canonical form. */
export class CanonicalError extends Error {
  readonly problem: 'relative namespace' | 'xml:base' | 'too long';

  constructor(problem: CanonicalError['problem']) {
    super(`no canonical form: ${problem}`);
    this.name = 'CanonicalError';
    this.problem = problem;
  }
}

/** The number of characters that the canonical forms of one call may still have (X39). */
export interface Budget {
  left: number;
}

/**
 * Returns the canonical form of an element with its content: Canonical XML 1.0 or 1.1, or Exclusive XML
 * Canonicalization 1.0. Throws CanonicalError, so that an error never gives an empty form.
 *
 * @param omitted an element that is left out with its content, for enveloped-signature (X13)
 * @param keepsIncludes true to write each `xop:Include` instead of the part that it includes
 */
export function canonicalize(
  tree: Tree,
  apex: TreeElement,
  form: CanonicalForm,
  budget: Budget,
  omitted?: TreeElement,
  keepsIncludes = false,
): string {
  if (tree.relative.some((one) => contains(one, apex) || contains(apex, one)))
    throw new CanonicalError('relative namespace');
  const included = keepsIncludes || tree.included.size === 0 ? undefined : tree.included;
  const writer = new CanonicalWriter(form, budget.left, omitted, included);
  const text = writer.write(apex);
  budget.left -= text.length;
  return text;
}

/** Returns true if an element is another element or one of its ancestors. */
export function contains(outer: TreeElement, inner: TreeElement): boolean {
  for (let element: TreeElement | undefined = inner; element !== undefined; element = element.parent)
    if (element === outer) return true;
  return false;
}

/** Returns the namespace declarations in scope of an element by prefix, the nearest first. */
export function scopeOf(element: TreeElement): Map<string, string> {
  const scope = new Map<string, string>();
  for (let at: TreeElement | undefined = element; at !== undefined; at = at.parent)
    for (const { prefix, namespace } of at.declarations) if (!scope.has(prefix)) scope.set(prefix, namespace);
  scope.delete('xml');
  return scope;
}

class CanonicalWriter {
  readonly #form: CanonicalForm;
  readonly #most: number;
  readonly #omitted: TreeElement | undefined;
  readonly #included: Tree['included'] | undefined;
  /** The declarations of the written ancestors by prefix. */
  readonly #written = new Map<string, string>();
  #text = '';

  constructor(
    form: CanonicalForm,
    most: number,
    omitted: TreeElement | undefined,
    included: Tree['included'] | undefined,
  ) {
    this.#form = form;
    this.#most = most;
    this.#omitted = omitted;
    this.#included = included;
  }

  write(apex: TreeElement): string {
    const { kind } = this.#form;
    const scope = Array.from(scopeOf(apex), ([prefix, namespace]) => ({ prefix, namespace }));
    const inherited = kind === 'exclusive' ? [] : inheritedAttributes(apex, kind);
    this.#element(apex, this.#alwaysDeclared(scope), [...inherited, ...apex.attributes]);
    return this.#text;
  }

  /** @param declared declarations to write whether the element uses them or not */
  #element(
    element: TreeElement,
    declared: readonly Declaration[],
    attributes: readonly TreeAttribute[],
  ): void {
    const name = element.prefix === '' ? element.local : `${element.prefix}:${element.local}`;
    this.#text += `<${name}`;
    const before = this.#declare(element, declared, attributes);
    for (const { prefix, local, value } of sortedBy(attributes, compareAttributes))
      this.#text += ` ${prefix === '' ? local : `${prefix}:${local}`}="${canonicalAttribute(value)}"`;
    this.#text += '>';
    for (const node of element.content) {
      if (typeof node === 'string') this.#text += canonicalText(node);
      else if (this.#included?.has(node) === true) this.#include(this.#included.get(node));
      else if (node.source !== undefined && this.#areWritten(node.copied)) this.#text += node.source;
      else if (node.source !== undefined && node.copied.length === 1) this.#copyDeclared(node, node.source);
      else if (node !== this.#omitted)
        this.#element(node, this.#alwaysDeclared(node.declarations), node.attributes);
    }
    this.#text += `</${name}>`;
    if (this.#text.length > this.#most) throw new CanonicalError('too long');
    for (const { prefix, namespace } of before) {
      if (namespace === undefined) this.#written.delete(prefix);
      else this.#written.set(prefix, namespace);
    }
  }

  /** Writes the source of an element that has only one prefix, and adds the declaration of this prefix. */
  #copyDeclared({ prefix, local, namespace }: TreeElement, source: string): void {
    const end = 1 + local.length + (prefix === '' ? 0 : prefix.length + 1);
    this.#text += source.slice(0, end) + declarationOf(prefix, namespace) + source.slice(end);
    if (this.#text.length > this.#most) throw new CanonicalError('too long');
  }

  /** Returns true if a name needs no declaration here. */
  #isWritten({ prefix, namespace }: Declaration): boolean {
    return prefix === 'xml' || (this.#written.get(prefix) ?? '') === namespace;
  }

  /** Returns true if the source of an element with these names is its canonical form here. */
  #areWritten(names: readonly Declaration[]): boolean {
    return this.#form.kind !== 'exclusive' || names.every((name) => this.#isWritten(name));
  }

  /** Writes the base64 of a part. Its length is checked first, because an Include can be repeated. */
  #include(bytes: Buffer | undefined): void {
    if (bytes === undefined) return;
    if (this.#text.length + (bytes.length * 4) / 3 > this.#most) throw new CanonicalError('too long');
    this.#text += bytes.toString('base64');
  }

  /** Returns the declarations that are written whether the element uses them or not. */
  #alwaysDeclared(declarations: readonly Declaration[]): readonly Declaration[] {
    const { kind, prefixes } = this.#form;
    if (declarations.length === 0 || (kind === 'exclusive' && prefixes.size === 0)) return nothing;
    return declarations.filter(
      ({ prefix }) => prefix !== 'xml' && (kind !== 'exclusive' || prefixes.has(prefix)),
    );
  }

  /** Writes the declarations of an element. Returns what they replaced. */
  #declare(
    element: TreeElement,
    declared: readonly Declaration[],
    attributes: readonly TreeAttribute[],
  ): readonly Replaced[] {
    let wanted = declared;
    if (this.#form.kind === 'exclusive') {
      wanted = this.#withUsed(wanted, element);
      for (const attribute of attributes)
        if (attribute.prefix !== '') wanted = this.#withUsed(wanted, attribute);
    }
    if (wanted.length === 0) return nothing;
    const before: Replaced[] = [];
    for (const { prefix, namespace } of sortedBy(wanted, comparePrefixes)) {
      const known = this.#written.get(prefix);
      if ((known ?? '') === namespace) continue;
      before.push({ prefix, namespace: known });
      this.#written.set(prefix, namespace);
      this.#text += declarationOf(prefix, namespace);
      if (this.#text.length > this.#most) throw new CanonicalError('too long');
    }
    return before;
  }

  /** Adds the declaration that a name needs, unless it is there. */
  #withUsed(wanted: readonly Declaration[], name: Declaration): readonly Declaration[] {
    if (this.#isWritten(name) || wanted.some(({ prefix }) => prefix === name.prefix)) return wanted;
    return [...wanted, name];
  }
}

/** The declaration of a prefix outside an element; undefined for none. */
interface Replaced {
  readonly prefix: string;
  readonly namespace: string | undefined;
}

const nothing: readonly never[] = [];

/**
 * Returns the attributes of the namespace `xml` that the apex inherits (Canonical XML 1.0, 2.4; 1.1, 2.4). Version 1.1
 * would join values of xml:base. This is refused, because no message needs it.
 */
function inheritedAttributes(apex: TreeElement, kind: CanonicalForm['kind']): TreeAttribute[] {
  const own = new Set(apex.attributes.filter(isOfXml).map(({ local }) => local));
  const inherited: TreeAttribute[] = [];
  for (let at = apex.parent; at !== undefined; at = at.parent)
    for (const attribute of at.attributes) {
      const { local } = attribute;
      if (!isOfXml(attribute)) continue;
      if (kind === 'inclusive11' && local === 'base') throw new CanonicalError('xml:base');
      if (own.has(local) || (kind === 'inclusive11' && local !== 'lang' && local !== 'space')) continue;
      own.add(local);
      inherited.push(attribute);
    }
  return inherited;
}

function isOfXml({ namespace }: TreeAttribute): boolean {
  return namespace === xmlNamespace;
}

/** Returns a declaration as it is written in a start tag. */
function declarationOf(prefix: string, namespace: string): string {
  return ` xmlns${prefix === '' ? '' : `:${prefix}`}="${canonicalAttribute(namespace)}"`;
}

/** Sorts values, without a copy of fewer than two. */
function sortedBy<Value>(
  values: readonly Value[],
  compare: (one: Value, other: Value) => number,
): readonly Value[] {
  return values.length < 2 ? values : values.toSorted(compare);
}

function comparePrefixes(one: Declaration, other: Declaration): number {
  return compareCodePoints(one.prefix, other.prefix);
}

/** Compares attributes in canonical order: by namespace name, then by local name. */
function compareAttributes(one: TreeAttribute, other: TreeAttribute): number {
  return compareCodePoints(one.namespace, other.namespace) || compareCodePoints(one.local, other.local);
}

/** Compares texts by code point. Comparing code units would sort U+FFFD after U+10000. */
export function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a === b) continue;
    const isHighA = a >= 0xd800 && a <= 0xdfff;
    const isHighB = b >= 0xd800 && b <= 0xdfff;
    return isHighA === isHighB ? a - b : isHighA ? 1 : -1;
  }
  return one.length - other.length;
}
