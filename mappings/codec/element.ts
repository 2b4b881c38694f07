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
  MismatchError,
  type Reading,
  recordDeviation,
  refuse,
  refuseAt,
} from './problem.ts';
import { collapse } from './scalars/numbers.ts';
import { escapeXml, excerpt } from './scalars/text.ts';
import { writeDate } from './scalars/wcf-dates.ts';
import { nilAttribute } from './schema-instance.ts';

/** What both directions do with an element or a JSON value before its type matters. */

// --- requests ----------------------------------------------------------------------------------------

/**
 * Reads a member or an item whose start tag is current: its attributes first, then what it holds.
 *
 * @param nil what it is with xsi:nil
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
  if (hasContent(xml)) refuse(reading, 'InvalidType', { expected: 'no content in an element with xsi:nil' });
  return nil;
}

/** Reads an element whose `href` refers to a part: refused where its type is none that a part stands for (W60). */
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

/** What an element's attributes say of its content (W11, W13). Notes a problem when it answers `refused`. */
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
  if (!checkUnknown(xml, reading)) return 'refused';
  const nil = nilAttribute(xml);
  if (nil === undefined) return 'content';
  const word = collapse(nil);
  if (word === 'true' || word === '1') return 'nil';
  if (word === 'false' || word === '0') return 'content';
  refuse(reading, 'InvalidType', { expected: 'true, false, 1 or 0 in xsi:nil', got: 'another value' });
  return 'refused';
}

/**
 * Records or refuses attributes that only a mistake can mean: those without a namespace, and those in the namespace of their
 * element (W11). Returns false, once it is noted, if the first one is refused.
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
      got: excerpt(name),
    });
    return false;
  }
  return true;
}

/** True where a wrapper or a map's entry, which no schema lets be nil, may be read; otherwise it is noted and passed. */
export function opens(xml: XmlReader, reading: Reading): boolean {
  if (xml.attributeCount === 0) return true;
  const state = readAttributes(xml, reading);
  if (state === 'content') return true;
  if (state === 'nil') refuse(reading, 'InvalidType', { expected: 'elements', got: 'xsi:nil' });
  xml.skip();
  return false;
}

/** What is said of an element that SOAP's encoding alone has (W11); undefined for any other. */
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

/** Passes an element that the type has no place for: refused for a reason, or left out and noted (W12). */
export function passUnknown(
  { contract }: ReaderContext,
  xml: XmlReader,
  reading: Reading,
  reason: Reason,
): void {
  if (reading.attachments?.form === 'mtom' && isInclude(xml))
    refuse(reading, 'InvalidType', includeElsewhere);
  else if (contract.settings.unknownElements === 'refuse')
    refuse(reading, 'UnknownElement', encodedReason(xml) ?? reason);
  else reading.ignored.push(xml.local);
  xml.skip();
}

/** Reads a nil element to its end; true when it holds anything but blanks. */
export function hasContent(xml: XmlReader): boolean {
  let content = false;
  while (xml.nextChild()) {
    content = true;
    xml.skip();
  }
  return content || xml.stray;
}

/** Past an element whose value isn't of its type, which is noted. */
export function refuseElement(xml: XmlReader, reading: Reading, reason: Reason): undefined {
  refuse(reading, 'InvalidType', reason);
  xml.skip();
}

/** Past a JSON value of the wrong kind, which is noted. */
export function refuseJsonKind(json: JsonReader, reading: Reading, expected: string): void {
  refuse(reading, 'InvalidType', { expected, got: json.kind() });
  json.skip();
}

/** Into an object ("{") or array ("["); false, past the value, for a null, and for another kind, which is noted. */
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

/** The `write` of a writer whose nodes write themselves. */
export const noContent = (): void => {};

/** The scratch buffers that replies are written with, one at a time. */
export interface Scratch {
  readonly tape: Tape;
  readonly output: Output;
}

/** Bytes of a reply in XML: escapes make a text up to five times as long, and names are added. */
export function maxWrittenBytes({ replyBytes, replyBytesWithBinary, writtenBytes }: Limits): number {
  return writtenBytes ?? Math.max(192 * 1024 * 1024, 6 * replyBytes, 1.5 * replyBytesWithBinary);
}

/** Makes scratch buffers. A reply in XML that is longer than `maxWrittenBytes` throws a MismatchError. */
export function createScratch(limits: Limits): Scratch {
  const output = new Output(
    maxWrittenBytes(limits),
    (expected) =>
      new MismatchError({
        expected: `${expected} (see the limits replyBytes and replyBytesWithBinary)`,
        got: 'more',
      }),
  );
  return { tape: new Tape(), output };
}

/** Moves past a null and pushes its node. */
export function scanNull(tape: Tape): void {
  tape.literal();
  tape.pushKind(nothing);
}

/** Into an object ("{") or array ("["); false for a null, whose node is pushed. Throws MismatchError. */
export function enters(tape: Tape, open: 123 | 91): boolean {
  const byte = tape.peek();
  if (byte === open) {
    tape.enter();
    return true;
  }
  if (byte !== 110)
    throw new MismatchError({ expected: open === 123 ? 'an object' : 'an array', got: tape.kind() });
  scanNull(tape);
  return false;
}

/** An element around a value: its tags, and what stands for it when empty or null (W19, W20). */
export interface Element {
  readonly open: Piece;
  readonly close: Piece;
  readonly empty: Piece;
  readonly nil: Piece | undefined;
  /** Bytes of both tags. */
  readonly room: number;
}

/** The element of a name, with a prefix where it has one; only a nillable one is written for a null. */
export function elementOf(name: string, declarations: string, nillable: boolean): Element {
  return elementNamed(name, `<${name}${declarations}`, nillable ? `<${name}` : undefined);
}

/**
 * The same, by what stands before the end of its start tag.
 *
 * @param nilStart what stands there where it is nil; undefined where it can't be
 */
export function elementNamed(name: string, start: string, nilStart: string | undefined): Element {
  const open = piece(`${start}>`);
  const close = piece(`</${name}>`);
  return {
    open,
    close,
    empty: piece(`${start}/>`),
    nil: nilStart === undefined ? undefined : piece(`${nilStart} i:nil="true"/>`),
    room: open.length + close.length + 32,
  };
}

/** Writes the element around a node, or what stands for it. */
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
    output.reserve(element.room + (isLong ? 0 : end - start));
    output.piece(element.open);
    if (isLong) output.insert(tape.bytes, start, end);
    else output.copy(tape.bytes, tape.view, start, end);
    output.piece(element.close);
  } else if (kind === binary || kind === madeBinary) {
    output.reserve(element.room);
    output.piece(element.open);
    output.attach(lettersOf(tape, node));
    output.reserve(element.room);
    output.piece(element.close);
  } else if (kind === nothing) {
    if (element.nil === undefined) return;
    output.reserve(element.room);
    output.piece(element.nil);
  } else if (kind === empty) {
    output.reserve(element.room);
    output.piece(element.empty);
  } else {
    output.reserve(element.room);
    const before = output.length;
    output.piece(element.open);
    const start = output.length;
    if (kind === record || kind === list) writer.write(tape, node, output);
    else writeText(tape, node, output);
    output.reserve(element.room);
    if (output.length !== start) output.piece(element.close);
    else {
      output.length = before;
      output.piece(element.empty);
    }
  }
}

/** The letters of a node that is a part; those of a small reply are copied, whose memory the next one is read in. */
function lettersOf(tape: Tape, node: number): Buffer {
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

/** A long text is written in parts of so many bytes: what one takes at most while it is written is little. */
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

/** As long as two escapes that are one character. */
const longestEscape = 12;

/** Where the first part of a JSON string ends that begins at an offset: not within a character, nor within its escapes. */
function partEnd(bytes: Uint8Array, start: number): number {
  let at = start + partBytes;
  if (bytes.subarray(at - longestEscape, at).includes(backslash)) {
    let isHalf = false; // a high surrogate
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

/** Whether four hexadecimal digits are D800 to DBFF. */
function isHighSurrogate(bytes: Uint8Array, at: number): boolean {
  return /^d[89ab]/i.test(String.fromCharCode(bytes[at] as number, bytes[at + 1] as number));
}

/** What writing one value came to. */
export interface WrittenValue {
  /** The element's content; null for a JSON null. */
  readonly content: string | null;
  readonly dropped: number;
  readonly replaced: number;
  readonly failed: boolean;
}

/** One value's JSON as an element's content. Throws MismatchError, JsonError. */
export type WriteValue = (writer: ReplyWriter, json: string) => WrittenValue;

/** Writes single values, one at a time, with a tape and an output of its own. */
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
