import type { Limits } from '../../contract/limits.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { asText, hrefOf, readAttached, refusesInclude } from '../attachments.ts';
import { contentToken } from '../element.ts';
import {
  type AttachedParts,
  fieldPath,
  type Reading,
  refuse,
  refuseNamespaces,
  tryAddCharacters,
} from '../problem.ts';
import { base64Binary } from '../scalars/base64.ts';
import { isBlankText } from '../scalars/scalar.ts';
import { quoteJson } from '../scalars/text.ts';
import { accept, mostText } from '../types/scalar.ts';
import type { AdoptedContext } from './context.ts';
import type { Resolve, SimpleCodec } from './simple-types.ts';

/** Reads values of simple types: element text and attribute values. */

/** Returns true if the element's `href` refers to a MIME part that holds its value (W60). */
export function isReferring(simple: SimpleCodec | undefined, xml: XmlReader, reading: Reading): boolean {
  const { attachments } = reading;
  if (attachments === undefined || simple?.expected !== base64Binary.expected) return false;
  return hrefOf(attachments, xml) !== undefined;
}

export function accepted(
  simple: SimpleCodec,
  { limits, settings }: AdoptedContext,
  text: string,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (!simple.takesEmpty && isBlankText(text)) {
    if (settings.emptyElements === 'absent') return undefined;
    refuse(reading, 'NotEmpty', { expected: simple.expected, got: 'nothing' });
    return reading.keepsRefused ? '""' : undefined;
  }
  const token = simple.usesPrefixes
    ? readPrefixed(simple, text, (prefix) => xml.resolve(prefix), limits, reading)
    : accept(simple.fromXml(text, unbound), reading);
  if (token === undefined) return reading.keepsRefused ? quoteJson(text) : undefined;
  simple.judge?.(token, reading);
  return token;
}

const unbound = (): undefined => undefined;

/**
 * Converts a text with prefixes to a token. The namespace of each name counts toward the limit, because the token
 * repeats it.
 */
function readPrefixed(
  simple: SimpleCodec,
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
  const token = simple.fromXml(text, counted);
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

/**
 * Reads the text of the current element as a JSON token, past its end tag. An empty element has the default's token
 * (A25).
 */
export function readSimple(
  simple: SimpleCodec,
  context: AdoptedContext,
  defaultToken: string | undefined,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (reading.attachments !== undefined) {
    const attached = readAttachedTo(simple, reading.attachments, xml, reading);
    if (attached !== asText) return attached;
  }
  const resolve = simple.usesPrefixes ? resolverOf(xml) : undefined;
  const { position } = xml;
  const text = xml.readText(mostText(context, simple), simple.text === 'string');
  if (text === undefined) {
    refuse(reading, 'InvalidType', { expected: simple.expected, got: 'elements' });
    return reading.keepsRefused ? contentToken(xml, position) : undefined;
  }
  if (text === '' && defaultToken !== undefined) {
    if (reading.keepsRefused) recordDefault(reading);
    return defaultToken;
  }
  if (!simple.takesEmpty && isBlankText(text)) {
    if (context.settings.emptyElements === 'absent') return undefined;
    refuse(reading, 'NotEmpty', {
      expected: simple.expected,
      got: 'an empty element',
      detail: 'leave it out where no value is meant',
    });
    return reading.keepsRefused ? '""' : undefined;
  }
  const token =
    resolve === undefined
      ? accept(simple.fromXml(text, unbound), reading)
      : readPrefixed(simple, text, resolve, context.limits, reading);
  if (token === undefined) return reading.keepsRefused ? quoteJson(text) : undefined;
  simple.judge?.(token, reading);
  return token;
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
  simple: SimpleCodec,
  attachments: AttachedParts,
  xml: XmlReader,
  reading: Reading,
): string | undefined | typeof asText {
  if (simple.expected !== base64Binary.expected)
    return refusesInclude(xml, simple.expected, reading) ? undefined : asText;
  return readAttached(attachments, xml, reading);
}
