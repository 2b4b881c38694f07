import type { Limits } from '../../contract/limits.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import type { BuiltIn, SimpleType } from '../../contract/type-graph.ts';
import { decimalOf, plainText } from '../../json/decimal.ts';
import { itemsOf } from '../../json/parts.ts';
import { JsonReader } from '../../json/reader.ts';
import type { Tape } from '../../json/tape.ts';
import { isNcName } from '../../xml/characters.ts';
import { xmlNamespace, xmlnsNamespace } from '../../xml/namespaces.ts';
import { MismatchError, type ProblemCode } from '../problem.ts';
import { listedScanner, otherValue, valuesText } from '../scalars/enumeration.ts';
import { collapse } from '../scalars/numbers.ts';
import { integer } from '../scalars/numeric.ts';
import {
  type Conversion,
  invalid,
  mismatch,
  quote,
  type Refusal,
  type Scalar,
  type Tolerated,
  textual,
  tokenIn,
} from '../scalars/scalar.ts';
import { string } from '../scalars/strings.ts';
import { type ScalarRow, scalarRows } from '../scalars/table.ts';
import { escapeAttribute, quoteJson, quoteText, someNames } from '../scalars/text.ts';
import { createZone, type Zone } from '../scalars/zone.ts';
import { type TextType, textScanner, type WrittenType } from '../simple-text.ts';
import { scalarWriter } from '../types/scalar.ts';
import { compileFacets, type Judge, numbers } from './facets.ts';
import { isTemporal, temporal, zonedDateTime } from './temporal.ts';

/** Codecs of the simple types of an adopted service (A26). */

/** Reads and writes values of one simple type. `judge` checks the facets (A26). */
export interface SimpleCodec extends TextType, WrittenType {
  readonly usesPrefixes: boolean;
  /**
   * Converts the value at the tape's position and pushes one node, as `textScanner` does. Throws MismatchError,
   * JsonError.
   */
  readonly scan: (tape: Tape, stem?: string) => void;
  readonly judge: Judge | undefined;
}

/** A codec that checks only built-in types and enumerations. */
type Unjudged = Omit<SimpleCodec, 'judge'>;

/** Returns the codec of a simple type. Each is compiled once, at start. */
export type SimpleOf = (type: SimpleType) => SimpleCodec;

/** Returns the codec of a type to use, from the usual one. */
export type ChangeCodec = (codec: SimpleCodec, type: SimpleType) => SimpleCodec;

const same: ChangeCodec = (codec) => codec;

/**
 * Compiles simple types on first use.
 *
 * @param change changes each codec of a type
 */
export function compileSimpleTypes(settings: Settings, limits: Limits, change: ChangeCodec = same): SimpleOf {
  const compiled = new Map<SimpleType, SimpleCodec>();
  const zone = zoneOf(settings);
  const simpleOf: SimpleOf = (type) => {
    const known = compiled.get(type);
    if (known !== undefined) return known;
    const judge = settings.validate === 'strict' ? compileFacets(type, limits) : undefined;
    const codec = change({ ...compile(type), judge }, type);
    compiled.set(type, codec);
    return codec;
  };
  const compile = (type: SimpleType): Unjudged => {
    const { variety } = type;
    if (variety.kind === 'list')
      return enumerated(type, listOf(simpleOf(variety.item), limits), settings, limits);
    if (variety.kind === 'union') {
      const members = variety.members.map(simpleOf);
      if (type.facets.enumeration === undefined) return checkedUnion(members, settings, limits);
      return enumerated(type, unionOf(members, limits), settings, limits);
    }
    if (type.builtIn === 'QName' || type.builtIn === 'NOTATION') return qualifiedNames(limits);
    const scalar = scalarOf(type, settings, limits, zone);
    const isBig = settings.bigNumbers === 'text' && big.has(type.builtIn);
    return enumerated(type, ofScalar(isBig ? asText(scalar) : scalar, limits), settings, limits);
  };
  return simpleOf;
}

function ofScalar(scalar: Scalar, limits: Limits): Unjudged {
  return { ...scalar, usesPrefixes: false, scan: scalarWriter(scalar, 'any', limits).scan };
}

/** Types with numbers that may exceed the precision of a double. */
const big: ReadonlySet<BuiltIn> = new Set([
  'decimal',
  'integer',
  'nonPositiveInteger',
  'negativeInteger',
  'nonNegativeInteger',
  'positiveInteger',
  'long',
  'unsignedLong',
]);

/** Converts a codec of numbers to one with strings of digits in JSON (A26, `bigNumbers: text`). */
function asText(scalar: Scalar): Scalar {
  return {
    ...scalar,
    fromXml: (text) => {
      const token = scalar.fromXml(text);
      if (typeof token === 'string') return `"${token}"`;
      return 'token' in token ? { ...token, token: `"${token.token}"` } : token;
    },
  };
}

/** The scalars of built-in types that have the same values in both kinds of contract. */
const rows = new Map<string, ScalarRow>(
  scalarRows.flatMap(([, row]) => (row.xsd === 'string' ? [] : [[row.xsd, row]])),
);

/** Returns the time zone for times without an offset; undefined if they stay without one. */
function zoneOf({ dates, upstreamTimeZone = dates === 'utc' ? 'UTC' : undefined }: Settings) {
  return upstreamTimeZone === undefined ? undefined : createZone(upstreamTimeZone);
}

function scalarOf(
  { builtIn, facets }: SimpleType,
  settings: Settings,
  limits: Limits,
  zone: Zone | undefined,
): Scalar {
  const { dates, invalidDates } = settings;
  if (builtIn === 'dateTime' && dates === 'utc' && zone !== undefined)
    return zonedDateTime(zone, invalidDates);
  if (isTemporal(builtIn)) return temporal(builtIn, invalidDates, zone);
  const scalar = rows.get(builtIn)?.compile({ settings, limits }) ?? scalars[builtIn];
  return scalar ?? stringOf(builtIn, facets.whiteSpace);
}

/** Returns the codec of an integer with a bound on one side only (XSD Part 2, 3.3.14, 3.3.15, 3.3.20, 3.3.25). */
function signed(xsd: string, isWithin: (token: string) => boolean): Scalar {
  const scalar = { ...integer('integer'), expected: `xs:${xsd}` };
  const outside = (text: string): Refusal => ({
    code: 'OutOfRange',
    reason: { expected: `xs:${xsd}`, got: quoteText(text) },
  });
  return {
    ...scalar,
    fromXml: (text) => {
      const token = scalar.fromXml(text);
      if (typeof token !== 'string') return token;
      const plainToken = token === '-0' ? '0' : token;
      return isWithin(plainToken) ? plainToken : outside(text);
    },
    toXml: (json) => {
      const written = scalar.toXml(json);
      if (written === null || isWithin(written)) return written;
      throw new MismatchError({ expected: `xs:${xsd}`, got: 'a number outside it' });
    },
    // each value is checked as text
    scan: (otherwise) => otherwise,
  };
}

/** Returns the codec of a text type. It only folds white space as its facet requires (XSD Part 2, 4.3.6). */
function stringOf(builtIn: BuiltIn, whiteSpace: 'preserve' | 'replace' | 'collapse'): Scalar {
  if (whiteSpace === 'preserve') return string;
  const fold = whiteSpace === 'replace' ? replaceBlanks : foldBlanks;
  return { ...string, expected: `xs:${builtIn}`, fromXml: (text) => quoteJson(fold(text)) };
}

const replaceBlanks = (text: string): string => text.replace(/[\t\n\r]/g, ' ');

function foldBlanks(text: string): string {
  const collapsed = collapse(text);
  return /[\t\n\r]| {2}/.test(collapsed) ? collapsed.replace(/[ \t\n\r]+/g, ' ') : collapsed;
}

/** `xs:hexBinary`: the digits keep their case (XSD Part 2, 3.2.15). */
const hexBinary: Scalar = {
  ...textual({
    expected: 'xs:hexBinary',
    fromXml: (text) => hexOf(collapse(text)),
    fromReply: hexOf,
    fromRequest: hexOf,
    onInvalid: 'refuse',
  }),
  takesEmpty: true,
  text: 'binary',
  toXml: (json) => {
    if (json.peek() !== quote) return mismatch('xs:hexBinary', json);
    const text = hexOf(json.string());
    if (text === undefined) throw new MismatchError({ expected: 'xs:hexBinary', got: 'other text' });
    return text;
  },
};

function hexOf(text: string): string | undefined {
  return text.length % 2 === 0 && !/[^\da-fA-F]/.test(text) ? text : undefined;
}

/** Built-in types that no OpenAPI contract has, besides calendar types and text. */
const scalars: { readonly [name in BuiltIn]?: Scalar } = {
  nonPositiveInteger: signed('nonPositiveInteger', (token) => token.startsWith('-') || token === '0'),
  negativeInteger: signed('negativeInteger', (token) => token.startsWith('-')),
  nonNegativeInteger: signed('nonNegativeInteger', (token) => !token.startsWith('-')),
  positiveInteger: signed('positiveInteger', (token) => !token.startsWith('-') && token !== '0'),
  hexBinary,
};

/** Completes a codec that converts values through their text, without a fast path over the tape's bytes. */
function throughText(codec: Omit<Unjudged, 'scan'>, limits: Limits): Unjudged {
  return { ...codec, scan: textScanner(codec, limits) };
}

/** Returns the codec of a list: an array of its items (XSD Part 2, 4.1.2.2). */
function listOf(item: SimpleCodec, limits: Limits): Unjudged {
  const expected = `a list of ${item.expected}`;
  return throughText(
    {
      expected,
      takesEmpty: true,
      text: 'plain',
      usesPrefixes: item.usesPrefixes,
      fromXml: (text, resolve) => {
        const folded = foldBlanks(text);
        if (folded === '') return '[]';
        let json = '[';
        let tolerated: Tolerated | undefined;
        for (const word of folded.split(' ')) {
          const converted = item.fromXml(word, resolve);
          const token = tokenIn(converted);
          if (token === undefined) return converted;
          if (typeof converted !== 'string' && 'token' in converted) tolerated = converted;
          json += json.length === 1 ? token : `,${token}`;
        }
        return tolerated === undefined ? `${json}]` : { ...tolerated, token: `${json}]` };
      },
      toXml: (json, declared, stem) => {
        if (json.peek() !== 91) return mismatch('an array', json);
        const words: string[] = [];
        json.enter();
        for (let index = 0; json.next(index === 0, 93); index++) {
          const word = json.peek() === 110 ? null : item.toXml(json, declared, stem);
          if (word === null || word === '' || /[ \t\r\n]/.test(word))
            throw new MismatchError({ expected: `${item.expected} without blanks`, got: 'another value' }).at(
              index,
            );
          words.push(word);
        }
        return words.join(' ');
      },
    },
    limits,
  );
}

/** Returns the codec of a union: a text that at least one member type accepts (XSD Part 2, 4.1.2.3). */
function unionOf(members: readonly SimpleCodec[], limits: Limits): Unjudged {
  const expected = someNames(members.map((member) => member.expected)) || 'a value';
  const keeps = members.some(({ text, expected: of }) => text === 'string' && of === string.expected);
  return {
    ...ofScalar(string, limits),
    expected,
    takesEmpty: members.some(({ takesEmpty }) => takesEmpty),
    usesPrefixes: members.some((member) => member.usesPrefixes),
    fromXml: (text, resolve) => {
      const token = quoteJson(keeps ? text : foldBlanks(text));
      const converted = members.map(({ fromXml }) => fromXml(text, resolve));
      if (converted.length === 0 || converted.some((one) => typeof one === 'string')) return token;
      const tolerated = converted.find((one) => typeof one !== 'string' && 'token' in one);
      return tolerated === undefined ? invalid(expected, quoteText(text)) : { ...tolerated, token };
    },
  };
}

/** Returns the codec of a union that checks the values of replies too. */
function checkedUnion(members: readonly SimpleCodec[], settings: Settings, limits: Limits): Unjudged {
  const union = unionOf(members, limits);
  // the prefixes of a reply are not resolved here
  if (union.usesPrefixes) return union;
  return checked(
    union,
    'InvalidType',
    settings,
    (json) => typeof union.fromXml(textOf(json, limits), () => undefined) === 'string',
  );
}

/**
 * Adds a check of values: invalid values are refused in requests, and refused or counted in replies by
 * `unknownEnumValues` (A26, W22).
 */
function checked(
  codec: Unjudged,
  code: ProblemCode,
  { unknownEnumValues }: Settings,
  isValue: (json: string) => boolean,
): Unjudged {
  return {
    ...codec,
    scan: (tape, stem) => {
      const isNull = tape.peek() === 110;
      const start = tape.position;
      codec.scan(tape, stem);
      if (isNull || isValue(tape.slice(start, tape.position))) return;
      if (unknownEnumValues !== 'pass' || tape.jsonRequest !== undefined)
        throw new MismatchError({ expected: codec.expected, got: 'another value' }, code);
      tape.passed++;
    },
  };
}

/**
 * Returns the codec of QNames: `{namespace}local`, or `local` without a namespace. Each is written with its own prefix.
 */
function qualifiedNames(limits: Limits): Unjudged {
  const expected = 'xs:QName';
  return throughText(
    {
      expected,
      takesEmpty: false,
      text: 'plain',
      usesPrefixes: true,
      fromXml: (text, resolve) => {
        const word = collapse(text);
        const colon = word.indexOf(':');
        const namespace = resolve(colon === -1 ? '' : word.slice(0, colon));
        const local = word.slice(colon + 1);
        if (namespace === undefined || !isNcName(local))
          return invalid('xs:QName with a bound prefix', quoteText(text));
        return quoteJson(namespace === '' ? local : `{${namespace}}${local}`);
      },
      toXml: (json, declared, stem) => {
        if (json.peek() !== quote) return mismatch('{namespace}local', json);
        const text = json.string();
        const end = text.startsWith('{') ? text.lastIndexOf('}') : -1;
        const local = text.slice(end + 1);
        if (!isNcName(local)) throw new MismatchError({ expected: '{namespace}local', got: 'other text' });
        const namespace = text.slice(1, Math.max(1, end));
        if (namespace === '') return local;
        if (namespace === xmlNamespace) return `xml:${local}`;
        if (namespace === xmlnsNamespace)
          throw new MismatchError({ expected: 'a namespace that can be declared', got: 'that of xmlns' });
        const prefix = `${stem}${declared.length}`;
        declared.push(` xmlns:${prefix}="${escapeAttribute(namespace)}"`);
        return `${prefix}:${local}`;
      },
    },
    limits,
  );
}

/** Returns a value's text in XML; for a list, the texts of its items. */
function textOf(json: string, limits: Limits): string {
  if (json.startsWith('['))
    return (itemsOf(json, limits) ?? []).map((item) => textOf(item, limits)).join(' ');
  return json.startsWith('"') ? new JsonReader(json, limits).string() : json;
}

/** Returns the same text for all tokens of a value, because a number has several lexical forms (XSD Part 2, 4.3.5). */
function valueKey(type: SimpleType, token: string, limits: Limits): string {
  const { variety, builtIn } = type;
  if (variety.kind === 'list')
    return (itemsOf(token, limits) ?? []).map((item) => valueKey(variety.item, item, limits)).join(' ');
  if (variety.kind === 'union' || !numbers.has(builtIn)) return token;
  const number = decimalOf(token.replaceAll('"', ''));
  return number === undefined ? token : plainText(number);
}

/**
 * Returns the codec of a type with an enumeration. Values are checked in requests, and in replies by
 * `unknownEnumValues` (A26, W22).
 */
function enumerated(type: SimpleType, base: Unjudged, settings: Settings, limits: Limits): Unjudged {
  const { enumeration } = type.facets;
  // the prefixes in an enumeration are not resolved
  if (enumeration === undefined || base.usesPrefixes) return base;
  const tokenOf = (text: string) => base.fromXml(text, () => undefined);
  const tokens = enumeration.map(tokenOf).filter((token) => typeof token === 'string');
  const values = new Set(tokens.map((token) => valueKey(type, token, limits)));
  const isValue = (converted: Conversion): boolean => {
    const token = tokenIn(converted);
    return token !== undefined && values.has(valueKey(type, token, limits));
  };
  const expected = valuesText(enumeration, type.name?.local ?? base.expected);
  const scanListed = listedScanner(base.text === 'string' ? tokens.map((token) => token.slice(1, -1)) : []);
  // JSON has several forms of a value, with escapes or blanks, so the text is also checked as a request's would be
  const { scan } = checked(
    { ...base, expected },
    'InvalidEnum',
    settings,
    (json) => isValue(json) || isValue(tokenOf(textOf(json, limits))),
  );
  return {
    ...base,
    expected,
    takesEmpty: base.takesEmpty && (base.text !== 'string' || tokens.includes('""')),
    fromXml: (text, resolve) => {
      const token = base.fromXml(text, resolve);
      if (tokenIn(token) === undefined || isValue(token)) return token;
      return otherValue(expected, text);
    },
    scan: (tape, stem) => {
      if (!scanListed(tape)) scan(tape, stem);
    },
  };
}
