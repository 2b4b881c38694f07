import { canonicalAttribute, canonicalText } from '../../xml/canonical-text.ts';
import { resolveReferences } from '../../xml/characters.ts';
import { type Declaration, xmlNamespace } from '../../xml/namespaces.ts';
import { isInstanceNamespace } from '../schema-instance.ts';
import type { Resolve } from '../simple-text.ts';

/**
 * Exclusive XML Canonicalization 1.0 without comments, of well-formed text that a reader has already checked (A22). One
 * addition: the prefix in `xsi:type` counts as used, so that the text declares the namespace of its type.
 */

/** The bindings of an open element that has declarations. */
interface Scope {
  readonly depth: number;
  readonly outer: Scope | undefined;
  /** Declarations in the source. */
  readonly declared: ReadonlyMap<string, string>;
  /** Declarations in the canonical text. */
  readonly written: ReadonlyMap<string, string>;
}

const none: ReadonlyMap<string, string> = new Map();

/**
 * Returns the nearest binding of a prefix. It searches the scopes, because a copy of all bindings per element would use
 * too much memory.
 */
function bound(scope: Scope, bindings: 'declared' | 'written', prefix: string): string | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const namespace = at[bindings].get(prefix);
    if (namespace !== undefined) return namespace;
  }
  return undefined;
}

// only the four white space characters of XML: names may contain others, such as U+FEFF
const attributePattern = /[ \t\r\n]*([^ \t\r\n=>/]+)[ \t\r\n]*=[ \t\r\n]*("[^"]*"|'[^']*')/y;
const startPattern = /[^ \t\r\n/>]+/y;

/**
 * Returns the canonical form of elements and text; undefined if it is too long.
 *
 * @param source well-formed content with complete elements
 * @param resolve returns the namespace of a prefix outside the source
 * @param around declarations that override those of `resolve`
 * @param take returns true if the form may grow by a number of characters. A namespace that many elements use is
 * repeated in each, so the form may be many times as long as its source.
 */
export function canonicalXml(
  source: string,
  resolve: Resolve,
  around: readonly Declaration[] = [],
  take: (characters: number) => boolean = () => true,
): string | undefined {
  const outer = new Map(around.map(({ prefix, namespace }) => [prefix, namespace]));
  const scopes: Scope[] = [{ depth: 0, outer: undefined, declared: outer, written: none }];
  const open: string[] = [];
  let text = '';
  let taken = 0;
  let at = 0;
  for (;;) {
    if (!take(text.length - taken)) return undefined;
    taken = text.length;
    const tag = source.indexOf('<', at);
    const end = tag === -1 ? source.length : tag;
    if (end > at) text += canonicalText(resolveReferences(lineEnds(source.slice(at, end))));
    if (tag === -1) return take(text.length - taken) ? text : undefined;
    if (source.startsWith('<!--', tag)) at = source.indexOf('-->', tag) + 3;
    else if (source.startsWith('<![CDATA[', tag)) {
      at = source.indexOf(']]>', tag) + 3;
      text += canonicalText(lineEnds(source.slice(tag + 9, at - 3)));
    } else if (source.startsWith('</', tag)) {
      text += `</${open.pop() as string}>`;
      while ((scopes.at(-1) as Scope).depth > open.length) scopes.pop();
      at = source.indexOf('>', tag) + 1;
    } else {
      const start = readStartTag(source, tag + 1);
      const { text: startTag, name } = writeStartTag(start, scopes, open.length + 1, resolve);
      text += startTag;
      at = start.end;
      if (start.empty) {
        text += `</${name}>`;
        while ((scopes.at(-1) as Scope).depth > open.length) scopes.pop();
      } else open.push(name);
    }
  }
}

/** A start tag of the source. */
export interface StartTag {
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly empty: boolean;
  /** The offset after it. */
  readonly end: number;
}

/** Reads the start tag whose name begins at an offset. */
export function readStartTag(source: string, at: number): StartTag {
  startPattern.lastIndex = at;
  const [name] = startPattern.exec(source) as RegExpExecArray;
  const attributes: [string, string][] = [];
  let end = at + name.length;
  for (;;) {
    attributePattern.lastIndex = end;
    const found = attributePattern.exec(source);
    if (found === null) break;
    end = attributePattern.lastIndex;
    const [, attribute, quoted] = found as unknown as readonly [string, string, string];
    const value = quoted.slice(1, -1).replace(/\r\n|[\t\r\n]/g, ' ');
    attributes.push([attribute, resolveReferences(value)]);
  }
  const close = source.indexOf('>', end);
  return { name, attributes, empty: source[close - 1] === '/', end: close + 1 };
}

/**
 * Returns a start tag in canonical form, and its element's name there. A prefix bound to no namespace (A30) is removed
 * from names.
 */
function writeStartTag(
  { name: given, attributes }: StartTag,
  scopes: Scope[],
  depth: number,
  resolve: Resolve,
): { readonly text: string; readonly name: string } {
  const scope = scopes.at(-1) as Scope;
  const isDeclaration = (attribute: string): boolean =>
    attribute === 'xmlns' || attribute.startsWith('xmlns:');
  const own = attributes.filter(([attribute]) => isDeclaration(attribute));
  const declared =
    own.length === 0 ? none : new Map(own.map(([attribute, value]) => [attribute.slice(6), value]));
  const namespaceOf = (prefix: string): string =>
    prefix === 'xml'
      ? xmlNamespace
      : (declared.get(prefix) ?? bound(scope, 'declared', prefix) ?? resolve(prefix) ?? '');
  const withoutEmptyPrefix = (qualified: string): string => {
    const prefix = prefixIn(qualified);
    return prefix === '' || namespaceOf(prefix) !== '' ? qualified : qualified.slice(prefix.length + 1);
  };
  const name = withoutEmptyPrefix(given);
  const used = new Set([prefixIn(name)]);
  // sort keys: namespace, then local name, separated by a character that neither can contain
  const written: string[] = [];
  for (const [qualified, value] of attributes) {
    if (isDeclaration(qualified)) continue;
    const attribute = withoutEmptyPrefix(qualified);
    const prefix = prefixIn(attribute);
    const namespace = prefix === '' ? '' : namespaceOf(prefix);
    const local = prefix === '' ? attribute : attribute.slice(prefix.length + 1);
    if (prefix !== '') used.add(prefix);
    if (local === 'type' && isInstanceNamespace(namespace))
      used.add(prefixIn(withoutEmptyPrefix(value.trim())));
    written.push(`${namespace}\0${local}\0 ${attribute}="${attributeOf(value)}"`);
  }
  let tag = `<${name}`;
  let rendered: Map<string, string> | undefined;
  for (const prefix of [...used].toSorted()) {
    const namespace = namespaceOf(prefix);
    if (prefix === 'xml' || (bound(scope, 'written', prefix) ?? '') === namespace) continue;
    rendered ??= new Map();
    rendered.set(prefix, namespace);
    tag += ` xmlns${prefix === '' ? '' : `:${prefix}`}="${attributeOf(namespace)}"`;
  }
  if (rendered !== undefined || own.length > 0)
    scopes.push({ depth, outer: scope, declared, written: rendered ?? none });
  for (const entry of written.toSorted()) tag += entry.slice(entry.lastIndexOf('\0') + 1);
  return { text: `${tag}>`, name };
}

function prefixIn(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(':')));
}

function lineEnds(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

/** The text that was escaped last, because the same namespace often occurs repeatedly. */
let lastEscaped: { readonly text: string; readonly escaped: string } | undefined;

function attributeOf(text: string): string {
  if (lastEscaped?.text !== text) lastEscaped = { text, escaped: canonicalAttribute(text) };
  return lastEscaped.escaped;
}
