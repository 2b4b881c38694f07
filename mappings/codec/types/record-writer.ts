import type { Key } from '../../bytes.ts';
import type { Contract, Field, RecordType, Type } from '../../contract/model.ts';
import { nameKey, nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import { MismatchError } from '../problem.ts';
import { isReference } from '../scalars/table.ts';
import { type Element, elementOf, enters, type ReplyWriter, writeElement } from '../write-element.ts';
import { othersWriter } from './additional-properties.ts';

const { record, nothing } = nodeKinds;

/** A field with what scans and writes it. */
export interface Member {
  readonly name: string;
  readonly key: Key;
  readonly writer: ReplyWriter;
  readonly element: Element;
}

/** A field's member; a field that allows null is written as nil where the WSDL says so too (W19). */
export function memberOf(
  field: Field,
  writerOf: (type: Type) => ReplyWriter,
  nulls: Contract['nulls'],
): Member {
  const writer = writerOf(field.type);
  // where the WSDL allows no nil, an absent element says the same
  const nillable = field.nillable && (nulls === 'kept' || isReference(field.type));
  return {
    name: field.json,
    key: nameKey(field.json),
    writer,
    element: elementOf(field.xml, writer.declarations, nillable),
  };
}

/**
 * The writer of a record: a slot per field on the tape, filled in the order that came, written in the wire's (W18).
 * @param statusBeside reads a responseStatus that stands beside the members rather than in them (W30)
 */
export function recordWriter(
  type: RecordType,
  writerOf: (type: Type) => ReplyWriter,
  nulls: Contract['nulls'],
  statusBeside: ReplyWriter | undefined,
): ReplyWriter {
  const members = type.fields.map((field) => memberOf(field, writerOf, nulls));
  const others = type.others === undefined ? undefined : othersWriter(type.others, writerOf);
  const count = members.length;
  const byName = new Map(members.map(({ name }, index) => [name, index]));
  // Upstreams write a type's members in one order. What followed each member last time is tried first: a hint
  // that is checked each time and can't change what is written.
  const follower = new Int32Array(count + 1);
  for (let index = 0; index < count; index++) follower[index] = (index + 1) % count;

  /** The member whose name starts here, past its closing quote; -1 for an unknown one, -2 for a status beside. */
  const findMember = (tape: Tape, before: number): number => {
    const start = tape.position + 1;
    const asIs = tape.scanString();
    const end = tape.position - 1;
    const name = asIs ? tape.slice(start, end) : tape.decode(start, end);
    const index = byName.get(name);
    if (index !== undefined) follower[before] = index;
    return index ?? (statusBeside !== undefined && name === 'responseStatus' ? -2 : -1);
  };

  const scan = (tape: Tape): void => {
    if (!enters(tape, 123)) return;
    const room = others === undefined ? count : count + others.room;
    tape.reserve(room + 1);
    const node = tape.top;
    tape.words[node] = record;
    for (let slot = node + 1; slot <= node + room; slot++) tape.words[slot] = -1;
    tape.top = node + 1 + room;
    let names: Set<string> | undefined;
    let before = count;
    for (let first = true; tape.next(first, 125); first = false) {
      if (tape.bytes[tape.position] !== 34) tape.fail('a member name');
      const nameStart = tape.position;
      let index = follower[before] as number;
      const guessed = members[index];
      if (guessed !== undefined && tape.matches(tape.position + 1, guessed.key)) {
        tape.position += 1 + guessed.key.length;
      } else {
        index = findMember(tape, before);
      }
      tape.colon();
      const member = members[index];
      if (member === undefined) {
        if (others !== undefined && index === -1) {
          names = others.scan(tape, node + 1 + count, nameStart, names);
          continue;
        }
        tape.dropped++;
        if (index === -2) statusBeside?.scan(tape);
        else tape.skip();
        continue;
      }
      if (tape.words[node + 1 + index] !== -1) {
        throw new MismatchError('expected the member once, got it again').at(member.name);
      }
      tape.words[node + 1 + index] = tape.top;
      before = index;
      try {
        const value = tape.top;
        member.writer.scan(tape);
        if (tape.strict && tape.words[value] === nothing && member.element.nil === undefined)
          throw new MismatchError('expected a value, got null');
      } catch (error) {
        throw error instanceof MismatchError ? error.at(member.name) : error;
      }
    }
  };

  const write = (tape: Tape, node: number, output: Output): void => {
    const slots = node + 1;
    for (let index = 0; index < count; index++) {
      const value = tape.words[slots + index] as number;
      if (value === -1) continue;
      const member = members[index] as Member;
      writeElement(member.element, member.writer, tape, value, output);
    }
    others?.write(tape, slots + count, output);
  };

  return { scan, write, declarations: '' };
}
