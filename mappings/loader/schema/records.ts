// Objects: records of listed members, maps of additional members.
import type { RecordType, Ruled, Type } from '../../contract/model.ts';
import { stepsPerMember } from '../document/allowance.ts';
import { isNode, shown } from '../document/node.ts';
import type { Located } from '../document/references.ts';
import { identifier, upperFirst } from '../names/names.ts';
import { nameAt } from '../names/schema-name.ts';
import { isJson } from './collections.ts';
import { memberDocumentation } from './documentation.ts';
import type { Draft, FieldDraft, TypeDrafts } from './drafts.ts';
import { setAdditionalProperties, setFields } from './fields.ts';
import { type Members, membersOf, type SchemaMember } from './members.ts';
import type { SchemaRules } from './rules.ts';
import { plain, type SchemaContext } from './schema-context.ts';

/** A member of a wrapper, from any part of the document. */
export interface WrapperField extends SchemaMember {
  /** Name for an inline type of the member. */
  readonly typeName: string;
}

/** A field with a type that no schema of the document describes. */
export interface TypedField extends Omit<SchemaMember, 'schema'> {
  readonly type: Type;
  /** Schema with the rules for the field's values or their items. */
  readonly ruledBy?: Ruling;
}

/** A schema that states rules for values or for the items of lists. */
export interface Ruling extends Located {
  readonly of: 'values' | 'items';
}

/** Object schemas that together describe a value. */
export interface ObjectParts {
  /** All schemas of the object, at least one. The last pointer is the key of the type. */
  readonly parts: readonly Located[];
  /** The parts with inline types named after the object instead of their pointer. Undefined means all parts. */
  readonly own?: readonly Located[];
  readonly documentation: string;
  /** Name for an inline type. */
  readonly name: string;
}

/** Returns the type of an object: a record, a map if no member is listed, or JSON text. */
export function objectOf(context: SchemaContext, object: ObjectParts): Type {
  const { references, drafts } = context;
  const { parts, own = parts, documentation, name } = object;
  const found = membersOf(parts, references);
  if (found.kind === 'none') return drafts.asJson(found.pointer, found.why);
  const pointer = parts.at(-1)?.pointer ?? '';
  const isOwn = placesBelow(own.map((part) => part.pointer));
  const inlineName = (at: string, suffix: string): string => (isOwn(at) ? name + suffix : nameAt(at));
  for (const { pointer: at, why } of found.contradictions) drafts.contradictions.set(at, why);
  const { members, additional } = found;
  const valueName = additional === undefined ? '' : inlineName(additional.pointer, 'Value');
  if (members.length === 0) {
    if (additional === undefined && found.closed)
      return drafts.register({ kind: 'record', name, documentation, fields: [] }, pointer);
    return mapOrJson(context, additional, pointer, valueName);
  }
  const fields: FieldDraft[] = [];
  const type: Draft<RecordType> = { kind: 'record', name, documentation, fields };
  const listed = members.map((member) => ({
    ...member,
    typeName: inlineName(member.pointer, upperFirst(identifier(member.json))),
  }));
  drafts.fillLater(() => {
    fill(context, type, fields, listed);
    if (additional !== undefined) addAdditionalProperties(context, type, additional, valueName);
  });
  return drafts.register(type, pointer);
}

/** Builds a record of the given fields and fills it at once. */
export function recordOf(
  context: SchemaContext,
  name: string,
  documentation: string,
  members: readonly (WrapperField | TypedField)[],
): RecordType {
  const fields: FieldDraft[] = [];
  const type: RecordType = { kind: 'record', name, documentation, fields };
  fill(context, type, fields, members);
  context.drafts.fillAll();
  return type;
}

function mapOrJson(
  context: SchemaContext,
  additional: Members['additional'],
  pointer: string,
  valueName: string,
): Type {
  const { drafts } = context;
  if (additional === undefined || isFree(additional.schema))
    return drafts.asJson(pointer, 'an object with any members');
  const { type, nullable } = context.itemOf(additional.schema, additional.pointer, valueName);
  return drafts.collections.mapOf(type, nullable);
}

/** Returns true for a schema that does not restrict values. */
function isFree(schema: unknown): boolean {
  return !isNode(schema) || Object.keys(schema).length === 0;
}

/** Adds a map of unlisted members to a record. Values that do not fit its value type are kept as JSON text. */
function addAdditionalProperties(
  context: SchemaContext,
  type: Draft<RecordType>,
  { schema, pointer }: NonNullable<Members['additional']>,
  valueName: string,
): void {
  const { drafts, rules } = context;
  const { collections } = drafts;
  const { type: value, nullable } = isFree(schema)
    ? { type: collections.scalar('json'), nullable: true }
    : context.itemOf(schema, pointer, valueName);
  const typed = { type: collections.mapOf(value, nullable), ...rules.inside('values', schema, pointer) };
  setAdditionalProperties(
    drafts,
    type,
    typed,
    isJson(value) ? undefined : collections.mapOf(collections.scalar('json'), true),
  );
}

/** Fills a record with its fields, each with its own element. */
function fill(
  context: SchemaContext,
  type: RecordType,
  fields: FieldDraft[],
  members: readonly (WrapperField | TypedField)[],
): void {
  const { references, rules, drafts, overlay } = context;
  const ofFields = members.map((member) => {
    const { json, pointer, required, promised } = member;
    references.allowance.step(pointer, stepsPerMember);
    if ('schema' in member) noteOwnXml(drafts, member.schema, pointer, json);
    const {
      type: typeOfField,
      nullable,
      hasDefault,
      notEmpty,
      allowed,
    } = 'type' in member ? plain(member.type) : context.usageOf(member.schema, pointer, member.typeName);
    const ruled = 'type' in member ? ruledBy(member.ruledBy, rules) : rules.at(member.schema, pointer);
    const { around, examples } = member;
    const schema = 'schema' in member ? member.schema : undefined;
    const documented = { schema, pointer, around, examples, type: typeOfField, allowed };
    const field: FieldDraft = {
      json,
      xml: json,
      type: typeOfField,
      notEmpty,
      allowed,
      nillable: true,
      required,
      ...(promised === true && { promised }),
      ...ruled,
      ...memberDocumentation(documented, references, ruled.rules === undefined),
    };
    return { field, nullable, hasDefault };
  });
  setFields(drafts, overlay, type, fields, ofFields);
}

function ruledBy(ruling: Ruling | undefined, rules: SchemaRules): Ruled {
  if (ruling === undefined) return {};
  const { node, pointer } = ruling;
  return ruling.of === 'values' ? rules.at(node, pointer) : rules.inside('items', node, pointer);
}

/** Records properties of the upstream's own XML that do not apply to the element here. */
function noteOwnXml(drafts: TypeDrafts, schema: unknown, pointer: string, json: string): void {
  if (!isNode(schema) || !isNode(schema.xml)) return;
  const { name, attribute, namespace, prefix, wrapped, nodeType } = schema.xml;
  const xmlFacts = [
    ...(typeof name === 'string' && name !== json ? [`has the name ${shown(name)}`] : []),
    ...(attribute === true || nodeType === 'attribute' ? ['is an attribute'] : []),
    ...(namespace !== undefined || prefix !== undefined ? ['has its own namespace'] : []),
    ...(wrapped === true ? ['has a wrapper element'] : []),
  ];
  if (xmlFacts.length > 0)
    drafts.ownXml.set(`${pointer}/xml`, `the xml keyword says: ${xmlFacts.join(', ')}`);
}

/** Returns a test for pointers below the given ones. Many pointers are looked up instead of compared one by one. */
function placesBelow(places: readonly string[]): (pointer: string) => boolean {
  if (places.length < 10) return (pointer) => places.some((place) => pointer.startsWith(`${place}/`));
  const known = new Set(places);
  return (pointer) => isBelow(pointer, known);
}

function isBelow(pointer: string, places: ReadonlySet<string>): boolean {
  for (let end = pointer.lastIndexOf('/'); end !== -1; end = pointer.lastIndexOf('/', end - 1)) {
    if (places.has(pointer.slice(0, end))) return true;
    if (end === 0) return false;
  }
  return false;
}
