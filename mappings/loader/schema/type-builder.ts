import type {
  ArrayType,
  MapType,
  NamedType,
  OthersElement,
  Position,
  RecordType,
  ScalarName,
  ScalarType,
  TupleType,
  Type,
  UnionType,
  Variant,
} from '../../contract/model.ts';
import { partsOf } from '../../contract/model.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { childOf, isNode, type Node, shown, someOf } from '../document/node.ts';
import { isUnresolved, type Located, nameAt, type References } from '../document/references.ts';
import { byCodeUnit, type ContractNames, escapeName, identifier, upperFirst } from '../names/names.ts';
import { type Nameless, type NamelessElement, nameTypes, type TypeNames } from '../names/type-names.ts';
import type { Overlay } from '../overlay/overlay.ts';
import { type Alternative, createAlternatives } from './alternatives.ts';
import { createLists } from './collections.ts';
import { wordsOf } from './documentation.ts';
import { type FieldDraft, type FieldFacts, isNillable, sortFields } from './fields.ts';
import {
  addsMembers,
  closedValues,
  documentationOf,
  endsAfter,
  integerScalar,
  kindOf,
  numberScalar,
  onlyInner,
  stringScalar,
  takesNull,
} from './keywords.ts';
import { type Members, membersOf, type SchemaMember } from './members.ts';
import { createRules } from './rules.ts';
import { commonIntegerOf, listVariants, type VariantDraft } from './union-variants.ts';

/** A node of the document that travels otherwise than its schema says: mostly as JSON text. */
export interface JsonNote {
  readonly pointer: string;
  readonly why: string;
}

/** A member of a wrapper, from wherever the document has it. */
export interface WrapperField extends SchemaMember {
  /** What an inline type of it is called. */
  readonly typeName: string;
}

/** A field whose type no schema of the document says. */
export interface TypedField extends Omit<SchemaMember, 'schema'> {
  readonly type: Type;
}

/** Builds the model's types from a document's schemas, each once. Their names are given at the end, by `finish`. */
export interface TypeBuilder {
  /** A record of an operation's wrapper, made of fields that the caller lists. */
  readonly wrapper: (
    name: string,
    documentation: string,
    fields: readonly (WrapperField | TypedField)[],
  ) => RecordType;
  /** A named record that the document has no schema for, made at `pointer` of fields that the caller lists. */
  readonly record: (
    name: string,
    pointer: string,
    fields: readonly (WrapperField | TypedField)[],
  ) => RecordType;
  readonly arrayOf: (item: Type) => ArrayType;
  readonly mapOf: (value: Type) => MapType;
  /** The type of the values of any of these schemas; `name` is what an inline one is called. */
  readonly oneOf: (schemas: readonly Located[], name: string) => Type;
  /**
   * The same of merge patches (RFC 7396): no member is a must, and each may be null. Types that others may use too have
   * one beside them, `{Type}Patch`; what stands in arrays is whole.
   */
  readonly patchOf: (schemas: readonly Located[], name: string) => Type;
  /** The type of a component that the document has under this name. */
  readonly component: (name: string) => Type | undefined;
  /** Names what the operations reach and says what is nillable. */
  readonly finish: (operations: readonly Wrappers[]) => FinishedTypes;
  readonly notes: () => readonly JsonNote[];
  /** What `validate: strict` would check and can't. */
  readonly unchecked: () => readonly JsonNote[];
  /** Members that two parts of an `allOf` say can't be the same: the first part's type counts. */
  readonly contradictions: () => readonly JsonNote[];
}

export interface FinishedTypes extends Omit<TypeNames, 'types'> {
  /** In the order of their names. */
  readonly types: readonly NamedType[];
  readonly names: TypeNames['types'];
}

/** The two wrappers of an operation. */
export interface Wrappers {
  readonly input: RecordType;
  readonly output: RecordType;
}

export interface TypeBuilderSource {
  readonly document: Node;
  readonly references: References;
  readonly overlay: Overlay;
  /** Names that stay whatever else would have them. */
  readonly pinned: ContractNames;
  readonly reportOverlay: Report;
}

/** A part of the model while it is built. */
type Draft<T> = { -readonly [key in keyof T]: T[key] };

/** A type, and what stood around its schema that a field keeps. */
interface Usage {
  readonly type: Type;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly notEmpty: boolean;
  readonly allowed: readonly string[] | undefined;
}

/** Arrays, maps and references in one another without an object between; messages are far less deep. */
const deepest = 100;

export function createTypeBuilder(source: TypeBuilderSource): TypeBuilder {
  const { document, references, overlay, pinned, reportOverlay } = source;
  const { dialect } = overlay;
  const { allowance } = references;
  const { alternativesOf, hasSeveral } = createAlternatives(document, references);
  /** Why, by pointer. */
  const notes = new Map<string, string>();
  const contradictions = new Map<string, string>();
  const rules = createRules(references, overlay.settings.validate);
  /** What was read already, by where it stands and what an inline type is called. */
  const usages = new Map<string, Usage>();
  /** What is being read, with the arrays and maps around it: to tell when it comes up again inside itself. */
  const open = new Map<string, number>();
  let containers = 0;
  /** Where each schema stands; at several places where the file has aliases of it. */
  const places = new Map<Node, string[]>();
  /** Records and unions still to be filled: by and by, so that a type may reach itself, however far away. */
  const unfilled: (() => void)[] = [];
  const lists = createLists(overlay);
  const scalars = new Map<ScalarName, ScalarType>();
  const facts = new Map<
    RecordType,
    { readonly fields: FieldDraft[]; readonly ofFields: readonly FieldFacts[] }
  >();
  /** Types that are named though no operation may reach them. */
  const asked = new Set<Type>();
  const wrappers = new Map<Type, string>();
  /** Types of objects and tuples among alternatives, which have no place of their own to be known by. */
  const amongAlternatives = new Map<string, Type>();
  /** Records that the document has no schema for. */
  const made = new Map<string, RecordType>();
  /** What types are in merge patches. */
  const patches = new Map<Type, RecordType | UnionType>();
  /** Where types stand. */
  const pointers = new Map<Type, string>();
  const nameless = new Map<string, Nameless>();
  const elements = new Map<Type, readonly NamelessElement[]>();

  function scalar(name: ScalarName): ScalarType {
    const type = scalars.get(name) ?? { kind: 'scalar', scalar: name };
    scalars.set(name, type);
    return type;
  }

  /** A type that was made elsewhere as the one that is known here. */
  function only(type: Type): Type {
    return type.kind === 'scalar' ? scalar(type.scalar) : type;
  }

  function asJson(pointer: string, why: string): Type {
    notes.set(pointer, why);
    return scalar('json');
  }

  // --- one schema --------------------------------------------------------------------------------

  /** The type of the schema at `pointer`; `name` is what an inline type is called. */
  function usageOf(schema: unknown, pointer: string, name: string): Usage {
    if (!isNode(schema)) {
      const why = schema === true ? 'any value is allowed' : `expected a schema, got ${shown(schema)}`;
      return { ...plain(asJson(pointer, why)), nullable: true };
    }
    allowance.step(pointer);
    allowance.stepText(pointer, name.length + pointer.length);
    const key = `${name} ${pointer}`;
    const known = usages.get(key);
    if (known !== undefined) return known;
    if (isInsideItself(schema, pointer))
      return plain(asJson(pointer, 'is an alias of what it stands in; expected a $ref'));
    const opened = open.get(key);
    if (opened !== undefined) return plain(selfWithoutRecord(opened, pointer));
    if (open.size >= deepest)
      return plain(asJson(pointer, `more than ${deepest} arrays, maps and references in one another`));
    open.set(key, containers);
    const usage = readUsage(schema, pointer, name);
    open.delete(key);
    usages.set(key, usage);
    return usage;
  }

  /** True for a YAML alias of something around it, which would go on for ever. */
  function isInsideItself(schema: Node, pointer: string): boolean {
    const known = places.get(schema) ?? [];
    places.set(schema, known);
    if (known.some((place) => pointer.startsWith(`${place}/`))) return true;
    if (!known.includes(pointer)) known.push(pointer);
    return false;
  }

  function plain(type: Type): Usage {
    return { type, nullable: false, hasDefault: false, notEmpty: false, allowed: undefined };
  }

  /** A schema that reaches itself without a record between, whose type would be known by now. */
  function selfWithoutRecord(containersAround: number, pointer: string): Type {
    return asJson(
      pointer,
      containersAround === containers
        ? 'refers to itself without an object between; expected an object with members'
        : 'an array or map of itself',
    );
  }

  function readUsage(schema: Node, pointer: string, name: string): Usage {
    const usage = references.isReference(schema)
      ? readReference(schema, pointer)
      : (readInner(schema, pointer, name) ?? buildUsage(schema, pointer, name));
    return {
      ...usage,
      nullable: usage.nullable || takesNull(schema),
      hasDefault: usage.hasDefault || Object.hasOwn(schema, 'default'),
      notEmpty: usage.notEmpty || (typeof schema.minLength === 'number' && schema.minLength > 0),
    };
  }

  function readInner(schema: Node, pointer: string, name: string): Usage | undefined {
    const inner = onlyInner(schema);
    if (inner === undefined) return undefined;
    const usage = usageOf(inner.schema, pointer + inner.suffix, name);
    return inner.nullable ? { ...usage, nullable: true } : usage;
  }

  /** A `$ref`, with what may stand beside it: fewer enum values, a default, null. */
  function readReference(schema: Node, pointer: string): Usage {
    const end = references.resolve(schema, pointer);
    const target = isUnresolved(end) ? end : references.target(schema.$ref, pointer);
    if (isUnresolved(target)) return plain(asJson(target.pointer, target.why));
    const usage = usageOf(target.node, target.pointer, nameAt(target.pointer));
    return { ...usage, allowed: allowedOf(schema, usage, pointer) };
  }

  function allowedOf(schema: Node, { type, allowed }: Usage, pointer: string): Usage['allowed'] {
    if (type.kind !== 'enum' || !Array.isArray(schema.enum)) return allowed;
    const stated: readonly unknown[] = schema.enum.filter((value) => value !== null);
    allowance.step(pointer, stated.length + type.values.length);
    const known = new Set<unknown>(type.values);
    const values = stated.filter((value): value is string => known.has(value));
    if (values.length === stated.length) return values;
    contradictions.set(
      `${pointer}/enum`,
      `expected values of the enum that it refers to (${someOf(type.values)})`,
    );
    return allowed;
  }

  function buildUsage(schema: Node, pointer: string, name: string): Usage {
    if (hasSeveral(schema, pointer)) {
      const { list, nullable } = alternativesOf(schema, pointer, name);
      return { ...plain(unionOf(list, schema, pointer, name)), nullable };
    }
    const type = buildType(schema, pointer, name);
    // a schema that says nothing allows null too
    return { ...plain(type), nullable: isJson(type) && kindOf(schema) === undefined };
  }

  function buildType(schema: Node, pointer: string, name: string): Type {
    if (Object.hasOwn(schema, '$ref'))
      return objectOf([{ node: schema, pointer }], documentationOf(schema), name);
    switch (kindOf(schema)) {
      case 'object':
        return (
          sumOfScalars(schema, pointer, name) ??
          objectOf([{ node: schema, pointer }], documentationOf(schema), name)
        );
      case 'array':
        return arrayOf(schema, pointer, name);
      case 'string':
        return stringOf(schema, pointer, name);
      case 'integer':
        return scalar(integerScalar(schema));
      case 'number':
        return scalar(numberScalar(schema));
      case 'boolean':
        return scalar('boolean');
      default:
        return asJson(pointer, 'it says no single type');
    }
  }

  /** An `allOf` of parts that are no objects: the type of the first one, which the others narrow. */
  function sumOfScalars(schema: Node, pointer: string, name: string): Type | undefined {
    if (!Array.isArray(schema.allOf) || addsMembers(schema)) return undefined;
    for (const [index, part] of schema.allOf.entries()) {
      const place = `${pointer}/allOf/${index}`;
      const found = references.resolve(part, place);
      const kind = !isUnresolved(found) && isNode(found.node) ? kindOf(found.node) : undefined;
      if (kind === 'object') return undefined;
      if (kind !== undefined) return usageOf(part, place, name).type;
    }
    return undefined;
  }

  function stringOf(schema: Node, pointer: string, name: string): Type {
    const values = Array.isArray(schema.enum) ? closedValues(schema.enum) : undefined;
    allowance.step(pointer, values?.length ?? 0);
    if (values === undefined) return scalar(stringScalar(schema, dialect.formats, overlay.settings.dates));
    return register({ kind: 'enum', name, documentation: documentationOf(schema), values }, pointer);
  }

  // --- objects -----------------------------------------------------------------------------------

  /**
   * @param parts all that the object is; its key is the place of the last one
   * @param own those parts whose inline types are called after the object, not after where they stand
   */
  function objectOf(
    parts: readonly Located[],
    documentation: string,
    name: string,
    own: readonly Located[] = parts,
  ): Type {
    const found = membersOf(parts, references);
    if (found.kind === 'none') return asJson(found.pointer, found.why);
    const pointer = parts.at(-1)?.pointer ?? '';
    const isOwn = placesBelow(own.map((part) => part.pointer));
    const inlineName = (at: string, suffix: string): string => (isOwn(at) ? name + suffix : nameAt(at));
    for (const { pointer: at, why } of found.contradictions) contradictions.set(at, why);
    const { members, additional } = found;
    const valueName = additional === undefined ? '' : inlineName(additional.pointer, 'Value');
    if (members.length === 0) return mapOrEmpty(found, documentation, pointer, name, valueName);
    const fields: FieldDraft[] = [];
    const type: Draft<RecordType> = { kind: 'record', name, documentation, fields };
    const owned = members.map((member) => ({
      ...member,
      typeName: inlineName(member.pointer, upperFirst(identifier(member.json))),
    }));
    unfilled.push(() => {
      fill(type, fields, owned);
      if (additional !== undefined) addOthers(type, additional, valueName);
    });
    return register(type, pointer);
  }

  function mapOrEmpty(
    { additional, closed }: Members,
    documentation: string,
    pointer: string,
    name: string,
    valueName: string,
  ): Type {
    if (additional === undefined && closed)
      return register({ kind: 'record', name, documentation, fields: [] }, pointer);
    if (!isNode(additional?.schema) || Object.keys(additional.schema).length === 0)
      return asJson(pointer, 'an object with any members');
    return lists.mapOf(itemOf(additional.schema, additional.pointer, valueName));
  }

  /** Members of any name beside those that are listed; values of another type than theirs are kept as JSON text. */
  function addOthers(
    type: Draft<RecordType>,
    { schema, pointer }: NonNullable<Members['additional']>,
    valueName: string,
  ): void {
    const free = !isNode(schema) || Object.keys(schema).length === 0;
    const value = free ? scalar('json') : itemOf(schema, pointer, valueName);
    const typed = { type: lists.mapOf(value), ...rules.inside('values', schema, pointer) };
    setOthers(type, typed, isJson(value) ? undefined : lists.mapOf(scalar('json')));
  }

  function setOthers(
    type: Draft<RecordType>,
    given: Omit<OthersElement, 'xml'>,
    untypedMap: MapType | undefined,
  ): void {
    const typed = { ...given, xml: '' };
    const untyped = untypedMap === undefined ? undefined : { xml: '', type: untypedMap };
    type.others = { typed, untyped };
    const own: NamelessElement[] = [];
    for (const [other, wanted] of [
      [typed, 'AdditionalProperties'],
      [untyped, 'AdditionalJson'],
    ] as const) {
      if (other === undefined) continue;
      const set = (xml: string): void => {
        other.xml = xml;
      };
      own.push({ path: `/additionalProperties/${wanted}`, tail: wanted, wanted: () => wanted, set });
    }
    elements.set(type, [...(elements.get(type) ?? []), ...own]);
  }

  /** The fields of a record, elements of their own each. */
  function fill(
    type: RecordType,
    fields: FieldDraft[],
    members: readonly (WrapperField | TypedField)[],
  ): void {
    const ofFields = members.map((member) => {
      const { json, pointer, required } = member;
      allowance.step(pointer);
      const { nullable, hasDefault, ...usage } =
        'type' in member ? plain(member.type) : usageOf(member.schema, pointer, member.typeName);
      const ruled = 'type' in member ? {} : rules.at(member.schema, pointer);
      const words = wordsOf({ ...member, ...usage }, references);
      const field = { json, xml: json, ...usage, nillable: true, required, ...ruled, ...words };
      return { field, nullable, hasDefault };
    });
    setFields(type, fields, ofFields);
  }

  function setFields(type: RecordType, fields: FieldDraft[], ofFields: readonly FieldFacts[]): void {
    facts.set(type, { fields, ofFields });
    for (const { field } of ofFields) fields.push(field);
    const list = fields
      .toSorted((a, b) => byCodeUnit(a.json, b.json))
      .map((field) => ({
        path: `/properties${pointerSegment(field.json)}`,
        tail: field.json,
        wanted: () => elementName(field.json),
        set: (xml: string) => {
          field.xml = xml;
        },
      }));
    elements.set(type, list);
  }

  function elementName(json: string): string {
    return escapeName(dialect.names === 'same' ? json : upperFirst(json));
  }

  // --- unions ------------------------------------------------------------------------------------

  /** The type of values of several kinds or shapes; one of them alone is that type, and none is JSON text. */
  function unionOf(list: readonly Alternative[], schema: Node, pointer: string, name: string): Type {
    const closed = list.filter(({ kind }) => kind !== 'any');
    const [first] = closed;
    if (first === undefined) return asJson(pointer, 'it says no single type');
    for (const { kind, pointer: at } of list)
      if (kind === 'any') notes.set(at, 'a variant that fits no closed type');
    if (closed.length === list.length) {
      if (closed.length === 1) return typeOf(first, name);
      const kinds = new Set(closed.map(({ kind }) => kind));
      const numeric = [...kinds].every((kind) => kind === 'integer' || kind === 'number');
      if (numeric) return scalar(kinds.has('number') ? 'decimal' : commonIntegerOf(closed));
      if (kinds.size === 1 && first.kind === 'string') return scalar('string');
      if (kinds.size === 1 && first.kind === 'boolean') return scalar('boolean');
    }
    const variants: Variant[] = [];
    const type: UnionType = { kind: 'union', name, documentation: documentationOf(schema), variants };
    unfilled.push(() => {
      const found = listVariants({ alternatives: closed, scalar, typeOf, rulesAt: rules.at });
      for (const variant of found.list) variants.push(variant);
      elements.set(type, found.elements);
    });
    return register(type, pointer);
  }

  /** The type of one alternative by itself; `name` is what an inline one is called. */
  function typeOf(alternative: Alternative, name: string): Type {
    const { node, pointer, kind, shared, referred, base, owner } = alternative;
    if (shared) return usageOf(node, pointer, owner).type;
    if (kind === 'array') return listOf(alternative, referred ? nameAt(pointer) : owner);
    if (kind !== 'object') return buildType({ ...node, type: kind }, pointer, name);
    const key = `${name} ${pointer}`;
    const known = amongAlternatives.get(key);
    if (known !== undefined) return known;
    const self = { node: { ...node, type: 'object' }, pointer };
    const own = referred ? alternative.own : [...alternative.own, self];
    const type = objectOf([...base, self], documentationOf(node), name, own);
    amongAlternatives.set(key, type);
    return type;
  }

  /** An array among alternatives, once for each name: a tuple is a type of its own. */
  function listOf({ node, pointer }: Alternative, name: string): Type {
    if (!('prefixItems' in node)) return arrayOf(node, pointer, name);
    const key = `${name} ${pointer}`;
    const type = amongAlternatives.get(key) ?? arrayOf(node, pointer, `${name}Items`);
    amongAlternatives.set(key, type);
    return type;
  }

  function oneOf(schemas: readonly Located[], name: string): Type {
    const [first = { node: {}, pointer: '' }, ...others] = schemas;
    const type =
      others.length === 0
        ? usageOf(first.node, first.pointer, name).type
        : unionOf(schemas.flatMap(alternativesAt(name)), {}, first.pointer, name);
    fillAll();
    return type;
  }

  function alternativesAt(name: string): (schema: Located) => readonly Alternative[] {
    return ({ node, pointer }) => (isNode(node) ? alternativesOf(node, pointer, name).list : []);
  }

  // --- merge patches -----------------------------------------------------------------------------

  /** @param own what no other operation uses, so that it needs no name of its own */
  function patched(type: Type, own: readonly Located[]): Type {
    if (type.kind === 'map') return lists.mapOf(patched(type.value, own));
    if (type.kind !== 'record' && type.kind !== 'union') return type;
    const known = patches.get(type);
    if (known !== undefined) return known;
    const pointer = pointers.get(type) ?? '';
    const isOwn = own.some((part) => `${pointer}/`.startsWith(`${part.pointer}/`));
    const name = isOwn ? type.name : `${type.name}Patch`;
    return type.kind === 'record'
      ? patchedRecord(type, name, pointer, own)
      : patchedUnion(type, name, pointer, own);
  }

  function patchedRecord(
    type: RecordType,
    name: string,
    pointer: string,
    own: readonly Located[],
  ): RecordType {
    const { documentation, others } = type;
    allowance.step(pointer, type.fields.length);
    const fields: FieldDraft[] = [];
    const patch: Draft<RecordType> = { kind: 'record', name, documentation, fields };
    patches.set(type, register(patch, pointer));
    const ofFields = (facts.get(type)?.ofFields ?? []).map(({ field, hasDefault }) => ({
      field: { ...field, type: patched(field.type, own), required: false },
      nullable: true,
      hasDefault,
    }));
    setFields(patch, fields, ofFields);
    if (others !== undefined)
      setOthers(
        patch,
        { ...others.typed, type: lists.mapOf(patched(others.typed.type.value, own)) },
        others.untyped?.type,
      );
    return patch;
  }

  function patchedUnion(type: UnionType, name: string, pointer: string, own: readonly Located[]): UnionType {
    allowance.step(pointer, type.variants.length);
    const variants: VariantDraft[] = [];
    const patch: UnionType = { ...type, name, variants };
    patches.set(type, register(patch, pointer));
    for (const variant of type.variants) variants.push({ ...variant, type: patched(variant.type, own) });
    const list = (elements.get(type) ?? []).map((element, index) => ({
      ...element,
      set: (xml: string) => {
        const variant = variants[index];
        if (variant !== undefined) variant.xml = xml;
      },
    }));
    elements.set(patch, list);
    return patch;
  }

  // --- arrays and maps ---------------------------------------------------------------------------

  function arrayOf(schema: Node, pointer: string, name: string): Type {
    const { items, prefixItems } = schema;
    if (Array.isArray(prefixItems) && prefixItems.length > 0)
      return tupleOf(schema, prefixItems, pointer, name);
    if (items === undefined || items === true || (isNode(items) && Object.keys(items).length === 0))
      return asJson(pointer, 'an array of anything');
    return lists.arrayOf(itemOf(items, `${pointer}/items`, `${name}Item`));
  }

  /** An array whose first items have types of their own. */
  function tupleOf(schema: Node, prefix: readonly unknown[], pointer: string, name: string): TupleType {
    const positions: Position[] = [];
    const type: Draft<TupleType> = {
      kind: 'tuple',
      name,
      documentation: documentationOf(schema),
      positions,
      rest: undefined,
    };
    unfilled.push(() => {
      for (const [index, item] of prefix.entries()) {
        const xml = `Item${index + 1}`;
        const at = `${pointer}/prefixItems/${index}`;
        const place = { schema: item, pointer: at, type: itemOf(item, at, name + xml), allowed: undefined };
        positions.push({ xml, type: place.type, ...rules.at(item, at), ...wordsOf(place, references) });
      }
      if (endsAfter(schema, prefix.length)) return;
      const at = `${pointer}/items`;
      const { items } = schema;
      const rest = isNode(items)
        ? itemOf(items, at, `${name}Item`)
        : asJson(at, 'items behind those listed may be anything');
      type.rest = { xml: 'Items', type: lists.arrayOf(rest), ...rules.inside('items', items, at) };
    });
    return register(type, pointer);
  }

  /** The type of an array's items or a map's values. A GUID is one only as a member (W21). */
  function itemOf(schema: unknown, pointer: string, name: string): Type {
    containers++;
    const { type } = usageOf(schema, pointer, name);
    containers--;
    return type.kind === 'scalar' && type.scalar === 'guid' ? scalar('string') : type;
  }

  /** Keeps a type to be named; its name until then is the one it wants. */
  function register<T extends Draft<NamedType>>(type: T, pointer: string): T {
    const wanted = type.name;
    const key = nameAt(pointer) === wanted ? pointer : `${pointer}#${wanted}`;
    const set = (name: string): void => {
      type.name = name;
    };
    nameless.set(`${key} ${nameless.size}`, { key, name: wanted, type, set });
    pointers.set(type, pointer);
    return type;
  }

  // --- the whole ---------------------------------------------------------------------------------

  function wrapper(
    name: string,
    documentation: string,
    members: readonly (WrapperField | TypedField)[],
  ): RecordType {
    const type = recordOf(name, documentation, members);
    wrappers.set(type, name);
    return type;
  }

  function recordOf(
    name: string,
    documentation: string,
    members: readonly (WrapperField | TypedField)[],
  ): RecordType {
    const fields: FieldDraft[] = [];
    const type: RecordType = { kind: 'record', name, documentation, fields };
    fill(type, fields, members);
    fillAll();
    return type;
  }

  function record(
    name: string,
    pointer: string,
    members: readonly (WrapperField | TypedField)[],
  ): RecordType {
    const key = `${pointer}#${name}`;
    const known = made.get(key) ?? register(recordOf(name, '', members), pointer);
    made.set(key, known);
    return known;
  }

  function component(name: string): Type | undefined {
    const pointer = `/components/schemas${pointerSegment(name)}`;
    const schemas = childOf(childOf(document, 'components'), 'schemas');
    if (!Object.hasOwn(schemas, name)) return undefined;
    const { type } = usageOf(schemas[name], pointer, nameAt(pointer));
    fillAll();
    for (const one of reached([type])) asked.add(one);
    return type;
  }

  function fillAll(): void {
    for (let next = unfilled.shift(); next !== undefined; next = unfilled.shift()) next();
  }

  function finish(operations: readonly Wrappers[]): FinishedTypes {
    const inReplies = reached(operations.map(({ output }) => output));
    const roots = operations.flatMap(({ input, output }) => [input, output]);
    const all = reached(roots);
    const schemas = childOf(childOf(document, 'components'), 'schemas');
    const { types: names, ...given } = nameTypes({
      reached: new Set([...all, ...asked]),
      nameless: [...nameless.values()],
      derived: lists.derived,
      elements,
      wrappers,
      components: Object.keys(schemas).map((name) => {
        const key = `/components/schemas${pointerSegment(name)}`;
        return { key, name: nameAt(key) };
      }),
      pinned,
    });
    for (const [type, { fields, ofFields }] of facts) {
      for (const fact of ofFields) fact.field.nillable = isNillable(fact, dialect, inReplies.has(type));
      if (all.has(type)) sortFields(type.name, fields, overlay, reportOverlay);
    }
    // once more, as the order of fields is that of what they reach
    const types = [...reached(roots)].filter((type) => !wrappers.has(type));
    if (dialect.types === 'by-name') types.sort((a, b) => byCodeUnit(a.name, b.name));
    return { types, names, ...given };
  }

  const notesOf = (found: ReadonlyMap<string, string>): readonly JsonNote[] =>
    [...found].map(([pointer, why]) => ({ pointer, why }));
  return {
    wrapper,
    record,
    arrayOf: (item) => lists.arrayOf(only(item)),
    mapOf: (value) => lists.mapOf(only(value)),
    oneOf,
    patchOf: (schemas, name) => patched(oneOf(schemas, name), schemas),
    component,
    finish,
    notes: () => notesOf(notes),
    contradictions: () => notesOf(contradictions),
    unchecked: rules.unchecked,
  };
}

/** Every named type that these reach, themselves too, each before what it is made of. */
function reached(roots: readonly Type[]): Set<NamedType> {
  const seen = new Set<NamedType>();
  const open = roots.toReversed();
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    if (type.kind === 'scalar' || seen.has(type)) continue;
    seen.add(type);
    for (const part of partsOf(type).toReversed()) open.push(part);
  }
  return seen;
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

function isJson(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'json';
}
