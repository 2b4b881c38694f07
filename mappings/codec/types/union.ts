import type { RecordType, UnionType, Variant } from '../../contract/model.ts';
import { quoteElement, quoteValue } from '../../contract/reason.ts';
import { skipped } from '../../json/parts.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext, WriterOf } from '../context.ts';
import { elementOf, passUnknown, readMember, scanNull, writeElement } from '../element.ts';
import {
  type Deviation,
  MismatchError,
  type Reading,
  recordDeviation,
  refuse,
  startReading,
} from '../problem.ts';
import { someNames } from '../scalars/text.ts';
import { compileLook, type Look } from './fitting.ts';
import { recordReader } from './record.ts';

/**
 * Codec of a union: one element, named after the variant of the value. In JSON it is any value, because the last
 * variant accepts all.
 */

const { list } = nodeKinds;

/** Returns the reader of a union: XML → JSON, and checks of JSON. */
export function unionReader(context: ReaderContext, type: UnionType): RequestReader {
  const typesNamespace = context.contract.namespaces.types;
  const readers = new Map(
    type.variants.map(({ xml, type: inner, tag, rules }) => [
      xml,
      tag !== undefined && inner.kind === 'record'
        ? context.ruled(recordReader(context, inner, { tag }), rules)
        : context.readerOf(inner, rules),
    ]),
  );
  const json = type.variants.at(-1)?.xml;
  const look = lookOf(context, type);
  const expected = `one of ${someNames(type.variants.map(({ xml }) => `<${xml}>`))}`;

  const read = (xml: XmlReader, reading: Reading): string | undefined => {
    let value: string | undefined;
    let filled = '';
    const none = reading.problems.length;
    while (xml.nextChild()) {
      const { local } = xml;
      const reader =
        xml.namespace === typesNamespace || xml.namespace === '' ? readers.get(local) : undefined;
      if (reader === undefined) {
        passUnknown(context, xml, reading, () => ({ expected, got: quoteElement(local) }));
        continue;
      }
      reading.path.push(local);
      const before = reading.problems.length;
      const content = readMember(reader.read, undefined, xml, reading);
      if (local === json && content !== undefined && reading.problems.length === before)
        look?.(content, reading);
      reading.path.pop();
      // a nil variant counts as absent, because generated proxies write unset variants so
      if (content === undefined && reading.problems.length === before) continue;
      if (filled !== '')
        refuse(reading, 'DuplicateElement', {
          expected: 'one element',
          got: quoteValue(`<${local}> and <${filled}>`, 'another element'),
        });
      filled = local;
      value = content;
    }
    if (xml.hasText) refuse(reading, 'InvalidType', { expected, got: 'text' });
    else if (filled === '' && reading.problems.length === none)
      refuse(reading, 'NotEmpty', { expected, got: 'none' });
    return value;
  };

  return {
    read,
    pass: look === undefined ? (json) => json.skip() : (json, reading) => look(skipped(json), reading),
    fromText: textReader(type, readers, expected),
    nil: 'null',
    nilItem: context.nilItem,
  };
}

/**
 * Reads a parameter's text as the first scalar variant that accepts it. Strings come last because they accept any text.
 * A scalar that accepts the text as a tolerated deviation is used only if no other does.
 */
function textReader(
  { variants }: UnionType,
  readers: ReadonlyMap<string, RequestReader>,
  expected: string,
): RequestReader['fromText'] {
  const scalars = variants
    .filter(({ takes }) => takes !== 'object' && takes !== 'array' && takes !== 'any')
    .toSorted((a, b) => Number(a.takes === 'string') - Number(b.takes === 'string'))
    .flatMap(({ xml }) => readers.get(xml)?.fromText ?? []);
  if (scalars.length === 0) return undefined;
  return (text, reading) => {
    let tolerated:
      | { readonly value: string | undefined; readonly deviations: Iterable<Deviation> }
      | undefined;
    for (const convert of scalars) {
      const trial = startReading(reading.limit, reading.mostSteps);
      const value = convert(text, trial);
      if (trial.problems.length > 0) continue;
      if (trial.deviations === undefined) return value;
      tolerated ??= { value, deviations: trial.deviations };
    }
    if (tolerated !== undefined) {
      for (const deviation of tolerated.deviations) recordDeviation(reading, deviation);
      return tolerated.value;
    }
    return refuse(reading, 'InvalidType', { expected, got: 'other text' });
  };
}

/** Returns the check of values that come as JSON (`validate: strict`). */
function lookOf(
  { plainReaderOf, readerOf, limits }: ReaderContext,
  { variants }: UnionType,
): Look | undefined {
  if (plainReaderOf === undefined) return undefined;
  const typed = variants.filter(({ takes }) => takes !== 'any');
  return compileLook(
    typed.map(({ takes, type, rules }) => ({
      takes,
      reader: readerOf(type, rules),
      plain: plainReaderOf(type),
    })),
    limits,
  );
}

/** A variant, with the facts that select it for an object. */
interface Candidate {
  readonly index: number;
  readonly takes: Variant['takes'];
  readonly writer: ReplyWriter;
  /** The member names of its objects; undefined if any name is allowed. */
  readonly names: ReadonlySet<string> | undefined;
  readonly required: readonly string[];
}

/** The candidates for each kind of JSON value, and the writer of values that match none. */
interface Choice {
  readonly all: readonly Candidate[];
  readonly strings: readonly Candidate[];
  readonly integers: readonly Candidate[];
  readonly fractions: readonly Candidate[];
  readonly booleans: readonly Candidate[];
  readonly arrays: readonly Candidate[];
  /** The objects without a tag. */
  readonly objects: readonly Candidate[];
  readonly tags: Tags;
  readonly variants: readonly Variant[];
  readonly anything: ReplyWriter;
}

/**
 * JSON → XML: a node with the variant's index, then the value's node. The kind of the JSON token selects the variant.
 * For objects, a tag selects it. Otherwise it is the variant that has all members and lacks the fewest required ones,
 * then the one that requires most, then the first in the document. A value that matches no variant is written as JSON
 * text, so that no member is dropped.
 */
export function unionWriter({ writerOf }: WriterContext, type: UnionType): ReplyWriter {
  const { variants } = type;
  const candidates = variants.map((variant, index) => candidateOf(variant, index, writerOf));
  const elements = variants.map(({ xml }, index) =>
    elementOf(xml, candidates[index]?.writer.declarations ?? '', false),
  );
  const choice = choiceOf(variants, candidates, writerOf({ kind: 'scalar', scalar: 'json' }));
  return {
    scan: (tape) => {
      if (scanNull(tape)) return;
      tape.reserve(2);
      const node = tape.top;
      tape.words[node] = list;
      tape.top = node + 2;
      const index = scanVariant(choice, tape);
      tape.words[node + 1] = index; // `tape.words` is read again, because the tape may have grown
    },
    write: (tape, node, output) => {
      const index = tape.words[node + 1] as number;
      const element = elements[index];
      const writer = candidates[index]?.writer;
      if (element !== undefined && writer !== undefined)
        writeElement(element, writer, tape, node + 2, output);
    },
    declarations: '',
  };
}

function choiceOf(
  variants: readonly Variant[],
  candidates: readonly Candidate[],
  anything: ReplyWriter,
): Choice {
  const of = (...kinds: readonly Variant['takes'][]): readonly Candidate[] =>
    kinds.flatMap((kind) => candidates.filter(({ takes }) => takes === kind));
  return {
    all: candidates,
    strings: of('string'),
    integers: of('integer', 'number'),
    fractions: of('number', 'integer'),
    booleans: of('boolean'),
    arrays: of('array'),
    objects: candidates.filter(
      ({ index, takes }) => takes === 'object' && variants[index]?.tag === undefined,
    ),
    tags: tagsOf(variants),
    variants,
    anything,
  };
}

/** Pushes the value's node. Returns the index of its variant. */
function scanVariant(choice: Choice, tape: Tape): number {
  const byte = tape.peek();
  if (byte === 34) return scanFirst(choice, tape, choice.strings);
  if (byte === 123) return scanObject(choice, tape);
  if (byte === 91) return scanFirst(choice, tape, choice.arrays);
  if (byte === 116 || byte === 102) return scanFirst(choice, tape, choice.booleans);
  const before = tape.mark();
  const integer = tape.scanNumber();
  tape.rewind(before);
  return scanFirst(choice, tape, integer ? choice.integers : choice.fractions);
}

/** Scans with the first candidate that accepts the complete value, else as JSON text. */
function scanFirst(choice: Choice, tape: Tape, list: readonly Candidate[]): number {
  const { strict } = tape;
  for (const candidate of list) {
    if (tape.isPatienceOver) break;
    tape.strict = true;
    const fits = tryScan(tape, candidate.writer);
    tape.strict = strict;
    if (fits) return candidate.index;
  }
  return scanAnything(choice, tape);
}

/** Scans the value as JSON text, which is the last variant. */
function scanAnything({ anything, variants }: Choice, tape: Tape): number {
  anything.scan(tape);
  return variants.length - 1;
}

/** Scans with the variant that a tag selects, whatever the other members are (W20), else as JSON text. */
function scanTagged(choice: Choice, tape: Tape, { index, writer, names }: Candidate): number {
  const before = tape.mark();
  try {
    writer.scan(tape);
    // the element name states a tag that is not a member of its type
    const member = choice.variants[index]?.tag?.member ?? '';
    if (names?.has(member) === false) {
      tape.dropped--;
      tape.forget(member, before.position);
    }
    return index;
  } catch (error) {
    if (!(error instanceof MismatchError)) throw error;
  }
  tape.rewind(before);
  return scanAnything(choice, tape);
}

function scanObject(choice: Choice, tape: Tape): number {
  const { all, objects, tags } = choice;
  const before = tape.mark();
  const { tagged, names } = lookInto(tape, tags, objects.length > 0);
  tape.rewind(before);
  const fixed = tagged === undefined ? undefined : all[tagged];
  if (fixed !== undefined) return scanTagged(choice, tape, fixed);
  const holding = objects.filter((candidate) => names.every((name) => candidate.names?.has(name) ?? true));
  const missing = ({ required }: Candidate): number =>
    required.filter((name) => !names.includes(name)).length;
  return scanFirst(
    choice,
    tape,
    holding.toSorted((a, b) => missing(a) - missing(b) || b.required.length - a.required.length),
  );
}

/** Pushes the value as this type. Returns false, and pushes nothing, if any part of it would be lost. */
function tryScan(tape: Tape, writer: ReplyWriter): boolean {
  const before = tape.mark();
  try {
    writer.scan(tape);
    if (tape.dropped === before.dropped && tape.passed === before.passed) return true;
  } catch (error) {
    if (!(error instanceof MismatchError)) throw error;
  }
  tape.rewind(before);
  return false;
}

function candidateOf({ type, takes }: Variant, index: number, writerOf: WriterOf): Candidate {
  const known: RecordType | undefined = type.kind === 'record' ? type : undefined;
  const closed = known !== undefined && known.additional === undefined;
  return {
    index,
    takes,
    writer: writerOf(type),
    names: closed ? new Set(known.fields.map(({ json }) => json)) : undefined,
    required: known?.fields.flatMap(({ json, required }) => (required ? [json] : [])) ?? [],
  };
}

/** Variant indexes by tag member, then by the JSON token of its value. */
type Tags = ReadonlyMap<string, ReadonlyMap<string, number>>;

function tagsOf(variants: readonly Variant[]): Tags {
  const tags = new Map<string, Map<string, number>>();
  for (const [index, { tag }] of variants.entries()) {
    if (tag === undefined) continue;
    const values = tags.get(tag.member) ?? new Map<string, number>();
    tags.set(tag.member, values);
    for (const value of tag.values) if (!values.has(value)) values.set(value, index);
  }
  return tags;
}

/** Reads an object up to a tag, and collects the names of its members. */
function lookInto(
  tape: Tape,
  tags: Tags,
  needsNames: boolean,
): { readonly tagged: number | undefined; readonly names: readonly string[] } {
  const names: string[] = [];
  tape.enter();
  for (let first = true; tape.next(first, 125); first = false) {
    const name = tape.name();
    const values = tags.get(name);
    tape.peek();
    const start = tape.position;
    tape.skip();
    if (needsNames) names.push(name);
    if (values === undefined) continue;
    const tagged = values.get(tokenAt(tape, start));
    if (tagged !== undefined) return { tagged, names };
  }
  return { tagged: undefined, names };
}

/** Returns the token of the value that was just skipped. A string has no redundant escapes. */
function tokenAt(tape: Tape, start: number): string {
  return tape.bytes[start] === 34
    ? JSON.stringify(tape.decode(start + 1, tape.position - 1))
    : tape.slice(start, tape.position);
}
