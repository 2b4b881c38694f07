import { isWithin, scalarsByFormat, scalarTable } from '../../codec/scalars/table.ts';
import type { ScalarName } from '../../contract/model.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import { isNode, memberOf, type Node, textOf } from '../document/node.ts';
import type { Located } from '../document/references.ts';

/** What one schema says by itself, references not followed. */

/** The keywords that say what a value looks like, `required` aside; the others only narrow or annotate. */
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

/** True for a schema that says what a value looks like. */
export function saysShape(schema: unknown): boolean {
  return isNode(schema) && shapes.some((keyword) => Object.hasOwn(schema, keyword));
}

/** True for a schema that names members of its own, or requires some. `required: true`, a common slip, says nothing. */
export function addsMembers(schema: Node): boolean {
  const { properties, required } = schema;
  return (
    (isNode(properties) && Object.keys(properties).length > 0) ||
    (Array.isArray(required) && required.length > 0)
  );
}

/** True for a schema that adds to what a `$ref` in it names. */
export function combines(schema: Node): boolean {
  const { allOf } = schema;
  const sums = Array.isArray(allOf) && allOf.some(countsInAllOf);
  return sums || addsMembers(schema) || openKeyword(schema) !== undefined;
}

/** True for a part of an `allOf` that says more than words and limits. */
export function countsInAllOf(part: unknown): boolean {
  return saysShape(part) || (isNode(part) && addsMembers(part));
}

/** True for a schema that says of a value its kind alone. */
export function isBare(schema: unknown): boolean {
  return isNode(schema) && shapes.every((keyword) => keyword === 'type' || !Object.hasOwn(schema, keyword));
}

/** A keyword that leaves open what a value looks like, so that no one closed type fits; undefined when there is none. */
export function openKeyword(schema: Node): 'oneOf' | 'anyOf' | undefined {
  return (['oneOf', 'anyOf'] as const).find((name) => describes(schema[name]));
}

/** `oneOf: [{ required: [a] }, { required: [b] }]` beside properties narrows, and describes nothing. */
function describes(variants: unknown): boolean {
  return variants !== undefined && (!Array.isArray(variants) || variants.some(saysShape));
}

/** True for an array schema that says that nothing comes behind so many items. */
export function endsAfter({ items, unevaluatedItems, maxItems }: Node, count: number): boolean {
  if (items === false || unevaluatedItems === false) return true;
  return typeof maxItems === 'number' && maxItems <= count;
}

/**
 * The one schema that this one comes down to: `anyOf` or `oneOf` of it and null, `allOf` of it and annotations, as
 * documents write a reference that may be null or has a description of its own; and whether null is allowed beside it.
 * Undefined where it is its own.
 */
export function innerOf(
  schema: Node,
  pointer: string,
): (Located & { readonly nullable: boolean }) | undefined {
  if (
    addsMembers(schema) ||
    ['$ref', 'additionalProperties', 'enum', 'items'].some((key) => Object.hasOwn(schema, key))
  )
    return undefined;
  const combined = (['anyOf', 'oneOf', 'allOf'] as const).filter((key) => Array.isArray(schema[key]));
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

/** True for a schema that takes null beside what else it takes. */
export function takesNull(schema: Node): boolean {
  const { type } = schema;
  const values = schema.enum;
  return (
    schema.nullable === true ||
    (Array.isArray(type) && type.includes('null')) ||
    (Array.isArray(values) && values.includes(null))
  );
}

/** The JSON type of a schema, null aside; undefined when it has several or says none. */
export function kindOf(schema: Node): JsonType | undefined {
  const kinds = kindsOf(schema);
  return kinds.length === 1 ? kinds[0] : undefined;
}

/** The types of JSON Schema but null. */
export type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

export const jsonTypes: readonly JsonType[] = ['object', 'array', 'string', 'integer', 'number', 'boolean'];

/** True for one of the types of JSON Schema but null. */
export function isJsonType(value: unknown): value is JsonType {
  return jsonTypes.some((type) => type === value);
}

/** The JSON types that a schema allows, null aside; none where it doesn't say. */
export function kindsOf(schema: Node): readonly JsonType[] {
  const { type } = schema;
  if (type !== undefined) return [type].flat().filter(isJsonType);
  if (
    isNode(schema.properties) ||
    ['allOf', 'additionalProperties', 'patternProperties'].some((key) => key in schema)
  )
    return ['object'];
  if ('items' in schema || 'prefixItems' in schema) return ['array'];
  return [...new Set((fixedValues(schema) ?? []).map(kindOfValue).filter((kind) => kind !== undefined))];
}

/** The values of `const` or `enum`, null aside; undefined where a schema has neither. */
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

/** An integer without a format is `xs:long`, unless its bounds say that it may be larger (as far as a double can tell). */
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

/** An integer type that holds the values of all. */
export function commonInteger(names: readonly ScalarName[]): ScalarName {
  const [first = 'long'] = names;
  if (names.every((name) => name === first)) return first;
  return names.every((name) => isWithin(name, 'long')) ? 'long' : 'integer';
}

function tightest(pick: (...bounds: number[]) => number, ...stated: readonly unknown[]): number | undefined {
  // OpenAPI 3.0's exclusiveMaximum is a boolean
  const bounds = stated.filter((bound) => typeof bound === 'number');
  return bounds.length === 0 ? undefined : pick(...bounds);
}

/** True for a format that a type of XSD says. */
export function isTypedFormat(format: string): boolean {
  return [integerFormats, numberFormats, stringFormats].some((formats) => formats.has(format));
}

/** A number without a format is `xs:decimal`, which keeps every digit. */
export function numberScalar(schema: Node): ScalarName {
  return numberFormats.get(textOf(schema.format) ?? '') ?? 'decimal';
}

/** Whether a number can be as large or as small as it likes (JSON Schema Validation 2020-12, 6.2). */
export function isUnbounded({ maximum, exclusiveMaximum, minimum, exclusiveMinimum }: Node): boolean {
  const isLimit = (bound: unknown): boolean => typeof bound === 'number' || bound === true;
  const isAbove = isLimit(maximum) || isLimit(exclusiveMaximum);
  return !(isAbove && (isLimit(minimum) || isLimit(exclusiveMinimum)));
}

/**
 * @param formats what other formats mean to a dialect
 * @param dates `text` where dates are strings like others
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
 * The values of a string enum that importers can take as one; undefined for one that stays an open string: with the
 * empty string (three importers read it as null), with values that differ only by case or punctuation (generators fold
 * them into one constant), or with characters that no attribute of a schema keeps.
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

/** What a schema says of itself to people: its description, else its title. */
export function documentationOf(schema: Node): string {
  return (textOf(schema.description) ?? textOf(schema.title) ?? '').trim();
}
