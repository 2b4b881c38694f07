import type { JsonSchema } from './simple-types.ts';

/** The components of a derived document: each schema once, named when all are known, in line where one place alone has it. */

/** What a component is of its type, by which names are chosen; the first of a name's forms has it as it is. */
export type Role = 'value' | 'typed' | 'own' | 'item' | 'nil' | 'head' | 'fault' | 'open' | 'unnamed';

/** What is added to the name where another form of the type has it already. */
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

/** Names are given in this order, so that types have theirs whatever else there is. */
const order: readonly Role[] = ['value', 'typed', 'own', 'item', 'nil', 'open', 'fault', 'head', 'unnamed'];

interface Component {
  readonly role: Role;
  /** The name of its type or element. */
  readonly called: string;
  /** The places that refer to it. */
  readonly places: JsonSchema[];
  readonly make: () => JsonSchema;
  schema: JsonSchema | undefined;
  name: string;
}

/** Schemas by what they are of, made one after another, so that a type may hold itself at any depth. */
export class Components {
  readonly #components = new Map<object, Map<string, Component>>();
  readonly #waiting: Component[] = [];
  readonly #mappings: { readonly mapping: Record<string, string>; readonly refs: Map<string, JsonSchema> }[] =
    [];

  /** A reference to the component of a type or element, which is made if it is new; what stands beside `$ref` may be added. */
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

  /** A discriminator whose values lead to references. */
  discriminator(propertyName: string, refs: Map<string, JsonSchema>): JsonSchema {
    const mapping: Record<string, string> = {};
    this.#mappings.push({ mapping, refs });
    return { propertyName, mapping };
  }

  /** Makes what waits, names all and fills the references. Gives the schemas by name, in the order of names. */
  finish(): Record<string, JsonSchema> {
    // grows meanwhile
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

/** What has no name of its own and stands at one place is written there. */
function isInLine({ role, places }: Component): boolean {
  return role === 'unnamed' && places.length < 2;
}

function putInLine({ places: [place], schema }: Component): void {
  if (place === undefined) return;
  const { $ref: _, ...beside } = place;
  delete place.$ref;
  for (const key of Object.keys(beside)) delete place[key];
  const description = joinedTexts(beside.description, schema?.description);
  Object.assign(place, schema, beside, description !== '' && { description });
}

/** Descriptions as lines, each once; `''` for none. */
export function joinedTexts(...texts: readonly unknown[]): string {
  return [...new Set(texts.filter((text) => typeof text === 'string' && text !== ''))].join('\n');
}

/** Names of components have letters of ASCII, digits, `-` and `_` (OpenAPI 3.1, Components Object); a dot means a module to some generators. */
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
