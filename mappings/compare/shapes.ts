import { faultNames } from '../codec/adopted/fault-codecs.ts';
import { type AdoptedOperation, serviceOf } from '../contract/adopted.ts';
import { anySimpleType, anyType } from '../contract/built-in-types.ts';
import { isObjectType, jsonFormOf, objectForm, substituteMembers } from '../contract/members.ts';
import type { Contract, Operation } from '../contract/model.ts';
import type {
  ComplexType,
  ElementDeclaration,
  JsonForm,
  Member,
  ObjectForm,
  SchemaType,
  SimpleType,
} from '../contract/type-graph.ts';
import { typeGraphOf } from '../type-graph.ts';

// The JSON of replies by the type graph, as the comparison and its rules walk it (A10 to A30).

/** The values of a type in the JSON of a reply. */
export type Shape =
  | { readonly kind: 'scalar'; readonly type: SimpleType }
  /** XML as text (A22, A24). */
  | { readonly kind: 'xml' }
  /** An array. `isBare` is true if it has no element of its own, so that no item and no array are the same. */
  | { readonly kind: 'list'; readonly item: () => Shape; readonly isBare: boolean }
  | ObjectShape
  /** A value of any type, and its members. The JSON decides (A23). */
  | { readonly kind: 'any' };

export interface ObjectShape {
  readonly kind: 'object';
  /** Members in the order of the schema. */
  readonly slots: ReadonlyMap<string, Slot>;
  /** The same as a list. */
  readonly entries: readonly (readonly [string, Slot])[];
  /** The complex type of its values; undefined for an object that the gateway adds. */
  readonly type: ComplexType | undefined;
}

/** A member of an object. */
export interface Slot {
  readonly shape: () => Shape;
  /** The value of an absent attribute (XSD 1.0, part 1, 3.5.1). */
  readonly default?: string | undefined;
}

const noMembers: Shape = { kind: 'object', slots: new Map(), entries: [], type: undefined };
const any: Shape = { kind: 'any' };
const xml: Shape = { kind: 'xml' };
const text: Slot = { shape: () => ({ kind: 'scalar', type: anySimpleType }) };

/** The shapes of one contract. Each is created on first use. */
export class Shapes {
  readonly #contract: Contract;
  readonly #replies = new Map<string, ObjectShape>();
  readonly #once = new Map<SchemaType, Shape>();
  readonly #repeated = new Map<SchemaType, Shape>();
  readonly #objects = new Map<ComplexType, ObjectShape>();
  readonly #items = new Map<Member, Shape>();
  #types: ReadonlyMap<string, SchemaType> | undefined;

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  /**
   * Returns the shape of a reply: members of the body, `@headers`, `@fault`, and the places `@frame`, `@status` and
   * `@reply`. A body that is no object is a member with the name of its element.
   */
  replyOf(operation: Operation): ObjectShape {
    const { name } = operation;
    const shape = this.#replies.get(name) ?? this.#reply(operation);
    this.#replies.set(name, shape);
    return shape;
  }

  /** Returns the shape of a request, with its header blocks as `@headers`; of its body if that is no object. */
  requestOf(operation: Operation): Shape {
    const { input } = typeGraphOf(this.#contract).messagesOf(operation);
    const { shape } = this.#body(input.body);
    const headers = this.requestHeadersOf(operation);
    if (shape.kind !== 'object' || headers.slots.size === 0) return shape;
    return objectOf(new Map([...shape.slots, ['@headers', { shape: () => headers }]]), shape.type);
  }

  /** Returns the shape of the header blocks of a request. */
  requestHeadersOf(operation: Operation): ObjectShape {
    return this.#headers(typeGraphOf(this.#contract).messagesOf(operation).input.headers);
  }

  #headers(blocks: readonly ElementDeclaration[]): ObjectShape {
    return objectOf(new Map(blocks.map((block) => [block.name.local, this.#element(block, true)])));
  }

  #reply(operation: Operation): ObjectShape {
    const { output } = typeGraphOf(this.#contract).messagesOf(operation);
    const slots = new Map<string, Slot>([['@frame', text]]);
    const headers = this.#headers(output?.headers ?? []);
    slots.set('@headers', { shape: () => headers });
    const { name, shape } = this.#body(output?.body);
    const body = shape.kind === 'object' ? shape.slots : new Map([[name, { shape: () => shape }]]);
    for (const [member, slot] of body) slots.set(member, slot);
    slots.set('@status', text).set('@reply', text);
    const declared = serviceOf(this.#contract).operations.find(({ name }) => name === operation.name);
    const fault = this.#fault(declared?.faults ?? []);
    slots.set('@fault', { shape: () => fault });
    return objectOf(slots);
  }

  /** Returns the shape of a reply's body, and the name of its element; `@reply` for a body without one. */
  bodyOf(operation: Operation): { readonly name: string; readonly shape: Shape } {
    return this.#body(typeGraphOf(this.#contract).messagesOf(operation).output?.body);
  }

  #body(body: AdoptedOperation['input']['body'] | undefined): {
    readonly name: string;
    readonly shape: Shape;
  } {
    if (body === undefined || body.kind === 'empty') return { name: '@reply', shape: noMembers };
    if (body.kind === 'element')
      return { name: body.element.name.local, shape: this.typeShape(body.element.type, false) };
    const slots = new Map(body.parts.map((part) => [part.name.local, this.#element(part, true)]));
    return { name: '@reply', shape: objectOf(slots) };
  }

  #fault(faults: AdoptedOperation['faults']): ObjectShape {
    const slots = new Map<string, Slot>([
      ['code', text],
      ['name', text],
      ['reason', text],
    ]);
    for (const [{ type }, name] of faultNames(faults)) {
      const shape = (): Shape => this.typeShape(type, false);
      const bare = objectOf(new Map([['value', { shape }]]));
      slots.set(name, { shape: isObjectType(type) ? shape : () => bare });
    }
    return objectOf(slots);
  }

  /** Returns the shape of a type; `once` as in `jsonFormOf`. */
  typeShape(type: SchemaType, once: boolean): Shape {
    const known = once ? this.#once : this.#repeated;
    const shape = known.get(type) ?? this.#formShape(jsonFormOf(type, once), type);
    known.set(type, shape);
    return shape;
  }

  #formShape(form: JsonForm, type: SchemaType): Shape {
    if (form.kind === 'scalar') {
      const { variety } = form.type;
      if (variety.kind !== 'list') return { kind: 'scalar', type: form.type };
      return { kind: 'list', item: () => this.typeShape(variety.item, true), isBare: false };
    }
    if (form.kind === 'list') return { kind: 'list', item: () => this.#item(form.item), isBare: false };
    if (form.kind === 'object' && type.kind === 'complex') return this.objectShape(type);
    return form.kind === 'xml' && type !== anyType ? xml : any;
  }

  /** Returns the shape of the object form of a type. */
  objectShape(type: ComplexType): ObjectShape {
    const shape = this.#objects.get(type) ?? objectOf(this.#slots(objectForm(type), type), type);
    this.#objects.set(type, shape);
    return shape;
  }

  #slots(
    { attributes, members, value }: ObjectForm,
    { anyAttribute }: ComplexType,
  ): ReadonlyMap<string, Slot> {
    const slots = new Map<string, Slot>();
    for (const { json, use } of attributes)
      slots.set(json, { shape: () => this.typeShape(use.type, true), default: use.value?.text });
    if (anyAttribute) slots.set('@attributes', { shape: () => any });
    for (const member of members.members) slots.set(member.json, { shape: () => this.#member(member) });
    if (value !== undefined) {
      const { type } = value;
      slots.set(value.json, { shape: () => (type === undefined ? xml : this.typeShape(type, true)) });
    }
    return slots;
  }

  #member(member: Member): Shape {
    if (!member.repeats || (member.kind === 'any' && member.fieldsOf !== undefined))
      return this.#item(member);
    return { kind: 'list', item: () => this.#item(member), isBare: true };
  }

  #item(member: Member): Shape {
    const shape = this.#items.get(member) ?? this.#makeItem(member);
    this.#items.set(member, shape);
    return shape;
  }

  #makeItem(member: Member): Shape {
    if (member.kind === 'any') return member.fieldsOf === undefined ? xml : any;
    if (member.kind === 'element') return this.#element(member.element, !member.repeats).shape();
    return objectOf(
      new Map(member.content.members.map((one) => [one.json, { shape: () => this.#member(one) }])),
    );
  }

  #element(element: ElementDeclaration, once: boolean): Slot {
    if (element.substitutes.length === 0) return { shape: () => this.typeShape(element.type, once) };
    const members = substituteMembers(element);
    const slots = members.map(
      (one) => [one.json, { shape: () => this.typeShape(one.element.type, once) }] as const,
    );
    const shape = objectOf(new Map(slots));
    return { shape: () => shape };
  }

  /** Returns the members of an object, and those of derived types. */
  membersOf({ slots, type }: ObjectShape): readonly (readonly [string, Shape])[] {
    const own = [...slots].map(([name, slot]) => [name, slot.shape()] as const);
    const derived = type?.derived ?? [];
    return [...own, ...derived.flatMap((one) => this.membersOf(this.objectShape(one)))];
  }

  /** Returns the type that `@type` names (A18, A19, A23); undefined for an unknown name. */
  typeNamed(name: string): SchemaType | undefined {
    this.#types ??= new Map([...serviceOf(this.#contract).typeNames].map(([type, its]) => [its, type]));
    return this.#types.get(name);
  }
}

function objectOf(slots: ReadonlyMap<string, Slot>, type?: ComplexType): ObjectShape {
  return { kind: 'object', slots, entries: [...slots], type };
}
