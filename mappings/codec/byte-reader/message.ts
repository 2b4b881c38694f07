import type { Limits } from '../../contract/limits.ts';
import type { Input } from '../input.ts';
import type { Reading } from '../problem.ts';
import type { Plan } from './plan.ts';
import { ByteReader, type Place } from './reader.ts';
import type { Bindings, Spellings, Table } from './tables.ts';

/** Whole messages of one operation, read from bytes to bytes. */

/** The beginning of a document, up to the start tag of the payload's element. */
export interface Head extends Place {
  /** The names of the open elements as the document has them, the outermost first. */
  readonly names: readonly string[];
  readonly bindings: Bindings;
  readonly memo: HeadMemo;
}

/** Values of a head that the first message computes. */
export interface HeadMemo {
  /** The table of the payload in this spelling. */
  table: Table | undefined;
  /** The end tags of the open elements. */
  ends: Buffer | undefined;
}

/**
 * Reads the payload of a document, and the document to its end, into a reading that has nothing yet. Returns undefined to give
 * up: the reading is as it was then.
 *
 * @param document that `hasPlainCharacters` accepts
 */
export type ReadBytes = (document: Buffer, head: Head, reading: Reading) => Input | undefined;

/** The parts of a byte reader. */
export interface ByteReaderParts {
  /** Name of the operation. */
  readonly name: string;
  /** The cache of the contract. */
  readonly spellings: Spellings;
  readonly limits: Limits;
  /** Makes the plan of the operation's input; called once, when the first message is read. */
  readonly planOf: () => Plan | undefined;
  /** Completes the reading of a message that was read. */
  readonly finish: (reading: Reading, isReordered: boolean) => void;
}

/** Compiles the byte reader of an operation. */
export function compileByteReader({ name, spellings, limits, planOf, finish }: ByteReaderParts): ReadBytes {
  let plan: Plan | undefined;
  let isMade = false;

  const tableOf = (bindings: Bindings): Table | undefined => {
    if (!isMade) plan = planOf();
    isMade = true;
    if (plan === undefined) return undefined;
    return spellings.of(name, bindings, limits).tableOf(plan);
  };

  return (document, head, reading) => {
    const { memo, bindings } = head;
    if (memo.table === undefined || memo.table.spelling.family.isDropped) memo.table = tableOf(bindings);
    if (memo.table === undefined) return undefined;
    return readMessage(document, head, memo.table, limits, reading, finish);
  };
}

const trusts = new WeakMap<ReadBytes, Trust>();

/** Reads a message unless most recent messages of the operation were given up. */
export const tryBytes: (readBytes: ReadBytes, ...given: Parameters<ReadBytes>) => Input | undefined = (
  readBytes,
  document,
  head,
  reading,
) => {
  let trust = trusts.get(readBytes);
  if (trust === undefined) {
    trust = new Trust();
    trusts.set(readBytes, trust);
  }
  if (!trust.isTried) return undefined;
  const input = readBytes(document, head, reading);
  trust.note(input !== undefined);
  return input;
};

/** Score at which an operation is not tried: each message that is given up adds 1, each other one subtracts 1. */
const mostGivenUp = 32;
/** Number of messages that are not tried after that. */
const pause = 512;
/** Score below `mostGivenUp` after the pause. */
const again = 8;

/** Decides if the messages of an operation are tried. */
class Trust {
  #givenUp = 0;
  #paused = 0;

  get isTried(): boolean {
    if (this.#paused === 0) return true;
    this.#paused--;
    return false;
  }

  note(isRead: boolean): void {
    this.#givenUp = isRead ? Math.max(0, this.#givenUp - 1) : this.#givenUp + 1;
    if (this.#givenUp < mostGivenUp) return;
    this.#givenUp = mostGivenUp - again;
    this.#paused = pause;
  }
}

function readMessage(
  document: Buffer,
  head: Head,
  table: Table,
  limits: Limits,
  reading: Reading,
  finish: ByteReaderParts['finish'],
): Input | undefined {
  const bytes = withoutBlanks(document);
  if (bytes.length <= head.from || bytes[bytes.length - 1] !== greaterThan) return undefined;
  try {
    reader.start(bytes, head, limits);
    const at = reader.read(table, head.from);
    if (at < 0 || !reader.hasCapacity || !isClosed(bytes, at, head)) return undefined;
    for (let slot = 0; slot < reader.slots.length; slot++) {
      const token = reader.slots[slot];
      if (token !== undefined) reading.slots[slot] = token;
    }
    reading.credentials = reader.credentials;
    finish(reading, reader.isReordered);
    return { text: reader.take(), reading, closes: undefined };
  } finally {
    reader.release();
  }
}

/** The reader of all messages of a thread, one at a time. */
const reader = new ByteReader();

const greaterThan = 0x3e;
const space = 0x20;

/** A document without the white space at its end. */
function withoutBlanks(document: Buffer): Buffer {
  let end = document.length;
  while (end > 0 && (document[end - 1] as number) <= space) end--;
  if (end === document.length) return document;
  return isBlank(document, end) ? document.subarray(0, end) : document;
}

/** Returns true if a document has white space only behind an offset. */
function isBlank(document: Buffer, from: number): boolean {
  for (let at = from; at < document.length; at++) {
    const byte = document[at];
    if (byte !== 0x20 && byte !== 0xa && byte !== 0xd && byte !== 0x9) return false;
  }
  return true;
}

/** Returns true if only the end tags of all open elements follow. */
function isClosed(bytes: Buffer, from: number, { names, memo }: Head): boolean {
  memo.ends ??= Buffer.from(names.reduce((inner, name) => `</${name}>${inner}`, ''));
  const { ends } = memo;
  const isUsual = bytes.length - from === ends.length;
  if (isUsual && bytes.compare(ends, 0, ends.length, from) === 0) return true;
  let at = from;
  for (let index = names.length - 1; index >= 0; index--) {
    at = reader.skipBlanks(at);
    const tag = Buffer.from(`</${names[index]}`);
    if (bytes.compare(tag, 0, tag.length, at, Math.min(bytes.length, at + tag.length)) !== 0) return false;
    at = reader.skipBlanks(at + tag.length);
    if (bytes[at++] !== greaterThan) return false;
  }
  return at === bytes.length;
}
