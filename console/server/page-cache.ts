import { createRecent, type Recent } from '../../mappings/recent.ts';

/** A page as it is sent. */
export interface KeptPage {
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

/** Pages last asked for. */
export type PageCache = Recent<KeptPage>;

/** Keeps pages up to so many bytes in all. */
export function createPageCache(limit: number): PageCache {
  return createRecent(limit, ({ bytes, gzip }) => bytes.length + gzip.length);
}
