import type { Limits } from '../../contract/limits.ts';
import type { EnumType, ScalarName } from '../../contract/model.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext } from '../context.ts';
import { noContent } from '../element.ts';
import { refuse } from '../problem.ts';
import { enumeration } from '../scalars/enumeration.ts';
import { isBlankText, type Scalar } from '../scalars/scalar.ts';
import { isReference, type ScalarRow, type Scalars } from '../scalars/table.ts';
import { accept, plainTexts, readSimple, textScanner } from '../simple-text.ts';

/** Codecs of elements with text only: scalars and enums. The rules of each scalar are in scalars/. */

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

/** @param reference true if `xsi:nil` is a JSON null (W13) */
export function scalarReader(context: ReaderContext, scalar: Scalar, reference: boolean): RequestReader {
  const texts = plainTexts(scalar);
  return {
    read: (xml, reading) => readSimple(texts, context, undefined, xml, reading),
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
    nilItem: scalar.text === 'string' ? 'null' : context.nilItem,
  };
}

/**
 * JSON → XML: bytes that need no conversion are copied, other values are converted by the scalar's rule.
 *
 * @param json the kind of the value's token; if a union tries the type (`Tape.strict`), other kinds are a mismatch
 */
export function scalarWriter(scalar: Scalar, json: ScalarRow['json'], limits: Limits): ReplyWriter {
  const scanText = textScanner(scalar, limits, json === 'string');
  return { scan: scalar.scan?.(scanText) ?? scanText, write: noContent, declarations: '' };
}

/**
 * Returns the reader of an enum: XML → JSON, and checks of JSON.
 *
 * @param allowed the values that a field accepts, if fewer than its type has (W42)
 */
export function enumReader(
  context: ReaderContext,
  type: EnumType,
  allowed: readonly string[] = type.values,
): RequestReader {
  const scalar = enumeration(allowed, type.name, context.settings.unknownEnumValues);
  return {
    ...scalarReader(context, scalar, context.contract.nulls === 'kept'),
    // an empty parameter is another value, not a missing one
    fromText: (text, reading) => accept(scalar.fromXml(text), reading),
  };
}

/** Returns the writer of an enum: JSON → XML. */
export function enumWriter({ contract, limits }: WriterContext, type: EnumType): ReplyWriter {
  const { unknownEnumValues } = contract.settings;
  return scalarWriter(enumeration(type.values, type.name, unknownEnumValues), 'string', limits);
}
