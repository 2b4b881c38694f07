import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { giveBack } from '../upstream/collector.ts';
import { perIteration } from '../upstream/per-iteration.ts';

/** Base64 data that is decoded while it is sent. */
export class EncodedPiece {
  /** Valid base64 without white space. */
  readonly letters: Buffer;
  /** Size after decoding, in bytes. */
  readonly length: number;

  constructor(letters: Buffer) {
    this.letters = letters;
    const padding = letters.at(-1) !== 61 ? 0 : letters.at(-2) !== 61 ? 1 : 2;
    this.length = (letters.length / 4) * 3 - padding;
  }

  /** Returns decoded bytes. `from` must be a multiple of three. */
  subarray(from: number, to: number): Buffer {
    const letters = this.letters.toString('latin1', (from / 3) * 4, Math.ceil(to / 3) * 4);
    return Buffer.from(letters, 'base64');
  }
}

/** A complete HTTP reply. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer | readonly (Buffer | EncodedPiece)[];
  /** True if the body is a string with one byte per character. */
  readonly binary?: boolean;
  /** The intended status, if the HTTP status cannot carry it (W26). */
  readonly xStatus?: number | undefined;
  /** Status for metrics and log, if neither `status` nor `xStatus` is the intended one; never sent. */
  readonly counted?: number | undefined;
  readonly retryAfter?: string | undefined;
  readonly allow?: string | undefined;
  /** Value of WWW-Authenticate, if credentials were missing or wrong. */
  readonly challenge?: string | undefined;
  readonly nosniff?: boolean;
}

/** Content-Types of replies, except SOAP ones. */
export const contentTypes = {
  json: 'application/json; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  jsonp: 'text/javascript; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  wsdl: 'text/xml; charset=utf-8',
  html: 'text/html; charset=utf-8',
} as const;

/**
 * Returns a plain text reply, for errors found before the message is known to be SOAP. `nosniff` keeps browsers from
 * guessing another type (W44).
 */
export function textReply(status: number, message: string, requestId: string, allow?: string): Reply {
  return {
    status,
    contentType: contentTypes.text,
    body: `${message} (request ${requestId})\n`,
    retryAfter: status === 503 ? '1' : undefined,
    allow,
    nosniff: true,
  };
}

/**
 * Called for a reply that the connection did not accept at once, or after the connection was closed. `bytes` is the
 * body or its length.
 */
export type WhenWaiting = (response: ServerResponse, requestId: string, bytes: number | Buffer) => void;

/**
 * Sends a reply with its Content-Length (W8). Writes head and body of a small reply together, and a large reply as fast
 * as the client reads it. Returns the length of the body in bytes.
 */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  requestId: string,
  {
    close,
    more,
    whenWaiting,
  }: {
    readonly close: boolean;
    readonly more?: Readonly<Record<string, string>> | undefined;
    readonly whenWaiting?: WhenWaiting | undefined;
  },
): number {
  const { body } = reply;
  const encoding = reply.binary === true ? 'latin1' : 'utf8';
  const length = lengthOf(body, encoding);
  const headers: Record<string, string | number> = {
    'Content-Type': reply.contentType,
    'Content-Length': length,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
  };
  if (reply.status === 204) delete headers['Content-Length']; // RFC 9110, 8.6
  if (reply.xStatus !== undefined) headers['X-Status'] = reply.xStatus;
  if (reply.retryAfter !== undefined) headers['Retry-After'] = reply.retryAfter;
  if (reply.allow !== undefined) headers.Allow = reply.allow;
  if (reply.challenge !== undefined) headers['WWW-Authenticate'] = reply.challenge;
  if (reply.nosniff === true) headers['X-Content-Type-Options'] = 'nosniff';
  if (close) headers.Connection = 'close';
  if (more !== undefined) Object.assign(headers, more);
  response.writeHead(reply.status, headers);
  if (length > atOnce) {
    pour(response, typeof body === 'string' ? Buffer.from(body, encoding) : body);
    if (isWaiting(response)) whenWaiting?.(response, requestId, length);
  } else if (typeof body !== 'string' && !Buffer.isBuffer(body)) {
    for (const piece of body)
      response.write(Buffer.isBuffer(piece) ? piece : piece.subarray(0, piece.length));
    response.end();
    if (isWaiting(response)) whenWaiting?.(response, requestId, length);
  } else endSoon({ response, body, encoding, requestId, whenWaiting });
  return length;
}

function lengthOf(body: Reply['body'], encoding: BufferEncoding): number {
  if (typeof body === 'string') return Buffer.byteLength(body, encoding);
  if (Buffer.isBuffer(body)) return body.length;
  return body.reduce((length, piece) => length + piece.length, 0);
}

/** Maximum size of a body that is written at once, in bytes. */
const atOnce = 64 * 1024;
/**
 * Size of the chunks of a large reply, in bytes. The speed of the client is measured with this precision. A multiple of
 * three, because base64 is decoded chunk by chunk.
 */
const pouredBytes = 63 * 1024;

/** Writes a large reply as fast as the connection accepts it, then releases its memory. */
function pour(response: ServerResponse, body: Buffer | readonly (Buffer | EncodedPiece)[]): void {
  const pieces = Buffer.isBuffer(body) ? [body] : body;
  response.once('close', () => setImmediate(dropBody, body));
  let index = 0;
  let at = 0;
  const go = (): void => {
    for (let piece = pieces[index]; piece !== undefined; piece = pieces[index]) {
      const from = at;
      at += pouredBytes;
      const isWhole = Buffer.isBuffer(piece) && piece.length <= pouredBytes;
      const canContinue = response.write(isWhole ? piece : piece.subarray(from, Math.min(at, piece.length)));
      if (at >= piece.length) {
        index++;
        at = 0;
      }
      if (canContinue) continue;
      response.once('drain', () => pourPerIteration(go));
      return;
    }
    response.end();
  };
  go();
}

/** Releases the memory of a body when writing it has ended. */
export function dropBody(body: Reply['body']): void {
  if (typeof body === 'string') return;
  for (const piece of Buffer.isBuffer(body) ? [body] : body)
    giveBack(Buffer.isBuffer(piece) ? piece : piece.letters);
}

/**
 * Limits how many large replies continue per event-loop iteration, because each write to the operating system takes 0.1
 * ms.
 */
const pourPerIteration = perIteration(2);

/** A reply with a complete head and an unwritten body. */
interface Ending {
  readonly response: ServerResponse;
  readonly body: string | Buffer;
  readonly encoding: BufferEncoding;
  readonly requestId: string;
  readonly whenWaiting: WhenWaiting | undefined;
}

let endings: Ending[] = [];

/**
 * Ends a reply together with the other replies of the same event-loop iteration. Waking the client side once for all
 * costs less than once for each (decision 6).
 */
function endSoon(ending: Ending): void {
  if (endings.length === 0) setImmediate(endAll);
  endings.push(ending);
}

function endAll(): void {
  const due = endings;
  endings = [];
  for (const { response, body, encoding, requestId, whenWaiting } of due) {
    response.end(body, encoding);
    if (isWaiting(response)) whenWaiting?.(response, requestId, body.length);
  }
}

/**
 * Returns true if a written reply is not completely sent: the operating system has not accepted all bytes, earlier
 * replies on the connection are pending, or the connection is closed or closing.
 */
export function isWaiting({ destroyed, socket }: ServerResponse): boolean {
  return destroyed || socket === null || socket.writableLength > 0 || socket.writableEnded;
}
