import type { CompiledAdoptedOperation } from '../codec/adopted/compile.ts';
import { withHeaders } from '../codec/adopted/compile.ts';
import { Attachments } from '../codec/attachments.ts';
import { type Problem, type Reading, startReading } from '../codec/problem.ts';
import type { Limits } from '../contract/limits.ts';
import { namespaces } from '../contract/model.ts';
import { parseContentType } from '../http-mapping/content-type.ts';
import {
  RelatedError,
  RelatedTypeError,
  readRelatedType,
  splitRelated,
  takeParts,
} from '../http-mapping/related.ts';
import { decodeXml } from '../xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../xml/error.ts';
import { XmlReader, type XmlTolerance } from '../xml/reader.ts';
import type { ReplyBytes } from './comparison.ts';
import { withoutInstructions } from './instructions.ts';

// A reply as a client decodes it, with its violations of the contract (G33, G34, G41, G42).

/** Maximum number of violations of the contract that are recorded per reply. */
export const maxViolations = 200;

/** A reply, decoded. */
export type DecodedReply = { readonly frame: string } & (
  | {
      readonly kind: 'reply';
      readonly json: string;
      readonly violations: readonly Violation[];
      /** Paths of empty elements that have their declared default (A25), at most `maxViolations`. */
      readonly defaults: readonly string[];
    }
  | ({
      readonly kind: 'fault';
      readonly status: number;
      readonly violations: readonly Violation[];
    } & DecodedFault)
  | { readonly kind: 'unreadable'; readonly reason: string }
);

/** A violation of the contract: its path, and a code of W29. */
export type Violation = Pick<Problem, 'path' | 'code'>;

/** The parts of a fault that are compared (G41). */
export interface DecodedFault {
  /** `Client` or `Server` or another code, then its subcodes, separated by dots. */
  readonly code: string;
  /** Name of the declared fault; undefined for another fault. */
  readonly name: string | undefined;
  readonly reason: string;
  /** The members of the declared fault as a JSON object. */
  readonly json: string | undefined;
}

/** Legacy services send references that XML forbids, and prefixes without a namespace (W10, A30). */
const tolerance: XmlTolerance = { acceptsIllegalReferences: true, emptyPrefixes: true };

/** Returns limits for replies, whose size is limited before. The depth stays limited. */
export function replyLimits(limits: Limits): Limits {
  const none = Number.POSITIVE_INFINITY;
  return {
    ...limits,
    bodyBytes: none,
    xmlText: none,
    xmlElements: none,
    xmlChildren: none,
    xmlAllAttributes: none,
    xmlAttributeValue: none,
    jsonDepth: none,
    jsonMembers: none,
  };
}

/** Thrown for a message without an envelope, or with another payload. The message contains no value of the reply. */
class Unreadable extends Error {}

/**
 * Decodes a reply. A violation of the contract never fails; a reply without an envelope is `unreadable` (G34).
 *
 * @param takeNodes called with the number of elements and attributes before they are read; it may throw to stop
 * @param passesForeign if true, attributes of foreign namespaces are no violations
 */
export function decodeReply(
  codecs: CompiledAdoptedOperation,
  { status, contentType = '', body, digests }: ReplyBytes,
  limits: Limits,
  takeNodes?: (count: number) => void,
  passesForeign = false,
): DecodedReply {
  const { type, charset } = parseContentType(contentType);
  const isPackage = type === 'multipart/related';
  let frame = isPackage ? type : type || 'none';
  const reading = { ...startReading(maxViolations), keepsRefused: true, passesForeign };
  try {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const document = isPackage ? rootOf(bytes, contentType, limits, digests, reading) : { bytes, charset };
    const text = withoutInstructions(decodeXml(document.bytes, document.charset));
    takeNodes?.(nodesIn(text));
    const xml = new XmlReader(text, limits, tolerance);
    xml.readRoot();
    const namespace = envelopeNamespace(xml);
    if (type === plainTypes.get(namespace)) frame = 'plain';
    const decoded = readEnvelope(codecs, xml, namespace, reading);
    const violations = violationsOf(reading);
    return 'code' in decoded
      ? { kind: 'fault', frame, status, violations, ...decoded }
      : { kind: 'reply', frame, violations, defaults: reading.defaults ?? [], ...decoded };
  } catch (error) {
    return { kind: 'unreadable', frame, reason: reasonOf(error) };
  }
}

/** Returns the number of elements and attributes of XML, or more: text may look like them. */
function nodesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const code = text.charCodeAt(at + 1);
    if (code !== slash && code !== exclamation) count++;
  }
  for (let at = text.indexOf('='); at !== -1; at = text.indexOf('=', at + 1))
    if (quoteOrBlank.has(text[at + 1] ?? '')) count++;
  return count;
}

const slash = 47;
const exclamation = 33;
const quoteOrBlank: ReadonlySet<string> = new Set(['"', "'", ' ', '\t', '\r', '\n']);

/** The media type of a plain message by the namespace of its envelope. Both mean `plain` (G37, G42). */
const plainTypes: ReadonlyMap<string, string> = new Map([
  [namespaces.soap11, 'text/xml'],
  [namespaces.soap12, 'application/soap+xml'],
]);

/** Returns the reason why a reply is unreadable. Throws the error again if the reply is not the cause. */
function reasonOf(error: unknown): string {
  if (error instanceof Unreadable) return error.message;
  if (error instanceof XmlError) return 'no well-formed XML';
  if (error instanceof UnsupportedCharset) return 'an unsupported charset';
  if (error instanceof RelatedError || error instanceof RelatedTypeError) return 'a malformed package';
  throw error;
}

function rootOf(
  body: Buffer,
  contentType: string,
  limits: Limits,
  digests: ReplyBytes['digests'],
  reading: Reading,
) {
  const { form, root, parts, charset } = takeParts(
    body,
    splitRelated(body, readRelatedType(contentType), limits),
  );
  reading.attachments = new Attachments(
    form,
    parts.map((part, index) => ({ ...part, digest: digests?.get(index) })),
  );
  return { bytes: root, charset };
}

function violationsOf({ problems, missing }: Reading): readonly Violation[] {
  return [...problems, ...missing].map(({ path, code }) => ({ path, code }));
}

function envelopeNamespace({ local, namespace }: XmlReader): string {
  if (local === 'Envelope' && plainTypes.has(namespace)) return namespace;
  throw new Unreadable('no envelope');
}

/** Reads an envelope after its start tag, to the end of the document. */
function readEnvelope(
  codecs: CompiledAdoptedOperation,
  xml: XmlReader,
  namespace: string,
  reading: Reading,
): { readonly json: string } | DecodedFault {
  const headers: string[] = [];
  for (;;) {
    if (!xml.nextChild()) throw new Unreadable('no body');
    const isOurs = xml.namespace === namespace;
    if (isOurs && xml.local === 'Body') break;
    if (!isOurs || xml.local !== 'Header') xml.skip();
    else headers.push(...readHeaders(codecs, xml, reading));
  }
  const decoded = readBody(codecs, xml, namespace, reading);
  while (xml.depth > 0 && xml.nextChild()) xml.skip();
  xml.finish();
  return 'json' in decoded && !('code' in decoded) ? { json: withHeaders(decoded.json, headers) } : decoded;
}

function readHeaders(
  { reply }: CompiledAdoptedOperation,
  xml: XmlReader,
  reading: Reading,
): readonly string[] {
  const blocks = new Map<string, string>();
  while (xml.nextChild()) {
    const { namespace, local } = xml;
    const block = reply?.declares(namespace, local) === true ? reply.readHeader(xml, reading) : xml.skip();
    if (typeof block === 'string' && !blocks.has(local)) blocks.set(local, block);
  }
  return [...blocks.values()];
}

function readBody(
  { operation, reply, faults }: CompiledAdoptedOperation,
  xml: XmlReader,
  namespace: string,
  reading: Reading,
): { readonly json: string } | DecodedFault {
  const body = operation.output?.body;
  if (!xml.nextChild()) {
    if (body !== undefined && body.kind !== 'empty') throw new Unreadable('an empty body');
    return { json: '{}' };
  }
  if (xml.local === 'Fault' && xml.namespace === namespace) {
    const fault = readFault(xml, namespace, (detail) => {
      reading.path.push('@fault', detail.local);
      const json = faults.read(detail, reading);
      reading.path.length = 0;
      if (json === undefined) detail.skip();
      return json;
    });
    while (xml.nextChild()) xml.skip();
    return fault;
  }
  const isExpected =
    body?.kind === 'element'
      ? xml.local === body.element.name.local && xml.namespace === body.element.name.namespace
      : body?.kind !== 'rpc' || xml.local === body.wrapper.local;
  if (!isExpected || reply === undefined) throw new Unreadable('another payload');
  const json = reply.read(xml, reading);
  // the targets of references follow the payload, and `read` has passed them
  if (operation.output?.use !== 'encoded') while (xml.nextChild()) xml.skip();
  return { json };
}

/** Reads a fault of either version (SOAP 1.1, 4.4; SOAP 1.2, part 1, 5.4) past its end tag. */
function readFault(
  xml: XmlReader,
  namespace: string,
  readDetail: (xml: XmlReader) => string | undefined,
): DecodedFault {
  const codes: string[] = [];
  let reason: string | undefined;
  let json: string | undefined;
  while (xml.nextChild()) {
    const { local } = xml;
    if (local === 'faultcode') codes.push(...readCode(xml));
    else if (local === 'faultstring') reason = textOf(xml);
    else if (local === 'Code') readCodes(xml, codes);
    else if (local === 'Reason') reason = readReason(xml);
    else if (local === 'detail' || (local === 'Detail' && xml.namespace === namespace)) {
      while (xml.nextChild())
        if (json === undefined) json = readDetail(xml);
        else xml.skip();
    } else xml.skip();
  }
  const name = json === undefined ? undefined : /^\{"@fault":"([^"]*)",?/.exec(json);
  return {
    code: canonicalCode(codes),
    name: name?.[1],
    reason: reason ?? '',
    json: json === undefined ? undefined : `{${json.slice(name?.[0].length)}`,
  };
}

/** Reads `Reason` of SOAP 1.2, and returns its first text. The others are translations. */
function readReason(xml: XmlReader): string | undefined {
  let reason: string | undefined;
  while (xml.nextChild()) {
    const text = textOf(xml);
    reason ??= text;
  }
  return reason;
}

/** Reads `Code` or `Subcode` of SOAP 1.2: its value, then that of its subcode. */
function readCodes(xml: XmlReader, codes: string[]): void {
  while (xml.nextChild())
    if (xml.local === 'Value') codes.push(...readCode(xml));
    else if (xml.local === 'Subcode') readCodes(xml, codes);
    else xml.skip();
}

/** Reads a QName. Codes of SOAP and without a prefix are parts separated by dots; other codes have their namespace. */
function readCode(xml: XmlReader): readonly string[] {
  const bindings = new Map(xml.declarations.map(({ prefix, namespace }) => [prefix, namespace]));
  const text = textOf(xml).trim();
  const colon = text.indexOf(':');
  const prefix = text.slice(0, Math.max(0, colon));
  const local = text.slice(colon + 1);
  const namespace = colon === -1 ? '' : (bindings.get(prefix) ?? xml.resolve(prefix) ?? '');
  return namespace === '' || plainTypes.has(namespace) ? local.split('.') : [`{${namespace}}${local}`];
}

/** Returns a code in the words of SOAP 1.1. A subcode may repeat the code: `Receiver` with `Server.NoStock`. */
function canonicalCode(codes: readonly string[]): string {
  const [first = '', ...others] = codes.map((code) => sameCodes.get(code) ?? code);
  const subcodes = others[0] === first ? others.slice(1) : others;
  return [first, ...subcodes].join('.');
}

const sameCodes: ReadonlyMap<string, string> = new Map([
  ['Sender', 'Client'],
  ['Receiver', 'Server'],
]);

/** Reads an element's text; `''` for an element with children. */
function textOf(xml: XmlReader): string {
  return xml.readText(Number.POSITIVE_INFINITY, true) ?? '';
}
