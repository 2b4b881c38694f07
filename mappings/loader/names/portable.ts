import { unescapedSegment } from '../document/error.ts';
import { type ContractNames, className, escapeName, letters, upperFirst } from './names.ts';

/** Names that every client stack can use (`names: portable`), and detection of names that some stacks cannot use. */

/** Naming of elements after JSON members: unchanged, with a capital letter, or usable by every client stack. */
export type ElementNames = 'same' | 'upper-first' | 'portable';

/** Members that suds cannot send, although XML and most languages allow them. */
const unusable: ReadonlySet<string> = new Set(['class', 'attributes']);

/** Returns the element name of a JSON member. */
export function elementName(json: string, names: ElementNames): string {
  if (names === 'portable') return portableName(json);
  return escapeName(names === 'same' ? json : upperFirst(json));
}

/** Returns the element name of a union's variant. */
export function variantName(label: string, names: ElementNames): string {
  return names === 'portable' ? portableName(label) : escapeName(label);
}

/**
 * Returns an element name that is an identifier in all languages, starts with a letter and is not reserved by a client
 * stack. Examples: `_id` becomes `id`, `@type` becomes `type`, `postal code` becomes `postal_code`, `class` becomes
 * `Class`.
 */
function portableName(json: string): string {
  let plain = '';
  for (const letter of json) plain += /[A-Za-z0-9]/.test(letter) || letters.test(letter) ? letter : '_';
  plain = withoutEdges(plain);
  if (unusable.has(plain)) return upperFirst(plain);
  return escapeName(/^[A-Za-z]/.test(plain) || letters.test(plain.charAt(0)) ? plain : `N${plain}`);
}

/** A text without underscores at its start and end. */
function withoutEdges(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === '_') start++;
  while (end > start && text[end - 1] === '_') end--;
  return text.slice(start, end);
}

/** A name that some client stacks cannot use. */
export interface UnusableName {
  readonly name: string;
  /** Kind of the named item. */
  readonly of: 'element' | 'type';
  /** The stacks that cannot use the name, and the name with `names: portable`. */
  readonly stacks: readonly string[];
  readonly portable: string;
}

/**
 * Returns the names that client stacks cannot use. suds does not send elements that start with `_` or are named `class`
 * or `attributes`. gowsdl does not export elements that start with `_` or find types that start with a lower-case
 * letter.
 */
export function unusableNames({ types, members }: ContractNames): readonly UnusableName[] {
  const found = new Map<string, UnusableName>();
  for (const [key, name] of members) {
    const stacks = name.startsWith('_') ? ['suds', 'gowsdl (Go)'] : unusable.has(name) ? ['suds'] : [];
    if (stacks.length === 0 || found.has(`element ${name}`)) continue;
    const json = unescapedSegment(key.slice(key.lastIndexOf('/') + 1));
    found.set(`element ${name}`, { name, of: 'element', stacks, portable: portableName(json) });
  }
  for (const name of types.values()) {
    if (!/^[a-z_]/.test(name) || found.has(`type ${name}`)) continue;
    found.set(`type ${name}`, { name, of: 'type', stacks: ['gowsdl (Go)'], portable: className(name) });
  }
  return [...found.values()];
}
