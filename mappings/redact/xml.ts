import { referenceIn } from '../codec/adopted/references.ts';
import { escapeAttribute } from '../codec/scalars/text.ts';
import { type AdoptedService, serviceOf } from '../contract/adopted.ts';
import { anyType, builtInTypes } from '../contract/built-in-types.ts';
import { attributeMembers, contentMembers, isMixed, valueNameOf } from '../contract/members.ts';
import { type Contract, namespaces, type Operation } from '../contract/model.ts';
import {
  type AdoptedMessage,
  type ComplexType,
  type Content,
  type ElementDeclaration,
  expanded,
  isDerived,
  type Particle,
  type SchemaType,
  type SimpleType,
  textTypeOf,
} from '../contract/type-graph.ts';
import { typeGraphOf } from '../type-graph.ts';
import { xmlNamespace } from '../xml/namespaces.ts';
import type { XmlReader } from '../xml/reader.ts';
import { type Level, type Levels, type Step, stepOf } from './levels.ts';
import { hiddenText, type PseudonymOf } from './pseudonyms.ts';
import { joined, type Place, type References, strictest } from './references.ts';

// Redaction of envelopes (G57). It changes texts and values of attributes, and leaves all other characters.

/** A replaced range of a document. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Thrown for a document without an envelope. */
export class NoEnvelope extends Error {}

/** The data of one redaction. */
export interface RedactionTerms {
  readonly contract: Contract;
  readonly levels: Levels;
  readonly pseudonymOf: PseudonymOf;
  /** Personal values of the exchange so far, with their pseudonyms. A fault reason may repeat them. */
  readonly seen: Map<string, string>;
  /** References of the message so far. */
  readonly references: References;
  /** Hides secrets of the call in a text. */
  readonly hide: (text: string) => string;
  /** Called with each credential in the message, which other texts may repeat. */
  readonly onCredential: (text: string) => void;
}

/** The declaration of an element, with its names in JSON; undefined for an undeclared one. */
interface Declared {
  readonly type: SchemaType;
  readonly step: Step;
}

/** Maximum number of personal values that are searched for in fault reasons, and their minimum length. */
const [mostSeen, leastSeen] = [1_000, 4];

/** Namespaces of attributes that control how a message is read. */
const technical: ReadonlySet<string> = new Set([
  ...[xmlNamespace, namespaces.xsi, namespaces.soap11, namespaces.soap12, namespaces.soap11Encoding],
  ...[namespaces.soap12Encoding, namespaces.wsu, 'http://www.w3.org/2005/05/xmlmime'],
]);

/** Elements of a fault without `detail`, of both versions (SOAP 1.1, 4.4; SOAP 1.2, part 1, 5.4). */
const faultNames: ReadonlySet<string> = new Set([
  ...['faultcode', 'faultstring', 'faultactor', 'Code', 'Subcode', 'Value', 'Reason', 'Text', 'Node', 'Role'],
]);

const addressing: ReadonlySet<string> = new Set([namespaces.addressing10, namespaces.addressing2004]);
const keptAddressing: ReadonlySet<string> = new Set(['Action', 'MessageID', 'RelatesTo', 'To']);
const { xop } = namespaces;

type MapContent = Content & { readonly kind: 'map' };

const children = new WeakMap<SchemaType, ReadonlyMap<string, Declared>>();

/** Redacts the envelope of one message. */
export class XmlRedaction {
  readonly edits: Edit[] = [];
  /** Levels of the parts that the envelope refers to, by their Content-ID. */
  readonly parts = new Map<string, Level>();
  readonly #xml: XmlReader;
  readonly #text: string;
  readonly #terms: RedactionTerms;
  readonly #service: AdoptedService;
  /** True in messages of SOAP's encoding, whose elements may refer to others. */
  #isEncoded = false;
  /** True if the message has texts that may repeat personal values. */
  hasReasons = false;

  /** @param text the document of the reader, which is at its start */
  constructor(xml: XmlReader, text: string, terms: RedactionTerms) {
    this.#xml = xml;
    this.#text = text;
    this.#terms = terms;
    this.#service = serviceOf(terms.contract);
  }

  /** Redacts a request or reply of an operation. Throws XmlError, NoEnvelope. */
  redact(operation: Operation, side: 'input' | 'output'): void {
    const xml = this.#xml;
    xml.readRoot();
    this.#hideComments(0, xml.startOffset);
    const { namespace } = xml;
    if (xml.local !== 'Envelope' || (namespace !== namespaces.soap11 && namespace !== namespaces.soap12))
      throw new NoEnvelope('no envelope');
    const message = typeGraphOf(this.#terms.contract).messagesOf(operation)[side];
    this.#isEncoded = message?.use === 'encoded';
    const open: Place = { type: undefined, path: [], level: 'open', isPart: true };
    this.#attributes(open);
    this.#content(open, () => {
      if (xml.namespace !== namespace) this.#undeclared(open);
      else if (xml.local === 'Header') this.#inside(open, () => this.#header(message, open));
      else if (xml.local !== 'Body') this.#undeclared(open);
      else this.#inside(open, (index) => this.#payload(operation, message, namespace, index === 0, open));
    });
    const { position } = xml;
    xml.finish();
    this.#hideComments(position, this.#text.length);
  }

  #inside(place: Place, onChild: (index: number) => void): void {
    this.#attributes(place);
    this.#content(place, onChild);
  }

  #header(message: AdoptedMessage | undefined, open: Place): void {
    const xml = this.#xml;
    const { local, namespace } = xml;
    const block = message?.headers.find(({ name }) => name.local === local && name.namespace === namespace);
    const isKept = addressing.has(namespace) && keptAddressing.has(local);
    if (local === 'Security') this.#hideContent(open);
    else if (block !== undefined) this.#declared({ type: block.type, step: stepOf(local) }, [], undefined);
    else if (isKept)
      this.#inside({ ...open, level: undefined, type: anySimple }, () => this.#undeclared(open));
    else this.#undeclared(open);
  }

  /** Replaces all content of an element. */
  #hideContent(place: Place): void {
    this.#attributes(place);
    const { position, empty } = this.#xml;
    this.#xml.skip();
    if (!empty) this.#replace(position, this.#endTagOffset(), hiddenText);
  }

  #payload(
    operation: Operation,
    message: AdoptedMessage | undefined,
    envelope: string,
    isFirst: boolean,
    open: Place,
  ): void {
    const xml = this.#xml;
    const { local, namespace } = xml;
    const body = message?.body;
    const element =
      isFirst && body?.kind === 'element' && expanded(body.element.name) === expanded({ namespace, local })
        ? body.element
        : undefined;
    const parts = isFirst && body?.kind === 'rpc' && body.wrapper.local === local ? body.parts : undefined;
    const target = this.#isEncoded ? this.#terms.references.at(this.#id()) : undefined;
    if (local === 'Fault' && namespace === envelope) this.#fault(operation, open);
    else if (element !== undefined)
      this.#declared({ type: element.type, step: stepOf(local) }, [], undefined);
    else if (parts !== undefined)
      this.#inside({ ...open, level: undefined }, () => {
        const part = parts.find(({ name }) => name.local === xml.local);
        if (part === undefined) this.#undeclared(open);
        else this.#declared({ type: part.type, step: stepOf(xml.local) }, [], undefined);
      });
    else if (target === undefined) this.#undeclared(open);
    else this.#element({ ...target, type: this.#typeOf(target.type) });
  }

  #fault(operation: Operation, open: Place): void {
    const xml = this.#xml;
    const declared = this.#service.operations.find(({ name }) => name === operation.name);
    const kept = { ...open, level: undefined, type: anySimple };
    const detail = (): void => {
      const { local, namespace } = xml;
      const found = declared?.faults.find(
        ({ element: { name } }) => name.local === local && name.namespace === namespace,
      );
      if (found === undefined) this.#undeclared(open);
      else this.#declared({ type: found.element.type, step: stepOf(local) }, [], undefined);
    };
    const walk = (): void => {
      const { local, namespace } = xml;
      const isOwn = namespace === '' || namespace === namespaces.soap11 || namespace === namespaces.soap12;
      if (isOwn && /^detail$/i.test(local)) this.#inside(open, detail);
      else if (isOwn && faultNames.has(local)) this.#inside(kept, walk);
      else this.#undeclared(open);
    };
    this.hasReasons = true;
    this.#inside(kept, walk);
  }

  /**
   * Redacts an element that is declared, from its start tag past its end tag. Returns its text; undefined if it has child
   * elements.
   */
  #declared(
    { type, step }: Declared,
    around: readonly Step[],
    level: Level,
    isPart = false,
  ): string | undefined {
    const path = [...around, step];
    const own = this.#terms.levels.of(path, level, isPart);
    return this.#element({ type: this.#typeOf(type), path, level: own, isPart });
  }

  /** Redacts an element without a declaration. */
  #undeclared({ path: around, level }: Place): void {
    const path = [...around, stepOf(this.#xml.local)];
    const own = this.#terms.levels.of(path, this.#inner(level), true);
    if (this.#isInclude) this.#reference(own);
    this.#element({ type: undefined, path, level: own, isPart: true });
  }

  /** Redacts the attributes and the content of an element, and returns its text. */
  #element(given: Place): string | undefined {
    const place = this.#isEncoded ? this.#referenced(given) : given;
    const { type, path, isPart } = place;
    this.#attributes(place);
    const complex = type?.kind === 'complex' ? type : undefined;
    const { attributes = [], content } = complex ?? {};
    const members = complex === undefined ? [] : contentMembers(complex.content).members;
    const hasValue = content?.kind === 'text' || (content !== undefined && isMixed(content));
    const named = hasValue ? [...path, stepOf(valueNameOf(attributeMembers(attributes, members)))] : path;
    const level = this.#terms.levels.of(named, place.level, isPart);
    let key: string | undefined;
    return this.#content({ ...place, level }, () => {
      if (type !== undefined && textTypeOf(type) !== undefined && this.#isInclude) this.#include(level);
      else if (content?.kind === 'map') key = this.#mapped(content, place, key);
      else if (content?.kind === 'encodedArray')
        this.#element({ ...place, type: this.#typeOf(content.item) });
      else this.#child(complex, place);
    });
  }

  #child(complex: ComplexType | undefined, place: Place): void {
    const { local, namespace } = this.#xml;
    const found = complex === undefined ? undefined : childOf(complex, expanded({ namespace, local }));
    if (found === undefined) this.#undeclared(place);
    else this.#declared(found, place.path, place.level, place.isPart);
  }

  /** Redacts an item of a map, or a part of one, and returns the key of the next value. */
  #mapped({ item, key, value }: MapContent, place: Place, before: string | undefined): string | undefined {
    const { local, namespace } = this.#xml;
    const isNamed = ({ name }: ElementDeclaration): boolean =>
      name.local === local && name.namespace === namespace;
    const { path, level, isPart } = place;
    if (isNamed(item)) this.#element(place);
    else if (isNamed(key))
      return this.#declared({ type: key.type, step: stepOf(local) }, path, level, isPart)?.trim();
    else if (isNamed(value) && before !== undefined && before !== '')
      this.#declared({ type: value.type, step: stepOf(before, local) }, path, level, isPart);
    else this.#undeclared(place);
    return undefined;
  }

  /** Returns the place of an element that is a target of references, and notes the reference that it is. */
  #referenced(given: Place): Place {
    const { references } = this.#terms;
    const target = references.at(this.#id());
    const place = target === undefined ? given : joined(given, target, given.type);
    const reference = referenceIn(this.#xml);
    if (reference?.startsWith('#')) references.note(reference.slice(1), place);
    return place;
  }

  /** Returns the id of an element in SOAP's encoding; `''` for none. */
  #id(): string {
    const xml = this.#xml;
    return xml.attribute('', 'id') ?? xml.attribute(namespaces.soap12Encoding, 'id') ?? '';
  }

  get #isInclude(): boolean {
    return this.#xml.namespace === xop && this.#xml.local === 'Include';
  }

  /** Redacts the reference to a part, whose level is that of the text around it. */
  #include(level: Level): void {
    this.#reference(level);
    this.#inside({ type: undefined, path: [], level: 'open', isPart: true }, () =>
      this.#undeclared({ type: undefined, path: [], level: 'open', isPart: true }),
    );
  }

  /** Returns the level of an undeclared element. */
  #inner(level: Level): Level {
    return level === 'credential' || level === 'personal' ? level : 'open';
  }

  /**
   * Calls a function at each start tag in an element, and redacts the texts between the tags. Returns the text of an
   * element without child elements.
   */
  #content(place: Place, onChild: (index: number) => void): string | undefined {
    const xml = this.#xml;
    for (let index = 0; ; index++) {
      const { position: start, empty } = xml;
      const isChild = xml.nextTag(true);
      const end = isChild ? xml.startOffset : empty ? start : this.#endTagOffset();
      const text = start === end ? '' : xml.textBefore;
      this.#textBetween(place, start, end, text);
      if (!isChild) return index === 0 ? text : undefined;
      onChild(index);
    }
  }

  #textBetween({ type, level }: Place, start: number, end: number, text: string): void {
    if (start === end) return;
    const shown = this.#shown(text, type, level);
    if (shown !== text) this.#replace(start, end, escapeAttribute(shown));
    else this.#hideComments(start, end);
  }

  /** Returns a text as it is stored. */
  #shown(text: string, type: SchemaType | undefined, level: Level): string {
    if (/^[ \t\r\n]*$/.test(text)) return text;
    const { levels, hide, onCredential } = this.#terms;
    if (level === 'credential') {
      onCredential(text.trim());
      return hiddenText;
    }
    if (level === 'open') return levels.keepsPersonal ? hide(text) : hiddenText;
    const simple = type === undefined ? undefined : textTypeOf(type);
    if (level === 'personal') return this.#pseudonym(text, simple);
    if (levels.keepsPersonal) return hide(text);
    if (simple === anySimple) return this.#withoutSeen(hide(text));
    if (simple !== undefined) return hide(text);
    if (type?.kind === 'complex' && type !== anyType && !isMixed(type.content)) return hiddenText;
    return levels.hasNames ? this.#pseudonym(text, undefined) : hide(text);
  }

  #pseudonym(text: string, type: SimpleType | undefined): string {
    const { pseudonymOf, seen } = this.#terms;
    const pseudonym = pseudonymOf(text, type);
    if (seen.size < mostSeen && text.trim().length >= leastSeen) seen.set(text.trim(), pseudonym.trim());
    return pseudonym;
  }

  /** Replaces the personal values of the exchange in a text of the service, such as a fault reason. */
  #withoutSeen(text: string): string {
    let shown = text;
    const longestFirst = [...this.#terms.seen].toSorted(([one], [other]) => other.length - one.length);
    for (const [value, pseudonym] of longestFirst)
      if (shown.includes(value)) shown = shown.replaceAll(value, () => pseudonym);
    return shown;
  }

  #attributes({ type, path, level, isPart: isInPart }: Place): void {
    const xml = this.#xml;
    const complex = type?.kind === 'complex' ? type : undefined;
    const members =
      xml.attributeCount === 0 || complex === undefined
        ? []
        : attributeMembers(complex.attributes, contentMembers(complex.content).members);
    for (let index = 0; index < xml.attributeCount; index++) {
      const [local, namespace] = [xml.attributeLocal(index), xml.attributeNamespace(index)];
      const value = xml.attributeValue(index);
      if (technical.has(namespace)) continue;
      const isPart = local === 'href' && value.startsWith('cid:') && this.#isInclude;
      const isTarget = local === 'id' || (local === 'href' && value.startsWith('#'));
      const isReference = namespace === '' && (isPart || (this.#isEncoded && isTarget));
      const member = members.find(
        ({ use: { name } }) => name.local === local && name.namespace === namespace,
      );
      if (member === undefined && isReference) continue;
      const step = stepOf(member?.json ?? local, local);
      const around = member === undefined ? this.#inner(level) : level;
      const own = this.#terms.levels.of([...path, step], around, isInPart);
      const shown = this.#shown(value, member?.use.type ?? anySimple, own);
      if (shown !== value) this.#replaceAttribute(xml.attributeOffset(index), shown);
    }
  }

  /** Notes the level of a part that an element refers to. */
  #reference(level: Level): void {
    const href = this.#xml.attribute('', 'href') ?? '';
    const id = href.startsWith('cid:') ? href.slice(4) : '';
    if (!URL.canParse(href)) return;
    const name = decoded(id);
    this.parts.set(name, this.parts.has(name) ? strictest(this.parts.get(name), level) : level);
  }

  /** Returns the type that `xsi:type` states if it derives from the declared one, otherwise the declared one. */
  #typeOf(declared: SchemaType | undefined): SchemaType | undefined {
    const stated = this.#statedType();
    if (stated === undefined || declared === undefined) return declared;
    return declared === anyType || isDerived(stated, declared) ? stated : declared;
  }

  /** Returns the type that `xsi:type` states; undefined for none or an unknown one. */
  #statedType(): SchemaType | undefined {
    const xml = this.#xml;
    const stated = xml.attribute(namespaces.xsi, 'type')?.trim();
    if (stated === undefined) return undefined;
    const colon = stated.indexOf(':');
    const namespace = xml.resolve(stated.slice(0, Math.max(0, colon))) ?? '';
    const local = stated.slice(colon + 1);
    return (
      this.#service.types.get(expanded({ namespace, local })) ??
      (namespace === namespaces.xsd ? builtInTypes.get(local) : undefined)
    );
  }

  /** Offset of the end tag that the reader has just passed. */
  #endTagOffset(): number {
    return this.#text.lastIndexOf('</', this.#xml.position - 1);
  }

  #replaceAttribute(name: number, value: string): void {
    const quotes = [this.#text.indexOf('"', name), this.#text.indexOf("'", name)].filter((at) => at >= 0);
    const start = Math.min(...quotes) + 1;
    const quote = this.#text[start - 1] ?? '"';
    const escaped = escapeAttribute(value).replaceAll("'", '&apos;');
    this.#replace(start, this.#text.indexOf(quote, start), escaped);
  }

  /** Comments are no declared content, so their text is not stored. */
  #hideComments(start: number, end: number): void {
    const text = this.#text.slice(start, end);
    for (let at = text.indexOf('<!'); at !== -1; ) {
      const isComment = text.startsWith('<!--', at);
      const close = text.indexOf(isComment ? '-->' : ']]>', at + 4);
      if (close === -1) return; // a document type, which no message has
      if (isComment) this.#replace(start + at + 4, start + close, hiddenText);
      at = text.indexOf('<!', close);
    }
  }

  #replace(start: number, end: number, text: string): void {
    this.edits.push({ start, end, text });
  }
}

/** Type of values that are declared by SOAP, not by the contract. */
const anySimple: SimpleType = { ...(builtInTypes.get('string') as SimpleType) };

/** Returns the declaration of a child element; undefined for an undeclared one. */
function childOf(type: ComplexType, name: string): Declared | undefined {
  const known = children.get(type) ?? childrenOf(type);
  children.set(type, known);
  return known.get(name);
}

function childrenOf(type: ComplexType): ReadonlyMap<string, Declared> {
  const { content } = type;
  const found = new Map<string, Declared>();
  const add = (element: ElementDeclaration, json: string): void => {
    for (const one of [element, ...element.substitutes])
      found.set(expanded(one.name), { type: one.type, step: stepOf(json, one.name.local) });
  };
  const walk = (particle: Particle): void => {
    if (particle.kind === 'element') add(particle.element, particle.json ?? particle.element.name.local);
    else if (particle.kind !== 'any') for (const inner of particle.particles) walk(inner);
  };
  if (content.kind === 'elements') walk(content.particle);
  return found;
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id; // a malformed escape, and no part has that name
  }
}
