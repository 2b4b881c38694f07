import { maxDigits } from '../../json/decimal.ts';
import { isOfFormat } from './formats.ts';
import { collapse } from './numbers.ts';
import { type Scalar, type TextRules, textual } from './scalar.ts';

/** Weeks, which ISO 8601 has and XSD doesn't. */
const weeks = /^(?<sign>-?)P(?<count>\d+)W$/;

/** True for the text of an `xs:duration`: ISO 8601's but for weeks, and with a sign (XSD Part 2, 3.2.6). */
function isOfXsd(text: string): boolean {
  return !text.endsWith('W') && isOfFormat('duration', text.startsWith('-') ? text.slice(1) : text);
}

/** An ISO 8601 duration as the text of an `xs:duration`: as it is, weeks as days. Undefined: it is none. */
function durationFromJson(text: string): string | undefined {
  if (isOfXsd(text)) return text;
  const { sign, count } = weeks.exec(text)?.groups ?? {};
  // as many digits as are written out elsewhere (W15)
  return count === undefined || count.length > maxDigits ? undefined : `${sign}P${BigInt(count) * 7n}D`;
}

/**
 * `xs:duration`: in JSON the text of ISO 8601. Of a reply's text blanks around it are left out, and a comma becomes the point
 * (ISO 8601 has both).
 *
 * @param misfits what becomes of a reply's text that is no duration (`invalidDates`)
 */
export function duration(misfits: TextRules['misfits']): Scalar {
  return textual({
    expected: 'xs:duration',
    // which is one of ISO 8601 too
    fromXml: (text) => {
      const collapsed = collapse(text);
      return isOfXsd(collapsed) ? collapsed : undefined;
    },
    fromReply: durationFromJson,
    repair: (text) => durationFromJson(collapse(text).replace(',', '.')),
    fromRequest: (text) => (durationFromJson(text) === undefined ? undefined : text),
    misfits,
  });
}
