import { maxDigits } from '../../json/decimal.ts';
import { isOfFormat } from './formats.ts';
import { collapse } from './numbers.ts';
import { type Scalar, type TextRules, textual } from './scalar.ts';

/** A duration in weeks, which is part of ISO 8601 but not of XSD. */
const weeks = /^(?<sign>-?)P(?<count>\d+)W$/;

/**
 * Returns true for the text of an `xs:duration`: ISO 8601 without weeks, with an optional sign (XSD Part 2, 3.2.6).
 */
function isOfXsd(text: string): boolean {
  return !text.endsWith('W') && isOfFormat('duration', text.startsWith('-') ? text.slice(1) : text);
}

/**
 * Converts an ISO 8601 duration to the text of an `xs:duration`: unchanged, or weeks as days. Undefined for any other
 * text.
 */
function durationFromJson(text: string): string | undefined {
  if (isOfXsd(text)) return text;
  const { sign, count } = weeks.exec(text)?.groups ?? {};
  // the same limit as for digits of numbers (W15)
  return count === undefined || count.length > maxDigits ? undefined : `${sign}P${BigInt(count) * 7n}D`;
}

/**
 * `xs:duration`: a text of ISO 8601 in JSON. In a reply, surrounding blanks are removed, and a comma becomes a point
 * (ISO 8601 allows both).
 *
 * @param onInvalid how invalid texts of replies are handled (`invalidDates`)
 */
export function duration(onInvalid: TextRules['onInvalid']): Scalar {
  return textual({
    expected: 'xs:duration',
    // also valid in ISO 8601
    fromXml: (text) => {
      const collapsed = collapse(text);
      return isOfXsd(collapsed) ? collapsed : undefined;
    },
    fromReply: durationFromJson,
    repair: (text) => durationFromJson(collapse(text).replace(',', '.')),
    fromRequest: (text) => (durationFromJson(text) === undefined ? undefined : text),
    onInvalid,
  });
}
