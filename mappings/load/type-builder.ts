import type { ArrayType, MapType, NamedType, RecordType, ScalarName, ScalarType, Type } from '../model.ts';
import { pointerSegment, type Report } from './error.ts';
import { type FieldDraft, type FieldFacts, isNillable, sortFields } from './fields.ts';
import { type Members, membersOf, type SchemaMember } from './members.ts';
import { escapeName, identifier, upperFirst } from './names.ts';
import { isNode, type Node, shown } from './node.ts';
import type { Overlay } from './overlay.ts';
import { isUnresolved, nameAt, type References } from './references.ts';
import {
  addsMembers,
  closedValues,
  documentationOf,
  integerScalar,
  kindOf,
  numberScalar,
  onlyInner,
  openKeyword,
  stringScalar,
  takesNull,
} from './schema.ts';

/** A node of the document that no closed type fits; it travels as JSON text in an xs:string. */
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

/** Builds the model's types from a document's schemas, each once. */
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
  readonly arrayOf: (item: Type, pointer: string) => ArrayType;
  /** The type of a component that the document has under this name. */
  readonly component: (name: string) => Type | undefined;
  /** Says what is nillable, and gives the named types in the order they were met. */
  readonly finish: (operations: readonly Wrappers[]) => readonly NamedType[];
  readonly notes: () => readonly JsonNote[];
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
  readonly report: Report;
  readonly reportOverlay: Report;
}

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
  const { document, references, overlay, report, reportOverlay } = source;
  const { dialect } = overlay;
  /** Why, by pointer. */
  const notes = new Map<string, string>();
  /** What was read already, by where it stands and what an inline type is called. */
  const usages = new Map<string, Usage>();
  /** What is being read, with the arrays and maps around it: to tell when it comes up again inside itself. */
  const open = new Map<string, number>();
  let containers = 0;
  /** Where each schema stands; at several places where the file has aliases of it. */
  const places = new Map<Node, string[]>();
  /** Records whose fields are still to be read: by and by, so that a record may reach itself, however far away. */
  const unfilled: (() => void)[] = [];
  const named = new Map<string, { readonly type: NamedType; readonly pointer: string }>();
  const arrays = new Map<Type, ArrayType>();
  const maps = new Map<Type, MapType>();
  const scalars = new Map<ScalarName, ScalarType>();
  const facts = new Map<RecordType, readonly FieldFacts[]>();

  function scalar(name: ScalarName): ScalarType {
    const type = scalars.get(name) ?? { kind: 'scalar', scalar: name };
    scalars.set(name, type);
    return type;
  }

  function asJson(pointer: string, why: string): Type {
    notes.set(pointer, why);
    return scalar('json');
  }

  // --- one schema --------------------------------------------------------------------------------

  /** The type of the schema at `pointer`; `name` is what an inline type is called. */
  function usageOf(schema: unknown, pointer: string, name: string): Usage {
    if (!isNode(schema)) {
      if (schema !== true) report(pointer, `expected a schema, got ${shown(schema)}`);
      return plain(asJson(pointer, 'any value is allowed'));
    }
    const key = `${name} ${pointer}`;
    const known = usages.get(key);
    if (known !== undefined) return known;
    if (isInsideItself(schema, pointer)) {
      report(pointer, 'is an alias of what it stands in; expected a $ref');
      return plain(scalar('json'));
    }
    const opened = open.get(key);
    if (opened !== undefined) return plain(selfWithoutRecord(opened, pointer));
    if (open.size >= deepest) {
      report(pointer, `expected at most ${deepest} arrays, maps and references in one another, got more`);
      return plain(scalar('json'));
    }
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
    if (containersAround !== containers) return asJson(pointer, 'an array or map of itself');
    report(pointer, 'refers to itself without an object between; expected an object with members');
    return scalar('json');
  }

  function readUsage(schema: Node, pointer: string, name: string): Usage {
    const usage = Object.hasOwn(schema, '$ref')
      ? readReference(schema, pointer, name)
      : (readInner(schema, pointer, name) ?? plain(buildType(schema, pointer, name)));
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

  /** A `$ref`, with what OpenAPI 3.1 allows beside it: members of its own, fewer enum values, a default, null. */
  function readReference(schema: Node, pointer: string, name: string): Usage {
    const target = references.target(schema.$ref, pointer);
    if (isUnresolved(target)) return plain(asJson(target.pointer, target.why));
    if (siblingsCount(document)) {
      const keyword = openKeyword(schema);
      if (keyword !== undefined)
        return plain(asJson(`${pointer}/${keyword}`, `${keyword} fits no closed type`));
      if (addsMembers(schema) || Object.hasOwn(schema, 'allOf'))
        return plain(objectOf(schema, pointer, name));
    }
    const usage = usageOf(target.node, target.pointer, nameAt(target.pointer));
    return { ...usage, allowed: allowedOf(schema, usage, pointer) };
  }

  function allowedOf(schema: Node, { type, allowed }: Usage, pointer: string): Usage['allowed'] {
    if (type.kind !== 'enum' || !Array.isArray(schema.enum)) return allowed;
    const stated: readonly unknown[] = schema.enum.filter((value) => value !== null);
    const values = stated.filter(
      (value): value is string => typeof value === 'string' && type.values.includes(value),
    );
    for (const value of stated) {
      if (typeof value !== 'string' || !values.includes(value)) {
        report(
          `${pointer}/enum`,
          `expected values of ${type.name} (${type.values.join(', ')}), got ${shown(value)}`,
        );
      }
    }
    return values;
  }

  function buildType(schema: Node, pointer: string, name: string): Type {
    const kind = kindOf(schema);
    // members that the subtypes of a base type add would be lost
    const keyword =
      openKeyword(schema) ?? (Object.hasOwn(schema, 'discriminator') ? 'discriminator' : undefined);
    if (keyword !== undefined) return asJson(`${pointer}/${keyword}`, `${keyword} fits no closed type`);
    switch (kind) {
      case 'object':
        return objectOf(schema, pointer, name);
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

  function stringOf(schema: Node, pointer: string, name: string): Type {
    const values = Array.isArray(schema.enum) ? closedValues(schema.enum) : undefined;
    if (values === undefined) return scalar(stringScalar(schema, dialect.formats));
    return register({ kind: 'enum', name, documentation: documentationOf(schema), values }, pointer);
  }

  // --- objects -----------------------------------------------------------------------------------

  function objectOf(schema: Node, pointer: string, name: string): Type {
    const found = membersOf(schema, pointer, references);
    if (found.kind === 'none') return asJson(found.pointer, found.why);
    const { members, additional } = found;
    if (members.length === 0) return mapOrEmpty(schema, additional, pointer, name);
    if (additional !== undefined)
      return asJson(additional.pointer, 'members of any name beside those it lists');
    const fields: FieldDraft[] = [];
    const type: RecordType = { kind: 'record', name, documentation: documentationOf(schema), fields };
    const named = members.map((member) => ({
      ...member,
      typeName: name + upperFirst(identifier(member.json)),
    }));
    unfilled.push(() => fill(type, fields, named));
    return register(type, pointer);
  }

  function mapOrEmpty(schema: Node, additional: Members['additional'], pointer: string, name: string): Type {
    if (schema.additionalProperties === false)
      return register({ kind: 'record', name, documentation: documentationOf(schema), fields: [] }, pointer);
    if (!isNode(additional?.schema) || Object.keys(additional.schema).length === 0)
      return asJson(pointer, 'an object with any members');
    return mapOf(itemOf(additional.schema, additional.pointer, `${name}Value`), pointer);
  }

  /** The fields of a record in the order of the wire, elements of their own each. */
  function fill(
    type: RecordType,
    fields: FieldDraft[],
    members: readonly (WrapperField | TypedField)[],
  ): void {
    const byElement = new Map<string, string>();
    const ofFields: FieldFacts[] = [];
    facts.set(type, ofFields);
    for (const member of members) {
      const { json, pointer, required } = member;
      const { nullable, hasDefault, ...usage } =
        'type' in member ? plain(member.type) : usageOf(member.schema, pointer, member.typeName);
      const xml = elementName(json);
      const clash = byElement.get(xml);
      if (clash !== undefined)
        report(pointer, `${shown(json)} and ${shown(clash)} would both be <${xml}>; rename one`);
      byElement.set(xml, json);
      const field = { json, xml, ...usage, nillable: true, required };
      fields.push(field);
      ofFields.push({ field, nullable, hasDefault });
    }
    sortFields(type.name, fields, overlay, reportOverlay);
  }

  function elementName(json: string): string {
    return escapeName(dialect.names === 'same' ? json : upperFirst(json));
  }

  // --- arrays and maps ---------------------------------------------------------------------------

  function arrayOf(schema: Node, pointer: string, name: string): Type {
    const { items } = schema;
    if (items === undefined || items === true || (isNode(items) && Object.keys(items).length === 0))
      return asJson(pointer, 'an array of anything');
    return arrayOfType(itemOf(items, `${pointer}/items`, `${name}Item`), pointer);
  }

  function arrayOfType(item: Type, pointer: string): ArrayType {
    const known = arrays.get(item);
    if (known !== undefined) return known;
    const itemName = nameOf(item);
    const type: ArrayType = {
      kind: 'array',
      name: `ArrayOf${itemName}`,
      namespace: isStrings(item) && overlay.arraysNamespace !== undefined ? 'arrays' : 'types',
      itemName: overlay.types.get(itemName)?.item ?? itemName,
      item,
    };
    arrays.set(item, type);
    return register(type, pointer);
  }

  function mapOf(value: Type, pointer: string): Type {
    const known = maps.get(value);
    if (known !== undefined) return known;
    const type: MapType = isStrings(value)
      ? {
          kind: 'map',
          name: dialect.mapName,
          namespace: overlay.arraysNamespace === undefined ? 'types' : 'arrays',
          entryName: dialect.mapEntry,
          value,
        }
      : { kind: 'map', name: `MapOf${nameOf(value)}`, namespace: 'types', entryName: 'Entry', value };
    maps.set(value, type);
    return register(type, pointer);
  }

  /** The type of an array's items or a map's values. A GUID is one only as a member (W21). */
  function itemOf(schema: unknown, pointer: string, name: string): Type {
    containers++;
    const { type } = usageOf(schema, pointer, name);
    containers--;
    return type.kind === 'scalar' && type.scalar === 'guid' ? scalar('string') : type;
  }

  function register<T extends NamedType>(type: T, pointer: string): T {
    const clash = named.get(type.name);
    if (clash !== undefined && clash.type !== type) {
      report(
        pointer,
        `its type would be called ${type.name}, as the one at ${clash.pointer}; rename one, or give an inline type a name under /components/schemas`,
      );
    }
    named.set(type.name, { type, pointer });
    return type;
  }

  // --- the whole ---------------------------------------------------------------------------------

  function wrapper(
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
    const known = named.get(name);
    if (known?.type.kind === 'record' && known.pointer === pointer) return known.type;
    return register(wrapper(name, '', members), pointer);
  }

  function component(name: string): Type | undefined {
    const pointer = `/components/schemas${pointerSegment(name)}`;
    const schemas = isNode(document.components) ? document.components.schemas : undefined;
    if (!isNode(schemas) || !Object.hasOwn(schemas, name)) return undefined;
    const { type } = usageOf(schemas[name], pointer, nameAt(pointer));
    fillAll();
    return type;
  }

  function fillAll(): void {
    for (let next = unfilled.shift(); next !== undefined; next = unfilled.shift()) next();
  }

  function finish(operations: readonly Wrappers[]): readonly NamedType[] {
    const inReplies = new Set<Type>();
    const all = new Set<Type>();
    for (const { output } of operations) reach(output, inReplies);
    for (const { input, output } of operations) {
      reach(input, all);
      reach(output, all);
    }
    for (const [type, ofFields] of facts) {
      for (const fact of ofFields) fact.field.nillable = isNillable(fact, dialect, inReplies.has(type));
    }
    const wrappers = new Set<Type>(operations.flatMap(({ input, output }) => [input, output]));
    return [...all].filter((type): type is NamedType => type.kind !== 'scalar' && !wrappers.has(type));
  }

  return {
    wrapper,
    record,
    arrayOf: arrayOfType,
    component,
    finish,
    notes: () => [...notes].map(([pointer, why]) => ({ pointer, why })),
  };
}

/** OpenAPI 3.0 ignores what stands beside a `$ref`; 3.1 means all of it. */
function siblingsCount(document: Node): boolean {
  return !String(document.openapi).startsWith('3.0');
}

/** Adds every type that `type` reaches, itself first. */
function reach(type: Type, seen: Set<Type>): void {
  if (seen.has(type) || type.kind === 'scalar') return;
  seen.add(type);
  if (type.kind === 'record') for (const field of type.fields) reach(field.type, seen);
  else if (type.kind === 'array') reach(type.item, seen);
  else if (type.kind === 'map') reach(type.value, seen);
}

function isStrings(type: Type): boolean {
  return type.kind === 'scalar' && type.scalar === 'string';
}

function nameOf(type: Type): string {
  return type.kind === 'scalar' ? type.scalar : type.name;
}
