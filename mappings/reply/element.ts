import { escapeXml } from '../codec/text.ts';
import { longRange, type Output, type Piece, piece } from '../output.ts';
import { writeDate } from './dates.ts';
import { nodeKinds, type Tape } from './tape.ts';

const { nothing, empty, plain, made, record, list, date, guid } = nodeKinds;

/**
 * JSON → XML for values of one type, compiled at start. Two steps: `scan` checks a value's JSON and lays its
 * parts out on the tape, `write` takes them from there in the order of the wire (W18).
 */
export interface ReplyWriter {
  /** Moves past the value that starts at the tape's position and pushes one node. Throws MismatchError, JsonError. */
  readonly scan: (tape: Tape) => void;
  /** Writes the content of a record or list node; nodes of other kinds write themselves. */
  readonly write: (tape: Tape, node: number, output: Output) => void;
  /** Namespace declarations on every element of this type (W20). */
  readonly declarations: string;
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
  const end = words[node + 2] as number;
  if (!output.content(tape.bytes, first, end, tape)) output.text(escapeXml(tape.decode(first, end), tape));
}
