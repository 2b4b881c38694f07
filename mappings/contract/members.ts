import { anyType } from './built-in-types.ts';
import {
  type AttributeMember,
  type AttributeUse,
  type ComplexType,
  type Content,
  type ElementDeclaration,
  expanded,
  type JsonForm,
  type Member,
  type Members,
  type ObjectForm,
  type Order,
  type Particle,
  plainElement,
  type SchemaType,
  type Wildcard,
} from './type-graph.ts';

/** The JSON names and the order of the attributes and elements of a complex type (A10 to A16). */

/** The members of an empty type. */
export const noMembers: Members = { members: [], choices: [], order: undefined };

/** Returns the members of a type's attributes. One with the name of an element is `@name` (A11). */
export function attributeMembers(
  attributes: readonly AttributeUse[],
  elements: readonly Member[],
): readonly AttributeMember[] {
  const taken = new Set(elements.map(({ json }) => json));
  return attributes.map((use) => {
    const wanted = use.json ?? use.name.local;
    let json = wanted;
    if (taken.has(json)) json = `@${json}`;
    for (let count = 2; taken.has(json); count++) json = `${wanted}_${count}`;
    taken.add(json);
    return { json, use };
  });
}

/** Returns a free name and marks it as taken: the wanted one, or that with a number after it. */
export function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
  taken.add(name);
  return name;
}

/** Returns the JSON name of text or inner XML next to attributes (A14, A24): `value`, unless an attribute has that name. */
export function valueNameOf(attributes: readonly AttributeMember[]): string {
  return attributes.some(({ json }) => json === 'value') ? '@value' : 'value';
}

/** Returns true if the JSON form of a type is a string of its inner XML (A24). */
export function isInnerXml({ attributes, anyAttribute, base, derived, content }: ComplexType): boolean {
  const isBare = attributes.length === 0 && !anyAttribute && base === undefined && derived.length === 0;
  return isBare && isMixed(content);
}

/**
 * Returns true if the JSON form of each value of a type is an object with members of the type. Inside another object,
 * other values are a member `value` (A29).
 */
export function isObjectType(type: SchemaType): type is ComplexType {
  if (type.kind === 'simple' || type === anyType || isInnerXml(type)) return false;
  return type.content.kind !== 'encodedArray' && type.content.kind !== 'map';
}

/** Returns true if text is allowed between elements. */
export function isMixed(content: Content): boolean {
  return content.kind === 'mixed' || (content.kind === 'elements' && content.mixed);
}

/** Returns the elements allowed where a head of a substitution group is referenced, with their JSON names (A20). */
export function substituteMembers(
  head: ElementDeclaration,
): readonly { readonly json: string; readonly element: ElementDeclaration }[] {
  const all = head.abstract ? head.substitutes : [head, ...head.substitutes];
  const taken = new Set<string>();
  return all.map((element) => ({ json: freeName(element.name.local, taken), element }));
}

/** Returns the members of the content between the tags; none for text and mixed content. */
export function contentMembers(content: Content): Members {
  return content.kind === 'elements' && !content.mixed ? membersOf(content.particle) : noMembers;
}

/** Returns the members of a content model. */
export function membersOf(particle: Particle): Members {
  const builder = new MembersBuilder();
  const order = builder.walk(normalized(particle), true, []);
  return builder.build(order);
}

/** Returns the member if a type consists of one repeated member, so that its JSON is an array (A13). */
export function loneMember({
  attributes,
  anyAttribute,
  base,
  derived,
  content,
}: ComplexType): Member | undefined {
  if (attributes.length > 0 || anyAttribute || base !== undefined || derived.length > 0) return undefined;
  if (content.kind !== 'elements' || content.mixed) return undefined;
  const { most, kind } = normalized(content.particle);
  if (most <= 1) return undefined;
  const [member] = membersOf(content.particle).members;
  // a wildcard in the form of an object is not an array
  if (kind === 'all' || (member?.kind === 'any' && member.fieldsOf !== undefined)) return undefined;
  return member;
}

/**
 * Returns equivalent content without groups of one particle, choices in a choice, and repeated particles in a repeated
 * choice.
 */
function normalized(particle: Particle): Particle {
  if (particle.kind === 'element' || particle.kind === 'any') return particle;
  const particles: Particle[] = [];
  let longest = 1;
  for (const part of particle.particles) {
    const one = normalized(part);
    longest = Math.max(longest, one.most);
    const isWithin = particle.kind === 'choice' && one.kind === 'choice';
    const parts = isWithin && (one.most <= 1 || particle.most > 1) ? one.particles : [one];
    for (const each of parts) particles.push(each);
  }
  const [only] = particles;
  if (particles.length === 1 && only !== undefined)
    return { ...only, least: particle.least * only.least, most: particle.most * only.most };
  if (particle.kind !== 'choice' || particle.most <= 1) return { ...particle, particles };
  return {
    ...particle,
    // each element of the choice is an item
    most: particle.most * longest,
    particles: particles.map((part) => ({ ...part, most: Math.min(part.most, 1) })),
  };
}

/** Returns the minimum number of items of a particle that is in an instance. */
function leastItems(particle: Particle): number {
  const { kind, least } = particle;
  if (kind === 'element' || kind === 'any') return least;
  if (isEmptiable({ ...particle, least: 1 })) return 0;
  // adjacent repetitions are read as one if they fit
  const isEach =
    kind === 'choice'
      ? particle.particles.every(isElement)
      : particle.particles.every((part) => isSingle(part));
  return isEach ? least : 1;
}

function isElement({ kind }: Particle): boolean {
  return kind === 'element' || kind === 'any';
}

/** Returns true for a particle that accepts each of its elements at most once. */
function isSingle(particle: Particle): boolean {
  if (particle.most > 1) return false;
  return particle.kind === 'element' || particle.kind === 'any' || particle.particles.every(isSingle);
}

/** Returns true for a particle that accepts an empty list of elements. */
function isEmptiable(particle: Particle): boolean {
  if (particle.least === 0) return true;
  if (particle.kind === 'element' || particle.kind === 'any') return false;
  return particle.kind === 'choice'
    ? particle.particles.some(isEmptiable)
    : particle.particles.every(isEmptiable);
}

/** A branch of a choice that contains a position. */
interface Around {
  readonly choice: number;
  readonly branch: number;
}

/** A member while its positions are collected. */
interface Draft {
  /** Undefined unless the member is an element. */
  readonly element: ElementDeclaration | undefined;
  /** The JSON name, if it is not the element's local name. */
  readonly json: string | undefined;
  /** Undefined unless the member is a repeated group. */
  readonly content: Members | undefined;
  readonly wildcards: Wildcard[];
  readonly places: (readonly Around[])[];
  repeats: boolean;
  least: number;
  most: number;
  required: boolean;
}

class MembersBuilder {
  readonly #drafts: Draft[] = [];
  readonly #byName = new Map<string, number>();
  readonly #choices: Set<number>[][] = [];
  /** By choice: its members that also have positions outside it. */
  readonly #outsides: Set<number>[] = [];
  #any: number | undefined;
  #isTwice = false;

  /** Collects the members of a particle, and returns their order. */
  walk(particle: Particle, required: boolean, around: readonly Around[]): Order {
    const isRequired = required && particle.least > 0;
    if (particle.kind === 'element' || particle.kind === 'any' || particle.most > 1) {
      const index = this.#place(particle);
      const draft = this.#drafts[index] as Draft;
      const known = draft.places;
      if (particle.most > 1 || known.some((place) => !areExclusive(place, around))) draft.repeats = true;
      if (known.length > 0 && draft.wildcards.length === 0) this.#isTwice = true;
      known.push(around);
      if (isRequired) draft.least += leastItems(particle);
      draft.most += particle.most;
      draft.required ||= isRequired;
      for (const { choice, branch } of around) this.#choices[choice]?.[branch]?.add(index);
      return { kind: 'member', index, most: particle.most };
    }
    if (particle.kind !== 'choice')
      return {
        kind: 'sequence',
        parts: particle.particles.map((part) => this.walk(part, isRequired, around)),
      };
    const choice = this.#choices.length;
    const branches = particle.particles.map(() => new Set<number>());
    this.#choices.push(branches);
    const parts = particle.particles.map((part, branch) => ({
      order: this.walk(part, false, [...around, { choice, branch }]),
      members: branches[branch] as ReadonlySet<number>,
    }));
    const outside = new Set<number>();
    this.#outsides[choice] = outside;
    return { kind: 'choice', parts, outside };
  }

  /** Returns the member of a particle, and adds it if it is new. */
  #place(particle: Particle): number {
    if (particle.kind === 'any') {
      this.#any ??= this.#add({});
      this.#drafts[this.#any]?.wildcards.push(particle.wildcard);
      return this.#any;
    }
    if (particle.kind === 'element') {
      const name = expanded(particle.element.name);
      const known = this.#byName.get(name) ?? this.#add({ element: particle.element, json: particle.json });
      this.#byName.set(name, known);
      return known;
    }
    const builder = new MembersBuilder();
    const order = builder.walk({ ...particle, least: 1, most: 1 }, true, []);
    return this.#add({ content: builder.build(order) });
  }

  #add({ element, json, content }: Partial<Pick<Draft, 'element' | 'json' | 'content'>>): number {
    return (
      this.#drafts.push({
        element,
        json,
        content,
        wildcards: [],
        places: [],
        repeats: false,
        least: 0,
        most: 0,
        required: false,
      }) - 1
    );
  }

  build(order: Order): Members {
    const taken = new Set<string>();
    const members = this.#drafts.map((draft): Member => {
      const { element, json, content, wildcards, repeats, least, most, required } = draft;
      if (element !== undefined)
        return {
          kind: 'element',
          json: freeName(json ?? element.name.local, taken),
          repeats,
          least,
          most,
          required,
          element,
        };
      if (content !== undefined)
        return {
          kind: 'rounds',
          json: freeName('@items', taken),
          repeats: true,
          least,
          most,
          required,
          content,
        };
      const { fieldsOf } = wildcards.find((one) => one.fieldsOf !== undefined) ?? {};
      return {
        kind: 'any',
        json: freeName('@any', taken),
        repeats,
        least,
        most,
        required,
        wildcards,
        fieldsOf,
      };
    });
    for (const [choice, outside] of this.#outsides.entries()) {
      for (const index of new Set(this.#choices[choice]?.flatMap((branch) => [...branch]))) {
        const { places } = this.#drafts[index] as Draft;
        if (places.some((place) => place.every((around) => around.choice !== choice))) outside.add(index);
      }
    }
    const choices = this.#choices.map((branches) => ({ branches }));
    return { members, choices, order: this.#isTwice ? order : undefined };
  }
}

/** Returns true if two positions are in different branches of one choice, so that at most one has a value. */
function areExclusive(one: readonly Around[], other: readonly Around[]): boolean {
  return one.some(({ choice, branch }) =>
    other.some((its) => its.choice === choice && its.branch !== branch),
  );
}

/** The JSON forms of WSDL types: for an element that may repeat, and for one that occurs at most once. */
const formsRepeated = new WeakMap<SchemaType, JsonForm>();
const formsOnce = new WeakMap<SchemaType, JsonForm>();

/**
 * Returns the JSON form of a type (A10 to A29).
 *
 * @param once true if the element occurs at most once: a type of one repeated member is then an array (A13)
 */
export function jsonFormOf(type: SchemaType, once: boolean): JsonForm {
  if (type.kind === 'complex' && type.json !== undefined) return type.json;
  const forms = once ? formsOnce : formsRepeated;
  const form = forms.get(type) ?? formOf(type, once);
  forms.set(type, form);
  return form;
}

function formOf(type: SchemaType, once: boolean): JsonForm {
  if (type.kind === 'simple') return { kind: 'scalar', type };
  const { content } = type;
  if (type === anyType || isInnerXml(type)) return { kind: 'xml' };
  if (content.kind === 'map') return { kind: 'map', value: content.value };
  if (content.kind === 'encodedArray')
    return content.dimensions > 1 ? { kind: 'refused' } : { kind: 'list', item: itemOf(content.item) };
  const lone = once ? loneMember(type) : undefined;
  return lone === undefined ? objectForm(type) : { kind: 'list', item: lone };
}

/** Returns the object form of a complex type, also of one that is an array elsewhere. */
export function objectForm({ attributes: uses, content }: ComplexType): ObjectForm {
  const members = contentMembers(content);
  const attributes = attributeMembers(uses, members.members);
  const type = content.kind === 'text' ? content.type : undefined;
  const value = type === undefined && !isMixed(content) ? undefined : { json: valueNameOf(attributes), type };
  return { kind: 'object', attributes, members, value, others: [] };
}

/** Returns the item of an array of SOAP's encoding. Its elements may have any name. */
function itemOf(type: SchemaType): Member {
  const element = plainElement({ namespace: '', local: 'item' }, type, true);
  const most = Number.POSITIVE_INFINITY;
  return { kind: 'element', json: 'item', repeats: true, least: 0, most, required: false, element };
}
