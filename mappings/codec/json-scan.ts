import type { Key } from '../bytes.ts';
import { nameKey, nodeKinds, type Tape } from '../json/tape.ts';
import { enters } from './element.ts';
import { MismatchError, twice } from './problem.ts';
import type { Scan } from './scalars/scalar.ts';

/** Scans JSON objects and lists to tape nodes, for the types of both kinds of contract. */

const { nothing, record, empty, list, plain, text } = nodeKinds;

// --- objects -----------------------------------------------------------------------------------------

/**
 * The members of an object. Its tape node has `head` words, a slot for each member, and `more` words. A slot holds the
 * member's node, or -1 if the member is absent.
 */
export interface ObjectMembers {
  readonly head: number;
  readonly more: number;
  readonly names: readonly string[];
  readonly keys: readonly Key[];
  readonly byName: ReadonlyMap<string, number>;
  /** The scan function of each member's value. */
  readonly scans: readonly Scan[];
  /** By member: true if a null is a mismatch while a union tries the type. */
  readonly refusesNull: readonly boolean[];
  /**
   * Services write a type's members in a constant order. The member that followed each one in the last object is tried
   * first: a hint that is verified and cannot change the output.
   */
  readonly follower: Int32Array;
}

/** Compiles the members of an object from their names and the scan functions of their values. */
export function objectMembers(
  head: number,
  names: readonly string[],
  scans: readonly Scan[],
  refusesNull: readonly boolean[] = [],
  more = 0,
): ObjectMembers {
  const count = names.length;
  const follower = new Int32Array(count + 1);
  for (let index = 0; index < count; index++) follower[index] = (index + 1) % count;
  const byName = new Map(names.map((name, index) => [name, index]));
  return { head, more, names, keys: names.map(nameKey), byName, scans, refusesNull, follower };
}

/**
 * Handles a member without a slot. Its name starts at an offset, and the tape is at its value. Returns `unknown` for a
 * member that the type lacks, and `stop` to end the scan.
 */
export type ScanOther<State> = (
  name: string,
  start: number,
  node: number,
  tape: Tape,
  state: State,
) => 'unknown' | 'stop' | undefined;

/**
 * Scans an object after its opening bracket, and pushes its node. Returns the name of the first unknown member, or
 * undefined for none; false if `other` ended the scan. It is one function because a call per member would slow down
 * replies by some percent.
 */
export function scanObject<State>(
  { head, more, names, keys, byName, scans, refusesNull, follower }: ObjectMembers,
  tape: Tape,
  other: ScanOther<State>,
  state: State,
): string | undefined | false {
  const count = names.length;
  const size = head + count + more;
  tape.reserve(size);
  const node = tape.top;
  tape.words[node] = record;
  for (let word = node + 1; word < node + head; word++) tape.words[word] = 0;
  for (let word = node + head; word < node + size; word++) tape.words[word] = -1;
  tape.top = node + size;
  let unknown: string | undefined;
  let before = count;
  for (let first = true; tape.next(first, 125); first = false) {
    if (tape.bytes[tape.position] !== 34) tape.fail('a member name');
    const start = tape.position;
    let index = follower[before] as number;
    let name = '';
    const key = keys[index];
    if (key !== undefined && tape.matches(start + 1, key)) tape.position += 1 + key.length;
    else {
      name = tape.string();
      index = byName.get(name) ?? -1;
      if (index !== -1) follower[before] = index;
    }
    tape.colon();
    if (index === -1) {
      const result = other(name, start, node, tape, state);
      if (result === 'stop') return false;
      if (result === 'unknown') unknown ??= name;
      continue;
    }
    const slot = node + head + index;
    if (tape.words[slot] !== -1) throw twice(names[index] as string);
    const value = tape.top;
    tape.words[slot] = value;
    before = index;
    try {
      (scans[index] as Scan)(tape);
      if (tape.strict && tape.words[value] === nothing && refusesNull[index] === true)
        throw new MismatchError({ expected: 'a value', got: 'null' });
    } catch (error) {
      throw error instanceof MismatchError ? error.at(names[index] as string) : error;
    }
  }
  return unknown;
}

// --- lists -------------------------------------------------------------------------------------------

/** Pushes the node of an empty list. Returns the position of its link to the first item. */
export function pushList(tape: Tape): number {
  tape.reserve(2);
  const node = tape.top;
  tape.words[node] = list;
  tape.words[node + 1] = -1;
  tape.top = node + 2;
  return node + 1;
}

/**
 * Begins an item of a list: stores its position in `link`. Returns the position of the item's own link. The item's node
 * is pushed next.
 */
export function pushItem(tape: Tape, link: number): number {
  tape.reserve(1);
  const entry = tape.top;
  tape.words[link] = entry;
  tape.words[entry] = -1;
  tape.top = entry + 1;
  return entry;
}

/** As `pushItem`, with the entry's key after the link. */
export function pushEntry(tape: Tape, link: number, start: number, end: number, asIs: boolean): number {
  const entry = pushItem(tape, link);
  if (start === end) tape.pushRange(empty, 0, 0);
  else tape.pushRange(asIs ? plain : text, start, end);
  return entry;
}

/**
 * Scans a JSON array into a linked list on the tape: its node, then for each item a link and the item's node. The last
 * link is -1. Returns the number of items. Throws MismatchError with the item's index.
 *
 * @param scanItem pushes the node of the next item
 */
export function scanItems(tape: Tape, scanItem: (tape: Tape) => void): number {
  if (!enters(tape, 91)) return 0;
  let link = pushList(tape);
  let index = 0;
  try {
    for (; tape.next(index === 0, 93); index++) {
      link = pushItem(tape, link);
      scanItem(tape);
    }
  } catch (error) {
    throw error instanceof MismatchError ? error.at(index) : error;
  }
  return index;
}
