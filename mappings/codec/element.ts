import type { Limits } from '../contract/limits.ts';
import { namespaces } from '../contract/model.ts';
import type { Reason } from '../contract/reason.ts';
import type { JsonReader } from '../json/reader.ts';
import { nodeKinds, Tape } from '../json/tape.ts';
import { longRange, Output, type Piece, piece } from '../xml/output.ts';
import type { XmlReader } from '../xml/reader.ts';
import { hrefOf, includeElsewhere, isInclude } from './attachments.ts';
import type { ReaderContext, ReplyWriter, RequestReader } from './context.ts';
import {
  type AttachedParts,
  isFull,
  MismatchError,
  type Reading,
  recordDeviation,
  refuse,
  refuseAt,
  type Step,
} from './problem.ts';
import { collapse } from './scalars/numbers.ts';
import { escapeXml, quoteJson, quoteText } from './scalars/text.ts';
import { writeDate } from './scalars/wcf-dates.ts';
import { nilAttribute } from './schema-instance.ts';

/** Handling of elements and JSON values before their type matters, in both directions. */

// --- requests ----------------------------------------------------------------------------------------

/**
 * Reads the current member or item: first its attributes, then its content.
 *
 * @param nil the result for an element with `xsi:nil`
 */
export function readMember<Nil>(
  read: RequestReader['read'],
  nil: Nil,
  xml: XmlReader,
  reading: Reading,
): string | undefined | Nil {
  if (xml.attributeCount === 0) return read(xml, reading);
  const { attachments } = reading;
  if (attachments !== undefined && hrefOf(attachments, xml) !== undefined)
    return readReferring(read, attachments, xml, reading);
  const state = readAttributes(xml, reading);
  if (state === 'content') return read(xml, reading);
  if (state === 'refused') {
    xml.skip();
    return undefined;
  }
  endNil(xml, reading);
  return nil;
}

/** Reads an element with an `href` to a part. Refuses it unless its type accepts parts (W60). */
function readReferring(
  read: RequestReader['read'],
  attachments: AttachedParts,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  const reference = { isTaken: false };
  attachments.current = reference;
  const value = read(xml, reading);
  if (reference.isTaken) return value;
  return refuse(reading, 'InvalidType', encodingRefused);
}

const encodingRefused: Reason = {
  detail: 'document/literal expected, got SOAP encoding (href, arrayType, itemType or Ref)',
};

/**
 * Reads the attributes of an element that affect its content (W11, W13). Records a problem if it returns `refused`.
 */
export function readAttributes(xml: XmlReader, reading: Reading): 'content' | 'nil' | 'refused' {
  const elsewhere =
    xml.attribute('', 'href') !== undefined ||
    xml.attribute(namespaces.soap11Encoding, 'arrayType') !== undefined ||
    xml.attribute(namespaces.soap12Encoding, 'itemType') !== undefined ||
    xml.attribute(namespaces.soap12Encoding, 'ref') !== undefined ||
    xml.attribute(namespaces.serialization, 'Ref') !== undefined;
  if (elsewhere) {
    refuse(reading, 'InvalidType', encodingRefused);
    return 'refused';
  }
  return checkUnknown(xml, reading) ? nilState(xml, reading) : 'refused';
}

/** Returns the meaning of `xsi:nil`. Records a problem if it returns `refused`. */
export function nilState(xml: XmlReader, reading: Reading): 'content' | 'nil' | 'refused' {
  const nil = nilAttribute(xml);
  if (nil === undefined) return 'content';
  const word = collapse(nil);
  if (word === 'true' || word === '1') return 'nil';
  if (word === 'false' || word === '0') return 'content';
  refuse(reading, 'InvalidType', { expected: 'true, false, 1 or 0 in xsi:nil', got: 'another value' });
  return 'refused';
}

/**
 * Records or refuses attributes that must be mistakes: those without a namespace, and those in the namespace of their
 * element (W11). Returns false, after recording the problem, if the first one is refused.
 */
function checkUnknown(xml: XmlReader, reading: Reading): boolean {
  for (let index = 0; index < xml.attributeCount; index++) {
    const namespace = xml.attributeNamespace(index);
    if (namespace !== '' && namespace !== xml.namespace) continue;
    if (!reading.refusesAttributes) {
      recordDeviation(reading, 'unknownAttribute');
      return true;
    }
    const name = xml.attributeLocal(index);
    refuseAt(reading, name.slice(0, 64), 'UnknownAttribute', {
      expected: 'no attributes',
      got: quoteText(name),
    });
    return false;
  }
  return true;
}

/**
 * Returns true if the content of a wrapper or map entry may be read. No schema allows nil there, so `xsi:nil` is
 * recorded as a problem.
 */
export function opens(xml: XmlReader, reading: Reading): boolean {
  if (xml.attributeCount === 0) return true;
  const state = readAttributes(xml, reading);
  if (state === 'content') return true;
  if (state === 'nil') refuse(reading, 'InvalidType', { expected: 'elements', got: 'xsi:nil' });
  xml.skip();
  return false;
}

/** Returns the message about an element that only occurs in SOAP's encoding (W11); undefined for any other. */
export function encodedReason({
  local,
  namespace,
}: Pick<XmlReader, 'local' | 'namespace'>): Reason | undefined {
  const isEncoded =
    local === 'multiRef' ||
    namespace === namespaces.soap11Encoding ||
    namespace === namespaces.soap12Encoding;
  if (!isEncoded) return undefined;
  return { detail: `document/literal expected, got SOAP encoding (<${local.slice(0, 64)}>)` };
}

/**
 * Passes an unknown element: refuses it with a reason, or ignores and records it (W12).
 *
 * @param steps the steps to the element from the current path
 */
export function passUnknown(
  { settings }: ReaderContext,
  xml: XmlReader,
  reading: Reading,
  reasonOf: () => Reason,
  steps: readonly Step[] = [],
): void {
  if (reading.attachments?.form === 'mtom' && isInclude(xml))
    refuse(reading, 'InvalidType', includeElsewhere);
  else if (settings.unknownElements === 'ignore') reading.ignored.push(xml.local);
  else if (!isFull(reading)) {
    reading.path.push(...steps);
    refuse(reading, 'UnknownElement', encodedReason(xml) ?? reasonOf());
    reading.path.length -= steps.length;
  }
  xml.skip();
}

/** Refuses an element that occurs again, and passes it. */
export function refuseAgain(xml: XmlReader, reading: Reading): void {
  refuse(reading, 'DuplicateElement', { expected: 'the element once', got: 'it again' });
  xml.skip();
}

/** Refuses text between elements, after the last child was read. */
export function refuseText(xml: XmlReader, reading: Reading): void {
  if (xml.hasText) refuse(reading, 'InvalidType', { expected: 'elements', got: 'text' });
}

/** Reads a nil element to its end. Returns true if it has content other than blanks. */
export function hasContent(xml: XmlReader): boolean {
  let content = false;
  while (xml.nextChild()) {
    content = true;
    xml.skip();
  }
  return content || xml.hasText;
}

/** Reads an element with `xsi:nil` to its end, and refuses content in it. */
export function endNil(xml: XmlReader, reading: Reading): void {
  if (hasContent(xml)) refuse(reading, 'InvalidType', { expected: 'no content in an element with xsi:nil' });
}

/** Records that an element does not match its type, and passes it. Returns its content as text if that is kept (G34). */
export function refuseElement(xml: XmlReader, reading: Reading, reason: Reason): string | undefined {
  refuse(reading, 'InvalidType', reason);
  const { position, empty } = xml;
  xml.skip();
  if (!reading.keepsRefused) return undefined;
  return empty ? '""' : contentToken(xml, position);
}

/** Returns the content of the element that the reader has just left, as a JSON string. */
export function contentToken(xml: XmlReader, start: number): string {
  const source = xml.source(start, xml.position);
  return quoteJson(source.slice(0, source.lastIndexOf('</')));
}

/** Records that a JSON value has the wrong kind, and passes it. */
export function refuseJsonKind(json: JsonReader, reading: Reading, expected: string): void {
  refuse(reading, 'InvalidType', { expected, got: json.kind() });
  json.skip();
}

/**
 * Enters an object ("{") or array ("["). Returns false after passing a null or a value of another kind, which is
 * recorded as a problem.
 */
export function entersJson(json: JsonReader, reading: Reading, open: 123 | 91): boolean {
  const code = json.peek();
  if (code === open) {
    json.enter();
    return true;
  }
  if (code === 110) json.literal();
  else refuseJsonKind(json, reading, open === 123 ? 'an object' : 'an array');
  return false;
}

// --- replies -----------------------------------------------------------------------------------------

const { nothing, empty, plain, made, record, list, date, guid, binary, madeBinary } = nodeKinds;

/** The `write` of writers without record or list nodes. */
export const noContent = (): void => {};

/** The scratch buffers for writing replies, one at a time. */
export interface Scratch {
  readonly tape: Tape;
  readonly output: Output;
}

/** Maximum number of bytes of a reply in XML: escapes make a text up to five times as long, and names are added. */
export function maxWrittenBytes({ replyBytes, replyBytesWithBinary, writtenBytes }: Limits): number {
  return writtenBytes ?? Math.max(192 * 1024 * 1024, 6 * replyBytes, 1.5 * replyBytesWithBinary);
}

/** Creates scratch buffers. A reply in XML that is longer than `maxWrittenBytes` throws a MismatchError. */
export function createScratch(limits: Limits): Scratch {
  const output = new Output(
    maxWrittenBytes(limits),
    (expected) =>
      new MismatchError({
        expected: `${expected} (see the limits replyBytes and replyBytesWithBinary)`,
        got: 'more bytes',
      }),
  );
  return { tape: new Tape(), output };
}

/** Moves past a null and pushes its node. Returns false for any other value. */
export function scanNull(tape: Tape): boolean {
  if (tape.peek() !== 110) return false;
  tape.literal();
  tape.pushKind(nothing);
  return true;
}

/** Enters an object ("{") or array ("["). Returns false for a null and pushes its node. Throws MismatchError. */
export function enters(tape: Tape, open: 123 | 91): boolean {
  if (tape.peek() === open) {
    tape.enter();
    return true;
  }
  if (!scanNull(tape))
    throw new MismatchError({ expected: open === 123 ? 'an object' : 'an array', got: tape.kind() });
  return false;
}

/** The tags of an element, and its forms for empty and null values (W19, W20). */
export interface Element {
  /** The beginning of the start tag, after which attributes are written. */
  readonly start: Piece;
  readonly open: Piece;
  readonly close: Piece;
  readonly empty: Piece;
  readonly nil: Piece | undefined;
  /** Number of bytes to reserve for both tags. */
  readonly tagBytes: number;
}

/** Returns the element of a name, which may have a prefix. A null is written only if it is nillable. */
export function elementOf(name: string, declarations: string, nillable: boolean): Element {
  return elementNamed(name, `<${name}${declarations}`, nillable ? `<${name}` : undefined);
}

/**
 * Returns the element of a name from the beginning of its start tag.
 *
 * @param nilStart beginning of the tag of a nil element; undefined if it is not nillable
 * @param typed the beginning, followed by `xsi:type` if it is written
 */
export function elementNamed(
  name: string,
  start: string,
  nilStart: string | undefined,
  typed = start,
): Element {
  const open = piece(`${typed}>`);
  const close = piece(`</${name}>`);
  return {
    start: piece(start),
    open,
    close,
    empty: piece(`${typed}/>`),
    nil: nilStart === undefined ? undefined : piece(`${nilStart} i:nil="true"/>`),
    tagBytes: open.length + close.length + 32,
  };
}

/** Writes the element around a node, or its empty or nil form. */
export function writeElement(
  element: Element,
  writer: ReplyWriter,
  tape: Tape,
  node: number,
  output: Output,
): void {
  const { words } = tape;
  const kind = words[node];
  if (kind === plain) {
    const start = words[node + 1] as number;
    const end = words[node + 2] as number;
    const isLong = end - start >= longRange;
    output.reserve(element.tagBytes + (isLong ? 0 : end - start));
    output.piece(element.open);
    if (isLong) output.insert(tape.bytes, start, end);
    else output.copy(tape.bytes, tape.view, start, end);
    output.piece(element.close);
  } else if (kind === binary || kind === madeBinary) {
    output.reserve(element.tagBytes);
    output.piece(element.open);
    output.attach(lettersOf(tape, node));
    output.reserve(element.tagBytes);
    output.piece(element.close);
  } else if (kind === nothing) {
    if (element.nil === undefined) return;
    output.reserve(element.tagBytes);
    output.piece(element.nil);
  } else if (kind === empty) {
    output.reserve(element.tagBytes);
    output.piece(element.empty);
  } else {
    output.reserve(element.tagBytes);
    const before = output.length;
    output.piece(element.open);
    const start = output.length;
    if (kind === record || kind === list) writer.write(tape, node, output);
    else writeText(tape, node, output);
    output.reserve(element.tagBytes);
    if (output.length !== start) output.piece(element.close);
    else {
      output.length = before;
      output.piece(element.empty);
    }
  }
}

/**
 * Returns the base64 of a node that becomes an attachment. That of a small reply is copied, because its buffer is
 * reused.
 */
export function lettersOf(tape: Tape, node: number): Buffer {
  const { bytes, words } = tape;
  const first = words[node + 1] as number;
  if (words[node] === madeBinary) return Buffer.from(tape.made[first] ?? '', 'latin1');
  const end = words[node + 2] as number;
  if (end - first < longRange) return Buffer.from(bytes.subarray(first, end));
  return Buffer.from(bytes.buffer, bytes.byteOffset + first, end - first);
}

/** Writes a `text`, `made`, `date` or `guid` node. */
export function writeText(tape: Tape, node: number, output: Output): void {
  const { words } = tape;
  const first = words[node + 1] as number;
  if (words[node] === date) {
    const time = words[node + 2] as number;
    writeDate(output, first, time >> 1, (time & 1) === 1);
    return;
  }
  if (words[node] === guid) {
    output.guid(tape.bytes, first);
    return;
  }
  if (words[node] === made) {
    output.text(tape.made[first] ?? '');
    return;
  }
  writeContent(tape, first, words[node + 2] as number, output);
}

/** Maximum number of bytes of a long text that are written at a time, which limits the memory per step. */
const partBytes = 64 * 1024;

/** Writes a range of a JSON string as XML content. */
function writeContent(tape: Tape, start: number, end: number, output: Output): void {
  for (let from = start; ; ) {
    const to = end - from <= partBytes ? end : Math.min(end, partEnd(tape.bytes, from));
    if (!output.content(tape.bytes, from, to, tape)) output.text(escapeXml(tape.decode(from, to), tape));
    if (to === end) return;
    from = to;
  }
}

/** Length of two escapes that encode one character. */
const longestEscape = 12;

/**
 * Returns the end of the first part of a JSON string that begins at an offset. The end is not within a character or its
 * escapes.
 */
function partEnd(bytes: Uint8Array, start: number): number {
  let at = start + partBytes;
  if (bytes.subarray(at - longestEscape, at).includes(backslash)) {
    let isHalf = false; // after a high surrogate
    for (at = start; at < start + partBytes || isHalf; ) {
      const isEscape = bytes[at] === backslash;
      const isUnicode = isEscape && bytes[at + 1] === 117;
      isHalf = isUnicode && isHighSurrogate(bytes, at + 2);
      if (isUnicode) at += 6;
      else at += isEscape ? 2 : 1;
    }
  }
  while (((bytes[at] as number) & 0xc0) === 0x80) at++;
  return at;
}

const backslash = 92;

/** Returns true if four hexadecimal digits are between D800 and DBFF. */
function isHighSurrogate(bytes: Uint8Array, at: number): boolean {
  return /^d[89ab]/i.test(String.fromCharCode(bytes[at] as number, bytes[at + 1] as number));
}

/** The result of writing one value. */
export interface WrittenValue {
  /** The element's content; null for a JSON null. */
  readonly content: string | null;
  readonly dropped: number;
  readonly replaced: number;
  readonly failed: boolean;
}

/** Writes one value's JSON as an element's content. Throws MismatchError, JsonError. */
export type WriteValue = (writer: ReplyWriter, json: string) => WrittenValue;

/** Returns a function that writes single values, one at a time, with its own tape and output. */
export function valueWriter(limits: Limits): WriteValue {
  const tape = new Tape();
  const output = new Output();
  return (writer, json) => {
    tape.start(Buffer.from(json), limits);
    writer.scan(tape);
    tape.end();
    output.start(json.length * 2);
    const [kind] = tape.words;
    if (kind === record || kind === list) writer.write(tape, 0, output);
    else if (kind === plain) output.text(tape.slice(tape.words[1] ?? 0, tape.words[2] ?? 0));
    else if (kind !== nothing && kind !== empty) writeText(tape, 0, output);
    const content = kind === nothing ? null : output.take().toString('utf8');
    const { dropped, replaced, failed } = tape;
    tape.release();
    return { content, dropped, replaced, failed };
  };
}
