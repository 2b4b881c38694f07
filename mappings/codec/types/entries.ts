import { nodeKinds, type Tape } from '../../json/tape.ts';
import { enters } from '../element.ts';
import { MismatchError } from '../problem.ts';

const { empty, list, plain, text } = nodeKinds;

/** Pushes the node of a list without items; the place of the link to the first one. */
export function pushList(tape: Tape): number {
  tape.reserve(2);
  const node = tape.top;
  tape.words[node] = list;
  tape.words[node + 1] = -1;
  tape.top = node + 2;
  return node + 1;
}

/** Begins an item of a list: the place of its link, which `link` then leads to. The item's node comes next. */
export function pushItem(tape: Tape, link: number): number {
  tape.reserve(1);
  const entry = tape.top;
  tape.words[link] = entry;
  tape.words[entry] = -1;
  tape.top = entry + 1;
  return entry;
}

/** As `pushItem`, with the entry's key behind the link. */
export function pushEntry(tape: Tape, link: number, start: number, end: number, asIs: boolean): number {
  const entry = pushItem(tape, link);
  if (start === end) tape.pushRange(empty, 0, 0);
  else tape.pushRange(asIs ? plain : text, start, end);
  return entry;
}

/**
 * A JSON array as a chain on the tape: its node, then for each item a link to the next one, then the item's node; -1 ends it.
 * How many items it has. Throws MismatchError with the item's position.
 *
 * @param scanItem pushes the node of the item that is next
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
