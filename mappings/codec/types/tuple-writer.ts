import type { TupleType, Type } from '../../contract/model.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { MismatchError } from '../problem.ts';
import { elementOf, enters, type ReplyWriter, writeElement } from '../write-element.ts';
import { pushItem } from './list-writers.ts';

const { record, list } = nodeKinds;

/**
 * The writer of a tuple: a slot on the tape per position, as a record's, then the node of a list, empty while no item
 * came behind them.
 */
export function tupleWriter(type: TupleType, writerOf: (type: Type) => ReplyWriter): ReplyWriter {
  const positions = type.positions.map(({ xml, type: inner }) => {
    const writer = writerOf(inner);
    return { writer, element: elementOf(xml, writer.declarations, true) };
  });
  const rest = type.rest === undefined ? undefined : restOf(type.rest, writerOf);
  const count = positions.length;
  const room = count + 2;

  const scan = (tape: Tape): void => {
    if (!enters(tape, 91)) return;
    tape.reserve(1 + room);
    const node = tape.top;
    tape.words[node] = record;
    for (let slot = node + 1; slot <= node + room; slot++) tape.words[slot] = -1;
    tape.top = node + 1 + room;
    let link = node + room;
    let index = 0;
    try {
      for (; tape.next(index === 0, 93); index++) {
        const position = positions[index];
        if (position !== undefined) {
          tape.words[node + 1 + index] = tape.top;
          position.writer.scan(tape);
        } else if (rest !== undefined) {
          tape.words[node + 1 + count] = list;
          link = pushItem(tape, link);
          rest.item.scan(tape);
        } else {
          tape.dropped++;
          tape.skip();
        }
      }
    } catch (error) {
      throw error instanceof MismatchError ? error.at(index) : error;
    }
  };

  const write: ReplyWriter['write'] = (tape, node, output) => {
    for (const [index, { element, writer }] of positions.entries()) {
      const value = tape.words[node + 1 + index] as number;
      if (value === -1) return;
      writeElement(element, writer, tape, value, output);
    }
    const behind = node + 1 + count;
    if (rest !== undefined && tape.words[behind] === list)
      writeElement(rest.element, rest.writer, tape, behind, output);
  };

  return { scan, write, declarations: '' };
}

/** What writes the items behind the positions. */
function restOf({ xml, type }: NonNullable<TupleType['rest']>, writerOf: (type: Type) => ReplyWriter) {
  const writer = writerOf(type);
  return { item: writerOf(type.item), writer, element: elementOf(xml, writer.declarations, false) };
}
