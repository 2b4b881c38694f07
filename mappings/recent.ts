/** A cache of recently used values, by key. */
export interface Recent<Value> {
  readonly get: (key: string) => Value | undefined;
  readonly put: (key: string, value: Value) => void;
}

/**
 * Creates a cache with a limit on the total size of keys and values. The least recently used values are evicted first.
 *
 * @param limit maximum total size in characters and bytes
 * @param sizeOf returns the size of a value
 * @param least number of values that are kept, whatever their size
 */
export function createRecent<Value>(
  limit: number,
  sizeOf: (value: Value) => number,
  least = 0,
): Recent<Value> {
  const values = new Map<string, Value>();
  let size = 0;
  const remove = (key: string, value: Value): void => {
    values.delete(key);
    size -= key.length + sizeOf(value);
  };
  return {
    get: (key) => {
      const value = values.get(key);
      if (value === undefined) return undefined;
      values.delete(key); // the last entry of the map is the most recently used one
      values.set(key, value);
      return value;
    },
    put: (key, value) => {
      const before = values.get(key);
      if (before !== undefined) remove(key, before);
      values.set(key, value);
      size += key.length + sizeOf(value);
      for (const [oldest, kept] of values) {
        if (size <= limit || values.size <= least) return;
        remove(oldest, kept);
      }
    },
  };
}

/** Swaps an item with the previous one, so that frequently used items move to the front. */
export function moveForward<T>(items: T[], index: number): void {
  if (index === 0) return; // V8 is slow with an index of -1
  const item = items[index] as T;
  items[index] = items[index - 1] as T;
  items[index - 1] = item;
}
