import {
  type ArrayType,
  type EnumType,
  type Field,
  isReference,
  type MapType,
  type NamedType,
  type RecordType,
  type ScalarName,
  type ScalarType,
  type Type,
} from '../model.ts';
import type { Dialect } from './dialects.ts';
import { pointerSegment, type Report } from './error.ts';
import { isNode, type Node, textOf, textsOf } from './node.ts';
import type { Overlay } from './overlay.ts';

/** A node of the document that no closed type fits; it travels as JSON text in an xs:string. */
export interface JsonNote {
  readonly pointer: string;
  readonly why: string;
}

/** A schema, and what stands around it that a field keeps: nullable, default, fewer enum values. */
interface Usage {
  readonly type: Type;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly notEmpty: boolean;
  readonly allowed: readonly string[] | undefined;
}

type Draft<T> = { -readonly [key in keyof T]: T[key] };

/** A field as it is built: whether it is nillable depends on who reaches its record, known only in the end. */
interface FieldDraft extends Draft<Field> {
  declaredNillable: boolean;
  hasDefault: boolean;
}

interface RecordDraft extends Draft<Omit<RecordType, 'fields'>> {
  fields: FieldDraft[];
}

export interface TypeBuilder {
  /** The type of the schema at `pointer`; `name` is what an inline type is called. */
  typeOf(schema: unknown, pointer: string, name: string): Usage;
  /** A record of the wrapper's own, made of fields that the caller lists. */
  wrapper(name: string, documentation: string, fields: readonly WrapperField[]): RecordType;
  /** A component as the document names it, built if it is there. */
  component(name: string): Type | undefined;
  /** Resolves a `$ref` of any kind, once. */
  resolve(node: unknown, pointer: string): { readonly node: unknown; readonly pointer: string };
  /** Members of an object schema with `allOf` flattened, in document order. */
  membersOf(schema: unknown, pointer: string): readonly SchemaMember[] | undefined;
  elementName(json: string): string;
  /** Sets what is nillable and freezes all; the named types come in the order they were met. */
  finish(outputs: readonly RecordType[], inputs: readonly RecordType[]): readonly NamedType[];
  readonly notes: readonly JsonNote[];
}

export interface SchemaMember {
  readonly json: string;
  readonly schema: unknown;
  readonly pointer: string;
  readonly required: boolean;
}

export interface WrapperField {
  readonly json: string;
  readonly schema: unknown;
  readonly pointer: string;
  readonly required: boolean;
  /** What an inline type of it is called. */
  readonly typeName: string;
}

const refPrefix = '#/components/schemas/';

/** Builds the model's types from a document's schemas. */
export function createTypeBuilder(document: Node, overlay: Overlay, report: Report): TypeBuilder {
  const { dialect } = overlay;
  const components = child(child(document, 'components'), 'schemas');
  const byComponent = new Map<string, Usage>();
  const building = new Set<string>();
  const named = new Map<string, { readonly type: NamedType; readonly pointer: string }>();
  const drafts = new Map<RecordType, RecordDraft>();
  const notes: JsonNote[] = [];

  const scalar = (name: ScalarName): ScalarType => ({ kind: 'scalar', scalar: name });
  const usage = (type: Type): Usage => ({
    type,
    nullable: false,
    hasDefault: false,
    notEmpty: false,
    allowed: undefined,
  });

  function asJson(pointer: string, why: string): Usage {
    notes.push({ pointer, why });
    return usage(scalar('json'));
  }

  function elementName(json: string): string {
    const name = dialect.names === 'same' ? json : json.charAt(0).toUpperCase() + json.slice(1);
    return escapeName(name);
  }

  function resolve(node: unknown, pointer: string): { node: unknown; pointer: string } {
    let current = node;
    let at = pointer;
    for (let hops = 0; isNode(current) && typeof current.$ref === 'string'; hops++) {
      const ref = current.$ref;
      const target = ref.startsWith('#/') ? lookup(document, ref) : undefined;
      if (target === undefined || hops > 32) {
        report(
          `${at}/$ref`,
          ref.startsWith('#/')
            ? `${JSON.stringify(ref)} leads nowhere; expected something that this file has`
            : `${JSON.stringify(ref)} lies outside this file; copy what it names under /components`,
        );
        return { node: {}, pointer: at };
      }
      current = target;
      at = ref.slice(1);
    }
    return { node: current, pointer: at };
  }

  function typeOf(schema: unknown, pointer: string, name: string): Usage {
    if (!isNode(schema)) {
      if (schema !== true) report(pointer, 'expected a schema, an object');
      return asJson(pointer, 'any value is allowed');
    }
    const ref = textOf(schema.$ref);
    if (ref !== undefined) return typeOfReference(ref, schema, pointer);
    const nullVariant = withoutNull(schema);
    if (nullVariant !== undefined) {
      return { ...typeOf(nullVariant.schema, pointer + nullVariant.suffix, name), nullable: true };
    }
    const built = buildType(schema, pointer, name);
    return {
      ...built,
      nullable: built.nullable || schema.nullable === true || nullListed(schema),
      hasDefault: 'default' in schema,
      notEmpty: typeof schema.minLength === 'number' && schema.minLength > 0,
    };
  }

  /** A `$ref`, with what 3.1 allows beside it: fewer enum values, a default, null. */
  function typeOfReference(ref: string, schema: Node, pointer: string): Usage {
    const target = referenced(ref, pointer);
    const values = schema.enum === undefined ? undefined : textsOf(schema.enum);
    const { type } = target;
    if (values !== undefined && type.kind === 'enum') {
      for (const value of values) {
        if (!type.values.includes(value)) {
          report(
            `${pointer}/enum`,
            `${JSON.stringify(value)} isn't a value of ${type.name}: ${type.values.join(', ')}`,
          );
        }
      }
    }
    return {
      ...target,
      nullable: target.nullable || schema.nullable === true,
      hasDefault: target.hasDefault || 'default' in schema,
      allowed: type.kind === 'enum' ? values : undefined,
    };
  }

  function referenced(ref: string, pointer: string): Usage {
    if (!ref.startsWith(refPrefix)) {
      const target = resolve({ $ref: ref }, pointer);
      return typeOf(target.node, target.pointer, 'Anonymous');
    }
    const component = decodePointer(ref.slice(refPrefix.length));
    const known = byComponent.get(component);
    if (known !== undefined) return known;
    const target = components[component];
    if (target === undefined) {
      report(
        `${pointer}/$ref`,
        `${JSON.stringify(ref)} leads nowhere; expected one of this file's /components/schemas`,
      );
      return usage(scalar('json'));
    }
    const at = `/components/schemas${pointerSegment(component)}`;
    if (building.has(component)) return recursive(component, at);
    building.add(component);
    const built = typeOf(target, at, typeName(component));
    building.delete(component);
    byComponent.set(component, built);
    return built;
  }

  /** A component that reaches itself: its record is registered before its fields are known. */
  function recursive(component: string, pointer: string): Usage {
    const known = named.get(typeName(component));
    if (known !== undefined) return usage(known.type);
    report(pointer, 'refers to itself without an object between; expected an object with members');
    return usage(scalar('json'));
  }

  function buildType(schema: Node, pointer: string, name: string): Usage {
    for (const keyword of ['oneOf', 'anyOf', 'not', 'if', 'patternProperties', 'prefixItems'] as const) {
      if (keyword in schema) return asJson(`${pointer}/${keyword}`, `${keyword} fits no closed type`);
    }
    const values = schema.enum;
    const kind = kindOf(schema);
    if (Array.isArray(values) && kind === 'string') return enumOf(schema, values, pointer, name);
    switch (kind) {
      case 'object':
        return objectOf(schema, pointer, name);
      case 'array':
        return arrayOf(schema, pointer, name);
      case 'string':
        return usage(scalar(stringScalar(schema, dialect)));
      case 'integer':
        return usage(scalar(integerScalar(schema)));
      case 'number':
        return usage(scalar(numberScalar(schema)));
      case 'boolean':
        return usage(scalar('boolean'));
      default:
        return asJson(pointer, 'no single type is said');
    }
  }

  function enumOf(schema: Node, values: readonly unknown[], pointer: string, name: string): Usage {
    const texts = values.filter((value) => value !== null);
    if (!texts.every((value) => typeof value === 'string'))
      return asJson(`${pointer}/enum`, 'values of several types');
    if (texts.includes('') || new Set(texts).size !== texts.length) return usage(scalar('string'));
    const type: EnumType = { kind: 'enum', name, documentation: documentationOf(schema), values: texts };
    return usage(register(type, pointer));
  }

  function objectOf(schema: Node, pointer: string, name: string): Usage {
    const members = membersOf(schema, pointer);
    const additional = schema.additionalProperties;
    if (members === undefined) return asJson(pointer, 'its allOf can’t be flattened');
    if (members.length === 0) {
      if (additional === false) return usage(recordOf(schema, [], pointer, name));
      if (!isNode(additional)) return asJson(pointer, 'an object with any members');
      return mapOf(additional, `${pointer}/additionalProperties`, name);
    }
    return usage(recordOf(schema, members, pointer, name));
  }

  function mapOf(values: Node, pointer: string, name: string): Usage {
    const value = typeOf(values, pointer, `${name}Value`).type;
    if (value.kind === 'scalar' && value.scalar === 'string') {
      const existing = named.get(dialect.mapName);
      if (existing !== undefined) return usage(existing.type);
      const namespace = overlay.arraysNamespace === undefined ? 'types' : 'arrays';
      const type: MapType = {
        kind: 'map',
        name: dialect.mapName,
        namespace,
        entryName: dialect.mapEntry,
        value,
      };
      return usage(register(type, pointer));
    }
    const mapName = `MapOf${nameOf(value)}`;
    const existing = named.get(mapName);
    if (existing !== undefined) return usage(existing.type);
    return usage(
      register({ kind: 'map', name: mapName, namespace: 'types', entryName: 'Entry', value }, pointer),
    );
  }

  function arrayOf(schema: Node, pointer: string, name: string): Usage {
    if (schema.items === undefined) return asJson(pointer, 'an array of anything');
    const item = typeOf(schema.items, `${pointer}/items`, `${name}Item`).type;
    const itemType = nameOf(item);
    const inArrays =
      item.kind === 'scalar' && item.scalar === 'string' && overlay.arraysNamespace !== undefined;
    const arrayName = `ArrayOf${itemType}`;
    const existing = named.get(arrayName);
    if (existing !== undefined) return usage(existing.type);
    const type: ArrayType = {
      kind: 'array',
      name: arrayName,
      namespace: inArrays ? 'arrays' : 'types',
      itemName: overlay.types.get(itemType)?.item ?? itemType,
      item,
    };
    return usage(register(type, pointer));
  }

  function recordOf(
    schema: Node,
    members: readonly SchemaMember[],
    pointer: string,
    name: string,
  ): RecordType {
    const draft: RecordDraft = { kind: 'record', name, documentation: documentationOf(schema), fields: [] };
    const type: RecordType = draft;
    drafts.set(type, draft);
    register(type, pointer);
    fill(draft, members, (member) => name + upperFirst(identifier(member.json)));
    return type;
  }

  function fill(
    draft: RecordDraft,
    members: readonly SchemaMember[],
    inlineName: (member: SchemaMember) => string,
  ): void {
    const byElement = new Map<string, string>();
    for (const member of members) {
      const { json, pointer } = member;
      const used = typeOf(member.schema, pointer, inlineName(member));
      const xml = elementName(json);
      const clash = byElement.get(xml);
      if (clash !== undefined) report(pointer, `${json} and ${clash} would both be <${xml}>; rename one`);
      byElement.set(xml, json);
      draft.fields.push({
        json,
        xml,
        type: used.type,
        nillable: true,
        required: member.required,
        notEmpty: used.notEmpty,
        allowed: used.allowed,
        declaredNillable: used.nullable,
        hasDefault: used.hasDefault,
      });
    }
    order(draft);
  }

  /** Puts the fields in the order of the wire (W18). */
  function order(draft: RecordDraft): void {
    const stated = overlay.types.get(draft.name)?.order;
    if (stated !== undefined) {
      const pointer = `/types${pointerSegment(draft.name)}/order`;
      for (const name of stated) {
        if (!draft.fields.some((field) => field.json === name))
          orderProblem(pointer, `${draft.name} has no member ${name}`);
      }
      for (const field of draft.fields) {
        if (!stated.includes(field.json))
          orderProblem(pointer, `expected all members of ${draft.name}, ${field.json} is missing`);
      }
      draft.fields.sort((a, b) => stated.indexOf(a.json) - stated.indexOf(b.json));
      return;
    }
    if (dialect.order === 'ordinal')
      draft.fields.sort((a, b) => (a.xml < b.xml ? -1 : a.xml > b.xml ? 1 : 0));
    const rank = (field: FieldDraft): number => {
      const index = dialect.first.indexOf(field.json);
      return index === -1 ? dialect.first.length : index;
    };
    draft.fields.sort((a, b) => rank(a) - rank(b));
  }

  const orderProblems: { readonly pointer: string; readonly message: string }[] = [];
  const orderProblem = (pointer: string, message: string): void => {
    orderProblems.push({ pointer, message });
  };

  function register<T extends NamedType>(type: T, pointer: string): T {
    if (!/^[A-Za-z_][\w.-]*$/.test(type.name)) {
      report(
        pointer,
        `the type would be called ${JSON.stringify(type.name)}, which no XML name can be; rename it`,
      );
    }
    const clash = named.get(type.name);
    if (clash !== undefined && clash.pointer !== pointer) {
      report(
        pointer,
        `its type would be called ${type.name}, as the one at ${clash.pointer}; name one under /components`,
      );
    }
    named.set(type.name, { type, pointer });
    return type;
  }

  function membersOf(schema: unknown, pointer: string): readonly SchemaMember[] | undefined {
    const members = new Map<string, SchemaMember>();
    return gather(schema, pointer, members, 0) ? [...members.values()] : undefined;
  }

  /** Adds a schema's members and those of its `allOf`, in document order; false when a part is no object. */
  function gather(
    schema: unknown,
    pointer: string,
    members: Map<string, SchemaMember>,
    depth: number,
  ): boolean {
    const { node, pointer: at } = resolve(schema, pointer);
    if (!isNode(node) || depth > 32) return false;
    const parts = Array.isArray(node.allOf) ? node.allOf : [];
    for (const [index, part] of parts.entries()) {
      if (!gather(part, `${at}/allOf/${index}`, members, depth + 1)) return false;
    }
    const kind = kindOf(node);
    if (parts.length === 0 && kind !== undefined && kind !== 'object') return false;
    const required = textsOf(node.required) ?? [];
    for (const [json, member] of Object.entries(child(node, 'properties'))) {
      const memberPointer = `${at}/properties${pointerSegment(json)}`;
      members.set(json, { json, schema: member, pointer: memberPointer, required: false });
    }
    for (const name of required) {
      const member = members.get(name);
      if (member !== undefined) members.set(name, { ...member, required: true });
    }
    return true;
  }

  function wrapper(name: string, documentation: string, fields: readonly WrapperField[]): RecordType {
    const draft: RecordDraft = { kind: 'record', name, documentation, fields: [] };
    const typeNames = new Map(fields.map((field) => [field.json, field.typeName]));
    fill(draft, fields, (member) => typeNames.get(member.json) ?? name);
    drafts.set(draft, draft);
    return draft;
  }

  function finish(outputs: readonly RecordType[], inputs: readonly RecordType[]): readonly NamedType[] {
    const inReplies = new Set<Type>();
    for (const output of outputs) walk(output, inReplies);
    const all = new Set<Type>();
    for (const [index, input] of inputs.entries()) {
      walk(input, all);
      const output = outputs[index];
      if (output !== undefined) walk(output, all);
    }
    for (const [type, draft] of drafts) {
      for (const field of draft.fields) field.nillable = isNillable(field, inReplies.has(type));
    }
    const wrappers = new Set<Type>([...outputs, ...inputs]);
    return [...all].filter((type): type is NamedType => type.kind !== 'scalar' && !wrappers.has(type));
  }

  /** W33: all of a reply; of a request what a caller may leave out and what then means something. */
  function isNillable(field: FieldDraft, inReply: boolean): boolean {
    if (dialect.nillable === 'declared') return field.declaredNillable;
    if (inReply || field.hasDefault || isReference(field.type) || field.type.kind === 'enum') return true;
    return field.type.kind === 'scalar' && (field.type.scalar === 'dateTime' || field.type.scalar === 'date');
  }

  return {
    typeOf,
    wrapper,
    component: (name) => (components[name] === undefined ? undefined : referenced(refPrefix + name, '').type),
    resolve,
    membersOf,
    elementName,
    finish: (outputs, inputs) => {
      for (const { pointer, message } of orderProblems) report(`overlay:${pointer}`, message);
      return finish(outputs, inputs);
    },
    notes,
  };
}

/** Adds every type that `type` reaches, itself first. */
function walk(type: Type, seen: Set<Type>): void {
  if (seen.has(type) || type.kind === 'scalar') return;
  seen.add(type);
  if (type.kind === 'record') for (const field of type.fields) walk(field.type, seen);
  else if (type.kind === 'array') walk(type.item, seen);
  else if (type.kind === 'map') walk(type.value, seen);
}

function child(node: Node, key: string): Node {
  const value = node[key];
  return isNode(value) ? value : {};
}

function lookup(document: Node, ref: string): unknown {
  let current: unknown = document;
  for (const segment of ref.slice(2).split('/')) {
    const key = decodePointer(segment);
    if (Array.isArray(current)) current = current[Number(key)];
    else current = isNode(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return current;
}

function decodePointer(segment: string): string {
  return decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The schema of `X or null` without its null; undefined when it isn't one. */
function withoutNull(schema: Node): { readonly schema: unknown; readonly suffix: string } | undefined {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const variants = schema[keyword];
    if (!Array.isArray(variants) || variants.length !== 2) continue;
    const other = variants.findIndex((variant) => !(isNode(variant) && variant.type === 'null'));
    if (other !== -1 && isNode(variants[1 - other]) && variants[1 - other].type === 'null') {
      return { schema: variants[other], suffix: `/${keyword}/${other}` };
    }
  }
  return undefined;
}

function nullListed(schema: Node): boolean {
  const { type } = schema;
  const values = schema.enum;
  return (Array.isArray(type) && type.includes('null')) || (Array.isArray(values) && values.includes(null));
}

/** The one JSON type of a schema, null aside; undefined when it has several or says none. */
function kindOf(schema: Node): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const kinds = type.filter((kind) => kind !== 'null');
    return kinds.length === 1 ? textOf(kinds[0]) : undefined;
  }
  if (isNode(schema.properties) || 'allOf' in schema || 'additionalProperties' in schema) return 'object';
  if ('items' in schema) return 'array';
  const values = schema.enum;
  return Array.isArray(values) && values.every((value) => typeof value === 'string') ? 'string' : undefined;
}

const integerFormats: Readonly<Record<string, ScalarName>> = {
  int8: 'byte',
  uint8: 'unsignedByte',
  int16: 'short',
  uint16: 'unsignedShort',
  int32: 'int',
  uint32: 'unsignedInt',
  int64: 'long',
  uint64: 'unsignedLong',
};

function integerScalar(schema: Node): ScalarName {
  return integerFormats[textOf(schema.format) ?? ''] ?? 'long';
}

function numberScalar(schema: Node): ScalarName {
  const format = textOf(schema.format);
  return format === 'double' || format === 'float' ? format : 'decimal';
}

function stringScalar(schema: Node, dialect: Dialect): ScalarName {
  const format = textOf(schema.format) ?? '';
  if (format === 'date-time') return 'dateTime';
  if (format === 'date' || format === 'byte') return format === 'date' ? 'date' : 'base64Binary';
  if (schema.contentEncoding === 'base64') return 'base64Binary';
  return dialect.formats[format] ?? 'string';
}

function documentationOf(schema: Node): string {
  return (textOf(schema.description) ?? textOf(schema.title) ?? '').trim();
}

function nameOf(type: Type): string {
  return type.kind === 'scalar' ? (type.scalar === 'guid' ? 'string' : type.scalar) : type.name;
}

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** A component's name as a type name. */
function typeName(component: string): string {
  return identifier(component);
}

/** `name` with what no identifier may hold as `_`. */
export function identifier(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[0-9]/.test(plain) ? `_${plain}` : plain;
}

/** A JSON member's name as an XML name: what an NCName can't hold as `_xHHHH_`, .NET's escape. */
export function escapeName(name: string): string {
  let escaped = '';
  for (let at = 0; at < name.length; at++) {
    const letter = name.charAt(at);
    const starts = /[A-Za-z_]/.test(letter);
    const isEscape = letter === '_' && /^x[0-9A-Fa-f]{4}/.test(name.slice(at + 1, at + 6));
    const legal = starts || (at > 0 && /[0-9.-]/.test(letter));
    escaped +=
      legal && !isEscape ? letter : `_x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
  }
  return escaped;
}
