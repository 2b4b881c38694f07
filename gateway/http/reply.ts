import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { giveBack } from '../upstream/collector.ts';
import { perTurn } from '../upstream/per-turn.ts';

/** Bytes that are decoded from base64 as they go out. */
export class EncodedPiece {
  /** Letters of base64 without blanks, as it was checked. */
  readonly letters: Buffer;
  /** Bytes, decoded. */
  readonly length: number;

  constructor(letters: Buffer) {
    this.letters = letters;
    const padding = letters.at(-1) !== 61 ? 0 : letters.at(-2) !== 61 ? 1 : 2;
    this.length = (letters.length / 4) * 3 - padding;
  }

  /** The bytes from an offset that is a multiple of three. */
  subarray(from: number, to: number): Buffer {
    const letters = this.letters.toString('latin1', (from / 3) * 4, Math.ceil(to / 3) * 4);
    return Buffer.from(letters, 'base64');
  }
}

/** One HTTP reply, whole. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer | readonly (Buffer | EncodedPiece)[];
  /** True when the body is a text of one character per byte. */
  readonly binary?: boolean;
  /** The status meant, where the HTTP status can't be it (W26). */
  readonly xStatus?: number | undefined;
  readonly retryAfter?: string | undefined;
  readonly allow?: string | undefined;
  /** The ways to give credentials, where they were missing or wrong. */
  readonly challenge?: string | undefined;
  readonly nosniff?: boolean;
}

/** The Content-Types of replies, but for those of SOAP. */
export const contentTypes = {
  json: 'application/json; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  jsonp: 'text/javascript; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  wsdl: 'text/xml; charset=utf-8',
  html: 'text/html; charset=utf-8',
} as const;

/** A refusal before anything is known to be SOAP: plain text, which no browser takes for another type (W44). */
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

/** Told of a reply that its connection didn't take at once, or that has none any more; of its bytes, or how many they are. */
export type WhenWaiting = (response: ServerResponse, requestId: string, bytes: number | Buffer) => void;

/**
 * Writes a reply, its length known (W8): a small one in one go, head and body together, a large one as its caller takes
 * it. Gives the body's length in bytes.
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

/** In bytes: more than that is given to a connection piece by piece, as it takes them. */
const atOnce = 64 * 1024;
/**
 * How much of a large reply a connection is given at a time: how fast a caller takes it is known so exactly. A multiple of
 * three, as base64 is decoded in pieces of it.
 */
const pouredBytes = 63 * 1024;

/** Writes a large reply as its connection takes it; then its memory is given back. */
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
      const goesOn = response.write(isWhole ? piece : piece.subarray(from, Math.min(at, piece.length)));
      if (at >= piece.length) {
        index++;
        at = 0;
      }
      if (goesOn) continue;
      response.once('drain', () => pourInTurn(go));
      return;
    }
    response.end();
  };
  go();
}

/** Gives back the memory of a body that nobody writes any more. */
export function dropBody(body: Reply['body']): void {
  if (typeof body === 'string') return;
  for (const piece of Buffer.isBuffer(body) ? [body] : body)
    giveBack(Buffer.isBuffer(piece) ? piece : piece.letters);
}

/** Has a large reply go on: to give its next bytes to the system takes 0.1 ms. */
const pourInTurn = perTurn(2);

/** A reply whose head is set and whose body is about to go out. */
interface Ending {
  readonly response: ServerResponse;
  readonly body: string | Buffer;
  readonly encoding: BufferEncoding;
  readonly requestId: string;
  readonly whenWaiting: WhenWaiting | undefined;
}

let endings: Ending[] = [];

/**
 * Ends a reply with those of the other calls that the same turn of the event loop finished: the callers' side is woken
 * once for all of them, which costs less than one by one (decision 6).
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
 * Whether a reply that was written just now isn't sent: the system has no room for all of it, others on its connection go
 * first, or the connection is gone, or about to be as its caller has closed it.
 */
export function isWaiting({ destroyed, socket }: ServerResponse): boolean {
  return destroyed || socket === null || socket.writableLength > 0 || socket.writableEnded;
}
