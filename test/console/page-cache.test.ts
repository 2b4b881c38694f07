import test from 'ava';
import { createPageCache, type KeptPage } from '../../console/server/page-cache.ts';

/** Creates a page that needs 100 bytes of the cache, including a key of one character. */
function page(): KeptPage {
  return { bytes: Buffer.alloc(80), gzip: Buffer.alloc(19), etag: '' };
}

test('pageCacheBytes: keeps that many bytes of pages, then evicts the least recently used', (t) => {
  const exact = createPageCache(300);
  const less = createPageCache(299);
  for (const cache of [exact, less]) {
    for (const key of ['a', 'b']) cache.put(key, page());
    cache.get('a');
    cache.put('c', page());
  }
  t.deepEqual(
    ['a', 'b', 'c'].map((key) => exact.get(key) !== undefined),
    [true, true, true],
  );
  t.deepEqual(
    ['a', 'b', 'c'].map((key) => less.get(key) !== undefined),
    [true, false, true],
  );
});

test('a page that is stored twice counts once', (t) => {
  const cache = createPageCache(200);
  for (let round = 0; round < 5; round++) cache.put('a', page());
  cache.put('b', page());
  t.not(cache.get('a'), undefined);
  t.not(cache.get('b'), undefined);
});
