import type { Got } from '../../contract/got.ts';
import type { Quote, Reason } from '../../contract/reason.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { Tape } from '../../json/tape.ts';
import { isBlank } from '../../xml/characters.ts';
import { type Deviation, MismatchError, type ProblemCode } from '../problem.ts';
import { escapeXml, quoteText } from './text.ts';

/** The interface of scalars: requests are read as text, replies are written from text or from the tape's bytes. */

/** The code and the data of a refused value. */
export interface Refusal {
  readonly code: ProblemCode;
  readonly reason: Reason;
}

/** A value that is accepted although the client deviates from the contract. */
export interface Tolerated {
  /** The JSON token. */
  readonly token: string;
  readonly deviation: Deviation;
}

/** The result of converting a text of a request: a JSON token, or the reason why it is refused. */
export type Conversion = string | Tolerated | Refusal;

/** Returns the JSON token of a conversion; undefined for a refusal. */
export function tokenIn(conversion: Conversion): string | undefined {
  if (typeof conversion === 'string') return conversion;
  return 'token' in conversion ? conversion.token : undefined;
}

/** Scans the value at the tape's position: moves past it and pushes one node. Throws MismatchError, JsonError. */
export type Scan = (tape: Tape) => void;

/** Reads and writes values of one scalar type. */
export interface Scalar {
  /** The type's name in messages, for example `xs:int`. */
  readonly expected: string;
  /** True if the empty element is a value (`""`) and not an error (W13). */
  readonly takesEmpty: boolean;
  /** `string`: text is preserved, with the exceptions of W10. `binary`: text may be as long as the body. */
  readonly text: 'string' | 'binary' | 'plain';
  /** Request: converts an element's text to a JSON token. The text is only empty if `takesEmpty` is true. */
  readonly fromXml: (text: string) => Conversion;
  /**
   * Reply: converts the JSON value at the reader, not null, to XML content; returns null for JSON null (W22). Throws
   * MismatchError.
   */
  readonly toXml: (json: JsonReader) => string | null;
  /**
   * Reply: returns true if common readers cannot represent the result of `toXml`; undefined if they represent all
   * values.
   */
  readonly isInexact?: ((written: string) => boolean) | undefined;
  /**
   * Reply: a fast path over the tape's bytes for common forms.
   *
   * @param otherwise scans values in other forms, including nulls, with `toXml`; without a fast path it scans all
   * values
   */
  readonly scan?: (otherwise: Scan) => Scan;
  /**
   * JSON request: checks the value at the reader, not null (W37). Returns undefined to pass it unchanged, else its
   * replacement.
   */
  readonly checkJson: (json: JsonReader) => Conversion | undefined;
}

/** The code of `"`. */
export const quote = 34;

/** Returns the refusal of a value that is not of the type: `expected …, got …`. */
export function invalid(expected: string, got: Got | Quote): Refusal {
  return { code: 'InvalidType', reason: { expected, got } };
}

/** Returns true for the code of a character that may begin a JSON number. */
export const isNumberStart = (code: number): boolean => code === 45 || (code >= 48 && code <= 57);

/**
 * Throws a mismatch for the value at the reader. The message has its kind but not the value, because replies contain
 * personal data.
 */
export function mismatch(expected: string, json: JsonReader): never {
  throw new MismatchError({ expected, got: json.kind() });
}

/** Skips a value that is refused because of its kind. */
export function refuseKind(json: JsonReader, expected: string): Refusal {
  const got = json.kind();
  json.skip();
  return invalid(expected, got);
}

/** The text conversions of a scalar that is a JSON string. Each returns undefined for an invalid text. */
export interface TextRules {
  /** The type's name in messages, for example `xs:date`. */
  readonly expected: string;
  /**
   * Converts an element's text to the content of a JSON string, without characters that need escapes, or to a token.
   */
  readonly fromXml: (text: string) => string | Exclude<Conversion, string> | undefined;
  /** Converts a reply's text, not empty, to XML content. */
  readonly fromReply: (text: string) => string | undefined;
  /** Converts a reply's text that `fromReply` refuses, if its meaning is certain. */
  readonly repair?: (text: string) => string | undefined;
  /** Converts the text of a JSON request to the upstream's, or to a token. */
  readonly fromRequest: (text: string) => string | Exclude<Conversion, string> | undefined;
  /** Treatment of invalid texts in replies: a mismatch (W22), or written unchanged. */
  readonly onInvalid: 'refuse' | 'pass';
}

/** Returns the scalar of a type that is a JSON string. */
export function textual({ expected, fromXml, fromReply, repair, fromRequest, onInvalid }: TextRules): Scalar {
  return {
    expected,
    takesEmpty: false,
    text: 'plain',
    fromXml: (text) => {
      const value = fromXml(text);
      if (value === undefined) return invalid(expected, quoteText(text));
      return typeof value === 'string' ? `"${value}"` : value;
    },
    toXml: (json) => {
      if (json.peek() !== quote) return mismatch(expected, json);
      const text = json.string();
      if (text === '') return null;
      const value = fromReply(text);
      if (value !== undefined) return value;
      const repaired = repair?.(text);
      if (repaired !== undefined) {
        json.repaired++;
        return repaired;
      }
      if (onInvalid === 'refuse') throw new MismatchError({ expected, got: 'an invalid string' });
      json.passed++;
      return escapeXml(text, json);
    },
    checkJson: (json) => {
      if (json.peek() !== quote) return refuseKind(json, expected);
      const text = json.string();
      const value = fromRequest(text);
      if (value === undefined) return invalid(expected, quoteText(text));
      if (typeof value !== 'string') return value;
      return value === text ? undefined : `"${value}"`;
    },
  };
}

/** Returns true for text of blanks only, which W13 treats as empty for numbers, booleans and dates. */
export function isBlankText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isBlank(text.charCodeAt(at))) return false;
  return true;
}
