import { attributeMembers, contentMembers, isMixed, noMembers, valueNameOf } from '../../contract/members.ts';
import { namespaces } from '../../contract/model.ts';
import {
  type AttributeUse,
  type ComplexType,
  type Members,
  type QName,
  type SimpleType,
  textTypeOf,
} from '../../contract/type-graph.ts';
import { piece } from '../../xml/output.ts';
import { objectMembers } from '../json-scan.ts';
import type { Scan } from '../scalars/scalar.ts';
import { escapeAttribute } from '../scalars/text.ts';
import { compileContent } from './content.ts';
import type { CompiledContent } from './content-model.ts';
import type { AdoptedContext } from './context.ts';
import { type MapEntries, mapEntries } from './map-entries.ts';
import { scanInnerXml } from './open-elements.ts';
import { scanOthers, scanShape } from './scan-shape.ts';
import { type AttributeCodec, head, type Shape, shapesOf } from './shape.ts';
import type { SimpleCodec } from './simple-types.ts';
import { writeSlots } from './write-shape.ts';

/** Compiles the shapes of complex types. */

/** Input for the compilation of a shape. */
interface ShapeParts {
  readonly name: string | undefined;
  readonly qualified: string;
  readonly abstract: boolean;
  readonly attributes: readonly AttributeUse[];
  readonly anyAttribute: boolean;
  readonly kind: Shape['kind'];
  readonly untyped: boolean;
  readonly entries: MapEntries | undefined;
  readonly members: Members;
  readonly simple: SimpleType | undefined;
  readonly valueName: string | undefined;
}

/** The parts of an empty shape. */
export const bareParts: ShapeParts = {
  name: undefined,
  qualified: '',
  abstract: false,
  attributes: [],
  anyAttribute: false,
  kind: 'members',
  untyped: false,
  entries: undefined,
  members: noMembers,
  simple: undefined,
  valueName: undefined,
};

/** Compiles the shape of a complex type. */
export function shapeOfType(context: AdoptedContext, type: ComplexType): Shape {
  const { attributes, anyAttribute, content, abstract, name } = type;
  const textType = textTypeOf(type);
  return compileShape(context, {
    name: context.typeNameOf(type),
    qualified: name === undefined ? '' : typeQName(context, name),
    abstract,
    attributes,
    anyAttribute,
    kind: isMixed(content) ? 'mixed' : textType === undefined ? 'members' : 'text',
    untyped: false,
    entries: content.kind === 'map' ? mapEntries(context, content) : undefined,
    members: contentMembers(content),
    simple: textType,
    valueName: undefined,
  });
}

const apachePrefix = 'apache:';

/**
 * Returns a type's qualified name for `xsi:type`. Types of Apache SOAP may occur in any message, so each tag that names
 * one declares the prefix.
 */
function typeQName(context: AdoptedContext, { namespace, local }: QName): string {
  return (namespace === namespaces.apacheSoap ? apachePrefix : context.prefixOf(namespace)) + local;
}

function declarationOf(qualified: string): string {
  return qualified.startsWith(apachePrefix) ? ` xmlns:apache="${namespaces.apacheSoap}"` : '';
}

/** Compiles the shape of a repetition of a repeated group. */
export function shapeOfContent(context: AdoptedContext, members: Members): Shape {
  return compileShape(context, { ...bareParts, members });
}

/** Compiles the content of a list of members. The repetitions of a repeated group are shapes. */
export function contentOf(context: AdoptedContext, members: Members): CompiledContent {
  return compileContent(context, members, (inner) => {
    const shape = shapeOfContent(context, inner);
    return {
      content: shape.content,
      scan: (tape) => scanShape(shape, tape),
      write: (tape, node, output) => writeSlots(shape, tape, node, output),
    };
  });
}

/** Compiles a shape from its parts, also for values of types that are not in the schema. */
export function compileShape(context: AdoptedContext, parts: ShapeParts): Shape {
  const content = contentOf(context, parts.members);
  const named = attributeMembers(parts.attributes, parts.members.members);
  const attributes = named.map(({ json, use }) => attributeCodec(context, json, use));
  const hasValue = parts.kind !== 'members';
  const valueName = parts.valueName ?? valueNameOf(named);
  const names = [...attributes.map(({ json }) => json), ...content.members.map(({ json }) => json)];
  if (hasValue) names.push(valueName);
  if (parts.anyAttribute) names.push('@attributes');
  const simple = parts.simple === undefined ? undefined : context.simpleOf(parts.simple);
  const scans: Scan[] = [
    ...attributes.map((attribute, index) => scanOf(attribute.simple, attributes.slice(0, index))),
    ...content.members.map(({ scan }) => scan),
  ];
  if (hasValue)
    scans.push(simple === undefined ? (tape) => scanInnerXml(context, tape) : scanOf(simple, attributes));
  if (parts.anyAttribute) scans.push((tape) => scanOthers(context, attributes, tape));
  const shapes = shapesOf.get(context) ?? [];
  shapesOf.set(context, shapes);
  const shape: Shape = {
    number: shapes.length,
    name: parts.name,
    abstract: parts.abstract,
    typeToken: `{"@type":${JSON.stringify(parts.name)}`,
    alwaysTyped: context.encoded && parts.qualified !== '',
    typeTag: piece(`${declarationOf(parts.qualified)} i:type="${parts.qualified}"`),
    attributes,
    needed: attributes.flatMap(({ required, fixed }, index) =>
      required && fixed === undefined ? [index] : [],
    ),
    anyAttribute: parts.anyAttribute,
    kind: parts.kind,
    untyped: parts.untyped,
    entries: parts.entries,
    content,
    simple,
    valueName,
    ...objectMembers(head, names, scans),
    context,
  };
  shapes.push(shape);
  return shape;
}

/**
 * Returns the scan function of an element's or attribute's value, with prefixes that no attribute before it declares.
 */
function scanOf({ scan, usesPrefixes }: SimpleCodec, before: readonly AttributeCodec[]): Scan {
  const others = before.filter(({ simple }) => simple.usesPrefixes).length;
  return usesPrefixes && others > 0 ? (tape) => scan(tape, `q${others}-`) : scan;
}

function attributeCodec(context: AdoptedContext, json: string, use: AttributeUse): AttributeCodec {
  const { name, required, type, value } = use;
  const qualified = context.prefixOf(name.namespace) + name.local;
  const fixed =
    required && value?.kind === 'fixed' ? ` ${qualified}="${escapeAttribute(value.text)}"` : undefined;
  return {
    json,
    jsonKey: `${JSON.stringify(json)}:`,
    namespace: name.namespace,
    local: name.local,
    required,
    simple: context.simpleOf(type),
    before: piece(` ${qualified}="`),
    fixed: fixed === undefined ? undefined : piece(fixed),
  };
}

/** Compiles the shape of a simple type for values of any type: `@type`, and the text as `value` (A23). */
export function shapeOfSimple(context: AdoptedContext, type: SimpleType, name: string): Shape {
  return compileShape(context, {
    ...bareParts,
    name,
    qualified: typeQName(context, type.name as QName),
    kind: 'text',
    simple: type,
  });
}
