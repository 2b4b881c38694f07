import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createGunzip, createInflate, type Gunzip, type Inflate } from 'node:zlib';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type Admission, smallBytes } from '../admission/admission.ts';
import type { Permit } from '../admission/permit.ts';
import type { Transfer } from '../admission/transfers.ts';
import { CallError } from '../call/error.ts';
import { Collector, maxIterationBytes, readOnLater } from '../upstream/collector.ts';
import { announcedBytes } from '../upstream/content-length.ts';

const mebibyte = 1024 * 1024;
const noBytes = Buffer.alloc(0);
/** Size of the buffers that a decompressor fills, in bytes. */
const unpackedBytes = 64 * 1024;
const codings = {
  gzip: () => createGunzip({ chunkSize: unpackedBytes }),
  'x-gzip': () => createGunzip({ chunkSize: unpackedBytes }),
  deflate: () => createInflate({ chunkSize: unpackedBytes }),
} as const;

/** Returns true if the request has a body. */
export function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined ||
    announcedBytes(request.headers['content-length']) > 0
  );
}

/** Returns true for a body of at most 64 KiB. Reading and discarding it costs less than a new connection. */
export function hasSmallBody(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= 64 * 1024;
}

/**
 * Returns true if the client waits for `100 Continue` before it sends its body. HTTP/1.0 has no Expect (RFC 9110
 * §10.1.1).
 */
export function isAwaited(request: IncomingMessage): boolean {
  return request.headers.expect !== undefined && request.httpVersion !== '1.0';
}

/** Returns true if Expect has another value than `100-continue`. The pattern is Node's own. */
export function hasOtherExpectation(request: IncomingMessage): boolean {
  return isAwaited(request) && !/(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? '');
}

/** Number of chunks that the parser processes in about 0.1 ms. */
const manyPieces = 64;

/** Calls `note` after every 64 chunks of a body. */
export function countPieces(request: IncomingMessage, note: () => void): void {
  let pieces = 0;
  request.push = (piece: Buffer | null): boolean => {
    if (++pieces % manyPieces === 0) note();
    return Readable.prototype.push.call(request, piece);
  };
}

/**
 * Joins the chunks of a body while its request waits, since a single chunk takes a kilobyte of memory however small it
 * is.
 * Returns a function that ends this and passes the joined bytes to the request.
 */
export function gatherBody(request: IncomingMessage): () => void {
  const collector = new Collector(false);
  let isEnded = false;
  request.push = (piece: Buffer | null): boolean => {
    if (piece === null) isEnded = true;
    else collector.add(piece);
    return false; // stops the parser from pushing more for now
  };
  return () => {
    request.push = Readable.prototype.push;
    if (collector.size > 0) request.push(collector.take().body);
    if (isEnded) request.push(null);
  };
}

/** A request with a body to read. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Accounts for the bytes of the body. */
  readonly permit: Permit;
  /** True once all of the body was taken. Node's parser may not have reported the end yet. */
  bodyTaken: boolean;
  readonly stats: {
    /** Size of the body in bytes, decompressed. A streamed body is counted as it is read. */
    bytesIn: number;
  };
}

/** Limits for reading a body. */
export interface BodyRules {
  /** Maximum size of a body in bytes, decompressed. */
  readonly bodyLimit: number;
  readonly compiled: { readonly limits: Limits };
  readonly admission: Admission;
}

/**
 * Checks whether the body of a call may be read. Throws CallError: RequestTooLarge for a Content-Length above the
 * limit, UnsupportedMediaType for an unsupported Content-Encoding, Overloaded.
 */
export function admitBody(
  headers: IncomingHttpHeaders,
  { admission, bodyLimit: most }: BodyRules,
  bodyLimit: number = most,
): void {
  unpackerOf(headers['content-encoding']);
  const announced = announcedBytes(headers['content-length']);
  if (announced > bodyLimit) throw tooLarge(bodyLimit);
  admission.look(announced);
}

/**
 * Reads and decompresses the body of a call, then takes a permit for the call. Returns the body itself if it is
 * complete and uncompressed and a permit is free, otherwise a promise. Call it one event-loop iteration after the
 * request head, when Node has read the bytes that arrived with the head. Throws CallError: Overloaded, CallerGone,
 * RequestTimeout, RequestTooLarge, MalformedRequest.
 */
export function readBody(arrival: Arrival, rules: BodyRules): Buffer | Promise<Buffer> {
  const { request, response } = arrival;
  const { headers } = request;
  if (response.destroyed) throw new CallError('CallerGone');
  if (isAwaited(request)) response.writeContinue();
  const announced = announcedBytes(headers['content-length']);
  const isThere = announced > 0 && request.readableLength === announced;
  const unpack = unpackerOf(headers['content-encoding']);
  if (!isThere || unpack !== undefined)
    return readSlowly(arrival, isThere ? announced : undefined, unpack, rules);
  const body = takeBody(arrival, announced);
  const admitted = arrival.permit.enter();
  return admitted === undefined ? body : admitted.then(() => body);
}

async function readSlowly(
  arrival: Arrival,
  bytesThere: number | undefined,
  unpack: Unpack | undefined,
  rules: BodyRules,
): Promise<Buffer> {
  const { permit, stats } = arrival;
  let body = bytesThere === undefined ? await collect(arrival, rules) : takeBody(arrival, bytesThere);
  if (unpack !== undefined) {
    body = await decompress(body, unpack, permit, rules);
    stats.bytesIn = body.length;
  }
  await permit.enter();
  return body;
}

/**
 * Decompresses a body that was received as sent, then takes a permit for the call. Throws CallError: Overloaded,
 * RequestTooLarge, MalformedRequest, UnsupportedMediaType.
 */
export async function unpackBody(arrival: Arrival, sent: Buffer, rules: BodyRules): Promise<Buffer> {
  const body = await unpackSent(arrival, sent, rules);
  await arrival.permit.enter();
  return body;
}

/** Decompresses a body like `unpackBody`, for a call that has its permit. */
export async function unpackSent(
  { permit, stats, request }: Pick<Arrival, 'permit' | 'stats' | 'request'>,
  sent: Buffer,
  rules: BodyRules,
): Promise<Buffer> {
  const unpack = unpackerOf(request.headers['content-encoding']);
  const body = unpack === undefined ? sent : await decompress(sent, unpack, permit, rules);
  if (body.length > rules.bodyLimit) throw tooLarge(rules.bodyLimit);
  stats.bytesIn = body.length;
  return body;
}

/** Takes a body that has arrived completely. `bytes` is its size. */
function takeBody(arrival: Arrival, bytes: number): Buffer {
  // without a size, Node may return only the first chunk
  const body: Buffer = arrival.request.read(bytes) ?? noBytes;
  arrival.bodyTaken = true;
  arrival.permit.require(body.length);
  arrival.stats.bytesIn = body.length;
  return body;
}

/**
 * Reads a body that does not belong to a call, with the time and speed limits of all bodies. `rules.bodyLimit` is its
 * own size limit. Throws CallError: Overloaded, RequestTimeout, RequestTooLarge, MalformedRequest, UnsupportedMediaType
 * for a compressed body.
 */
export async function readWhole(arrival: Arrival, rules: BodyRules): Promise<Buffer> {
  const { request, response } = arrival;
  const { headers } = request;
  if (unpackerOf(headers['content-encoding']) !== undefined)
    throw new CallError('UnsupportedMediaType', { expected: 'no Content-Encoding' });
  if (announcedBytes(headers['content-length']) > rules.bodyLimit) throw tooLarge(rules.bodyLimit);
  if (!hasBody(request)) return noBytes;
  if (isAwaited(request)) response.writeContinue();
  return collect(arrival, rules);
}

type Unpack = () => Gunzip | Inflate;

/**
 * Returns the decompressor for a Content-Encoding; undefined for an uncompressed body. Throws CallError
 * UnsupportedMediaType.
 */
function unpackerOf(coding: string | undefined): Unpack | undefined {
  if (coding === undefined) return undefined;
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return undefined;
  if (name === 'gzip' || name === 'x-gzip' || name === 'deflate') return codings[name];
  throw new CallError('UnsupportedMediaType', {
    expected: 'Content-Encoding to be gzip or deflate, once, or none',
  });
}

/** Returns the error for a body that is larger than the limit, in bytes. */
export function tooLarge(limit: number): CallError {
  return new CallError('RequestTooLarge', {
    expected: `a body of at most ${limit} bytes`,
    got: 'a larger body',
  });
}

/** Returns the error for a body that ends before its announced length. */
function brokenOff(): CallError {
  return new CallError('MalformedRequest', { detail: 'the request ended before the end of its body' });
}

/** Collects a body chunk by chunk as it arrives. */
function collect(arrival: Arrival, rules: BodyRules): Promise<Buffer> {
  const { request } = arrival;
  const { admission, compiled } = rules;
  return new Promise((resolve, reject) => {
    const collector = new Collector(false);
    collector.announced = announcedBytes(request.headers['content-length']);
    let pieces = 0;
    let iterationBytes = 0;
    const speed = watchSpeed(collector, compiled.limits, () => finish(new CallError('RequestTimeout')));
    const transfer: Transfer = {
      index: -1,
      heldBytes: 0,
      began: speed.began,
      moved: () => collector.size,
      cut: () => finish(admission.shed()),
    };
    const onData = (chunk: Buffer): void => {
      speed.noteChunk();
      const { length } = chunk;
      // the embedding program may read the chunk too
      if (request.listenerCount('data') === 1) collector.addOwn(chunk);
      else collector.add(chunk);
      const refusal = refusalOf(collector.size, ++pieces, rules);
      if (refusal !== undefined) finish(refusal);
      else if (!admission.addReceived(transfer, length)) finish(admission.shed());
      iterationBytes += length;
      if (iterationBytes < maxIterationBytes || isOver) return;
      iterationBytes = 0;
      request.pause();
      readOnLater(readOn);
    };
    const readOn = (): void => {
      if (!isOver) request.resume();
    };
    const onEnd = (): void => finish(undefined);
    const onGone = (): void => finish(brokenOff());
    let isOver = false;
    const finish = (error: CallError | undefined): void => {
      if (isOver) return;
      isOver = true;
      speed.end();
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      if (error !== undefined) {
        admission.dropArrival(transfer);
        collector.drop();
        dropRest(arrival, error);
        reject(error);
        return;
      }
      arrival.permit.receive(transfer);
      arrival.stats.bytesIn = collector.size;
      resolve(collector.takeInSteps().then(({ body }) => body));
    };
    admission.arrive(transfer);
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/**
 * Discards the rest of a rejected body. Node still parses, chunk by chunk, the data that it has read. The rest of a
 * body that is too large is not read until the reply is sent, because it is not parsed after that.
 */
export function dropRest({ request, response }: Arrival, { code }: CallError): void {
  request.push = (piece: Buffer | null): boolean =>
    piece !== null || Readable.prototype.push.call(request, null);
  request.on('error', () => {}); // the connection is being closed, so its errors need no report
  if (code !== 'RequestTooLarge') {
    request.resume();
    return;
  }
  const { socket } = request;
  const stay = (): unknown => socket.pause();
  stay();
  socket.on('resume', stay);
  response.once('finish', () => {
    socket.off('resume', stay);
    request.resume();
  });
}

/** Maximum number of chunks of a request body. A body of larger chunks may have more. */
export const maxBodyChunks = 4 * 1024;

/** Minimum average size of the chunks, in bytes, if a body has more than `maxBodyChunks`. */
export const minBodyChunkBytes = 256;

/** Time between two chunks of a request body, in ms. */
export const maxBodyIdleMs = 15_000;

/** Time in ms after which a request body must have the average speed of `minBodyBytesPerSecond`. */
export const maxSlowBodyMs = 30_000;

/** Minimum average speed of a request body after `maxSlowBodyMs`, in bytes per second. */
export const minBodyBytesPerSecond = 1024;

/** Time until a request body is complete, in ms. The rest of `totalMs` is for the upstream. */
export function maxBodyMs({ totalMs, bodyMs = Math.ceil(totalMs * 0.9) }: Limits): number {
  return bodyMs;
}

/** Returns the error for a body of this size and number of chunks; undefined if both are allowed. */
function refusalOf(size: number, pieces: number, { bodyLimit, compiled }: BodyRules): CallError | undefined {
  if (size > bodyLimit) return tooLarge(bodyLimit);
  const { bodyPieces = maxBodyChunks, bodyPieceBytes = minBodyChunkBytes } = compiled.limits;
  if (pieces <= bodyPieces || size >= pieces * bodyPieceBytes) return undefined;
  const expected = `a body of at most ${bodyPieces} chunks, or of chunks of ${bodyPieceBytes} bytes`;
  return new CallError('RequestTooLarge', { expected, got: 'smaller chunks' });
}

/** Checks the speed of an arriving body. */
interface SpeedWatch {
  /** Time when the watch began, in ms of `performance.now()`. */
  readonly began: number;
  readonly noteChunk: () => void;
  readonly end: () => void;
}

/** Calls `onSlow` once if a body arrives too slowly. */
function watchSpeed(body: { readonly size: number }, limits: Limits, onSlow: () => void): SpeedWatch {
  const began = performance.now();
  let receivedAt = began;
  const look = (): void => {
    const now = performance.now();
    const wait = nextLook(now - began, now - receivedAt, body.size, limits);
    if (wait === undefined) onSlow();
    else timer = setTimeout(look, wait);
  };
  let timer = setTimeout(look, nextLook(0, 0, 0, limits));
  return {
    began,
    noteChunk: () => {
      receivedAt = performance.now();
    },
    end: () => clearTimeout(timer),
  };
}

/** Returns the time until the next check of an arriving body, in ms; undefined if the body is too slow. */
function nextLook(age: number, idle: number, size: number, limits: Limits): number | undefined {
  const { bodyIdleMs = maxBodyIdleMs, bodySlowMs = maxSlowBodyMs } = limits;
  const { bodyBytesPerSecond = minBodyBytesPerSecond } = limits;
  const bodyMs = maxBodyMs(limits);
  if (age >= bodyMs || idle >= bodyIdleMs) return undefined;
  if (age >= bodySlowMs && size * 1000 < bodyBytesPerSecond * age) return undefined;
  const slow = age < bodySlowMs ? bodySlowMs - age : 1_000;
  return Math.max(1, Math.min(bodyMs - age, bodyIdleMs - idle, slow));
}

/**
 * Yields the chunks of a body as they arrive. The next chunk is read after the previous one was processed, so a slow
 * consumer slows the client down. All limits of bodies apply except `bodyMs`. Throws CallError: RequestTimeout for a
 * slow client, RequestTooLarge, MalformedRequest for an incomplete body.
 *
 * @param limitOf returns the maximum size of the whole body in bytes; called for each chunk
 */
export async function* piecesOf(
  arrival: Arrival,
  rules: BodyRules,
  limitOf: () => number,
): AsyncGenerator<Buffer, void, undefined> {
  const { request } = arrival;
  const { limits } = rules.compiled;
  const { bodyIdleMs = maxBodyIdleMs, bodySlowMs = maxSlowBodyMs } = limits;
  const { bodyBytesPerSecond = minBodyBytesPerSecond } = limits;
  let wake = (): void => {};
  const onChange = (): void => wake();
  const changed = (): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), bodyIdleMs);
      wake = () => {
        clearTimeout(timer);
        wake = () => {};
        resolve(true);
      };
    });
  request.on('readable', onChange).on('end', onChange).on('close', onChange).on('error', onChange);
  let waitedMs = 0;
  let pieces = 0;
  try {
    for (;;) {
      const piece: Buffer | null = request.read();
      if (piece !== null) {
        arrival.stats.bytesIn += piece.length;
        const refusal = refusalOf(arrival.stats.bytesIn, ++pieces, { ...rules, bodyLimit: limitOf() });
        if (refusal !== undefined) throw refusal;
        yield piece;
        continue;
      }
      if (request.readableEnded) return;
      if (request.destroyed) throw brokenOff();
      const began = performance.now();
      if (!(await changed())) throw new CallError('RequestTimeout');
      waitedMs += performance.now() - began;
      const isSlow = arrival.stats.bytesIn * 1000 < bodyBytesPerSecond * waitedMs;
      if (waitedMs >= bodySlowMs && isSlow) throw new CallError('RequestTimeout');
    }
  } finally {
    request.off('readable', onChange).off('end', onChange).off('close', onChange).off('error', onChange);
  }
}

/**
 * Maximum size in bytes of a compressed body that is decompressed without waiting. It usually unpacks to at most 1 MiB.
 */
const smallPacked = 16 * 1024;

async function decompress(packed: Buffer, unpack: Unpack, permit: Permit, rules: BodyRules): Promise<Buffer> {
  const { unpacking } = rules.admission;
  if (packed.length <= smallPacked) return unpackAll(packed, unpack, permit, rules);
  if (!unpacking.take()) await unpacking.wait();
  try {
    return await unpackAll(packed, unpack, permit, rules);
  } finally {
    unpacking.give();
  }
}

/**
 * Decompresses a body and counts its bytes as they are produced. The result may have `bodyLimit` bytes, and at most
 * `compressionRatio` times the compressed size if it is larger than 1 MiB.
 */
async function unpackAll(
  packed: Buffer,
  unpack: Unpack,
  permit: Permit,
  { bodyLimit, admission, compiled }: BodyRules,
): Promise<Buffer> {
  const most = Math.min(bodyLimit, Math.max(mebibyte, packed.length * compiled.limits.compressionRatio));
  const collector = new Collector(false);
  const stream = unpack();
  stream.end(packed);
  try {
    for await (const piece of stream) {
      const { length } = piece;
      collector.addOwn(piece);
      if (collector.size > most) throw tooLarge(most);
      if (!permit.hold(length) && collector.size > smallBytes) throw admission.shed();
    }
  } catch (error) {
    collector.drop();
    if (error instanceof CallError) throw error;
    throw new CallError('MalformedRequest', {
      detail: 'the body does not match its Content-Encoding',
      cause: error,
    });
  }
  const { bytesWritten } = stream;
  if (bytesWritten < packed.length) {
    throw new CallError('MalformedRequest', {
      expected: `the body to end with its Content-Encoding at byte ${bytesWritten}`,
      got: `${packed.length - bytesWritten} bytes more`,
    });
  }
  permit.shrink(collector.size);
  return (await collector.takeInSteps()).body;
}
