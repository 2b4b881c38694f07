import { namespaces } from '../../contract/model.ts';
import type {
  ElementDeclaration,
  Particle,
  QName,
  SchemaType,
  ValueConstraint,
} from '../../contract/type-graph.ts';
import { type Allowance, OverLimit } from '../document/allowance.ts';
import type { Schema } from './documents.ts';
import type { Findings } from './findings.ts';
import type { Declared, Symbols } from './symbols.ts';
import { attributeOf, lineOf, plainText, type XmlElement } from './xml-tree.ts';

/** What the readers of components share. Components refer to one another in circles: types and elements are found here by name. */
export interface SchemaContext {
  readonly symbols: Symbols;
  readonly findings: Findings;
  readonly allowance: Allowance;
  readonly depth: Depth;
  /** The type that an attribute's value names; `xs:anyType` where there is none, which is told. */
  readonly typeNamed: (value: string, at: XmlElement, schema: Schema) => SchemaType;
  /** The same for the base of a type: a type of another namespace is not taken if it is derived from the one that is read. */
  readonly baseNamed: (value: string, at: XmlElement, schema: Schema) => SchemaType;
  /** The type of an `xs:complexType` or `xs:simpleType` without a name. */
  readonly anonymousType: (element: XmlElement, schema: Schema) => SchemaType;
  readonly elementOf: (
    name: QName,
    at: XmlElement,
    schema: Schema | undefined,
  ) => ElementDeclaration | undefined;
  /** The particle of a group, which is read once; one that holds itself is wrong. */
  readonly groupOf: (group: Declared, read: () => Particle | undefined) => Particle | undefined;
}

/** A component while it is built. */
export type Mutable<T> = { -readonly [key in keyof T]: T[key] };

/** The XSD children of an element with one of some names. */
export function xsdChildren(element: XmlElement, ...locals: readonly string[]): readonly XmlElement[] {
  return element.children.filter(
    ({ namespace, local }) => namespace === namespaces.xsd && locals.includes(local),
  );
}

/** The first XSD child of an element with one of some names; undefined for none. */
export function xsdChild(element: XmlElement, ...locals: readonly string[]): XmlElement | undefined {
  return element.children.find(
    ({ namespace, local }) => namespace === namespaces.xsd && locals.includes(local),
  );
}

/** The words of a component's `xs:annotation`; `''` for none. */
export function documentationOf(element: XmlElement): string {
  const annotation = xsdChild(element, 'annotation');
  if (annotation === undefined) return '';
  return xsdChildren(annotation, 'documentation').map(plainText).join('\n').trim();
}

/** `default` or `fixed` of an element or attribute. */
export function constraintOf(element: XmlElement): ValueConstraint | undefined {
  const fixed = attributeOf(element, 'fixed');
  if (fixed !== undefined) return { kind: 'fixed', text: fixed };
  const text = attributeOf(element, 'default');
  return text === undefined ? undefined : { kind: 'default', text };
}

/** The words of `xs:boolean` (XSD 1.0, part 2, 3.2.2). */
export function isTrue(element: XmlElement, attribute: string): boolean {
  const value = attributeOf(element, attribute)?.trim();
  return value === 'true' || value === '1';
}

/** True where a local element or attribute is qualified, by its own `form` or the schema's. */
export function isQualified(element: XmlElement, schema: Schema, schemaForm: string): boolean {
  return (attributeOf(element, 'form') ?? attributeOf(schema.element, schemaForm)) === 'qualified';
}

/** Follows references within references, of which there may be so many (`contractReferences`). */
export class Depth {
  readonly #allowance: Allowance;
  #depth = 0;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  /** What a function gives that may come back here. Throws OverLimit. */
  within<T>(at: XmlElement, read: () => T): T {
    const { contractReferences } = this.#allowance.limits;
    if (this.#depth >= contractReferences)
      throw new OverLimit(
        `expected at most ${contractReferences} references from one to the next, got more`,
        at.source.file,
        lineOf(at.source, at.offset),
      );
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }
}
