import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { Limits } from '../mappings/limits.ts';
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

/** Whether the caller holds its body back until it is asked for it; HTTP/1.0 knows no such thing (RFC 9110, 10.1.1). */
export function isAwaited(request: IncomingMessage): boolean {
  return request.headers.expect !== undefined && request.httpVersion !== '1.0';
}

/**
 * Reads a request's body, decompressed. Throws CallError: RequestTooLarge before reading where the length is
 * announced, UnsupportedMediaType for a coding we don't read, RequestTimeout.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  limits: Limits,
): Promise<Buffer> {
  const coding = request.headers['content-encoding'];
  const inflater = coding === undefined ? undefined : inflaterOf(coding);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  if (isAwaited(request)) response.writeContinue();
  const body = await collect(request, limit, limits.bodyMs);
  return inflater === undefined ? body : decompress(body, inflater, limit, limits.compressionRatio);
}

function inflaterOf(coding: string): (typeof codings)['gzip'] | undefined {
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

function collect(request: IncomingMessage, limit: number, withinMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let only: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let size = 0;
    const timer = setTimeout(() => finish(new CallError('RequestTimeout')), withinMs);
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) finish(tooLarge(limit));
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
      } else if (chunks !== undefined) resolve(Buffer.concat(chunks, size));
      else resolve(only ?? noBytes);
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/** Never more than the limit, nor more than `ratio` times the compressed size once that is over 1 MiB. */
async function decompress(
  body: Buffer,
  inflater: (typeof codings)['gzip'],
  limit: number,
  ratio: number,
): Promise<Buffer> {
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
