import { anySimpleType, anyType } from '../../contract/built-in-types.ts';
import { namespaces } from '../../contract/model.ts';
import {
  type ComplexType,
  type Content,
  type Particle,
  type SchemaType,
  type SimpleType,
  textTypeOf,
} from '../../contract/type-graph.ts';
import { stepsPerComplexType, stepsPerMember } from '../document/allowance.ts';
import { shown } from '../document/node.ts';
import { findAmbiguity } from './ambiguous-content.ts';
import { mergeAttributes, readAttributes } from './attributes.ts';
import type { Schema } from './documents.ts';
import { following, particleNames, readParticle, sizeOf } from './particles.ts';
import { isTrue, type Mutable, type SchemaContext, xsdChild, xsdChildren } from './schema-context.ts';
import { readSimpleType, restricted } from './simple-types.ts';
import { attributeOf, stepAt, type XmlElement } from './xml-tree.ts';

/** A complex type that is read later, after its base types. */
export interface WrittenType {
  readonly element: XmlElement;
  readonly schema: Schema;
}

/** Fills a complex type from an `xs:complexType` (XSD 1.0, part 1, 3.4). `complete` fills its base type. */
export function fillComplexType(
  context: SchemaContext,
  type: Mutable<ComplexType>,
  { element, schema }: WrittenType,
  complete: (base: ComplexType, at: XmlElement) => boolean,
): void {
  const outer = xsdChild(element, 'simpleContent', 'complexContent');
  const derived = outer === undefined ? undefined : xsdChild(outer, 'extension', 'restriction');
  const own = readAttributes(context, derived ?? element, schema);
  if (outer === undefined || derived === undefined) {
    if (outer !== undefined)
      context.findings.problem(outer, 'expected xs:extension or xs:restriction, got neither element');
    type.attributes = mergeAttributes([], own);
    type.anyAttribute = own.any;
    type.content = contentOf(ownParticle(context, element, schema), isTrue(element, 'mixed'));
  } else {
    const base = baseOf(context, derived, schema, complete);
    type.base = base === anyType ? undefined : base;
    type.derivation = derived.local === 'extension' ? 'extension' : 'restriction';
    const inherited = base.kind === 'complex' && base !== anyType ? base : undefined;
    type.attributes = mergeAttributes(inherited?.attributes ?? [], own);
    type.anyAttribute =
      own.any || (type.derivation === 'extension' && inherited !== undefined && inherited.anyAttribute);
    if (outer.local === 'simpleContent')
      type.content = { kind: 'text', type: textOf(context, derived, schema, base) };
    else {
      const mixed = isTrue(outer, 'mixed') || isTrue(element, 'mixed');
      type.content = derivedContent(context, derived, schema, base, mixed);
      if (type.content.kind === 'encodedArray')
        type.attributes = type.attributes.filter(({ name }) => !isEncoding(name.namespace));
    }
  }
  const { content } = type;
  stepAt(
    context.allowance,
    element,
    stepsPerComplexType +
      stepsPerMember *
        (type.attributes.length + (content.kind === 'elements' ? sizeOf(content.particle) : 0)),
  );
  // Called after the steps are counted, because expanded groups may be large.
  if (content.kind === 'elements') warnOfAmbiguity(context, element, type.name?.local, content.particle);
}

/** Warns of a content model that violates Unique Particle Attribution (XSD 1.0, part 1, 3.8.6). */
function warnOfAmbiguity(
  { findings }: SchemaContext,
  element: XmlElement,
  name: string | undefined,
  particle: Particle,
): void {
  const found = findAmbiguity(particle);
  if (found === undefined) return;
  const [one, other] = found;
  const of = name === undefined ? 'a type' : `the type ${name}`;
  findings.warn(
    element,
    `the content of ${of} is ambiguous: an element can be ${one} or ${other} at one place, so validators reject the schema`,
  );
}

function baseOf(
  context: SchemaContext,
  derived: XmlElement,
  schema: Schema,
  complete: (base: ComplexType, at: XmlElement) => boolean,
): SchemaType {
  const named = attributeOf(derived, 'base');
  if (named === undefined) {
    context.findings.problem(derived, 'expected a base, got none');
    return anyType;
  }
  const base = context.baseNamed(named, derived, schema);
  return base.kind === 'simple' || complete(base, derived) ? base : anyType;
}

function ownParticle(context: SchemaContext, element: XmlElement, schema: Schema): Particle | undefined {
  const written = xsdChild(element, ...particleNames);
  return written === undefined ? undefined : readParticle(context, written, schema);
}

function contentOf(particle: Particle | undefined, mixed: boolean): Content {
  if (particle !== undefined) return { kind: 'elements', particle, mixed };
  return { kind: mixed ? 'mixed' : 'empty' };
}

/** Returns the text type of simple content: the type of the base with any facets applied. */
function textOf(context: SchemaContext, derived: XmlElement, schema: Schema, base: SchemaType): SimpleType {
  const inner = xsdChild(derived, 'simpleType');
  const inherited = textTypeOf(base);
  if (inner === undefined && inherited === undefined && base !== anyType)
    context.findings.problem(derived, 'expected a base with text content, got a base with elements');
  const text = inner === undefined ? inherited : readSimpleType(context, inner, schema, undefined);
  if (derived.local === 'extension' || text === undefined) return text ?? anySimpleType;
  return derived.children.some(isFacet) ? restricted(context, derived, text) : text;
}

const others: ReadonlySet<string> = new Set([
  'annotation',
  'simpleType',
  'attribute',
  'attributeGroup',
  'anyAttribute',
]);

function isFacet({ namespace, local }: XmlElement): boolean {
  return namespace === namespaces.xsd && !others.has(local);
}

function derivedContent(
  context: SchemaContext,
  derived: XmlElement,
  schema: Schema,
  base: SchemaType,
  mixed: boolean,
): Content {
  const particle = ownParticle(context, derived, schema);
  if (base.kind === 'simple') {
    context.findings.problem(
      derived,
      'expected a complex type as the base of complex content, got a simple type',
    );
    return contentOf(particle, mixed);
  }
  if (isArray(base)) return arrayContent(context, derived, schema, particle);
  const { content } = base;
  if (content.kind === 'encodedArray') {
    const array = arrayContent(context, derived, schema, particle);
    return array.item === anyType ? content : array;
  }
  if (derived.local === 'restriction') return contentOf(particle, mixed);
  if (content.kind === 'elements') {
    const whole = particle === undefined ? content.particle : following(content.particle, particle);
    return { kind: 'elements', particle: whole, mixed: mixed || content.mixed };
  }
  if (content.kind === 'text' && particle === undefined) return content;
  return contentOf(particle, mixed || (content.kind === 'mixed' && base !== anyType));
}

function isEncoding(namespace: string): boolean {
  return namespace === namespaces.soap11Encoding || namespace === namespaces.soap12Encoding;
}

function isArray({ name }: ComplexType): boolean {
  return name?.local === 'Array' && isEncoding(name.namespace);
}

/**
 * Returns the content of a SOAP-encoded array (SOAP 1.1, 5.4.2; WSDL 1.1, 2.2), from `wsdl:arrayType` or its only
 * element.
 */
function arrayContent(
  context: SchemaContext,
  derived: XmlElement,
  schema: Schema,
  particle: Particle | undefined,
): Content & { readonly kind: 'encodedArray' } {
  for (const attribute of xsdChildren(derived, 'attribute')) {
    const stated = attributeOf(attribute, 'arrayType', namespaces.wsdl);
    if (stated === undefined) continue;
    const bracket = stated.indexOf('[');
    if (bracket < 0)
      context.findings.warn(attribute, `the array type ${shown(stated)} has no brackets; [] is used`);
    const item = context.typeNamed(bracket < 0 ? stated : stated.slice(0, bracket), attribute, schema);
    const brackets = bracket < 0 ? '[]' : stated.slice(bracket);
    return arrayOf(item, brackets, context.allowance.limits.contractReferences);
  }
  return { kind: 'encodedArray', item: lonelyItem(particle) ?? anyType, dimensions: 1 };
}

/**
 * Parses the brackets of an array type. `[,]` has two dimensions; in `[][]`, the items of the outer array are arrays
 * with the first bracket.
 */
function arrayOf(
  item: SchemaType,
  brackets: string,
  most: number,
): Content & { readonly kind: 'encodedArray' } {
  const each = brackets.split(']', most).filter((bracket) => bracket.includes('['));
  let array = encodedArray(item, each[0] ?? '');
  for (const bracket of each.slice(1)) {
    const inner: ComplexType = { ...anyType, name: undefined, anyAttribute: false, content: array };
    array = encodedArray(inner, bracket);
  }
  return array;
}

function encodedArray(item: SchemaType, bracket: string): Content & { readonly kind: 'encodedArray' } {
  return { kind: 'encodedArray', item, dimensions: bracket.split(',').length };
}

function lonelyItem(particle: Particle | undefined): SchemaType | undefined {
  if (particle === undefined || particle.kind === 'any') return undefined;
  if (particle.kind === 'element') return particle.element.type;
  return particle.particles.length === 1 ? lonelyItem(particle.particles[0]) : undefined;
}
