import type { JsonSchema } from './simple-types.ts';

/**
 * Components of a derived document. Each schema is built once and named when all are known; a schema with a single
 * reference may be inlined.
 */

/** The form of a type or element that a component describes. Names are assigned by role. */
export type Role = 'value' | 'typed' | 'own' | 'item' | 'nil' | 'head' | 'fault' | 'open' | 'unnamed';

/** Suffixes of a component's name, in order of preference. The first free name is used. */
const suffixes: Readonly<Record<Role, readonly string[]>> = {
  value: [''],
  typed: ['', 'Typed'],
  own: ['Itself'],
  item: ['Item'],
  nil: ['Nil'],
  head: ['Substitutes'],
  fault: ['Fault'],
  open: [''],
  unnamed: ['', 'Element'],
};

/** Order in which roles get their names, so that types keep their names whatever other components exist. */
const order: readonly Role[] = ['value', 'typed', 'own', 'item', 'nil', 'open', 'fault', 'head', 'unnamed'];

interface Component {
  readonly role: Role;
  /** Name of the component's type or element. */
  readonly called: string;
  /** Schemas that refer to the component. */
  readonly places: JsonSchema[];
  readonly make: () => JsonSchema;
  schema: JsonSchema | undefined;
  name: string;
}

/**
 * Collects schemas by type or element and form. They are built one after another instead of recursively, so types may
 * nest at any depth.
 */
export class Components {
  readonly #components = new Map<object, Map<string, Component>>();
  readonly #waiting: Component[] = [];
  readonly #mappings: { readonly mapping: Record<string, string>; readonly refs: Map<string, JsonSchema> }[] =
    [];

  /**
   * Returns a reference to the component of a type or element, which is created on first use. The caller may add
   * keywords next to `$ref`.
   */
  refer(of: object, key: string, role: Role, called: string, make: () => JsonSchema): JsonSchema {
    const forms = this.#components.get(of) ?? new Map<string, Component>();
    this.#components.set(of, forms);
    let component = forms.get(key);
    if (component === undefined) {
      component = { role, called, places: [], make, schema: undefined, name: '' };
      forms.set(key, component);
      this.#waiting.push(component);
    }
    const place: JsonSchema = { $ref: '' };
    component.places.push(place);
    return place;
  }

  /** Returns a discriminator whose values are mapped to the references. */
  discriminator(propertyName: string, refs: Map<string, JsonSchema>): JsonSchema {
    const mapping: Record<string, string> = {};
    this.#mappings.push({ mapping, refs });
    return { propertyName, mapping };
  }

  /** Builds the pending schemas, assigns names and fills in references. Returns the schemas by name, sorted. */
  finish(): Record<string, JsonSchema> {
    // building a schema can append to the list
    for (const component of this.#waiting) component.schema = component.make();
    const all = this.#waiting.filter((component) => !isInLine(component));
    const taken = new Set<string>();
    for (const role of order)
      for (const component of all) {
        if (component.role !== role) continue;
        component.name = freeName(component, taken);
        for (const place of component.places) place.$ref = `#/components/schemas/${component.name}`;
      }
    for (const { mapping, refs } of this.#mappings)
      for (const [value, { $ref }] of refs) mapping[value] = String($ref);
    for (const component of this.#waiting) if (isInLine(component)) putInLine(component);
    const named = all.map(({ name, schema }) => [name, schema ?? {}] as const);
    return Object.fromEntries(named.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }
}

/** Returns true for a component without its own name that is used once, which is written inline. */
function isInLine({ role, places }: Component): boolean {
  return role === 'unnamed' && places.length < 2;
}

function putInLine({ places: [place], schema }: Component): void {
  if (place === undefined) return;
  const { $ref: _, ...siblings } = place;
  delete place.$ref;
  for (const key of Object.keys(siblings)) delete place[key];
  const description = joinedTexts(siblings.description, schema?.description);
  Object.assign(place, schema, siblings, description !== '' && { description });
}

/** Joins the distinct non-empty descriptions by line breaks. Returns `''` if there are none. */
export function joinedTexts(...texts: readonly unknown[]): string {
  return [...new Set(texts.filter((text) => typeof text === 'string' && text !== ''))].join('\n');
}

/**
 * Returns a free component name of ASCII letters, digits, `-` and `_` (OpenAPI 3.1, Components Object). It has no dot,
 * because some generators read a dot as a module.
 */
function freeName({ called, role }: Component, taken: Set<string>): string {
  const plain = called.replace(/[^A-Za-z0-9_-]/g, '_');
  const candidates = suffixes[role].map((suffix) => plain + suffix);
  let name = candidates.find((candidate) => !taken.has(candidate));
  for (let count = 2; name === undefined; count++) {
    const next = `${candidates.at(-1)}_${count}`;
    if (!taken.has(next)) name = next;
  }
  taken.add(name);
  return name;
}
