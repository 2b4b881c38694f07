import type { ArrayType, MapType } from '../../contract/model.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { type Output, piece } from '../../xml/output.ts';
import { MismatchError } from '../problem.ts';
import { elementOf, enters, type ReplyWriter, writeElement } from '../write-element.ts';

const { empty, plain, text, list } = nodeKinds;

/**
 * The writer of an array: a chain on the tape, each entry a link to the next one, then the item's node; -1 ends it.
 * @param prefix of the items' namespace, declared by `declarations` (W20)
 */
export function arrayWriter(
  type: ArrayType,
  item: ReplyWriter,
  prefix: string,
  declarations: string,
): ReplyWriter {
  const element = elementOf(prefix + type.itemName, item.declarations, true);
  const scan = (tape: Tape): void => {
    if (!enters(tape, 91)) return;
    tape.reserve(2);
    const node = tape.top;
    tape.words[node] = list;
    tape.words[node + 1] = -1;
    tape.top = node + 2;
    let link = node + 1;
    let index = 0;
    try {
      for (; tape.next(index === 0, 93); index++) {
        link = pushItem(tape, link);
        item.scan(tape);
      }
    } catch (error) {
      throw error instanceof MismatchError ? error.at(index) : error;
    }
  };
  const write = (tape: Tape, node: number, output: Output): void => {
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number) {
      writeElement(element, item, tape, entry + 1, output);
    }
  };
  return { scan, write, declarations };
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

/** The writer of a map: as an array's, with the key between the link and the value's node. */
export function mapWriter(
  type: MapType,
  value: ReplyWriter,
  prefix: string,
  declarations: string,
): ReplyWriter {
  const entryOpen = piece(`<${prefix}${type.entryName}>`);
  const entryClose = piece(`</${prefix}${type.entryName}>`);
  const key = elementOf(`${prefix}Key`, '', false);
  const element = elementOf(`${prefix}Value`, value.declarations, true);
  const scan = (tape: Tape): void => {
    if (!enters(tape, 123)) return;
    tape.reserve(2);
    const node = tape.top;
    tape.words[node] = list;
    tape.words[node + 1] = -1;
    tape.top = node + 2;
    const keys = new Set<string>();
    let link = node + 1;
    for (let first = true; tape.next(first, 125); first = false) {
      if (tape.bytes[tape.position] !== 34) tape.fail('a member name');
      const start = tape.position + 1;
      const asIs = tape.scanString();
      const end = tape.position - 1;
      const name = asIs ? tape.slice(start, end) : tape.decode(start, end);
      if (keys.has(name)) throw new MismatchError('expected each key once, got one again');
      keys.add(name);
      tape.colon();
      link = pushEntry(tape, link, start, end, asIs);
      value.scan(tape);
    }
  };
  const write = (tape: Tape, node: number, output: Output): void => {
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number) {
      output.reserve(entryOpen.length);
      output.piece(entryOpen);
      writeElement(key, value, tape, entry + 1, output);
      writeElement(element, value, tape, entry + 4, output);
      output.reserve(entryClose.length);
      output.piece(entryClose);
    }
  };
  return { scan, write, declarations };
}
