import type { Reason } from '../../contract/reason.ts';
import type { JsonReader } from '../../json/reader.ts';
import type { Tape } from '../../json/tape.ts';
import { isBlank } from '../../xml/characters.ts';
import { type Deviation, MismatchError, type ProblemCode } from '../problem.ts';
import { escapeXml, excerpt } from './text.ts';

/** What every scalar is made of: requests are read as text, replies are written from text or from the tape's bytes. */

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

/** What a text of a request becomes: a JSON token, or why it is refused. */
export type Conversion = string | Tolerated | Refusal;

/** The JSON token of a conversion; undefined for a refusal. */
export function tokenIn(conversion: Conversion): string | undefined {
  if (typeof conversion === 'string') return conversion;
  return 'token' in conversion ? conversion.token : undefined;
}

/** Scans the value at the tape's position: moves past it and pushes one node. Throws MismatchError, JsonError. */
export type Scan = (tape: Tape) => void;

/** One scalar type, both ways. */
export interface Scalar {
  /** What a message calls it, such as `xs:int`. */
  readonly expected: string;
  /** Whether the empty element is a value (`""`) rather than an error (W13). */
  readonly takesEmpty: boolean;
  /** `string`: text is kept, with W10's exceptions. `binary`: text up to the body's limit. */
  readonly text: 'string' | 'binary' | 'plain';
  /** Of a request: an element's text, not empty unless `takesEmpty`, as a JSON token. */
  readonly fromXml: (text: string) => Conversion;
  /**
   * Of a reply: the JSON value that starts here, not null, as XML content; null stands for JSON null (W22). Throws
   * MismatchError.
   */
  readonly toXml: (json: JsonReader) => string | null;
  /** Of a reply: whether readers in common use can't hold what `toXml` wrote; undefined where they hold all of the type. */
  readonly isInexact?: ((written: string) => boolean) | undefined;
  /**
   * Of a reply: a shortcut of `toXml` over the tape's bytes, for the forms that are common.
   *
   * @param otherwise scans what isn't in such a form, nulls too, by `toXml`; without a shortcut it scans all
   */
  readonly scan?: (otherwise: Scan) => Scan;
  /**
   * Of a JSON request: checks the value that starts here, not null (W37). Undefined when it may pass as it is, else its
   * replacement.
   */
  readonly checkJson: (json: JsonReader) => Conversion | undefined;
}

/** The code of `"`. */
export const quote = 34;

/** A refusal of a value that isn't of the type: `expected …, got …`. */
export function invalid(expected: string, got: string): Refusal {
  return { code: 'InvalidType', reason: { expected, got } };
}

/** True for the code of a character that a JSON number may begin with. */
export const isNumberStart = (code: number): boolean => code === 45 || (code >= 48 && code <= 57);

/** What starts at the reader, for a message about a reply: kinds, no values, since replies hold people's data. */
export function mismatch(expected: string, json: JsonReader): never {
  throw new MismatchError({ expected, got: json.kind() });
}

/** Reads past a value that is refused by its kind alone. */
export function refuseKind(json: JsonReader, expected: string): Refusal {
  const got = json.kind();
  json.skip();
  return invalid(expected, got);
}

/** How a scalar whose JSON form is a string reads texts; each function gives undefined for a text that is none. */
export interface TextRules {
  /** What a message calls it, such as `xs:date`. */
  readonly expected: string;
  /** An element's text as the JSON string's, which needs no escapes; or a conversion to a token. */
  readonly fromXml: (text: string) => string | Exclude<Conversion, string> | undefined;
  /** A reply's text, not empty, as XML content. */
  readonly fromReply: (text: string) => string | undefined;
  /** The same of a text that `fromReply` refuses, where its meaning is certain; in replies alone. */
  readonly repair?: (text: string) => string | undefined;
  /** The text of a JSON request as upstream gets it; or a conversion to a token. */
  readonly fromRequest: (text: string) => string | Exclude<Conversion, string> | undefined;
  /** What becomes of a reply's text that is none: a mismatch (W22), or it goes out as it came. */
  readonly misfits: 'refuse' | 'pass';
}

/** A scalar whose JSON form is a string. */
export function textual({ expected, fromXml, fromReply, repair, fromRequest, misfits }: TextRules): Scalar {
  return {
    expected,
    takesEmpty: false,
    text: 'plain',
    fromXml: (text) => {
      const value = fromXml(text);
      if (value === undefined) return invalid(expected, excerpt(text));
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
      if (misfits === 'refuse') throw new MismatchError({ expected, got: 'a string that is none' });
      json.passed++;
      return escapeXml(text, json);
    },
    checkJson: (json) => {
      if (json.peek() !== quote) return refuseKind(json, expected);
      const text = json.string();
      const value = fromRequest(text);
      if (value === undefined) return invalid(expected, excerpt(text));
      if (typeof value !== 'string') return value;
      return value === text ? undefined : `"${value}"`;
    },
  };
}

/** True for text of blanks alone, which W13 reads as empty for numbers, booleans and dates. */
export function isBlankText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isBlank(text.charCodeAt(at))) return false;
  return true;
}
