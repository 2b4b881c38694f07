import type { Limits } from '../limits.ts';
import type { DeepLists, Parameter, ParameterStyle } from '../model.ts';
import { type Part, readPart } from './part.ts';
import type { Refusal } from './scalars.ts';

/** A parameter's JSON value, not null, as text for its place; undefined for nothing, or why it can't stand there. */
export type WriteParameter = (json: string) => string | undefined | Refusal;

/** How a style joins things: RFC 6570, 3.2, as columns, and OpenAPI's own two at the end. */
const styles = {
  simple: { first: '', separator: ',', delimiter: ',', named: false },
  label: { first: '.', separator: '.', delimiter: ',', named: false },
  matrix: { first: ';', separator: ';', delimiter: ',', named: true },
  form: { first: '', separator: '&', delimiter: ',', named: true },
  spaceDelimited: { first: '', separator: '&', delimiter: '%20', named: true },
  pipeDelimited: { first: '', separator: '&', delimiter: '|', named: true },
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

/** Thrown by the writers below for what a place can't hold; never leaves this file. */
class Unfit extends Error {}

/** One way to write text, so that no separator in it is read as one. */
type Encode = (text: string) => string;

export function compileParameter(parameter: Parameter, limits: Limits): WriteParameter {
  const { style } = parameter;
  if (style === 'json') return jsonWriter(parameter);
  const write = style === 'deepObject' ? deepWriter(parameter) : joinedWriter(parameter, styles[style]);
  return (json) => {
    try {
      return write(readPart(json, limits));
    } catch (error) {
      if (error instanceof Unfit) return { code: 'InvalidCharacter', says: error.message };
      throw error;
    }
  };
}

/** A parameter described by `content`: its JSON, in a header without a character that is none of ASCII. */
function jsonWriter({ in: place, name }: Parameter): WriteParameter {
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

function deepWriter({ name, allowReserved, deepLists }: Parameter): (part: Part) => string | undefined {
  const encode = urlEncoder(allowReserved, '');
  return (part) => pairsOf(encodeName(name), part, deepLists, encode).join('&') || undefined;
}

function joinedWriter(parameter: Parameter, style: Joined): (part: Part) => string | undefined {
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
    name: encodeName(parameter.name),
    encode: inHeader ? headerEncoder(divider) : inUrl(divider),
    single: inHeader ? asIs : inUrl(''),
  };
  return (part) => joinPart(part, joining);
}

interface Joining {
  readonly joined: Joined;
  readonly explode: boolean;
  readonly name: string;
  /** For text among other text. */
  readonly encode: Encode;
  /** For text that stands alone. */
  readonly single: Encode;
}

function joinPart(part: Part, { joined, explode, name, encode, single }: Joining): string | undefined {
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
  const pairs = members.flatMap(([key, member]) =>
    itemsOf(member, named).map((item) => pair(keyOf(key, encode), encode(textOf(item)))),
  );
  return first + pairs.join(separator);
}

function keyOf(key: string, encode: Encode): string {
  const encoded = encode(key);
  if (encoded.includes('=')) throw new Unfit('expected no "=" in the name of a member, got one');
  return encoded;
}

/** The items of a list whose names are repeated; of everything else, itself. */
function itemsOf(part: Part, repeats: boolean): readonly Part[] {
  return repeats && part.kind === 'list' ? part.items : [part];
}

/** The text of an item; of a list or an object in another one, which no style but deepObject has a form for, the JSON. */
function textOf(part: Part): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'null') throw new Unfit('expected a value for each item of the list, got none');
  return part.json;
}

/**
 * `name[member]=…`, `name[0]=…` or `name[]=…` and so on for what lies deeper, as qs and Rails read it. A null is left out: it has no
 * form here.
 */
export function pairsOf(name: string, part: Part, lists: DeepLists, encode: Encode): string[] {
  switch (part.kind) {
    case 'null':
      return [];
    case 'text':
      return [`${name}=${encode(part.text)}`];
    case 'list':
      return part.items.flatMap((item, index) =>
        pairsOf(`${name}[${lists === 'bare' ? '' : index}]`, item, lists, encode),
      );
    case 'object':
      return part.members.flatMap(([key, member]) =>
        pairsOf(`${name}[${encodeText(key)}]`, member, lists, encode),
      );
  }
}

/** Percent-encoded for a URL; half a surrogate pair becomes U+FFFD, as UTF-8 can't hold it. */
export function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** A name keeps the brackets and the dollar sign that services have in theirs. */
export function encodeName(name: string): string {
  return encodeText(name).replaceAll(/%(?:5B|5D|24)/g, decodeURIComponent);
}

/** Reserved characters (RFC 3986, 2.2) that end nothing and mean no blank: the rest stays encoded whatever is allowed. */
const reserved = /%(?:3A|2F|3F|5B|5D|40|24|2C|3B|3D)/g;

/** @param divider what stands between items, and so in no item; `''` for text that stands alone */
function urlEncoder(allowReserved: boolean, divider: string): Encode {
  return (text) => {
    if (divider === '%20' && text.includes(' '))
      throw new Unfit('expected no blank in an item of a list that blanks divide, got one');
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
      throw new Unfit(`expected no "${divider}" in an item of a header's list, got one`);
    return text;
  };
}

function asIs(text: string): string {
  return text;
}
