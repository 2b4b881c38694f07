import { base64Letters } from '../../json/base64-spans.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { isBlank } from '../../xml/characters.ts';
import { MismatchError } from '../problem.ts';
import { invalid, mismatch, quote, refuseKind, type Scalar, type Scan } from './scalar.ts';

const { plain, made, binary, madeBinary } = nodeKinds;

/**
 * Returns the base64 of an element's text without blanks: groups of four characters, blanks between them, padding at
 * the end (XSD Part 2, 3.2.16). Undefined if the text is invalid.
 */
export function base64FromXml(text: string): string | undefined {
  if (isBase64(text)) return text;
  const letters = withoutBlanks(text);
  return letters !== undefined && isBase64(letters) ? letters : undefined;
}

/**
 * Removes the blanks of an ASCII text; undefined for other text, and for text without blanks. It works on bytes,
 * because a regular expression is slow with many blanks.
 */
function withoutBlanks(text: string): string | undefined {
  if (/[^\0-\x7f]/.test(text) || !/[\t\n\r ]/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'latin1');
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (!isBlank(byte)) bytes[size++] = byte;
  }
  return bytes.toString('latin1', 0, size);
}

/** Returns the number of bytes that valid base64 without blanks encodes. */
export function base64Size(letters: string): number {
  const { length } = letters;
  const padding = letters[length - 2] === '=' ? 2 : letters[length - 1] === '=' ? 1 : 0;
  return (length / 4) * 3 - padding;
}

function isBase64(text: string): boolean {
  const { length } = text;
  if (length % 4 !== 0) return false;
  let letters = length;
  if (text.charCodeAt(letters - 1) === 61) letters--;
  if (text.charCodeAt(letters - 1) === 61) letters--;
  return areLetters(text, letters) && isLast(text.charCodeAt(letters - 1), length - letters);
}

/** Native code checks a long text faster than the loop. */
function areLetters(text: string, end: number): boolean {
  if (end > 1_000) return !/[^A-Za-z0-9+/]/.test(text.slice(0, end));
  for (let at = 0; at < end; at++) if (base64Letters[text.charCodeAt(at)] !== 1) return false;
  return true;
}

/** The last character before one and two `=`: the unused bits must be zero. */
const lastLetters: readonly string[] = ['', 'AEIMQUYcgkosw048', 'AQgw'];

/** Returns true if a character is allowed before an amount of padding. */
function isLast(letter: number, padding: number): boolean {
  return padding === 0 || lastLetters[padding]?.includes(String.fromCharCode(letter)) === true;
}

/** `xs:base64Binary`: the base64 is unchanged, except that the blanks of XML are removed. */
export const base64Binary: Scalar = {
  expected: 'xs:base64Binary',
  takesEmpty: true,
  text: 'binary',
  fromXml: (text) => {
    const letters = base64FromXml(text);
    return letters === undefined ? invalid('xs:base64Binary', 'other text') : `"${letters}"`;
  },
  toXml: (json) => {
    if (json.peek() !== quote) return mismatch('base64', json);
    const letters = json.string();
    if (!isBase64(letters)) throw new MismatchError({ expected: 'base64', got: 'other text' });
    return letters;
  },
  scan: (otherwise) => {
    const scanText = attaching(otherwise);
    return (tape) => scanBase64(tape, scanText);
  },
  checkJson: (json) => {
    if (json.peek() !== quote) return refuseKind(json, 'base64');
    return isBase64(json.string()) ? undefined : invalid('base64', 'other text');
  },
};

/** Wraps a scan by the scalar's rule: its result becomes an attachment if it is long enough. */
function attaching(scanText: Scan): Scan {
  return (tape) => {
    const node = tape.top;
    scanText(tape);
    if (tape.words[node] !== made) return;
    const letters = tape.made[tape.words[node + 1] as number] ?? '';
    if (Buffer.byteLength(letters, 'base64') >= tape.attachFrom) tape.words[node] = madeBinary;
  };
}

/** Copies base64 without escapes. Other text is converted by the scalar's rule. */
function scanBase64(tape: Tape, otherwise: Scan): void {
  if (tape.peek() === quote) {
    const { bytes } = tape;
    const start = tape.position + 1;
    let letters = tape.knownLetters(start);
    while (base64Letters[bytes[letters] as number] === 1) letters++;
    let end = letters;
    while (bytes[end] === 61) end++;
    const padding = end - letters;
    const isWhole = bytes[end] === quote && end > start && (end - start) % 4 === 0;
    if (isWhole && isLast(bytes[letters - 1] as number, padding)) {
      tape.position = end + 1;
      const size = ((end - start) / 4) * 3 - padding;
      tape.pushRange(size >= tape.attachFrom ? binary : plain, start, end);
      return;
    }
  }
  otherwise(tape);
}
