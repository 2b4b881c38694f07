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
  takeSteps((legacy.length - head) * (fresh.length - head));
  const lengths = new Lengths(legacy, fresh, head);
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
    } else if (lengths.skipsLegacy(at, by)) at++;
    else by++;
  [at, by] = [legacy.length, fresh.length];
  closeGap();
  return pairs;
}

/**
 * Lengths of the longest common subsequences of all ends of two lists, after a common head. Row `at` belongs to the end
 * from the legacy item `at`. A bit belongs to a new item, the last one first. It is 0 if the end from that item has a
 * longer subsequence than the end after it. The rows are computed 32 bits at a time (H. Hyyrö, 2004).
 */
class Lengths {
  readonly #rows: Uint32Array[];
  readonly #head: number;
  readonly #size: number;

  constructor(legacy: readonly number[], fresh: readonly number[], head: number) {
    this.#head = head;
    this.#size = fresh.length;
    const words = Math.ceil((fresh.length - head) / 32);
    const masks = new Map<number, Uint32Array>();
    for (let by = head; by < fresh.length; by++) {
      const id = fresh[by] as number;
      const mask = masks.get(id) ?? new Uint32Array(words);
      const bit = fresh.length - 1 - by;
      mask[bit >> 5] = (mask[bit >> 5] as number) | (1 << (bit & 31));
      masks.set(id, mask);
    }
    let row = new Uint32Array(words).fill(0xffff_ffff);
    this.#rows = new Array(legacy.length - head + 1);
    this.#rows[legacy.length - head] = row;
    for (let at = legacy.length - 1; at >= head; at--) {
      const mask = masks.get(legacy[at] as number);
      if (mask !== undefined) row = nextRow(row, mask);
      this.#rows[at - head] = row;
    }
  }

  /** Returns true if skipping the legacy item leaves a subsequence that is at least as long as skipping the new item. */
  skipsLegacy(at: number, by: number): boolean {
    const row = this.#rows[at - this.#head] as Uint32Array;
    const after = this.#rows[at - this.#head + 1] as Uint32Array;
    const bit = this.#size - 1 - by;
    if (row === after || (((row[bit >> 5] as number) >>> (bit & 31)) & 1) === 0) return true;
    // skipping the new item keeps the length, so skipping the legacy item must keep it too
    return zeros(row, bit) === zeros(after, bit);
  }
}

function nextRow(row: Uint32Array, mask: Uint32Array): Uint32Array<ArrayBuffer> {
  const next = new Uint32Array(row.length);
  let carry = 0;
  for (let word = 0; word < row.length; word++) {
    const bits = row[word] as number;
    const matching = mask[word] as number;
    const sum = bits + ((bits & matching) >>> 0) + carry;
    carry = sum > 0xffff_ffff ? 1 : 0;
    next[word] = sum | (bits & ~matching);
  }
  return next;
}

/** Returns the number of zeros from the first bit to another one. */
function zeros(row: Uint32Array, last: number): number {
  let count = 0;
  for (let word = 0; word < last >> 5; word++) count += ones(~(row[word] as number));
  return count + ones(~(row[last >> 5] as number) & (0xffff_ffff >>> (31 - (last & 31))));
}

/** Returns the number of ones in 32 bits. */
function ones(bits: number): number {
  let count = bits - ((bits >>> 1) & 0x5555_5555);
  count = (count & 0x3333_3333) + ((count >>> 2) & 0x3333_3333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
