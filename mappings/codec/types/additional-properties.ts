import type { AdditionalElement, AdditionalProperties, JsonKind } from '../../contract/model.ts';
import { skipped } from '../../json/parts.ts';
import type { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { Output } from '../../xml/output.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReaderContext, RequestReader, WriterContext } from '../context.ts';
import { elementOf, opens, writeElement } from '../element.ts';
import { pushEntry } from '../json-scan.ts';
import { MismatchError, type Reading } from '../problem.ts';
import type { Distinct } from './distinct.ts';
import { compileLook, type Look } from './fitting.ts';
import { entriesReader, type ReadEntries } from './map.ts';

/**
 * Additional properties of a record: map entries in one element for values of the declared type, and in another for all
 * other values (W20).
 */

const { list } = nodeKinds;

// --- requests ----------------------------------------------------------------------------------------

/** Reads a record's additional properties. */
export interface AdditionalReader {
  /** Returns true for the name of an element that holds additional properties. */
  readonly has: (local: string) => boolean;
  /** Reads the entries of the current element as JSON members, without braces. Refuses keys that exist. */
  readonly read: (xml: XmlReader, reading: Reading, keys: Distinct) => string;
  /** Passes the JSON value of an additional property, which `validate: strict` checks. */
  readonly pass: (json: JsonReader, name: string, reading: Reading) => void;
}

/** Compiles the reader of a record's additional properties. */
export function additionalReader(
  context: ReaderContext,
  { typed, untyped }: AdditionalProperties,
): AdditionalReader {
  const value = context.readerOf(typed.type.value, typed.rules?.values);
  const look = lookOf(context, typed, value);
  const readers = new Map<string, ReadEntries>([[typed.xml, entriesReader(context, typed.type, value)]]);
  if (untyped !== undefined) {
    const json = context.readerOf(untyped.type.value, untyped.rules?.values);
    const reader = look === undefined ? json : lookedAt(json, look);
    readers.set(untyped.xml, entriesReader(context, untyped.type, reader));
  }
  return {
    has: (local) => readers.has(local),
    read: (xml, reading, keys) => {
      const readEntries = readers.get(xml.local);
      reading.path.push(xml.local);
      const entries = opens(xml, reading) ? readEntries?.(xml, reading, keys) : undefined;
      reading.path.pop();
      return entries ?? '';
    },
    pass: (json, name, reading) => {
      if (look === undefined) {
        json.skip();
        return;
      }
      reading.path.push(name.slice(0, 64));
      look(skipped(json), reading);
      reading.path.pop();
    },
  };
}

/** Returns the check of JSON members under `validate: strict`. They may be of the declared type or of any other. */
function lookOf(context: ReaderContext, typed: AdditionalElement, value: RequestReader): Look | undefined {
  const plain = context.plainReaderOf?.(typed.type.value);
  if (plain === undefined) return undefined;
  const kinds: readonly JsonKind[] = ['string', 'integer', 'boolean', 'object', 'array'];
  return compileLook(
    kinds.map((takes) => ({ takes, reader: value, plain })),
    context.limits,
  );
}

/** Adds the check for values of JSON callers to a reader of JSON text in elements. */
function lookedAt(reader: RequestReader, look: Look): RequestReader {
  return {
    ...reader,
    read: (xml, reading) => {
      const before = reading.problems.length;
      const value = reader.read(xml, reading);
      if (value !== undefined && reading.problems.length === before) look(value, reading);
      return value;
    },
  };
}

// --- replies -----------------------------------------------------------------------------------------

/** Words of a list's node: its kind, the link to its first entry, and the position of the last link. */
const listWords = 3;

/** Writes additional properties: two lists of map entries on the tape. */
export interface AdditionalWriter {
  /** Number of words for both lists in the record's node. */
  readonly words: number;
  /**
   * Scans the value at the tape's position. Its name starts at `nameStart`, and is added to the names so far. Throws
   * MismatchError.
   */
  readonly scan: (tape: Tape, node: number, nameStart: number, names: Set<string>) => void;
  readonly write: (tape: Tape, node: number, output: Output) => void;
}

/** Compiles the writer of a record's additional properties. */
export function additionalWriter(
  { writerOf }: WriterContext,
  { typed, untyped }: AdditionalProperties,
): AdditionalWriter {
  const value = writerOf(typed.type.value);
  const otherwise = untyped === undefined ? undefined : writerOf(untyped.type.value);
  const compiled = [typed, ...(untyped === undefined ? [] : [untyped])].map(
    ({ xml, type }: AdditionalElement) => {
      const writer = writerOf(type);
      return { writer, element: elementOf(xml, writer.declarations, false) };
    },
  );
  return {
    words: listWords * compiled.length,
    scan: (tape, node, nameStart, names) => {
      const valueStart = tape.position;
      tape.position = nameStart;
      const asIs = tape.scanString();
      const start = nameStart + 1;
      const end = tape.position - 1;
      tape.position = valueStart;
      const name = asIs ? tape.slice(start, end) : tape.decode(start, end);
      if (names.has(name))
        throw new MismatchError({ expected: 'each member once', got: 'it again' }).at(name);
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

/** Removes the last entry of a list. */
function unlink({ words }: Tape, node: number, first: number, last: number): void {
  words[node + 1] = first;
  words[node + 2] = last;
  if (first === -1) words[node] = -1;
  else words[last] = -1;
}
