import type { Limits } from '../../contract/limits.ts';
import type { ElementDeclaration, SimpleType } from '../../contract/type-graph.ts';
import type { IntegerRange } from '../scalars/numbers.ts';
import type { Conversion, Scalar } from '../scalars/scalar.ts';
import { isBlankText } from '../scalars/scalar.ts';
import { scalarRows } from '../scalars/table.ts';
import { quoteJson } from '../scalars/text.ts';
import { mostText } from '../simple-text.ts';

/** The values of simple types: which texts are copied as bytes, and which go through the function of their type. */

/** The grammars that the byte reader knows; texts of any other form go through `tokenOf`. */
export const leafKinds = {
  /** The token is the text as a JSON string. */
  string: 0,
  integer: 1,
  /** A number without an exponent: the token is the text. */
  decimal: 2,
  boolean: 3,
  /** The token is the text in quotes. */
  dateTime: 4,
  date: 5,
  base64: 6,
  /** One of few texts. */
  word: 7,
  other: 8,
} as const;

/** A text and its token, as bytes; `<` ends the text. */
export interface Word {
  readonly text: Buffer;
  readonly token: Buffer;
}

/** The values of one simple type at one place. */
export interface Leaf {
  readonly kind: (typeof leafKinds)[keyof typeof leafKinds];
  /** The JSON token of a text with its references resolved; undefined for a text that the usual reader must read. */
  readonly tokenOf: (text: string) => string | undefined;
  /** In characters. */
  readonly maxLength: number;
  /** True if the empty text is a value. */
  readonly takesEmpty: boolean;
  /** Digits that an integer may have without a look at its range. */
  readonly safeDigits: number;
  /** True for an integer that may be negative. */
  readonly isSigned: boolean;
  /** True if a `dateTime` without an offset keeps its text. */
  readonly takesZoneless: boolean;
  /** The values of an enumeration that XML has as they are. */
  readonly words: readonly Word[];
}

/** The function of a simple type that reads a text, and the parts of its codec that say how. */
export type LeafCodec = Pick<Scalar, 'text' | 'takesEmpty'> & {
  readonly fromXml: (text: string) => Conversion;
};

/** Digits of integers that have no bounds. */
const manyDigits = 100;

/** Digits that any `decimal`, `double` and `float` takes. */
export const safeDecimal = 28;

const ranges = new Map<string, IntegerRange | undefined>(
  scalarRows.map(([, { xsd, bounds }]) => [xsd, bounds]),
);

/** Returns the leaf of a simple type. A default is the value of an empty element (A25), so the usual reader reads that. */
export function leafOf(
  codec: LeafCodec,
  { builtIn, facets, variety }: SimpleType,
  { value }: Pick<ElementDeclaration, 'value'>,
  limits: Limits,
): Leaf {
  const { text, fromXml } = codec;
  const takesEmpty = codec.takesEmpty && value === undefined;
  const tokenOf = (given: string): string | undefined => {
    if (isBlankText(given) && !(takesEmpty || (codec.takesEmpty && given !== ''))) return undefined;
    const token = fromXml(given);
    return typeof token === 'string' ? token : undefined;
  };
  const words = (facets.enumeration ?? []).flatMap((word) => wordOf(word, tokenOf));
  const isEnum = words.length > 0 && words.length <= mostWords;
  const isAtomic = variety.kind === 'atomic' && facets.enumeration === undefined;
  const range = ranges.get(builtIn);
  return {
    kind: isAtomic ? kindOf(builtIn, codec) : isEnum ? leafKinds.word : leafKinds.other,
    tokenOf,
    maxLength: mostText({ limits }, { text }),
    takesEmpty,
    safeDigits: range === undefined ? manyDigits : range.max.length - 1,
    isSigned: range === undefined ? builtIn === 'integer' : range.min !== '0',
    takesZoneless: keeps(fromXml, '2001-02-03T04:05:06'),
    words,
  };
}

/** Longer lists of words are looked up by the function of their type. */
const mostWords = 16;

function wordOf(text: string, tokenOf: Leaf['tokenOf']): readonly Word[] {
  const token = text === '' || /[^ -~]|[<>&]/.test(text) ? undefined : tokenOf(text);
  return token === undefined ? [] : [{ text: Buffer.from(`${text}<`), token: Buffer.from(token) }];
}

/** The grammar of a built-in type, if its values keep the form of their texts under the settings of the contract. */
function kindOf(builtIn: SimpleType['builtIn'], { fromXml, text }: LeafCodec): Leaf['kind'] {
  if (fromXml === quoteJson) return leafKinds.string;
  if (builtIn === 'boolean') return leafKinds.boolean;
  if (builtIn === 'base64Binary' && text === 'binary') return leafKinds.base64;
  if (builtIn === 'dateTime' && keeps(fromXml, '2001-02-03T04:05:06Z')) return leafKinds.dateTime;
  if (builtIn === 'date' && keeps(fromXml, '2001-02-03')) return leafKinds.date;
  // with `bigNumbers: text` the token of a number is a string
  if (integers.has(builtIn) && fromXml('7') === '7') return leafKinds.integer;
  if (decimals.has(builtIn) && fromXml('1.50') === '1.50') return leafKinds.decimal;
  return leafKinds.other;
}

const integers: ReadonlySet<string> = new Set([
  'byte',
  'unsignedByte',
  'short',
  'unsignedShort',
  'int',
  'unsignedInt',
  'long',
  'unsignedLong',
  'integer',
  'nonNegativeInteger',
]);

const decimals: ReadonlySet<string> = new Set(['decimal', 'double', 'float']);

/** Returns true if the token of a text is the text as a string. */
function keeps(fromXml: LeafCodec['fromXml'], text: string): boolean {
  return fromXml(text) === `"${text}"`;
}
