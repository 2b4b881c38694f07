/** What was last asked for, by key. */
export interface Recent<Value> {
  readonly get: (key: string) => Value | undefined;
  readonly put: (key: string, value: Value) => void;
}

/**
 * Keeps values up to so much in all, keys included; those not asked for the longest go first.
 *
 * @param limit characters and bytes
 * @param sizeOf those of a value
 * @param least so many values stay, however large
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
      values.delete(key); // the last of the map is the one last asked for
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

/** Has an item change places with the one before it, where what is asked for most is to stand first. */
export function moveForward<T>(items: T[], index: number): void {
  if (index === 0) return; // V8 looks long for an item -1
  const item = items[index] as T;
  items[index] = items[index - 1] as T;
  items[index - 1] = item;
}
