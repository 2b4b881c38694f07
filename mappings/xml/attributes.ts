import type { Limits } from '../contract/limits.ts';
import { quoteValue } from '../contract/reason.ts';
import type { XmlError } from './error.ts';
import { type Namespaces, xmlNamespace, xmlnsNamespace } from './namespaces.ts';
import { cut, type Scanner } from './scanner.ts';

const slash = 0x2f;
const equalsSign = 0x3d;
const greaterThan = 0x3e;

/**
 * Returns the maximum number of attributes and namespace declarations of all elements. If `xmlElements` is raised, this
 * limit grows with it.
 */
export function maxAllAttributes({ xmlAllAttributes, xmlElements }: Limits): number {
  return xmlAllAttributes ?? Math.max(250_000, xmlElements * 1.25);
}

/** Maximum number of attributes and namespace declarations of one element, together. */
export const maxAttributes = 64;

/** Maximum number of characters in the name of an element or attribute, with its prefix. */
export const maxNameCharacters = 256;

/** Maximum number of characters in the name of a namespace. */
export const maxNamespaceCharacters = 1024;

/** Maximum number of characters in the value of an attribute. */
export const maxAttributeValueCharacters = 64 * 1024;

/** Maximum number of attributes that are compared with each other in pairs. */
const fewAttributes = 8;

/** An attribute of the last start tag. The next tag reuses it. */
export class Attribute {
  /** Offset of the name. */
  start = 0;
  prefix = '';
  local = '';
  namespace = '';
  value = '';
}

/** Reads the attributes of start tags, and declares their namespaces. All methods except `at` throw XmlError. */
export class Attributes {
  /** Number of attributes of the last start tag, without namespace declarations. */
  count = 0;
  /** Number of attributes and namespace declarations of all elements so far. */
  total = 0;

  readonly #scanner: Scanner;
  readonly #namespaces: Namespaces;
  readonly #most: number;
  readonly #mostInAll: number;
  readonly #maxName: number;
  readonly #maxNamespace: number;
  readonly #maxValue: number;
  readonly #emptyPrefixes: boolean;
  readonly #list: Attribute[] = [];

  /** @param emptyPrefixes true if a declaration may bind a prefix to no namespace */
  constructor(scanner: Scanner, namespaces: Namespaces, limits: Limits, emptyPrefixes: boolean) {
    this.#scanner = scanner;
    this.#namespaces = namespaces;
    this.#most = limits.xmlAttributes ?? maxAttributes;
    this.#mostInAll = maxAllAttributes(limits);
    this.#maxName = limits.xmlName ?? maxNameCharacters;
    this.#maxNamespace = limits.xmlNamespace ?? maxNamespaceCharacters;
    this.#maxValue = limits.xmlAttributeValue ?? maxAttributeValueCharacters;
    this.#emptyPrefixes = emptyPrefixes;
  }

  /** Returns an attribute of the last start tag. Throws RangeError. */
  at(index: number): Attribute {
    const attribute = this.#list[index];
    if (attribute === undefined || index >= this.count) {
      throw new RangeError(`attribute: expected an index below ${this.count}, got ${index}`);
    }
    return attribute;
  }

  /** Reads the name of an element or attribute. Returns the offset after it. */
  readName(start: number): number {
    const end = this.#scanner.readName(start);
    if (end - start > this.#maxName) {
      throw this.#scanner.error(start, { detail: `name longer than ${this.#maxName} characters` }, 'xmlName');
    }
    return end;
  }

  /** Returns the namespace of the prefix of a name at an offset. */
  namespaceOf(prefix: string, at: number): string {
    const namespace = this.#namespaces.resolve(prefix);
    if (namespace === undefined) {
      throw this.#scanner.error(at, {
        mistake: 'prefix',
        subject: cut(prefix),
        expected: 'a bound prefix',
        got: quoteValue(cut(prefix)),
      });
    }
    return namespace;
  }

  /**
   * Reads from the end of an element's name to the end of its start tag, and returns the offset after the tag.
   * Declarations are applied before attributes are bound (Namespaces 1.0, 5 and 6).
   *
   * @param outside number of namespace declarations in scope outside the element
   */
  read(from: number, outside: number): number {
    this.count = 0;
    const scanner = this.#scanner;
    if (scanner.code(from) === greaterThan) return from + 1;
    let end = from;
    let at = scanner.skipBlanks(from);
    for (let total = 1; scanner.code(at) !== greaterThan && scanner.code(at) !== slash; total++) {
      if (at === end) throw scanner.error(at, { expected: 'a blank, > or />', got: scanner.got(at) });
      if (total > this.#most) {
        throw scanner.error(at, { detail: `more than ${this.#most} attributes` }, 'xmlAttributes');
      }
      if (++this.total > this.#mostInAll) {
        const detail = `more than ${this.#mostInAll} attributes in all`;
        throw scanner.error(at, { detail }, 'xmlAllAttributes');
      }
      end = this.#readOne(at, outside);
      at = scanner.skipBlanks(end);
    }
    if (scanner.code(at) === slash && scanner.code(++at) !== greaterThan) {
      throw scanner.error(at, { expected: '> after /', got: scanner.got(at) });
    }
    for (let index = 0; index < this.count; index++) this.#bind(index);
    if (this.count > fewAttributes) this.#refuseTwice();
    return at + 1;
  }

  /** Reads one attribute or namespace declaration. Returns the offset after its value. */
  #readOne(start: number, outside: number): number {
    const scanner = this.#scanner;
    const text = scanner.text;
    const end = this.readName(start);
    const colon = scanner.colon;
    const equals = scanner.skipBlanks(end);
    if (scanner.code(equals) !== equalsSign) {
      throw scanner.error(equals, { expected: '=', got: scanner.got(equals) });
    }
    const valueEnd = scanner.readValue(scanner.skipBlanks(equals + 1), this.#maxValue);
    const value = scanner.value;
    const reserved = text.startsWith('xmlns', start);
    if (reserved && end - start === 5) this.#declare('', value, start, outside);
    else if (reserved && colon === start + 5) {
      this.#declare(text.slice(colon + 1, end), value, start, outside);
    } else {
      if (this.count === this.#list.length) this.#list.push(new Attribute());
      const attribute = this.at(this.count++);
      attribute.start = start;
      attribute.prefix = colon === -1 ? '' : text.slice(start, colon);
      attribute.local = text.slice(colon === -1 ? start : colon + 1, end);
      attribute.value = value;
    }
    return valueEnd;
  }

  #bind(index: number): void {
    const attribute = this.at(index);
    const { prefix, start, local } = attribute;
    attribute.namespace = prefix === '' ? '' : this.namespaceOf(prefix, start);
    if (this.count > fewAttributes) return;
    for (let other = 0; other < index; other++) {
      const before = this.at(other);
      if (before.local === local && before.namespace === attribute.namespace)
        throw this.#twice(start, cut(local));
    }
  }

  /** Finds repeated attributes with a set, because comparing all pairs of many attributes would be slow. */
  #refuseTwice(): void {
    const names = new Set<string>();
    for (let index = 0; index < this.count; index++) {
      const { start, local, namespace } = this.at(index);
      const name = `${local} ${namespace}`; // local names contain no blanks
      if (names.has(name)) throw this.#twice(start, cut(local));
      names.add(name);
    }
  }

  #twice(at: number, name: string): XmlError {
    return this.#scanner.error(at, {
      mistake: 'repeatedAttribute',
      subject: name,
      expected: 'each attribute once',
      got: quoteValue(`${name} twice`),
    });
  }

  /** Adds a declaration, after the checks of Namespaces 1.0, 3. */
  #declare(prefix: string, namespace: string, at: number, outside: number): void {
    const scanner = this.#scanner;
    if (this.#namespaces.declaredSince(outside, prefix)) {
      throw this.#twice(at, prefix === '' ? 'xmlns' : `xmlns:${cut(prefix)}`);
    }
    if (prefix === 'xmlns') throw scanner.error(at, { expected: 'no declaration of the prefix xmlns' });
    if ((prefix === 'xml') !== (namespace === xmlNamespace)) {
      throw scanner.error(at, { expected: 'the prefix xml and its namespace bound to each other alone' });
    }
    if (namespace === xmlnsNamespace)
      throw scanner.error(at, { expected: 'no binding to the namespace of xmlns' });
    if (namespace.length > this.#maxNamespace) {
      const detail = `namespace longer than ${this.#maxNamespace} characters`;
      throw scanner.error(at, { detail }, 'xmlNamespace');
    }
    if (namespace === '' && prefix !== '' && !this.#emptyPrefixes) {
      throw scanner.error(at, {
        expected: quoteValue(`a namespace for the prefix ${cut(prefix)}`, 'a namespace for the prefix *'),
        got: 'none',
      });
    }
    this.#namespaces.declare(prefix, namespace);
  }
}
