import type { Limits } from '../../contract/limits.ts';
import { attributeMembers, contentMembers, isMixed, noMembers, valueNameOf } from '../../contract/members.ts';
import { namespaces } from '../../contract/model.ts';
import type { Reason } from '../../contract/reason.ts';
import {
  type AttributeUse,
  type ComplexType,
  expanded,
  type Members,
  type QName,
  type SimpleType,
  textTypeOf,
} from '../../contract/type-graph.ts';
import { JsonReader } from '../../json/reader.ts';
import { nameKey, nodeKinds, type Tape } from '../../json/tape.ts';
import { isNcName } from '../../xml/characters.ts';
import { xmlNamespace, xmlnsNamespace } from '../../xml/namespaces.ts';
import { longRange, type Output, type Piece, piece } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { asText, hrefOf, readAttached, refusesInclude } from '../attachments.ts';
import { enters, hasContent, writeText } from '../element.ts';
import { unknownReason } from '../nearest.ts';
import {
  type AttachedParts,
  hasRoom,
  isFull,
  MismatchError,
  miss,
  type Reading,
  recordDeviation,
  refuse,
  refuseNamespaces,
} from '../problem.ts';
import { base64Binary } from '../scalars/base64.ts';
import { isBlankText, type Scan } from '../scalars/scalar.ts';
import { escapeAttribute, escapeXml, excerpt, namespaceText, quoteJson } from '../scalars/text.ts';
import { finalTypeName, isInstanceNamespace } from '../schema-instance.ts';
import { accept, mostText } from '../types/scalar.ts';
import {
  type CompiledContent,
  compileContent,
  conflictOnTape,
  missingOnTape,
  readContent,
  writeContent,
} from './content.ts';
import type { AdoptedContext, Tags } from './context.ts';
import { type MapEntries, mapEntries } from './map-entries.ts';
import { readInnerXml, scanInnerXml } from './open-elements.ts';
import type { Resolve, SimpleCodec } from './simple-types.ts';

/**
 * The JSON object of a complex type: attributes first, then the content between the tags (A12, A14, A24, A25). Its tape
 * node has the kind, the shape's number, flags, and a slot for each member. A slot holds the member's node, or -1 if
 * the member is absent.
 */

const { nothing, empty, plain, text: textKind, made, record } = nodeKinds;

/** Words of a node before its slots. */
const head = 3;

/** Bits of a node's flags. */
const isNil = 1;
const isTyped = 2;

/** The codec of an attribute. */
interface AttributeCodec {
  readonly json: string;
  readonly jsonKey: string;
  readonly namespace: string;
  readonly local: string;
  readonly required: boolean;
  readonly simple: SimpleCodec;
  /** ` name="` */
  readonly before: Piece;
  /** ` name="value"` for a required attribute with a fixed value, written if the attribute is absent (A27). */
  readonly fixed: Piece | undefined;
}

/** The compiled form of a type, or of one repetition of a repeated group. */
export interface Shape {
  readonly number: number;
  /** The type's name in `@type`; undefined for an anonymous type. */
  readonly name: string | undefined;
  readonly abstract: boolean;
  /** `{"@type":"Name"` in JSON, and ` i:type="n:Name"` in XML. */
  readonly typeToken: string;
  readonly typeTag: Piece;
  /** True if each element states its type (A30). */
  readonly alwaysTyped: boolean;
  readonly attributes: readonly AttributeCodec[];
  /** Indexes of the required attributes without a fixed value. */
  readonly needed: readonly number[];
  readonly anyAttribute: boolean;
  readonly kind: 'members' | 'text' | 'mixed';
  /** True for an object without a type, allowed for any type: its first member is `@xml`, its content. */
  readonly untyped: boolean;
  readonly content: CompiledContent;
  /** The entries of a map. One word that links to them replaces the slots on the tape. */
  readonly entries: MapEntries | undefined;
  /** The codec and the JSON name of the value, if the kind is `text`. */
  readonly simple: SimpleCodec | undefined;
  readonly valueName: string;
  /** The names of the slots: attributes, then members or the value, then `@attributes`. */
  readonly names: readonly string[];
  readonly keys: readonly ReturnType<typeof nameKey>[];
  readonly byName: ReadonlyMap<string, number>;
  /** The scan function of each slot's value. */
  readonly scans: readonly Scan[];
  /** The member that followed each member in the last object: a hint that is verified on each use. */
  readonly follower: Int32Array;
  readonly context: AdoptedContext;
}

const untypedObject: Reason = {
  expected: '"@type" in an object where any type may stand, or "@xml" with XML as text',
  got: 'neither',
};

/** The end of an attribute, and of a start tag. */
const quote = piece('"');
const tagEnd = piece('>');

/** The shapes of a service by number. */
const shapesOf = new WeakMap<AdoptedContext, Shape[]>();

/** Input for the compilation of a shape. */
interface ShapeParts {
  readonly name: string | undefined;
  readonly qualified: string;
  readonly abstract: boolean;
  readonly attributes: readonly AttributeUse[];
  readonly anyAttribute: boolean;
  readonly kind: Shape['kind'];
  readonly untyped: boolean;
  readonly entries: MapEntries | undefined;
  readonly members: Members;
  readonly simple: SimpleType | undefined;
  readonly valueName: string | undefined;
}

/** The parts of an empty shape. */
export const bareParts: ShapeParts = {
  name: undefined,
  qualified: '',
  abstract: false,
  attributes: [],
  anyAttribute: false,
  kind: 'members',
  untyped: false,
  entries: undefined,
  members: noMembers,
  simple: undefined,
  valueName: undefined,
};

/** Compiles the shape of a complex type. */
export function shapeOfType(context: AdoptedContext, type: ComplexType): Shape {
  const { attributes, anyAttribute, content, abstract, name } = type;
  const textType = textTypeOf(type);
  return compileShape(context, {
    name: context.typeNameOf(type),
    qualified: name === undefined ? '' : typeQName(context, name),
    abstract,
    attributes,
    anyAttribute,
    kind: isMixed(content) ? 'mixed' : textType === undefined ? 'members' : 'text',
    untyped: false,
    entries: content.kind === 'map' ? mapEntries(context, content) : undefined,
    members: contentMembers(content),
    simple: textType,
    valueName: undefined,
  });
}

const apachePrefix = 'apache:';

/**
 * Returns a type's qualified name for `xsi:type`. Types of Apache SOAP may occur in any message, so each tag that names
 * one declares the prefix.
 */
function typeQName(context: AdoptedContext, { namespace, local }: QName): string {
  return (namespace === namespaces.apacheSoap ? apachePrefix : context.prefixOf(namespace)) + local;
}

function declarationOf(qualified: string): string {
  return qualified.startsWith(apachePrefix) ? ` xmlns:apache="${namespaces.apacheSoap}"` : '';
}

/** Compiles the shape of a repetition of a repeated group. */
export function shapeOfContent(context: AdoptedContext, members: Members): Shape {
  return compileShape(context, { ...bareParts, members });
}

/** Compiles the content of a list of members. The repetitions of a repeated group are shapes. */
export function contentOf(context: AdoptedContext, members: Members): CompiledContent {
  return compileContent(context, members, (inner) => {
    const shape = shapeOfContent(context, inner);
    return {
      content: shape.content,
      scan: (tape) => scanShape(shape, tape),
      write: (tape, node, output) => writeSlots(shape, tape, node, output),
    };
  });
}

/** Compiles a shape from its parts, also for values of types that are not in the schema. */
export function compileShape(context: AdoptedContext, parts: ShapeParts): Shape {
  const content = contentOf(context, parts.members);
  const named = attributeMembers(parts.attributes, parts.members.members);
  const attributes = named.map(({ json, use }) => attributeCodec(context, json, use));
  const hasValue = parts.kind !== 'members';
  const valueName = parts.valueName ?? valueNameOf(named);
  const names = [...attributes.map(({ json }) => json), ...content.members.map(({ json }) => json)];
  if (hasValue) names.push(valueName);
  if (parts.anyAttribute) names.push('@attributes');
  const simple = parts.simple === undefined ? undefined : context.simpleOf(parts.simple);
  const scans: Scan[] = [
    ...attributes.map((attribute, index) => scanOf(attribute.simple, attributes.slice(0, index))),
    ...content.members.map(({ scan }) => scan),
  ];
  if (hasValue)
    scans.push(simple === undefined ? (tape) => scanInnerXml(context, tape) : scanOf(simple, attributes));
  if (parts.anyAttribute) scans.push((tape) => scanOthers(context, attributes, tape));
  const shapes = shapesOf.get(context) ?? [];
  shapesOf.set(context, shapes);
  const shape: Shape = {
    number: shapes.length,
    name: parts.name,
    abstract: parts.abstract,
    typeToken: `{"@type":${JSON.stringify(parts.name)}`,
    alwaysTyped: context.encoded && parts.qualified !== '',
    typeTag: piece(`${declarationOf(parts.qualified)} i:type="${parts.qualified}"`),
    attributes,
    needed: attributes.flatMap(({ required, fixed }, index) =>
      required && fixed === undefined ? [index] : [],
    ),
    anyAttribute: parts.anyAttribute,
    kind: parts.kind,
    untyped: parts.untyped,
    entries: parts.entries,
    content,
    simple,
    valueName,
    names,
    keys: names.map(nameKey),
    scans,
    byName: new Map(names.map((name, index) => [name, index])),
    follower: new Int32Array(names.length + 1),
    context,
  };
  shapes.push(shape);
  return shape;
}

/**
 * Returns the scan function of an element's or attribute's value, with prefixes that no attribute before it declares.
 */
function scanOf({ scan, usesPrefixes }: SimpleCodec, before: readonly AttributeCodec[]): Scan {
  const others = before.filter(({ simple }) => simple.usesPrefixes).length;
  return usesPrefixes && others > 0 ? (tape) => scan(tape, `q${others}-`) : scan;
}

function attributeCodec(context: AdoptedContext, json: string, use: AttributeUse): AttributeCodec {
  const { name, required, type, value } = use;
  const qualified = context.prefixOf(name.namespace) + name.local;
  const fixed =
    required && value?.kind === 'fixed' ? ` ${qualified}="${escapeAttribute(value.text)}"` : undefined;
  return {
    json,
    jsonKey: `${JSON.stringify(json)}:`,
    namespace: name.namespace,
    local: name.local,
    required,
    simple: context.simpleOf(type),
    before: piece(` ${qualified}="`),
    fixed: fixed === undefined ? undefined : piece(fixed),
  };
}

// --- XML → JSON ---------------------------------------------------------------------------------------

/** Reads the current element as the shape's object, from its start tag past its end tag. */
export function readShape(
  shape: Shape,
  typed: boolean,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  let json = typed ? shape.typeToken : '{';
  if (xml.attributeCount !== 0 || shape.attributes.length !== 0)
    json = readAttributes(shape, xml, reading, json);
  if (shape.kind === 'members') return `${readContent(shape.content, xml, reading, json)}}`;
  const token =
    shape.simple === undefined
      ? readInnerXml(shape.context, xml, reading)
      : readSimple(shape.simple, shape.context, undefined, xml, reading);
  if (token === undefined) {
    const isEmpty = shape.context.settings.emptyElements === 'absent';
    return isEmpty && json.length > 1 ? `${json}}` : undefined;
  }
  return `${json}${json.length === 1 ? '' : ','}${JSON.stringify(shape.valueName)}:${token}}`;
}

/** Appends the attributes of the current start tag to the object's text (A12). */
export function readAttributes(shape: Shape, xml: XmlReader, reading: Reading, start: string): string {
  const { attributes, context } = shape;
  let json = start;
  let others = '';
  let renamed: Set<AttributeCodec> | undefined;
  const count = xml.attributeCount;
  let found = 0;
  for (let at = 0; at < count; at++) {
    const local = xml.attributeLocal(at);
    const namespace = xml.attributeNamespace(at);
    let attribute = attributes.find((one) => one.local === local && one.namespace === namespace);
    if (attribute === undefined) {
      if (
        isInstanceNamespace(namespace) ||
        namespace === namespaces.soap11 ||
        namespace === namespaces.soap12
      )
        continue;
      const namesake = shape.anyAttribute ? undefined : namesakeOf(attributes, local, namespace, xml);
      if (namesake === 'several') {
        refuseNamesake(attributes, local, namespace, reading);
        continue;
      }
      if (namesake !== undefined) {
        recordDeviation(reading, 'attributeNamespace');
        attribute = namesake;
        renamed ??= new Set();
        renamed.add(namesake);
      }
    }
    if (attribute === undefined) {
      if (context.encoded && (namespace !== '' || local === 'id')) continue;
      if (local === 'href' && namespace === '' && isReferring(shape.simple, xml, reading)) continue;
      if (shape.anyAttribute) {
        // the result repeats the namespace in each name, but the source declares it once
        if (!hasRoom(reading, context.limits, namespace.length)) {
          refuseNamespaces(context.limits, reading);
          continue;
        }
        const name = namespace === '' ? local : `{${namespace}}${local}`;
        others += `${others === '' ? '' : ','}${quoteJson(name)}:${quoteJson(xml.attributeValue(at))}`;
      } else passAttribute(shape, local, namespace === xml.namespace ? '' : namespace, reading);
      continue;
    }
    found++;
    reading.path.push(attribute.json);
    const token = accepted(attribute.simple, context, xml.attributeValue(at), xml, reading);
    reading.path.pop();
    if (token !== undefined) json += `${json.length === 1 ? '' : ','}${attribute.jsonKey}${token}`;
  }
  if (others !== '') json += `${json.length === 1 ? '' : ','}"@attributes":{${others}}`;
  if (found < attributes.length || context.settings.emptyElements === 'absent')
    for (const attribute of attributes)
      if (attribute.required && renamed?.has(attribute) !== true && isAbsent(attribute, context, xml))
        miss(reading, [...reading.path, attribute.json], true);
  return json;
}

/** Returns true if an attribute is missing, or is empty and `emptyElements` is `absent`. */
function isAbsent(
  { namespace, local, simple }: AttributeCodec,
  { settings }: AdoptedContext,
  xml: XmlReader,
): boolean {
  const text = xml.attribute(namespace, local);
  if (text === undefined) return true;
  return settings.emptyElements === 'absent' && !simple.takesEmpty && isBlankText(text);
}

/** URI prefixes of namespaces with attributes about XML, messages or security, not about the value: `xml`, `wsu`. */
const otherSubjects = ['http://www.w3.org/', 'http://schemas.xmlsoap.org/', 'http://docs.oasis-open.org/'];

/**
 * Returns the declared attribute that an attribute in a wrong namespace means: the only one with its local name
 * (A12). Returns `several` if that is ambiguous, because the element also has the declared attribute or has the name
 * twice. Returns undefined if no declared attribute has the name.
 */
function namesakeOf(
  attributes: readonly AttributeCodec[],
  local: string,
  namespace: string,
  xml: XmlReader,
): AttributeCodec | 'several' | undefined {
  if (otherSubjects.some((start) => namespace.startsWith(start))) return undefined;
  const named = attributes.filter((one) => one.local === local);
  const [only] = named;
  if (only === undefined) return undefined;
  let count = 0;
  for (let at = 0; at < xml.attributeCount; at++) {
    const other = xml.attributeNamespace(at);
    if (xml.attributeLocal(at) === local && !otherSubjects.some((start) => other.startsWith(start))) count++;
  }
  const isThere = xml.attribute(only.namespace, local) !== undefined;
  return named.length === 1 && count === 1 && !isThere ? only : 'several';
}

function refuseNamesake(
  attributes: readonly AttributeCodec[],
  local: string,
  namespace: string,
  reading: Reading,
): void {
  const known = attributes.find((one) => one.local === local);
  reading.path.push(local.slice(0, 64));
  const expected = namespaceText(known?.namespace ?? '');
  refuse(reading, 'UnknownElement', {
    expected: `the attribute in ${expected}`,
    got: `it in ${namespaceText(namespace)}`,
  });
  reading.path.pop();
}

/** Checks the attributes of an element that has no attribute members. */
export function checkAttributes(shape: Shape, xml: XmlReader, reading: Reading): void {
  if (xml.attributeCount !== 0) readAttributes(shape, xml, reading, '{');
}

/** Returns true if the element's `href` refers to a MIME part that holds its value (W60). */
export function isReferring(simple: SimpleCodec | undefined, xml: XmlReader, reading: Reading): boolean {
  const { attachments } = reading;
  if (attachments === undefined || simple?.expected !== base64Binary.expected) return false;
  return hrefOf(attachments, xml) !== undefined;
}

/**
 * Ignores an attribute of a foreign namespace, and refuses any other unknown attribute (A12).
 *
 * @param namespace `''` for an attribute without a namespace, or in that of its element
 */
function passAttribute(
  { attributes, context }: Shape,
  local: string,
  namespace: string,
  reading: Reading,
): void {
  if (namespace !== '' || context.settings.unknownElements === 'ignore') {
    reading.ignored.push(local);
    return;
  }
  if (isFull(reading)) return;
  reading.path.push(local.slice(0, 64));
  refuse(
    reading,
    'UnknownElement',
    unknownReason(
      'attribute',
      local,
      attributes.map((one) => one.local),
    ),
  );
  reading.path.pop();
}

function accepted(
  simple: SimpleCodec,
  { limits, settings }: AdoptedContext,
  text: string,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (!simple.takesEmpty && isBlankText(text)) {
    if (settings.emptyElements === 'absent') return undefined;
    return refuse(reading, 'NotEmpty', { expected: simple.expected, got: 'nothing' });
  }
  const token = simple.usesPrefixes
    ? readPrefixed(simple, text, (prefix) => xml.resolve(prefix), limits, reading)
    : accept(simple.fromXml(text, unbound), reading);
  if (token !== undefined) simple.judge?.(token, reading);
  return token;
}

const unbound = (): undefined => undefined;

/**
 * Converts a text with prefixes to a token. The namespace of each name counts toward the limit, because the token
 * repeats it.
 */
function readPrefixed(
  simple: SimpleCodec,
  text: string,
  resolve: Resolve,
  limits: Limits,
  reading: Reading,
): string | undefined {
  let isOver = false;
  const counted: Resolve = (prefix) => {
    const namespace = resolve(prefix);
    isOver ||= !hasRoom(reading, limits, namespace?.length ?? 0);
    return isOver ? undefined : namespace;
  };
  const token = simple.fromXml(text, counted);
  return isOver ? refuseNamespaces(limits, reading) : accept(token, reading);
}

/**
 * Returns the function that resolves prefixes in the current element. It works after the reader has left the element
 * too.
 */
function resolverOf(xml: XmlReader): Resolve {
  const { declarations } = xml;
  return (prefix) =>
    declarations.find((declared) => declared.prefix === prefix)?.namespace ?? xml.resolve(prefix);
}

/**
 * Reads the text of the current element as a JSON token, past its end tag. An empty element has the default's token
 * (A25).
 */
export function readSimple(
  simple: SimpleCodec,
  context: AdoptedContext,
  defaultToken: string | undefined,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (reading.attachments !== undefined) {
    const attached = readAttachedTo(simple, reading.attachments, xml, reading);
    if (attached !== asText) return attached;
  }
  const resolve = simple.usesPrefixes ? resolverOf(xml) : undefined;
  const text = xml.readText(mostText(context, simple), simple.text === 'string');
  if (text === undefined)
    return refuse(reading, 'InvalidType', { expected: simple.expected, got: 'elements' });
  if (text === '' && defaultToken !== undefined) return defaultToken;
  if (!simple.takesEmpty && isBlankText(text)) {
    if (context.settings.emptyElements === 'absent') return undefined;
    return refuse(reading, 'NotEmpty', {
      expected: simple.expected,
      got: 'an empty element',
      detail: 'leave it out where no value is meant',
    });
  }
  const token =
    resolve === undefined
      ? accept(simple.fromXml(text, unbound), reading)
      : readPrefixed(simple, text, resolve, context.limits, reading);
  if (token === undefined) return undefined;
  simple.judge?.(token, reading);
  return token;
}

/** Reads an element whose value is in a MIME part, or that holds an Include that nothing of its type can be (W60). */
function readAttachedTo(
  simple: SimpleCodec,
  attachments: AttachedParts,
  xml: XmlReader,
  reading: Reading,
): string | undefined | typeof asText {
  if (simple.expected !== base64Binary.expected)
    return refusesInclude(xml, simple.expected, reading) ? undefined : asText;
  return readAttached(attachments, xml, reading);
}

// --- JSON → XML ---------------------------------------------------------------------------------------

/** Moves past an object or a null and pushes one node. Throws MismatchError, JsonError. */
function scanShape(shape: Shape, tape: Tape): void {
  if (enters(tape, 123)) scanMembers(shape, undefined, tape);
}

/**
 * Scans the members of an object, after its opening bracket. Returns true if another shape must scan the object from
 * its beginning.
 *
 * @param onType handles `@type`: returns true if another shape must scan the object from its beginning
 */
export function scanMembers(
  shape: Shape,
  onType: ((name: string) => boolean) | undefined,
  tape: Tape,
): boolean {
  const { names, keys, scans, follower } = shape;
  const count = names.length;
  tape.reserve(head + count);
  const node = tape.top;
  tape.words[node] = record;
  tape.words[node + 1] = shape.number;
  tape.words[node + 2] = 0;
  for (let slot = node + head; slot < node + head + count; slot++) tape.words[slot] = -1;
  tape.top = node + head + count;
  let before = count;
  let unknown: string | undefined;
  for (let first = true; tape.next(first, 125); first = false) {
    if (tape.bytes[tape.position] !== 34) tape.fail('a member name');
    const guess = follower[before] as number;
    const key = keys[guess];
    let index = guess;
    let name = '';
    const start = tape.position;
    if (key !== undefined && tape.matches(tape.position + 1, key)) tape.position += 1 + key.length;
    else {
      name = tape.string();
      index = shape.byName.get(name) ?? -1;
      if (index !== -1) follower[before] = index;
    }
    tape.colon();
    if (index === -1) {
      const other = scanOther(name, start, node, onType, tape);
      if (other === 'type') return true;
      if (other === 'unknown') unknown ??= name;
      continue;
    }
    const slot = node + head + index;
    if (tape.words[slot] !== -1)
      throw new MismatchError({ expected: 'the member once', got: 'it again' }).at(names[index] as string);
    tape.words[slot] = tape.top;
    before = index;
    try {
      (scans[index] as Scan)(tape);
    } catch (error) {
      throw error instanceof MismatchError ? error.at(names[index] as string) : error;
    }
  }
  // only at the end, because a later "@type" may state another type
  if (unknown !== undefined && tape.asked?.ignores === false)
    throw new MismatchError(unknownReason('member', unknown, names), 'UnknownElement').at(
      unknown.slice(0, 64),
    );
  if (unknown !== undefined && shape.untyped && tape.words[node + head] === -1)
    throw new MismatchError(untypedObject);
  if (shape.content.choices !== undefined) {
    const both = conflictOnTape(shape.content, tape, node + head + shape.attributes.length);
    if (both !== undefined)
      throw new MismatchError({ expected: `it or ${both[0]}, which are a choice`, got: 'both' }).at(both[1]);
  }
  tape.missing += missingIn(shape, tape, node);
  if (((tape.words[node + 2] as number) & isNil) !== 0) {
    const beside = besideNil(shape, tape, node);
    if (beside > 0 && tape.asked !== undefined)
      throw new MismatchError({ expected: 'nothing but attributes beside "@nil"', got: 'more' });
    tape.dropped += beside;
  }
  return false;
}

/** Moves past an object or array that is a map, and pushes one node. Throws MismatchError, JsonError. */
export function scanEntries({ number, entries }: Shape, tape: Tape): void {
  tape.reserve(head + 1);
  const node = tape.top;
  tape.words[node] = record;
  tape.words[node + 1] = number;
  tape.words[node + 2] = 0;
  tape.words[node + head] = -1;
  tape.top = node + head + 1;
  if (entries?.scan(tape, node + head) === true) tape.words[node + 2] = isNil;
}

/** Returns the number of elements and values of a nil object. They are not written (A25). */
function besideNil({ names, attributes, anyAttribute }: Shape, { words }: Tape, node: number): number {
  const end = names.length - (anyAttribute ? 1 : 0);
  let count = 0;
  for (let index = attributes.length; index < end; index++) {
    const its = words[node + head + index] as number;
    if (its !== -1 && words[its] !== nothing) count++;
  }
  return count;
}

/**
 * Returns the number of required attributes, elements and values that an object lacks (A28). A nil object needs only
 * its attributes.
 */
function missingIn(shape: Shape, tape: Tape, node: number): number {
  const { words } = tape;
  const slots = node + head;
  let count = 0;
  for (const index of shape.needed) {
    const its = words[slots + index] as number;
    if (its === -1 || words[its] === nothing) count++;
  }
  if (((words[node + 2] as number) & isNil) !== 0) return count;
  const { content, simple, attributes } = shape;
  if (content.required.length > 0) count += missingOnTape(content, tape, slots + attributes.length);
  if (simple === undefined || simple.takesEmpty) return count;
  const value = words[slots + attributes.length] as number;
  return value === -1 || words[value] === nothing ? count + 1 : count;
}

/**
 * Scans a member that the type lacks: a reserved member of the gateway, or one that is ignored. The names of ignored
 * members of a request are recorded (W12).
 *
 * @returns `type` if another shape must scan the object, `unknown` for an ignored member
 */
function scanOther(
  name: string,
  start: number,
  node: number,
  onType: ((name: string) => boolean) | undefined,
  tape: Tape,
): 'type' | 'unknown' | undefined {
  if (name === '@nil' && tape.peek() === 116) {
    tape.literal();
    tape.words[node + 2] = isNil;
    return undefined;
  }
  if (name === '@type' && onType !== undefined && tape.peek() === 34)
    return onType(tape.string()) ? 'type' : undefined;
  const isTaken = name === '@type' || (node === 0 && tape.beside.has(name));
  if (!isTaken) tape.dropped++;
  const isOfAnother = !isTaken && !(name === '@nil' && tape.peek() === 102);
  tape.skip();
  if (isOfAnother && tape.asked?.ignores === true)
    tape.asked.ignored.push({ name, start, end: tape.position });
  return isOfAnother ? 'unknown' : undefined;
}

/**
 * Scans `@attributes` into one text of attributes, with declarations of their prefixes. Refuses the type's own
 * attributes, `xsi:type` and `xsi:nil`, which have members of their own, because an attribute must not occur twice.
 */
function scanOthers({ limits }: AdoptedContext, own: readonly AttributeCodec[], tape: Tape): void {
  const byte = tape.peek();
  if (byte !== 123 && byte !== 110) throw new MismatchError({ expected: 'an object', got: tape.kind() });
  const start = tape.position;
  tape.skip();
  if (byte === 110) {
    tape.pushKind(nothing);
    return;
  }
  const json = new JsonReader(tape.slice(start, tape.position), limits);
  let tag = '';
  let prefixes = 0;
  const names = new Set(own.map(expanded));
  json.enter();
  for (let first = true; json.next(first, 125); first = false) {
    const name = json.name();
    if (json.peek() !== 34) throw new MismatchError({ expected: 'a string', got: json.kind() }).at(name);
    const value = json.string();
    const end = name.startsWith('{') ? name.lastIndexOf('}') : -1;
    const local = name.slice(end + 1);
    const namespace = name.slice(1, Math.max(1, end));
    const key = expanded({ namespace, local });
    const isReserved = local === 'xmlns' || namespace === xmlnsNamespace || namespace === namespaces.xsi;
    if (!isNcName(local) || isReserved || names.has(key))
      throw new MismatchError({ expected: 'names of attributes, each once', got: 'another' });
    names.add(key);
    const isXml = namespace === xmlNamespace;
    const prefix = isXml ? 'xml' : namespace === '' ? '' : `a${++prefixes}`;
    if (prefix !== '' && !isXml) tag += ` xmlns:${prefix}="${attributeText(namespace, tape)}"`;
    tag += ` ${prefix}${prefix === '' ? '' : ':'}${local}="${attributeText(value, tape)}"`;
  }
  tape.pushMade(tag);
}

/** Escapes text for an attribute value so that its white space is preserved. */
function attributeText(text: string, count: { replaced: number }): string {
  return blanksKept(escapeXml(text, count));
}

function blanksKept(content: string): string {
  return content.replaceAll('"', '&quot;').replaceAll('\t', '&#9;').replaceAll('\n', '&#10;');
}

/** Writes the element around an object's node. */
export function writeShape(
  tags: Tags,
  tape: Tape,
  node: number,
  output: Output,
  context: AdoptedContext,
): void {
  const { words } = tape;
  const shape = (shapesOf.get(context) as Shape[])[words[node + 1] as number] as Shape;
  const flags = words[node + 2] as number;
  output.reserve(tags.room);
  // only used if the shape has a value
  const value = words[node + head + shape.attributes.length] as number;
  const hasPrefixes = shape.simple !== undefined && words[value] === made && words[value + 2] !== 0;
  const isBare = flags === 0 && !shape.alwaysTyped && shape.attributes.length === 0 && !shape.anyAttribute;
  if (isBare && !hasPrefixes) output.piece(tags.open);
  else {
    output.piece(tags.start);
    if (shape.alwaysTyped || (flags & isTyped) !== 0) output.tags(shape.typeTag);
    writeAttributes(shape, tape, node + head, output);
    if (hasPrefixes) output.text(tape.made[(words[value + 2] as number) - 1] as string);
    if ((flags & isNil) !== 0) {
      output.text(' i:nil="true"/>');
      return;
    }
    output.tags(tagEnd);
  }
  const start = output.length;
  let isWritten = false;
  if (shape.entries !== undefined) shape.entries.write(tape, node + head, output);
  else if (shape.kind === 'members') writeSlots(shape, tape, node, output);
  else if (value !== -1) isWritten = writeValue(tape, value, output);
  output.reserve(tags.room);
  if (isWritten || output.length !== start) output.piece(tags.close);
  else {
    output.length = start - 1;
    output.ascii('/>');
  }
}

/** Writes the content between the tags of an object's node. */
function writeSlots(shape: Shape, tape: Tape, node: number, output: Output): void {
  writeContent(shape.content, tape, node + head + shape.attributes.length, output);
}

/** Reads past an element with `xsi:nil`: `null`, or an object with its attributes (A25). */
export function readNull(shape: Shape, xml: XmlReader, reading: Reading): string {
  const json = readAttributes(shape, xml, reading, '{');
  if (hasContent(xml)) refuse(reading, 'InvalidType', { expected: 'no content in an element with xsi:nil' });
  return json === '{' ? 'null' : `{"@nil":true,${json.slice(1)}}`;
}

/**
 * Scans an object that may have `@type`, which states its type, at any position (A18). Throws MismatchError.
 *
 * @param declared the shape for an object without `@type`
 * @param shapeNamed returns the shape of a type by its JSON name; throws MismatchError for a type that is not allowed
 */
export function scanTyped(tape: Tape, declared: Shape, shapeNamed: (name: string) => Shape): void {
  let shape = declared;
  let isKnown = false;
  const onType = (name: string): boolean => {
    const before = shape;
    shape = shapeNamed(name);
    if (isKnown && shape !== before)
      throw new MismatchError({ expected: 'one type', got: 'another later' }).at('@type');
    isKnown = true;
    return shape !== before;
  };
  const mark = tape.mark();
  tape.enter();
  if (scanMembers(shape, onType, tape)) {
    if (tape.isPatienceOver)
      throw new MismatchError({ expected: '"@type" as the first member', got: 'it later' });
    tape.rewind(mark);
    if (shape.entries !== undefined) scanEntries(shape, tape);
    else {
      tape.enter();
      isKnown = false; // the second pass meets `@type` again
      scanMembers(shape, onType, tape);
    }
  }
  if (shape.abstract)
    throw new MismatchError(
      isKnown
        ? { expected: '"@type" with a type that isn\'t abstract', got: 'one that is' }
        : { expected: '"@type"', got: 'none' },
    );
  if (shape !== declared) markTyped(tape, mark.top);
}

/** Marks an object's node so that its type is written. */
export function markTyped(tape: Tape, node: number): void {
  tape.words[node + 2] = (tape.words[node + 2] as number) | isTyped;
}

/** Writes a value's text. Returns true if there is text. */
function writeValue(tape: Tape, node: number, output: Output): boolean {
  const { words } = tape;
  const kind = words[node];
  if (kind === nothing || kind === empty) return false;
  if (kind === plain) {
    const start = words[node + 1] as number;
    const end = words[node + 2] as number;
    if (end - start >= longRange) output.insert(tape.bytes, start, end);
    else {
      output.reserve(end - start);
      output.copy(tape.bytes, tape.view, start, end);
    }
  } else writeText(tape, node, output);
  return true;
}

function writeAttributes(shape: Shape, tape: Tape, slots: number, output: Output): void {
  const { words } = tape;
  const { attributes } = shape;
  for (let index = 0; index < attributes.length; index++) {
    const { before, fixed } = attributes[index] as AttributeCodec;
    const node = words[slots + index] as number;
    if (node === -1 || words[node] === nothing) {
      if (fixed !== undefined) output.tags(fixed);
      continue;
    }
    if (words[node] === made && words[node + 2] !== 0)
      output.text(tape.made[(words[node + 2] as number) - 1] as string);
    output.tags(before);
    if (words[node] === plain) {
      const start = words[node + 1] as number;
      const end = words[node + 2] as number;
      output.reserve(end - start);
      output.copy(tape.bytes, tape.view, start, end);
    } else if (words[node] === textKind)
      output.text(attributeText(tape.decode(words[node + 1] as number, words[node + 2] as number), tape));
    else if (words[node] === made) output.text(blanksKept(tape.made[words[node + 1] as number] as string));
    output.tags(quote);
  }
  if (!shape.anyAttribute) return;
  const others = words[slots + shape.names.length - 1] as number;
  if (words[others] === made) output.text(tape.made[words[others + 1] as number] as string);
}

/** Compiles the shape of a simple type for values of any type: `@type`, and the text as `value` (A23). */
export function shapeOfSimple(context: AdoptedContext, type: SimpleType, name: string): Shape {
  return compileShape(context, {
    ...bareParts,
    name,
    qualified: typeQName(context, type.name as QName),
    kind: 'text',
    simple: type,
  });
}

/** Resolves the prefix of an `xsi:type` and returns the key of the type; undefined if the prefix is not bound. */
export function statedType(stated: string, xml: XmlReader): string | undefined {
  const word = stated.trim();
  const colon = word.indexOf(':');
  const namespace = xml.resolve(colon === -1 ? '' : word.slice(0, colon));
  return namespace === undefined ? undefined : expanded(finalTypeName(namespace, word.slice(colon + 1)));
}

/** Formats an `xsi:type` for a message: `"t:Dog" in namespace "urn:t"`. */
export function statedText(stated: string, xml: XmlReader): string {
  const word = stated.trim();
  const namespace = xml.resolve(word.includes(':') ? word.slice(0, word.indexOf(':')) : '');
  return `${excerpt(stated)} ${namespace === undefined ? 'with an unbound prefix' : `in ${namespaceText(namespace)}`}`;
}
