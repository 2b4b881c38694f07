import { unescapedSegment } from '../document/error.ts';
import { type ContractNames, className, escapeName, letters, upperFirst } from './names.ts';

/** Names that every client stack can use (`names: portable`), and those of a contract that some cannot. */

/** How elements are named after JSON members: by the same name, with a capital, or as every client stack can use it. */
export type ElementNames = 'same' | 'upper-first' | 'portable';

/** Members that suds cannot send, although XML and most languages allow them. */
const unusable: ReadonlySet<string> = new Set(['class', 'attributes']);

/** The element of a JSON member. */
export function elementName(json: string, names: ElementNames): string {
  if (names === 'portable') return portableName(json);
  return escapeName(names === 'same' ? json : upperFirst(json));
}

/** The element of a union's variant. */
export function variantName(label: string, names: ElementNames): string {
  return names === 'portable' ? portableName(label) : escapeName(label);
}

/**
 * An element name that is an identifier in every language, starts with a letter and is no name that a stack keeps for
 * itself: `_id` is `id`, `@type` is `type`, `postal code` is `postal_code`, `class` is `Class`.
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

/** A stack that cannot use a name of a contract. */
export interface UnusableName {
  readonly name: string;
  /** What it names: an element or a type. */
  readonly of: 'element' | 'type';
  /** The stacks that cannot use it, and what `portable` would call it. */
  readonly stacks: readonly string[];
  readonly portable: string;
}

/**
 * Returns the names that client stacks cannot use: suds neither sends elements that start with `_` nor those called
 * `class` or `attributes`; gowsdl exports no element that starts with `_` and finds no type that starts in lower case.
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
