import type { Limits } from '../contract/limits.ts';
import { type Quote, quoteValue } from '../contract/reason.ts';
import { JsonGrammar } from './grammar.ts';

/** Minimum length in characters of a string with escapes for which `JSON.parse` is faster. */
const longText = 256;

const quote = 34;
const backslash = 92;

/** The grammar of JSON over text. Each character is read once, by the codec or by `skip`. */
export class JsonReader extends JsonGrammar {
  readonly text: string;

  /** @param position offset in the text, in UTF-16 units, from which to read */
  constructor(text: string, limits: Limits, position = 0) {
    super();
    this.text = text;
    this.begin(position, limits);
  }

  protected code(at: number): number {
    return this.text.charCodeAt(at);
  }

  protected got(at: number): Quote | undefined {
    if (at >= this.text.length) return undefined;
    return quoteValue(`U+${this.text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`);
  }

  /** Skips blanks and returns the code of the next character; NaN at the end. */
  peek(): number {
    let code = this.text.charCodeAt(this.position);
    while (code === 32 || code === 10 || code === 13 || code === 9) {
      code = this.text.charCodeAt(++this.position);
    }
    return code;
  }

  /** Reads a member's name and moves to its value. */
  name(): string {
    if (this.peek() !== quote) this.fail('a member name');
    const name = this.string();
    this.colon();
    this.peek();
    return name;
  }

  /** Moves past the string at the position and checks it. Returns true if it has no escapes. */
  scanString(): boolean {
    const text = this.text;
    let at = this.position + 1;
    let plain = true;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.position = at + 1;
        return plain;
      }
      if (code === backslash) {
        plain = false;
        at = this.escapeEnd(at);
      } else if (code >= 32) at++;
      else this.failAt(at, 'a character of a string or its closing quote');
    }
  }

  /** Reads the string at the position. */
  string(): string {
    const start = this.position;
    if (this.scanString()) return this.text.slice(start + 1, this.position - 1);
    if (this.position - start > longText) return String(JSON.parse(this.text.slice(start, this.position)));
    return decodeString(this.text, start + 1, this.position - 1);
  }

  /** Reads the number at the position, as text. */
  number(): string {
    const start = this.position;
    this.scanNumber();
    return this.text.slice(start, this.position);
  }
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Decodes the characters between two quotes. The text was checked before. */
function decodeString(text: string, start: number, end: number): string {
  let decoded = '';
  let from = start;
  for (let at = text.indexOf('\\', start); at !== -1 && at < end; at = text.indexOf('\\', from)) {
    decoded += text.slice(from, at);
    const letter = text.charAt(at + 1);
    if (letter === 'u') {
      decoded += String.fromCharCode(Number.parseInt(text.slice(at + 2, at + 6), 16));
      from = at + 6;
    } else {
      decoded += escapes[letter] ?? letter;
      from = at + 2;
    }
  }
  return decoded + text.slice(from, end);
}
