import { base64Letters } from '../../json/base64-spans.ts';
import { nodeKinds, type Tape } from '../../json/tape.ts';
import { isBlank } from '../../xml/characters.ts';
import { MismatchError } from '../problem.ts';
import { invalid, mismatch, quote, refuseKind, type Scalar, type Scan } from './scalar.ts';

const { plain, made, binary, madeBinary } = nodeKinds;

/** XSD Part 2, 3.2.16: four letters a group, blanks allowed between, padding only at the end. Undefined: it isn't base64. */
export function base64FromXml(text: string): string | undefined {
  if (isBase64(text, 0, text.length)) return text;
  const letters = withoutBlanks(text);
  return letters !== undefined && letters.length < text.length && isBase64(letters, 0, letters.length)
    ? letters
    : undefined;
}

/** ASCII without its blanks; undefined for other text. By bytes: a pattern takes 50 ns for each blank. */
function withoutBlanks(text: string): string | undefined {
  if (/[^\0-\x7f]/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'latin1');
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (!isBlank(byte)) bytes[size++] = byte;
  }
  return bytes.toString('latin1', 0, size);
}

/** How many bytes base64 is of, as `base64FromXml` gives it. */
export function base64Size(letters: string): number {
  const { length } = letters;
  const padding = letters[length - 2] === '=' ? 2 : letters[length - 1] === '=' ? 1 : 0;
  return (length / 4) * 3 - padding;
}

function isBase64(text: string, start: number, end: number): boolean {
  if ((end - start) % 4 !== 0) return false;
  let letters = end;
  if (letters > start && text.charCodeAt(letters - 1) === 61) letters--;
  if (letters > start && text.charCodeAt(letters - 1) === 61) letters--;
  if (!areLetters(text, start, letters)) return false;
  if (letters === end) return true;
  // the bits that padding leaves over must be zero: Q w g A for two "=", every fourth letter for one
  return (end - letters === 2 ? 'AQgw' : 'AEIMQUYcgkosw048').includes(text.charAt(letters - 1));
}

/** Native code looks through a long text in a third of the time. */
function areLetters(text: string, start: number, end: number): boolean {
  if (end - start > 1_000) return !/[^A-Za-z0-9+/]/.test(text.slice(start, end));
  for (let at = start; at < end; at++) if (base64Letters[text.charCodeAt(at)] !== 1) return false;
  return true;
}

/** `xs:base64Binary`: the letters travel as they are, without the blanks that XML may have among them. */
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
    const start = json.position + 1;
    const letters = json.scanString() ? json.text.slice(start, json.position - 1) : undefined;
    const unescaped = letters ?? base64OfEscaped(json.text, start, json.position - 1);
    if (unescaped === undefined || !isBase64(unescaped, 0, unescaped.length))
      throw new MismatchError('expected base64, got other text');
    return unescaped;
  },
  scan: (otherwise) => {
    const scanText = attaching(otherwise);
    return (tape) => scanBase64(tape, scanText);
  },
  checkJson: (json) => {
    if (json.peek() !== quote) return refuseKind(json, 'base64');
    const start = json.position + 1;
    const letters = json.scanString()
      ? json.text.slice(start, json.position - 1)
      : base64OfEscaped(json.text, start, json.position - 1);
    const good = letters !== undefined && isBase64(letters, 0, letters.length);
    return good ? undefined : invalid('base64', 'other text');
  },
};

/** Base64 whose slashes, say, are escaped (`\/`). */
function base64OfEscaped(text: string, start: number, end: number): string | undefined {
  const decoded: unknown = JSON.parse(text.slice(start - 1, end + 1));
  return typeof decoded === 'string' ? decoded : undefined;
}

/** A scan by the scalar's rule; what it made is a part where it is long enough. */
function attaching(scanText: Scan): Scan {
  return (tape) => {
    const node = tape.top;
    scanText(tape);
    if (tape.words[node] !== made) return;
    const letters = tape.made[tape.words[node + 1] as number] ?? '';
    if (Buffer.byteLength(letters, 'base64') >= tape.attachFrom) tape.words[node] = madeBinary;
  };
}

/** Base64 without padding or escapes before its end goes out as it came; the last four letters by the scalar's rule. */
function scanBase64(tape: Tape, otherwise: Scan): void {
  if (tape.peek() !== quote) {
    otherwise(tape);
    return;
  }
  const { bytes } = tape;
  const start = tape.position + 1;
  let at = tape.knownLetters(start);
  while (base64Letters[bytes[at] as number] === 1) at++;
  if (bytes[at] === quote && at > start && (at - start) % 4 === 0) {
    tape.position = at + 1;
    tape.pushRange(((at - start) / 4) * 3 >= tape.attachFrom ? binary : plain, start, at);
  } else if (bytes[at] === 61 && at - start > 64) scanPadded(tape, start, at, otherwise);
  else otherwise(tape);
}

/** A long base64 with padding: its last group is checked as text, the rest has been seen. */
function scanPadded(tape: Tape, start: number, padding: number, otherwise: Scan): void {
  const end = tape.bytes[padding + 1] === 61 ? padding + 2 : padding + 1;
  const last = tape.slice(end - 4, end);
  const good = end - padding === 2 ? /^[A-Za-z0-9+/][AQgw]==$/ : /^[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=$/;
  if ((end - start) % 4 !== 0 || tape.bytes[end] !== quote || !good.test(last)) {
    otherwise(tape);
    return;
  }
  tape.position = end + 1;
  const isPart = ((end - start) / 4) * 3 - (end - padding) >= tape.attachFrom;
  tape.pushRange(isPart ? binary : plain, start, end);
}
