import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createGunzip, createInflate, type Gunzip, type Inflate } from 'node:zlib';
import type { Limits } from '../../mappings/contract/limits.ts';
import { type Admission, smallBytes } from '../admission/admission.ts';
import type { Permit } from '../admission/permit.ts';
import type { Transfer } from '../admission/transfers.ts';
import { CallError } from '../call/error.ts';
import { Collector, readOnLater, turnBytes } from '../upstream/collector.ts';
import { announcedBytes } from '../upstream/content-length.ts';

const mebibyte = 1024 * 1024;
const noBytes = Buffer.alloc(0);
/** What is unpacked is taken in pieces of so many bytes. */
const unpackedBytes = 64 * 1024;
const codings = {
  gzip: () => createGunzip({ chunkSize: unpackedBytes }),
  'x-gzip': () => createGunzip({ chunkSize: unpackedBytes }),
  deflate: () => createInflate({ chunkSize: unpackedBytes }),
} as const;

/** Whether the request announces a body at all. */
export function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined ||
    announcedBytes(request.headers['content-length']) > 0
  );
}

/** Whether a body is so short that to read it away costs less than another connection. */
export function hasSmallBody(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= 64 * 1024;
}

/** Whether the caller holds its body back until it is asked for it; HTTP/1.0 knows no such thing (RFC 9110, 10.1.1). */
export function isAwaited(request: IncomingMessage): boolean {
  return request.headers.expect !== undefined && request.httpVersion !== '1.0';
}

/** Whether a caller waits for something else than to be told to go on, as Node tells them apart. */
export function hasOtherExpectation(request: IncomingMessage): boolean {
  return isAwaited(request) && !/(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? '');
}

/** Pieces of a body that take the parser a tenth of a millisecond or so. */
const manyPieces = 64;

/** Has `note` called as the parser gives a body, whenever there were some pieces of it. */
export function countPieces(request: IncomingMessage, note: () => void): void {
  let pieces = 0;
  request.push = (piece: Buffer | null): boolean => {
    if (++pieces % manyPieces === 0) note();
    return Readable.prototype.push.call(request, piece);
  };
}

/**
 * Gathers what is read of a body while its request waits: each piece by itself takes a kilobyte, however small it is. Gives
 * what ends the wait.
 */
export function gatherBody(request: IncomingMessage): () => void {
  const collector = new Collector(false);
  let isEnded = false;
  request.push = (piece: Buffer | null): boolean => {
    if (piece === null) isEnded = true;
    else collector.add(piece);
    return false; // no more for now
  };
  return () => {
    request.push = Readable.prototype.push;
    if (collector.size > 0) request.push(collector.take().body);
    if (isEnded) request.push(null);
  };
}

/** A request whose body is to be read. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Holds the bytes of the body. */
  readonly permit: Permit;
  /** Whether all of the body was taken, which Node's parser may not have reported yet. */
  bodyTaken: boolean;
  readonly stats: {
    /** Bytes of the body, as it is read. */
    bytesIn: number;
  };
}

/** What bodies are read by. */
export interface BodyRules {
  /** Largest body, in bytes, decompressed. */
  readonly bodyLimit: number;
  readonly compiled: { readonly limits: Limits };
  readonly admission: Admission;
}

/**
 * Looks whether anything speaks against reading a call's body. Throws CallError: RequestTooLarge where the length is
 * announced, UnsupportedMediaType for a coding we don't read, Overloaded.
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
 * Reads the body, decompressed, of a call that may come in, a turn after its head, by when Node has read what came
 * together with it, and gives the call its permit: at once where that is all and as it is and one is free, else with a
 * promise. Throws CallError: Overloaded, CallerGone, RequestTimeout, RequestTooLarge, MalformedRequest.
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

/** Takes a body of so many bytes that is all there. */
function takeBody(arrival: Arrival, bytes: number): Buffer {
  // without a size, Node may give the first piece alone
  const body: Buffer = arrival.request.read(bytes) ?? noBytes;
  arrival.bodyTaken = true;
  arrival.permit.require(body.length);
  arrival.stats.bytesIn = body.length;
  return body;
}

/**
 * Reads a body that is for no call, by the limits of all bodies; `bodyLimit` is its own. Throws CallError: Overloaded,
 * RequestTimeout, RequestTooLarge, MalformedRequest, UnsupportedMediaType for one that is compressed.
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

/** What undoes a Content-Encoding; undefined where there is nothing to undo. */
function unpackerOf(coding: string | undefined): Unpack | undefined {
  if (coding === undefined) return undefined;
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return undefined;
  if (name === 'gzip' || name === 'x-gzip' || name === 'deflate') return codings[name];
  throw new CallError('UnsupportedMediaType', {
    expected: 'Content-Encoding to be gzip or deflate, once, or none',
  });
}

/** The refusal of a body of more than so many bytes. */
export function tooLarge(limit: number): CallError {
  return new CallError('RequestTooLarge', { expected: `a body of at most ${limit} bytes`, got: 'more' });
}

/** The refusal of a body that breaks off. */
function brokenOff(): CallError {
  return new CallError('MalformedRequest', { detail: 'the request ended before its body did' });
}

/** A body on its way, gathered as it comes. */
function collect(arrival: Arrival, rules: BodyRules): Promise<Buffer> {
  const { request } = arrival;
  const { admission, compiled } = rules;
  const { limits } = compiled;
  return new Promise((resolve, reject) => {
    const collector = new Collector(false);
    collector.announced = announcedBytes(request.headers['content-length']);
    let pieces = 0;
    let inTurn = 0;
    const began = performance.now();
    let cameAt = began;
    const look = (): void => {
      const now = performance.now();
      const wait = nextLook(now - began, now - cameAt, collector.size, limits);
      if (wait === undefined) finish(new CallError('RequestTimeout'));
      else timer = setTimeout(look, wait);
    };
    let timer = setTimeout(look, nextLook(0, 0, 0, limits));
    const transfer: Transfer = {
      index: -1,
      heldBytes: 0,
      began,
      moved: () => collector.size,
      cut: () => finish(admission.shed()),
    };
    const onData = (chunk: Buffer): void => {
      cameAt = performance.now();
      const { length } = chunk;
      // a program that embeds this may listen too
      if (request.listenerCount('data') === 1) collector.addOwn(chunk);
      else collector.add(chunk);
      const refusal = refusalOf(collector.size, ++pieces, rules);
      if (refusal !== undefined) finish(refusal);
      else if (!admission.came(transfer, length)) finish(admission.shed());
      inTurn += length;
      if (inTurn < turnBytes || isOver) return;
      inTurn = 0;
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
      clearTimeout(timer);
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
      resolve(collector.takeInTurns().then(({ body }) => body));
    };
    admission.arrive(transfer);
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/**
 * Lets go of what follows of a body that is given up: what has been read is parsed to its end all the same, piece by piece.
 * One that is too large is read no further until its reply is out, when nobody parses it any more.
 */
export function dropRest({ request, response }: Arrival, { code }: CallError): void {
  request.push = (piece: Buffer | null): boolean =>
    piece !== null || Readable.prototype.push.call(request, null);
  request.on('error', () => {}); // of a connection that is being given up it is nothing new
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

/** What is wrong about a body of which so much came in so many pieces. */
function refusalOf(size: number, pieces: number, { bodyLimit, compiled }: BodyRules): CallError | undefined {
  if (size > bodyLimit) return tooLarge(bodyLimit);
  const { bodyPieces = maxBodyChunks, bodyPieceBytes = minBodyChunkBytes } = compiled.limits;
  if (pieces <= bodyPieces || size >= pieces * bodyPieceBytes) return undefined;
  const expected = `a body of at most ${bodyPieces} pieces, or of ${bodyPieceBytes} bytes to a piece`;
  return new CallError('RequestTooLarge', { expected, got: 'smaller ones' });
}

/** In how many ms to look again at a body on its way; undefined when it takes too long. */
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
 * A body's pieces as they come, each once the one before was taken: who takes them slowly has the caller wait. Throws
 * CallError: RequestTimeout for a caller that makes others wait, by the same limits as any body but for `bodyMs`,
 * RequestTooLarge, MalformedRequest for one that breaks off.
 *
 * @param limitOf the most bytes of all of it, asked each time
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

/** A compressed body so small, in bytes, is unpacked without waiting for others: 1 MiB, mostly, is all it can be. */
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
 * Each piece of it is counted as it is made; never more than the limit, nor more than `compressionRatio` times the
 * compressed size once that is over 1 MiB.
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
      detail: 'the body is not of its Content-Encoding',
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
  return (await collector.takeInTurns()).body;
}
