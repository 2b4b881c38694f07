import { namespaces } from '../../contract/model.ts';
import { expanded, type QName } from '../../contract/type-graph.ts';
import type { Allowance } from '../document/allowance.ts';
import { addTo, shown } from '../document/node.ts';
import { builtInSchema, noRedefine, type Schema } from './documents.ts';
import type { Findings } from './findings.ts';
import { attributeOf, qualifiedName, stepAt, type XmlElement } from './xml-tree.ts';

/** The symbol spaces of a schema (XSD 1.0, part 1, 2.5). */
export type SymbolKind = 'element' | 'type' | 'attribute' | 'group' | 'attributeGroup';

const kinds: Readonly<Record<string, SymbolKind>> = {
  element: 'element',
  complexType: 'type',
  simpleType: 'type',
  attribute: 'attribute',
  group: 'group',
  attributeGroup: 'attributeGroup',
};

/** A top-level component element of a schema. */
export interface Declared {
  readonly name: QName;
  readonly element: XmlElement;
  readonly schema: Schema;
}

/** All top-level components of the schemas, by kind and name. */
export class Symbols {
  readonly findings: Findings;
  readonly #allowance: Allowance;
  readonly #all = new Map<SymbolKind, Map<string, Declared>>();
  readonly #byLocal = new Map<string, Declared[]>();
  readonly #builtIn = new Set<string>();
  /** Components that are redefined or have the same name as a different component. */
  readonly #conflicts = new Set<Declared>();

  /** The namespaces of imports that were not followed. */
  readonly #lost: ReadonlySet<string>;

  /** @param lost namespaces of imports that were not followed. Their names count as missing, without a fallback. */
  constructor(
    schemas: readonly Schema[],
    lost: ReadonlySet<string>,
    allowance: Allowance,
    findings: Findings,
  ) {
    this.#lost = lost;
    this.findings = findings;
    this.#allowance = allowance;
    const held = new Set(schemas.map(({ namespace }) => namespace));
    // A schema in the folder takes precedence.
    for (const namespace of held) this.#builtIn.add(namespace);
    for (const schema of schemas) this.#add(schema);
    for (const schema of schemas) this.#addRedefined(schema);
  }

  all(kind: SymbolKind): ReadonlyMap<string, Declared> {
    return this.#all.get(kind) ?? new Map();
  }

  /**
   * Returns true for a component that is redefined or shares its name with a different one. It is an owner of flaws.
   */
  isConflict(declared: Declared): boolean {
    return this.#conflicts.has(declared);
  }

  /**
   * Returns the name that an attribute value refers to. In an included schema without a namespace, unprefixed names are
   * in the namespace of the includer (A2).
   */
  nameOf(element: XmlElement, value: string, schema: Schema): QName | undefined {
    const name = qualifiedName(element, value);
    if (name === undefined) {
      this.findings.problem(element, `expected a bound prefix, got ${shown(value)}`);
      return undefined;
    }
    const chameleon = attributeOf(schema.element, 'targetNamespace') === undefined;
    return chameleon && name.namespace === '' ? { namespace: schema.namespace, local: name.local } : name;
  }

  /** Returns the component that an attribute names; undefined without the attribute, or for a missing component. */
  referred(kind: SymbolKind, at: XmlElement, attribute: string, schema: Schema): Declared | undefined {
    const value = attributeOf(at, attribute);
    const name = value === undefined ? undefined : this.nameOf(at, value, schema);
    return name === undefined ? undefined : this.find(kind, name, at, schema);
  }

  /**
   * Returns the component with a name. A missing component is reported (A2, A3).
   *
   * @param mayBe returns false for a component of another namespace that must not be used as a fallback
   */
  find(
    kind: SymbolKind,
    name: QName,
    at: XmlElement,
    schema: Schema | undefined,
    mayBe: (declared: Declared) => boolean = () => true,
  ): Declared | undefined {
    const found = this.#get(kind, name) ?? this.#getBuiltIn(kind, name);
    if (found !== undefined) {
      if (this.#conflicts.has(found)) this.findings.need(found);
      if (schema !== undefined && !isImported(schema, name.namespace))
        this.findings.warn(
          at,
          `the schema of ${shown(schema.namespace)} uses ${shown(name.namespace)}, which it does not import`,
        );
      return found;
    }
    const others = this.#byLocal.get(`${kind} ${name.local}`) ?? [];
    const [other] = others;
    if (other !== undefined && others.length === 1 && !this.#lost.has(name.namespace) && mayBe(other)) {
      if (this.#conflicts.has(other)) this.findings.need(other);
      this.findings.warn(
        at,
        `the ${kind} ${name.local} is not in ${shown(name.namespace)}; the only one, in ${shown(other.name.namespace)}, is used`,
      );
      return other;
    }
    const more = others.map((one) => shown(one.name.namespace)).join(', ');
    this.findings.problem(
      at,
      `expected the ${kind} ${name.local} in ${shown(name.namespace)}, got none${more === '' ? '' : `; the name exists in ${more}`}`,
      name,
    );
    return undefined;
  }

  #get(kind: SymbolKind, name: QName): Declared | undefined {
    return this.#all.get(kind)?.get(expanded(name));
  }

  #getBuiltIn(kind: SymbolKind, name: QName): Declared | undefined {
    if (this.#builtIn.has(name.namespace)) return undefined;
    this.#builtIn.add(name.namespace);
    const schema = builtInSchema(name.namespace, this.#allowance);
    if (schema === undefined) return undefined;
    this.#add(schema);
    return this.#get(kind, name);
  }

  #add(schema: Schema): void {
    for (const element of schema.element.children) {
      const kind = element.namespace === namespaces.xsd ? kinds[element.local] : undefined;
      if (kind === undefined) continue;
      stepAt(this.#allowance, element);
      const local = attributeOf(element, 'name');
      if (local === undefined) {
        this.findings.problem(element, `expected a name, got <${element.local}> without a name`);
        continue;
      }
      this.#addOne(kind, { name: { namespace: schema.namespace, local }, element, schema });
    }
  }

  /** Makes components that an `xs:redefine` changes owners of flaws, because the redefinition is not supported. */
  #addRedefined(schema: Schema): void {
    for (const redefine of schema.element.children) {
      if (redefine.namespace !== namespaces.xsd || redefine.local !== 'redefine') continue;
      for (const element of redefine.children) {
        const kind = element.namespace === namespaces.xsd ? kinds[element.local] : undefined;
        const local = attributeOf(element, 'name');
        if (kind === undefined || local === undefined) continue;
        const declared = this.#get(kind, { namespace: schema.namespace, local });
        if (declared !== undefined) this.#refuse(declared, redefine, noRedefine);
      }
    }
  }

  #refuse(declared: Declared, at: XmlElement, message: string): void {
    this.#conflicts.add(declared);
    this.findings.within(declared, () => this.findings.problem(at, message));
  }

  #addOne(kind: SymbolKind, declared: Declared): void {
    const { name, element, schema } = declared;
    const all = this.#all.get(kind) ?? new Map<string, Declared>();
    this.#all.set(kind, all);
    const key = expanded(name);
    const before = all.get(key);
    if (before === undefined) {
      all.set(key, declared);
      if (schema.builtIn) return;
      addTo(this.#byLocal, `${kind} ${name.local}`, declared);
    } else if (isSame(before.element, element)) {
      this.findings.warn(element, `the ${kind} ${name.local} is declared twice identically; one is used`);
    } else {
      const message = `expected one ${kind} ${name.local} in ${shown(name.namespace)}, got another ${kind}`;
      this.#refuse(before, element, message);
    }
  }
}

function isImported(schema: Schema, namespace: string): boolean {
  return (
    schema.builtIn ||
    namespace === schema.namespace ||
    namespace === namespaces.xsd ||
    schema.imports.has(namespace)
  );
}

/** Returns true if two components are equal, ignoring prefixes and documentation (A3). */
function isSame(one: XmlElement, other: XmlElement): boolean {
  if (one.local !== other.local || one.namespace !== other.namespace) return false;
  if (one.attributes.length !== other.attributes.length) return false;
  for (const { local, namespace, value } of one.attributes) {
    const its = attributeOf(other, local, namespace);
    if (its === undefined) return false;
    if (its !== value && sameName(one, value) !== sameName(other, its)) return false;
  }
  const children = withoutDocumentation(one);
  const others = withoutDocumentation(other);
  return (
    children.length === others.length &&
    children.every((child, index) => {
      const its = others[index];
      return its !== undefined && isSame(child, its);
    })
  );
}

function sameName(element: XmlElement, value: string): string {
  const name = qualifiedName(element, value);
  return name === undefined ? value : expanded(name);
}

function withoutDocumentation({ children }: XmlElement): readonly XmlElement[] {
  return children.filter(({ local }) => local !== 'annotation');
}
