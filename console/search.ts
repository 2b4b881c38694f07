/** Searchable data of an operation. Names are short because browsers download the list. */
export interface SearchEntry {
  /** The operation's name. */
  readonly n: string;
  /** Its tags. */
  readonly t: readonly string[];
  /** Its summary, one sentence. */
  readonly w: string;
  /** Names of members of its input and output, in lower case, separated by blanks. */
  readonly m: string;
}

/** An entry with its texts in lower case, prepared for searching. */
export interface PreparedEntry {
  readonly entry: SearchEntry;
  readonly name: string;
  readonly words: string;
}

/** Prepares a list of entries; called once per list. */
export function prepareEntries(entries: readonly SearchEntry[]): readonly PreparedEntry[] {
  return entries.map((entry) => ({
    entry,
    name: entry.n.toLowerCase(),
    words: `${entry.t.join(' ')} ${entry.w}`.toLowerCase(),
  }));
}

/** Maximum number of words and characters of a query that are used. */
const mostWords = 8;
const mostCharacters = 200;

/**
 * Returns the entries that contain every word of a query in the name, tags, summary or member names. The order is that
 * of `ranks`. The entries of a rank keep the contract's order. Rank 0: the name contains all words and starts with the
 * first one. Rank 1: the name contains all words. Rank 2: the name, tags and summary contain them. Rank 3: at least one
 * word is only in member names.
 */
export function searchEntries(entries: readonly PreparedEntry[], query: string): readonly SearchEntry[] {
  const words = query
    .slice(0, mostCharacters)
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, mostWords);
  const [first] = words;
  if (first === undefined) return [];
  const ranks: SearchEntry[][] = [[], [], [], []];
  for (const prepared of entries) {
    const { entry, name } = prepared;
    let rank = name.startsWith(first) ? 0 : 1;
    let isFound = true;
    for (const word of words) {
      const found = name.includes(word)
        ? 1
        : prepared.words.includes(word)
          ? 2
          : entry.m.includes(word)
            ? 3
            : 4;
      if (found === 4) {
        isFound = false;
        break;
      }
      if (found > 1) rank = Math.max(rank, found);
    }
    if (isFound) ranks[rank]?.push(entry);
  }
  return ranks.flat();
}

/** Returns the names most similar to an unknown one, the most similar first (Dice coefficient of letter pairs). */
export function nearestNames(names: readonly string[], wanted: string, most: number): readonly string[] {
  const wantedPairs = pairsOf(wanted.slice(0, mostCharacters).toLowerCase());
  return names
    .map((name) => ({ name, score: likeness(wantedPairs, pairsOf(name.toLowerCase())) }))
    .filter(({ score }) => score > 0.3)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ name }) => name);
}

function pairsOf(text: string): ReadonlySet<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size + b.size === 0) return 0;
  let common = 0;
  for (const pair of a) if (b.has(pair)) common++;
  return (2 * common) / (a.size + b.size);
}
