import { anySimpleType, noFacets } from '../../contract/built-in-types.ts';
import type { BuiltIn, Facets, QName, SimpleType } from '../../contract/type-graph.ts';
import { stepsPerSimpleType } from '../document/allowance.ts';
import { shown } from '../document/node.ts';
import type { Schema } from './documents.ts';
import { documentationOf, type SchemaContext, xsdChild, xsdChildren } from './schema-context.ts';
import { attributeOf, stepAt, type XmlElement } from './xml-tree.ts';

/** Reads an `xs:simpleType` (XSD 1.0, part 1, 3.14). */
export function readSimpleType(
  context: SchemaContext,
  element: XmlElement,
  schema: Schema,
  name: QName | undefined,
): SimpleType {
  stepAt(context.allowance, element, stepsPerSimpleType);
  const documentation = documentationOf(element);
  const derived = xsdChild(element, 'restriction', 'list', 'union');
  if (derived === undefined) {
    context.findings.problem(element, 'expected xs:restriction, xs:list or xs:union, got none');
    return { ...anySimpleType, name, documentation };
  }
  if (derived.local === 'restriction') {
    const base = baseOf(context, derived, schema);
    return { ...restricted(context, derived, base), name, documentation };
  }
  const made = {
    kind: 'simple',
    name,
    builtIn: 'anySimpleType',
    base: anySimpleType,
    documentation,
  } as const;
  if (derived.local === 'list') {
    const item = simpleTypes(context, derived, 'itemType', schema)[0] ?? anySimpleType;
    return { ...made, variety: { kind: 'list', item }, facets: { ...noFacets, whiteSpace: 'collapse' } };
  }
  const members = simpleTypes(context, derived, 'memberTypes', schema);
  stepAt(
    context.allowance,
    element,
    members.reduce((sum, member) => sum + sizeOf(member), 1),
  );
  return { ...made, variety: { kind: 'union', members }, facets: noFacets };
}

/** Returns the number of types that a value may be compared with. Nested unions are counted at each use. */
function sizeOf({ variety }: SimpleType): number {
  if (variety.kind !== 'union') return 1;
  let size = sizes.get(variety);
  if (size === undefined) {
    size = variety.members.reduce((sum, member) => sum + sizeOf(member), 1);
    sizes.set(variety, size);
  }
  return size;
}

const sizes = new WeakMap<object, number>();

/** Returns an unnamed simple type with the facets of an `xs:restriction`. */
export function restricted(context: SchemaContext, restriction: XmlElement, base: SimpleType): SimpleType {
  return {
    kind: 'simple',
    name: undefined,
    builtIn: base.builtIn,
    base,
    variety: base.variety,
    facets: readFacets(context, restriction, base),
    documentation: '',
  };
}

function baseOf(context: SchemaContext, restriction: XmlElement, schema: Schema): SimpleType {
  const named = simpleTypes(context, restriction, 'base', schema)[0];
  if (named === undefined) context.findings.problem(restriction, 'expected a base, got none');
  return named ?? anySimpleType;
}

/** Returns the types that an attribute lists, followed by those declared inside. */
function simpleTypes(
  context: SchemaContext,
  element: XmlElement,
  attribute: string,
  schema: Schema,
): readonly SimpleType[] {
  const listed = attributeOf(element, attribute)?.trim() ?? '';
  const names = listed === '' ? [] : listed.split(/\s+/);
  return [
    ...names.map((name) => simpleTypeNamed(context, name, element, schema)),
    ...xsdChildren(element, 'simpleType').map((inner) => readSimpleType(context, inner, schema, undefined)),
  ];
}

/**
 * Returns the simple type of a name. A complex type with simple content gives its text type; any other type is
 * reported.
 */
export function simpleTypeNamed(
  context: SchemaContext,
  value: string,
  at: XmlElement,
  schema: Schema,
): SimpleType {
  const missed = context.findings.flaws.length;
  const type = context.baseNamed(value, at, schema);
  if (type.kind === 'simple') return type;
  if (type.content.kind === 'text') return type.content.type;
  if (context.findings.flaws.length === missed)
    context.findings.problem(at, `expected a simple type, got the complex type ${shown(value)}`);
  return anySimpleType;
}

const counts = ['length', 'minLength', 'maxLength', 'totalDigits', 'fractionDigits'] as const;
/** Each bound with the bound that it replaces. */
const bounds = [
  ['minInclusive', 'minExclusive'],
  ['maxInclusive', 'maxExclusive'],
  ['minExclusive', 'minInclusive'],
  ['maxExclusive', 'maxInclusive'],
] as const;

/** Returns the facets of a restriction combined with those of its base (XSD 1.0, part 2, 4.3). */
function readFacets(context: SchemaContext, restriction: XmlElement, type: SimpleType): Facets {
  const { facets: base } = type;
  const facets: { -readonly [name in keyof Facets]: Facets[name] } = { ...base };
  const values = (name: string): readonly string[] =>
    xsdChildren(restriction, name).map((facet) => attributeOf(facet, 'value') ?? '');
  const [whiteSpace] = values('whiteSpace');
  if (whiteSpace === 'collapse' || whiteSpace === 'replace' || whiteSpace === 'preserve')
    facets.whiteSpace = whiteSpace;
  const enumeration = values('enumeration');
  if (enumeration.length > 0) {
    stepAt(context.allowance, restriction, enumeration.length);
    facets.enumeration = enumeration.map((text) => fold(text, facets.whiteSpace));
  }
  const patterns = values('pattern');
  if (patterns.length > 0 && !isUnmatchable(context, restriction, type, patterns))
    facets.patterns = [...base.patterns, patterns];
  for (const name of counts) {
    const [value] = values(name);
    if (value === undefined) continue;
    if (/^\s*\+?\d{1,15}\s*$/.test(value)) facets[name] = Number(value);
    else context.findings.problem(restriction, `expected ${name} as a number, got ${shown(value)}`);
  }
  for (const [name, other] of bounds) {
    const [value] = values(name);
    if (value === undefined) continue;
    facets[name] = value.trim();
    facets[other] = undefined;
  }
  return facets;
}

/** Types that accept the empty string. */
const takeEmpty: ReadonlySet<BuiltIn> = new Set<BuiltIn>([
  'anyType',
  'anySimpleType',
  'string',
  'normalizedString',
  'token',
  'anyURI',
  'hexBinary',
  'base64Binary',
]);

/**
 * Returns true, with a warning, for empty patterns of a type that does not accept the empty string, for example a date.
 */
function isUnmatchable(
  { findings }: SchemaContext,
  restriction: XmlElement,
  { builtIn, variety }: SimpleType,
  patterns: readonly string[],
): boolean {
  if (variety.kind !== 'atomic' || takeEmpty.has(builtIn)) return false;
  if (patterns.some((pattern) => pattern !== '')) return false;
  findings.warn(restriction, `no xs:${builtIn} matches the pattern "", which is ignored`);
  return true;
}

/** Normalizes whitespace (XSD 1.0, part 2, 4.3.6). */
function fold(text: string, whiteSpace: Facets['whiteSpace']): string {
  if (whiteSpace === 'preserve') return text;
  const replaced = text.replace(/[\t\n\r]/g, ' ');
  return whiteSpace === 'replace' ? replaced : replaced.split(/ +/).filter(Boolean).join(' ');
}
