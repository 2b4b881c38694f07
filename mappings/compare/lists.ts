// Alignment of two lists by their equal items (G39). Items are numbers: equal items have the same number.

/** Positions of two items that are compared, or of an item on one side. */
export interface Aligned {
  readonly legacy: number | undefined;
  readonly new: number | undefined;
}

/** Returns true if two lists have the same items, each as often. */
export function isPermutation(legacy: readonly number[], fresh: readonly number[]): boolean {
  if (legacy.length !== fresh.length) return false;
  const counts = new Map<number, number>();
  for (const id of legacy) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const id of fresh) {
    const left = (counts.get(id) ?? 0) - 1;
    if (left < 0) return false;
    counts.set(id, left);
  }
  return true;
}

/** Pairs items by position. The rest of the longer list has no partner. */
export function pairByPosition(legacy: number, fresh: number, fromLegacy = 0, fromNew = 0): Aligned[] {
  return Array.from({ length: Math.max(legacy, fresh) }, (_, index) => ({
    legacy: index < legacy ? fromLegacy + index : undefined,
    new: index < fresh ? fromNew + index : undefined,
  }));
}

/**
 * Aligns two lists by their longest common subsequence. From the head, equal items match. If they differ, the item is
 * skipped that leaves the longer subsequence, and the legacy item on a tie. Skipped items between two matches are paired
 * in order (G39).
 *
 * @param takeSteps is called with the number of pairs of items before they are compared
 */
export function align(
  legacy: readonly number[],
  fresh: readonly number[],
  takeSteps: (pairs: number) => void,
): readonly Aligned[] {
  let head = 0;
  while (head < legacy.length && head < fresh.length && legacy[head] === fresh[head]) head++;
  const rows = legacy.length - head;
  const columns = fresh.length - head;
  takeSteps(rows * columns);
  const skipsLegacy = choices(legacy.slice(head), fresh.slice(head));
  const pairs = pairByPosition(head, head);
  let [at, by] = [head, head];
  let [since, sinceNew] = [head, head];
  const closeGap = (): void => {
    pairs.push(...pairByPosition(at - since, by - sinceNew, since, sinceNew));
  };
  while (at < legacy.length && by < fresh.length)
    if (legacy[at] === fresh[by]) {
      closeGap();
      pairs.push({ legacy: at++, new: by++ });
      [since, sinceNew] = [at, by];
    } else if (isSet(skipsLegacy, (at - head) * columns + by - head)) at++;
    else by++;
  [at, by] = [legacy.length, fresh.length];
  closeGap();
  return pairs;
}

/** Returns a bit for each pair of items: true if skipping the legacy item leaves a subsequence of at least equal length. */
function choices(legacy: readonly number[], fresh: readonly number[]): Uint8Array {
  const columns = fresh.length;
  const bits = new Uint8Array(Math.ceil((legacy.length * columns) / 8));
  // lengths of the longest common subsequence of the items after a legacy item, and of those from it
  let after = new Uint32Array(columns + 1);
  let from = new Uint32Array(columns + 1);
  for (let row = legacy.length - 1; row >= 0; row--) {
    const id = legacy[row];
    for (let column = columns - 1; column >= 0; column--) {
      const below = after[column] as number;
      const beside = from[column + 1] as number;
      from[column] = id === fresh[column] ? (after[column + 1] as number) + 1 : Math.max(below, beside);
      const bit = row * columns + column;
      if (below >= beside) bits[bit >> 3] = (bits[bit >> 3] as number) | (1 << (bit & 7));
    }
    [after, from] = [from, after];
  }
  return bits;
}

function isSet(bits: Uint8Array, bit: number): boolean {
  return (((bits[bit >> 3] as number) >> (bit & 7)) & 1) === 1;
}
