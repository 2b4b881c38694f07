import { type Contract, errorMembers, type Field, type RecordType, type Tag } from '../../contract/model.ts';
import type { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext } from '../context.ts';
import { enters, entersJson, readMember, writeElement } from '../element.ts';
import { applyEdits, credentialsSlot, MismatchError, type Reading, refuse, refuseAt } from '../problem.ts';
import { isReference } from '../scalars/table.ts';
import { foldAscii, someNames } from '../scalars/text.ts';
import { additionalWriter } from './additional-properties.ts';
import { Distinct } from './distinct.ts';
import { enumReader } from './enum.ts';
import {
  checkRequired,
  type FieldReader,
  type FieldWriter,
  fieldWriter,
  passElement,
  passMember,
  type RecordShape,
  shapeOf,
} from './record-fields.ts';

/**
 * Codec of a record: an element for each field, in any order in requests (W11), in the contract's order in replies
 * (W18).
 */

const { record, nothing } = nodeKinds;

/** The record's members that are not sent in the body object: JSON name → slot. */
export type Slots = ReadonlyMap<string, number>;

/** Options of a record that is not an ordinary value. */
export interface RecordOptions {
  /** The members of an operation's input that are not sent in the body object. */
  readonly slots?: Slots;
  /** The tag of a union's variant: written if the caller omits it; another value is refused. */
  readonly tag?: Tag | undefined;
  /** True for the credentials: their members are also stored separately (W24). */
  readonly keepsValues?: boolean;
}

// --- requests ----------------------------------------------------------------------------------------

/** Returns the reader of a record: XML → JSON, and checks of JSON. */
export function recordReader(
  context: ReaderContext,
  type: RecordType,
  { slots, tag, keepsValues = false }: RecordOptions = {},
): RequestReader {
  const fields = type.fields.map((field) => fieldReader(context, field, slots));
  const shape = shapeOf(context, type, fields, { tag, keepsValues });
  return {
    read: (xml, reading) => readRecord(shape, xml, reading),
    pass: (json, reading) => passRecord(shape, json, reading),
    fromText: undefined,
    nil: 'null',
    nilItem: context.nilItem,
  };
}

function fieldReader(context: ReaderContext, field: Field, slots: Slots | undefined): FieldReader {
  const { type, allowed, rules } = field;
  const slot = slots?.get(field.json);
  const isInput = slots !== undefined;
  let reader: RequestReader;
  if (allowed !== undefined && type.kind === 'enum')
    reader = context.ruled(enumReader(context, type, allowed), rules);
  else if (slot === credentialsSlot && type.kind === 'record')
    reader = recordReader(context, type, { keepsValues: true });
  else reader = context.readerOf(type, rules);
  return {
    field,
    reader,
    readNil: isNilAbsent(field, isInput, context.contract) ? undefined : reader.nil,
    slot,
    jsonKey: `${JSON.stringify(field.json)}:`,
  };
}

/**
 * Returns true if `xsi:nil` of a field means absent. This holds for a number, boolean, date or enum that rejects null
 * (W13), and for a record such as Request or Authentication.
 *
 * @param isInput true for a field of an operation's input
 */
export function isNilAbsent(
  { nillable, nilIsAbsent, type }: Pick<Field, 'nillable' | 'nilIsAbsent' | 'type'>,
  isInput: boolean,
  { nulls }: Contract,
): boolean {
  if (isInput && type.kind === 'record' && nulls !== 'kept') return true;
  return nilIsAbsent === true || (!nillable && !isReference(type));
}

/** Reads the children of the current element, past its end tag. */
function readRecord(shape: RecordShape, xml: XmlReader, reading: Reading): string {
  const { fields, byXml, typesNamespace, additional } = shape;
  const values: (string | undefined)[] = [];
  const seen: boolean[] = [];
  let keys: Distinct | undefined;
  let json = '{';
  let index = -1;
  let furthest = -1;
  while (xml.nextChild()) {
    // fast path: most children follow the order of the contract
    index = fields[index + 1]?.field.xml === xml.local ? index + 1 : (byXml.get(xml.local) ?? -1);
    const member = fields[index];
    if (member === undefined || !(xml.namespace === typesNamespace || xml.namespace === '')) {
      if (additional?.has(xml.local) !== true) passElement(shape, xml, reading);
      else {
        keys ??= new Distinct(shape.listed);
        const entries = additional.read(xml, reading, keys);
        if (entries !== '') json += json.length === 1 ? entries : `,${entries}`;
      }
      continue;
    }
    if (index < furthest) reading.isReordered = true;
    else furthest = index;
    reading.path.push(member.field.xml);
    if (seen[index] === true) {
      refuse(reading, 'DuplicateElement', { expected: 'the element once', got: 'it again' });
      xml.skip();
    } else {
      seen[index] = true;
      const value = readMember(member.reader.read, member.readNil, xml, reading);
      values[index] = value;
      if (value !== undefined) {
        if (member.slot !== undefined) reading.slots[member.slot] = value;
        else json += json.length === 1 ? member.jsonKey + value : `,${member.jsonKey}${value}`;
      }
    }
    reading.path.pop();
  }
  if (xml.hasText) refuse(reading, 'InvalidType', { expected: 'elements', got: 'text' });
  if (shape.tag !== undefined) json = withTag(shape, shape.tag, json, values, reading);
  if (shape.required.length !== 0) checkRequired(shape, values, 'xml', reading);
  if (shape.keepsValues) reading.credentials = values;
  return `${json}}`;
}

/** Adds the tag to the object's text so far. The caller may omit it if it has only one possible value. */
function withTag(
  { fields, tagIndex }: RecordShape,
  { member, values: [only = '', ...more] }: Tag,
  json: string,
  values: (string | undefined)[],
  reading: Reading,
): string {
  const value = values[tagIndex];
  if (value !== undefined) {
    if (value !== only && !more.includes(value)) {
      refuseAt(reading, (fields[tagIndex] as FieldReader).field.xml, 'InvalidEnum', {
        expected: `${[only, ...more].join(' or ')}, as the element says`,
        got: 'another value',
      });
    }
    return json;
  }
  if (more.length > 0) return json;
  values[tagIndex] = only;
  const text = `{${JSON.stringify(member)}:${only}`;
  return json === '{' ? text : `${text},${json.slice(1)}`;
}

/** Checks the object at the reader's position and records the edits that convert it for the upstream. */
function passRecord(shape: RecordShape, json: JsonReader, reading: Reading): void {
  if (!entersJson(json, reading, 123)) return;
  const { fields, byJson, byFolded, additional } = shape;
  const values: (string | undefined)[] = [];
  const seen: boolean[] = [];
  let keeps = false;
  let before = -1; // end of the previous member
  for (let first = true; json.next(first, 125); first = false) {
    const nameStart = json.position;
    const name = json.name();
    // if any name is allowed, names that differ in case are different members
    const index =
      byJson.get(name) ?? (additional === undefined ? byFolded.get(foldAscii(name)) : undefined) ?? -1;
    const member = fields[index];
    if (member === undefined && additional === undefined) {
      passMember(shape, json, name, reading);
      // including the comma before it
      if (!shape.refuseUnknown)
        reading.edits.push({ start: first ? nameStart : before, end: json.position, text: '' });
      before = json.position;
      continue;
    }
    if (!keeps && !first && !shape.refuseUnknown)
      reading.edits.push({ start: before, end: nameStart, text: '' });
    keeps = true;
    if (member === undefined) {
      passMember(shape, json, name, reading);
      continue;
    }
    reading.path.push(member.field.json);
    if (seen[index] === true) {
      refuse(reading, 'DuplicateElement', { expected: 'the member once', got: 'it again' });
      json.skip();
    } else {
      if (name !== member.field.json) editName(json, nameStart, member, reading);
      const start = json.position;
      const edits = reading.edits.length;
      member.reader.pass(json, reading);
      const value = json.text.slice(start, json.position);
      values[index] = value;
      if (member.slot !== undefined) {
        reading.slots[member.slot] = applyEdits(value, reading.edits.slice(edits), start);
        reading.spans[member.slot] = { start, end: json.position };
      }
      seen[index] = true;
    }
    before = json.position;
    reading.path.pop();
  }
  if (shape.required.length !== 0) checkRequired(shape, values, 'json', reading);
  if (shape.keepsValues) reading.credentials = values;
}

/** Records the edit of a name that differs in case. The reader is at the value after it. */
function editName(json: JsonReader, start: number, { jsonKey }: FieldReader, reading: Reading): void {
  const colon = json.text.lastIndexOf(':', json.position - 1);
  const end = start + json.text.slice(start, colon).trimEnd().length;
  reading.edits.push({ start, end, text: jsonKey.slice(0, -1) });
}

// --- replies -----------------------------------------------------------------------------------------

/** Options of a record in a reply. */
export interface ReplyOptions {
  /** Scans a responseStatus that the record's type does not declare (W30). */
  readonly undeclaredStatus?: ReplyWriter | undefined;
  /**
   * True if an object without any known member is a mismatch, because the whole reply is then something else (W20).
   */
  readonly isPayload?: boolean;
  /** Writers of members by JSON name that replace those of the members' types. */
  readonly inner?: ReadonlyMap<string, ReplyWriter> | undefined;
}

/** Index of a member that is not declared, and of a responseStatus that is not declared. */
const unlisted = -1;
const unlistedStatus = -2;

/**
 * JSON → XML: the tape has a slot per field, filled in the order of the reply and written in that of the contract
 * (W18). It is long because a function call per member would slow down replies by some percent.
 */
export function recordWriter(
  context: WriterContext,
  type: RecordType,
  { undeclaredStatus, isPayload = false, inner }: ReplyOptions = {},
): ReplyWriter {
  const members = type.fields.map((field) => fieldWriter(context, field, inner?.get(field.json)));
  const additional = type.additional === undefined ? undefined : additionalWriter(context, type.additional);
  const count = members.length;
  const notes = context.contract.settings.replies !== 'lenient';
  // a reply that may report its failure in its body is checked elsewhere (W30)
  const checkMembers = memberCheck(
    type,
    isPayload,
    additional === undefined && undeclaredStatus === undefined,
  );
  const byName = new Map(members.map(({ name }, index) => [name, index]));
  // Upstreams write a type's members in a constant order. The member that followed each one in the last object is tried
  // first: a hint that is verified and cannot change the output.
  const follower = new Int32Array(count + 1);
  for (let index = 0; index < count; index++) follower[index] = (index + 1) % count;

  /** Returns the index of the member with the name at the tape's position, and moves past its closing quote. */
  const findMember = (tape: Tape, before: number): number => {
    const name = tape.string();
    const index = byName.get(name);
    if (index !== undefined) follower[before] = index;
    return (
      index ?? (undeclaredStatus !== undefined && name === errorMembers.status ? unlistedStatus : unlisted)
    );
  };

  const scan = (tape: Tape): void => {
    if (!enters(tape, 123)) return;
    const slots = additional === undefined ? count : count + additional.words;
    const node = beginRecord(tape, slots);
    const objectStart = tape.position - 1;
    const droppedBefore = tape.dropped;
    let known = 0;
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
      if (member !== undefined) {
        const slot = node + 1 + index;
        if (tape.words[slot] !== -1)
          throw new MismatchError({ expected: 'the member once', got: 'it again' }).at(member.name);
        const value = tape.top;
        tape.words[slot] = value;
        known++;
        before = index;
        try {
          member.writer.scan(tape);
          if (tape.strict && tape.words[value] === nothing && member.element.nil === undefined)
            throw new MismatchError({ expected: 'a value', got: 'null' });
        } catch (error) {
          throw error instanceof MismatchError ? error.at(member.name) : error;
        }
      } else if (additional !== undefined && index === unlisted) {
        names = additional.scan(tape, node + 1 + count, nameStart, names);
      } else {
        tape.dropped++;
        if (index === unlistedStatus) undeclaredStatus?.scan(tape);
        else {
          if (notes) noteDropped(tape, type, nameStart);
          tape.skip();
        }
      }
    }
    if (notes && known < count) checkMembers(tape, objectStart, node + 1, known > 0, droppedBefore);
  };

  const write = (tape: Tape, node: number, output: Output): void => {
    const slots = node + 1;
    for (let index = 0; index < count; index++) {
      const value = tape.words[slots + index] as number;
      if (value === -1) continue;
      const member = members[index] as FieldWriter;
      writeElement(member.element, member.writer, tape, value, output);
    }
    additional?.write(tape, slots + count, output);
  };

  return { scan, write, declarations: '' };
}

/**
 * Returns the function that records missing required members of a scanned object. It throws MismatchError for a payload
 * with other members only.
 */
function memberCheck(type: RecordType, isPayload: boolean, isClosed: boolean) {
  const required = type.fields.flatMap(({ json, promised }, index) =>
    promised === true ? [{ index, member: json }] : [],
  );
  return (tape: Tape, at: number, slots: number, hasKnown: boolean, droppedBefore: number): void => {
    if (isPayload && !hasKnown && isClosed && tape.dropped > droppedBefore)
      throw new MismatchError({
        expected: `an object with members of ${type.name} (${someNames(type.fields.map(({ json }) => json))})`,
        got: 'one that has none of them, but others',
      });
    for (const { index, member } of required) {
      if (tape.words[slots + index] !== -1) continue;
      tape.missing++;
      tape.note({ kind: 'missing', type: type.name, member, at });
    }
  };
}

/** Records a member that the type lacks. Its name starts at an offset; the tape is at its value. */
function noteDropped(tape: Tape, type: RecordType, nameStart: number): void {
  const { position } = tape;
  tape.position = nameStart;
  tape.note({ kind: 'dropped', type: type.name, member: tape.string(), at: nameStart });
  tape.position = position;
}

/** Pushes a record's node with the given number of empty slots. */
function beginRecord(tape: Tape, slots: number): number {
  tape.reserve(slots + 1);
  const node = tape.top;
  tape.words[node] = record;
  for (let slot = node + 1; slot <= node + slots; slot++) tape.words[slot] = -1;
  tape.top = node + 1 + slots;
  return node;
}
