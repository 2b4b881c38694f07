// What operations, types, members and the service are called, the same whatever else the document has, and what
// `names.lock` keeps for good. Nothing here decides what there is to be named: types and operations are handed in.
import { createHash } from 'node:crypto';

/** How what a document calls things becomes names of operations, types and elements. */

/** `name` with its first letter in upper case. */
export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** A name for generated classes: starts with a capital, without underscores before it. Go exports no other, suds knows no other. */
export function className(name: string): string {
  return upperFirst(name.replace(/^_+([A-Za-z])/, '$1'));
}

/** A title or path in PascalCase: `/parcels/{number}` is `ParcelsNumber`. */
export function pascal(title: string): string {
  return title
    .split(/[^A-Za-z0-9]+/)
    .map(upperFirst)
    .join('');
}

/** `name` with what no identifier may hold as `_`: importers take nothing else as the name of an operation. */
export function identifier(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[0-9]/.test(plain) ? `_${plain}` : plain;
}

/**
 * The identifier that a name begins with of which generators make a class. wsimport drops the underscores before the
 * first letter or digit and takes no digit there, nor nothing at all.
 */
export function classIdentifier(name: string): string {
  const plain = identifier(name);
  return /^_*[A-Za-z]/.test(plain) ? plain : `N${plain}`;
}

/**
 * Letters outside ASCII that both XML 1.0's fourth edition (B. Character Classes), by which .NET reads names, and its
 * fifth have for the start of a name: Latin, Greek, Cyrillic, Kana, Han, Hangul.
 */
export const letters =
  /[\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u0131\u0134-\u013E\u0141-\u0148\u014A-\u017E\u0388-\u038A\u038E-\u03A1\u03A3-\u03CE\u0401-\u040C\u040E-\u044F\u0451-\u045C\u045E-\u0481\u3041-\u3094\u30A1-\u30FA\u4E00-\u9FA5\uAC00-\uD7A3]/;

/**
 * A JSON member's name as an XML name: what an NCName can't hold as `_xHHHH_`, .NET's escape. One case wider than
 * .NET's, every underscore before `x` and four hexadecimal digits, so that it can be undone. The empty name is `_`.
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

/** True for a name that may stand as an element without an escape. */
export function isElementName(name: string): boolean {
  return name !== '' && escapeName(name) === name;
}

/** What generators make of a name before they compare it with others: no case, no punctuation. */
export function folded(name: string): string {
  if (/^[A-Za-z\d]*$/.test(name)) return name.toLowerCase();
  return name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/**
 * What wsimport refuses as the child of a wrapper, in any case: it makes a method's parameter of that, and takes no
 * word that Java keeps for itself.
 */
export const javaWords: readonly string[] = [
  'abstract assert boolean break byte case catch char class const continue default do double else enum extends',
  'false final finally float for goto if implements import instanceof int interface long native new null package',
  'private protected public return short static strictfp super switch synchronized this throw throws transient',
  'true try void volatile while _',
].flatMap((line) => line.split(' '));

/** A name in the contract that its document gives rise to. */
export interface Wanted {
  /** What the name stands for: the key of a pinned name. */
  readonly key: string;
  readonly name: string;
}

/** Names by key. */
export type Names = ReadonlyMap<string, string>;

/**
 * The names of a contract, as `names.lock` keeps them, each kind by keys of its own: of operations and types the JSON
 * pointer; of members `{key of the object}/properties/{member}` as a pointer has it, or `/variants/` of a union. What
 * is made of another type has that one's key and `[]` (an array) or `{}` (a map).
 */
export interface ContractNames {
  /** The service; undefined where nothing says. */
  readonly service?: string | undefined;
  readonly operations: Names;
  readonly types: Names;
  readonly members: Names;
}

/** A name that `names.lock` keeps for another, so that what wants it is called otherwise. */
export interface Displaced {
  readonly key: string;
  readonly wanted: string;
  readonly name: string;
  /** The key that the wanted name is pinned to. */
  readonly holder: string;
}

/** Characters that a name of a type or an operation has at most: some generators make file names of them. */
export const longestName = 60;

/** A name of so many characters at most; of a longer one the beginning, with 4 hexadecimal digits of the whole. */
function shortened(name: string, most: number = longestName): string {
  return name.length <= most ? name : `${name.slice(0, most - 5)}_${hexOf(name).slice(0, 4)}`;
}

/** Gives the names of one space, no two of them alike once folded. */
export interface Namer {
  /**
   * Names by key, in the order of wanting: who comes first has the name, and who is pinned to one before all. The
   * others get `_` and 4 hexadecimal digits of their own key, so that no name hangs on how many others there are.
   */
  readonly give: (wanted: readonly Wanted[]) => Names;
  /** Keeps a name from being given. */
  readonly reserve: (name: string) => void;
  readonly displaced: readonly Displaced[];
}

/**
 * @param pinned names that are given whatever else wants them
 * @param elements all that a name takes up in its space
 * @param tail what the digits of a key are of
 * @param most how long a name may be
 * @param reserved folded names that are given to none
 */
export function createNamer(
  pinned: Names,
  elements: (name: string) => readonly string[] = (name) => [name],
  tail: (key: string) => string = (key) => key,
  most: number = Number.POSITIVE_INFINITY,
  reserved: ReadonlySet<string> = new Set(),
): Namer {
  const holders = new Map<string, string | undefined>();
  const displaced: Displaced[] = [];
  const take = (name: string, key: string | undefined): void => {
    for (const element of elements(name)) holders.set(folded(element), key);
  };
  for (const [key, name] of pinned) take(name, key);

  const isTaken = (element: string): boolean => holders.has(element) || reserved.has(element);
  const isFree = (name: string): boolean => !elements(name).some((element) => isTaken(folded(element)));

  function free(name: string, key: string): string {
    if (isFree(name)) return name;
    const digits = hexOf(tail(key));
    for (let length = 4; length <= digits.length; length += 4) {
      const candidate = `${name.slice(0, most - length - 1)}_${digits.slice(0, length)}`;
      if (isFree(candidate)) return candidate;
    }
    throw new Error(`no name is free for ${name}`); // two keys alike, or 256 bits that met by chance
  }

  function nameOf({ key, name: wanted }: Wanted): string {
    const own = pinned.get(key);
    if (own !== undefined) return own;
    const name = free(shortened(wanted, most), key);
    if (name !== wanted) {
      const holder = elements(wanted)
        .map((element) => holders.get(folded(element)))
        .find((other) => other !== undefined && pinned.has(other));
      if (holder !== undefined) displaced.push({ key, wanted, name, holder });
    }
    take(name, key);
    return name;
  }

  return {
    give: (wanted) => new Map(wanted.map((want) => [want.key, nameOf(want)])),
    reserve: (name) => take(name, undefined),
    displaced,
  };
}

/** 64 hexadecimal digits that depend on the text alone. */
export function hexOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** For sorting by UTF-16 code units, the same on every machine. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What `names.lock` keeps of names that would be made otherwise today: such things are called as they were. */
export interface KeptNames {
  /** Whether a type that was named after an operation, or one in it, has a name that begins so. */
  readonly keepsType: (name: string) => boolean;
  /** Whether the variant at a place was called so, such as `Option7c2d`. */
  readonly keepsOption: (label: string, pointer: string) => boolean;
}

/** Looks into the names that are kept, once. */
export function keptNames({ types, members }: ContractNames): KeptNames {
  const keys = [...types.keys(), ...members.keys()];
  const inline = keys.flatMap((key) => {
    const at = key.indexOf('#', 1);
    return at === -1 ? [] : [key.slice(at + 1)];
  });
  // a type's key is its place, and what it was named after
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
