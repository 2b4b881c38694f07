import { canMatchPatterns, linearPattern } from '../../mappings/codec/scalars/pattern.ts';
import { type Scalars, scalarTable } from '../../mappings/codec/scalars/table.ts';
import { quoteJson } from '../../mappings/codec/scalars/text.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import {
  type Contract,
  type Field,
  fileMembers,
  type RecordType,
  type Rules,
  type ScalarName,
  type Type,
  type UnionType,
} from '../../mappings/contract/model.ts';
import { itemsOf, membersOf } from '../../mappings/json/parts.ts';
import { textOfPattern } from './pattern-text.ts';
import { placeholderOf } from './placeholders.ts';

/** Members that need not be there are left out below so many levels: types may be recursive, a sample is to be read. */
const deepest = 4;
/** The same once a sample has so many values: records that hold many of one another would have millions. */
const largest = 400;
/** What a request must have stands down to here, and up to so many values. */
const deepestRequired = 24;
const largestRequired = 4_000;

/** The direction that a sample goes in. */
export type Side = 'request' | 'reply';

/** What values of an ordinary contract are sampled with. */
export interface PlainContext {
  readonly contract: Contract;
  readonly scalars: Scalars;
  /** Whether a value's JSON is one that the gateway takes in a place of the type. */
  readonly accepts: (type: Type, rules: Rules | undefined, json: string) => boolean;
  readonly limits: Limits;
}

/** How much of members that need not be there a sample has: the first that the gateway takes is shown. */
export interface Extent {
  /** The document's own examples. */
  readonly examples: boolean;
  /** Members that need not be there. */
  readonly optional: boolean;
}

/** A message of which a value is made. */
export interface Place {
  readonly side: Side;
  readonly extent: Extent;
  /** The media types that the document states for parts of a multipart body, by the parts' names. */
  readonly partTypes: ReadonlyMap<string, string>;
  /** The input that goes upstream as a sequence of values, so that it is a list whatever its type. */
  readonly sequence: string | undefined;
}

/** A value of a type as JSON, for one sample. */
export function plainValue(context: PlainContext, type: Type, place: Place, example?: string): string {
  const values = new PlainValues(context, place);
  const made = example === undefined ? undefined : values.fromExample(type, undefined, example, 1);
  return made ?? values.value(type, undefined, 1);
}

class PlainValues {
  readonly #context: PlainContext;
  readonly #side: Side;
  readonly #extent: Extent;
  readonly #partTypes: Place['partTypes'];
  readonly #sequence: string | undefined;
  /** The media type of the part that is being written. */
  #partType: string | undefined;
  #count = 0;

  constructor(context: PlainContext, { side, extent, partTypes, sequence }: Place) {
    this.#context = context;
    this.#side = side;
    this.#extent = extent;
    this.#partTypes = partTypes;
    this.#sequence = sequence;
  }

  value(type: Type, rules: Rules | undefined, depth: number, called = ''): string {
    this.#count++;
    switch (type.kind) {
      case 'scalar':
        return this.#scalar(type, rules, called);
      case 'enum':
        return this.#first(type, rules, type.values.map(quoteJson)) ?? '""';
      case 'record':
        return this.#record(type, depth);
      case 'union':
        return this.#union(type, depth);
      case 'tuple':
        return `[${type.positions.map((item) => this.value(item.type, item.rules, depth + 1)).join(',')}]`;
      case 'array':
        return this.#array(type.item, rules, depth, called);
      case 'map': {
        const value = this.#isFull(depth) ? undefined : this.value(type.value, rules?.values, depth + 1);
        return value === undefined ? '{}' : `{"key":${value}}`;
      }
    }
  }

  #isFull(depth: number): boolean {
    return depth >= deepest || this.#count >= largest || !this.#extent.optional;
  }

  #array(item: Type, rules: Rules | undefined, depth: number, called: string): string {
    const asked = rules?.checks.find((check) => check.kind === 'items');
    const least = asked?.kind === 'items' ? asked.least : 0;
    if (least === 0 && this.#isFull(depth) && item.kind !== 'scalar') return '[]';
    const one = this.value(item, rules?.items, depth + 1, called);
    const isUnique = rules?.checks.some((check) => check.kind === 'unique') === true;
    const times = Math.min(Math.max(least, 1), 32);
    if (!isUnique || times === 1) return `[${new Array(times).fill(one).join(',')}]`;
    return `[${distinct(item, one, times).join(',')}]`;
  }

  #record(
    type: RecordType,
    depth: number,
    tag?: { readonly member: string; readonly value: string },
    examples?: ReadonlyMap<string, string>,
  ): string {
    const { responseStatus } = this.#context.contract;
    if (type === responseStatus) return '{}'; // with an error's code in it the reply would be an error (W30)
    const members: string[] = [];
    for (const field of type.fields) {
      const json =
        field.json === tag?.member
          ? tag.value
          : examples === undefined
            ? this.#field(field, depth)
            : this.#fieldOf(field, examples.get(field.json), depth);
      if (json !== undefined) members.push(`${quoteJson(field.json)}:${json}`);
    }
    if (tag !== undefined && !type.fields.some(({ json }) => json === tag.member))
      members.unshift(`${quoteJson(tag.member)}:${tag.value}`);
    return `{${members.join(',')}}`;
  }

  #isNeeded({ required, promised }: Field): boolean {
    return this.#side === 'request' ? required : promised === true;
  }

  /** A member's value of an object's example; a member that the example lacks is there only if it is needed. */
  #fieldOf(field: Field, example: string | undefined, depth: number): string | undefined {
    const isLeftOut = !this.#isNeeded(field) && (this.#isElsewhere(field) || !this.#extent.optional);
    if (example === undefined || isLeftOut)
      return this.#isNeeded(field) ? this.#field(field, depth) : undefined;
    return (
      this.fromExample(field.type, field.rules, example, depth + 1) ??
      (this.#isNeeded(field) ? this.#field(field, depth) : undefined)
    );
  }

  /** The document's example where the gateway takes it, else as much of it as it takes; undefined for none of it. */
  fromExample(type: Type, rules: Rules | undefined, example: string, depth: number): string | undefined {
    const { accepts, limits } = this.#context;
    const isTaken = accepts(type, rules, example);
    if (type.kind === 'array' && !isTaken) {
      const items = (itemsOf(example, limits) ?? []).flatMap(
        (item) => this.fromExample(type.item, rules?.items, item, depth + 1) ?? [],
      );
      return items.length === 0 ? undefined : `[${items.join(',')}]`;
    }
    const members = type.kind === 'record' ? membersOf(example, limits) : undefined;
    if (type.kind !== 'record' || members === undefined) return isTaken ? example : undefined;
    const known = new Map(members);
    const isWhole =
      isTaken && !type.fields.some((field) => known.has(field.json) && this.#isElsewhere(field));
    return isWhole && this.#extent.optional ? example : this.#record(type, depth, undefined, known);
  }

  /** A member's value; undefined where it is left out. */
  #field(field: Field, depth: number): string | undefined {
    const { type, rules = usable(field.hints), allowed, json, words } = field;
    if (!this.#isNeeded(field)) {
      if (this.#isElsewhere(field)) return undefined;
      const isSmall = type.kind === 'scalar' || type.kind === 'enum';
      if (!this.#extent.optional || this.#count >= largest || (!isSmall && depth >= deepest))
        return undefined;
    } else if (depth >= deepestRequired || this.#count >= largestRequired) return undefined;
    const { credentials } = this.#context.contract;
    if (json === credentials?.member && type.kind === 'record' && depth === 1) return this.#credentials(type);
    const { example } = field;
    const made =
      this.#extent.examples && example !== undefined
        ? this.fromExample(type, field.rules, example, depth + 1)
        : undefined;
    if (made !== undefined && (allowed === undefined || allowed.some((value) => quoteJson(value) === made)))
      return made;
    if (allowed !== undefined && type.kind === 'enum')
      return this.#first(type, rules, allowed.map(quoteJson)) ?? '""';
    const isOpen = type.kind === 'scalar' && type.scalar === 'json';
    if (isOpen && depth === 1 && json === this.#sequence) return '[{}]';
    const around = this.#partType;
    this.#partType = this.#partTypes.get(json) ?? around;
    const value = this.value(type, rules, depth + 1, words === undefined ? json : `${json} ${words.facts}`);
    this.#partType = around;
    return value;
  }

  /** What the service alone writes isn't in a request, what callers alone write in no reply. */
  #isElsewhere({ rules, words }: Field): boolean {
    if (this.#side === 'reply') return words?.facts.includes('Write only.') === true;
    const isReadOnly = rules?.checks.some(({ kind }) => kind === 'readOnly') === true;
    return isReadOnly || words?.facts.includes('Read only.') === true;
  }

  /** Placeholders for what the caller knows. */
  #credentials(type: RecordType): string {
    const parts = this.#context.contract.credentials?.parts ?? [];
    const members = type.fields
      .filter(({ json }) => parts.some(({ name }) => name === json))
      .map(({ json }) => `${quoteJson(json)}:${quoteJson(placeholderOf(json))}`);
    return `{${members.join(',')}}`;
  }

  #union({ variants }: UnionType, depth: number): string {
    // JSON of any type may be taken for another variant
    const scalar = variants.find(
      ({ type }) => type.kind === 'enum' || (type.kind === 'scalar' && type.scalar !== 'json'),
    );
    const variant = depth >= deepest ? (scalar ?? variants[0]) : variants[0];
    if (variant === undefined) return 'null';
    const { type, tag, rules } = variant;
    const [value] = tag?.values ?? [];
    if (type.kind === 'record' && tag !== undefined && value !== undefined)
      return this.#record(type, depth, { member: tag.member, value });
    return this.value(type, rules, depth);
  }

  #scalar(type: Extract<Type, { kind: 'scalar' }>, rules: Rules | undefined, called: string): string {
    const candidates = [...this.#ofPart(called), ...candidatesOf(type.scalar, rules, called)];
    const tokens = candidates.flatMap((text) => {
      const token = this.#context.scalars[type.scalar].fromXml(text);
      return typeof token === 'string' ? [token] : [];
    });
    const values = rules?.checks.flatMap((check) => (check.kind === 'values' ? check.tokens : [])) ?? [];
    return this.#first(type, rules, [...values, ...tokens]) ?? '""';
  }

  /** The name and the media type of a file in a part, as the document states them. */
  #ofPart(called: string): readonly string[] {
    const type = this.#partType;
    if (type === undefined) return [];
    if (called === fileMembers.contentType) return [type];
    const extension = /\/([a-z\d]{2,5})$/.exec(type)?.[1] ?? 'bin';
    return called === fileMembers.fileName ? [`sample.${extension}`] : [];
  }

  /** The first value that the gateway takes; without one the first. */
  #first(type: Type, rules: Rules | undefined, tokens: readonly string[]): string | undefined {
    if (rules === undefined) return tokens[0];
    return tokens.find((token) => this.#context.accepts(type, rules, token)) ?? tokens[0];
  }
}

/** Hints without patterns that no engine here matches in linear time. */
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

/** Texts for strings by what they are called, the first that fits. */
const byName: readonly (readonly [RegExp, string])[] = [
  [/(?:content|media)_?type\b|mime/i, 'application/octet-stream'],
  [/file_?name\b/i, 'sample.bin'],
  [/e-?mail/i, 'jane.doe@example.com'],
  [/phone|mobile|fax/i, '+44 20 7946 0958'],
  [/(?:uri|url|href|link|website|homepage)\b/i, 'https://www.example.com/'],
  [/currency/i, 'EUR'],
  [/country/i, 'GB'],
  [/language|locale|culture/i, 'en-GB'],
  [/post(?:al)?_?code|zip/i, 'SW1A 1AA'],
  [/(?:city|town)\b/i, 'London'],
  [/street|address_?line/i, '1 High Street'],
  [/first_?name|fore_?name|given_?name/i, 'Jane'],
  [/last_?name|sur_?name|family_?name/i, 'Doe'],
];

const byFormat: Readonly<Record<string, string>> = {
  uuid: '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  hostname: 'www.example.com',
  email: 'jane.doe@example.com',
  uri: 'https://www.example.com/',
  time: '12:00:00Z',
  duration: 'P1DT12H',
};

/** Texts in XML for a scalar, the likeliest first. */
function candidatesOf(scalar: ScalarName, rules: Rules | undefined, called: string): readonly string[] {
  const { sample, json } = scalarTable[scalar];
  if (json === 'integer' || json === 'number') return [sample, ...numbersOf(rules), '0', '1', '2', '10'];
  if (scalar !== 'string') return [sample];
  const [name = '', ...facts] = called.split(' ');
  const texts = [byName.find(([pattern]) => pattern.test(name))?.[1] ?? sample];
  const format = /(?:^| )Format: ([\w-]+)\./.exec(facts.join(' '))?.[1];
  if (format !== undefined && byFormat[format] !== undefined) texts.unshift(byFormat[format]);
  for (const check of rules?.checks ?? []) {
    if (check.kind === 'format') texts.unshift(byFormat[check.name] ?? sample);
    if (check.kind === 'pattern') texts.unshift(...textsOfPattern(check.source));
  }
  for (const check of rules?.checks ?? []) {
    if (check.kind !== 'length') continue;
    const { least, most } = check;
    // a text of a pattern with a repeat matches it when it is longer, too
    texts.push(ofLength(sample, least, most), ...texts.map((text) => repeated(text, least, most)));
  }
  return texts;
}

/** A text as often as it takes to have the least length. */
function repeated(text: string, least: number, most: number | undefined): string {
  const times = Math.ceil(Math.min(least, 10_000) / Math.max(text.length, 1));
  return text.repeat(Math.max(times, 1)).slice(0, most);
}

/** A text that a pattern takes, checked by the engine that requests are checked by. */
export function textsOfPattern(source: string): readonly string[] {
  if (!canMatchPatterns()) return [];
  const text = textOfPattern(source);
  return text !== undefined && linearPattern(source)?.matcher(text).find() === true ? [text] : [];
}

/** A text of as many characters as are asked for. */
export function ofLength(text: string, least: number, most: number | undefined): string {
  const cut = most === undefined ? text : text.slice(0, most);
  return cut.padEnd(Math.min(least, 10_000), 'x');
}

/** Numbers at, beside and between the bounds, and multiples of a factor there. */
function numbersOf(rules: Rules | undefined): readonly string[] {
  const checks = rules?.checks ?? [];
  const bounds = checks.flatMap((check) => (check.kind === 'bound' ? [Number(check.number)] : []));
  const factors = checks.flatMap((check) => (check.kind === 'multipleOf' ? [Number(check.number)] : []));
  const beside = checks.flatMap((check) => {
    if (check.kind === 'multipleOf') return [check.number];
    if (check.kind !== 'bound') return [];
    const bound = Number(check.number);
    return check.bound === 'minimum' || check.bound === 'maximum'
      ? [check.number]
      : [String(check.bound === 'exclusiveMinimum' ? bound + 1 : bound - 1), String(bound / 2)];
  });
  const middle = bounds.length < 2 ? [] : [(Math.min(...bounds) + Math.max(...bounds)) / 2];
  const multiples = factors.flatMap((factor) =>
    bounds.flatMap((bound) => [
      Math.ceil(bound / factor) * factor,
      Math.floor(bound / factor) * factor,
      (Math.floor(bound / factor) + 1) * factor,
    ]),
  );
  return [...beside, ...[...middle, ...multiples].map(String)].filter((text) =>
    /^-?\d+(?:\.\d+)?$/.test(text),
  );
}

/** Items that differ, of a scalar whose first sample is given; as many as that allows. */
function distinct(item: Type, one: string, times: number): readonly string[] {
  if (item.kind === 'enum') return item.values.slice(0, times).map(quoteJson);
  const items = new Set([one]);
  for (let count = 1; items.size < times && count <= times; count++) {
    if (one.startsWith('"')) items.add(`${one.slice(0, -1)}${count}"`);
    else if (/^-?\d+$/.test(one)) items.add(String(BigInt(one) + BigInt(count)));
  }
  return [...items];
}
