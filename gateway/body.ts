import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { Limits } from '../mappings/limits.ts';
import { type Admission, overloaded, type Place } from './admission.ts';
import { CallError } from './error.ts';

const mebibyte = 1024 * 1024;
const noBytes = Buffer.alloc(0);
const codings = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
} as const;

/** Whether the request announces a body at all. */
export function hasBody(request: IncomingMessage): boolean {
  return (
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
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

/** A request whose body is to be read. */
export interface Arrival extends Place {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Bytes of the body, as it is read. */
  bytesIn: number;
  /** Whether all of the body was taken, which Node's parser may not have said yet. */
  bodyTaken: boolean;
}

/** What bodies are read by. */
export interface BodyRules {
  /** Largest body, in bytes, decompressed. */
  readonly bodyLimit: number;
  readonly compiled: { readonly limits: Limits };
  readonly admission: Admission;
}

/**
 * Gives a call its place when nothing speaks against its body: at once, or a promise of one. Throws CallError:
 * RequestTooLarge where the length is announced, UnsupportedMediaType for a coding we don't read, Overloaded.
 */
export function admitBody(arrival: Arrival, { bodyLimit, admission }: BodyRules): Promise<void> | undefined {
  const { headers } = arrival.request;
  inflaterOf(headers['content-encoding']);
  if (Number(headers['content-length'] ?? 0) > bodyLimit) throw tooLarge(bodyLimit);
  return admission.enter(arrival);
}

/**
 * Reads the body, decompressed, of a call that has its place, a turn after its head, by when Node has read what came
 * together with it: at once where that is all and as it is, else with a promise. Throws CallError: Overloaded,
 * CallerGone, RequestTimeout, RequestTooLarge, MalformedRequest.
 */
export function readBody(arrival: Arrival, rules: BodyRules): Buffer | Promise<Buffer> {
  const { request, response } = arrival;
  const { headers } = request;
  if (response.destroyed) throw new CallError('CallerGone');
  if (isAwaited(request)) response.writeContinue();
  const announced = Number(headers['content-length'] ?? 0);
  const isThere = announced > 0 && request.readableLength === announced;
  const inflater = inflaterOf(headers['content-encoding']);
  if (inflater !== undefined) return readCoded(arrival, inflater, isThere, rules);
  return isThere ? takeBody(arrival, rules) : collect(arrival, rules);
}

async function readCoded(
  arrival: Arrival,
  inflater: Inflater,
  isThere: boolean,
  rules: BodyRules,
): Promise<Buffer> {
  const { bodyLimit, admission } = rules;
  const body = isThere ? takeBody(arrival, rules) : await collect(arrival, rules);
  const inflated = await decompress(body, inflater, bodyLimit, rules.compiled.limits.compressionRatio);
  if (!admission.hold(arrival, inflated.length)) throw overloaded();
  arrival.bytesIn = inflated.length;
  return inflated;
}

/** A body that is all there. */
function takeBody(arrival: Arrival, { admission }: BodyRules): Buffer {
  const body: Buffer = arrival.request.read() ?? noBytes;
  arrival.bodyTaken = true;
  if (!admission.hold(arrival, body.length)) throw overloaded();
  arrival.bytesIn = body.length;
  return body;
}

type Inflater = (typeof codings)['gzip'];

/** What undoes a Content-Encoding; undefined where there is nothing to undo. */
function inflaterOf(coding: string | undefined): Inflater | undefined {
  if (coding === undefined) return undefined;
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return undefined;
  if (name === 'gzip' || name === 'x-gzip' || name === 'deflate') return codings[name];
  throw new CallError('UnsupportedMediaType', {
    message: 'expected Content-Encoding to be gzip or deflate, once, or none',
  });
}

function tooLarge(limit: number): CallError {
  return new CallError('RequestTooLarge', { message: `expected a body of at most ${limit} bytes, got more` });
}

function collect(arrival: Arrival, { bodyLimit, admission, compiled }: BodyRules): Promise<Buffer> {
  const { request } = arrival;
  const { limits } = compiled;
  return new Promise((resolve, reject) => {
    let only: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let size = 0;
    const began = performance.now();
    let cameAt = began;
    const look = (): void => {
      const now = performance.now();
      const wait = nextLook(now - began, now - cameAt, size, limits);
      if (wait === undefined) finish(new CallError('RequestTimeout'));
      else timer = setTimeout(look, wait);
    };
    let timer = setTimeout(look, nextLook(0, 0, 0, limits));
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      cameAt = performance.now();
      if (size > bodyLimit) finish(tooLarge(bodyLimit));
      else if (!admission.hold(arrival, chunk.length)) finish(overloaded());
      else if (only === undefined) only = chunk;
      else if (chunks === undefined) chunks = [only, chunk];
      else chunks.push(chunk);
    };
    const onEnd = (): void => finish(undefined);
    const onGone = (): void =>
      finish(new CallError('MalformedRequest', { message: 'the request ended before its body did' }));
    const finish = (error: CallError | undefined): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      if (error !== undefined) {
        request.on('error', () => {}); // what follows on a connection that is being given up says nothing new
        request.pause();
        reject(error);
        return;
      }
      arrival.bytesIn = size;
      resolve(chunks === undefined ? (only ?? noBytes) : Buffer.concat(chunks, size));
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** In how many ms to look again at a body on its way; undefined when it takes too long. */
function nextLook(age: number, idle: number, size: number, limits: Limits): number | undefined {
  const { bodyMs, bodyIdleMs, bodySlowMs, bodyBytesPerSecond } = limits;
  if (age >= bodyMs || idle >= bodyIdleMs) return undefined;
  if (age >= bodySlowMs && size * 1000 < bodyBytesPerSecond * age) return undefined;
  const slow = age < bodySlowMs ? bodySlowMs - age : 1_000;
  return Math.max(1, Math.min(bodyMs - age, bodyIdleMs - idle, slow));
}

/** Never more than the limit, nor more than `ratio` times the compressed size once that is over 1 MiB. */
async function decompress(body: Buffer, inflater: Inflater, limit: number, ratio: number): Promise<Buffer> {
  const most = Math.min(limit, Math.max(mebibyte, body.length * ratio));
  try {
    return await inflater(body, { maxOutputLength: most });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(most);
    throw new CallError('MalformedRequest', {
      message: 'the body is not of its Content-Encoding',
      cause: error,
    });
  }
}
