import { foldAscii } from '../codec/scalars/text.ts';
import type { Contract } from '../contract/model.ts';
import type { Part } from '../json/parts.ts';
import type { Difference } from './comparison.ts';
import type { Shape } from './shapes.ts';

// Sensitive values in differences (W24, W25). Findings never have credentials, and pseudonyms of personal values (G45).

/** Names of members with sensitive values: each is the end of a path, in lower case. */
export interface Sensitive {
  readonly level: 'credential' | 'personal';
  readonly names: readonly string[];
}

/** Returns the members of a contract with sensitive values (W24, W25). */
export function sensitiveMembers({ personal, credentials }: Contract): readonly Sensitive[] {
  const secret = (credentials?.parts ?? []).flatMap(({ name, secret: isSecret, moved }) => [
    ...(isSecret ? [[name]] : []),
    ...(moved === undefined ? [] : [[moved.block, ...moved.path]]),
  ]);
  if (credentials?.member !== undefined) secret.push([credentials.member]);
  const asNames = (path: readonly string[]): readonly string[] => path.map(foldAscii);
  return [
    ...secret.map((path) => ({ level: 'credential' as const, names: asNames(path) })),
    ...personal.map((path) => ({ level: 'personal' as const, names: asNames(path.split('.')) })),
  ];
}

/** The values of a difference, and their place. */
export interface Place {
  /** Names of the members from the root, in lower case. */
  readonly names: readonly string[];
  /** Undefined for a value without a declared type. */
  readonly shape: Shape | undefined;
  /** True inside of content without a declared type. */
  readonly isOpen: boolean;
}

/**
 * Returns the sensitivity of values; undefined for none. A contract with sensitive members has no names for content
 * without a declared type: it is personal, and a credential if it has the name of one.
 */
export function sensitivityOf(
  sensitive: readonly Sensitive[],
  values: readonly (Part | undefined)[],
  { names, shape, isOpen }: Place,
): Difference['sensitivity'] {
  if (sensitive.length === 0) return undefined;
  const search = new Search(sensitive);
  search.member(names, isOpen);
  for (const value of values) if (value !== undefined) search.value(value, shape, names, isOpen);
  return search.level;
}

class Search {
  level: Difference['sensitivity'];
  readonly #sensitive: readonly Sensitive[];
  /** The last name of each credential. */
  readonly #secrets: ReadonlySet<string>;

  constructor(sensitive: readonly Sensitive[]) {
    this.#sensitive = sensitive;
    this.#secrets = new Set(
      sensitive.flatMap(({ level, names }) => (level === 'credential' ? names.slice(-1) : [])),
    );
  }

  /** Finds the sensitivity of a member by its name and those around it. */
  member(names: readonly string[], isOpen: boolean): void {
    for (const { level, names: wanted } of this.#sensitive)
      if (isWithinMember(names, wanted)) this.#raise(level);
    if (isOpen && names.some((name) => this.#secrets.has(localName(name)))) this.#raise('credential');
  }

  value(part: Part, shape: Shape | undefined, names: readonly string[], isAround: boolean): void {
    const isOpen = isAround || shape === undefined || shape.kind === 'xml' || shape.kind === 'any';
    if (part.kind === 'list') {
      const item = shape?.kind === 'list' ? shape.item() : undefined;
      for (const one of part.items) this.value(one, item, names, isOpen);
    } else if (part.kind === 'object')
      for (const [name, inner] of part.members) {
        if (name === '@type' || name === '@nil') continue;
        const path = [...names, foldAscii(name)];
        this.member(path, isOpen);
        this.value(
          inner,
          shape?.kind === 'object' ? shape.slots.get(name)?.shape() : undefined,
          path,
          isOpen,
        );
      }
    else if (part.kind === 'text') this.#text(part.text, isOpen);
  }

  /** Text with tags is XML, also if the contract declares another type (G34). */
  #text(text: string, isOpen: boolean): void {
    if (!isOpen && !/<[^\s<>]/.test(text)) return;
    this.#raise('personal');
    if (this.#secrets.size === 0) return;
    for (const [, element, attribute] of text.matchAll(xmlNames))
      if (this.#secrets.has(foldAscii(element ?? attribute ?? ''))) this.#raise('credential');
  }

  #raise(level: Sensitive['level']): void {
    if (this.level !== 'credential') this.level = level;
  }
}

/** Local names of elements and attributes. A match stops at a blank or `<`, so that it takes linear time. */
const xmlNames = /<(?:[^\s<>/:]+:)?([^\s<>/:]+)|\s(?:[^\s<>=:"]+:)?([^\s<>=:"]+)="/g;

/** Returns a name without its namespace or prefix. */
function localName(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('}'), name.lastIndexOf(':')) + 1);
}

/** Returns true if a member or one around it has a name. */
function isWithinMember(names: readonly string[], wanted: readonly string[]): boolean {
  return names.some((_, end) => wanted.every((name, at) => names[end + 1 - wanted.length + at] === name));
}
