import { apacheTypes, declaredMap } from '../../contract/apache-types.ts';
import { anySimpleType, anyType, builtInTypes } from '../../contract/built-in-types.ts';
import { namespaces } from '../../contract/model.ts';
import {
  type ComplexType,
  type ElementDeclaration,
  expanded,
  type Particle,
  plainElement,
  type QName,
  type SchemaType,
} from '../../contract/type-graph.ts';
import type { Allowance } from '../document/allowance.ts';
import { addTo } from '../document/node.ts';
import { fillComplexType, type WrittenType } from './complex-types.ts';
import type { Schema } from './documents.ts';
import type { Findings } from './findings.ts';
import {
  constraintOf,
  Depth,
  documentationOf,
  isTrue,
  type Mutable,
  type SchemaContext,
  xsdChild,
} from './schema-context.ts';
import { readSimpleType } from './simple-types.ts';
import { type Declared, Symbols } from './symbols.ts';
import { attributeOf, stepAt, type XmlElement } from './xml-tree.ts';

/**
 * The XSD 1.0 components of all schemas of a service (A2, A3). Types and elements can be circular, so each is created
 * before it is filled.
 */
export class SchemaComponents implements SchemaContext {
  /** All global elements and named types of the documents, by expanded name, in document order. */
  readonly elements: Map<string, ElementDeclaration> = new Map();
  readonly types: Map<string, SchemaType> = new Map();
  readonly symbols: Symbols;
  readonly findings: Findings;
  readonly allowance: Allowance;
  readonly depth: Depth;
  readonly #types = new Map<Declared, SchemaType | 'being read'>();
  readonly #elements = new Map<Declared, Mutable<ElementDeclaration> | 'being read'>();
  readonly #groups = new Map<Declared, { readonly particle: Particle | undefined } | 'being read'>();
  /** Complex types that are not filled yet. */
  readonly #written = new Map<Mutable<ComplexType>, WrittenType>();
  readonly #filling = new Set<ComplexType>();
  /** Complex types in the Apache SOAP namespace that the documents declare and that are not filled yet. */
  readonly #maps = new Set<Mutable<ComplexType>>();

  /** @param lost the namespaces of imports that were not followed */
  constructor(
    schemas: readonly Schema[],
    lost: ReadonlySet<string>,
    allowance: Allowance,
    findings: Findings,
  ) {
    this.allowance = allowance;
    this.findings = findings;
    this.symbols = new Symbols(schemas, lost, allowance, findings);
    this.depth = new Depth(allowance);
    for (const [key, declared] of this.symbols.all('type')) this.types.set(key, this.#declaredType(declared));
    for (const [key, declared] of this.symbols.all('element')) {
      const element = this.#declaredElement(declared, declared.element);
      if (element !== undefined) this.elements.set(key, element);
    }
    this.#fillAll();
    for (const type of this.types.values())
      if (type.kind === 'complex' && type.base?.kind === 'complex')
        (type.base.derived as ComplexType[]).push(type);
    this.#fillSubstitutes();
  }

  /** Returns a type for a reference in a WSDL. A missing type is reported and gives `xs:anyType`. */
  typeOf(name: QName, at: XmlElement): SchemaType {
    const type = this.#typeOf(name, at, undefined);
    this.#fillAll();
    return type;
  }

  /** Returns a global element for a reference in a WSDL. */
  globalElement(name: QName, at: XmlElement): ElementDeclaration | undefined {
    const element = this.elementOf(name, at, undefined);
    this.#fillAll();
    return element;
  }

  typeNamed(value: string, at: XmlElement, schema: Schema): SchemaType {
    const name = this.symbols.nameOf(at, value, schema);
    return name === undefined ? anyType : this.#typeOf(name, at, schema);
  }

  baseNamed(value: string, at: XmlElement, schema: Schema): SchemaType {
    const name = this.symbols.nameOf(at, value, schema);
    const mayBe = (declared: Declared): boolean => !this.#isDerived(declared);
    return name === undefined ? anyType : this.#typeOf(name, at, schema, mayBe);
  }

  typeOfElement(element: XmlElement, schema: Schema): SchemaType | undefined {
    const named = attributeOf(element, 'type');
    if (named !== undefined) return this.typeNamed(named, element, schema);
    const inner = xsdChild(element, 'complexType', 'simpleType');
    return inner && this.#read(inner, schema, undefined);
  }

  /** Returns true for a type with a base that is being read. */
  #isDerived(declared: Declared): boolean {
    const type = this.#types.get(declared);
    return type === 'being read' || (type?.kind === 'complex' && this.#filling.has(type));
  }

  #typeOf(
    name: QName,
    at: XmlElement,
    schema: Schema | undefined,
    mayBe?: (declared: Declared) => boolean,
  ): SchemaType {
    if (name.namespace === namespaces.xsd) {
      const type = name.local === 'anyType' ? anyType : builtInTypes.get(name.local);
      if (type !== undefined) return type;
    }
    const apache = name.namespace === namespaces.apacheSoap ? apacheTypes.get(name.local) : undefined;
    if (apache !== undefined && !this.symbols.all('type').has(expanded(name))) return apache;
    const declared = this.symbols.find('type', name, at, schema, mayBe);
    if (declared === undefined) return anyType;
    if (this.#types.get(declared) === 'being read') {
      this.findings.problem(at, `expected a type that is not derived from itself, got ${name.local}`);
      return declared.element.local === 'simpleType' ? anySimpleType : anyType;
    }
    return this.depth.within(at, () => this.#declaredType(declared));
  }

  #declaredType(declared: Declared): SchemaType {
    const known = this.#types.get(declared);
    if (known !== undefined && known !== 'being read') return known;
    this.#types.set(declared, 'being read');
    const type = this.findings.owned(() => this.#read(declared.element, declared.schema, declared.name));
    this.#types.set(declared, type);
    if (this.symbols.isConflict(declared)) this.findings.link(type, declared);
    return type;
  }

  #read(element: XmlElement, schema: Schema, name: QName | undefined): SchemaType {
    if (element.local === 'simpleType') return readSimpleType(this, element, schema, name);
    stepAt(this.allowance, element);
    const type: Mutable<ComplexType> = {
      ...anyType,
      name,
      abstract: isTrue(element, 'abstract'),
      derived: [],
      anyAttribute: false,
      content: { kind: 'empty' },
      documentation: documentationOf(element),
    };
    this.#written.set(type, { element, schema });
    if (name?.namespace === namespaces.apacheSoap) this.#maps.add(type);
    return type;
  }

  /** Fills all created types. Filling creates more types. */
  #fillAll(): void {
    for (const type of this.#written.keys()) this.#complete(type);
    for (const type of this.#maps) type.content = declaredMap(type) ?? type.content;
    this.#maps.clear();
  }

  #complete(type: Mutable<ComplexType>): void {
    const written = this.#written.get(type);
    if (written === undefined) return;
    this.#written.delete(type);
    this.#filling.add(type);
    this.findings.within(type, () =>
      fillComplexType(this, type, written, (base, at) => {
        if (this.#filling.has(base)) {
          this.findings.problem(at, 'expected a type that is not derived from itself, got a circular type');
          return false;
        }
        this.depth.within(at, () => this.#complete(base));
        return true;
      }),
    );
    this.#filling.delete(type);
  }

  elementOf(name: QName, at: XmlElement, schema: Schema | undefined): ElementDeclaration | undefined {
    const declared = this.symbols.find('element', name, at, schema);
    return declared === undefined ? undefined : this.#declaredElement(declared, at);
  }

  #declaredElement(declared: Declared, at: XmlElement): ElementDeclaration | undefined {
    const known = this.#elements.get(declared);
    if (known === 'being read') {
      this.findings.problem(
        at,
        `expected an element that does not substitute itself, got ${declared.name.local}`,
      );
      return undefined;
    }
    if (known !== undefined) return known;
    this.#elements.set(declared, 'being read');
    const made = this.#readElement(declared);
    this.#elements.set(declared, made);
    if (this.symbols.isConflict(declared)) this.findings.link(made, declared);
    return made;
  }

  #readElement({ name, element, schema }: Declared): Mutable<ElementDeclaration> {
    const made: Mutable<ElementDeclaration> = {
      ...plainElement(name, anyType, isTrue(element, 'nillable')),
      global: true,
      abstract: isTrue(element, 'abstract'),
      value: constraintOf(element),
      documentation: documentationOf(element),
    };
    made.type = this.findings.within(
      made,
      () => this.typeOfElement(element, schema) ?? this.#headOf({ name, element, schema })?.type ?? anyType,
    );
    return made;
  }

  /** Returns the head of the element's substitution group (XSD 1.0, part 1, 3.3.6). */
  #headOf({ element, schema }: Declared): ElementDeclaration | undefined {
    const head = this.symbols.referred('element', element, 'substitutionGroup', schema);
    return head && this.depth.within(element, () => this.#declaredElement(head, element));
  }

  /** Sets the substitutes of each element: direct and indirect members of its substitution group. */
  #fillSubstitutes(): void {
    const groups = new Map<ElementDeclaration, ElementDeclaration[]>();
    for (const declared of this.symbols.all('element').values()) {
      const element = this.#declaredElement(declared, declared.element);
      if (element === undefined) continue;
      const head = this.findings.within(element, () => this.#headOf(declared));
      if (head === undefined) continue;
      addTo(groups, head, element);
    }
    for (const head of groups.keys()) {
      const all = new Set<ElementDeclaration>([head]);
      // The set grows during the loop.
      for (const of of all) {
        const members = groups.get(of) ?? [];
        this.allowance.step('', members.length);
        for (const element of members) all.add(element);
      }
      all.delete(head);
      (head as Mutable<ElementDeclaration>).substitutes = [...all].filter(({ abstract }) => !abstract);
    }
  }

  groupOf(group: Declared, read: () => Particle | undefined): Particle | undefined {
    this.findings.need(group);
    const known = this.#groups.get(group);
    if (known === 'being read') {
      this.findings.problem(
        group.element,
        'expected a group that does not contain itself, got a circular group',
      );
      return undefined;
    }
    if (known !== undefined) return known.particle;
    this.#groups.set(group, 'being read');
    const particle = this.findings.within(group, read);
    this.#groups.set(group, { particle });
    return particle;
  }
}
