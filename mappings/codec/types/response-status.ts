import type { Limits } from '../../contract/limits.ts';
import type { Contract, RecordType, Type } from '../../contract/model.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { ReplyWriter } from '../context.ts';
import { noContent, scanNull, type WrittenValue } from '../element.ts';
import { MismatchError } from '../problem.ts';

const { empty, nothing } = nodeKinds;

/**
 * The outcome of a call in the upstream's response, converted to its type. Errors in it do not fail the reply (W30).
 */
export interface Status {
  /** Not empty if the call failed. */
  readonly errorCode: string | undefined;
  /** Includes `stackTrace` only if the settings keep it. */
  readonly members: StatusMembers;
}

/** A value of a responseStatus. Scalars are texts, whatever their JSON type. */
export type StatusValue = string | null | readonly StatusValue[] | StatusMembers;

/** The members of an object, in their order. */
export type StatusMembers = ReadonlyMap<string, StatusValue>;

/** Converts a responseStatus, or a value of it, to JSON. */
export function statusJson(value: StatusValue): string {
  if (value === null || typeof value === 'string') return JSON.stringify(value);
  if (!(value instanceof Map)) return `[${[...value.values()].map(statusJson).join(',')}]`;
  const members: string[] = [];
  for (const [name, member] of value) members.push(`${JSON.stringify(name)}:${statusJson(member)}`);
  return `{${members.join(',')}}`;
}

/** Returns the text of a member as it is written; undefined to leave the member out. */
export type TakeText = (member: string, value: string) => string | undefined;

/**
 * Reads the responseStatus at the reader; undefined if it is not an object. Counts omitted values. Throws JsonError. It
 * is one function because its parts call each other.
 */
export function readStatus(
  json: JsonReader,
  type: RecordType,
  settings: Settings,
  redact: TakeText,
): Status | undefined {
  const start = json.peek();
  if (start !== 123) {
    if (start !== 110) json.dropped++;
    json.skip();
    return undefined;
  }
  let errorCode: string | undefined;
  const keepStackTrace = settings.stackTrace === 'keep';
  let depth = 1;
  const take: TakeText = (member, value) => {
    if (depth === 1 && member === 'errorCode' && value !== '') errorCode = value;
    return member === 'stackTrace' && !keepStackTrace ? undefined : redact(member, value);
  };

  /** Reads the value at the reader as the type; undefined if it does not match and is dropped. */
  const tidy = (inner: Type, member: string): StatusValue | undefined => {
    const code = json.peek();
    if (code === 110) {
      json.literal();
      return null;
    }
    if (inner.kind === 'record' && code === 123) {
      depth++;
      const written = object((name) => inner.fields.find((field) => field.json === name)?.type);
      depth--;
      return written;
    }
    if (inner.kind === 'map' && code === 123) return object(() => inner.value, member);
    if (inner.kind === 'array' && code === 91) return array(inner.item, member);
    if ((inner.kind === 'scalar' || inner.kind === 'enum') && code !== 123 && code !== 91) {
      const text =
        code === 34 ? json.string() : code === 116 || code === 102 ? json.literal() : json.number();
      return take(member, text);
    }
    json.dropped++;
    json.skip();
    return undefined;
  };

  const object = (typeOf: (name: string) => Type | undefined, member?: string): StatusMembers => {
    const members = new Map<string, StatusValue>();
    const seen = new Set<string>();
    json.enter();
    for (let first = true; json.next(first, 125); first = false) {
      const name = json.name();
      const inner = typeOf(name);
      // a key of meta is the upstream's text, like its value
      const key = member === undefined ? name : redact(member, name);
      if (inner === undefined || key === undefined || seen.has(key)) {
        json.dropped++;
        json.skip();
        continue;
      }
      seen.add(key);
      const value = tidy(inner, member ?? name);
      if (value !== undefined) members.set(key, value);
    }
    return members;
  };

  const array = (item: Type, member: string): StatusValue => {
    const items: StatusValue[] = [];
    json.enter();
    for (let first = true; json.next(first, 93); first = false) {
      const value = tidy(item, member);
      if (value !== undefined) items.push(value);
    }
    return items;
  };

  const members = object((name) => type.fields.find((field) => field.json === name)?.type);
  return { errorCode, members };
}

/**
 * Returns the writer of a responseStatus inside a reply. Errors in it do not fail the reply, and an errorCode is
 * recorded (W30).
 *
 * @param writeTidy writes the status after it was converted to its type
 */
export function statusWriter(
  contract: Contract,
  limits: Limits,
  writeTidy: (json: string) => WrittenValue,
): ReplyWriter {
  const scan = (tape: Tape): void => {
    if (scanNull(tape)) return;
    if (tape.peek() === 123 && tape.bytes[tape.position + 1] === 125) {
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
      const { content, replaced, dropped } = writeTidy(statusJson(status.members));
      tape.replaced += replaced;
      tape.dropped += dropped;
      tape.pushMade(content ?? '');
    }
  };
  return { scan, write: noContent, declarations: '' };
}

/** Returns the writer of a scalar in a responseStatus: a value of another type is omitted and counted (W30). */
export function omitMismatches(writer: ReplyWriter): ReplyWriter {
  return {
    ...writer,
    scan: (tape) => {
      const { position } = tape;
      try {
        writer.scan(tape);
      } catch (error) {
        if (!(error instanceof MismatchError)) throw error;
        tape.position = position;
        tape.skip();
        tape.dropped++;
        tape.pushKind(nothing);
      }
    },
  };
}
