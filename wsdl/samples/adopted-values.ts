import { withHeaders } from '../../mappings/codec/adopted/compile.ts';
import {
  attributeMembers,
  contentMembers,
  isInnerXml,
  isMixed,
  loneMember,
  type Member,
  type Members,
  substituteMembers,
  valueNameOf,
} from '../../mappings/codec/adopted/members.ts';
import { patternOf } from '../../mappings/codec/adopted/patterns.ts';
import type { SimpleOf } from '../../mappings/codec/adopted/simple-types.ts';
import { startReading } from '../../mappings/codec/problem.ts';
import { escapeAttribute, quoteJson } from '../../mappings/codec/scalars/text.ts';
import { anyType } from '../../mappings/contract/built-in-types.ts';
import type {
  AdoptedMessage,
  AdoptedService,
  AttributeUse,
  BuiltIn,
  ComplexType,
  ElementDeclaration,
  Facets,
  SchemaType,
  SimpleType,
  Wildcard,
} from '../../mappings/contract/schema-components.ts';
import { xmlNamespace } from '../../mappings/xml/namespaces.ts';
import { ofLength, textsOfPattern } from './plain-values.ts';

/** As those of ordinary contracts. */
const deepest = 4;
const largest = 400;
const deepestRequired = 24;
const largestRequired = 4_000;

/** What values of an adopted service are sampled with. */
export interface AdoptedValuesContext {
  readonly service: AdoptedService;
  /** The codecs of simple types that look at facets too. */
  readonly simpleOf: SimpleOf;
  /** The placeholders of credentials in header blocks, by `{block}.{path}`. */
  readonly credentials: ReadonlyMap<string, string>;
}

/** The JSON of a message with its declared header blocks (A7, A8). */
export interface AdoptedValue {
  readonly json: string;
  /** The names of the credentials that the header blocks hold. */
  readonly credentials: ReadonlySet<string>;
}

/** Makes the JSON of a message. @param optional whether optional members are in it */
export function adoptedValue(
  context: AdoptedValuesContext,
  message: AdoptedMessage,
  optional: boolean,
): AdoptedValue {
  const values = new AdoptedValues(context, optional);
  const json = values.message(message);
  return { json, credentials: values.placed };
}

class AdoptedValues {
  readonly #context: AdoptedValuesContext;
  readonly #optional: boolean;
  /** The block that is being written, and where in it. */
  readonly #path: string[] = [];
  /** The credentials that were written so far. */
  readonly placed = new Set<string>();
  #count = 0;

  constructor(context: AdoptedValuesContext, optional: boolean) {
    this.#context = context;
    this.#optional = optional;
  }

  message({ body, headers }: AdoptedMessage): string {
    const blocks = headers.map((element) => {
      this.#path.push(element.name.local);
      const value = this.#element(element, true, 1);
      this.#path.pop();
      return `${quoteJson(element.name.local)}:${value}`;
    });
    return withHeaders(this.#body(body), blocks);
  }

  #body(body: AdoptedMessage['body']): string {
    if (body.kind === 'empty') return '{}';
    if (body.kind === 'element') return this.#element(body.element, false, 1);
    const parts = body.parts.map((part) => `${quoteJson(part.name.local)}:${this.#element(part, true, 2)}`);
    return `{${parts.join(',')}}`;
  }

  #element({ type, name, value }: ElementDeclaration, once: boolean, depth: number): string {
    const isOwn = value?.kind === 'fixed' || this.#placeholder() === undefined;
    if (type.kind === 'simple' && value !== undefined && isOwn) {
      const token = this.#tokenOf(type, value.text);
      if (token !== undefined) return token;
    }
    return this.#value(type, once, depth, name.local);
  }

  #value(type: SchemaType, once: boolean, depth: number, called: string): string {
    this.#count++;
    if (type.kind === 'simple') return this.#simple(type, called);
    if (type === anyType) return '"text"';
    const { content } = type;
    if (content.kind === 'encodedArray') {
      if (content.dimensions > 1) return 'null';
      return this.#isFull(depth) ? '[]' : `[${this.#value(content.item, false, depth + 1, called)}]`;
    }
    if (content.kind === 'map') return '{"key":"text"}';
    if (isInnerXml(type)) return '"text"';
    const lone = once ? loneMember(type) : undefined;
    if (lone !== undefined)
      return this.#isFull(depth) && !lone.required ? '[]' : `[${this.#oneOf(lone, depth + 1)}]`;
    if (!type.abstract) return this.#record(type, depth, undefined);
    const concrete = concreteOf(type);
    return concrete === undefined
      ? '{}'
      : this.#record(concrete, depth, this.#context.service.typeNames.get(concrete));
  }

  #isFull(depth: number): boolean {
    return depth >= deepest || this.#count >= largest || !this.#optional;
  }

  #record(type: ComplexType, depth: number, said: string | undefined): string {
    const { content, attributes } = type;
    const members = contentMembers(content);
    const named = attributeMembers(attributes, members.members);
    const made: string[] = said === undefined ? [] : [`"@type":${quoteJson(said)}`];
    for (const { json, use } of named) {
      if (!use.required && !this.#optional) continue;
      made.push(`${quoteJson(json)}:${this.#attribute(use, json)}`);
    }
    const valueName = valueNameOf(named);
    if (isMixed(content)) made.push(`${quoteJson(valueName)}:"text"`);
    else if (content.kind === 'text') {
      this.#path.push(valueName);
      made.push(`${quoteJson(valueName)}:${this.#simple(content.type, valueName)}`);
      this.#path.pop();
    } else for (const member of this.#members(members, depth)) made.push(member);
    return `{${made.join(',')}}`;
  }

  #attribute({ type, value }: AttributeUse, json: string): string {
    this.#path.push(json);
    const isOwn = value?.kind === 'fixed' || this.#placeholder() === undefined;
    const token = value !== undefined && isOwn ? this.#tokenOf(type, value.text) : undefined;
    const made = token ?? this.#simple(type, json);
    this.#path.pop();
    return made;
  }

  /** The placeholder of the credential that is being written; undefined for any other value. */
  #placeholder(): string | undefined {
    const path = this.#path.join('.');
    const placeholder = this.#context.credentials.get(path);
    if (placeholder !== undefined) this.placed.add(path);
    return placeholder;
  }

  /** The members of a content; of a choice those of its first branch that has any. */
  #members({ members, choices }: Members, depth: number): readonly string[] {
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
      if (left.has(index) || !this.#isWanted(member, isChosen(index), depth)) return [];
      this.#path.push(member.json);
      const one = this.#oneOf(member, depth + 1);
      this.#path.pop();
      const isFields = member.kind === 'any' && member.fieldsOf !== undefined;
      return [`${quoteJson(member.json)}:${member.repeats && !isFields ? `[${one}]` : one}`];
    });
  }

  #isWanted(member: Member, isChosen: boolean, depth: number): boolean {
    if (member.required || isChosen) return depth < deepestRequired && this.#count < largestRequired;
    if (!this.#optional || this.#count >= largest || member.kind === 'any') return false;
    const isSmall = member.kind === 'element' && member.element.type.kind === 'simple';
    return isSmall || depth < deepest;
  }

  #oneOf(member: Member, depth: number): string {
    switch (member.kind) {
      case 'any':
        return member.fieldsOf === undefined
          ? quoteJson(extensionFor(member.wildcards))
          : '{"Extension":"text"}';
      case 'rounds':
        return `{${this.#members(member.content, depth).join(',')}}`;
      case 'element': {
        if (member.element.substitutes.length === 0)
          return this.#element(member.element, !member.repeats, depth);
        const [first] = substituteMembers(member.element);
        if (first === undefined) return '{}';
        return `{${quoteJson(first.json)}:${this.#element(first.element, !member.repeats, depth)}}`;
      }
    }
  }

  #simple(type: SimpleType, called: string): string {
    const placeholder = this.#placeholder();
    const texts = [...(placeholder === undefined ? [] : [placeholder]), ...candidatesOf(type, called)];
    const tokens = texts.flatMap((text) => this.#tokenOf(type, text) ?? []);
    const { judge } = this.#context.simpleOf(type);
    const isWithin = (token: string): boolean => {
      const reading = startReading(1);
      judge?.(token, reading);
      return reading.problems.length === 0;
    };
    return tokens.find(isWithin) ?? tokens[0] ?? '""';
  }

  /** A text of XML as JSON; undefined where it isn't of the type. */
  #tokenOf(type: SimpleType, text: string): string | undefined {
    const token = this.#context.simpleOf(type).fromXml(text, namespaceOf);
    return typeof token === 'string' ? token : undefined;
  }
}

/** The namespace of a prefix that needs no declaration. */
function namespaceOf(prefix: string): string | undefined {
  return prefix === 'xml' ? xmlNamespace : undefined;
}

/** An element that a wildcard takes. */
function extensionFor([wildcard]: readonly Wildcard[]): string {
  const own = 'urn:example:extension';
  const { namespaces } = wildcard ?? {};
  const [namespace = own] =
    namespaces?.kind === 'list' && !namespaces.list.includes(own) ? namespaces.list : [];
  return namespace === '' ? '<Extension/>' : `<Extension xmlns="${escapeAttribute(namespace)}"/>`;
}

/** A type that isn't abstract and derived from one. */
function concreteOf(type: ComplexType): ComplexType | undefined {
  for (const one of type.derived) {
    const concrete = one.abstract ? concreteOf(one) : one;
    if (concrete !== undefined) return concrete;
  }
  return undefined;
}

const samples: { readonly [name in BuiltIn]?: string } = {
  boolean: 'true',
  decimal: '1.5',
  float: '1.5',
  double: '1.5',
  duration: 'P1DT12H',
  dateTime: '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  date: '2026-01-31',
  gYearMonth: '2026-01',
  gYear: '2026',
  gMonthDay: '--01-31',
  gDay: '---31',
  gMonth: '--01',
  hexBinary: '000102',
  base64Binary: 'AAEC',
  anyURI: 'https://www.example.com/',
  language: 'en-GB',
  negativeInteger: '-1',
  nonPositiveInteger: '-1',
  QName: 'xml:lang',
  Name: 'name',
  NCName: 'name',
  ID: 'id1',
  IDREF: 'id1',
};

/** Texts for a type, the likeliest first; the codec and the facets say which of them are of it. */
function candidatesOf(type: SimpleType, called: string): readonly string[] {
  const { facets, variety, builtIn } = type;
  if (facets.enumeration !== undefined) return facets.enumeration;
  if (variety.kind === 'union') return variety.members.flatMap((member) => candidatesOf(member, called));
  if (variety.kind === 'list') {
    const items = candidatesOf(variety.item, called).slice(0, 2);
    const { length = facets.minLength ?? 1 } = facets;
    return items.map((item) => new Array(Math.min(Math.max(length, 1), 32)).fill(item).join(' '));
  }
  const { minLength, length, maxLength } = facets;
  const sample = samples[builtIn];
  const bounds = boundsOf(facets);
  if (sample !== undefined) return [sample, ...bounds];
  const patterns = facets.patterns.flatMap((alternatives) => {
    const source = patternOf(alternatives);
    return source === undefined ? [] : textsOfPattern(source);
  });
  const text = isText(builtIn) ? 'text' : '1';
  const sized = [length ?? minLength ?? 0, length ?? maxLength] as const;
  return [...patterns, ...(isText(builtIn) ? [ofLength(text, ...sized)] : []), text, ...bounds, '0', '10'];
}

function isText(builtIn: BuiltIn): boolean {
  return /string|token|^any|NMTOKEN|Name|ENTIT|IDREFS|NOTATION/i.test(builtIn);
}

function boundsOf({ minInclusive, maxInclusive, minExclusive, maxExclusive }: Facets): readonly string[] {
  const inner = [minInclusive, maxInclusive].filter((bound) => bound !== undefined);
  const beside = [
    [minExclusive, 1],
    [maxExclusive, -1],
  ] as const;
  return [
    ...inner,
    ...beside.flatMap(([bound, step]) =>
      bound !== undefined && /^-?\d{1,15}$/.test(bound) ? [String(Number(bound) + step)] : [],
    ),
  ];
}
