import type { AdoptedOperation, AdoptedService } from '../../contract/adopted.ts';
import { anyType } from '../../contract/built-in-types.ts';
import { defaultLimits, type Limits } from '../../contract/limits.ts';
import { isMixed, membersOf as membersOfParticle } from '../../contract/members.ts';
import { namespaces } from '../../contract/model.ts';
import { type Settings, withDefaults } from '../../contract/overlay-keys.ts';
import {
  type AdoptedMessage,
  type ElementDeclaration,
  type Particle,
  plainElement,
  type QName,
  type SchemaType,
} from '../../contract/type-graph.ts';
import type { JsonRequestReading } from '../../json/tape.ts';
import { doAll, type Steps } from '../../steps.ts';
import { XmlReader } from '../../xml/reader.ts';
import { createScratch, endNil, hasContent, type Scratch } from '../element.ts';
import { type Reading, recordDeviation, refuse } from '../problem.ts';
import { isNil } from '../schema-instance.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { type Context, contextsOf } from './contexts.ts';
import { compileFaults, type FaultCodecs } from './fault-codecs.ts';
import { compileHeaders } from './header-blocks.ts';
import type { KeptForms } from './kept-forms.ts';
import { gatherReferences } from './references.ts';
import type { SimpleOf } from './simple-types.ts';
import {
  elementCodec,
  noSeparateMembers,
  sumOf,
  type WriteTerms,
  type WrittenMessage,
} from './write-element.ts';

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
   * @param jsonRequest state of reading a JSON caller's request; undefined for a reply
   */
  readonly write: (json: Uint8Array, jsonRequest?: JsonRequestReading, terms?: WriteTerms) => WrittenMessage;
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
 *
 * @param kept texts of values that JSON keeps; undefined for none
 */
export function compileAdopted(
  service: AdoptedService,
  settings: Partial<Settings> = {},
  limits: Limits = defaultLimits,
  kept?: KeptForms,
): CompiledAdopted {
  return doAll(compileAdoptedInSteps(service, settings, limits, kept));
}

/** Compiles a service's codecs, one operation or type per step. */
export function* compileAdoptedInSteps(
  service: AdoptedService,
  settings: Partial<Settings>,
  limits: Limits,
  kept?: KeptForms,
): Steps<CompiledAdopted> {
  const contexts = contextsOf(service, withDefaults('adopted', settings), limits, kept);
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

function compileMessage(context: Context, message: AdoptedMessage, scratch: Scratch): MessageCodec {
  const { body } = message;
  const headers = compileHeaders(context, message.headers, scratch);
  const separate = message.headers.length === 0 ? noSeparateMembers : separateHeaders;
  if (body.kind === 'empty') {
    const element = wrapperOf({ namespace: '', local: 'none' }, []);
    const none = elementCodec(context, element, scratch, { isDeclared: false });
    return {
      ...headers,
      // the body has no element (A7)
      read: (xml, reading) => {
        if (hasContent(xml))
          refuse(reading, 'UnknownElement', { expected: 'no content in Body', got: 'some' });
        if (context.encoded) passBody(xml);
        return '{}';
      },
      write: (json, jsonRequest) => {
        if (jsonRequest !== undefined) none.write(json, separate, jsonRequest);
        return { xml: Buffer.alloc(0), ...headers.write(json, jsonRequest) };
      },
    };
  }
  const element = elementOf(body);
  const attributes = context.encoded ? encodingStyle : '';
  const codec = elementCodec(context, element, scratch, { needed: true, attributes });
  const read = takesNothing(element) ? nilOr(codec.read) : codec.read;
  const isRpc = body.kind === 'rpc';
  return {
    ...headers,
    read: (xml, reading) => {
      reading.isRpc = isRpc;
      return (context.encoded ? readEncoded(context, read, xml, reading) : read(xml, reading)) ?? '{}';
    },
    write: (json, jsonRequest, terms) => {
      const blocks = headers.write(json, jsonRequest);
      const written = codec.write(json, separate, jsonRequest, terms);
      const { xml, attached, ...counts } = written;
      const { left } = blocks;
      const parts = attached === undefined ? undefined : { attached };
      return { xml, ...parts, headers: blocks.headers, ...sumOf(counts, blocks), ...(left && { left }) };
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
    endNil(xml, reading);
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

const separateHeaders: ReadonlySet<string> = new Set(['@headers']);

/** The element of a body: the declared one, or the wrapper of style rpc. */
export function elementOf(
  body: Exclude<AdoptedMessage['body'], { readonly kind: 'empty' }>,
): ElementDeclaration {
  return body.kind === 'element' ? body.element : wrapperOf(body.wrapper, body.parts);
}

/** Returns the wrapper element of an rpc message. Each part is optional (A7, A30). */
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
  return plainElement(name, type, false);
}
