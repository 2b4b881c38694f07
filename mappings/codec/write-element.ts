import { nodeKinds, type Tape } from '../json/tape.ts';
import { longRange, type Output, type Piece, piece } from '../xml/output.ts';
import type { ReplyWriter } from './context.ts';
import { MismatchError } from './problem.ts';
import { escapeXml } from './scalars/text.ts';
import { writeDate } from './scalars/wcf-dates.ts';

const { nothing, empty, plain, made, record, list, date, guid, binary, madeBinary } = nodeKinds;

/** The `write` of a writer whose nodes write themselves. */
export const noContent = (): void => {};

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
    throw new MismatchError(`expected ${open === 123 ? 'an object' : 'an array'}, got ${tape.kind()}`);
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
  const open = piece(`<${name}${declarations}>`);
  const close = piece(`</${name}>`);
  return {
    open,
    close,
    empty: piece(`<${name}${declarations}/>`),
    nil: nillable ? piece(`<${name} i:nil="true"/>`) : undefined,
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
