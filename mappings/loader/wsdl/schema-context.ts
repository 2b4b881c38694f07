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

/**
 * Context shared by the readers of components. Components can be circular, so types and elements are looked up by name.
 */
export interface SchemaContext {
  readonly symbols: Symbols;
  readonly findings: Findings;
  readonly allowance: Allowance;
  readonly depth: Depth;
  /** Returns the type that an attribute value names. A missing type is reported and gives `xs:anyType`. */
  readonly typeNamed: (value: string, at: XmlElement, schema: Schema) => SchemaType;
  /**
   * Like `typeNamed`, for the base of a type. A fallback from another namespace must not be derived from the type being
   * read.
   */
  readonly baseNamed: (value: string, at: XmlElement, schema: Schema) => SchemaType;
  /** Returns the type that an `xs:element` names or contains; undefined without one. */
  readonly typeOfElement: (element: XmlElement, schema: Schema) => SchemaType | undefined;
  readonly elementOf: (
    name: QName,
    at: XmlElement,
    schema: Schema | undefined,
  ) => ElementDeclaration | undefined;
  /** Returns the particle of a group, which is read once. A group that contains itself is reported. */
  readonly groupOf: (group: Declared, read: () => Particle | undefined) => Particle | undefined;
}

/** A component with members that can still be set. */
export type Mutable<T> = { -readonly [key in keyof T]: T[key] };

/** Returns the XSD children of an element with any of the given names. */
export function xsdChildren(element: XmlElement, ...locals: readonly string[]): readonly XmlElement[] {
  return element.children.filter(
    ({ namespace, local }) => namespace === namespaces.xsd && locals.includes(local),
  );
}

/** Returns the first XSD child of an element with any of the given names; undefined if it has none. */
export function xsdChild(element: XmlElement, ...locals: readonly string[]): XmlElement | undefined {
  return element.children.find(
    ({ namespace, local }) => namespace === namespaces.xsd && locals.includes(local),
  );
}

/** Returns the text of a component's `xs:annotation`; `''` if it has none. */
export function documentationOf(element: XmlElement): string {
  const annotation = xsdChild(element, 'annotation');
  if (annotation === undefined) return '';
  return xsdChildren(annotation, 'documentation').map(plainText).join('\n').trim();
}

/** Returns the `default` or `fixed` value of an element or attribute. */
export function constraintOf(element: XmlElement): ValueConstraint | undefined {
  const fixed = attributeOf(element, 'fixed');
  if (fixed !== undefined) return { kind: 'fixed', text: fixed };
  const text = attributeOf(element, 'default');
  return text === undefined ? undefined : { kind: 'default', text };
}

/** Returns true if an attribute is the `xs:boolean` true (XSD 1.0, part 2, 3.2.2). */
export function isTrue(element: XmlElement, attribute: string): boolean {
  const value = attributeOf(element, attribute)?.trim();
  return value === 'true' || value === '1';
}

/** Returns true if a local element or attribute is qualified, by its own `form` or the schema's default. */
export function isQualified(element: XmlElement, schema: Schema, schemaForm: string): boolean {
  return (attributeOf(element, 'form') ?? attributeOf(schema.element, schemaForm)) === 'qualified';
}

/** Limits the nesting of references (`contractReferences`). */
export class Depth {
  readonly #allowance: Allowance;
  #depth = 0;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  /** Calls a function that may follow more references, and returns its result. Throws OverLimit. */
  within<T>(at: XmlElement, read: () => T): T {
    const { contractReferences } = this.#allowance.limits;
    if (this.#depth >= contractReferences)
      throw new OverLimit(
        `expected at most ${contractReferences} references in a chain, got more references`,
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
