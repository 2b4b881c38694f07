import type { EnumType } from '../../contract/model.ts';
import { nameKey, nodeKinds, type Tape } from '../../json/tape.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext } from '../context.ts';
import { noContent, refuseJsonKind, scanNull } from '../element.ts';
import { MismatchError, type Reading, refuse } from '../problem.ts';
import { quoteText } from '../scalars/text.ts';
import { readText } from './scalar.ts';

/** Codec of an enum: one of several texts. */

const { nothing, empty, plain, text } = nodeKinds;

/**
 * Returns the reader of an enum: XML → JSON, and checks of JSON. Values match exactly (W14).
 *
 * @param allowed the values that a field accepts, if fewer than its type has (W42)
 */
export function enumReader(
  context: ReaderContext,
  type: EnumType,
  allowed: readonly string[] = type.values,
): RequestReader {
  const tokens = new Map(allowed.map((value) => [value, JSON.stringify(value)]));
  const expected = allowed.length > 12 ? `a value of ${type.name}` : `one of ${allowed.join(', ')}`;
  const shape = { text: 'plain', takesEmpty: allowed.includes(''), expected } as const;
  const refuseValue = (value: string, reading: Reading): undefined =>
    refuse(reading, 'InvalidEnum', { expected, got: quoteText(value) });
  const fromText = (text: string, reading: Reading) => tokens.get(text) ?? refuseValue(text, reading);
  return {
    read: (xml, reading) => {
      const text = readText(context, shape, xml, reading);
      if (text === undefined) return undefined;
      return fromText(text, reading);
    },
    pass: (json, reading) => {
      const code = json.peek();
      if (code === 110) json.literal();
      else if (code !== 34) refuseJsonKind(json, reading, expected);
      else fromText(json.string(), reading);
    },
    fromText,
    nil: context.nilItem,
    nilItem: context.nilItem,
  };
}

/** JSON → XML: an unknown value is a mismatch, or is written unchanged, by `unknownEnumValues` (W22). */
export function enumWriter({ contract }: WriterContext, type: EnumType): ReplyWriter {
  const passUnknown = contract.settings.unknownEnumValues === 'pass';
  const known = type.values.filter((value) => /^[A-Za-z0-9_ .:/-]+$/.test(value)).map(nameKey);
  const values = new Set(type.values);
  const expected = type.values.length > 12 ? `a value of ${type.name}` : `one of ${type.values.join(', ')}`;
  const scan = (tape: Tape): void => {
    if (scanNull(tape)) return;
    if (tape.peek() !== 34) throw new MismatchError({ expected, got: tape.kind() });
    const start = tape.position + 1;
    for (const key of known) {
      if (tape.matches(start, key)) {
        tape.position = start + key.length;
        tape.pushRange(plain, start, tape.position - 1);
        return;
      }
    }
    const asIs = tape.scanString();
    const end = tape.position - 1;
    const value = tape.decode(start, end);
    if (value === '' && !values.has('') && !tape.strict) tape.pushKind(nothing);
    else {
      if (!values.has(value)) {
        if (!passUnknown) throw new MismatchError({ expected, got: 'another value' });
        tape.passed++;
      }
      if (value === '') tape.pushKind(empty);
      else tape.pushRange(asIs ? plain : text, start, end);
    }
  };
  return { scan, write: noContent, declarations: '' };
}
