import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Limits } from '../../mappings/contract/limits.ts';

const mebibyte = 1024 * 1024;

const unpackers = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/**
 * Decompresses a body to at most `most` bytes, and to `compressionRatio` above 1 MiB (W8). Returns `size` for a larger
 * one, and `unreadable` for another coding and for bytes that do not match it.
 */
export async function unpack<Body extends Uint8Array>(
  body: Body,
  coding: string | undefined,
  most: number,
  { compressionRatio }: Limits,
): Promise<Body | Buffer<ArrayBuffer> | 'size' | 'unreadable'> {
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return body;
  const unpacker = unpackers.get(name);
  if (unpacker === undefined) return 'unreadable';
  const maxOutputLength = Math.min(most, Math.max(mebibyte, body.length * compressionRatio));
  try {
    return await unpacker(body, { maxOutputLength });
  } catch (error) {
    if (error instanceof RangeError) return 'size';
    if (error instanceof Error && 'code' in error) return 'unreadable'; // an error of zlib
    throw error;
  }
}
