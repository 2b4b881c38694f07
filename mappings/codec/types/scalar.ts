import type { Limits } from '../../contract/limits.ts';
import { namespaces, type ScalarName } from '../../contract/model.ts';
import { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import type { XmlReader } from '../../xml/reader.ts';
import { asText, readAttached, refusesInclude } from '../attachments.ts';
import type { ReaderContext, ReplyWriter, RequestReader } from '../context.ts';
import { noContent, scanNull } from '../element.ts';
import { MismatchError, type Reading, recordDeviation, refuse } from '../problem.ts';
import { base64Binary, base64FromXml } from '../scalars/base64.ts';
import { collapse } from '../scalars/numbers.ts';
import { type Conversion, isBlankText, type Scalar } from '../scalars/scalar.ts';
import { isReference, type ScalarRow, type Scalars } from '../scalars/table.ts';
import { finalTypeName, typeAttribute } from '../schema-instance.ts';

const { nothing, empty } = nodeKinds;

/** Codec of elements with text only. The rules of each scalar are in scalars/. */

/** Compiles the readers of all scalars. */
export function scalarReaders(
  context: ReaderContext,
  scalars: Scalars,
): Readonly<Record<ScalarName, RequestReader>> {
  const readers: Partial<Record<ScalarName, RequestReader>> = {};
  for (const name of Object.keys(scalars) as ScalarName[]) {
    const nullIsNil = context.contract.nulls === 'kept' || isReference({ kind: 'scalar', scalar: name });
    readers[name] = scalarReader(context, scalars[name], nullIsNil);
  }
  return readers as Record<ScalarName, RequestReader>;
}

/**
 * Reads an element's text. Returns undefined if there is nothing to convert, and records a problem if that is an error
 * (W13).
 */
export function readText(
  context: ReaderContext,
  scalar: Pick<Scalar, 'text' | 'takesEmpty' | 'expected'>,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  if (reading.attachments !== undefined && refusesInclude(xml, scalar.expected, reading)) return undefined;
  const text = xml.readText(mostText(context, scalar), scalar.text === 'string');
  if (text === undefined)
    return refuse(reading, 'InvalidType', { expected: scalar.expected, got: 'elements' });
  if (!scalar.takesEmpty && isBlankText(text)) {
    if (context.contract.settings.emptyElements === 'refuse') {
      refuse(reading, 'NotEmpty', {
        expected: scalar.expected,
        got: 'an empty element',
        detail: `leave the element out where no value is meant${scalar.expected.startsWith('xs:date') ? dateHint : ''}`,
      });
    }
    return undefined;
  }
  return text;
}

const dateHint = ' (node-soap writes a JavaScript Date like this: pass it as an ISO string)';

/** Returns the maximum length of an element's text, in characters. */
export function mostText({ limits }: Pick<ReaderContext, 'limits'>, { text }: Pick<Scalar, 'text'>): number {
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

function scalarReader(context: ReaderContext, scalar: Scalar, reference: boolean): RequestReader {
  const keepsText = scalar.text === 'string';
  const isBinary = scalar === base64Binary;
  return {
    read: (xml, reading) => {
      if (isBinary && reading.attachments !== undefined) {
        const attached = readAttached(reading.attachments, xml, reading);
        if (attached !== asText) return attached;
      }
      const encoded = keepsText && xml.attributeCount !== 0 && isBase64Typed(xml);
      const text = readText(context, scalar, xml, reading);
      if (text === undefined) return undefined;
      if (!encoded) return accept(scalar.fromXml(text), reading);
      const decoded = decodeBase64Text(text);
      if (decoded !== undefined) return scalar.fromXml(decoded) as string;
      return refuse(reading, 'InvalidType', {
        expected: 'the base64 of UTF-8 text, as its xsi:type says',
        got: 'other text',
      });
    },
    pass: (json, reading) => {
      if (json.peek() === 110) {
        json.literal();
        return;
      }
      const start = json.position;
      const result = scalar.checkJson(json);
      if (result === undefined) return;
      const token = accept(result, reading);
      if (token !== undefined) reading.edits.push({ start, end: json.position, text: token });
    },
    fromText: (text, reading) => {
      if (!scalar.takesEmpty && isBlankText(text))
        return refuse(reading, 'NotEmpty', { expected: scalar.expected, got: 'nothing' });
      return accept(scalar.fromXml(text), reading);
    },
    nil: reference ? 'null' : undefined,
    nilItem: keepsText ? 'null' : context.nilItem,
  };
}

/**
 * JSON → XML: bytes that need no conversion are copied, other values are converted by the scalar's rule.
 *
 * @param json the kind of the value's token; if a union tries the type (`Tape.strict`), other kinds are a mismatch
 */
export function scalarWriter(scalar: Scalar, json: ScalarRow['json'], limits: Limits): ReplyWriter {
  const isString = json === 'string';

  /** Scans the value at the tape's position by the scalar's own rules, through its text. */
  const scanText = (tape: Tape): void => {
    if (scanNull(tape)) return;
    const start = tape.position;
    if (tape.strict && (tape.bytes[start] === 34) !== isString)
      throw new MismatchError({ expected: scalar.expected, got: tape.kind() });
    tape.skip();
    const reader = new JsonReader(tape.slice(start, tape.position), limits);
    const content = scalar.toXml(reader);
    // requests, and values of a union, need the exact form of the type
    const isExact = tape.jsonRequest !== undefined;
    if ((isExact && reader.passed > 0) || ((isExact || tape.strict) && reader.repaired > 0))
      throw new MismatchError({ expected: scalar.expected, got: 'another value' });
    tape.replaced += reader.replaced;
    tape.passed += reader.passed;
    if (content !== null && scalar.isInexact?.(content) === true) tape.inexact++;
    if (content === null) {
      if (tape.strict) throw new MismatchError({ expected: scalar.expected, got: 'an empty string' });
      tape.pushKind(nothing);
    } else if (content === '') tape.pushKind(empty);
    else tape.pushMade(content);
  };

  return { scan: scalar.scan?.(scanText) ?? scanText, write: noContent, declarations: '' };
}

/**
 * Returns true if the element's `xsi:type` declares its string as base64. SOAP::Lite does that for each non-ASCII
 * string (W11).
 */
export function isBase64Typed(xml: XmlReader): boolean {
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
export function decodeBase64Text(text: string): string | undefined {
  const letters = base64FromXml(text);
  if (letters === undefined) return undefined;
  try {
    return utf8.decode(Buffer.from(letters, 'base64'));
  } catch {
    return undefined; // refused because it is not UTF-8
  }
}
