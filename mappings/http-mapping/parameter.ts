import type { Refusal } from '../codec/scalars/scalar.ts';
import type { Limits } from '../contract/limits.ts';
import type { DeepLists, Parameter, ParameterStyle, Type } from '../contract/model.ts';
import { type Reason, sentence } from '../contract/reason.ts';
import { type Part, readPart } from '../json/parts.ts';
import { maxParameterCharacters } from '../places.ts';
import { GatheredText } from '../xml/gathered-text.ts';

/**
 * Writes a parameter's JSON value, not null, as text for its position. Returns undefined for no value, or the reason to
 * refuse it.
 */
export type WriteParameter = (json: string) => string | undefined | Refusal;

/** The parts of each style: the columns of RFC 6570, 3.2, and OpenAPI's own two styles at the end. */
const styles = {
  simple: { first: '', separator: ',', delimiter: ',', named: false },
  label: { first: '.', separator: '.', delimiter: ',', named: false },
  matrix: { first: ';', separator: ';', delimiter: ',', named: true },
  form: { first: '', separator: '&', delimiter: ',', named: true },
  spaceDelimited: { first: '', separator: '&', delimiter: '%20', named: true },
  pipeDelimited: { first: '', separator: '&', delimiter: '%7C', named: true },
} as const satisfies Record<Exclude<ParameterStyle, 'deepObject' | 'json'>, Joined>;

interface Joined {
  /** The prefix of the whole text. */
  readonly first: string;
  /** Separator of exploded items. */
  readonly separator: string;
  /** Separator of other items. */
  readonly delimiter: string;
  /** True if the parameter's name is written too. */
  readonly named: boolean;
}

/** Thrown by the writers below for a value that is invalid at its position. It is reported as a refusal. */
export class Unfit extends Error {
  readonly refusal: Refusal;

  constructor(reason: Reason, code: Refusal['code'] = 'InvalidCharacter') {
    super(sentence(reason));
    this.refusal = { code, reason };
  }
}

/**
 * Limits the length of written text. Each nested value repeats the names of its parents, so a little JSON may become
 * much text.
 */
export class TextBudget {
  readonly #most: number;
  #left = 0;

  /** @param most maximum number of characters */
  constructor(most: number) {
    this.#most = most;
  }

  /** Resets the count. */
  clear(): void {
    this.#left = this.#most;
  }

  /** Counts characters. Returns false if the limit is exceeded. */
  holds(length: number): boolean {
    this.#left -= length;
    return this.#left >= 0;
  }

  /** Counts a text and returns it. Throws Unfit if the limit is exceeded. */
  take(text: string): string {
    if (!this.holds(text.length))
      throw new Unfit(
        { expected: `at most ${this.#most} characters for its place`, got: 'more characters' },
        'OutOfRange',
      );
    return text;
  }
}

const noNames: ReadonlySet<string> = new Set();

/** The refusal of a member with the name of another input, or of a part of it. */
export const sameName: Refusal = {
  code: 'InvalidCharacter',
  reason: { expected: 'no member with the name of another input', got: 'a member with that name' },
};

/** Normalizes a name as servers may do: many ignore case, and some read `name[0]` and `name.0` as parts of `name`. */
export function nameFor(name: string): string {
  return (/^[^[.]*/.exec(name)?.[0] || name).toLowerCase();
}

/**
 * Returns the names that exploded members must not have, because other inputs at the position have them. Given two
 * values of a name, servers use the first, the last, or both. Names of the object's own type are always allowed.
 *
 * @param others names of the other inputs at the position
 * @param type type of the object
 */
export function namesTaken(others: readonly string[], type: Type | undefined): ReadonlySet<string> {
  const names = new Set(others.map(nameFor));
  if (type?.kind === 'record') for (const { json } of type.fields) names.delete(nameFor(json));
  return names;
}

/**
 * Returns the maximum number of characters of a form, or of bytes of a multipart body. Percent-encoding makes a request
 * three times as long.
 */
export function maxFormCharacters({ bodyBytesWithBinary, formText }: Limits): number {
  return formText ?? Math.max(48 * 1024 * 1024, 3 * bodyBytesWithBinary);
}

/** Encodes text so that it contains no separators. */
type Encode = (text: string) => string;

/**
 * Compiles the writer of a parameter.
 *
 * @param most maximum number of characters of a value, as JSON and as written
 * @param taken names that members of an exploded object must not have, from `namesTaken`
 */
export function compileParameter(
  parameter: Parameter,
  limits: Limits,
  most = limits.parameterText ?? maxParameterCharacters,
  taken: ReadonlySet<string> = noNames,
): WriteParameter {
  const budget = new TextBudget(most);
  const write = writerOf(parameter, limits, taken, budget);
  return (json) => {
    try {
      budget.clear();
      budget.take(json);
      const text = write(json);
      budget.clear();
      return text === undefined ? undefined : budget.take(text);
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
  budget: TextBudget,
): (json: string) => string | undefined {
  const { style } = parameter;
  if (style === 'json') return jsonWriter(parameter);
  const write =
    style === 'deepObject'
      ? deepWriter(parameter, budget)
      : joinedWriter(parameter, styles[style], taken, budget);
  return (json) => {
    const part = readPart(json, limits);
    budget.clear();
    return write(part);
  };
}

/** Returns the writer of a parameter with `content`: its JSON, escaped to ASCII in a header. */
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
  budget: TextBudget,
): (part: Part) => string | undefined {
  const encode = urlEncoder(allowReserved, '');
  return (part) => pairsOf(encodeName(name), part, deepLists, encode, budget).join('&') || undefined;
}

function joinedWriter(
  parameter: Parameter,
  style: Joined,
  taken: ReadonlySet<string>,
  budget: TextBudget,
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
  return (part) => joinPart(part, joining, budget);
}

interface Joining {
  readonly joined: Joined;
  readonly explode: boolean;
  readonly name: string;
  /** Encodes an item or member. */
  readonly encode: Encode;
  /** Encodes a single text. */
  readonly single: Encode;
  /** Names that exploded members must not have. */
  readonly taken: ReadonlySet<string>;
}

function joinPart(part: Part, joining: Joining, budget: TextBudget): string | undefined {
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
    return itemsOf(member, named).map((item) => budget.take(pair(encoded, encode(textOf(item)))));
  });
  return first + pairs.join(separator);
}

function keyOf(key: string, encode: Encode, taken: ReadonlySet<string>): string {
  if (taken.has(nameFor(key))) throw new Unfit(sameName.reason);
  const encoded = encode(key);
  if (encoded.includes('='))
    throw new Unfit({ expected: 'no "=" in the name of a member', got: 'a name with "="' });
  return encoded;
}

/** Returns the items of a list with repeated names; otherwise the value itself. */
function itemsOf(part: Part, repeats: boolean): readonly Part[] {
  return repeats && part.kind === 'list' ? part.items : [part];
}

/** Returns the text of an item. A list or object in another is JSON, because only deepObject has a form for it. */
function textOf(part: Part): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'null') throw new Unfit(noItem.reason);
  return part.json;
}

/**
 * The refusal of a list item without text: nothing would be written for it, and the indexes of later items would
 * change.
 */
export const noItem: Refusal = {
  code: 'InvalidCharacter',
  reason: { expected: 'a value for each item of the list', got: 'none' },
};

/**
 * The reason to refuse a nested member's name: `a][b` would be read as a member of `a`, and an empty name as a list
 * item.
 */
const noStep: Reason = {
  expected: 'the name of a member within another to be some text without brackets',
  got: 'another name',
};

/** The brackets of a name, encoded because RFC 3986 §3.4 does not allow them in a URL. */
const encodedBrackets: Brackets = ['%5B', '%5D'];

/** Returns `name[member]=…`, `name[0]=…` or `name[]=…` for each text in a value, with encoded brackets. */
export function pairsOf(
  name: string,
  part: Part,
  lists: DeepLists,
  encode: Encode,
  budget: TextBudget,
): string[] {
  const pairs: string[] = [];
  const use = (whole: string, text: string): boolean => {
    pairs.push(budget.take(`${whole}=${encode(text)}`));
    return true;
  };
  everyText(name, part, lists, encodeText, use, encodedBrackets);
  return pairs;
}

/** The brackets around a step of a name. */
type Brackets = readonly [open: string, close: string];

/**
 * Passes each text in a value, at any depth, to `use` with its name: `name[member]`, `name[0]` or `name[]`, as qs and
 * Rails parse them. Nulls are left out because they have no form. Throws Unfit for a list item without text, and for a
 * member's name that would be parsed as several names or as an item: readers search for brackets after decoding.
 *
 * @param use returns false to stop
 * @returns true if all texts were passed
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

/** Implements `everyText` for a list. */
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

/** Returns true if there is a text in a part. Each item of a list is checked separately. */
function holdsText(part: Part): boolean {
  if (part.kind === 'object') return part.members.some(([, member]) => holdsText(member));
  return part.kind === 'list' ? part.items.length > 0 : part.kind === 'text';
}

/**
 * Wraps `use` for each item of a list without numbers. A reader treats a name that the item already has as the next
 * item's, and any other name as the same item's. A list that would be parsed differently is refused.
 */
function telling(use: (name: string, text: string) => boolean): () => typeof use {
  let names: Set<string> | undefined;
  return () => {
    const before = names;
    const own = new Set<string>();
    names = own;
    return (whole, text) => {
      if (own.size === 0 ? before?.has(whole) === false : own.has(whole))
        throw new Unfit({
          expected: 'items that can be told apart without numbers',
          got: 'items that need numbers',
        });
      own.add(whole);
      return use(whole, text);
    };
  };
}

/** The refusal of text with an unpaired surrogate, which UTF-8 cannot encode. */
export const unpairedSurrogate: Refusal = {
  code: 'InvalidCharacter',
  reason: { expected: 'whole characters', got: 'half of a character' },
};

/** Percent-encodes text for a URL. Throws Unfit for an unpaired surrogate. */
export function encodeText(text: string): string {
  if (!text.isWellFormed()) throw new Unfit(unpairedSurrogate.reason);
  return encodeURIComponent(text);
}

/** Percent-encodes a name but keeps dollar signs, which services use. RFC 3986 §3.4 allows them, but not brackets. */
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

/** Buffer for long names, because a regular expression is slow with many dollar signs. */
let longName: GatheredText | undefined;

/**
 * Reserved characters (RFC 3986, 2.2) that are allowed in a query (3.4) and neither end it nor mean a blank. The others
 * are always encoded.
 */
const reserved = /%(?:3A|2F|3F|40|24|2C|3B|3D)/g;

/** @param divider separator of items, which no item may contain; `''` for a single text */
function urlEncoder(allowReserved: boolean, divider: string): Encode {
  return (text) => {
    if (divider === '%20' && text.includes(' '))
      throw new Unfit({
        expected: 'no blank in an item of a list that blanks divide',
        got: 'an item with a blank',
      });
    if (divider === '%7C' && text.includes('|'))
      throw new Unfit({ expected: 'no "|" in an item of a list that bars divide', got: 'an item with "|"' });
    const encoded = encodeText(text);
    if (divider === '.') return encoded.replaceAll('.', '%2E');
    if (!allowReserved) return encoded;
    return encoded.replaceAll(reserved, (encodedLetter) => {
      const letter = decodeURIComponent(encodedLetter);
      return letter === divider || (letter === '=' && divider !== '') ? encodedLetter : letter;
    });
  };
}

/** Checks that an item of a header does not contain the separator, because headers have no encoding. */
function headerEncoder(divider: string): Encode {
  return (text) => {
    if (text.includes(divider))
      throw new Unfit({
        expected: `no "${divider}" in an item of a header's list`,
        got: 'an item with the separator',
      });
    return text;
  };
}

function asIs(text: string): string {
  return text;
}
