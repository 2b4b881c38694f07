import type { Limits } from '../contract/limits.ts';
import { namespaces } from '../contract/model.ts';
import { JsonReader } from '../json/reader.ts';
import { nodeKinds, type Tape } from '../json/tape.ts';
import type { XmlReader } from '../xml/reader.ts';
import { asText, hrefOf, readAttached, refusesInclude } from './attachments.ts';
import type { TextTerms } from './context.ts';
import { contentToken, scanNull } from './element.ts';
import {
  type AttachedParts,
  fieldPath,
  MismatchError,
  type Reading,
  recordDeviation,
  refuse,
  refuseNamespaces,
  tryAddCharacters,
} from './problem.ts';
import { base64Binary, base64FromXml } from './scalars/base64.ts';
import { collapse } from './scalars/numbers.ts';
import { type Conversion, isBlankText, type Scalar } from './scalars/scalar.ts';
import { quoteJson } from './scalars/text.ts';
import { finalTypeName, typeAttribute } from './schema-instance.ts';

/** Values of simple types, in both kinds of contract: the text of elements and attributes. */

const { nothing, empty, made } = nodeKinds;

/** Returns the namespace of a prefix at the text's position; undefined for an unbound prefix. */
export type Resolve = (prefix: string) => string | undefined;

/** A type of texts: a scalar, or a simple type of XSD. */
export interface TextType extends Pick<Scalar, 'expected' | 'takesEmpty' | 'text'> {
  /** Converts the text of an element or attribute to a JSON token. */
  readonly fromXml: (text: string, resolve: Resolve) => Conversion;
  /** True if its text may contain prefixes. */
  readonly usesPrefixes: boolean;
  /** Checks a value's JSON and records violations (`validate: strict`). */
  readonly judge: ((token: string, reading: Reading) => void) | undefined;
}

/** Returns the type of a scalar's texts. It has the members of all types in the same order, so that reading is fast. */
export function plainTexts({ expected, takesEmpty, text, fromXml }: Scalar): TextType {
  return { expected, takesEmpty, text, fromXml, usesPrefixes: false, judge: undefined };
}

/** Returns the maximum length of an element's text, in characters. */
export function mostText({ limits }: Pick<TextTerms, 'limits'>, { text }: Pick<Scalar, 'text'>): number {
  return text === 'binary' ? Number.POSITIVE_INFINITY : limits.xmlText;
}

/** The token of a text; undefined for a refusal, which is noted. Records a tolerated deviation. */
export function accept(result: Conversion, reading: Reading): string | undefined {
  if (typeof result === 'string') return result;
  if ('token' in result) {
    if (reading.keepsRefused) return refuse(reading, 'InvalidType', { got: 'another form' });
    recordDeviation(reading, result.deviation);
    return result.token;
  }
  return refuse(reading, result.code, result.reason);
}

/** Returns true if the element's `href` refers to a MIME part that holds its value (W60). */
export function isReferring(type: TextType | undefined, xml: XmlReader, reading: Reading): boolean {
  const { attachments } = reading;
  if (attachments === undefined || type?.expected !== base64Binary.expected) return false;
  return hrefOf(attachments, xml) !== undefined;
}

/** Converts the value of an attribute to a token. */
export function readAttribute(
  type: TextType,
  { limits, settings }: TextTerms,
  text: string,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (!type.takesEmpty && isBlankText(text)) {
    if (settings.emptyElements === 'absent') return undefined;
    refuse(reading, 'NotEmpty', { expected: type.expected, got: 'nothing' });
    return reading.keepsRefused ? '""' : undefined;
  }
  const resolve: Resolve = type.usesPrefixes ? (prefix) => xml.resolve(prefix) : unbound;
  return tokenOf(type, limits, text, resolve, reading);
}

/**
 * Reads the text of the current element as a JSON token, past its end tag. Returns undefined if there is no value, and
 * records a problem if that is an error (W13).
 *
 * @param defaultToken the token of an empty element (A25); undefined for none
 */
export function readSimple(
  type: TextType,
  terms: TextTerms,
  defaultToken: string | undefined,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (reading.attachments !== undefined) {
    const attached = readAttachedTo(type, reading.attachments, xml, reading);
    if (attached !== asText) return attached;
  }
  const isString = type.text === 'string';
  const isEncoded = isString && xml.attributeCount !== 0 && terms.decodesText && isBase64Typed(xml);
  const resolve = type.usesPrefixes ? resolverOf(xml) : unbound;
  const { position } = xml;
  const text = xml.readText(mostText(terms, type), isString && !isEncoded);
  if (isEncoded) return readDecoded(type, text ?? '?', reading);
  if (text === undefined) {
    refuse(reading, 'InvalidType', { expected: type.expected, got: 'elements' });
    return reading.keepsRefused ? contentToken(xml, position) : undefined;
  }
  if (text === '' && defaultToken !== undefined) {
    if (reading.keepsRefused) recordDefault(reading);
    return defaultToken;
  }
  if (!type.takesEmpty && isBlankText(text)) {
    if (terms.settings.emptyElements === 'absent') return undefined;
    const { expected } = type;
    refuse(reading, 'NotEmpty', { expected, got: 'an empty element', detail: terms.adviceFor(expected) });
    return reading.keepsRefused ? '""' : undefined;
  }
  return tokenOf(type, terms.limits, text, resolve, reading);
}

/** Converts the base64 of a string to its token. */
function readDecoded(type: TextType, text: string, reading: Reading): string | undefined {
  const decoded = decodeBase64Text(text);
  if (decoded !== undefined) return accept(type.fromXml(decoded, unbound), reading);
  return refuse(reading, 'InvalidType', {
    expected: 'the base64 of UTF-8 text, as its xsi:type says',
    got: 'other text',
  });
}

const unbound: Resolve = () => undefined;

/** Converts a text that is not empty to its token, and checks it. */
function tokenOf(
  type: TextType,
  limits: Limits,
  text: string,
  resolve: Resolve,
  reading: Reading,
): string | undefined {
  const token = type.usesPrefixes
    ? readPrefixed(type, text, resolve, limits, reading)
    : accept(type.fromXml(text, unbound), reading);
  if (token === undefined) return reading.keepsRefused ? quoteJson(text) : undefined;
  type.judge?.(token, reading);
  return token;
}

/**
 * Converts a text with prefixes to a token. The namespace of each name counts toward the limit, because the token
 * repeats it.
 */
function readPrefixed(
  type: TextType,
  text: string,
  resolve: Resolve,
  limits: Limits,
  reading: Reading,
): string | undefined {
  let isOver = false;
  const counted: Resolve = (prefix) => {
    const namespace = resolve(prefix);
    isOver ||= !tryAddCharacters(reading, limits, namespace?.length ?? 0);
    return isOver ? undefined : namespace;
  };
  const token = type.fromXml(text, counted);
  return isOver ? refuseNamespaces(limits, reading) : accept(token, reading);
}

/**
 * Returns the function that resolves prefixes in the current element. It works after the reader has left the element
 * too.
 */
function resolverOf(xml: XmlReader): Resolve {
  const { declarations } = xml;
  return (prefix) =>
    declarations.find((declared) => declared.prefix === prefix)?.namespace ?? xml.resolve(prefix);
}

function recordDefault(reading: Reading): void {
  reading.defaults ??= [];
  if (reading.defaults.length < reading.limit) reading.defaults.push(fieldPath(reading.path));
}

/**
 * Reads an element of a message with attachments. The value of base64 may be in a MIME part; an Include in an element
 * of another type is an error (W60). Returns `asText` for an element to read as text.
 */
function readAttachedTo(
  { expected }: TextType,
  attachments: AttachedParts,
  xml: XmlReader,
  reading: Reading,
): string | undefined | typeof asText {
  if (expected !== base64Binary.expected) return refusesInclude(xml, expected, reading) ? undefined : asText;
  return readAttached(attachments, xml, reading);
}

/** Returns true if the element's `xsi:type` declares its string as base64. */
function isBase64Typed(xml: XmlReader): boolean {
  const type = typeAttribute(xml);
  if (type === undefined) return false;
  const name = collapse(type);
  const colon = name.indexOf(':');
  if (name.slice(colon + 1) !== 'base64Binary' && name.slice(colon + 1) !== 'base64') return false;
  const stated = xml.resolve(colon === -1 ? '' : name.slice(0, colon));
  const { namespace } = finalTypeName(stated ?? '', '');
  return namespace === namespaces.xsd || namespace === namespaces.soap11Encoding;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes base64 to UTF-8 text; undefined if it is invalid. */
function decodeBase64Text(text: string): string | undefined {
  const letters = base64FromXml(text);
  if (letters === undefined) return undefined;
  try {
    return utf8.decode(Buffer.from(letters, 'base64'));
  } catch {
    return undefined; // refused because it is not UTF-8
  }
}

// --- replies -----------------------------------------------------------------------------------------

/** A type of texts that JSON is converted to. */
export interface WrittenType extends Pick<Scalar, 'expected' | 'isInexact'> {
  /**
   * Converts the JSON value at the reader, not null, to XML content; returns null for JSON null. Appends the
   * declarations of its prefixes, which begin with `stem`, to `declared`. Throws MismatchError.
   */
  readonly toXml: (json: JsonReader, declared: string[], stem: string) => string | null;
}

/**
 * Returns the function that scans values through their text, and pushes a node for each. If a `made` node needs
 * declarations, its last word is their index in `Tape.made` plus 1.
 *
 * @param isString true for JSON strings; if a union tries the type (`Tape.strict`), other kinds are a mismatch
 */
export function textScanner({ expected, toXml, isInexact }: WrittenType, limits: Limits, isString = false) {
  return (tape: Tape, stem = 'q'): void => {
    if (scanNull(tape)) return;
    const start = tape.position;
    if (tape.strict && (tape.bytes[start] === 34) !== isString)
      throw new MismatchError({ expected, got: tape.kind() });
    tape.skip();
    const reader = new JsonReader(tape.slice(start, tape.position), limits);
    const declared: string[] = [];
    const content = toXml(reader, declared, stem);
    // requests, and values of a union, need the exact form of the type
    const isExact = tape.jsonRequest !== undefined;
    if ((isExact && reader.passed > 0) || ((isExact || tape.strict) && reader.repaired > 0))
      throw new MismatchError({ expected, got: 'another value' });
    tape.replaced += reader.replaced;
    tape.passed += reader.passed;
    if (content !== null && isInexact?.(content) === true) tape.inexact++;
    if (content === null) {
      if (tape.strict) throw new MismatchError({ expected, got: 'an empty string' });
      tape.pushKind(nothing);
    } else if (content === '') tape.pushKind(empty);
    else {
      const declarations = declared.length === 0 ? 0 : tape.made.push(declared.join(''));
      tape.pushRange(made, tape.made.length, declarations);
      tape.made.push(content);
    }
  };
}
