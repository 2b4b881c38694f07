// Names of operations, types, members and the service. A name depends only on its own item, and `names.lock` keeps it.
// This folder does not decide which items need names.
import { createHash } from 'node:crypto';

/** Returns `name` with its first letter in upper case. */
export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/**
 * Returns a name for generated classes: it starts with a capital letter, without leading underscores. Go does not
 * export other names, and suds does not find them.
 */
export function className(name: string): string {
  return upperFirst(name.replace(/^_+([A-Za-z])/, '$1'));
}

/** Returns a title or path in PascalCase: `/parcels/{number}` becomes `ParcelsNumber`. */
export function pascal(title: string): string {
  return title
    .split(/[^A-Za-z0-9]+/)
    .map(upperFirst)
    .join('');
}

/** Replaces characters that are not allowed in identifiers with `_`. Importers accept no other operation names. */
export function identifier(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[0-9]/.test(plain) ? `_${plain}` : plain;
}

/**
 * Returns an identifier that is a valid start of a class name. wsimport drops leading underscores, and rejects a name
 * that is then empty or starts with a digit.
 */
export function classIdentifier(name: string): string {
  const plain = identifier(name);
  return /^_*[A-Za-z]/.test(plain) ? plain : `N${plain}`;
}

/**
 * Name start characters outside ASCII in both the fourth edition of XML 1.0 (B. Character Classes), which .NET uses,
 * and the fifth: Latin, Greek, Cyrillic, Kana, Han, Hangul.
 */
export const letters =
  /[\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u0131\u0134-\u013E\u0141-\u0148\u014A-\u017E\u0388-\u038A\u038E-\u03A1\u03A3-\u03CE\u0401-\u040C\u040E-\u044F\u0451-\u045C\u045E-\u0481\u3041-\u3094\u30A1-\u30FA\u4E00-\u9FA5\uAC00-\uD7A3]/;

/**
 * Returns a JSON member name as an XML name. Characters not allowed in an NCName become `_xHHHH_`, the escape of .NET.
 * To be reversible, this also escapes each underscore before `x` and four hexadecimal digits, unlike .NET. The empty
 * name becomes `_`.
 */
export function escapeName(name: string): string {
  if (name === '') return '_';
  let escaped = '';
  for (let at = 0; at < name.length; at++) {
    const letter = name.charAt(at);
    const starts = /[A-Za-z_]/.test(letter) || letters.test(letter);
    const isEscape = letter === '_' && /^x[0-9A-Fa-f]{4}/.test(name.slice(at + 1, at + 6));
    const legal = starts || (at > 0 && /[0-9.-]/.test(letter));
    escaped +=
      legal && !isEscape ? letter : `_x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
  }
  return escaped;
}

/** Returns true if a name is a valid element name without escapes. */
export function isElementName(name: string): boolean {
  return name !== '' && escapeName(name) === name;
}

/** Folds a name as code generators do before they compare names: without case and punctuation. */
export function folded(name: string): string {
  if (/^[A-Za-z\d]*$/.test(name)) return name.toLowerCase();
  return name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/**
 * Names that wsimport rejects for children of a wrapper, ignoring case. They become method parameters, and these are
 * reserved words in Java.
 */
export const javaWords: readonly string[] = [
  'abstract assert boolean break byte case catch char class const continue default do double else enum extends',
  'false final finally float for goto if implements import instanceof int interface long native new null package',
  'private protected public return short static strictfp super switch synchronized this throw throws transient',
  'true try void volatile while _',
].flatMap((line) => line.split(' '));

/** A name that an item of the document needs. */
export interface Wanted {
  /** Key of the named item in `names.lock`. */
  readonly key: string;
  readonly name: string;
}

/** Names by key. */
export type Names = ReadonlyMap<string, string>;

/**
 * The names of a contract, as in `names.lock`. Operations and types have JSON pointers as keys. Members have `{key of
 * the object}/properties/{member}` (escaped as in a pointer), or `/variants/` for a union. An array has the key of its
 * item type followed by `[]`, a map the key of its value type followed by `{}`.
 */
export interface ContractNames {
  /** Name of the service; undefined if it is not kept. */
  readonly service?: string | undefined;
  readonly operations: Names;
  readonly types: Names;
  readonly members: Names;
}

/** An item that gets another name because `names.lock` keeps the wanted name for a different item. */
export interface Displaced {
  readonly key: string;
  readonly wanted: string;
  readonly name: string;
  /** Key of the item that keeps the wanted name. */
  readonly holder: string;
}

/** Maximum length of a type or operation name. Some code generators use these names as file names. */
export const longestName = 60;

/** Truncates a name to the maximum length and appends 4 hexadecimal digits of its hash. */
function shortened(name: string, most: number): string {
  return name.length <= most ? name : `${name.slice(0, most - 5)}_${hexOf(name).slice(0, 4)}`;
}

/** Rules of a namer. */
export interface NamingRules {
  /** Returns all names that a name occupies in its namespace. The default is only the name. */
  readonly elements?: (name: string) => readonly string[];
  /** Returns the part of a key that is hashed. The default is the whole key. */
  readonly tail?: (key: string) => string;
  /** Maximum length of a name. */
  readonly most?: number;
  /** Folded names that are never assigned. */
  readonly reserved?: ReadonlySet<string>;
}

/** Assigns names in one namespace. Names are unique after folding. */
export class Namer {
  readonly displaced: Displaced[] = [];
  readonly #pinned: Names;
  readonly #rules: Required<NamingRules>;
  readonly #holders = new Map<string, string | undefined>();

  /** @param pinned names that are assigned before any others */
  constructor(pinned: Names, rules: NamingRules = {}) {
    this.#pinned = pinned;
    const { elements = (name) => [name], tail = (key) => key } = rules;
    const { most = Number.POSITIVE_INFINITY, reserved = new Set() } = rules;
    this.#rules = { elements, tail, most, reserved };
    for (const [key, name] of pinned) this.#take(name, key);
  }

  /**
   * Returns names by key. Pinned names are assigned first, then the others in order. If a name is taken, `_` and 4
   * hexadecimal digits of the key's hash are appended. So a name does not depend on the number of other items.
   */
  give(wanted: readonly Wanted[]): Names {
    return new Map(wanted.map((want) => [want.key, this.#nameOf(want)]));
  }

  /** Reserves a name. */
  reserve(name: string): void {
    this.#take(name, undefined);
  }

  #take(name: string, key: string | undefined): void {
    for (const element of this.#rules.elements(name)) this.#holders.set(folded(element), key);
  }

  #isFree(name: string): boolean {
    const isTaken = (element: string): boolean =>
      this.#holders.has(element) || this.#rules.reserved.has(element);
    return !this.#rules.elements(name).some((element) => isTaken(folded(element)));
  }

  #free(name: string, key: string): string {
    if (this.#isFree(name)) return name;
    const digits = hexOf(this.#rules.tail(key));
    for (let length = 4; length <= digits.length; length += 4) {
      const candidate = `${name.slice(0, this.#rules.most - length - 1)}_${digits.slice(0, length)}`;
      if (this.#isFree(candidate)) return candidate;
    }
    throw new Error(`no name is free for ${name}`); // equal keys, or a hash collision
  }

  #nameOf({ key, name: wanted }: Wanted): string {
    const own = this.#pinned.get(key);
    if (own !== undefined) return own;
    const name = this.#free(shortened(wanted, this.#rules.most), key);
    if (name !== wanted) {
      const holder = this.#rules
        .elements(wanted)
        .map((element) => this.#holders.get(folded(element)))
        .find((other) => other !== undefined && this.#pinned.has(other));
      if (holder !== undefined) this.displaced.push({ key, wanted, name, holder });
    }
    this.#take(name, key);
    return name;
  }
}

/** Returns 64 hexadecimal digits that depend only on the text. */
export function hexOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Compares by UTF-16 code units, independent of the locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Names in `names.lock` that the current naming rules would not produce. They are kept. */
export interface KeptNames {
  /** Returns true if the original name of a kept inline type starts with `name`. */
  readonly keepsType: (name: string) => boolean;
  /** Returns true if the variant at a pointer has this kept name, for example `Option7c2d`. */
  readonly keepsOption: (label: string, pointer: string) => boolean;
}

/** Indexes the kept names. */
export function keptNames({ types, members }: ContractNames): KeptNames {
  const keys = [...types.keys(), ...members.keys()];
  const inline = keys.flatMap((key) => {
    const at = key.indexOf('#', 1);
    return at === -1 ? [] : [key.slice(at + 1)];
  });
  // The key of a type is its pointer and the original name.
  const options = new Set(
    keys.flatMap((key) => {
      const place = key.slice(0, key.indexOf('#', 1) + 1);
      return place === '' ? [] : (key.match(/Option[0-9a-f]{4}/g) ?? []).map((label) => place + label);
    }),
  );
  return {
    keepsType: (name) => inline.some((kept) => kept.startsWith(name)),
    keepsOption: (label, pointer) => options.has(`${pointer}#${label}`),
  };
}
