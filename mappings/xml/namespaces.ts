/** The namespace of the prefix `xml`, which needs no declaration. */
export const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
/** The namespace of the prefix `xmlns`, which no prefix may be bound to. */
export const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/';

/** A namespace declaration; its prefix is '' for the default namespace. */
export interface Declaration {
  readonly prefix: string;
  readonly namespace: string;
}

const none: readonly Declaration[] = [];

/** Maximum number of declarations that are searched linearly. */
const few = 8;

/**
 * The namespace bindings in scope while a document is read. Lookups are constant-time: above a few declarations there
 * is a map, because a linear search is quadratic for nested declarations.
 */
export class Namespaces {
  /** Namespace of names without a prefix; '' for none. */
  default = '';
  /** Number of declarations in scope. An element stores it when it opens and passes it to `release` when it closes. */
  count = 0;
  readonly #prefixes: string[] = [];
  readonly #declared: string[] = [];
  /** The binding that each declaration hides. For those before the map exists, only the default namespace. */
  readonly #hidden: (string | undefined)[] = [];
  /** Defined while more than a few declarations are in scope. */
  #bound: Map<string, string | undefined> | undefined;
  // Adjacent elements usually share a prefix.
  #lastPrefix = '';
  #lastNamespace: string | undefined = undefined;

  /** Returns the namespace of a prefix, '' for the default namespace; undefined for an unbound prefix. */
  resolve(prefix: string): string | undefined {
    if (prefix === '') return this.default;
    if (prefix === this.#lastPrefix) return this.#lastNamespace;
    const namespace = prefix === 'xml' ? xmlNamespace : this.#find(prefix);
    this.#lastPrefix = prefix;
    this.#lastNamespace = namespace;
    return namespace;
  }

  /** Returns true if the prefix was declared after the count was `since`. */
  declaredSince(since: number, prefix: string): boolean {
    for (let index = since; index < this.count; index++) {
      if (this.#prefixes[index] === prefix) return true;
    }
    return false;
  }

  declare(prefix: string, namespace: string): void {
    if (this.count === few) this.#bound = this.#mapOfAll();
    this.#prefixes[this.count] = prefix;
    this.#declared[this.count] = namespace;
    this.#hidden[this.count] = prefix === '' ? this.default : this.#bound?.get(prefix);
    this.count++;
    this.#bind(prefix, namespace);
  }

  /** Returns the declarations between two counts, in order. */
  between(from: number, to: number): readonly Declaration[] {
    if (from === to) return none;
    const declarations: Declaration[] = [];
    for (let index = from; index < to; index++) {
      declarations.push({ prefix: this.#prefixes[index] ?? '', namespace: this.#declared[index] ?? '' });
    }
    return declarations;
  }

  /** Removes all declarations after the count was `count`. */
  release(count: number): void {
    while (this.count > count) {
      this.count--;
      this.#bind(this.#prefixes[this.count] ?? '', this.#hidden[this.count]);
    }
    if (count <= few) this.#bound = undefined;
  }

  #find(prefix: string): string | undefined {
    if (this.#bound !== undefined) return this.#bound.get(prefix);
    for (let index = this.count - 1; index >= 0; index--) {
      if (this.#prefixes[index] === prefix) return this.#declared[index];
    }
    return undefined;
  }

  #mapOfAll(): Map<string, string | undefined> {
    return new Map(this.between(0, this.count).map(({ prefix, namespace }) => [prefix, namespace]));
  }

  #bind(prefix: string, namespace: string | undefined): void {
    if (prefix === '') this.default = namespace ?? '';
    else this.#bound?.set(prefix, namespace);
    this.#lastPrefix = '';
  }
}
