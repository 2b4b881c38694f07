import { createRecent, type Recent } from '../../mappings/recent.ts';

/** A cached page, plain and compressed. */
export interface KeptPage {
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

/** Cache of the most recently requested pages. */
export type PageCache = Recent<KeptPage>;

/** Memory for the cached pages of one contract, plain and compressed, in bytes. */
export const maxPageCacheBytes = 8 * 1024 * 1024;

/** Creates a cache of at most `limit` bytes. */
export function createPageCache(limit: number): PageCache {
  return createRecent(limit, ({ bytes, gzip }) => bytes.length + gzip.length);
}
