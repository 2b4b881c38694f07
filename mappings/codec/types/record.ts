import type { Field, JsonKind, RecordType, Tag, Type } from '../../contract/model.ts';
import { skipped } from '../../json/parts.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { nearest } from '../nearest.ts';
import { credentialsSlot, isFull, miss, type Reading, refuse, type Step } from '../problem.ts';
import { entersJson, opens, readMember } from '../read-element.ts';
import type { Codec, Setup, Slots } from '../readers.ts';
import { excerpt } from '../scalars/text.ts';
import { Distinct } from './distinct.ts';
import { enumCodec } from './enum.ts';
import { compileLook, type Look } from './fitting.ts';
import { entriesReader, type ReadEntries } from './map.ts';

interface Member {
  readonly field: Field;
  readonly codec: Codec;
  /** What the element with xsi:nil is in JSON; undefined for absent (W13). */
  readonly readNil: 'null' | undefined;
  readonly slot: number | undefined;
  readonly jsonKey: string;
}

function memberOf(setup: Setup, field: Field, slots: Slots | undefined): Member {
  const slot = slots?.get(field.json);
  const isSlottedRecord = slots !== undefined && field.type.kind === 'record';
  const codec = memberCodec(setup, field, slot);
  return {
    field,
    codec,
    // a nil Request or Authentication is as absent (W13)
    readNil: isSlottedRecord && setup.contract.nulls === 'by-kind' ? undefined : codec.nil,
    slot,
    jsonKey: `${JSON.stringify(field.json)}:`,
  };
}

function memberCodec(setup: Setup, { type, allowed, rules }: Field, slot: number | undefined): Codec {
  if (allowed !== undefined && type.kind === 'enum')
    return setup.ruled(enumCodec(setup, type, allowed), rules);
  if (slot === credentialsSlot && type.kind === 'record') return recordCodec(setup, type, { keep: true });
  return setup.codecOf(type, rules);
}

/** What a record may be besides a value like others. */
interface RecordOptions {
  /** Of an operation's input: the members that don't travel in the body object. */
  readonly slots?: Slots;
  /** Of a variant of a union: written where the caller left it out, refused where it says otherwise. */
  readonly tag?: Tag | undefined;
  /** True for the credentials: their members are kept apart as well. */
  readonly keep?: boolean;
}

/** A record: children by name, in any order (W11). */
export function recordCodec(setup: Setup, type: RecordType, { slots, tag, keep }: RecordOptions = {}): Codec {
  const { contract } = setup;
  const typesNamespace = contract.namespaces.types;
  const refuseUnknown = contract.settings.unknownElements === 'refuse';
  const members = type.fields.map((field) => memberOf(setup, field, slots));
  const byXml = new Map(members.map((member, index) => [member.field.xml, index]));
  const byJson = new Map(members.map((member, index) => [member.field.json, index]));
  const byFolded = new Map(members.map((member, index) => [foldAscii(member.field.json), index]));
  const required = members.flatMap((member, index) => (member.field.required ? [index] : []));
  const others = othersOf(setup, type);
  const listed = members.map(({ field }) => JSON.stringify(field.json));
  const tagIndex = tag === undefined ? undefined : byJson.get(tag.member);
  const keepsNulls = contract.nulls === 'kept';

  /** A required member that is absent, null, or an empty string that may not be (W42). */
  const checkRequired = (
    values: readonly (string | undefined)[],
    spelling: 'xml' | 'json',
    reading: Reading,
  ): void => {
    for (const index of required) {
      const field = members[index]?.field;
      if (field === undefined) continue;
      const value = values[index];
      const isNull = value === 'null' && !(keepsNulls && field.nillable);
      if (reading.missing.length >= reading.limit) return;
      if (value === undefined || isNull || (field.notEmpty && value === '""')) {
        missDeep(field, spelling, [...reading.path], reading);
      }
    }
  };

  /** Position of an element's member, -1 for none; most come in the order of the contract, `expected` being next. */
  const indexOf = (local: string, expected: number): number =>
    members[expected]?.field.xml === local ? expected : (byXml.get(local) ?? -1);

  const read = (xml: XmlReader, reading: Reading): string => {
    const values: (string | undefined)[] = [];
    const seen: boolean[] = [];
    let keys: Distinct | undefined;
    let json = '{';
    let index = -1;
    while (xml.nextChild()) {
      index = indexOf(xml.local, index + 1);
      const member = members[index];
      if (member === undefined || !(xml.namespace === typesNamespace || xml.namespace === '')) {
        const other = others?.read.get(xml.local);
        if (other === undefined) readUnknown(xml, byXml, reading);
        else {
          keys ??= new Distinct(listed);
          const entries = readOthers(other, xml, keys, reading);
          if (entries !== '') json += json.length === 1 ? entries : `,${entries}`;
        }
        continue;
      }
      reading.path.push(member.field.xml);
      if (seen[index] === true) {
        refuse(reading, 'DuplicateElement', 'expected the element once, got it again');
        xml.skip();
      } else {
        seen[index] = true;
        const value = readMember(member.codec.read, member.readNil, xml, reading);
        values[index] = value;
        if (value !== undefined) {
          if (member.slot !== undefined) reading.slots[member.slot] = value;
          else json += json.length === 1 ? member.jsonKey + value : `,${member.jsonKey}${value}`;
        }
      }
      reading.path.pop();
    }
    if (xml.stray) refuse(reading, 'InvalidType', 'expected elements, got text');
    if (tag !== undefined) json = withTag(tag, json, values, reading);
    if (required.length !== 0) checkRequired(values, 'xml', reading);
    if (keep === true) reading.credentials = values;
    return `${json}}`;
  };

  /** The object's text so far with the tag, which the caller may leave out where it can be one value only. */
  const withTag = (
    { member, values: [only = '', ...more] }: Tag,
    json: string,
    values: (string | undefined)[],
    reading: Reading,
  ): string => {
    const value = tagIndex === undefined ? undefined : values[tagIndex];
    if (value !== undefined) {
      if (value !== only && !more.includes(value)) {
        reading.path.push(members[tagIndex ?? -1]?.field.xml ?? member);
        refuse(
          reading,
          'InvalidEnum',
          `expected ${[only, ...more].join(' or ')}, as the element says, got another value`,
        );
        reading.path.pop();
      }
      return json;
    }
    if (more.length > 0) return json;
    if (tagIndex !== undefined) values[tagIndex] = only;
    const text = `{${JSON.stringify(member)}:${only}`;
    return json === '{' ? text : `${text},${json.slice(1)}`;
  };

  const pass = (json: JsonReader, reading: Reading): void => {
    if (!entersJson(json, reading, 123)) return;
    const values: (string | undefined)[] = [];
    const seen: boolean[] = [];
    for (let first = true; json.next(first, 125); first = false) {
      json.peek();
      const nameStart = json.position;
      const name = json.name();
      // where any name is one, another spelling is another member
      const index = byJson.get(name) ?? (others === undefined ? byFolded.get(foldAscii(name)) : undefined);
      const member = index === undefined ? undefined : members[index];
      if (index === undefined || member === undefined) {
        if (others === undefined) passUnknown(json, name, byJson, reading);
        else if (others.look === undefined) json.skip();
        else {
          reading.path.push(name.slice(0, 64));
          others.look(skipped(json), reading);
          reading.path.pop();
        }
        continue;
      }
      reading.path.push(member.field.json);
      const start = json.position;
      if (seen[index] === true) {
        refuse(reading, 'DuplicateElement', 'expected the member once, got it again');
        json.skip();
      } else {
        if (name !== member.field.json) {
          const nameEnd = json.text.lastIndexOf(':', start - 1);
          const end = nameStart + json.text.slice(nameStart, nameEnd).trimEnd().length;
          reading.edits.push({ start: nameStart, end, text: member.jsonKey.slice(0, -1) });
        }
        const edits = reading.edits.length;
        member.codec.pass(json, reading);
        const value = json.text.slice(start, json.position);
        values[index] = value;
        if (member.slot !== undefined) {
          reading.slots[member.slot] = applyEdits(value, reading.edits.slice(edits), start);
          reading.spans[member.slot] = { start, end: json.position };
        }
        seen[index] = true;
      }
      reading.path.pop();
    }
    if (required.length !== 0) checkRequired(values, 'json', reading);
    if (keep === true) reading.credentials = values;
  };

  /** An element that the type lacks: refused with the nearest name, or left out and noted (W12). */
  function readUnknown(xml: XmlReader, known: ReadonlyMap<string, number>, reading: Reading): void {
    if (!refuseUnknown) reading.ignored.push(xml.local);
    else if (!isFull(reading)) {
      reading.path.push(xml.local.slice(0, 64));
      const { namespace } = xml;
      const says =
        known.has(xml.local) && namespace !== typesNamespace
          ? `expected it in namespace "${typesNamespace}", got ${excerpt(namespace)}`
          : unknownSays('element', xml.local, known.keys(), type, 'xml');
      refuse(reading, 'UnknownElement', says);
      reading.path.pop();
    }
    xml.skip();
  }

  function passUnknown(
    json: JsonReader,
    name: string,
    known: ReadonlyMap<string, number>,
    reading: Reading,
  ): void {
    if (!refuseUnknown) reading.ignored.push(name);
    else if (!isFull(reading)) {
      reading.path.push(name.slice(0, 64));
      refuse(reading, 'UnknownElement', unknownSays('member', name, known.keys(), type, 'json'));
      reading.path.pop();
    }
    json.skip();
  }

  const codec: Codec = {
    read,
    pass,
    fromText: undefined,
    nil: 'null',
    nilItem: setup.nilItem,
  };
  return codec;
}

/** Members of other names than a record lists. */
interface Others {
  /** What reads them, by element. */
  readonly read: ReadonlyMap<string, ReadEntries>;
  /** Under `validate: strict`, what looks at those that come as JSON. */
  readonly look: Look | undefined;
}

/** Undefined where a record takes no others. */
function othersOf(setup: Setup, { others }: RecordType): Others | undefined {
  if (others === undefined) return undefined;
  const { typed, untyped } = others;
  const value = setup.codecOf(typed.type.value, typed.rules?.values);
  const read = new Map([[typed.xml, entriesReader(setup, typed.type, value)]]);
  const kinds: readonly JsonKind[] = ['string', 'integer', 'boolean', 'object', 'array'];
  const plain = setup.plainOf?.(typed.type.value);
  const look =
    plain === undefined
      ? undefined
      : compileLook(
          kinds.map((takes) => ({ takes, codec: value, plain })),
          setup.limits,
        );
  if (untyped !== undefined) {
    const json = setup.codecOf(untyped.type.value, untyped.rules?.values);
    read.set(
      untyped.xml,
      entriesReader(setup, untyped.type, look === undefined ? json : lookedAt(json, look)),
    );
  }
  return { read, look };
}

/** A codec of JSON in elements that is looked at as JSON of JSON callers is. */
function lookedAt(codec: Codec, look: Look): Codec {
  return {
    ...codec,
    read: (xml, reading) => {
      const before = reading.problems.length;
      const value = codec.read(xml, reading);
      if (value !== undefined && reading.problems.length === before) look(value, reading);
      return value;
    },
  };
}

/** Members of other names, which can't be those that the record lists. */
function readOthers(read: ReadEntries, xml: XmlReader, keys: Distinct, reading: Reading): string {
  reading.path.push(xml.local);
  const entries = opens(xml, reading) ? read(xml, reading, keys) : '';
  reading.path.pop();
  return entries;
}

/** A required member that isn't there; of a record, its own required members are named. */
function missDeep(
  field: Field,
  spelling: 'xml' | 'json',
  path: Step[],
  reading: Reading,
  around: readonly Type[] = [],
): void {
  if (reading.missing.length >= reading.limit) return;
  const { type } = field;
  path.push(field[spelling]);
  // a type that requires itself would be named for ever
  const inner =
    type.kind === 'record' && !around.includes(type) ? type.fields.filter(({ required }) => required) : [];
  if (inner.length === 0) miss(reading, path);
  for (const member of inner) missDeep(member, spelling, path, reading, [...around, type]);
  path.pop();
}

/** The sentence about an unknown name: the nearest known one, or where it belongs (W12, W37). */
function unknownSays(
  what: 'element' | 'member',
  name: string,
  known: Iterable<string>,
  type: RecordType,
  spelling: 'xml' | 'json',
): string {
  const names = [...known];
  const folded = foldAscii(name);
  for (const field of type.fields) {
    if (field.type.kind !== 'record') continue;
    const inner = field.type.fields.find((member) => foldAscii(member[spelling]) === folded);
    if (inner !== undefined) return `unknown ${what}; ${inner[spelling]} is a member of ${field[spelling]}`;
  }
  const near = nearest(name, names);
  if (near !== undefined) return `unknown ${what}, did you mean ${near}?`;
  return names.length === 0
    ? `unknown ${what}, none is expected here`
    : `unknown ${what}, expected ${names.slice(0, 12).join(', ')}${names.length > 12 ? ', …' : ''}`;
}

/** Lower case for A to Z alone: names match without regard to ASCII case (W37). */
export function foldAscii(name: string): string {
  if (!/[A-Z]/.test(name)) return name;
  if (!/[^\0-\x7f]/.test(name)) return name.toLowerCase();
  // letters beyond ASCII keep their case
  const units = Buffer.from(name, 'utf16le');
  for (let at = 0; at < units.length; at += 2) {
    const code = units[at] as number;
    if (units[at + 1] === 0 && code >= 65 && code <= 90) units[at] = code + 32;
  }
  return units.toString('utf16le');
}

/** `text` with the edits put in; they are in order, `offset` is where `text` starts in what they count from. */
export function applyEdits(
  text: string,
  edits: readonly { readonly start: number; readonly end: number; readonly text: string }[],
  offset = 0,
): string {
  if (edits.length === 0) return text;
  let edited = '';
  let from = 0;
  for (const edit of edits) {
    edited += text.slice(from, edit.start - offset) + edit.text;
    from = edit.end - offset;
  }
  return edited + text.slice(from);
}
