import type { Limits } from '../../contract/limits.ts';
import type { Settings } from '../../contract/overlay-keys.ts';
import type { BuiltIn, SimpleType } from '../../contract/type-graph.ts';
import { decimalOf, plainText } from '../../json/decimal.ts';
import { itemsOf } from '../../json/parts.ts';
import { JsonReader } from '../../json/reader.ts';
import { nameKey, nodeKinds, type Tape } from '../../json/tape.ts';
import { isNcName } from '../../xml/characters.ts';
import { xmlNamespace, xmlnsNamespace } from '../../xml/namespaces.ts';
import { scanNull } from '../element.ts';
import { MismatchError, type ProblemCode } from '../problem.ts';
import { base64Binary } from '../scalars/base64.ts';
import { boolean } from '../scalars/boolean.ts';
import { duration } from '../scalars/duration.ts';
import { withNonFinite } from '../scalars/non-finite.ts';
import { collapse, type IntegerRange } from '../scalars/numbers.ts';
import { decimal, floating, integer } from '../scalars/numeric.ts';
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
import { scalarRows } from '../scalars/table.ts';
import { escapeAttribute, excerpt, quoteJson, someNames } from '../scalars/text.ts';
import { createZone, type Zone } from '../scalars/zone.ts';
import { scalarWriter } from '../types/scalar.ts';
import { compileFacets, type Judge, numbers } from './facets.ts';
import { isTemporal, temporal, zonedDateTime } from './temporal.ts';

/** Simple types of an adopted service, both ways (A26). */

const { plain, empty, made } = nodeKinds;

/** The namespace of a prefix where a text stands; undefined for an unbound one. */
export type Resolve = (prefix: string) => string | undefined;

/** One simple type, both ways. */
export interface SimpleCodec {
  /** What a message calls it, such as `xs:int`. */
  readonly expected: string;
  readonly takesEmpty: boolean;
  /** `string`: text is kept, with W10's exceptions. `binary`: text up to the body's limit. */
  readonly text: Scalar['text'];
  /** Whether its text may have prefixes. */
  readonly usesPrefixes: boolean;
  /** Text of an element or attribute as a JSON token. */
  readonly fromXml: (text: string, resolve: Resolve) => Conversion;
  /**
   * The JSON value that starts at the reader, not null, as XML content; null stands for JSON null. Declarations of the
   * prefixes that it uses, which begin with a stem, are added to `declared`. Throws MismatchError.
   */
  readonly toXml: (json: JsonReader, declared: string[], stem: string) => string | null;
  /**
   * The same from the tape: pushes one node. Of a `made` node that needs declarations of prefixes the last word is one more
   * than their place in `Tape.made`. Throws MismatchError, JsonError.
   */
  readonly scan: (tape: Tape, stem?: string) => void;
  /** Notes what of a request's value isn't within the type's facets; undefined where nothing more is asked (A26). */
  readonly judge: Judge | undefined;
}

/** A codec that looks at built-in types and enumerations alone. */
type Unjudged = Omit<SimpleCodec, 'judge'>;

/** The codecs of simple types, each compiled once, at start. */
export type SimpleOf = (type: SimpleType) => SimpleCodec;

/** Compiles simple types on first use. */
export function compileSimpleTypes(settings: Settings, limits: Limits): SimpleOf {
  const compiled = new Map<SimpleType, SimpleCodec>();
  const zone = zoneOf(settings);
  const simpleOf: SimpleOf = (type) => {
    const known = compiled.get(type);
    if (known !== undefined) return known;
    const judge = settings.validate === 'strict' ? compileFacets(type, limits) : undefined;
    const codec = { ...compile(type), judge };
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
    const scalar = scalarOf(type, settings, zone);
    const isBig = settings.bigNumbers === 'text' && big.has(type.builtIn);
    return enumerated(type, ofScalar(isBig ? asText(scalar) : scalar, limits), settings, limits);
  };
  return simpleOf;
}

function ofScalar(scalar: Scalar, limits: Limits): Unjudged {
  return { ...scalar, usesPrefixes: false, scan: scalarWriter(scalar, 'any', limits).scan };
}

/** Numbers that a double may not hold. */
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

/** A number whose JSON form is a string of its digits (A26, `bigNumbers: text`). */
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

const bounds = new Map<string, IntegerRange | undefined>(
  scalarRows.map(([, { xsd, bounds: range }]) => [xsd, range]),
);

/** The zone of moments without an offset; undefined where they stay without. */
function zoneOf({ dates, upstreamTimeZone = dates === 'utc' ? 'UTC' : undefined }: Settings) {
  return upstreamTimeZone === undefined ? undefined : createZone(upstreamTimeZone);
}

function scalarOf(
  { builtIn, facets }: SimpleType,
  { dates, invalidDates, nonFiniteNumbers }: Settings,
  zone: Zone | undefined,
): Scalar {
  const range = bounds.get(builtIn);
  if (range !== undefined) return integer(builtIn, range);
  if (builtIn === 'dateTime' && dates === 'utc' && zone !== undefined)
    return zonedDateTime(zone, invalidDates);
  if (isTemporal(builtIn)) return temporal(builtIn, invalidDates, zone);
  if (builtIn === 'duration') return duration(invalidDates);
  if (builtIn === 'float' || builtIn === 'double') return withNonFinite(floating(builtIn), nonFiniteNumbers);
  return scalars[builtIn] ?? stringOf(builtIn, facets.whiteSpace);
}

/** An integer without bounds on one side (XSD Part 2, 3.3.14, 3.3.15, 3.3.20, 3.3.25). */
function signed(xsd: string, isWithin: (token: string) => boolean): Scalar {
  const scalar = { ...integer('integer'), expected: `xs:${xsd}` };
  const outside = (text: string): Refusal => ({
    code: 'OutOfRange',
    reason: { expected: `xs:${xsd}`, got: excerpt(text) },
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
    // each is looked at as text
    scan: (otherwise) => otherwise,
  };
}

/** A type of text: its white space folds as its facet says (XSD Part 2, 4.3.6), and nothing more is asked of it. */
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

/** `xs:hexBinary`: digits of either case, as they came (XSD Part 2, 3.2.15). */
const hexBinary: Scalar = {
  ...textual({
    expected: 'xs:hexBinary',
    fromXml: (text) => hexOf(collapse(text)),
    fromReply: hexOf,
    fromRequest: hexOf,
    misfits: 'refuse',
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

/** The built-in types that are neither integers with bounds, nor of the calendar, nor text. */
const scalars: { readonly [name in BuiltIn]?: Scalar } = {
  integer: integer('integer'),
  nonPositiveInteger: signed('nonPositiveInteger', (token) => token.startsWith('-') || token === '0'),
  negativeInteger: signed('negativeInteger', (token) => token.startsWith('-')),
  nonNegativeInteger: signed('nonNegativeInteger', (token) => !token.startsWith('-')),
  positiveInteger: signed('positiveInteger', (token) => !token.startsWith('-') && token !== '0'),
  decimal,
  boolean,
  base64Binary,
  hexBinary,
};

/** A codec without a shortcut over the tape's bytes: its value is written from text. */
function fromToXml(
  codec: Omit<Unjudged, 'scan' | 'toXml'> & { toXml: (...given: Parameters<Unjudged['toXml']>) => string },
  limits: Limits,
): Unjudged {
  return {
    ...codec,
    scan: (tape, stem = 'q') => {
      if (tape.peek() === 110) {
        scanNull(tape);
        return;
      }
      const start = tape.position;
      tape.skip();
      const reader = new JsonReader(tape.slice(start, tape.position), limits);
      const declared: string[] = [];
      const content = codec.toXml(reader, declared, stem);
      if (reader.passed + reader.repaired > 0 && tape.asked !== undefined)
        throw new MismatchError({ expected: codec.expected, got: 'another value' });
      tape.replaced += reader.replaced;
      tape.passed += reader.passed;
      if (content === '') tape.pushKind(empty);
      else {
        let last = 0;
        if (declared.length > 0) last = tape.made.push(declared.join(''));
        tape.pushRange(made, tape.made.length, last);
        tape.made.push(content);
      }
    },
  };
}

/** A list: an array of its items (XSD Part 2, 4.1.2.2). */
function listOf(item: SimpleCodec, limits: Limits): Unjudged {
  const expected = `a list of ${item.expected}`;
  return fromToXml(
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

/** A union: its text, which one of its members has to take (XSD Part 2, 4.1.2.3). */
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
      return tolerated === undefined ? invalid(expected, excerpt(text)) : { ...tolerated, token };
    },
  };
}

/** A union whose values are looked at in replies too. */
function checkedUnion(members: readonly SimpleCodec[], settings: Settings, limits: Limits): Unjudged {
  const union = unionOf(members, limits);
  // which prefixes of a reply are bound isn't known
  if (union.usesPrefixes) return union;
  return checked(
    union,
    'InvalidType',
    settings,
    (json) => typeof union.fromXml(textOf(json, limits), () => undefined) === 'string',
  );
}

/** A codec that refuses in requests, and in replies refuses or counts, by `unknownEnumValues`, what is no value of its type (A26, W22). */
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
      if (unknownEnumValues !== 'pass' || tape.asked !== undefined)
        throw new MismatchError({ expected: codec.expected, got: 'another value' }, code);
      tape.passed++;
    },
  };
}

/** A QName: `{namespace}local`, or `local` alone in none; written with a prefix of its own. */
function qualifiedNames(limits: Limits): Unjudged {
  const expected = 'xs:QName';
  return fromToXml(
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
          return invalid('xs:QName with a bound prefix', excerpt(text));
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

/** A value's text, as XML has it: of a list that of its items. */
function textOf(json: string, limits: Limits): string {
  if (json.startsWith('['))
    return (itemsOf(json, limits) ?? []).map((item) => textOf(item, limits)).join(' ');
  return json.startsWith('"') ? new JsonReader(json, limits).string() : json;
}

/** One text for all tokens of one value: of numbers, whose digits may be written in many ways (XSD Part 2, 4.3.5). */
function valueKey(type: SimpleType, token: string, limits: Limits): string {
  const { variety, builtIn } = type;
  if (variety.kind === 'list')
    return (itemsOf(token, limits) ?? []).map((item) => valueKey(variety.item, item, limits)).join(' ');
  if (variety.kind === 'union' || !numbers.has(builtIn)) return token;
  const number = decimalOf(token.replaceAll('"', ''));
  return number === undefined ? token : plainText(number);
}

/** A type with an enumeration: checked in requests; in replies by `unknownEnumValues` (A26, W22). */
function enumerated(type: SimpleType, base: Unjudged, settings: Settings, limits: Limits): Unjudged {
  const { enumeration } = type.facets;
  // what prefixes of an enumeration stand for isn't known
  if (enumeration === undefined || base.usesPrefixes) return base;
  const tokenOf = (text: string) => base.fromXml(text, () => undefined);
  const tokens = enumeration.map(tokenOf).filter((token) => typeof token === 'string');
  const values = new Set(tokens.map((token) => valueKey(type, token, limits)));
  const isValue = (converted: Conversion): boolean => {
    const token = tokenIn(converted);
    return token !== undefined && values.has(valueKey(type, token, limits));
  };
  const expected =
    enumeration.length > 12
      ? `a value of ${type.name?.local ?? base.expected}`
      : `one of ${enumeration.join(', ')}`;
  // texts that `plain` nodes are written as, unread
  const keys = tokens
    .filter((token) => base.text === 'string' && /^"[A-Za-z0-9_ .:/-]+"$/.test(token))
    .map((token) => nameKey(token.slice(1, -1)));
  // JSON may write a value in many ways, with escapes or blanks: it is one too as a request would have it
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
      return { code: 'InvalidEnum', reason: { expected, got: excerpt(text) } };
    },
    scan: (tape, stem) => {
      const start = tape.position;
      if (tape.peek() !== quote) return scan(tape, stem);
      for (const key of keys) {
        if (!tape.matches(start + 1, key)) continue;
        tape.position = start + 1 + key.length;
        tape.pushRange(plain, start + 1, tape.position - 1);
        return;
      }
      scan(tape, stem);
    },
  };
}
