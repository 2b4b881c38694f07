import type { RecordType, UnionType, Variant } from '../../contract/model.ts';
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

/** A union: one element, whose name is that of the type of the value. In JSON it is any value, since the last type takes all. */

const { list } = nodeKinds;

/** XML and JSON → JSON. */
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
        passUnknown(context, xml, reading, { expected, got: `<${local.slice(0, 64)}>` });
        continue;
      }
      reading.path.push(local);
      const before = reading.problems.length;
      const content = readMember(reader.read, undefined, xml, reading);
      if (local === json && content !== undefined && reading.problems.length === before)
        look?.(content, reading);
      reading.path.pop();
      // a nil variant is as absent: proxies write what isn't set so
      if (content === undefined && reading.problems.length === before) continue;
      if (filled !== '')
        refuse(reading, 'DuplicateElement', {
          expected: 'one element',
          got: `<${local}> beside <${filled}>`,
        });
      filled = local;
      value = content;
    }
    if (xml.stray) refuse(reading, 'InvalidType', { expected, got: 'text' });
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
 * Reads a parameter's text as the first scalar that it is one of; a string, which any is, comes last. A scalar that takes the
 * text as a tolerated deviation only comes after that.
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

/** Under `validate: strict`, what looks at values that come as JSON. */
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

/** A variant with what decides whether an object is of it. */
interface Candidate {
  readonly index: number;
  readonly takes: Variant['takes'];
  readonly writer: ReplyWriter;
  /** The members of its objects; undefined where any name may be one. */
  readonly names: ReadonlySet<string> | undefined;
  readonly required: readonly string[];
}

/**
 * JSON → XML: a node with the variant's place, then the value's node. The kind of the JSON token decides;
 * among objects a fixed member, else which variant holds every member that is there and misses the fewest it requires,
 * then which requires the most, then the document's order. What fits none is JSON text: no member is dropped for want
 * of a type. One function: its parts call one another for the variants they share.
 */
export function unionWriter({ writerOf }: WriterContext, type: UnionType): ReplyWriter {
  const { variants } = type;
  const candidates = variants.map((variant, index) => candidateOf(variant, index, writerOf));
  const elements = variants.map(({ xml }, index) =>
    elementOf(xml, candidates[index]?.writer.declarations ?? '', false),
  );
  const of = (...kinds: readonly Variant['takes'][]): readonly Candidate[] =>
    kinds.flatMap((kind) => candidates.filter(({ takes }) => takes === kind));
  const strings = of('string');
  const integers = of('integer', 'number');
  const fractions = of('number', 'integer');
  const booleans = of('boolean');
  const arrays = of('array');
  const objects = candidates.filter(
    ({ index, takes }) => takes === 'object' && variants[index]?.tag === undefined,
  );
  const tags = tagsOf(variants);
  const last = variants.length - 1;
  const anything = writerOf({ kind: 'scalar', scalar: 'json' });

  const scan = (tape: Tape): void => {
    const byte = tape.peek();
    if (byte === 110) {
      scanNull(tape);
      return;
    }
    tape.reserve(2);
    const node = tape.top;
    tape.words[node] = list;
    tape.top = node + 2;
    const index = scanVariant(tape, byte);
    tape.words[node + 1] = index; // of the words as they are now: the tape may have grown
  };

  /** Pushes the value's node; the place of its variant. */
  const scanVariant = (tape: Tape, byte: number): number => {
    if (byte === 34) return scanFirst(tape, strings);
    if (byte === 123) return scanObject(tape);
    if (byte === 91) return scanFirst(tape, arrays);
    if (byte === 116 || byte === 102) return scanFirst(tape, booleans);
    const before = tape.mark();
    const integer = tape.scanNumber();
    tape.rewind(before);
    return scanFirst(tape, integer ? integers : fractions);
  };

  /** The first of the candidates that takes the value whole, else JSON text. */
  const scanFirst = (tape: Tape, list: readonly Candidate[]): number => {
    const { strict } = tape;
    for (const candidate of list) {
      if (tape.isPatienceOver) break;
      tape.strict = true;
      const fits = tryScan(tape, candidate.writer);
      tape.strict = strict;
      if (fits) return candidate.index;
    }
    anything.scan(tape);
    return last;
  };

  /** The variant that a tag names, whatever else is there (W20), else JSON text. */
  const scanTagged = (tape: Tape, { index, writer, names }: Candidate): number => {
    const before = tape.mark();
    try {
      writer.scan(tape);
      // a tag that is no member of its type is stated by the element
      const member = variants[index]?.tag?.member ?? '';
      if (names?.has(member) === false) {
        tape.dropped--;
        tape.forget(member, before.position);
      }
      return index;
    } catch (error) {
      if (!(error instanceof MismatchError)) throw error;
    }
    tape.rewind(before);
    anything.scan(tape);
    return last;
  };

  const scanObject = (tape: Tape): number => {
    const before = tape.mark();
    const { tagged, names } = lookInto(tape, tags, objects.length > 0);
    tape.rewind(before);
    const fixed = tagged === undefined ? undefined : candidates[tagged];
    if (fixed !== undefined) return scanTagged(tape, fixed);
    const holding = objects.filter((candidate) => names.every((name) => candidate.names?.has(name) ?? true));
    const missing = ({ required }: Candidate): number =>
      required.filter((name) => !names.includes(name)).length;
    return scanFirst(
      tape,
      holding.toSorted((a, b) => missing(a) - missing(b) || b.required.length - a.required.length),
    );
  };

  return {
    scan,
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

/** Pushes the value as one of this type; false, and nothing is pushed, where any part of it would be lost. */
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

/** The place of a variant by the value of the tag's member, as JSON tokens, by member. */
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

/** Reads an object for its members' names, up to a tag. */
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

/** The value that was just passed, a string without needless escapes. */
function tokenAt(tape: Tape, start: number): string {
  return tape.bytes[start] === 34
    ? JSON.stringify(tape.decode(start + 1, tape.position - 1))
    : tape.slice(start, tape.position);
}
