import { nodeKinds, type Tape } from '../../json/tape.ts';

const { empty, plain, text } = nodeKinds;

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
