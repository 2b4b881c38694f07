import type { JsonReader } from '../../json/reader.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { isNumberStart, mismatch, quote, refuseKind, type Scalar, type Scan } from './scalar.ts';
import { escapeXml, quoteJson } from './text.ts';

const { empty, plain, text: textKind, guid: guidKind } = nodeKinds;

/** Converts the string at the reader to XML content, in one pass if nothing needs escaping. */
function stringToXml(json: JsonReader): string {
  const { text } = json;
  const start = json.position + 1;
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      json.position = at + 1;
      return text.slice(start, at);
    }
    // controls, &, <, >, \ and all codes from the surrogates up; NaN at the end
    if (!(code >= 32 && code < 0xd800) || code === 38 || code === 60 || code === 62 || code === 92) break;
    at++;
  }
  return escapeXml(json.string(), json);
}

/** Converts the string, number or boolean at the reader to XML content. */
function textOfValue(json: JsonReader): string {
  const code = json.peek();
  if (code === quote) return stringToXml(json);
  if (isNumberStart(code)) return json.number();
  if (code === 116 || code === 102) return json.literal();
  return mismatch('a string', json);
}

/** `xs:string`: each character is kept (W14). Numbers and booleans of a reply become texts (W22). */
export const string: Scalar = {
  expected: 'xs:string',
  takesEmpty: true,
  text: 'string',
  fromXml: quoteJson,
  toXml: textOfValue,
  scan: (otherwise) => (tape) => {
    if (tape.peek() !== quote) {
      otherwise(tape);
      return;
    }
    const start = tape.position + 1;
    const asIs = tape.scanString();
    const end = tape.position - 1;
    if (start === end) tape.pushKind(empty);
    else tape.pushRange(asIs ? plain : textKind, start, end);
  },
  checkJson: (json) => {
    if (json.peek() !== quote) return refuseKind(json, 'a string');
    json.scanString();
    return undefined;
  },
};

/** .NET's four forms of a GUID: 32 digits, with dashes, with dashes in braces or parentheses (W21). */
const guidForms = /^(?:[0-9a-f]{32}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/i;

/** A string that is normalized in replies if it is a GUID (W21). */
export const guid: Scalar = {
  ...string,
  toXml: (json) => {
    const text = textOfValue(json);
    const isWrapped = text.length === 38 && ['{}', '()'].includes(text.charAt(0) + text.charAt(37));
    const bare = isWrapped ? text.slice(1, -1) : text;
    if (!guidForms.test(bare)) return text;
    const digits = bare.replaceAll('-', '').toLowerCase();
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
  },
  scan: (otherwise) => (tape) => scanGuid(tape, otherwise),
};

const hexadecimal = new Uint8Array(256);
for (const byte of Buffer.from('0123456789abcdef')) hexadecimal[byte] = 1;

/**
 * Fast path for .NET's form N, 32 lower-case digits, which is the most common form. Others are converted by the
 * scalar's rule (W21).
 */
function scanGuid(tape: Tape, otherwise: Scan): void {
  const { bytes } = tape;
  if (tape.peek() === quote) {
    const start = tape.position + 1;
    let at = start;
    while (hexadecimal[bytes[at] as number] === 1) at++;
    if (at - start === 32 && bytes[at] === quote) {
      tape.position = at + 1;
      tape.pushRange(guidKind, start, at);
      return;
    }
  }
  otherwise(tape);
}
