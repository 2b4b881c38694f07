/** A page as it is sent. */
export interface KeptPage {
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

/** Pages last asked for. */
export interface PageCache {
  readonly get: (key: string) => KeptPage | undefined;
  readonly put: (key: string, page: KeptPage) => void;
}

/** Keeps pages up to so many bytes in all; those not asked for the longest go first. */
export function createPageCache(limit: number): PageCache {
  const pages = new Map<string, KeptPage>();
  let size = 0;
  const sizeOf = (key: string, { bytes, gzip }: KeptPage): number => key.length + bytes.length + gzip.length;
  return {
    get: (key) => {
      const page = pages.get(key);
      if (page === undefined) return undefined;
      pages.delete(key); // the last of the map is the one last asked for
      pages.set(key, page);
      return page;
    },
    put: (key, page) => {
      const before = pages.get(key);
      if (before !== undefined) size -= sizeOf(key, before);
      pages.delete(key);
      pages.set(key, page);
      size += sizeOf(key, page);
      for (const [oldest, kept] of pages) {
        if (size <= limit) return;
        pages.delete(oldest);
        size -= sizeOf(oldest, kept);
      }
    },
  };
}
