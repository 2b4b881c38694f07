import { nodeKinds, type Tape } from '../../json/tape.ts';
import { enters } from '../element.ts';
import { MismatchError } from '../problem.ts';

const { empty, list, plain, text } = nodeKinds;

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
