import type { Attachments } from '../codec/attachments.ts';
import { maxReportedProblems, startReading } from '../codec/problem.ts';
import type { LegacyReplyCodec } from '../compiled.ts';
import type { Limits } from '../contract/limits.ts';
import { namespaces } from '../contract/model.ts';
import type { QName } from '../contract/type-graph.ts';
import { decodeXml } from '../xml/decode.ts';
import { UnsupportedCharset, XmlError } from '../xml/error.ts';
import { XmlReader } from '../xml/reader.ts';

// Replies of a legacy service as JSON (G31). A reply is read strictly: each problem makes it unreadable.

/** An envelope of the legacy service. */
export interface LegacyEnvelope {
  readonly document: Buffer;
  readonly charset: string | undefined;
  readonly attachments: Attachments | undefined;
}

/** Result of reading an envelope. */
export type LegacyReading =
  | { readonly kind: 'reply'; readonly json: string; readonly missing: readonly string[] }
  /** A fault with the first element of its detail; undefined if it has none. */
  | { readonly kind: 'fault'; readonly detail: QName | undefined }
  | { readonly kind: 'unreadable'; readonly path: string; readonly expected: string };

/**
 * Reads an envelope of the legacy service.
 *
 * @param list local name of the elements that must not be ignored (W12)
 * @param acceptsReferences true to accept character references that XML forbids (W10)
 */
export function readLegacy(
  { document, charset, attachments }: LegacyEnvelope,
  codec: LegacyReplyCodec,
  list: string,
  limits: Limits,
  acceptsReferences: boolean,
): LegacyReading {
  try {
    const text = decodeXml(document, charset);
    const xml = new XmlReader(text, unlimited(limits), { acceptsIllegalReferences: acceptsReferences });
    return readEnvelope(xml, codec, list, limits, attachments);
  } catch (error) {
    if (error instanceof XmlError || error instanceof UnsupportedCharset)
      return unreadable('', 'a well-formed SOAP envelope');
    throw error;
  }
}

/** Returns the limits of a document whose size is limited. Only the nesting and the length of a text remain. */
export function unlimited(limits: Limits): Limits {
  const none = Number.POSITIVE_INFINITY;
  return { ...limits, xmlElements: none, xmlChildren: none, jsonMembers: none };
}

function unreadable(path: string, expected: string): LegacyReading {
  return { kind: 'unreadable', path, expected };
}

function readEnvelope(
  xml: XmlReader,
  codec: LegacyReplyCodec,
  list: string,
  { errors = maxReportedProblems }: Limits,
  attachments: Attachments | undefined,
): LegacyReading {
  const reading = startReading(errors);
  reading.attachments = attachments;
  xml.readRoot();
  const { namespace } = xml;
  const isSoap = namespace === namespaces.soap11 || namespace === namespaces.soap12;
  if (!isSoap || !isAt(xml, 'Envelope', namespace)) return unreadable('', 'a SOAP envelope');
  const blocks: string[] = [];
  let isBody = false;
  while (!isBody && xml.nextChild()) {
    isBody = isAt(xml, 'Body', namespace);
    if (isBody) break;
    if (!isAt(xml, 'Header', namespace)) xml.skip();
    else
      while (xml.nextChild()) {
        const block = codec.declares(xml.namespace, xml.local) ? codec.readHeader(xml, reading) : xml.skip();
        if (block !== undefined) blocks.push(block);
      }
  }
  if (!isBody || !xml.nextChild()) return unreadable('', 'an element in Body');
  if (isAt(xml, 'Fault', namespace)) return { kind: 'fault', detail: detailOf(xml) };
  const { root } = codec;
  if (root !== undefined && (xml.local !== root.local || xml.namespace !== root.namespace))
    return unreadable('', `<${root.local}> in Body`);
  const body = codec.read(xml, reading);
  xml.drain();
  const [problem] = reading.problems;
  if (problem !== undefined) {
    const { expected = 'another value' } = problem;
    return unreadable(problem.path, typeof expected === 'string' ? expected : expected.kind);
  }
  if (reading.missing.length === errors) return unreadable(reading.missing[0]?.path ?? '', 'a value');
  if (reading.ignored.includes(list)) return unreadable(list, 'only declared elements of this name');
  const json =
    blocks.length === 0
      ? body
      : `{"@headers":{${blocks.join(',')}}${body === '{}' ? '}' : `,${body.slice(1)}`}`;
  return { kind: 'reply', json, missing: reading.missing.map(({ path }) => path) };
}

function isAt(xml: XmlReader, local: string, namespace: string): boolean {
  return xml.local === local && xml.namespace === namespace;
}

/** Returns the first element in the detail of the fault at the reader. */
function detailOf(xml: XmlReader): QName | undefined {
  while (xml.nextChild())
    if (!/^detail$/i.test(xml.local)) xml.skip();
    else if (xml.nextChild()) return { namespace: xml.namespace, local: xml.local };
  return undefined;
}
