import { anySimpleType } from '../../contract/built-in-types.ts';
import { type AttributeUse, expanded, type QName, type SimpleType } from '../../contract/type-graph.ts';
import type { Schema } from './documents.ts';
import {
  constraintOf,
  documentationOf,
  isQualified,
  type SchemaContext,
  xsdChild,
  xsdChildren,
} from './schema-context.ts';
import { readSimpleType, simpleTypeNamed } from './simple-types.ts';
import { attributeOf, stepAt, type XmlElement } from './xml-tree.ts';

/** Attribute declarations of a type, with groups expanded. */
export interface AttributeSet {
  /** By expanded name, in the schema's order; undefined for a prohibited attribute. */
  readonly uses: ReadonlyMap<string, AttributeUse | undefined>;
  readonly any: boolean;
}

/** Reads the attributes of a type, an extension, a restriction or a group (XSD 1.0, part 1, 3.2 and 3.6). */
export function readAttributes(context: SchemaContext, element: XmlElement, schema: Schema): AttributeSet {
  const uses = new Map<string, AttributeUse | undefined>();
  let any = xsdChild(element, 'anyAttribute') !== undefined;
  for (const child of xsdChildren(element, 'attribute', 'attributeGroup')) {
    if (child.local === 'attribute') {
      const use = readUse(context, child, schema);
      if (use !== undefined)
        uses.set(expanded(use.name), attributeOf(child, 'use') === 'prohibited' ? undefined : use);
      continue;
    }
    const group = groupOf(context, child, schema);
    for (const [name, use] of group.uses) uses.set(name, use);
    any ||= group.any;
  }
  stepAt(context.allowance, element, 1 + uses.size);
  return { uses, any };
}

function groupOf(context: SchemaContext, at: XmlElement, schema: Schema): AttributeSet {
  const declared = context.symbols.referred('attributeGroup', at, 'ref', schema);
  if (declared === undefined) return { uses: new Map(), any: false };
  return context.depth.within(at, () => readAttributes(context, declared.element, declared.schema));
}

/**
 * Merges inherited and own attributes. An own attribute replaces an inherited one with the same name; a prohibited one
 * removes it (XSD 1.0, part 1, 3.4.2).
 */
export function mergeAttributes(
  inherited: readonly AttributeUse[],
  own: AttributeSet,
): readonly AttributeUse[] {
  const uses = new Map<string, AttributeUse | undefined>(inherited.map((use) => [expanded(use.name), use]));
  for (const [name, use] of own.uses) uses.set(name, use);
  return [...uses.values()].filter((use) => use !== undefined);
}

function readUse(context: SchemaContext, element: XmlElement, schema: Schema): AttributeUse | undefined {
  const required = attributeOf(element, 'use') === 'required';
  if (attributeOf(element, 'ref') !== undefined) {
    const declared = context.symbols.referred('attribute', element, 'ref', schema);
    if (declared === undefined) return undefined;
    return {
      name: declared.name,
      type: typeOf(context, declared.element, declared.schema),
      required,
      value: constraintOf(element) ?? constraintOf(declared.element),
      documentation: documentationOf(element) || documentationOf(declared.element),
    };
  }
  const local = attributeOf(element, 'name');
  if (local === undefined) {
    context.findings.problem(element, 'expected a name or a ref, got an attribute without both');
    return undefined;
  }
  const qualified = isQualified(element, schema, 'attributeFormDefault');
  const name: QName = { namespace: qualified ? schema.namespace : '', local };
  return {
    name,
    type: typeOf(context, element, schema),
    required,
    value: constraintOf(element),
    documentation: documentationOf(element),
  };
}

function typeOf(context: SchemaContext, element: XmlElement, schema: Schema): SimpleType {
  const named = attributeOf(element, 'type');
  if (named !== undefined) return simpleTypeNamed(context, named, element, schema);
  const inner = xsdChild(element, 'simpleType');
  return inner === undefined ? anySimpleType : readSimpleType(context, inner, schema, undefined);
}
