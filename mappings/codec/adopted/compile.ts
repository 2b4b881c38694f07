import type { WrittenFault } from '../../compiled.ts';
import type { AdoptedFault, AdoptedOperation, AdoptedService } from '../../contract/adopted.ts';
import { apacheTypes } from '../../contract/apache-types.ts';
import { anyType, builtInTypes } from '../../contract/built-in-types.ts';
import { defaultLimits, type Limits } from '../../contract/limits.ts';
import { freeName, isMixed, isObjectType, membersOf as membersOfParticle } from '../../contract/members.ts';
import { namespaces } from '../../contract/model.ts';
import { defaultSettings, type Settings } from '../../contract/overlay-keys.ts';
import {
  type AdoptedMessage,
  type ElementDeclaration,
  expanded,
  type Particle,
  type QName,
  type SchemaType,
} from '../../contract/type-graph.ts';
import { membersOf, skipped } from '../../json/parts.ts';
import { JsonReader } from '../../json/reader.ts';
import { type Asked, withoutIgnored } from '../../json/tape.ts';
import { doAll, type Steps } from '../../steps.ts';
import { xmlNamespace } from '../../xml/namespaces.ts';
import { XmlReader } from '../../xml/reader.ts';
import { createScratch, hasContent, type Scratch } from '../element.ts';
import { MismatchError, type Reading, recordDeviation, refuse } from '../problem.ts';
import { escapeAttribute, someNames } from '../scalars/text.ts';
import { isNil } from '../schema-instance.ts';
import type { AdoptedContext, Tags, ValueCodec } from './context.ts';
import { elementReader, tagsOf, undeclared } from './elements.ts';
import { faultMembers, hasFaultWords, readFaultWords } from './fault-words.ts';
import { gatherReferences } from './references.ts';
import { compileSimpleTypes, type SimpleOf } from './simple-types.ts';
import { type TypeCompiler, typeCompiler, withDefault } from './types.ts';

/** The codecs of an adopted service, compiled once, at start. */

/** Reads and writes one message. */
export interface MessageCodec {
  /**
   * XML → JSON text. Reads from the start tag of the body's first element (the wrapper of rpc) past its end tag. For
   * SOAP's encoding, reads past the end of the body, because referenced elements follow the first one. The reading
   * records errors and missing members. Throws XmlError.
   */
  readonly read: (xml: XmlReader, reading: Reading) => string;
  /**
   * JSON → the body's element in UTF-8, with all declarations that it needs, and the header blocks of `@headers`.
   * Throws MismatchError, JsonError.
   *
   * @param asked the checks for a request of a JSON caller
   */
  readonly write: (json: Uint8Array, asked?: Asked) => WrittenMessage;
  /** Returns true if the binding declares a header block of this name (A8). */
  readonly declares: (namespace: string, local: string) => boolean;
  /**
   * Reads a declared block from its start tag past its end tag as a member of `@headers`: `"Name":…`. Undefined if it
   * is refused or nil.
   */
  readonly readHeader: (xml: XmlReader, reading: Reading) => string | undefined;
}

/** Adds header blocks to a body's JSON as its first member (A8). */
export function withHeaders(body: string, headers: readonly string[]): string {
  if (headers.length === 0 || !body.startsWith('{')) return body;
  return `{"@headers":{${headers.join(',')}}${body === '{}' ? '}' : `,${body.slice(1)}`}`;
}

/** A message as XML. */
export interface WrittenMessage {
  readonly xml: Buffer;
  /** The header blocks, concatenated; `''` for none. */
  readonly headers: string;
  /** Number of members that are left out because the schema lacks them. */
  readonly dropped: number;
  /** Number of characters that XML does not allow (W21). */
  readonly replaced: number;
  /** Number of values that do not match their type but are written (W22). */
  readonly passed: number;
  /** Number of required members that are missing, here and in the header blocks. Nothing is written for them (A28). */
  readonly missing: number;
  /**
   * The names of the members that are left out of a request's header blocks, and all blocks as JSON without them.
   * Undefined if there are none.
   */
  readonly left?: { readonly names: readonly string[]; readonly blocks: readonly string[] } | undefined;
}

/** The codecs of an operation of an adopted service. */
export interface CompiledAdoptedOperation {
  readonly operation: AdoptedOperation;
  readonly request: MessageCodec;
  /** Undefined for a one-way operation (A9). */
  readonly reply: MessageCodec | undefined;
  readonly faults: FaultCodecs;
}

/** An adopted service with its codecs. */
export interface CompiledAdopted {
  /** The operations by their JSON names. */
  readonly operations: ReadonlyMap<string, CompiledAdoptedOperation>;
  /** The codecs of simple types. */
  readonly simpleOf: SimpleOf;
}

/**
 * Compiles a service's codecs. SOAP's encoding is that of SOAP 1.1. Arrays of several dimensions are refused in
 * messages.
 */
export function compileAdopted(
  service: AdoptedService,
  settings: Partial<Settings> = {},
  limits: Limits = defaultLimits,
): CompiledAdopted {
  return doAll(compileAdoptedInSteps(service, settings, limits));
}

/** Compiles a service's codecs, one operation or type per step. */
export function* compileAdoptedInSteps(
  service: AdoptedService,
  settings: Partial<Settings>,
  limits: Limits,
): Steps<CompiledAdopted> {
  const contexts = contextsOf(service, { ...defaultSettings.adopted, ...settings }, limits);
  const scratch = createScratch(limits);
  const operations = new Map<string, CompiledAdoptedOperation>();
  for (const operation of service.operations) {
    const { input, output } = operation;
    const request = compileMessage(contexts.of(input.use), input, scratch);
    const reply = output === undefined ? undefined : compileMessage(contexts.of(output.use), output, scratch);
    const faults = compileFaults(contexts, operation.faults, scratch, limits);
    operations.set(operation.name, { operation, request, reply, faults });
    yield;
  }
  for (const context of contexts.made.values()) yield* context.finish();
  return { operations, simpleOf: contexts.of('literal').simpleOf };
}

type Context = AdoptedContext & { readonly finish: TypeCompiler['finish'] };

/** The shared contexts of literal and of encoded messages, each created on first use. */
interface Contexts {
  readonly of: (use: AdoptedMessage['use']) => Context;
  readonly made: ReadonlyMap<AdoptedMessage['use'], Context>;
}

function contextsOf(service: AdoptedService, settings: Settings, limits: Limits): Contexts {
  const made = new Map<AdoptedMessage['use'], Context>();
  const of = (use: AdoptedMessage['use']): Context => {
    const context = made.get(use) ?? contextOf(service, settings, limits, use === 'encoded');
    made.set(use, context);
    return context;
  };
  return { of, made };
}

function contextOf(service: AdoptedService, settings: Settings, limits: Limits, isEncoded: boolean): Context {
  const prefixes = new Map<string, string>([
    ['', ''],
    [namespaces.xsd, 'xsd:'],
    [namespaces.xsi, 'i:'],
    [xmlNamespace, 'xml:'],
    [namespaces.soap11Encoding, 'soapenc:'],
  ]);
  const given = prefixes.size;
  const byName = new Map<string, SchemaType>();
  for (const [local, type] of builtInTypes) byName.set(`xs:${local}`, type);
  for (const [local, type] of apacheTypes) byName.set(`apache:${local}`, type).set(local, type);
  for (const [type, name] of service.typeNames) byName.set(name, type);
  const types = typeCompiler(() => context);
  const context: Context = {
    service,
    settings,
    limits,
    encoded: isEncoded,
    references: undefined,
    simpleOf: compileSimpleTypes(settings, limits),
    codecOf: types.codecOf,
    mapValues: types.mapValues,
    elementOf: (element, once) => {
      const codec = types.codecOf(element.type, once);
      if (element.value === undefined || element.type.kind !== 'simple') return codec;
      return withDefault(context, element.type, codec, element.value.text);
    },
    prefixOf: (namespace) => {
      const prefix = prefixes.get(namespace) ?? `n${prefixes.size - given}:`;
      prefixes.set(namespace, prefix);
      return prefix;
    },
    typeNameOf: (type) => {
      if (type.name?.namespace === namespaces.xsd) return `xs:${type.name.local}`;
      const name = service.typeNames.get(type);
      if (name === undefined && type.name?.namespace === namespaces.apacheSoap)
        return `apache:${type.name.local}`;
      return name;
    },
    typeNamed: (name) => byName.get(name),
    typeOfKey: (key) => service.types.get(key) ?? byKey.get(key),
    finish: types.finish,
  };
  return context;
}

/** Types that a message may name although no document of the service declares them. */
const byKey = new Map<string, SchemaType>([
  ...[namespaces.xsd, namespaces.soap11Encoding, namespaces.soap12Encoding].flatMap((namespace) =>
    [...builtInTypes].map(([local, type]) => [expanded({ namespace, local }), type] as const),
  ),
  [
    expanded({ namespace: namespaces.soap11Encoding, local: 'base64' }),
    builtInTypes.get('base64Binary') as SchemaType,
  ],
  ...[...apacheTypes].map(
    ([local, type]) => [expanded({ namespace: namespaces.apacheSoap, local }), type] as const,
  ),
]);

function compileMessage(context: Context, message: AdoptedMessage, scratch: Scratch): MessageCodec {
  const { body } = message;
  const headers = compileHeaders(context, message.headers, scratch);
  const beside = message.headers.length === 0 ? nothingBeside : headersBeside;
  if (body.kind === 'empty') {
    const element = wrapperOf({ namespace: '', local: 'none' }, []);
    const value = context.elementOf(element, false);
    const tags = tagsOf(context, element);
    return {
      ...headers,
      // the body has no element (A7)
      read: (xml, reading) => {
        if (hasContent(xml))
          refuse(reading, 'UnknownElement', { expected: 'no content in Body', got: 'some' });
        if (context.encoded) passBody(xml);
        return '{}';
      },
      write: (json, asked) => {
        if (asked !== undefined) writeElement(context, value, tags, json, scratch, beside, asked);
        return { xml: Buffer.alloc(0), ...headers.write(json, asked) };
      },
    };
  }
  const element = elementOf(body);
  const value = context.elementOf(element, false);
  const readElement = elementReader(context, element, value, true);
  const read = takesNothing(element) ? nilOr(readElement) : readElement;
  const isRpc = body.kind === 'rpc';
  const style = context.encoded ? encodingStyle : '';
  const tags = tagsOf(context, element, declarationsOf(context, element) + style);
  return {
    ...headers,
    read: (xml, reading) => {
      reading.isRpc = isRpc;
      return (context.encoded ? readEncoded(context, read, xml, reading) : read(xml, reading)) ?? '{}';
    },
    write: (json, asked) => {
      const blocks = headers.write(json, asked);
      const { xml, ...counts } = writeElement(context, value, tags, json, scratch, beside, asked);
      const { left } = blocks;
      return { xml, headers: blocks.headers, ...sumOf(counts, blocks), ...(left && { left }) };
    },
  };
}

/** Reads past the end of the body, if the message is in one. */
function passBody(xml: XmlReader): void {
  while (xml.depth > 0 && xml.nextChild()) xml.skip();
}

/**
 * Returns true for a body without any content: no element, an rpc wrapper without parts, or an element of an empty
 * type.
 */
export function isEmptyBody(body: AdoptedMessage['body']): boolean {
  if (body.kind === 'rpc') return body.parts.length === 0;
  return body.kind === 'empty' || takesNothing(body.element);
}

/** Returns true for the element of an operation without inputs. */
function takesNothing({ type, nillable }: ElementDeclaration): boolean {
  if (type.kind !== 'complex' || nillable) return false;
  const { attributes, anyAttribute, derived, content } = type;
  if (attributes.length > 0 || anyAttribute || derived.length > 0 || isMixed(content)) return false;
  if (content.kind === 'elements') return membersOfParticle(content.particle).members.length === 0;
  return content.kind === 'empty';
}

/**
 * Wraps a reader to accept `xsi:nil` on the element of an operation without inputs, as node-soap sends it for `null`.
 */
function nilOr(read: ValueCodec['read']): ValueCodec['read'] {
  return (xml, reading) => {
    if (xml.attributeCount === 0 || !isNil(xml)) return read(xml, reading);
    recordDeviation(reading, 'nilOperation');
    if (hasContent(xml))
      refuse(reading, 'InvalidType', { expected: 'no content in an element with xsi:nil' });
    return '{}';
  };
}

/** The attributes of an rpc/encoded wrapper (SOAP 1.1, 4.1.1). */
const encodingStyle = ` xmlns:soap="${namespaces.soap11}" soap:encodingStyle="${namespaces.soap11Encoding}"`;

/**
 * Reads a message in SOAP's encoding, past the end of the body. References point to elements after the first one (A30).
 */
function readEncoded(
  context: AdoptedContext,
  read: ValueCodec['read'],
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (!/href|:ref/.test(xml.source(xml.startOffset, Number.POSITIVE_INFINITY))) {
    const json = read(xml, reading);
    passBody(xml);
    return json;
  }
  const gathered = gatherReferences(xml, context.limits, reading);
  if (gathered === undefined) {
    passBody(xml);
    return refuse(reading, 'OutOfRange', {
      expected: 'fewer or shorter names of namespaces',
      got: 'too much of them',
    });
  }
  const { first, references } = gathered;
  const wrapper = new XmlReader(first, context.limits);
  wrapper.readRoot();
  context.references = references;
  try {
    return read(wrapper, reading);
  } finally {
    context.references = undefined;
  }
}

type WriteCounts = Pick<WrittenMessage, 'dropped' | 'replaced' | 'passed' | 'missing'>;

const noCounts: WriteCounts = { dropped: 0, replaced: 0, passed: 0, missing: 0 };

function sumOf(one: WriteCounts, other: WriteCounts): WriteCounts {
  return {
    dropped: one.dropped + other.dropped,
    replaced: one.replaced + other.replaced,
    passed: one.passed + other.passed,
    missing: one.missing + other.missing,
  };
}

/** Compiles the codecs of the header blocks that a binding declares (A8). */
function compileHeaders(context: Context, declared: readonly ElementDeclaration[], scratch: Scratch) {
  const blocks = declared.map((element) => {
    const value = context.elementOf(element, true);
    return {
      element,
      key: `${JSON.stringify(element.name.local)}:`,
      read: elementReader(context, element, value, false),
      value,
      tags: tagsOf(context, element, declarationsOf(context, element)),
    };
  });
  const byName = new Map(blocks.map((block) => [expanded(block.element.name), block]));
  /** Undefined for a local name that blocks of several namespaces have. */
  const byLocal = new Map<string, (typeof blocks)[number] | undefined>();
  for (const block of byName.values()) {
    const { local } = block.element.name;
    byLocal.set(local, byLocal.has(local) ? undefined : block);
  }
  const { limits } = context;
  return {
    declares: (namespace: string, local: string) => byName.has(expanded({ namespace, local })),
    readHeader: (xml: XmlReader, reading: Reading): string | undefined => {
      const { namespace, local } = xml;
      const block = byName.get(expanded({ namespace, local }));
      if (block === undefined) throw new RangeError('readHeader: expected a declared block');
      reading.path.push('@headers', local);
      const token = block.read(xml, reading);
      reading.path.length -= 2;
      return token === undefined ? undefined : block.key + token;
    },
    write: (json: Uint8Array, asked?: Asked): Omit<WrittenMessage, 'xml'> => {
      if (blocks.length === 0) return noBlocks;
      const text = memberOf(Buffer.from(json).toString(), '@headers', limits);
      if (text === undefined || text === 'null') return noBlocks;
      const members = membersOf(text, limits);
      if (members === undefined && asked !== undefined)
        throw new MismatchError({ expected: 'an object', got: 'another value' }).at('@headers');
      if (members === undefined) return { ...noBlocks, dropped: 1 };
      let all = '';
      let counts = noCounts;
      const names: string[] = [];
      const kept: string[] = [];
      const written = new Set<string>();
      for (const [local, token] of members) {
        if (!byLocal.has(local))
          throw new MismatchError({ expected: 'a declared header', got: 'another' }).at(local).at('@headers');
        const block = byLocal.get(local);
        if (block === undefined)
          throw new MismatchError({
            expected: 'the name of one header block',
            got: 'that of several namespaces',
          })
            .at(local)
            .at('@headers');
        if (written.has(local)) throw twice().at(local).at('@headers');
        written.add(local);
        try {
          const bytes = Buffer.from(token);
          const { value, tags } = block;
          const askedOfIt: Asked | undefined = asked && { ...asked, ignored: [] };
          const { xml, ...its } = writeElement(
            context,
            value,
            tags,
            bytes,
            scratch,
            nothingBeside,
            askedOfIt,
          );
          all += xml.toString();
          counts = sumOf(its, counts);
          if (askedOfIt === undefined) continue;
          for (const { name } of askedOfIt.ignored) names.push(name);
          kept.push(block.key + withoutIgnored(bytes, askedOfIt.ignored));
        } catch (error) {
          throw error instanceof MismatchError ? error.at(local).at('@headers') : error;
        }
      }
      return { headers: all, ...counts, left: names.length === 0 ? undefined : { names, blocks: kept } };
    },
  };
}

/** Members of the message's object that are processed separately (A8, A29). Other unknown members are dropped. */
const nothingBeside: ReadonlySet<string> = new Set();
const headersBeside: ReadonlySet<string> = new Set(['@headers']);

const noBlocks: Omit<WrittenMessage, 'xml'> = { headers: '', ...noCounts };

const twice = (): MismatchError => new MismatchError({ expected: 'the member once', got: 'it again' });

/** Returns the error for the first member that occurs twice. */
function twiceOf(members: readonly (readonly [string, string])[]): MismatchError {
  const met = new Set<string>();
  const again = members.find(([name]) => met.size === met.add(name).size);
  return twice().at(again?.[0] ?? '');
}

/** Returns the JSON of an object's member; undefined if it is absent. Throws MismatchError if it occurs twice. */
function memberOf(text: string, name: string, limits: Limits): string | undefined {
  const json = new JsonReader(text, limits);
  if (json.peek() !== 123) return undefined;
  json.enter();
  let member: string | undefined;
  for (let first = true; json.next(first, 125); first = false) {
    if (json.name() !== name) json.skip();
    else if (member === undefined) member = skipped(json);
    else throw twice().at(name);
  }
  return member;
}

/** The codecs of an operation's declared faults (A29). */
export interface FaultCodecs {
  /**
   * Writes an error answer with `@fault`, or with other members of a fault, as that fault. Returns undefined for any
   * other answer. Throws MismatchError, also for a `@fault` that is not declared, and JsonError.
   */
  readonly write: (json: string) => WrittenFault | undefined;
  /**
   * Reads a declared detail element, from its start tag past its end tag, as the error answer. Returns undefined for
   * another element, without reading it.
   */
  readonly read: (xml: XmlReader, reading: Reading) => string | undefined;
}

/**
 * Returns the JSON names of an operation's faults by their elements (A29): that of the element, or that of the
 * `wsdl:fault` if another fault has an element of the same local name. Faults with the same global element are one.
 */
export function faultNames(faults: readonly AdoptedFault[]): ReadonlyMap<ElementDeclaration, string> {
  const elements = new Map(faults.toReversed().map(({ element, name }) => [element, name]));
  const byLocal = Map.groupBy(elements.keys(), ({ name }) => name.local);
  const isAlone = ({ name }: ElementDeclaration): boolean => byLocal.get(name.local)?.length === 1;
  const names = new Map<ElementDeclaration, string>();
  const taken = new Set<string>();
  for (const element of elements.keys()) {
    if (!isAlone(element)) continue;
    names.set(element, element.name.local);
    taken.add(element.name.local);
  }
  for (const { element, name } of faults)
    if (!names.has(element)) names.set(element, freeName(name === '' ? element.name.local : name, taken));
  return names;
}

function compileFaults(
  contexts: Contexts,
  faults: readonly AdoptedFault[],
  scratch: Scratch,
  limits: Limits,
): FaultCodecs {
  const codecs = faults.map(({ name, element, use, action }) => {
    const context = contexts.of(use);
    const value = context.elementOf(element, false);
    return {
      name,
      action,
      context,
      element,
      value,
      isBare: !isObjectType(element.type),
      read: elementReader(context, element, value, false),
      tags: tagsOf(context, element, declarationsOf(context, element)),
    };
  });
  type Codec = (typeof codecs)[number];
  const byName = new Map<string, Codec>();
  const enter = (name: string | undefined, codec: Codec): void => {
    if (name !== undefined && !byName.has(name)) byName.set(name, codec);
  };
  const names = faultNames(faults);
  for (const codec of codecs) enter(names.get(codec.element), codec);
  for (const codec of codecs) enter(codec.element.name.local, codec);
  for (const codec of codecs) enter(codec.context.typeNameOf(codec.element.type), codec);
  for (const codec of codecs) enter(codec.name, codec);
  const declared = someNames(codecs.map(({ element }) => element.name.local));
  const expected = codecs.length === 0 ? 'none, as no fault is declared' : `a declared fault (${declared})`;
  const writeDetail = ({ context, value, tags, isBare }: Codec, token: string) => {
    try {
      return writeElement(context, value, tags, Buffer.from(token), scratch, faultMembers);
    } catch (error) {
      throw isBare && error instanceof MismatchError ? error.at('value') : error;
    }
  };
  return {
    write: (json) => {
      const all = membersOf(json, limits) ?? [];
      const members = new Map(all);
      const given = members.get('@fault') ?? 'null';
      if (given === 'null' && !hasFaultWords(members)) return undefined;
      if (members.size < all.length) throw twiceOf(all);
      const words = readFaultWords(members, limits);
      if (given === 'null') {
        let dropped = 0;
        for (const member of members.keys()) if (!faultMembers.has(member)) dropped++;
        return { ...words, isDeclared: false, ...noCounts, dropped };
      }
      const name = given.startsWith('"') ? new JsonReader(given, limits).string() : undefined;
      const codec = name === undefined ? undefined : byName.get(name);
      if (codec === undefined) throw new MismatchError({ expected, got: 'another' }).at('@fault');
      const token = codec.isBare ? (members.get('value') ?? 'null') : json;
      const { xml, ...counts } = writeDetail(codec, token);
      if (codec.isBare)
        for (const member of members.keys())
          if (member !== 'value' && !faultMembers.has(member)) counts.dropped++;
      const { message = name, detail } = words;
      const { action } = codec;
      return { ...words, isDeclared: true, message, detail: xml.toString() + detail, action, ...counts };
    },
    read: (xml, reading) => {
      const codec = codecs.find(
        ({ element }) => element.name.local === xml.local && element.name.namespace === xml.namespace,
      );
      if (codec === undefined) return undefined;
      const token = codec.read(xml, reading) ?? 'null';
      const start = `{"@fault":${JSON.stringify(names.get(codec.element))}`;
      if (!codec.isBare && token.startsWith('{'))
        return token === '{}' ? `${start}}` : `${start},${token.slice(1)}`;
      return `${start},"value":${token}}`;
    },
  };
}

/** The element of a body: the declared one, or the wrapper of style rpc. */
export function elementOf(
  body: Exclude<AdoptedMessage['body'], { readonly kind: 'empty' }>,
): ElementDeclaration {
  return body.kind === 'element' ? body.element : wrapperOf(body.wrapper, body.parts);
}

/** The element of an rpc message, of whose parts each may be there (A7, A30). */
export function wrapperOf(name: QName, parts: readonly ElementDeclaration[]): ElementDeclaration {
  const particles = parts.map((element): Particle => ({ kind: 'element', least: 0, most: 1, element }));
  const type: SchemaType = {
    ...anyType,
    name: undefined,
    anyAttribute: false,
    content:
      parts.length === 0
        ? { kind: 'empty' }
        : { kind: 'elements', particle: { kind: 'sequence', least: 1, most: 1, particles }, mixed: false },
  };
  return undeclared(name, type, false);
}

function writeElement(
  { limits }: AdoptedContext,
  value: ValueCodec,
  tags: Tags,
  json: Uint8Array,
  { tape, output }: Scratch,
  beside: ReadonlySet<string>,
  asked?: Asked,
): Omit<WrittenMessage, 'headers'> {
  try {
    tape.start(json, limits);
    tape.beside = beside;
    tape.asked = asked;
    value.scan(tape);
    tape.end();
    output.start(json.length * 2 + 1024);
    value.write(tags, tape, 0, output);
    const { dropped, replaced, passed, missing } = tape;
    return { xml: output.take(), dropped, replaced, passed, missing };
  } finally {
    tape.release();
  }
}

/** Returns the declarations of all prefixes that an element's content may need. */
function declarationsOf(context: AdoptedContext, element: ElementDeclaration): string {
  const { service } = context;
  const namesIn = new Set<string>([element.name.namespace]);
  const seen = new Set<SchemaType>();
  let isAny = context.encoded;
  const waiting: SchemaType[] = [element.type];
  const see = ({ name, type, substitutes }: ElementDeclaration): void => {
    namesIn.add(name.namespace);
    waiting.push(type);
    for (const one of substitutes) {
      namesIn.add(one.name.namespace);
      waiting.push(one.type);
    }
  };
  const walk = (particle: Particle): void => {
    if (particle.kind === 'element') see(particle.element);
    else if (particle.kind !== 'any') particle.particles.forEach(walk);
    else if (particle.wildcard.fieldsOf !== undefined) {
      namesIn.add(particle.wildcard.fieldsOf);
      waiting.push(anyType);
    }
  };
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (seen.has(type)) continue;
    seen.add(type);
    if (type.kind === 'simple') continue;
    if (type === anyType) {
      isAny = true;
      for (const one of service.types.values()) waiting.push(one);
    }
    if (type.derived.length > 0) namesIn.add((type.name as QName).namespace);
    for (const one of type.derived) {
      namesIn.add((one.name as QName).namespace);
      waiting.push(one);
    }
    for (const { name } of type.attributes) namesIn.add(name.namespace);
    if (type.content.kind === 'elements') walk(type.content.particle);
    if (type.content.kind === 'encodedArray') waiting.push(type.content.item);
    if (type.content.kind === 'map')
      for (const one of [type.content.item, type.content.key, type.content.value]) see(one);
  }
  if (isAny) for (const { name } of service.types.values()) namesIn.add((name as QName).namespace);
  let declarations = ` xmlns:i="${namespaces.xsi}"`;
  if (isAny) declarations += ` xmlns:xsd="${namespaces.xsd}"`;
  if (isAny || namesIn.has(namespaces.soap11Encoding))
    declarations += ` xmlns:soapenc="${namespaces.soap11Encoding}"`;
  for (const namespace of namesIn) {
    const prefix = context.prefixOf(namespace);
    if (prefix.startsWith('n'))
      declarations += ` xmlns:${prefix.slice(0, -1)}="${escapeAttribute(namespace)}"`;
  }
  return declarations;
}
