import { type Contract, errorMembers, type Field, type RecordType, type Tag } from '../../contract/model.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext } from '../context.ts';
import { enters, entersJson, readMember, refuseAgain, refuseText, writeElement } from '../element.ts';
import { objectMembers, type ScanOther, scanObject } from '../json-scan.ts';
import { applyEdits, credentialsSlot, MismatchError, type Reading, refuse, refuseAt } from '../problem.ts';
import { isReference } from '../scalars/table.ts';
import { foldAscii, someNames } from '../scalars/text.ts';
import { additionalWriter } from './additional-properties.ts';
import { Distinct } from './distinct.ts';
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
import { enumReader } from './scalar.ts';

/**
 * Codec of a record: an element for each field, in any order in requests (W11), in the contract's order in replies
 * (W18).
 */

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
    if (seen[index] === true) refuseAgain(xml, reading);
    else {
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
  refuseText(xml, reading);
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
  const refusesUnknown = shape.context.settings.unknownElements === 'refuse';
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
      if (!refusesUnknown)
        reading.edits.push({ start: first ? nameStart : before, end: json.position, text: '' });
      before = json.position;
      continue;
    }
    if (!keeps && !first && !refusesUnknown) reading.edits.push({ start: before, end: nameStart, text: '' });
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

/**
 * JSON → XML: the tape has a slot per field, filled in the order of the reply and written in that of the contract
 * (W18).
 */
export function recordWriter(
  context: WriterContext,
  type: RecordType,
  { undeclaredStatus, isPayload = false, inner }: ReplyOptions = {},
): ReplyWriter {
  const fields = type.fields.map((field) => fieldWriter(context, field, inner?.get(field.json)));
  const additional = type.additional === undefined ? undefined : additionalWriter(context, type.additional);
  const count = fields.length;
  const members = objectMembers(
    1,
    type.fields.map(({ json }) => json),
    fields.map(({ writer }) => writer.scan),
    fields.map(({ element }) => element.nil === undefined),
    additional?.words,
  );
  const notes = context.contract.settings.replies !== 'lenient';
  // a reply that may report its failure in its body is checked elsewhere (W30); a type without members has none to know
  const checkMembers = memberCheck(
    type,
    isPayload && count > 0 && additional === undefined && undeclaredStatus === undefined,
  );

  /** @param names names of the object's additional members so far */
  const scanOther: ScanOther<Set<string> | undefined> = (name, start, node, tape, names) => {
    const isStatus = undeclaredStatus !== undefined && name === errorMembers.status;
    if (names !== undefined && !isStatus) {
      additional?.scan(tape, node + 1 + count, start, names);
      return undefined;
    }
    tape.dropped++;
    if (isStatus) undeclaredStatus.scan(tape);
    else {
      if (notes) tape.note({ kind: 'dropped', type: type.name, member: name, at: start });
      tape.skip();
    }
    return 'unknown';
  };

  const scan = (tape: Tape): void => {
    if (!enters(tape, 123)) return;
    const node = tape.top;
    const at = tape.position - 1;
    const names = additional === undefined ? undefined : new Set<string>();
    const unknown = scanObject(members, tape, scanOther, names);
    if (notes) checkMembers(tape, at, node + 1, unknown !== undefined);
  };

  const write = (tape: Tape, node: number, output: Output): void => {
    const slots = node + 1;
    for (let index = 0; index < count; index++) {
      const value = tape.words[slots + index] as number;
      if (value === -1) continue;
      const { element, writer } = fields[index] as FieldWriter;
      writeElement(element, writer, tape, value, output);
    }
    additional?.write(tape, slots + count, output);
  };

  return { scan, write, declarations: '' };
}

/**
 * Returns the function that records missing required members of a scanned object.
 *
 * @param needsKnown true if an object with unknown members only is a mismatch
 */
function memberCheck(type: RecordType, needsKnown: boolean) {
  const required = type.fields.flatMap(({ json, promised }, index) =>
    promised === true ? [{ index, member: json }] : [],
  );
  return (tape: Tape, at: number, slots: number, hasUnknown: boolean): void => {
    if (needsKnown && hasUnknown && type.fields.every((_, index) => tape.words[slots + index] === -1))
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
