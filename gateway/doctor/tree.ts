import { resolveReferences } from '../../mappings/xml/characters.ts';
import { Namespaces } from '../../mappings/xml/namespaces.ts';

/** An element of a well-formed document, with its offsets in the text. */
export interface TreeElement {
  readonly prefix: string;
  readonly local: string;
  readonly namespace: string;
  /** Offset of `<`, and offset after the `>` of the start tag. */
  readonly start: number;
  readonly opened: number;
  /** Offset of `</`, and offset after the end tag. Both equal `opened` for an empty-element tag. */
  closing: number;
  end: number;
  /** True for `<a/>`. */
  readonly isEmptyTag: boolean;
  readonly attributes: readonly TreeAttribute[];
  /** Namespace declarations. `local` is the prefix, `''` for the default namespace. */
  readonly declarations: readonly TreeAttribute[];
  readonly children: TreeElement[];
  readonly parent: TreeElement | undefined;
}

/** An attribute with its offsets. */
export interface TreeAttribute {
  readonly name: string;
  readonly local: string;
  readonly namespace: string;
  /** Unresolved text between the quotes. */
  readonly raw: string;
  /** Offset of the name, and offset after the closing quote. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the root element of a document that the strict reader has accepted, which bounds its depth and size. Returns
 * undefined if there is none. Names with undeclared prefixes get the namespace `''`.
 */
export function treeOf(text: string): TreeElement | undefined {
  const namespaces = new Namespaces();
  /** Number of declarations in scope outside each open element. */
  const outside: number[] = [];
  let root: TreeElement | undefined;
  let open: TreeElement | undefined;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const next = text[at + 1];
    if (next === '!' || next === '?') {
      at = pastOther(text, at);
      continue;
    }
    if (next === '/') {
      const end = text.indexOf('>', at) + 1;
      if (open === undefined || end === 0) return root;
      open.closing = at;
      open.end = end;
      open = open.parent;
      namespaces.release(outside.pop() ?? 0);
      at = end;
      continue;
    }
    const declared = namespaces.count;
    const element = readTag(text, at, namespaces, open);
    if (element === undefined) return root;
    if (open === undefined) root ??= element;
    else open.children.push(element);
    if (element.isEmptyTag) namespaces.release(declared);
    else {
      open = element;
      outside.push(declared);
    }
    at = element.opened;
  }
  return root;
}

const others = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
] as const;

/** Returns the offset after a comment, CDATA section, instruction or DTD. */
function pastOther(text: string, at: number): number {
  const [start, end] = others.find(([one]) => text.startsWith(one, at)) ?? ['<', '>'];
  const found = text.indexOf(end, at + start.length);
  return found < 0 ? text.length : found + end.length;
}

const nameCharacters = /[^\s/>=<]+/y;
const blanks = /\s*/y;
const equals = /[\s=]*/y;

/** Returns the end of the match of a sticky pattern at an offset. The pattern may match the empty string. */
function past(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.test(text);
  return pattern.lastIndex;
}

/** Reads a start tag and adds its declarations to the scope. Returns undefined if the tag is incomplete. */
function readTag(
  text: string,
  start: number,
  namespaces: Namespaces,
  parent: TreeElement | undefined,
): TreeElement | undefined {
  let at = past(nameCharacters, text, start + 1);
  if (at === 0) return undefined;
  const { prefix, local } = split(text.slice(start + 1, at));
  const attributes: { -readonly [Key in keyof TreeAttribute]: TreeAttribute[Key] }[] = [];
  const declarations: TreeAttribute[] = [];
  for (;;) {
    at = past(blanks, text, at);
    if (at >= text.length) return undefined;
    if (text[at] === '>' || text.startsWith('/>', at)) break;
    const from = at;
    at = past(nameCharacters, text, from);
    if (at === 0) return undefined;
    const name = text.slice(from, at);
    at = past(equals, text, at);
    const close = text.indexOf(text[at] ?? '"', at + 1);
    if (close < 0) return undefined;
    const raw = text.slice(at + 1, close);
    at = close + 1;
    if (name === 'xmlns' || name.startsWith('xmlns:')) {
      const declared = name.slice('xmlns:'.length);
      declarations.push({ name, local: declared, namespace: '', raw, start: from, end: at });
      namespaces.declare(declared, raw);
    } else attributes.push({ name, local: split(name).local, namespace: '', raw, start: from, end: at });
  }
  for (const one of attributes) {
    const { prefix: its } = split(one.name);
    if (its !== '') one.namespace = namespaces.resolve(its) ?? '';
  }
  const isEmptyTag = text[at] === '/';
  const opened = at + (isEmptyTag ? 2 : 1);
  return {
    prefix,
    local,
    namespace: namespaces.resolve(prefix) ?? '',
    start,
    opened,
    closing: opened,
    end: opened,
    isEmptyTag,
    attributes,
    declarations,
    parent,
    children: [],
  };
}

function split(name: string): { readonly prefix: string; readonly local: string } {
  const colon = name.indexOf(':');
  return { prefix: colon < 0 ? '' : name.slice(0, colon), local: name.slice(colon + 1) };
}

/** Returns the attribute with a namespace and local name; undefined if the element has none. */
export function attributeOf(
  element: TreeElement,
  namespace: string,
  local: string,
): TreeAttribute | undefined {
  return element.attributes.find((one) => one.namespace === namespace && one.local === local);
}

/**
 * Returns the content of an element with references resolved and CDATA sections unwrapped. Markup of children is
 * unchanged.
 */
export function textOf(text: string, { opened, closing }: TreeElement): string {
  return plainText(text.slice(opened, closing));
}

/** Returns character data with references resolved and CDATA sections unwrapped. */
export function plainText(raw: string): string {
  let text = '';
  for (let at = 0; at < raw.length; ) {
    const start = raw.indexOf('<![CDATA[', at);
    if (start < 0) return text + resolveReferences(raw.slice(at));
    const found = raw.indexOf(']]>', start);
    const end = found < 0 ? raw.length : found;
    text += resolveReferences(raw.slice(at, start)) + raw.slice(start + 9, end);
    at = end + 3;
  }
  return text;
}

/** Returns the ranges of an element's content before, between and after its children. */
export function gapsIn({
  children,
  opened,
  closing,
}: TreeElement): readonly { start: number; end: number }[] {
  const starts = [opened, ...children.map(({ end }) => end)];
  return starts.map((start, index) => ({ start, end: children[index]?.start ?? closing }));
}

/** Removes comments from a text. */
export function withoutComments(text: string): string {
  let kept = '';
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('<!--', at);
    if (start < 0) return kept + text.slice(at);
    const end = text.indexOf('-->', start);
    kept += text.slice(at, start);
    at = end < 0 ? text.length : end + 3;
  }
  return kept;
}

/** Escapes a text as character data. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns the offsets of an element's name with its prefix, in its start tag and end tag. */
export function nameSpans(text: string, element: TreeElement): readonly (readonly [number, number])[] {
  const length = element.local.length + (element.prefix === '' ? 0 : element.prefix.length + 1);
  const spans: (readonly [number, number])[] = [[element.start + 1, element.start + 1 + length]];
  if (!element.isEmptyTag && text.startsWith('</', element.closing))
    spans.push([element.closing + 2, element.closing + 2 + length]);
  return spans;
}

/** Returns a human-readable list of at most twelve element names. */
export function listed(names: readonly string[]): string {
  return (
    names
      .slice(0, 12)
      .map((name) => `<${name}>`)
      .join(', ') + (names.length > 12 ? ', …' : '')
  );
}
