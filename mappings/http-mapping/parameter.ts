import type { Refusal } from '../codec/scalars/scalar.ts';
import type { Limits } from '../contract/limits.ts';
import type { DeepLists, Parameter, ParameterStyle, Type } from '../contract/model.ts';
import { type Reason, sentence } from '../contract/reason.ts';
import { type Part, readPart } from '../json/parts.ts';
import { maxParameterCharacters } from '../places.ts';
import { GatheredText } from '../xml/gathered-text.ts';

/** A parameter's JSON value, not null, as text for its place; undefined for nothing, or why it can't stand there. */
export type WriteParameter = (json: string) => string | undefined | Refusal;

/** How a style joins things: RFC 6570, 3.2, as columns, and OpenAPI's own two at the end. */
const styles = {
  simple: { first: '', separator: ',', delimiter: ',', named: false },
  label: { first: '.', separator: '.', delimiter: ',', named: false },
  matrix: { first: ';', separator: ';', delimiter: ',', named: true },
  form: { first: '', separator: '&', delimiter: ',', named: true },
  spaceDelimited: { first: '', separator: '&', delimiter: '%20', named: true },
  pipeDelimited: { first: '', separator: '&', delimiter: '%7C', named: true },
} as const satisfies Record<Exclude<ParameterStyle, 'deepObject' | 'json'>, Joined>;

interface Joined {
  /** Stands before the whole. */
  readonly first: string;
  /** Between items that are exploded. */
  readonly separator: string;
  /** Between items that are not. */
  readonly delimiter: string;
  /** Whether the parameter's name is written too. */
  readonly named: boolean;
}

/** Thrown by the writers below for what a place can't hold, and reported as a refusal. */
export class Unfit extends Error {
  readonly refusal: Refusal;

  constructor(reason: Reason, code: Refusal['code'] = 'InvalidCharacter') {
    super(sentence(reason));
    this.refusal = { code, reason };
  }
}

/**
 * How much may be written: a name stands in the text of each value in it, so that little JSON can come to very much
 * text.
 */
export class Room {
  readonly #most: number;
  #left = 0;

  /** @param most in characters */
  constructor(most: number) {
    this.#most = most;
  }

  /** As at first. */
  clear(): void {
    this.#left = this.#most;
  }

  /** Whether there is room for so much more. */
  holds(length: number): boolean {
    this.#left -= length;
    return this.#left >= 0;
  }

  /** A text that is written. Throws Unfit when it is too much. */
  take(text: string): string {
    if (!this.holds(text.length))
      throw new Unfit(
        { expected: `at most ${this.#most} characters for its place`, got: 'more' },
        'OutOfRange',
      );
    return text;
  }
}

const noNames: ReadonlySet<string> = new Set();

/** Why a member can't go that has the name of another input, or of a part of it. */
export const sameName: Refusal = {
  code: 'InvalidCharacter',
  reason: { expected: 'no member with the name of another input', got: 'one' },
};

/** A name as servers may read it: many don't look at its case, and some take `name[0]` and `name.0` for a part of `name`. */
export function nameFor(name: string): string {
  return (/^[^[.]*/.exec(name)?.[0] || name).toLowerCase();
}

/**
 * What members that stand for themselves can't be called: names of what stands beside them. Of two values of one name a
 * server takes the first, or the last, or both. What the object's own type calls so is its author's to say.
 *
 * @param beside names of the other inputs in that place
 * @param type the object's
 */
export function namesTaken(beside: readonly string[], type: Type | undefined): ReadonlySet<string> {
  const names = new Set(beside.map(nameFor));
  if (type?.kind === 'record') for (const { json } of type.fields) names.delete(nameFor(json));
  return names;
}

/** Characters of a form, or bytes of a multipart body: percent-encoding makes a request three times as long. */
export function maxFormCharacters({ bodyBytesWithBinary, formText }: Limits): number {
  return formText ?? Math.max(48 * 1024 * 1024, 3 * bodyBytesWithBinary);
}

/** One way to write text, so that no separator in it is read as one. */
type Encode = (text: string) => string;

/**
 * @param most maximum number of characters of a value, as JSON and as it is written
 * @param taken names that no member of an exploded object may have, as `namesTaken` has them
 */
export function compileParameter(
  parameter: Parameter,
  limits: Limits,
  most = limits.parameterText ?? maxParameterCharacters,
  taken: ReadonlySet<string> = noNames,
): WriteParameter {
  const room = new Room(most);
  const write = writerOf(parameter, limits, taken, room);
  return (json) => {
    try {
      room.clear();
      room.take(json);
      const text = write(json);
      room.clear();
      return text === undefined ? undefined : room.take(text);
    } catch (error) {
      if (error instanceof Unfit) return error.refusal;
      throw error;
    }
  };
}

function writerOf(
  parameter: Parameter,
  limits: Limits,
  taken: ReadonlySet<string>,
  room: Room,
): (json: string) => string | undefined {
  const { style } = parameter;
  if (style === 'json') return jsonWriter(parameter);
  const write =
    style === 'deepObject'
      ? deepWriter(parameter, room)
      : joinedWriter(parameter, styles[style], taken, room);
  return (json) => {
    const part = readPart(json, limits);
    room.clear();
    return write(part);
  };
}

/** A parameter described by `content`: its JSON, in a header without a character that is none of ASCII. */
function jsonWriter({ in: place, name }: Parameter): (json: string) => string {
  if (place === 'header') return toAscii;
  if (place === 'path') return encodeText;
  return (json) => `${encodeName(name)}=${encodeText(json)}`;
}

function toAscii(json: string): string {
  return json.replaceAll(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function deepWriter(
  { name, allowReserved, deepLists }: Parameter,
  room: Room,
): (part: Part) => string | undefined {
  const encode = urlEncoder(allowReserved, '');
  return (part) => pairsOf(encodeName(name), part, deepLists, encode, room).join('&') || undefined;
}

function joinedWriter(
  parameter: Parameter,
  style: Joined,
  taken: ReadonlySet<string>,
  room: Room,
): (part: Part) => string | undefined {
  const { explode, allowReserved } = parameter;
  const joined = parameter.in === 'cookie' ? { ...style, separator: '; ' } : style;
  const divider = explode ? joined.separator : joined.delimiter;
  const inHeader = parameter.in === 'header';
  const inUrl = (items: string): Encode => {
    const encode = urlEncoder(allowReserved, items);
    return parameter.spansSegments ? (text) => encode(text).replaceAll('%2F', '/') : encode;
  };
  const joining: Joining = {
    joined,
    explode,
    name: encodeName(parameter.name.toWellFormed()),
    encode: inHeader ? headerEncoder(divider) : inUrl(divider),
    single: inHeader ? asIs : inUrl(''),
    taken,
  };
  return (part) => joinPart(part, joining, room);
}

interface Joining {
  readonly joined: Joined;
  readonly explode: boolean;
  readonly name: string;
  /** For text among other text. */
  readonly encode: Encode;
  /** For text that stands alone. */
  readonly single: Encode;
  /** What no member may be called that stands for itself. */
  readonly taken: ReadonlySet<string>;
}

function joinPart(part: Part, joining: Joining, room: Room): string | undefined {
  const { joined, explode, name, encode, single, taken } = joining;
  const { first, separator, delimiter, named } = joined;
  const pair = (key: string, value: string): string =>
    value === '' && first === ';' ? key : `${key}=${value}`;
  const whole = (value: string): string => first + (named ? pair(name, value) : value);
  if (part.kind === 'null') return undefined;
  if (part.kind === 'text') return whole(single(part.text));
  if (part.kind === 'list') {
    const items = part.items.map((item) => encode(textOf(item)));
    if (items.length === 0) return undefined;
    if (!explode) return whole(items.join(delimiter));
    return first + items.map((item) => (named ? pair(name, item) : item)).join(separator);
  }
  const members = part.members.filter(([, member]) => member.kind !== 'null');
  if (members.length === 0) return undefined;
  if (!explode) {
    const texts = members.flatMap(([key, member]) => [encode(key), encode(textOf(member))]);
    return whole(texts.join(delimiter));
  }
  const pairs = members.flatMap(([key, member]) => {
    const encoded = keyOf(key, encode, taken);
    return itemsOf(member, named).map((item) => room.take(pair(encoded, encode(textOf(item)))));
  });
  return first + pairs.join(separator);
}

function keyOf(key: string, encode: Encode, taken: ReadonlySet<string>): string {
  if (taken.has(nameFor(key))) throw new Unfit(sameName.reason);
  const encoded = encode(key);
  if (encoded.includes('=')) throw new Unfit({ expected: 'no "=" in the name of a member', got: 'one' });
  return encoded;
}

/** The items of a list whose names are repeated; of everything else, itself. */
function itemsOf(part: Part, repeats: boolean): readonly Part[] {
  return repeats && part.kind === 'list' ? part.items : [part];
}

/** The text of an item; of a list or an object in another one, which no style but deepObject has a form for, the JSON. */
function textOf(part: Part): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'null') throw new Unfit(noItem.reason);
  return part.json;
}

/** Why an item of a list can't go of which nothing would be written: those behind it would be others, or it the end. */
export const noItem: Refusal = {
  code: 'InvalidCharacter',
  reason: { expected: 'a value for each item of the list', got: 'none' },
};

/** Why a member within another can't go: `a][b` would be read as one of `a`, and no name as a list's item. */
const noStep: Reason = {
  expected: 'the name of a member within another to be some text without brackets',
  got: 'another',
};

/** The brackets of a name in a URL, where RFC 3986 §3.4 excludes them. */
const encodedBrackets: Brackets = ['%5B', '%5D'];

/** `name[member]=…`, `name[0]=…` or `name[]=…` for each text in a value, the brackets percent-encoded. */
export function pairsOf(name: string, part: Part, lists: DeepLists, encode: Encode, room: Room): string[] {
  const pairs: string[] = [];
  const use = (whole: string, text: string): boolean => {
    pairs.push(room.take(`${whole}=${encode(text)}`));
    return true;
  };
  everyText(name, part, lists, encodeText, use, encodedBrackets);
  return pairs;
}

/** What opens and what closes a step of a name. */
type Brackets = readonly [open: string, close: string];

/**
 * Hands each text in a value on, however deep it lies, with its name: `name[member]`, `name[0]` or `name[]` and so on, as qs
 * and Rails read it. A null is left out: it has no form here. Throws Unfit for an item of a list that holds no text, and
 * for a member whose name would be read as several, or as an item's: readers look for brackets once all is decoded.
 *
 * @param use returns whether to go on
 * @returns whether all was handed on
 */
export function everyText(
  name: string,
  part: Part,
  lists: DeepLists,
  encodeKey: Encode,
  use: (name: string, text: string) => boolean,
  brackets: Brackets = ['[', ']'],
): boolean {
  switch (part.kind) {
    case 'null':
      return true;
    case 'text':
      return use(name, part.text);
    case 'list':
      return everyItem(name, part.items, lists, encodeKey, use, brackets);
    case 'object':
      return part.members.every(([key, member]) => {
        if (key === '' || /[[\]]/.test(key)) throw new Unfit(noStep);
        const [open, close] = brackets;
        return everyText(`${name}${open}${encodeKey(key)}${close}`, member, lists, encodeKey, use, brackets);
      });
  }
}

/** `everyText` of a list. */
function everyItem(
  name: string,
  items: readonly Part[],
  lists: DeepLists,
  encodeKey: Encode,
  use: (name: string, text: string) => boolean,
  brackets: Brackets,
): boolean {
  const [open, close] = brackets;
  const useNext = lists === 'bare' ? telling(use) : undefined;
  return items.every((item, index) => {
    if (!holdsText(item)) throw new Unfit(noItem.reason);
    const itemName = `${name}${open}${useNext === undefined ? index : ''}${close}`;
    return everyText(itemName, item, lists, encodeKey, useNext?.() ?? use, brackets);
  });
}

/** Whether there is a text in a part; the items of a list are asked for themselves. */
function holdsText(part: Part): boolean {
  if (part.kind === 'object') return part.members.some(([, member]) => holdsText(member));
  return part.kind === 'list' ? part.items.length > 0 : part.kind === 'text';
}

/**
 * What uses the texts of each item of a list without numbers. A reader takes a name that an item has already for the next
 * item's, and any other for that item's own: what would be read as another list is refused.
 */
function telling(use: (name: string, text: string) => boolean): () => typeof use {
  let names: Set<string> | undefined;
  return () => {
    const before = names;
    const own = new Set<string>();
    names = own;
    return (whole, text) => {
      if (own.size === 0 ? before?.has(whole) === false : own.has(whole))
        throw new Unfit({ expected: 'items that can be told apart without numbers', got: 'others' });
      own.add(whole);
      return use(whole, text);
    };
  };
}

/** Why a text can't go that has half a surrogate pair, which UTF-8 has no bytes for. */
export const halfCharacter: Refusal = {
  code: 'InvalidCharacter',
  reason: { expected: 'whole characters', got: 'half of one' },
};

/** Percent-encoded for a URL. Throws Unfit for half a surrogate pair. */
export function encodeText(text: string): string {
  if (!text.isWellFormed()) throw new Unfit(halfCharacter.reason);
  return encodeURIComponent(text);
}

/** A name keeps the dollar sign that services have in theirs; RFC 3986 §3.4 allows it, but no brackets. */
export function encodeName(name: string): string {
  if (name.length <= 256) return encodeText(name).replace(/%24/g, '$$');
  longName ??= new GatheredText();
  let from = 0;
  for (let at = 0; at <= name.length; at++) {
    const code = name.charCodeAt(at);
    if (at < name.length && code !== 36) continue;
    const encoded = at === from ? '' : encodeText(name.slice(from, at));
    longName.add(encoded, 0, encoded.length);
    longName.add(name, at, Math.min(at + 1, name.length));
    from = at + 1;
  }
  return longName.take();
}

/** What long names are encoded in: by patterns each dollar sign would take 100 ns. */
let longName: GatheredText | undefined;

/**
 * Reserved characters (RFC 3986, 2.2) that a query may have (3.4), end nothing and mean no blank: the rest stays encoded
 * whatever is allowed.
 */
const reserved = /%(?:3A|2F|3F|40|24|2C|3B|3D)/g;

/** @param divider what stands between items, and so in no item; `''` for text that stands alone */
function urlEncoder(allowReserved: boolean, divider: string): Encode {
  return (text) => {
    if (divider === '%20' && text.includes(' '))
      throw new Unfit({ expected: 'no blank in an item of a list that blanks divide', got: 'one' });
    if (divider === '%7C' && text.includes('|'))
      throw new Unfit({ expected: 'no "|" in an item of a list that bars divide', got: 'one' });
    const encoded = encodeText(text);
    if (divider === '.') return encoded.replaceAll('.', '%2E');
    if (!allowReserved) return encoded;
    return encoded.replaceAll(reserved, (encodedLetter) => {
      const letter = decodeURIComponent(encodedLetter);
      return letter === divider || (letter === '=' && divider !== '') ? encodedLetter : letter;
    });
  };
}

/** In a header nothing is encoded: an item that holds what divides items can't go. */
function headerEncoder(divider: string): Encode {
  return (text) => {
    if (text.includes(divider))
      throw new Unfit({ expected: `no "${divider}" in an item of a header's list`, got: 'one' });
    return text;
  };
}

function asIs(text: string): string {
  return text;
}
