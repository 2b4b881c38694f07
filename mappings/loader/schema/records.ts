// Objects: records of the members that are listed, maps of those that aren't.
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

/** A member of a wrapper, from wherever the document has it. */
export interface WrapperField extends SchemaMember {
  /** What an inline type of it is called. */
  readonly typeName: string;
}

/** A field whose type no schema of the document says. */
export interface TypedField extends Omit<SchemaMember, 'schema'> {
  readonly type: Type;
  /** Whose rules hold for its values all the same, or for their items. */
  readonly ruledBy?: Ruling;
}

/** A schema that says what is asked of values, or of the items of lists. */
export interface Ruling extends Located {
  readonly of: 'values' | 'items';
}

/** A schema of objects, or several of which each value is all. */
export interface ObjectParts {
  /** All that the object is, one at least; the type's key is the place of the last one. */
  readonly parts: readonly Located[];
  /** Those parts whose inline types are called after the object, not after where they stand; undefined for all. */
  readonly own?: readonly Located[];
  readonly documentation: string;
  /** What the type is called if it is inline. */
  readonly name: string;
}

/** The type of objects: a record, a map where no member is listed, or JSON text. */
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

/** A record of fields that the caller lists, filled at once. */
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

/** True for a schema that says nothing of values. */
function isFree(schema: unknown): boolean {
  return !isNode(schema) || Object.keys(schema).length === 0;
}

/** Members of any name beside those that are listed; values of another type than theirs are kept as JSON text. */
function addAdditionalProperties(
  context: SchemaContext,
  type: Draft<RecordType>,
  { schema, pointer }: NonNullable<Members['additional']>,
  valueName: string,
): void {
  const { drafts, rules } = context;
  const { scalar, mapOf } = drafts.collections;
  const { type: value, nullable } = isFree(schema)
    ? { type: scalar('json'), nullable: true }
    : context.itemOf(schema, pointer, valueName);
  const typed = { type: mapOf(value, nullable), ...rules.inside('values', schema, pointer) };
  setAdditionalProperties(drafts, type, typed, isJson(value) ? undefined : mapOf(scalar('json'), true));
}

/** Gives a record its fields, each an element of its own. */
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
    const { nullable, hasDefault, ...usage } =
      'type' in member ? plain(member.type) : context.usageOf(member.schema, pointer, member.typeName);
    const ruled = 'type' in member ? ruledBy(member.ruledBy, rules) : rules.at(member.schema, pointer);
    const { hints, ...told } = memberDocumentation({ ...member, ...usage }, references);
    const documentation = hints === undefined || ruled.rules !== undefined ? told : { ...told, hints };
    const always = promised === true ? ({ promised } as const) : {};
    const field = {
      json,
      xml: json,
      ...usage,
      nillable: true,
      required,
      ...always,
      ...ruled,
      ...documentation,
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

/** Notes what a member's schema says of the service's own XML that isn't so of its element here. */
function noteOwnXml(drafts: TypeDrafts, schema: unknown, pointer: string, json: string): void {
  if (!isNode(schema) || !isNode(schema.xml)) return;
  const { name, attribute, namespace, prefix, wrapped, nodeType } = schema.xml;
  const said = [
    ...(typeof name === 'string' && name !== json ? [`is called ${shown(name)}`] : []),
    ...(attribute === true || nodeType === 'attribute' ? ['is an attribute'] : []),
    ...(namespace !== undefined || prefix !== undefined ? ['has a namespace of its own'] : []),
    ...(wrapped === true ? ['has an element around it'] : []),
  ];
  if (said.length > 0)
    drafts.ownXml.set(`${pointer}/xml`, `in XML of the service's own it ${said.join(', ')}`);
}

/** Tells the places below one of several: of many without a look at each. */
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
