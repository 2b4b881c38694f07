import type { Limits } from '../../contract/limits.ts';
import { jsonFormOf, substituteMembers } from '../../contract/members.ts';
import type {
  Choice,
  ComplexType,
  ElementDeclaration,
  Member,
  Members,
  ObjectForm,
  SchemaType,
  SimpleType,
} from '../../contract/type-graph.ts';
import { credentialsSlot } from '../problem.ts';
import type { Leaf } from './leaf.ts';

/**
 * The types that the byte reader reads, made from the type graph. A member without a plan makes a message that has it
 * give up.
 */

/** The rules of a contract that the type graph does not hold. */
export interface Policy {
  readonly limits: Limits;
  /** The leaf of a simple type in an element; undefined if the usual reader must read it. */
  readonly leafOf: (type: SimpleType, element: ElementDeclaration) => Leaf | undefined;
  /** True if the usual reader must read values with rules, and lists whose number of items has bounds. */
  readonly isStrict: boolean;
  /**
   * The meaning of `xsi:nil` for an element; undefined if the usual reader must read it.
   *
   * @param isInput true for a member of an operation's input
   */
  readonly nilOf: (element: ElementDeclaration, isInput: boolean) => Nil | undefined;
  /** Namespaces that the items of a list may be in, besides their own and none. */
  readonly itemNamespaces: readonly string[];
}

/** The meaning of an element with `xsi:nil`: a JSON null, or no member. */
export type Nil = 'null' | 'absent';

export type Plan = ObjectPlan | ListPlan;

/** A JSON object with a member for each element. */
export interface ObjectPlan {
  readonly kind: 'object';
  readonly members: readonly MemberPlan[];
  readonly choices: readonly Choice[];
}

/** A JSON array with an item for each element. */
export interface ListPlan {
  readonly kind: 'list';
  readonly members: readonly [MemberPlan];
}

/** An element and its value. */
export interface MemberPlan {
  /** The local name; undefined if the byte reader does not read the element. */
  readonly local: string | undefined;
  readonly namespaces: readonly string[];
  readonly json: string;
  readonly required: boolean;
  /** True if a required string must not be empty. */
  readonly notEmpty: boolean;
  readonly repeats: boolean;
  /** Index of the value in `Reading.slots`; undefined for a member of the JSON. */
  readonly slot: number | undefined;
  /** True for the credentials, and for each of them: the token is kept apart as well (W24). */
  readonly isKept: boolean;
  /** Undefined if an element with `xsi:nil` makes the reader give up. */
  readonly nil: Nil | undefined;
  /** The same for a member of an operation's input. */
  readonly nilInInput: Nil | undefined;
  readonly value: () => Value | undefined;
}

/** A value between the tags of an element; `member` is the JSON name of a text in an object of its own (A14). */
export type Value =
  | Plan
  | { readonly kind: 'leaf'; readonly leaf: Leaf; readonly member: string | undefined };

/** Makes the plans of a contract's types, each once. */
export class Plans {
  readonly #policy: Policy;
  readonly #once = new Map<SchemaType, Plan | undefined>();
  readonly #repeated = new Map<SchemaType, Plan | undefined>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /**
   * The plan of the value of an element; undefined for a type that the usual reader must read.
   *
   * @param once as `jsonFormOf` has it
   */
  valueOf(element: ElementDeclaration, once: boolean): Value | undefined {
    const { type } = element;
    if (type.kind === 'simple') return leafValue(this.#policy.leafOf(type, element), undefined);
    const form = jsonFormOf(type, once);
    if (form.kind === 'object' && form.value !== undefined) return this.#textValue(type, form, element);
    const plans = once ? this.#once : this.#repeated;
    if (!plans.has(type)) plans.set(type, this.#planOf(type, once));
    return plans.get(type);
  }

  /**
   * The plan of an operation's input.
   *
   * @param slots where members go that are not in the JSON, by JSON name
   */
  inputOf(element: ElementDeclaration, slots: ReadonlyMap<string, number>): Plan | undefined {
    const plan = this.valueOf(element, false);
    if (plan === undefined || plan.kind === 'leaf') return undefined;
    if (plan.kind !== 'object') return plan;
    return { ...plan, members: plan.members.map((member) => inSlot(member, slots.get(member.json))) };
  }

  /** The plan of a type with text and attributes, for an element without attributes. */
  #textValue(type: ComplexType, { value }: ObjectForm, element: ElementDeclaration): Value | undefined {
    if (value?.type === undefined || !this.#takes(type, [])) return undefined;
    return leafValue(this.#policy.leafOf(value.type, { ...element, value: undefined }), value.json);
  }

  #takes(type: ComplexType, members: readonly Member[]): boolean {
    const isPlain = !type.abstract && type.attributes.every(({ required }) => !required);
    return isPlain && !(this.#policy.isStrict && members.some(isBounded));
  }

  #planOf(type: ComplexType, once: boolean): Plan | undefined {
    const form = jsonFormOf(type, once);
    if (form.kind === 'object') return this.#objectOf(type, form.members);
    if (form.kind !== 'list' || type.content.kind !== 'elements' || !this.#takes(type, [form.item]))
      return undefined;
    return { kind: 'list', members: [this.#memberOf(form.item, [form.item], true)] };
  }

  #objectOf(type: ComplexType, { members, choices, order }: Members): ObjectPlan | undefined {
    if (order !== undefined || !this.#takes(type, members)) return undefined;
    return {
      kind: 'object',
      members: members.map((member) => this.#memberOf(member, members, false)),
      choices,
    };
  }

  #memberOf(member: Member, all: readonly Member[], isItem: boolean): MemberPlan {
    const { json, required } = member;
    const element = member.kind === 'element' ? member.element : undefined;
    const isPlain =
      element !== undefined &&
      !element.abstract &&
      element.substitutes.length === 0 &&
      !(this.#policy.isStrict && element.demands?.rules !== undefined) &&
      localNames(all).filter((local) => local === element.name.local).length === 1;
    const once = !isItem && !member.repeats;
    return {
      local: isPlain ? element.name.local : undefined,
      namespaces: [element?.name.namespace ?? '', ...(isItem ? this.#policy.itemNamespaces : []), ''],
      json,
      required,
      notEmpty: element?.demands?.notEmpty === true,
      repeats: member.repeats && !isItem,
      slot: undefined,
      isKept: false,
      nil: this.#nilOf(member, element, isItem, false),
      nilInInput: this.#nilOf(member, element, isItem, true),
      value: () => (element === undefined ? undefined : this.valueOf(element, once)),
    };
  }

  #nilOf(
    member: Member,
    element: ElementDeclaration | undefined,
    isItem: boolean,
    isInput: boolean,
  ): Nil | undefined {
    if (element === undefined || isItem) return undefined;
    const nil = this.#policy.nilOf(element, isInput);
    return nil === 'absent' && (member.required || member.repeats) ? undefined : nil;
  }
}

/** The same member with its slot. Credentials may be in a header, so the member for them is not required. */
function inSlot(member: MemberPlan, slot: number | undefined): MemberPlan {
  const nil = member.nilInInput;
  if (slot !== credentialsSlot) return { ...member, slot, nil };
  const value = member.value();
  if (value?.kind !== 'object') return { ...member, slot, nil };
  const members = value.members.map((part) => ({ ...part, isKept: true }));
  const credentials = { ...value, members };
  return { ...member, slot, nil, isKept: true, required: false, value: () => credentials };
}

function leafValue(leaf: Leaf | undefined, member: string | undefined): Value | undefined {
  return leaf === undefined ? undefined : { kind: 'leaf', leaf, member };
}

/** Returns true for a list whose number of items has bounds. */
function isBounded({ repeats, least, most }: Member): boolean {
  return repeats && (least > 0 || most !== Number.POSITIVE_INFINITY);
}

/** The local names of the elements that members may be; one of several elements is found by rules of its own. */
function localNames(members: readonly Member[]): readonly string[] {
  return members.flatMap((member): readonly string[] => {
    if (member.kind === 'any') return [];
    if (member.kind === 'rounds') return localNames(member.content.members);
    const { element } = member;
    if (element.substitutes.length === 0) return [element.name.local];
    return substituteMembers(element).map(({ element: { name } }) => name.local);
  });
}
