import type { Limits } from '../../contract/limits.ts';
import { namespaces } from '../../contract/model.ts';
import { XmlReader } from '../../xml/reader.ts';
import { countSteps, hasRoom, maxRereadCharacters, type Reading, refuse } from '../problem.ts';
import { excerpt } from '../scalars/text.ts';
import { canonicalXml, readStartTag } from './canonical.ts';

/** References of SOAP's encoding (SOAP 1.1, 5.4.1; SOAP 1.2, part 2, 3.1.5), resolved where they stand: each target is read once more for each (A30). */

/** An element that may be referred to. */
interface Target {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** What to read it counts for. */
  readonly weight: number;
  readonly around: Around | undefined;
  /** Whether a reference to it was followed. */
  isKnown: boolean;
  /** Its canonical form, where it is short and needed again. */
  canonical: string | undefined;
}

/** The declarations of an element and of those around it. */
interface Around {
  readonly outer: Around | undefined;
  readonly declarations: ReadonlyMap<string, string>;
}

/** The namespace of a prefix: looked up through the elements around, since copies of many declarations would add up. */
function namespaceAt(around: Around | undefined, prefix: string): string | undefined {
  for (let at = around; at !== undefined; at = at.outer) {
    const namespace = at.declarations.get(prefix);
    if (namespace !== undefined) return namespace;
  }
  return undefined;
}

/** The targets of one message. */
export interface References {
  readonly targets: ReadonlyMap<string, Target>;
  /** Those that are being read. */
  readonly active: Set<string>;
  /** How many of those were read before. */
  again: number;
}

/** Characters that a reference counts for, however short what is behind it. */
const leastText = 1024;
/** The same of one in what was read before: such ones double with each level of a short message. */
const leastAgain = 4 * leastText;
/** Characters that an element within what is behind it counts for, beside its own: elements are what takes time to read. */
const elementText = 128;

/** What a message holds that other elements may refer to, and its first element by itself. */
export interface Gathered {
  readonly first: string;
  readonly references: References;
}

/**
 * Reads from the start tag of the body's first element past the body's end tag, if there is one around it; every element's
 * canonical form is kept. Undefined once all that is longer than its source by more than the limit.
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
 * Adds each element of a canonical text that has an id. An id on two elements is refused: XML 1.0 has each ID once, and SOAP
 * 1.2, part 2, 3.1.5.2 has the fault DuplicateID.
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
          expected: `the id ${excerpt(element.id)} on one element`,
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

/** Whether an attribute is the id of SOAP 1.2's encoding (SOAP 1.2, part 2, 3.1.5.1). */
function isId12(name: string, around: Around | undefined): boolean {
  return name.endsWith(':id') && namespaceAt(around, name.slice(0, -3)) === namespaces.soap12Encoding;
}

/** Where an element refers to, as `#id`: by `href`, or by `ref` of SOAP 1.2's encoding; undefined where it doesn't. */
export function referenceIn(xml: XmlReader): string | undefined {
  const ref = xml.attribute(namespaces.soap12Encoding, 'ref');
  return ref === undefined ? xml.attribute('', 'href') : `#${ref}`;
}

/**
 * Reads what a reference leads to, by a reader of its own; undefined, and noted, where it leads nowhere, to an element around
 * it, or once all that was read so is too much.
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
      got: excerpt(href),
    });
  if (active.has(id))
    return refuse(reading, 'InvalidType', {
      expected: 'a value',
      got: `a reference to an element around it, ${excerpt(href)}`,
    });
  const weight = Math.max(references.again === 0 ? leastText : leastAgain, target.weight);
  const take = (characters: number): boolean => hasRoom(reading, limits, characters);
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

/** Undefined where there is no room for what is longer than counts anyway: what is declared around it stands with each that uses it. */
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
