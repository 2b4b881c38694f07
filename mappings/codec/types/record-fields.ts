import type { Field, RecordType, Tag, Type } from '../../contract/model.ts';
import type { Reason } from '../../contract/reason.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext } from '../context.ts';
import { type Element, elementOf, passUnknown } from '../element.ts';
import { unknownReason } from '../nearest.ts';
import { isFull, miss, type Reading, refuse, type Step } from '../problem.ts';
import { isReference } from '../scalars/table.ts';
import { foldAscii, quoteText } from '../scalars/text.ts';
import { type AdditionalReader, additionalReader } from './additional-properties.ts';

/** The fields of a record: how their names are found in both directions, and how unknown names are refused. */

/** A field with its reader. */
export interface FieldReader {
  readonly field: Field;
  readonly reader: RequestReader;
  /** The JSON of an element with `xsi:nil`; undefined for absent (W13). */
  readonly readNil: 'null' | undefined;
  /** Index of its JSON in `Reading.slots`; undefined for a member of the object. */
  readonly slot: number | undefined;
  /** Its name and a colon, in JSON. */
  readonly jsonKey: string;
}

/** A field with its writer. */
export interface FieldWriter {
  readonly writer: ReplyWriter;
  readonly element: Element;
}

/**
 * Compiles a field's writer. A null is written as nil if the field and the WSDL allow null (W19).
 *
 * @param writer writer of its values; default: that of its type
 */
export function fieldWriter(
  { contract, writerOf }: WriterContext,
  field: Field,
  writer = writerOf(field.type),
): FieldWriter {
  // if the WSDL does not allow nil, an absent element means null
  const nillable = field.nillable && (contract.nulls === 'kept' || isReference(field.type));
  return { writer, element: elementOf(field.xml, writer.declarations, nillable) };
}

/** The parts of a record type that a reader uses, compiled at start. */
export interface RecordShape {
  readonly context: ReaderContext;
  readonly type: RecordType;
  readonly fields: readonly FieldReader[];
  readonly typesNamespace: string;
  /** Indexes of the fields by XML name, by JSON name, and by JSON name without regard to ASCII case (W37). */
  readonly byXml: ReadonlyMap<string, number>;
  readonly byJson: ReadonlyMap<string, number>;
  readonly byFolded: ReadonlyMap<string, number>;
  /** Indexes of the required fields. */
  readonly required: readonly number[];
  /** The names of the fields as JSON strings; additional members must not have them. */
  readonly listed: readonly string[];
  /** Undefined if a record has no additional members. */
  readonly additional: AdditionalReader | undefined;
  /** The tag of a union's variant: written if the caller omits it; another value is refused. */
  readonly tag: Tag | undefined;
  /** Index of the tag's member; -1 if it is not a member. */
  readonly tagIndex: number;
  /** True for the credentials: their members are also stored separately (W24). */
  readonly keepsValues: boolean;
}

/** Compiles the shape of a record from the readers of its fields. */
export function shapeOf(
  context: ReaderContext,
  type: RecordType,
  fields: readonly FieldReader[],
  { tag, keepsValues }: Pick<RecordShape, 'tag' | 'keepsValues'>,
): RecordShape {
  const { contract } = context;
  const by = (nameOf: (field: Field) => string): ReadonlyMap<string, number> =>
    new Map(fields.map(({ field }, index) => [nameOf(field), index]));
  const byJson = by(({ json }) => json);
  return {
    context,
    type,
    fields,
    typesNamespace: contract.namespaces.types,
    byXml: by(({ xml }) => xml),
    byJson,
    byFolded: by(({ json }) => foldAscii(json)),
    required: fields.flatMap(({ field }, index) => (field.required ? [index] : [])),
    listed: fields.map(({ field }) => JSON.stringify(field.json)),
    additional: type.additional === undefined ? undefined : additionalReader(context, type.additional),
    tag,
    tagIndex: tag === undefined ? -1 : (byJson.get(tag.member) ?? -1),
    keepsValues,
  };
}

/** Records required members that are absent, null, or forbidden empty strings (W42). */
export function checkRequired(
  { required, fields, context }: RecordShape,
  values: readonly (string | undefined)[],
  spelling: 'xml' | 'json',
  reading: Reading,
): void {
  const keepsNulls = context.contract.nulls === 'kept';
  const distinguishesAbsent = context.settings.soapErrors === 'fault';
  for (const index of required) {
    const { field } = fields[index] as FieldReader;
    const value = values[index];
    const isNull = value === 'null' && !(keepsNulls && field.nillable);
    if (reading.missing.length >= reading.limit) return;
    if (value === undefined || isNull || (field.notEmpty && value === '""'))
      missDeep(field, spelling, [...reading.path], reading, distinguishesAbsent && value === undefined);
  }
}

/** A required member that isn't there; of a record, its own required members are named. */
export function missDeep(
  field: Field,
  spelling: 'xml' | 'json',
  path: Step[],
  reading: Reading,
  isAbsent: boolean,
  around: readonly Type[] = [],
): void {
  if (reading.missing.length >= reading.limit) return;
  const { type } = field;
  path.push(field[spelling]);
  // a type that requires itself would recurse forever
  const inner =
    type.kind === 'record' && !around.includes(type) ? type.fields.filter(({ required }) => required) : [];
  if (inner.length === 0) miss(reading, path, isAbsent);
  for (const member of inner) missDeep(member, spelling, path, reading, isAbsent, [...around, type]);
  path.pop();
}

/** Returns the letters and digits of a name, in lower case. */
function letters(name: string): string {
  return name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/**
 * Returns the reason to refuse an unknown name: the most similar known name, or the record that has the name (W12,
 * W37).
 */
function unlistedReason(
  what: 'element' | 'member',
  name: string,
  known: Iterable<string>,
  type: RecordType,
  spelling: 'xml' | 'json',
): Reason {
  const folded = foldAscii(name);
  for (const field of type.fields) {
    if (field.type.kind !== 'record') continue;
    const inner = field.type.fields.find((member) => foldAscii(member[spelling]) === folded);
    if (inner !== undefined)
      return { detail: `unknown ${what}; ${inner[spelling]} is a member of ${field[spelling]}` };
  }
  const plain = letters(name);
  const escaped =
    spelling === 'xml'
      ? type.fields.find(({ json, xml }) => xml !== json && letters(json) === plain)
      : undefined;
  if (escaped !== undefined && plain !== '' && escaped.xml.includes('_x'))
    return {
      detail: `unknown ${what}, did you mean ${escaped.xml}, as ${JSON.stringify(escaped.json)} is called in XML?`,
    };
  return unknownReason(what, name, [...known]);
}

/** Passes an unknown element: refuses it with the nearest name, or ignores and records it (W12). */
export function passElement(shape: RecordShape, xml: XmlReader, reading: Reading): void {
  const { type, byXml, typesNamespace, context } = shape;
  const reasonOf = (): Reason =>
    byXml.has(xml.local) && xml.namespace !== typesNamespace
      ? { expected: `it in namespace "${typesNamespace}"`, got: quoteText(xml.namespace) }
      : unlistedReason('element', xml.local, byXml.keys(), type, 'xml');
  passUnknown(context, xml, reading, reasonOf, [xml.local.slice(0, 64)]);
}

/**
 * Passes an unknown JSON member. It is checked if the record has additional members, otherwise handled like an unknown
 * element.
 */
export function passMember(shape: RecordShape, json: JsonReader, name: string, reading: Reading): void {
  const { additional, byJson, type } = shape;
  if (additional !== undefined) {
    additional.pass(json, name, reading);
    return;
  }
  if (shape.context.settings.unknownElements === 'ignore') reading.ignored.push(name);
  else if (!isFull(reading)) {
    reading.path.push(name.slice(0, 64));
    refuse(reading, 'UnknownElement', unlistedReason('member', name, byJson.keys(), type, 'json'));
    reading.path.pop();
  }
  json.skip();
}
