import type { Limits } from '../../contract/limits.ts';
import { namespaces } from '../../contract/model.ts';
import { quoteValue } from '../../contract/reason.ts';
import { XmlReader } from '../../xml/reader.ts';
import { countSteps, maxRereadCharacters, type Reading, refuse, tryAddCharacters } from '../problem.ts';
import { excerpt, quoteText } from '../scalars/text.ts';
import { canonicalXml, readStartTag } from './canonical.ts';

/**
 * References of SOAP's encoding (SOAP 1.1, 5.4.1; SOAP 1.2, part 2, 3.1.5), resolved in their element. The target is
 * read again for each reference (A30).
 */

/** An element that may be a reference target. */
interface Target {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Number of characters that one read of it adds to the limit. */
  readonly weight: number;
  readonly around: Around | undefined;
  /** True after the first reference to it. */
  isKnown: boolean;
  /** Its canonical form, cached if it is short. */
  canonical: string | undefined;
}

/** The declarations of an element and its ancestors. */
interface Around {
  readonly outer: Around | undefined;
  readonly declarations: ReadonlyMap<string, string>;
}

/**
 * Returns the namespace of a prefix. It searches the ancestors, because a copy of all declarations per element would
 * use too much memory.
 */
function namespaceAt(around: Around | undefined, prefix: string): string | undefined {
  for (let at = around; at !== undefined; at = at.outer) {
    const namespace = at.declarations.get(prefix);
    if (namespace !== undefined) return namespace;
  }
  return undefined;
}

/** The targets of one message, and the state while they are read. */
export interface References {
  readonly targets: ReadonlyMap<string, Target>;
  /** Ids of the targets that are being read. */
  readonly active: Set<string>;
  /** Number of targets in `active` that were read before. */
  again: number;
}

/** Minimum number of characters that a reference adds to the limit, however short its target is. */
const leastText = 1024;
/**
 * Minimum number of characters for a reference inside a target that was read before. In a short message, such
 * references double with each level.
 */
const leastAgain = 4 * leastText;
/** Characters that each element in a target adds to its own length, because elements dominate the time to read it. */
const elementText = 128;

/** The canonical first element of a message, and all its reference targets. */
export interface Gathered {
  readonly first: string;
  readonly references: References;
}

/**
 * Reads from the start tag of the body's first element past the end of the body, if there is one. Keeps the canonical
 * form of each element. Returns undefined if the forms exceed their source by more than the limit.
 */
export function gatherReferences(
  xml: XmlReader,
  { rereadText = maxRereadCharacters }: Limits,
  reading: Reading,
): Gathered | undefined {
  const texts: string[] = [];
  let excess = 0;
  const take = (characters: number): boolean => {
    countSteps(reading, characters);
    excess += characters;
    return excess <= rereadText;
  };
  do {
    const start = xml.startOffset;
    xml.skip();
    const source = xml.source(start, xml.position);
    excess -= source.length;
    const text = canonicalXml(source, (prefix) => xml.resolve(prefix), [], take);
    if (text === undefined) return undefined;
    texts.push(text);
  } while (xml.depth > 0 && xml.nextChild());
  const targets = new Map<string, Target>();
  for (const text of texts) findTargets(text, targets, reading);
  return { first: texts[0] ?? '', references: { targets, active: new Set(), again: 0 } };
}

/**
 * Adds each element of a canonical text that has an id. An id on two elements is refused: IDs are unique in XML 1.0,
 * and SOAP 1.2, part 2, 3.1.5.2 defines the fault DuplicateID.
 */
function findTargets(text: string, targets: Map<string, Target>, reading: Reading): void {
  const open: {
    readonly id: string | undefined;
    readonly start: number;
    readonly before: number;
    readonly around: Around | undefined;
  }[] = [];
  let elements = 0;
  let around: Around | undefined;
  for (let at = 0; at !== -1; at = text.indexOf('<', at)) {
    if (text[at + 1] === '/') {
      const end = text.indexOf('>', at) + 1;
      const element = open.pop();
      if (element?.id !== undefined && targets.has(element.id))
        refuse(reading, 'InvalidType', {
          expected: quoteValue(`the id ${excerpt(element.id)} on one element`, 'each id on one element'),
          got: 'it on several',
        });
      else if (element?.id !== undefined) {
        const { id, start, before, around: outside } = element;
        const weight = end - start + (elements - before) * elementText;
        const at = { text, start, end, weight, around: outside };
        targets.set(id, { ...at, isKnown: false, canonical: undefined });
      }
      around = element?.around;
      at = end;
      continue;
    }
    const { attributes, end } = readStartTag(text, at + 1);
    const outer = around;
    const declarations = new Map<string, string>();
    for (const [name, namespace] of attributes)
      if (name === 'xmlns' || name.startsWith('xmlns:')) declarations.set(name.slice(6), namespace);
    if (declarations.size > 0) around = { outer: around, declarations };
    const inScope = around;
    const id = attributes.find(([name]) => name === 'id' || isId12(name, inScope))?.[1];
    elements++;
    open.push({ id, start: at, before: elements, around: outer });
    at = end;
  }
}

/** Returns true for the id attribute of SOAP 1.2's encoding (SOAP 1.2, part 2, 3.1.5.1). */
function isId12(name: string, around: Around | undefined): boolean {
  return name.endsWith(':id') && namespaceAt(around, name.slice(0, -3)) === namespaces.soap12Encoding;
}

/**
 * Returns an element's reference as `#id`, from `href` or from `ref` of SOAP 1.2's encoding; undefined if it has none.
 */
export function referenceIn(xml: XmlReader): string | undefined {
  const ref = xml.attribute(namespaces.soap12Encoding, 'ref');
  return ref === undefined ? xml.attribute('', 'href') : `#${ref}`;
}

/**
 * Reads the target of a reference with a new reader. Returns undefined, and records the reason, if there is no target,
 * if it contains the reference, or if the limit is exceeded.
 */
export function follow(
  references: References,
  href: string,
  limits: Limits,
  reading: Reading,
  read: (xml: XmlReader) => string | undefined,
): string | undefined {
  const { targets, active } = references;
  const id = href.slice(1);
  const target = href.startsWith('#') ? targets.get(id) : undefined;
  if (target === undefined)
    return refuse(reading, 'InvalidType', {
      expected: 'href with the id of an element of the message',
      got: quoteText(href),
    });
  if (active.has(id))
    return refuse(reading, 'InvalidType', {
      expected: 'a value',
      got: quoteValue(`a reference to an element around it, ${excerpt(href)}`),
    });
  const weight = Math.max(references.again === 0 ? leastText : leastAgain, target.weight);
  const take = (characters: number): boolean => tryAddCharacters(reading, limits, characters);
  const isNear = active.size < limits.xmlDepth && take(weight);
  const text = isNear ? canonicalOf(target, take) : undefined;
  if (text === undefined)
    return refuse(reading, 'OutOfRange', {
      expected: 'fewer or shorter references',
      got: 'too much behind them',
    });
  const wasKnown = target.isKnown;
  target.isKnown = true;
  const xml = new XmlReader(text, limits);
  xml.readRoot();
  active.add(id);
  if (wasKnown) references.again++;
  const token = read(xml);
  if (wasKnown) references.again--;
  active.delete(id);
  return token;
}

/**
 * Returns the canonical form of a target. Returns undefined if the characters beyond the target's weight exceed the
 * limit: each element repeats the outer declarations that it uses.
 */
function canonicalOf(target: Target, takeMore: (characters: number) => boolean): string | undefined {
  if (target.canonical !== undefined) return target.canonical;
  const source = target.text.slice(target.start, target.end);
  let excess = -target.weight;
  const take = (characters: number): boolean => {
    const before = Math.max(0, excess);
    excess += characters;
    return takeMore(Math.max(0, excess) - before);
  };
  const text = canonicalXml(source, (prefix) => namespaceAt(target.around, prefix), [], take);
  if (text !== undefined && text.length <= leastText) target.canonical = text;
  return text;
}
