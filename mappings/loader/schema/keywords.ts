import { isWithin, scalarsByFormat, scalarTable } from '../../codec/scalars/table.ts';
import type { ScalarName } from '../../contract/model.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import { isNode, memberOf, type Node, textOf } from '../document/node.ts';
import type { Located } from '../document/references.ts';

/** Facts about one schema without following its references. */

/** Keywords that describe the structure of a value, except `required`. Other keywords only narrow or annotate. */
const shapes = [
  '$ref',
  'type',
  'properties',
  'allOf',
  'oneOf',
  'anyOf',
  'items',
  'prefixItems',
  'additionalProperties',
  'patternProperties',
  'enum',
  'const',
  'format',
  'contentEncoding',
];

/** Returns true if a schema describes the structure of a value. */
export function describesShape(schema: unknown): boolean {
  return isNode(schema) && shapes.some((keyword) => Object.hasOwn(schema, keyword));
}

/** Returns true if a schema names or requires members. A boolean `required`, a common mistake, is ignored. */
export function addsMembers(schema: Node): boolean {
  const { properties, required } = schema;
  return (
    (isNode(properties) && Object.keys(properties).length > 0) ||
    (Array.isArray(required) && required.length > 0)
  );
}

/** Returns true if a schema adds to the target of its `$ref`. */
export function combines(schema: Node): boolean {
  const { allOf } = schema;
  const sums = Array.isArray(allOf) && allOf.some(countsInAllOf);
  return sums || addsMembers(schema) || openKeyword(schema) !== undefined;
}

/** Returns true if a part of an `allOf` contributes more than annotations and limits. */
export function countsInAllOf(part: unknown): boolean {
  return describesShape(part) || (isNode(part) && addsMembers(part));
}

/** Returns true if a schema describes only the JSON type of a value. */
export function isBare(schema: unknown): boolean {
  return isNode(schema) && shapes.every((keyword) => keyword === 'type' || !Object.hasOwn(schema, keyword));
}

/**
 * Returns the keyword that allows several structures, so that no single closed type fits. Undefined if there is none.
 */
export function openKeyword(schema: Node): 'oneOf' | 'anyOf' | undefined {
  return (['oneOf', 'anyOf'] as const).find((name) => describes(schema[name]));
}

/** `oneOf: [{ required: [a] }, { required: [b] }]` with sibling properties only narrows, and describes no structure. */
function describes(variants: unknown): boolean {
  return variants !== undefined && (!Array.isArray(variants) || variants.some(describesShape));
}

/** Returns true if an array schema allows no items after the first `count`. */
export function endsAfter({ items, unevaluatedItems, maxItems }: Node, count: number): boolean {
  if (items === false || unevaluatedItems === false) return true;
  return typeof maxItems === 'number' && maxItems <= count;
}

/** Keywords with which a schema has its own structure. */
const structureKeywords = ['$ref', 'additionalProperties', 'enum', 'items'] as const;

const combiners = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * Returns the only schema in an `anyOf`, `oneOf` or `allOf`, ignoring null and annotations, and whether null is
 * allowed. Documents use this form for a reference that is nullable or has its own description. Undefined if the schema
 * has its own structure.
 */
export function innerOf(
  schema: Node,
  pointer: string,
): (Located & { readonly nullable: boolean }) | undefined {
  if (structureKeywords.some((key) => Object.hasOwn(schema, key)) || addsMembers(schema)) return undefined;
  const combined = combiners.filter((key) => Array.isArray(schema[key]));
  const [keyword] = combined;
  const variants = keyword === undefined ? undefined : schema[keyword];
  if (keyword === undefined || combined.length > 1 || !Array.isArray(variants)) return undefined;
  const isNull = (variant: unknown): boolean => isNode(variant) && variant.type === 'null';
  const counts = (variant: unknown): boolean =>
    keyword === 'allOf' ? countsInAllOf(variant) : !isNull(variant);
  const index = variants.findIndex(counts);
  if (index === -1 || variants.findLastIndex(counts) !== index) return undefined;
  return {
    node: variants[index],
    pointer: `${pointer}/${keyword}/${index}`,
    nullable:
      keyword === 'allOf'
        ? variants.some((variant) => isNode(variant) && variant.nullable === true)
        : variants.some(isNull),
  };
}

/** Returns true if a schema allows null in addition to other values. */
export function takesNull(schema: Node): boolean {
  const { type } = schema;
  const values = schema.enum;
  return (
    schema.nullable === true ||
    (Array.isArray(type) && type.includes('null')) ||
    (Array.isArray(values) && values.includes(null))
  );
}

/** Returns the JSON type of a schema, ignoring null. Undefined if it has several types or none. */
export function kindOf(schema: Node): JsonType | undefined {
  const kinds = kindsOf(schema);
  return kinds.length === 1 ? kinds[0] : undefined;
}

/** The types of JSON Schema, except null. */
export type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

export const jsonTypes: readonly JsonType[] = ['object', 'array', 'string', 'integer', 'number', 'boolean'];

/** Returns true for a type of JSON Schema, except null. */
export function isJsonType(value: unknown): value is JsonType {
  return jsonTypes.some((type) => type === value);
}

const kindsByName: ReadonlyMap<string, readonly JsonType[]> = new Map(
  jsonTypes.map((type) => [type, [type]]),
);

/** Returns the JSON types that a schema allows, ignoring null. Empty if the schema does not restrict the type. */
export function kindsOf(schema: Node): readonly JsonType[] {
  const { type } = schema;
  if (typeof type === 'string') return kindsByName.get(type) ?? [];
  if (type !== undefined) return [type].flat().filter(isJsonType);
  if (
    isNode(schema.properties) ||
    ['allOf', 'additionalProperties', 'patternProperties'].some((key) => key in schema)
  )
    return ['object'];
  if ('items' in schema || 'prefixItems' in schema) return ['array'];
  return [...new Set((fixedValues(schema) ?? []).map(kindOfValue).filter((kind) => kind !== undefined))];
}

/** Returns the values of `const` or `enum`, except null. Undefined if the schema has neither. */
export function fixedValues(schema: Node): readonly unknown[] | undefined {
  const values = Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
  return Array.isArray(values) ? values.filter((value) => value !== null) : undefined;
}

function kindOfValue(value: unknown): JsonType | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as 'string' | 'boolean';
  return Array.isArray(value) ? 'array' : isNode(value) ? 'object' : undefined;
}

const integerFormats = scalarsByFormat('integer');
const numberFormats = scalarsByFormat('number');
const stringFormats = scalarsByFormat('string');

/**
 * Returns the XSD type of an integer. Without a format it is `xs:long`, unless its bounds allow larger values (compared
 * as doubles).
 */
export function integerScalar(schema: Node): ScalarName {
  const stated = integerFormats.get(textOf(schema.format) ?? '');
  if (stated !== undefined) return stated;
  const least = tightest(Math.max, schema.minimum, schema.exclusiveMinimum);
  const most = tightest(Math.min, schema.maximum, schema.exclusiveMaximum);
  const large = most !== undefined && most > 2 ** 63;
  const low = least !== undefined && least < -(2 ** 63);
  if (!large && !low) return 'long';
  return least !== undefined && least >= 0 && most !== undefined && most <= 2 ** 64
    ? 'unsignedLong'
    : 'integer';
}

/** Returns an integer type that holds the values of all the given types. */
export function commonInteger(names: readonly ScalarName[]): ScalarName {
  const [first = 'long'] = names;
  if (names.every((name) => name === first)) return first;
  return names.every((name) => isWithin(name, 'long')) ? 'long' : 'integer';
}

function tightest(pick: (...bounds: number[]) => number, ...stated: readonly unknown[]): number | undefined {
  // In OpenAPI 3.0, `exclusiveMaximum` is a boolean.
  const bounds = stated.filter((bound) => typeof bound === 'number');
  return bounds.length === 0 ? undefined : pick(...bounds);
}

/** Returns true for a format that determines an XSD type. */
export function isTypedFormat(format: string): boolean {
  return [integerFormats, numberFormats, stringFormats].some((formats) => formats.has(format));
}

/** A number without a format is `xs:decimal`, which keeps all digits. */
export function numberScalar(schema: Node): ScalarName {
  return numberFormats.get(textOf(schema.format) ?? '') ?? 'decimal';
}

/** Returns true if a number has no upper or no lower bound (JSON Schema Validation 2020-12, 6.2). */
export function isUnbounded({ maximum, exclusiveMaximum, minimum, exclusiveMinimum }: Node): boolean {
  const isLimit = (bound: unknown): boolean => typeof bound === 'number' || bound === true;
  const isAbove = isLimit(maximum) || isLimit(exclusiveMaximum);
  return !(isAbove && (isLimit(minimum) || isLimit(exclusiveMinimum)));
}

/**
 * Returns the XSD type of a string.
 *
 * @param formats types of other formats in the dialect
 * @param dates `text` if dates are plain strings
 */
export function stringScalar(
  schema: Node,
  formats: Readonly<Record<string, ScalarName>>,
  dates: Settings['dates'],
): ScalarName {
  const format = textOf(schema.format) ?? '';
  const stated = stringFormats.get(format);
  if (stated !== undefined)
    return dates === 'text' && scalarTable[stated].temporal === true ? 'string' : stated;
  if (schema.contentEncoding === 'base64') return 'base64Binary';
  return (memberOf(formats, format) as ScalarName | undefined) ?? 'string';
}

/**
 * Returns the values of a string enum that clients can import as an enum. Undefined if it must stay an open string:
 * - It has the empty string, which three importers read as null.
 * - Its values differ only in case or punctuation, so code generators would map them to the same constant.
 * - Its values have characters that schema attributes do not preserve.
 */
export function closedValues(values: readonly unknown[]): readonly string[] | undefined {
  const texts = values.filter((value) => value !== null);
  if (texts.length === 0 || !texts.every((value) => typeof value === 'string')) return undefined;
  const folded = new Set(texts.map((text) => text.replace(/[\p{P}\p{S}\p{Z}]/gu, '').toLowerCase()));
  const kept = texts.every(
    (text) => text !== '' && text.isWellFormed() && !/[\p{Cc}\uFFFE\uFFFF]/u.test(text),
  );
  return kept && folded.size === texts.length ? texts : undefined;
}

/** Returns the description of a schema, or else its title. */
export function documentationOf(schema: Node): string {
  return (textOf(schema.description) ?? textOf(schema.title) ?? '').trim();
}
