import type { OtherMembers, OthersElement, Type } from '../../contract/model.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import { MismatchError } from '../problem.ts';
import { elementOf, type ReplyWriter, writeElement } from '../write-element.ts';
import { pushEntry } from './list-writers.ts';

const { list } = nodeKinds;

/** Words of a list's node: its kind, the link to its first entry, and where the last link is. */
const listWords = 3;

/** Members that a record doesn't list: a list of entries as a map's for those of the type, one for the others. */
export interface OthersWriter {
  /** Words that both lists take among the record's. */
  readonly room: number;
  /** Takes the value at the tape's position, whose name starts at `nameStart`; the names so far. Throws MismatchError. */
  readonly scan: (tape: Tape, node: number, nameStart: number, names: Set<string> | undefined) => Set<string>;
  readonly write: (tape: Tape, node: number, output: Output) => void;
}

export function othersWriter(
  { typed, untyped }: OtherMembers,
  writerOf: (type: Type) => ReplyWriter,
): OthersWriter {
  const value = writerOf(typed.type.value);
  const otherwise = untyped === undefined ? undefined : writerOf(untyped.type.value);
  const compiled = [typed, ...(untyped === undefined ? [] : [untyped])].map(
    ({ xml, type }: OthersElement) => {
      const writer = writerOf(type);
      return { writer, element: elementOf(xml, writer.declarations, false) };
    },
  );
  return {
    room: listWords * compiled.length,
    scan: (tape, node, nameStart, names = new Set()) => {
      const valueStart = tape.position;
      tape.position = nameStart;
      const asIs = tape.scanString();
      const start = nameStart + 1;
      const end = tape.position - 1;
      tape.position = valueStart;
      const name = asIs ? tape.slice(start, end) : tape.decode(start, end);
      if (names.has(name)) throw new MismatchError('expected each member once, got it again').at(name);
      names.add(name);
      const before = tape.mark();
      const [first, last] = [tape.words[node + 1] as number, tape.words[node + 2] as number];
      const { strict } = tape;
      addEntry(tape, node, start, end, asIs);
      try {
        tape.strict = true;
        value.scan(tape);
      } catch (error) {
        if (!(error instanceof MismatchError)) throw error;
        if (otherwise === undefined) throw error.at(name);
        tape.rewind(before);
        unlink(tape, node, first, last);
        addEntry(tape, node + listWords, start, end, asIs);
        otherwise.scan(tape);
      } finally {
        tape.strict = strict;
      }
      return names;
    },
    write: (tape, node, output) => {
      for (const [index, { writer, element }] of compiled.entries()) {
        const at = node + index * listWords;
        if (tape.words[at] === list) writeElement(element, writer, tape, at, output);
      }
    },
  };
}

function addEntry(tape: Tape, node: number, start: number, end: number, asIs: boolean): void {
  const last = tape.words[node] === list ? (tape.words[node + 2] as number) : node + 1;
  const entry = pushEntry(tape, last, start, end, asIs);
  tape.words[node] = list;
  tape.words[node + 2] = entry;
}

/** Takes the last entry off a list. */
function unlink({ words }: Tape, node: number, first: number, last: number): void {
  words[node + 1] = first;
  words[node + 2] = last;
  if (first === -1) words[node] = -1;
  else words[last] = -1;
}
