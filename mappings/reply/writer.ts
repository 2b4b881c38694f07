import { MismatchError } from '../codec/problem.ts';
import { readStatus } from '../codec/response-status.ts';
import type { Scalar } from '../codec/scalars.ts';
import { escapeAttribute, escapeXml } from '../codec/text.ts';
import { createZone, type Zone } from '../codec/zone.ts';
import { JsonReader } from '../json/reader.ts';
import type { Limits } from '../limits.ts';
import {
  type ArrayType,
  type Contract,
  type EnumType,
  type Field,
  isReference,
  type MapType,
  type RecordType,
  type ScalarName,
  type Type,
} from '../model.ts';
import { scanDate, writeDate } from './dates.ts';
import { type Piece, piece, XmlOutput } from './output.ts';
import { type NameKey, nameKey, nodeKinds, Tape } from './tape.ts';

const { nothing, empty, plain, text, made, record, list, date } = nodeKinds;

/**
 * JSON → XML for values of one type, compiled at start. Two steps: `scan` checks a value's JSON and lays its
 * parts out on the tape, `write` takes them from there in the order of the wire (W18).
 */
export interface ReplyWriter {
  /** Moves past the value that starts at the tape's position and pushes one node. Throws MismatchError, JsonError. */
  readonly scan: (tape: Tape) => void;
  /** Writes the content of a record or list node; nodes of other kinds write themselves. */
  readonly write: (tape: Tape, node: number, output: XmlOutput) => void;
  /** Namespace declarations on every element of this type (W20). */
  readonly declarations: string;
}

export interface ReplyWriters {
  /** The writer of a type, compiled on first use. */
  readonly writerOf: (type: Type) => ReplyWriter;
  /** The writer of an operation's output; a responseStatus beside its members is looked at too (W30). */
  readonly outputOf: (type: RecordType) => ReplyWriter;
  /** One field's element, where the reply is that field's value alone. */
  readonly elementOf: (field: Field) => ElementWriter;
  /** One value's JSON as an element's content. Throws MismatchError, JsonError. */
  readonly writeValue: (writer: ReplyWriter, json: string) => WrittenValue;
  /** A responseStatus's JSON as an element's content, for writing an error. */
  readonly writeStatus: (json: string) => string;
}

/** Writes a value's node with its tags, or what stands for it. */
export interface ElementWriter {
  readonly scan: (tape: Tape) => void;
  readonly write: (tape: Tape, node: number, output: XmlOutput) => void;
}

/** What writing one value came to. */
export interface WrittenValue {
  /** The element's content; null for a JSON null. */
  readonly content: string | null;
  readonly dropped: number;
  readonly replaced: number;
  readonly failed: boolean;
}

/** An element around a value: its tags, and what stands for it when empty or null (W19, W20). */
interface Element {
  readonly open: Piece;
  readonly close: Piece;
  readonly empty: Piece;
  readonly nil: Piece | undefined;
  /** Bytes of both tags. */
  readonly room: number;
}

function elementOf(name: string, declarations: string, nillable: boolean): Element {
  const open = piece(`<${name}${declarations}>`);
  const close = piece(`</${name}>`);
  return {
    open,
    close,
    empty: piece(`<${name}${declarations}/>`),
    nil: nillable ? piece(`<${name} i:nil="true"/>`) : undefined,
    room: open.length + close.length + 32,
  };
}

/** The writers of a contract's types. */
export function compileReplyWriters(
  contract: Contract,
  scalars: Readonly<Record<ScalarName, Scalar>>,
  limits: Limits,
): ReplyWriters {
  const { types, arrays } = contract.namespaces;
  const arrayPrefix = arrays === types ? '' : 'a:';
  const arrayDeclaration = arrays === types ? '' : ` xmlns:a="${escapeAttribute(arrays)}"`;
  /** The zone of `/Date()/`s; undefined where dates are ISO. */
  const dates =
    contract.settings.dates === 'wcf' ? createZone(contract.settings.upstreamTimeZone) : undefined;
  // a value may hold a responseStatus, which is written with a pen of its own
  const writeValue = valueWriter(limits);
  const writeInner = valueWriter(limits);

  // A responseStatus as an ordinary record whose misfits are left out, then as it stands inside replies.
  const plainStatus = writersOf(new Map(), leaveOutMisfits)(contract.responseStatus);
  const status = statusWriter(contract, limits, (json) => writeInner(plainStatus, json));
  const writerOf = writersOf(
    new Map<Type, ReplyWriter>([[contract.responseStatus, status]]),
    (writer) => writer,
  );
  const statusBeside = contract.settings.soapErrors === 'in-band' ? status : undefined;

  /** Writers by type, each compiled once; `leaf` is what becomes of those of scalars and enums. */
  function writersOf(
    compiled: Map<Type, ReplyWriter>,
    leaf: (writer: ReplyWriter) => ReplyWriter,
  ): (type: Type) => ReplyWriter {
    const compiledScalars = new Map<ScalarName, ReplyWriter>();
    return ofType;

    function ofType(type: Type): ReplyWriter {
      if (type.kind === 'scalar') {
        const known =
          compiledScalars.get(type.scalar) ??
          leaf(scalarWriter(type.scalar, scalars[type.scalar], dates, limits));
        compiledScalars.set(type.scalar, known);
        return known;
      }
      const known = compiled.get(type);
      if (known !== undefined) return known;
      // Stands in while the parts are compiled, so that a type may reach itself.
      let target: ReplyWriter | undefined;
      const forward = (): ReplyWriter => {
        if (target === undefined) throw new Error(`writer of ${type.name} used before it was compiled`);
        return target;
      };
      const inArrays = (type.kind === 'array' || type.kind === 'map') && type.namespace === 'arrays';
      const declarations = inArrays ? arrayDeclaration : '';
      compiled.set(type, {
        scan: (at) => forward().scan(at),
        write: (at, node, to) => forward().write(at, node, to),
        declarations,
      });
      target = compile(type, inArrays ? arrayPrefix : '', declarations);
      compiled.set(type, target);
      return target;
    }

    function compile(
      type: Exclude<Type, { kind: 'scalar' }>,
      prefix: string,
      declarations: string,
    ): ReplyWriter {
      switch (type.kind) {
        case 'record':
          return recordWriter(type, ofType, undefined);
        case 'array':
          return arrayWriter(type, ofType(type.item), prefix, declarations);
        case 'map':
          return mapWriter(type, ofType(type.value), prefix, declarations);
        case 'enum':
          return leaf(enumWriter(type, contract.settings.unknownEnumValues === 'pass'));
      }
    }
  }

  return {
    writerOf,
    outputOf: (type) => recordWriter(type, writerOf, statusBeside),
    elementOf: (field) => {
      const { writer, element } = memberOf(field, writerOf);
      return {
        scan: (at) => {
          try {
            writer.scan(at);
          } catch (error) {
            throw error instanceof MismatchError ? error.at(field.json) : error;
          }
        },
        write: (at, node, to) => writeElement(element, writer, at, node, to),
      };
    },
    writeValue,
    writeStatus: (json) => writeValue(plainStatus, json).content ?? '',
  };
}

/** Writes single values, one at a time. */
function valueWriter(limits: Limits): ReplyWriters['writeValue'] {
  const tape = new Tape();
  const output = new XmlOutput();
  return (writer, json) => {
    tape.start(Buffer.from(json), limits);
    writer.scan(tape);
    tape.end();
    output.start(json.length * 2);
    const [kind] = tape.words;
    if (kind === record || kind === list) writer.write(tape, 0, output);
    else if (kind === plain) output.text(tape.slice(tape.words[1] ?? 0, tape.words[2] ?? 0));
    else if (kind !== nothing && kind !== empty) writeText(tape, 0, output);
    const content = kind === nothing ? null : output.take().toString('utf8');
    const { dropped, replaced, failed } = tape;
    tape.release();
    return { content, dropped, replaced, failed };
  };
}

/** A scalar of a responseStatus: a value that isn't of its type is left out and counted (W30). */
function leaveOutMisfits(writer: ReplyWriter): ReplyWriter {
  return {
    ...writer,
    scan: (tape) => {
      const { position, top } = tape;
      try {
        writer.scan(tape);
      } catch (error) {
        if (!(error instanceof MismatchError)) throw error;
        tape.position = position;
        tape.top = top;
        tape.skip();
        tape.dropped++;
        tape.pushKind(nothing);
      }
    },
  };
}

/** Writes the element around a node, or what stands for it. */
function writeElement(
  element: Element,
  writer: ReplyWriter,
  tape: Tape,
  node: number,
  output: XmlOutput,
): void {
  const { words } = tape;
  const kind = words[node];
  if (kind === plain) {
    const start = words[node + 1] as number;
    const end = words[node + 2] as number;
    output.reserve(element.room + end - start);
    output.piece(element.open);
    output.copy(tape.bytes, tape.view, start, end);
    output.piece(element.close);
  } else if (kind === nothing) {
    if (element.nil === undefined) return;
    output.reserve(element.room);
    output.piece(element.nil);
  } else if (kind === empty) {
    output.reserve(element.room);
    output.piece(element.empty);
  } else {
    output.reserve(element.room);
    const before = output.length;
    output.piece(element.open);
    const start = output.length;
    if (kind === record || kind === list) writer.write(tape, node, output);
    else writeText(tape, node, output);
    output.reserve(element.room);
    if (output.length !== start) output.piece(element.close);
    else {
      output.length = before;
      output.piece(element.empty);
    }
  }
}

/** Writes a `text`, `made` or `date` node. */
function writeText(tape: Tape, node: number, output: XmlOutput): void {
  const { words } = tape;
  const first = words[node + 1] as number;
  if (words[node] === date) {
    const time = words[node + 2] as number;
    writeDate(output, first, time >> 1, (time & 1) === 1);
    return;
  }
  if (words[node] === made) {
    output.text(tape.made[first] ?? '');
    return;
  }
  const end = words[node + 2] as number;
  if (!output.content(tape.bytes, first, end, tape)) output.text(escapeXml(tape.decode(first, end), tape));
}

// --- scalars and enums ---------------------------------------------------------------------------

const noContent = (): void => {};

function scanNull(tape: Tape): void {
  tape.scanLiteral();
  tape.pushKind(nothing);
}

/** Numbers of so few bytes are in every range of their type; longer ones are looked at as text. */
const safeLengths: Partial<Record<ScalarName, number>> = {
  byte: 2,
  unsignedByte: 2,
  short: 4,
  unsignedShort: 4,
  int: 9,
  unsignedInt: 9,
  long: 18,
  unsignedLong: 18,
  integer: 300,
};

const unsignedNames = new Set<ScalarName>(['unsignedByte', 'unsignedShort', 'unsignedInt', 'unsignedLong']);

function scalarWriter(
  name: ScalarName,
  scalar: Scalar,
  dates: Zone | undefined,
  limits: Limits,
): ReplyWriter {
  /** The value that starts here by the scalar's own rules, from its text. */
  const scanSlowly = (tape: Tape): void => {
    const start = tape.position;
    tape.skip();
    const json = new JsonReader(tape.slice(start, tape.position), limits);
    const content = scalar.toXml(json);
    tape.replaced += json.replaced;
    if (content === null) tape.pushKind(nothing);
    else if (content === '') tape.pushKind(empty);
    else tape.pushMade(content);
  };

  const scanText = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte === 34) {
      const start = tape.position + 1;
      const asIs = tape.scanString();
      const end = tape.position - 1;
      if (start === end) tape.pushKind(empty);
      else tape.pushRange(asIs ? plain : text, start, end);
    } else if (byte === 110) scanNull(tape);
    else scanSlowly(tape);
  };

  /** Numbers that need no second look go out as the bytes that came. */
  const scanNumber =
    (isPlain: (integer: boolean, length: number, tape: Tape, start: number) => boolean) =>
    (tape: Tape): void => {
      const byte = tape.peek();
      if (byte === 45 || (byte >= 48 && byte <= 57)) {
        const start = tape.position;
        const integer = tape.scanNumber();
        if (isPlain(integer, tape.position - start, tape, start)) {
          tape.pushRange(plain, start, tape.position);
          return;
        }
        tape.position = start;
        scanSlowly(tape);
      } else if (byte === 110) scanNull(tape);
      else scanSlowly(tape);
    };

  const scanBoolean = (tape: Tape): void => {
    const byte = tape.peek();
    const start = tape.position;
    if (byte === 116 || byte === 102) {
      tape.scanLiteral();
      tape.pushRange(plain, start, tape.position);
    } else if (byte === 110) scanNull(tape);
    else scanSlowly(tape);
  };

  const scanOther = (tape: Tape): void => {
    if (tape.peek() === 110) scanNull(tape);
    else scanSlowly(tape);
  };

  const scan = (): ReplyWriter['scan'] => {
    if (name === 'string') return scanText;
    if (name === 'boolean') return scanBoolean;
    if (name === 'guid') return (tape) => scanGuid(tape, scanOther);
    if (name === 'dateTime' && dates !== undefined) return (tape) => scanDateOr(tape, dates, scanOther);
    if (name === 'base64Binary') return (tape) => scanBase64(tape, scanOther);
    if (name === 'decimal')
      return scanNumber((_, length, tape, start) => length <= 400 && !hasExponent(tape, start));
    if (name === 'double' || name === 'float') {
      const most = name === 'double' ? 300 : 38;
      return scanNumber((_, length, tape, start) => length <= most && !hasExponent(tape, start));
    }
    const safe = safeLengths[name];
    if (safe === undefined) return scanOther;
    const signed = !unsignedNames.has(name);
    return scanNumber(
      (integer, length, tape, start) =>
        integer &&
        length <= safe &&
        (tape.bytes[start] !== 45 || (signed && length > 1 && tape.bytes[start + 1] !== 48)),
    );
  };

  return { scan: scan(), write: noContent, declarations: '' };
}

const hexadecimal = new Uint8Array(256);
for (const byte of Buffer.from('0123456789abcdef')) hexadecimal[byte] = 1;

/** 32 lower-case digits, .NET's form N and the commonest, get their dashes; other forms go by the scalar's rule (W21). */
function scanGuid(tape: Tape, otherwise: (tape: Tape) => void): void {
  const { bytes } = tape;
  if (tape.peek() === 34) {
    const start = tape.position + 1;
    let at = start;
    while (hexadecimal[bytes[at] as number] === 1) at++;
    if (at - start === 32 && bytes[at] === 34) {
      const digits = tape.slice(start, at);
      tape.position = at + 1;
      tape.pushMade(
        `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`,
      );
      return;
    }
  }
  otherwise(tape);
}

function scanDateOr(tape: Tape, zone: Zone, otherwise: (tape: Tape) => void): void {
  const found = tape.peek() === 34 ? scanDate(tape, zone) : undefined;
  if (found === undefined) otherwise(tape);
  else tape.pushRange(date, found.days, found.ms * 2 + (found.utc ? 1 : 0));
}

function hasExponent(tape: Tape, start: number): boolean {
  for (let at = start; at < tape.position; at++) if (((tape.bytes[at] as number) | 32) === 101) return true;
  return false;
}

const base64Byte = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'))
  base64Byte[byte] = 1;

/** Base64 without padding or escapes before its end goes out as it came; the last four letters by the scalar's rule. */
function scanBase64(tape: Tape, otherwise: (tape: Tape) => void): void {
  if (tape.peek() !== 34) {
    otherwise(tape);
    return;
  }
  const { bytes } = tape;
  const start = tape.position + 1;
  let at = start;
  while (base64Byte[bytes[at] as number] === 1) at++;
  if (bytes[at] === 34 && at > start && (at - start) % 4 === 0) {
    tape.position = at + 1;
    tape.pushRange(plain, start, at);
  } else if (bytes[at] === 61 && at - start > 64) scanPadded(tape, start, at, otherwise);
  else otherwise(tape);
}

/** A long base64 with padding: its last group is checked as text, the rest has been seen. */
function scanPadded(tape: Tape, start: number, padding: number, otherwise: (tape: Tape) => void): void {
  const end = tape.bytes[padding + 1] === 61 ? padding + 2 : padding + 1;
  const last = tape.slice(end - 4, end);
  const good = end - padding === 2 ? /^[A-Za-z0-9+/][AQgw]==$/ : /^[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=$/;
  if ((end - start) % 4 !== 0 || tape.bytes[end] !== 34 || !good.test(last)) {
    otherwise(tape);
    return;
  }
  tape.position = end + 1;
  tape.pushRange(plain, start, end);
}

function enumWriter(type: EnumType, passUnknown: boolean): ReplyWriter {
  const known = type.values.filter((value) => /^[A-Za-z0-9_ .:/-]+$/.test(value)).map(nameKey);
  const others = new Set(type.values);
  const expected = type.values.length > 12 ? `a value of ${type.name}` : `one of ${type.values.join(', ')}`;
  const scan = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte === 110) {
      scanNull(tape);
      return;
    }
    if (byte !== 34) throw new MismatchError(`expected ${expected}, got ${tape.kind()}`);
    const start = tape.position + 1;
    for (const key of known) {
      if (tape.matches(start, key)) {
        tape.position = start + key.length;
        tape.pushRange(plain, start, tape.position - 1);
        return;
      }
    }
    const asIs = tape.scanString();
    const end = tape.position - 1;
    const value = tape.decode(start, end);
    if (value === '' && !others.has('')) tape.pushKind(nothing);
    else if (!others.has(value) && !passUnknown)
      throw new MismatchError(`expected ${expected}, got another value`);
    else if (value === '') tape.pushKind(empty);
    else tape.pushRange(asIs ? plain : text, start, end);
  };
  return { scan, write: noContent, declarations: '' };
}

// --- records ---------------------------------------------------------------------------------------

interface Member {
  readonly name: string;
  readonly key: NameKey;
  readonly writer: ReplyWriter;
  readonly element: Element;
}

function memberOf(field: Field, writerOf: (type: Type) => ReplyWriter): Member {
  const writer = writerOf(field.type);
  // where the WSDL allows no nil, an absent element says the same
  const nillable = field.nillable && isReference(field.type);
  return {
    name: field.json,
    key: nameKey(field.json),
    writer,
    element: elementOf(field.xml, writer.declarations, nillable),
  };
}

/** @param statusBeside reads a responseStatus that stands beside the members rather than in them (W30) */
function recordWriter(
  type: RecordType,
  writerOf: (type: Type) => ReplyWriter,
  statusBeside: ReplyWriter | undefined,
): ReplyWriter {
  const members = type.fields.map((field) => memberOf(field, writerOf));
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
    const byte = tape.peek();
    if (byte !== 123) {
      if (byte !== 110) throw new MismatchError(`expected an object, got ${tape.kind()}`);
      scanNull(tape);
      return;
    }
    tape.enter();
    tape.reserve(count + 1);
    const node = tape.top;
    tape.words[node] = record;
    for (let slot = node + 1; slot <= node + count; slot++) tape.words[slot] = -1;
    tape.top = node + 1 + count;
    let before = count;
    for (let first = true; tape.next(first, 125); first = false) {
      if (tape.bytes[tape.position] !== 34) tape.fail('a member name');
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
        member.writer.scan(tape);
      } catch (error) {
        throw error instanceof MismatchError ? error.at(member.name) : error;
      }
    }
  };

  const write = (tape: Tape, node: number, output: XmlOutput): void => {
    const slots = node + 1;
    for (let index = 0; index < count; index++) {
      const value = tape.words[slots + index] as number;
      if (value === -1) continue;
      const member = members[index] as Member;
      writeElement(member.element, member.writer, tape, value, output);
    }
  };

  return { scan, write, declarations: '' };
}

/** A responseStatus inside a reply: nothing in it makes the reply fail, and an errorCode is noticed (W30). */
function statusWriter(
  contract: Contract,
  limits: Limits,
  writeTidy: (json: string) => WrittenValue,
): ReplyWriter {
  const scan = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte === 110) {
      scanNull(tape);
      return;
    }
    if (byte === 123 && tape.bytes[tape.position + 1] === 125) {
      tape.position += 2;
      tape.pushKind(empty);
      return;
    }
    const start = tape.position;
    tape.skip();
    const json = new JsonReader(tape.slice(start, tape.position), limits);
    const status = readStatus(json, contract.responseStatus, contract.settings, (_, value) => value);
    tape.dropped += json.dropped;
    if (status === undefined) tape.pushKind(nothing);
    else if (status.errorCode !== undefined) {
      tape.failed = true;
      tape.pushKind(empty);
    } else {
      const { content, replaced, dropped } = writeTidy(status.text);
      tape.replaced += replaced;
      tape.dropped += dropped;
      if (content === null || content === '') tape.pushKind(empty);
      else tape.pushMade(content);
    }
  };
  return { scan, write: noContent, declarations: '' };
}

// --- arrays and maps -------------------------------------------------------------------------------

/** An item's entry: a link to the next one, then its node; -1 ends the chain. */
function arrayWriter(type: ArrayType, item: ReplyWriter, prefix: string, declarations: string): ReplyWriter {
  const element = elementOf(prefix + type.itemName, item.declarations, true);
  const scan = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte !== 91) {
      if (byte !== 110) throw new MismatchError(`expected an array, got ${tape.kind()}`);
      scanNull(tape);
      return;
    }
    tape.enter();
    tape.reserve(2);
    const node = tape.top;
    tape.words[node] = list;
    tape.words[node + 1] = -1;
    tape.top = node + 2;
    let link = node + 1;
    let index = 0;
    try {
      for (; tape.next(index === 0, 93); index++) {
        tape.reserve(1);
        tape.words[link] = tape.top;
        link = tape.top;
        tape.words[link] = -1;
        tape.top = link + 1;
        item.scan(tape);
      }
    } catch (error) {
      throw error instanceof MismatchError ? error.at(index) : error;
    }
  };
  const write = (tape: Tape, node: number, output: XmlOutput): void => {
    for (let entry = tape.words[node + 1] as number; entry !== -1; entry = tape.words[entry] as number) {
      writeElement(element, item, tape, entry + 1, output);
    }
  };
  return { scan, write, declarations };
}

/** As an array's, with the key between the link and the value's node. */
function mapWriter(type: MapType, value: ReplyWriter, prefix: string, declarations: string): ReplyWriter {
  const entryOpen = piece(`<${prefix}${type.entryName}>`);
  const entryClose = piece(`</${prefix}${type.entryName}>`);
  const key = elementOf(`${prefix}Key`, '', false);
  const element = elementOf(`${prefix}Value`, value.declarations, true);
  const scan = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte !== 123) {
      if (byte !== 110) throw new MismatchError(`expected an object, got ${tape.kind()}`);
      scanNull(tape);
      return;
    }
    tape.enter();
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
      tape.reserve(1);
      tape.words[link] = tape.top;
      link = tape.top;
      tape.words[link] = -1;
      tape.top = link + 1;
      if (start === end) tape.pushRange(empty, 0, 0);
      else tape.pushRange(asIs ? plain : text, start, end);
      value.scan(tape);
    }
  };
  const write = (tape: Tape, node: number, output: XmlOutput): void => {
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
