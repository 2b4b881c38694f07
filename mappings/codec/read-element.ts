import { namespaces } from '../contract/model.ts';
import type { JsonReader } from '../json/reader.ts';
import type { XmlReader } from '../xml/reader.ts';
import { hrefOf, includeElsewhere, isInclude } from './attachments.ts';
import type { ReaderContext, RequestReader } from './context.ts';
import { type AttachedParts, type Reading, refuse } from './problem.ts';
import { collapse } from './scalars/numbers.ts';

/** What all readers ask of an element or a JSON value before its type matters. */

/**
 * Reads a member or an item whose start tag is current: its attributes first, then what it holds.
 *
 * @param nil what it is with xsi:nil
 */
export function readMember<Nil>(
  read: RequestReader['read'],
  nil: Nil,
  xml: XmlReader,
  reading: Reading,
): string | undefined | Nil {
  if (xml.attributeCount === 0) return read(xml, reading);
  const { attachments } = reading;
  if (attachments !== undefined && hrefOf(attachments, xml) !== undefined)
    return readReferring(read, attachments, xml, reading);
  const state = readAttributes(xml, reading);
  if (state === 'content') return read(xml, reading);
  if (state === 'refused') {
    xml.skip();
    return undefined;
  }
  if (hasContent(xml)) refuse(reading, 'InvalidType', 'expected no content in an element with xsi:nil');
  return nil;
}

/** Reads an element whose `href` refers to a part: refused where its type is none that a part stands for (W60). */
function readReferring(
  read: RequestReader['read'],
  attachments: AttachedParts,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  const reference = { isTaken: false };
  attachments.current = reference;
  const value = read(xml, reading);
  if (reference.isTaken) return value;
  refuse(reading, 'InvalidType', encodingRefused);
  return undefined;
}

const encodingRefused = 'document/literal expected, got SOAP encoding (href, arrayType, itemType or Ref)';

/** What an element's attributes say of its content (W11, W13). Notes a problem when it answers `refused`. */
export function readAttributes(xml: XmlReader, reading: Reading): 'content' | 'nil' | 'refused' {
  const elsewhere =
    xml.attribute('', 'href') !== undefined ||
    xml.attribute(namespaces.soap11Encoding, 'arrayType') !== undefined ||
    xml.attribute(namespaces.soap12Encoding, 'itemType') !== undefined ||
    xml.attribute(namespaces.soap12Encoding, 'ref') !== undefined ||
    xml.attribute(namespaces.serialization, 'Ref') !== undefined;
  if (elsewhere) {
    refuse(reading, 'InvalidType', encodingRefused);
    return 'refused';
  }
  const nil = xml.attribute(namespaces.xsi, 'nil');
  if (nil === undefined) return 'content';
  const word = collapse(nil);
  if (word === 'true' || word === '1') return 'nil';
  if (word === 'false' || word === '0') return 'content';
  refuse(reading, 'InvalidType', 'expected true, false, 1 or 0 in xsi:nil, got another value');
  return 'refused';
}

/** True where a wrapper or a map's entry, which no schema lets be nil, may be read; otherwise it is noted and passed. */
export function opens(xml: XmlReader, reading: Reading): boolean {
  if (xml.attributeCount === 0) return true;
  const state = readAttributes(xml, reading);
  if (state === 'content') return true;
  if (state === 'nil') refuse(reading, 'InvalidType', 'expected elements, got xsi:nil');
  xml.skip();
  return false;
}

/** What is said of an element that SOAP's encoding alone has (W11); undefined for any other. */
export function encodedReason({
  local,
  namespace,
}: Pick<XmlReader, 'local' | 'namespace'>): string | undefined {
  const isEncoded =
    local === 'multiRef' ||
    namespace === namespaces.soap11Encoding ||
    namespace === namespaces.soap12Encoding;
  return isEncoded ? `document/literal expected, got SOAP encoding (<${local.slice(0, 64)}>)` : undefined;
}

/** Passes an element that the type has no place for: refused for a reason, or left out and noted (W12). */
export function passUnknown(
  { contract }: ReaderContext,
  xml: XmlReader,
  reading: Reading,
  reason: string,
): void {
  if (reading.attachments?.form === 'mtom' && isInclude(xml))
    refuse(reading, 'InvalidType', includeElsewhere);
  else if (contract.settings.unknownElements === 'refuse')
    refuse(reading, 'UnknownElement', encodedReason(xml) ?? reason);
  else reading.ignored.push(xml.local);
  xml.skip();
}

/** Reads a nil element to its end; true when it holds anything but blanks. */
export function hasContent(xml: XmlReader): boolean {
  let content = false;
  while (xml.nextChild()) {
    content = true;
    xml.skip();
  }
  return content || xml.stray;
}

/** Past a JSON value of the wrong kind, which is noted. */
export function refuseJsonKind(json: JsonReader, reading: Reading, expected: string): void {
  refuse(reading, 'InvalidType', `expected ${expected}, got ${json.kind()}`);
  json.skip();
}

/** Into an object ("{") or array ("["); false, past the value, for a null, and for another kind, which is noted. */
export function entersJson(json: JsonReader, reading: Reading, open: 123 | 91): boolean {
  const code = json.peek();
  if (code === open) {
    json.enter();
    return true;
  }
  if (code === 110) json.literal();
  else refuseJsonKind(json, reading, open === 123 ? 'an object' : 'an array');
  return false;
}
