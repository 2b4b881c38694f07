/** Maximum number of known names that are compared with an unknown one: a document may have thousands of either. */
const maxCompared = 300;

/**
 * The end of a message about an unknown name: `. Did you mean X?`, or an empty text if no known name is similar. A name
 * with the same letters in another order is similar.
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  const compared: string[] = [];
  for (const one of known) {
    if (compared.length === maxCompared) break;
    compared.push(one);
  }
  const near = nearest(name, compared) ?? compared.find((one) => isReordered(name, one));
  return near === undefined ? '' : `. Did you mean ${near}?`;
}

/** Returns `, did you mean X?` for the nearest known name; `''` if none is near. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known.slice(0, maxCompared));
  return near === undefined ? '' : `, did you mean ${near}?`;
}

/** Returns true if two names of at most 64 characters have the same letters, without regard to case. */
function isReordered(name: string, other: string): boolean {
  const lettersOf = (text: string): string => [...text.toLowerCase()].sort().join('');
  return name.length === other.length && name.length <= 64 && lettersOf(name) === lettersOf(other);
}

/** Returns the known name closest to `name` by edit distance, without regard to case; undefined if none is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > 64) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns the Levenshtein distance, or `cap` if it is at least that. */
function editDistance(a: string, b: string, cap: number): number {
  if (Math.abs(a.length - b.length) >= cap) return cap;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? cap) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? cap) + 1, (next[j - 1] ?? cap) + 1));
    }
    if (next.every((distance) => distance >= cap)) return cap;
    row = next;
  }
  return Math.min(row[b.length] ?? cap, cap);
}
