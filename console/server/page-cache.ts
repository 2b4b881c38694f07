import { createRecent, type Recent } from '../../mappings/recent.ts';

/** A page as it is sent. */
export interface KeptPage {
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

/** Pages last asked for. */
export type PageCache = Recent<KeptPage>;

/** Memory for the pages of one contract, plain and compressed, in bytes. */
export const maxPageCacheBytes = 8 * 1024 * 1024;

/** Keeps pages up to so many bytes in all. */
export function createPageCache(limit: number): PageCache {
  return createRecent(limit, ({ bytes, gzip }) => bytes.length + gzip.length);
}
