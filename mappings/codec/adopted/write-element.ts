import { anyType } from '../../contract/built-in-types.ts';
import { namespaces } from '../../contract/model.ts';
import type { ElementDeclaration, Particle, QName, SchemaType } from '../../contract/type-graph.ts';
import type { JsonRequestReading } from '../../json/tape.ts';
import type { Scratch } from '../element.ts';
import { escapeAttribute } from '../scalars/text.ts';
import type { AdoptedContext, ValueCodec } from './context.ts';
import { elementReader, tagsOf } from './elements.ts';

/** Writes the JSON of one message element or header block as XML. */

/** A message as XML. */
export interface WrittenMessage {
  readonly xml: Buffer;
  /** Base64 that becomes attachments, in the order of the references (W66); undefined for none. */
  readonly attached?: readonly Buffer[] | undefined;
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

type WriteCounts = Pick<WrittenMessage, 'dropped' | 'replaced' | 'passed' | 'missing'>;

export const noCounts: WriteCounts = { dropped: 0, replaced: 0, passed: 0, missing: 0 };

export function sumOf(one: WriteCounts, other: WriteCounts): WriteCounts {
  return {
    dropped: one.dropped + other.dropped,
    replaced: one.replaced + other.replaced,
    passed: one.passed + other.passed,
    missing: one.missing + other.missing,
  };
}

const usualTerms: WriteTerms = {};

/** Members of the message's object that are processed separately (A8, A29). Other unknown members are dropped. */
export const noSeparateMembers: ReadonlySet<string> = new Set();

/** Terms of writing a reply that differ from the usual ones. */
export interface WriteTerms {
  /** Minimum decoded size in bytes of base64 that becomes an attachment (W65). */
  readonly attachFrom?: number | undefined;
}

/** Reads and writes a global element of a message: a body's element, a header block, or the detail of a fault. */
export interface ElementCodec {
  readonly element: ElementDeclaration;
  readonly read: ValueCodec['read'];
  /** Throws MismatchError, JsonError. */
  readonly write: (
    json: Uint8Array,
    separate: ReadonlySet<string>,
    jsonRequest?: JsonRequestReading,
    terms?: WriteTerms,
  ) => Omit<WrittenMessage, 'headers'>;
}

/**
 * Compiles the codec of an element. `once` and `needed` are as for `codecOf` and `elementReader`.
 *
 * @param attributes attributes of the element, without its declarations
 * @param isDeclared false for an element whose XML is discarded
 */
export function elementCodec(
  context: AdoptedContext,
  element: ElementDeclaration,
  { tape, output }: Scratch,
  { once = false, needed = false, attributes = '', isDeclared = true } = {},
): ElementCodec {
  const value = context.elementOf(element, once);
  const tags = tagsOf(context, element, isDeclared ? declarationsOf(context, element) + attributes : '');
  return {
    element,
    read: elementReader(context, element, value, needed),
    write: (json, separate, jsonRequest, { attachFrom } = usualTerms) => {
      try {
        tape.start(json, context.limits);
        if (attachFrom !== undefined) tape.attachFrom = attachFrom;
        tape.separate = separate;
        tape.jsonRequest = jsonRequest;
        value.scan(tape);
        tape.end();
        output.start(json.length * 2 + 1024);
        value.write(tags, tape, 0, output);
        const { dropped, replaced, passed, missing } = tape;
        const xml = output.take();
        const { attached } = output;
        const counts = { dropped, replaced, passed, missing };
        return attached.length === 0 ? { xml, ...counts } : { xml, attached, ...counts };
      } finally {
        tape.release();
      }
    },
  };
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
