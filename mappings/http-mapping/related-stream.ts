import type { Limits } from '../contract/limits.ts';
import {
  checkStart,
  delimiterOf,
  headerOf,
  maxOutsideBytes,
  maxPartHeaderBytes,
  passClosing,
  passLineEnd,
  pastFirst,
  RelatedError,
  type RelatedMessage,
  type RelatedType,
  readHeader,
  rootTypeOf,
} from './related.ts';

// Reads a `multipart/related` message while it arrives (W64): its envelope, then one file. `related.ts` reads messages
// that are complete.

/** The beginning of a message: its envelope, and the header of the file. */
export interface RelatedBeginning extends Omit<RelatedMessage, 'parts'> {
  /** The file's Content-ID without `<>`. */
  readonly fileId: string | undefined;
  /** Position of the file's first byte in the received bytes. */
  readonly fileStart: number;
}

/**
 * Maximum number of bytes of a request that the event loop reads. A worker thread reads a longer request. A message
 * with a longer envelope is not streamed.
 */
export const maxLoopRequestBytes = 128 * 1024;

const crlf = Buffer.from('\r\n');
const emptyLine = Buffer.from('\r\n\r\n');
const closing = '--';

/**
 * Reads the beginning of a message from the received bytes. Returns `more` if it is incomplete. Returns `held` if the
 * message is not an envelope and a file of plain bytes: `splitRelated` must read it when it is complete, and reports
 * its errors. Throws RelatedError.
 */
export function readBeginning(
  received: Buffer,
  type: RelatedType,
  limits: Limits,
): RelatedBeginning | 'more' | 'held' {
  const { mimeOutsideBytes = maxOutsideBytes, mimeHeaderBytes = maxPartHeaderBytes } = limits;
  const { readAsideBytes = maxLoopRequestBytes } = limits;
  const delimiter = delimiterOf(type);
  const first = pastFirst(received, delimiter, mimeOutsideBytes);
  if (first < 0) return received.length < mimeOutsideBytes + delimiter.length ? 'more' : 'held';
  const rootAt = lineAfter(received, first, limits);
  if (typeof rootAt === 'string') return rootAt;
  const rootEnd = received.indexOf(delimiter, rootAt - crlf.length);
  if (rootEnd < 0) return received.length - rootAt > mimeHeaderBytes + readAsideBytes ? 'held' : 'more';
  if (rootEnd < rootAt || rootEnd - rootAt > mimeHeaderBytes + readAsideBytes) return 'held';
  const fileAt = lineAfter(received, rootEnd + delimiter.length, limits);
  if (typeof fileAt === 'string') return fileAt;
  const headerEnd = received.indexOf(emptyLine, fileAt - crlf.length);
  if (headerEnd < 0) return received.length - fileAt > mimeHeaderBytes ? 'held' : 'more';
  const next = received.indexOf(delimiter, fileAt - crlf.length);
  if (next >= 0 && next < headerEnd) return 'held';

  const rootPlace = readHeader(received, rootAt, rootEnd, limits);
  const filePlace = readHeader(received, fileAt, headerEnd + emptyLine.length, limits);
  const root = headerOf(rootPlace.header, limits);
  const file = headerOf(filePlace.header, limits);
  if (root.isBase64 || file.isBase64 || (root.id !== undefined && root.id === file.id)) return 'held';
  checkStart(type.start, root.id, new Set([root.id, file.id].filter((id) => id !== undefined)));
  const { form, charset, actions } = rootTypeOf(root.contentType, type);
  if (form === undefined) return 'held';
  return {
    form,
    root: received.subarray(rootPlace.start, rootEnd),
    charset,
    actions,
    fileId: file.id,
    fileStart: filePlace.start,
  };
}

/** The envelope of a message that may be incomplete. */
export interface RelatedRoot extends Omit<RelatedMessage, 'parts'> {
  /** True if `root` is the complete part. */
  readonly isWhole: boolean;
}

/**
 * Returns the first part of a message from the received bytes, as far as it has arrived. Throws RelatedError if its
 * header is incomplete, and for a part that is not an envelope of plain bytes.
 */
export function rootIn(received: Buffer, type: RelatedType, limits: Limits): RelatedRoot {
  const { mimeOutsideBytes = maxOutsideBytes } = limits;
  const delimiter = delimiterOf(type);
  const first = pastFirst(received, delimiter, mimeOutsideBytes);
  if (first < 0) throw new RelatedError({ expected: 'the boundary before the first part', got: 'none' });
  const from = passLineEnd(received, first);
  const next = received.indexOf(delimiter, from - crlf.length);
  const end = next < from ? received.length : next;
  const { header, start } = readHeader(received, from, end, limits);
  const { id, contentType, isBase64 } = headerOf(header, limits);
  checkStart(type.start, id, new Set(id === undefined ? [] : [id]));
  const { form, charset, actions } = rootTypeOf(contentType, type);
  if (form === undefined || isBase64)
    throw new RelatedError({
      expected: 'an envelope of plain bytes as the first part',
      got: 'a part of another type',
    });
  return { form, root: received.subarray(start, end), charset, actions, isWhole: next >= from };
}

/** Returns the start of the line after a delimiter; `held` for the closing delimiter. Throws RelatedError. */
function lineAfter(
  received: Buffer,
  at: number,
  { mimeHeaderBytes = maxPartHeaderBytes }: Limits,
): number | 'more' | 'held' {
  const end = received.indexOf(crlf, at);
  if (received.length < at + closing.length) return 'more';
  if (received.toString('latin1', at, at + closing.length) === closing) return 'held';
  if (end < 0) return received.length - at > mimeHeaderBytes ? 'held' : 'more';
  return passLineEnd(received, at);
}

/**
 * Yields the bytes of the file, up to the boundary after it, which must be the closing one. Ends when the message has
 * ended. Throws RelatedError if other content follows or the message is incomplete, so that the upstream's body never
 * ends normally in that case.
 *
 * @param received bytes of the file that were already received
 * @param rest the rest of the message
 */
export async function* fileOf(
  received: Buffer,
  rest: AsyncIterable<Buffer>,
  type: RelatedType,
  { mimeOutsideBytes = maxOutsideBytes }: Limits,
): AsyncGenerator<Buffer, void, undefined> {
  const delimiter = delimiterOf(type);
  // the delimiter may begin with the CRLF of the header's empty line
  let buffer: Buffer = Buffer.concat([crlf, received]);
  let skipped = crlf.length;
  let epilogue: Buffer | undefined;
  for await (const piece of withFirst(noBytes, rest)) {
    if (epilogue !== undefined) {
      epilogue = Buffer.concat([epilogue, piece]);
    } else {
      if (piece.length < shortBytes || beginsIn(buffer, piece, delimiter)) {
        buffer = Buffer.concat([buffer, piece]);
      } else {
        if (buffer.length > skipped) yield buffer.subarray(skipped);
        buffer = piece;
        skipped = 0;
      }
      const found = buffer.indexOf(delimiter);
      const end = found < 0 ? buffer.length - delimiter.length + 1 : found;
      if (end > skipped) yield buffer.subarray(skipped, end);
      if (found >= 0) epilogue = Buffer.from(buffer.subarray(found + delimiter.length));
      else if (end > skipped) {
        buffer = buffer.subarray(end);
        skipped = 0;
      }
    }
    if (epilogue !== undefined) checkEnd(epilogue, mimeOutsideBytes);
  }
  if (epilogue === undefined || epilogue.length < closing.length)
    throw new RelatedError({ expected: 'the closing boundary at the end of the message', got: 'none' });
}

/** Shorter chunks are joined to the previous one; longer ones are searched and yielded without a copy. */
const shortBytes = 1024;

/** Returns true if a delimiter begins in one buffer and ends in the next. */
function beginsIn(buffer: Buffer, next: Buffer, delimiter: Buffer): boolean {
  const last = buffer.subarray(Math.max(0, buffer.length - delimiter.length + 1));
  return Buffer.concat([last, next.subarray(0, delimiter.length - 1)]).includes(delimiter);
}

const noBytes = Buffer.alloc(0);

async function* withFirst(
  first: Buffer,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  yield first;
  yield* rest;
}

function checkEnd(epilogue: Buffer, mimeOutsideBytes: number): void {
  const start = epilogue.toString('latin1', 0, closing.length);
  if (!closing.startsWith(start))
    throw new RelatedError({
      expected: 'the closing boundary behind the streamed file',
      got: 'another part or other bytes',
    });
  passClosing(epilogue, 0);
  if (epilogue.length - closing.length > mimeOutsideBytes)
    throw new RelatedError({
      expected: `at most ${mimeOutsideBytes} bytes behind the closing boundary`,
      got: 'more bytes',
    });
}
