import { type EnumType, isReference, namespaces, type ScalarName } from '../../contract/model.ts';
import type { XmlReader } from '../../xml/reader.ts';
import type { TextValue } from '../fast-path/placeholders.ts';
import { type Reading, refuse } from '../problem.ts';
import { refuseJsonKind } from '../read-element.ts';
import type { Codec, Setup } from '../readers.ts';
import { collapse } from '../scalars/numbers.ts';
import { excerpt, quoteJson } from '../scalars/text.ts';
import { base64FromXml, isBlankText, type Refusal, type Scalar } from '../scalars.ts';

/** Codecs of what an element holds as text alone: scalars and enums. */

export function scalarCodecs(
  setup: Setup,
  scalars: Readonly<Record<ScalarName, Scalar>>,
): Readonly<Record<ScalarName, Codec>> {
  const codecs: Partial<Record<ScalarName, Codec>> = {};
  for (const name of Object.keys(scalars) as ScalarName[]) {
    const nullIsNil = setup.contract.nulls === 'kept' || isReference({ kind: 'scalar', scalar: name });
    codecs[name] = scalarCodec(setup, scalars[name], nullIsNil);
  }
  return codecs as Record<ScalarName, Codec>;
}

/** What reading an element's text found: the text, or that there is nothing to convert. */
function readText(
  setup: Setup,
  scalar: Pick<Scalar, 'text' | 'takesEmpty' | 'expected'>,
  xml: XmlReader,
  reading: Reading,
): string | undefined {
  const text = xml.readText(mostText(setup, scalar), scalar.text === 'string');
  if (text === undefined) {
    refuse(reading, 'InvalidType', `expected ${scalar.expected}, got elements`);
    return undefined;
  }
  if (!scalar.takesEmpty && isBlankText(text)) {
    if (setup.contract.settings.emptyElements === 'refuse') {
      refuse(
        reading,
        'NotEmpty',
        `expected ${scalar.expected}, got an empty element; leave the element out where no value is meant (node-soap writes a JavaScript Date like this: pass it as an ISO string)`,
      );
    }
    return undefined;
  }
  return text;
}

/** In characters. */
function mostText({ limits }: Setup, { text }: Pick<Scalar, 'text'>): number {
  return text === 'binary' ? Number.POSITIVE_INFINITY : limits.xmlText;
}

function textValue(
  setup: Setup,
  scalar: Pick<Scalar, 'text' | 'takesEmpty'>,
  tokenOf: TextValue['tokenOf'],
  isText: boolean,
): TextValue {
  const { text, takesEmpty } = scalar;
  return {
    lenient: text === 'string',
    maxLength: mostText(setup, scalar),
    tokenOf: takesEmpty ? tokenOf : (given) => (isBlankText(given) ? undefined : tokenOf(given)),
    isText,
  };
}

function accept(result: string | Refusal, reading: Reading): string | undefined {
  if (typeof result === 'string') return result;
  refuse(reading, result.code, result.says);
  return undefined;
}

function scalarCodec(setup: Setup, scalar: Scalar, reference: boolean): Codec {
  const keepsText = scalar.text === 'string';
  const tokenOf = (text: string): string | undefined => {
    const token = scalar.fromXml(text);
    return typeof token === 'string' ? token : undefined;
  };
  const value = textValue(setup, scalar, tokenOf, scalar.fromXml === quoteJson);
  return {
    read: (xml, reading) => {
      const encoded = keepsText && xml.attributeCount !== 0 && isBase64Typed(xml);
      const start = xml.position;
      const text = readText(setup, scalar, xml, reading);
      if (text === undefined) return undefined;
      if (!encoded) {
        const token = accept(scalar.fromXml(text), reading);
        return reading.marks === undefined ? token : reading.marks.mark(start, token, value);
      }
      const decoded = decodeBase64Text(text);
      if (decoded !== undefined) return scalar.fromXml(decoded) as string;
      refuse(
        reading,
        'InvalidType',
        'expected the base64 of UTF-8 text, as its xsi:type says, got other text',
      );
      return undefined;
    },
    pass: (json, reading) => {
      if (json.peek() === 110) {
        json.literal();
        return;
      }
      const start = json.position;
      const result = scalar.checkJson(json);
      if (result === undefined) return;
      if (typeof result === 'string') reading.edits.push({ start, end: json.position, text: result });
      else refuse(reading, result.code, result.says);
    },
    fromText: (text, reading) => {
      if (!scalar.takesEmpty && isBlankText(text)) {
        refuse(reading, 'NotEmpty', `expected ${scalar.expected}, got nothing`);
        return undefined;
      }
      return accept(scalar.fromXml(text), reading);
    },
    nil: reference ? 'null' : undefined,
    nilItem: keepsText ? 'null' : setup.nilItem,
  };
}

export function enumCodec(setup: Setup, type: EnumType, allowed: readonly string[]): Codec {
  const tokens = new Map(allowed.map((value) => [value, JSON.stringify(value)]));
  const expected = allowed.length > 12 ? `a value of ${type.name}` : `one of ${allowed.join(', ')}`;
  const shape = { text: 'plain', takesEmpty: allowed.includes(''), expected } as const;
  const refuseValue = (value: string, reading: Reading): undefined => {
    refuse(reading, 'InvalidEnum', `expected ${expected}, got ${excerpt(value)}`);
    return undefined;
  };
  const fromText = (text: string, reading: Reading) => tokens.get(text) ?? refuseValue(text, reading);
  const value = textValue(setup, shape, (text) => tokens.get(text), false);
  return {
    read: (xml, reading) => {
      const start = xml.position;
      const text = readText(setup, shape, xml, reading);
      if (text === undefined) return undefined;
      const token = fromText(text, reading);
      return reading.marks === undefined ? token : reading.marks.mark(start, token, value);
    },
    pass: (json, reading) => {
      const code = json.peek();
      if (code === 110) json.literal();
      else if (code !== 34) refuseJsonKind(json, reading, expected);
      else fromText(json.string(), reading);
    },
    fromText,
    nil: setup.nilItem,
    nilItem: setup.nilItem,
  };
}

/** SOAP::Lite marks every non-ASCII string so (W11). */
function isBase64Typed(xml: XmlReader): boolean {
  const type = xml.attribute(namespaces.xsi, 'type');
  if (type === undefined) return false;
  const name = collapse(type);
  const colon = name.indexOf(':');
  if (name.slice(colon + 1) !== 'base64Binary' && name.slice(colon + 1) !== 'base64') return false;
  const namespace = xml.resolve(colon === -1 ? '' : name.slice(0, colon));
  return namespace === namespaces.xsd || namespace === namespaces.soap11Encoding;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeBase64Text(text: string): string | undefined {
  const letters = base64FromXml(text);
  if (letters === undefined) return undefined;
  try {
    return utf8.decode(Buffer.from(letters, 'base64'));
  } catch {
    return undefined; // not UTF-8: the caller is told so
  }
}
