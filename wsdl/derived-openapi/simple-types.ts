import { digitsOf } from '../../mappings/codec/adopted/facets.ts';
import { patternOf } from '../../mappings/codec/adopted/patterns.ts';
import type { SimpleOf } from '../../mappings/codec/adopted/simple-types.ts';
import type { Settings } from '../../mappings/contract/overlay-keys.ts';
import type { BuiltIn, Facets, SimpleType } from '../../mappings/contract/type-graph.ts';

/** A schema of JSON Schema 2020-12 as plain data. */
export type JsonSchema = Record<string, unknown>;

interface NumberKind {
  readonly type: 'integer' | 'number';
  readonly format?: string;
  /** Bounds that a double represents exactly. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** True if a double may not represent the value (`bigNumbers`). */
  readonly isBig?: boolean;
}

const between = (format: string, minimum: number, maximum: number): NumberKind => {
  return { type: 'integer', format, minimum, maximum };
};

const numbers: { readonly [name in BuiltIn]?: NumberKind } = {
  byte: between('int8', -128, 127),
  short: between('int16', -32768, 32767),
  // no bounds, since every generator has a type for the format `int32`
  int: { type: 'integer', format: 'int32' },
  long: { type: 'integer', format: 'int64', isBig: true },
  unsignedByte: between('uint8', 0, 255),
  unsignedShort: between('uint16', 0, 65535),
  unsignedInt: between('uint32', 0, 4294967295),
  unsignedLong: { type: 'integer', format: 'uint64', minimum: 0, isBig: true },
  integer: { type: 'integer', isBig: true },
  nonPositiveInteger: { type: 'integer', maximum: 0, isBig: true },
  negativeInteger: { type: 'integer', maximum: -1, isBig: true },
  nonNegativeInteger: { type: 'integer', minimum: 0, isBig: true },
  positiveInteger: { type: 'integer', minimum: 1, isBig: true },
  decimal: { type: 'number', format: 'decimal', isBig: true },
  float: { type: 'number', format: 'float' },
  double: { type: 'number', format: 'double' },
};

/** Formats of texts. Dates and times do not use the formats of RFC 3339, since the time zone may be missing. */
const formats: { readonly [name in BuiltIn]?: string } = {
  dateTime: 'xsd-date-time',
  date: 'xsd-date',
  time: 'xsd-time',
  duration: 'xsd-duration',
  gYearMonth: 'xsd-g-year-month',
  gYear: 'xsd-g-year',
  gMonthDay: 'xsd-g-month-day',
  gDay: 'xsd-g-day',
  gMonth: 'xsd-g-month',
  base64Binary: 'byte',
  hexBinary: 'hex',
  anyURI: 'uri-reference',
};

/** JSON types of INF, -INF and NaN. */
const nonFiniteTypes = { refuse: undefined, asNull: 'null', asText: 'string' } as const;

/** Schemas and values of simple types (A26). */
export interface SimpleSchemas {
  /** Returns the schema of a type without its documentation. */
  readonly schemaOf: (type: SimpleType) => JsonSchema;
  /**
   * Returns a text of the WSDL, for example a default, as a JSON value, or undefined if the text is not valid for the
   * type.
   */
  readonly valueOf: (type: SimpleType, text: string) => unknown;
}

/**
 * Creates the schemas of simple types, using the codecs that read their values.
 *
 * @param nested returns the schema of a list's item, which may be a reference
 */
export function simpleSchemas(
  simpleOf: SimpleOf,
  { bigNumbers, dates, nonFiniteNumbers }: Settings,
  nested: (type: SimpleType) => JsonSchema,
): SimpleSchemas {
  const parsed = (type: SimpleType, text: string): unknown => {
    const token = simpleOf(type).fromXml(text, () => undefined);
    return typeof token === 'string' ? JSON.parse(token) : undefined;
  };

  const valuesOf = (type: SimpleType): readonly unknown[] | undefined => {
    const { variety, facets, builtIn } = type;
    if (builtIn === 'QName' || builtIn === 'NOTATION') return undefined;
    if (facets.enumeration !== undefined) {
      const values = new Set(facets.enumeration.map((text) => parsed(type, text)));
      values.delete(undefined);
      return [...values];
    }
    if (variety.kind !== 'union') return undefined;
    // a union is read as text, so its values are known if each member type lists its own
    const all = variety.members.map(valuesOf);
    const values = all.every((its) => its?.every((value) => typeof value === 'string')) ? all.flat() : [];
    return values.length === 0 ? undefined : [...new Set(values)];
  };

  const schemaOf = (type: SimpleType): JsonSchema => {
    const { variety, facets, builtIn } = type;
    const texts: string[] = [];
    if (variety.kind === 'list') {
      const { minLength = facets.length, maxLength = facets.length } = facets;
      const schema = { type: 'array', items: nested(variety.item), minItems: minLength, maxItems: maxLength };
      return finished(schema, patternTexts(facets));
    }
    const kind = variety.kind === 'union' ? undefined : numbers[builtIn];
    const isText = kind === undefined || (kind.isBig === true && bigNumbers === 'text');
    const values = valuesOf(type);
    if (builtIn === 'boolean') return finished({ type: 'boolean' }, patternTexts(facets));
    const isMoment = builtIn === 'dateTime' && dates === 'utc';
    const ofText = isMoment ? 'date-time' : formats[builtIn];
    const format = kind?.format ?? (variety.kind === 'union' ? undefined : ofText);
    if (values !== undefined)
      return finished({ type: isText ? 'string' : kind.type, format, enum: values }, texts);
    if (kind === undefined) {
      const text = textRules(builtIn, variety.kind === 'union' ? facetsOfUnion(facets) : facets, texts);
      return finished({ type: 'string', format, ...text }, texts);
    }
    const bounds = isText ? addBoundTexts(facets, texts) : boundsOf(kind, facets, texts);
    const isFloating = builtIn === 'float' || builtIn === 'double';
    const other = isFloating ? nonFiniteTypes[nonFiniteNumbers] : undefined;
    const own = isText ? 'string' : kind.type;
    return finished({ type: other === undefined ? own : [own, other], format, ...bounds }, [
      ...texts,
      ...patternTexts(facets),
    ]);
  };
  return { schemaOf, valueOf: parsed };
}

/** Drops the length facets of a union: they belong to its members. */
function facetsOfUnion(facets: Facets): Facets {
  return { ...facets, length: undefined, minLength: undefined, maxLength: undefined };
}

/** Removes undefined keywords, and adds the rules that JSON Schema cannot express to the description. */
function finished(schema: JsonSchema, texts: readonly string[]): JsonSchema {
  const made: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) if (value !== undefined) made[key] = value;
  if (texts.length > 0) made.description = texts.join('\n');
  return made;
}

/**
 * Returns the JSON Schema rules of a text. Lengths of base64 and of prefixed names do not count characters, so base64
 * lengths are described instead.
 */
function textRules(builtIn: BuiltIn, facets: Facets, texts: string[]): JsonSchema {
  const { length, minLength = length, maxLength = length } = facets;
  const rules: JsonSchema = {};
  if (builtIn === 'base64Binary') {
    if (minLength !== undefined) texts.push(`At least ${minLength} bytes.`);
    if (maxLength !== undefined) texts.push(`At most ${maxLength} bytes.`);
  } else if (builtIn !== 'QName' && builtIn !== 'NOTATION') {
    const digits = builtIn === 'hexBinary' ? 2 : 1;
    if (minLength !== undefined && minLength > 0) rules.minLength = minLength * digits;
    if (maxLength !== undefined) rules.maxLength = maxLength * digits;
  }
  addBoundTexts(facets, texts);
  const patterns = facets.patterns.map((alternatives) => ({
    alternatives,
    pattern: patternOf(alternatives),
  }));
  const known = patterns.flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern]));
  for (const { alternatives, pattern } of patterns)
    if (pattern === undefined) texts.push(`Of the XSD pattern ${alternatives.join(' or ')}.`);
  if (known.length === 1) rules.pattern = known[0];
  if (known.length > 1) rules.allOf = known.map((pattern) => ({ pattern }));
  return rules;
}

/** Describes the patterns of values that are not JSON strings. */
function patternTexts({ patterns }: Facets): readonly string[] {
  return patterns.map((alternatives) => `Of the XSD pattern ${alternatives.join(' or ')}.`);
}

const boundFacets = [
  ['minInclusive', 'At least'],
  ['minExclusive', 'More than'],
  ['maxInclusive', 'At most'],
  ['maxExclusive', 'Less than'],
] as const;

/** Describes bounds as text: for dates and for numbers that are JSON strings. */
function addBoundTexts(facets: Facets, texts: string[]): JsonSchema {
  for (const [facet, words] of boundFacets)
    if (facets[facet] !== undefined) texts.push(`${words} ${facets[facet]}.`);
  addDigitTexts(facets, texts);
  return {};
}

function addDigitTexts({ totalDigits, fractionDigits }: Facets, texts: string[]): void {
  if (totalDigits !== undefined) texts.push(`At most ${totalDigits} digits.`);
  if (fractionDigits !== undefined && fractionDigits > 0)
    texts.push(`At most ${fractionDigits} digits behind the point.`);
}

/** Returns the bounds of a number. A bound that a double does not represent exactly is described as text. */
function boundsOf({ minimum, maximum }: NumberKind, facets: Facets, texts: string[]): JsonSchema {
  const exact = (facet: (typeof boundFacets)[number]): number | undefined => {
    const [name, words] = facet;
    const text = facets[name];
    if (text === undefined) return undefined;
    const value = exactNumber(text);
    if (value === undefined) texts.push(`${words} ${text}.`);
    return value;
  };
  const [least, above, most, below] = boundFacets.map(exact);
  addDigitTexts(facets, texts);
  return {
    minimum: least ?? minimum,
    exclusiveMinimum: above,
    maximum: most ?? maximum,
    exclusiveMaximum: below,
  };
}

/** Returns the number if a double represents all digits of the text, otherwise undefined. */
function exactNumber(text: string): number | undefined {
  const value = Number(text);
  if (!Number.isFinite(value) || text.trim() === '') return undefined;
  return String(value) === plainDigits(text.trim()) ? value : undefined;
}

/** Formats a decimal as JavaScript does: no plus sign, no leading or trailing zeros. */
function plainDigits(text: string): string {
  const isNegative = text.startsWith('-');
  const { whole, fraction } = digitsOf(isNegative || text.startsWith('+') ? text.slice(1) : text);
  const integer = whole || '0';
  const plain = fraction === '' ? integer : `${integer}.${fraction}`;
  return isNegative && plain !== '0' ? `-${plain}` : plain;
}
