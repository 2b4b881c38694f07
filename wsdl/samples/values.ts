import { withHeaders } from '../../mappings/codec/adopted/compile.ts';
import { canMatchPatterns, linearPattern } from '../../mappings/codec/scalars/pattern.ts';
import { escapeAttribute, quoteJson } from '../../mappings/codec/scalars/text.ts';
import { anyType } from '../../mappings/contract/built-in-types.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { jsonFormOf, objectForm, substituteMembers } from '../../mappings/contract/members.ts';
import { type Contract, fileMembers } from '../../mappings/contract/model.ts';
import type {
  AdoptedMessage,
  ComplexType,
  ElementDeclaration,
  JsonForm,
  Member,
  Members,
  ObjectForm,
  SchemaType,
  SimpleType,
  Wildcard,
} from '../../mappings/contract/type-graph.ts';
import type { Rules } from '../../mappings/contract/values.ts';
import { itemsOf, membersOf } from '../../mappings/json/parts.ts';
import type { TypeGraph } from '../../mappings/type-graph.ts';
import { placeholderOf } from './placeholders.ts';
import { candidatesOf } from './texts.ts';

/** Maximum depth of optional members. Types may be recursive, and a sample must stay readable. */
const deepest = 4;
/**
 * Number of values after which optional members are omitted. Objects that contain each other would otherwise produce
 * millions.
 */
const largest = 400;
/** Depth and number of values after which required members are omitted. */
const deepestRequired = 24;
const largestRequired = 4_000;

/** Direction of a sample message. */
export type Side = 'request' | 'reply';

/** The parts of a contract that sample values are created from. */
export interface ValuesContext {
  readonly contract: Contract;
  readonly graph: TypeGraph;
  readonly limits: Limits;
  /** Converts an XML text to JSON. Returns undefined if it is not a value of the type. */
  readonly tokenOf: (type: SimpleType, text: string) => string | undefined;
  /** Returns true if a JSON token of a simple type satisfies the type's facets and the member's rules. */
  readonly fits: (type: SimpleType, rules: Rules | undefined, token: string) => boolean;
  /** Returns true if the gateway accepts an example's JSON as a value of the type. */
  readonly accepts: (type: SchemaType, rules: Rules | undefined, json: string) => boolean;
  /** Placeholders of credentials in header blocks, by `{block}.{path}`. */
  readonly placeholders: ReadonlyMap<string, string>;
}

/** The members of a sample that are written. The first extent that the gateway accepts is used. */
export interface Extent {
  /** True if examples of the document are used. */
  readonly examples: boolean;
  /** True if optional members are written. */
  readonly optional: boolean;
}

/** The message that a value is part of. */
export interface Place {
  readonly side: Side;
  readonly extent: Extent;
  /** Media types that the document declares for the parts of a multipart body, by part name. */
  readonly partTypes?: ReadonlyMap<string, string>;
  /**
   * Name of the input member that is sent upstream as a sequence of values, and therefore is a list whatever its type.
   */
  readonly sequence?: string | undefined;
}

/** The JSON of a message with its declared header blocks (A7, A8). */
export interface SampleValue {
  readonly json: string;
  /** Names of the credentials in the header blocks. */
  readonly credentials: ReadonlySet<string>;
}

/** Returns a value of a type as JSON. The document's example is used as far as the gateway accepts it. */
export function sampleValue(
  context: ValuesContext,
  type: SchemaType,
  place: Place,
  example?: string,
): string {
  const values = new SampleValues(context, place);
  const made = example === undefined ? undefined : values.fromExample(type, undefined, example, 1);
  return made ?? values.value(type, 1);
}

/** Returns the JSON of a message of a WSDL. */
export function sampleMessage(context: ValuesContext, message: AdoptedMessage, place: Place): SampleValue {
  const values = new SampleValues(context, place);
  const json = values.message(message);
  return { json, credentials: values.placed };
}

/** Values that are already known for members of an object. */
interface Given {
  readonly tag?: { readonly member: string; readonly value: string };
  readonly examples?: ReadonlyMap<string, string>;
  /** Name of the type that the object states in `@type`. */
  readonly typeName?: string | undefined;
}

/** Rules and name of the member that a value is created for. */
interface Around {
  readonly rules?: Rules | undefined;
  /** The JSON name, then the documented facts. */
  readonly called?: string | undefined;
  /** True if the element occurs at most once (A13). */
  readonly once?: boolean;
}

class SampleValues {
  readonly #context: ValuesContext;
  readonly #place: Place;
  readonly #responseStatus: SchemaType;
  /** Media type of the current multipart part. */
  #partType: string | undefined;
  /** The current header block and the member in it. */
  readonly #path: string[] = [];
  /** Credentials written so far. */
  readonly placed = new Set<string>();
  #count = 0;

  constructor(context: ValuesContext, place: Place) {
    this.#context = context;
    this.#place = place;
    this.#responseStatus = context.graph.nodeOf(context.contract.responseStatus);
  }

  message({ body, headers }: AdoptedMessage): string {
    const named = (element: ElementDeclaration, depth: number): string =>
      `${quoteJson(element.name.local)}:${this.#element(element, depth, { once: true })}`;
    const blocks = headers.map((element) => this.#within(element.name.local, () => named(element, 1)));
    if (body.kind === 'empty') return withHeaders('{}', blocks);
    if (body.kind === 'element') return withHeaders(this.#element(body.element, 1, {}), blocks);
    return withHeaders(`{${body.parts.map((part) => named(part, 2)).join(',')}}`, blocks);
  }

  #within(name: string, write: () => string): string {
    this.#path.push(name);
    const made = write();
    this.#path.pop();
    return made;
  }

  /** Returns an element's value: its fixed or default value, except for a placeholder of a credential. */
  #element({ type, value }: ElementDeclaration, depth: number, around: Around): string {
    if (type.kind === 'simple') {
      const token = this.#stated(type, value);
      if (token !== undefined) return token;
    }
    return this.value(type, depth, around);
  }

  #stated(type: SimpleType, value: ElementDeclaration['value']): string | undefined {
    if (value === undefined) return undefined;
    const isOwn = value.kind === 'fixed' || this.#placeholder() === undefined;
    return isOwn ? this.#context.tokenOf(type, value.text) : undefined;
  }

  value(type: SchemaType, depth: number, around: Around = {}): string {
    this.#count++;
    const form = jsonFormOf(type, around.once === true);
    switch (form.kind) {
      case 'scalar':
        return this.#simple(form.type, around.rules, around.called);
      case 'xml':
        return '"text"';
      case 'refused':
        return 'null';
      case 'object':
        return this.#object(type as ComplexType, form, depth);
      case 'list':
        return this.#list(form.item, depth, around);
      case 'map': {
        const { value } = form;
        if (value.type !== anyType && this.#isFull(depth)) return '{}';
        return `{"key":${this.value(value.type, depth + 1, { rules: around.rules?.values })}}`;
      }
      case 'tuple': {
        const items = form.positions.map(({ type: its, demands }) =>
          this.value(its, depth + 1, { rules: demands?.rules }),
        );
        return `[${items.join(',')}]`;
      }
      case 'union':
        return this.#union(form, depth);
    }
  }

  #isFull(depth: number): boolean {
    return depth >= deepest || this.#count >= largest || !this.#place.extent.optional;
  }

  #list(item: Member, depth: number, { rules, called }: Around): string {
    const itemsCheck = rules?.checks.find((check) => check.kind === 'items');
    const least = itemsCheck?.kind === 'items' ? itemsCheck.least : 0;
    const type = item.kind === 'element' ? item.element.type : undefined;
    const isScalar = type?.kind === 'simple' && type.scalar !== undefined;
    if (least === 0 && !item.required && !isScalar && this.#isFull(depth)) return '[]';
    const one = this.#oneOf(item, depth + 1, { rules: rules?.items, called });
    const isUnique = rules?.checks.some((check) => check.kind === 'unique') === true;
    const times = Math.min(Math.max(least, 1), 32);
    if (!isUnique || times === 1) return `[${new Array(times).fill(one).join(',')}]`;
    return `[${distinct(type, one, times).join(',')}]`;
  }

  #object(type: ComplexType, form: ObjectForm, depth: number, given: Given = {}): string {
    if (type === this.#responseStatus) return '{}'; // an error code would turn the reply into an error (W30)
    if (type.abstract) return this.#derived(type, depth);
    const { tag, typeName } = given;
    const { attributes, members, value } = form;
    const made: string[] = typeName === undefined ? [] : [`"@type":${quoteJson(typeName)}`];
    if (tag !== undefined && !members.members.some(({ json }) => json === tag.member))
      made.push(`${quoteJson(tag.member)}:${tag.value}`);
    for (const { json, use } of attributes) {
      if (!use.required && !this.#place.extent.optional) continue;
      const write = (): string => this.#stated(use.type, use.value) ?? this.#simple(use.type, undefined);
      made.push(`${quoteJson(json)}:${this.#within(json, write)}`);
    }
    if (value !== undefined) {
      const { type: its } = value;
      const write = (): string => (its === undefined ? '"text"' : this.#simple(its, undefined));
      made.push(`${quoteJson(value.json)}:${this.#within(value.json, write)}`);
    }
    for (const member of this.#members(members, depth, given)) made.push(member);
    return `{${made.join(',')}}`;
  }

  /** Returns an object of the first type derived from an abstract type, with its type name. */
  #derived(type: ComplexType, depth: number): string {
    const concrete = concreteOf(type);
    if (concrete === undefined) return '{}';
    const typeName = this.#context.contract.typeNames.get(concrete);
    return this.#object(concrete, objectForm(concrete), depth, { typeName });
  }

  /** Returns the members of a content. Of a choice, only the first non-empty branch is used. */
  #members({ members, choices }: Members, depth: number, { tag, examples }: Given): readonly string[] {
    const left = new Set<number>();
    for (const { branches } of choices) {
      const chosen = branches.find(
        (branch) => branch.size > 0 && [...branch].every((index) => !left.has(index)),
      );
      for (const branch of branches)
        for (const index of branch) if (chosen?.has(index) !== true) left.add(index);
    }
    const isChosen = (index: number): boolean =>
      choices.some(({ branches }) => branches.some((branch) => branch.has(index)));
    return members.flatMap((member, index) => {
      if (left.has(index)) return [];
      const needed = isChosen(index) || this.#isRequired(member);
      const json =
        member.json === tag?.member
          ? tag.value
          : examples === undefined
            ? this.#member(member, needed, depth)
            : this.#fromMember(member, needed, examples.get(member.json), depth);
      return json === undefined ? [] : [`${quoteJson(member.json)}:${json}`];
    });
  }

  #isRequired(member: Member): boolean {
    const demands = demandsOf(member);
    if (demands === undefined || this.#place.side === 'request') return member.required;
    return demands.promised === true;
  }

  #isWanted(member: Member, needed: boolean, depth: number): boolean {
    if (needed) return depth < deepestRequired && this.#count < largestRequired;
    if (!this.#place.extent.optional || this.#count >= largest || member.kind === 'any') return false;
    if (this.#isElsewhere(member)) return false;
    const isSmall = member.kind === 'element' && member.element.type.kind === 'simple';
    return isSmall || depth < deepest;
  }

  /** Returns true for a read-only member in a request and for a write-only member in a reply. */
  #isElsewhere(member: Member): boolean {
    const { rules, words } = demandsOf(member) ?? {};
    if (this.#place.side === 'reply') return words?.facts.includes('Write only.') === true;
    const isReadOnly = rules?.checks.some(({ kind }) => kind === 'readOnly') === true;
    return isReadOnly || words?.facts.includes('Read only.') === true;
  }

  /** Returns a member's value, or undefined if it is omitted. */
  #member(member: Member, needed: boolean, depth: number): string | undefined {
    if (!this.#isWanted(member, needed, depth)) return undefined;
    const known =
      member.kind === 'element' ? this.#knownValue(member.json, member.element, depth) : undefined;
    if (known !== undefined) return known;
    const { json } = member;
    const { rules, hints, words } = demandsOf(member) ?? {};
    const called = words === undefined ? json : `${json} ${words.facts}`;
    const around = this.#partType;
    this.#partType = this.#place.partTypes?.get(json) ?? around;
    const one = this.#within(json, () =>
      this.#oneOf(member, depth + 1, { rules: rules ?? usable(hints), called, once: !member.repeats }),
    );
    this.#partType = around;
    const isFields = member.kind === 'any' && member.fieldsOf !== undefined;
    return member.repeats && !isFields ? `[${one}]` : one;
  }

  /** Returns the value that the contract gives for a member: credentials, an example, an allowed value. */
  #knownValue(json: string, { type, demands }: ElementDeclaration, depth: number): string | undefined {
    if (demands === undefined) return undefined;
    const { rules, hints, allowed, example } = demands;
    const { contract } = this.#context;
    const form = jsonFormOf(type, true);
    if (json === contract.credentials?.member && form.kind === 'object' && depth === 1)
      return this.#credentials(form);
    const made =
      this.#place.extent.examples && example !== undefined
        ? this.fromExample(type, rules, example, depth + 1)
        : undefined;
    if (made !== undefined && (allowed === undefined || allowed.some((value) => quoteJson(value) === made)))
      return made;
    if (allowed !== undefined && type.kind === 'simple')
      return this.#first(type, rules ?? usable(hints), allowed.map(quoteJson)) ?? '""';
    const isOpen = type.kind === 'simple' && type.scalar === 'json';
    return isOpen && depth === 1 && json === this.#place.sequence ? '[{}]' : undefined;
  }

  /** Returns placeholders for the credentials. */
  #credentials({ members }: ObjectForm): string {
    const parts = this.#context.contract.credentials?.parts ?? [];
    const placed = members.members
      .filter(({ json }) => parts.some(({ name }) => name === json))
      .map(({ json }) => `${quoteJson(json)}:${quoteJson(placeholderOf(json))}`);
    return `{${placed.join(',')}}`;
  }

  /**
   * Returns a member's value from an object's example. A member without an example is written only if it is required.
   */
  #fromMember(
    member: Member,
    needed: boolean,
    example: string | undefined,
    depth: number,
  ): string | undefined {
    const isLeftOut = !needed && (this.#isElsewhere(member) || !this.#place.extent.optional);
    const made =
      example === undefined || isLeftOut || member.kind !== 'element'
        ? undefined
        : this.fromExample(member.element.type, member.element.demands?.rules, example, depth + 1);
    return made ?? (needed ? this.#member(member, needed, depth) : undefined);
  }

  /**
   * Returns the document's example if the gateway accepts it, otherwise the parts that it accepts, or undefined for
   * none.
   */
  fromExample(
    type: SchemaType,
    rules: Rules | undefined,
    example: string,
    depth: number,
  ): string | undefined {
    const { accepts, limits } = this.#context;
    const isTaken = accepts(type, rules, example);
    const form = jsonFormOf(type, true);
    if (form.kind === 'list' && form.item.kind === 'element' && !isTaken) {
      const { element } = form.item;
      const items = (itemsOf(example, limits) ?? []).flatMap(
        (item) => this.fromExample(element.type, rules?.items, item, depth + 1) ?? [],
      );
      return items.length === 0 ? undefined : `[${items.join(',')}]`;
    }
    const stated = form.kind === 'object' ? membersOf(example, limits) : undefined;
    if (form.kind !== 'object' || stated === undefined) return isTaken ? example : undefined;
    const examples = new Map(stated);
    const isWhole =
      isTaken &&
      !form.members.members.some((member) => examples.has(member.json) && this.#isElsewhere(member));
    return isWhole && this.#place.extent.optional
      ? example
      : this.#object(type as ComplexType, form, depth, { examples });
  }

  #oneOf(member: Member, depth: number, around: Around): string {
    switch (member.kind) {
      case 'any':
        return member.fieldsOf === undefined
          ? quoteJson(extensionFor(member.wildcards))
          : '{"Extension":"text"}';
      case 'rounds':
        return `{${this.#members(member.content, depth, {}).join(',')}}`;
      case 'element': {
        if (member.element.substitutes.length === 0) return this.#element(member.element, depth, around);
        const [first] = substituteMembers(member.element);
        return first === undefined
          ? '{}'
          : `{${quoteJson(first.json)}:${this.#element(first.element, depth, around)}}`;
      }
    }
  }

  #union({ variants }: Extract<JsonForm, { kind: 'union' }>, depth: number): string {
    // JSON of any type could be read as another variant
    const scalar = variants.find(({ element: { type } }) => type.kind === 'simple' && type.scalar !== 'json');
    const variant = depth >= deepest ? (scalar ?? variants[0]) : variants[0];
    if (variant === undefined) return 'null';
    const { type, demands } = variant.element;
    const form = jsonFormOf(type, true);
    const [value] = variant.tag?.values ?? [];
    if (form.kind === 'object' && variant.tag !== undefined && value !== undefined)
      return this.#object(type as ComplexType, form, depth, { tag: { member: variant.tag.member, value } });
    return this.value(type, depth, { rules: demands?.rules });
  }

  #simple(type: SimpleType, rules: Rules | undefined, called = ''): string {
    const placeholder = this.#placeholder();
    const texts = [...this.#ofPart(called), ...candidatesOf(type, rules, called)];
    if (placeholder !== undefined) texts.unshift(placeholder);
    const tokens = texts.flatMap((text) => this.#context.tokenOf(type, text) ?? []);
    const values = rules?.checks.flatMap((check) => (check.kind === 'values' ? check.tokens : [])) ?? [];
    return this.#first(type, rules, [...values, ...tokens]) ?? '""';
  }

  /** Returns the placeholder of the current credential, or undefined for any other value. */
  #placeholder(): string | undefined {
    const path = this.#path.join('.');
    const placeholder = this.#context.placeholders.get(path);
    if (placeholder !== undefined) this.placed.add(path);
    return placeholder;
  }

  /** Returns the file name and the media type of the current multipart part, as the document declares them. */
  #ofPart(called: string): readonly string[] {
    const type = this.#partType;
    if (type === undefined) return [];
    if (called === fileMembers.contentType) return [type];
    const extension = /\/([a-z\d]{2,5})$/.exec(type)?.[1] ?? 'bin';
    return called === fileMembers.fileName ? [`sample.${extension}`] : [];
  }

  /** Returns the first value that the gateway accepts, otherwise the first value. */
  #first(type: SimpleType, rules: Rules | undefined, tokens: readonly string[]): string | undefined {
    return tokens.find((token) => this.#context.fits(type, rules, token)) ?? tokens[0];
  }
}

function demandsOf(member: Member): ElementDeclaration['demands'] {
  return member.kind === 'element' ? member.element.demands : undefined;
}

/** Removes patterns that cannot be matched in linear time from hints. */
function usable(hints: Rules | undefined): Rules | undefined {
  if (hints === undefined) return undefined;
  const { checks, items, values } = hints;
  return {
    checks: checks.filter(
      (check) =>
        check.kind !== 'pattern' || (canMatchPatterns() && linearPattern(check.source) !== undefined),
    ),
    items: usable(items),
    values: usable(values),
  };
}

/** Returns an element that a wildcard allows. */
function extensionFor([wildcard]: readonly Wildcard[]): string {
  const own = 'urn:example:extension';
  const { namespaces } = wildcard ?? {};
  const [namespace = own] =
    namespaces?.kind === 'list' && !namespaces.list.includes(own) ? namespaces.list : [];
  return namespace === '' ? '<Extension/>' : `<Extension xmlns="${escapeAttribute(namespace)}"/>`;
}

/** Returns the first non-abstract type derived from a type. */
function concreteOf(type: ComplexType): ComplexType | undefined {
  for (const one of type.derived) {
    const concrete = one.abstract ? concreteOf(one) : one;
    if (concrete !== undefined) return concrete;
  }
  return undefined;
}

/** Returns distinct scalar items that start with the given one, as many as the type allows. */
function distinct(item: SchemaType | undefined, one: string, times: number): readonly string[] {
  if (item?.kind === 'simple' && item.facets.enumeration !== undefined)
    return item.facets.enumeration.slice(0, times).map(quoteJson);
  const items = new Set([one]);
  for (let count = 1; items.size < times && count <= times; count++) {
    if (one.startsWith('"')) items.add(`${one.slice(0, -1)}${count}"`);
    else if (/^-?\d+$/.test(one)) items.add(String(BigInt(one) + BigInt(count)));
  }
  return [...items];
}
