import type { Limits } from '../contract/limits.ts';

/** Text that isn't JSON (RFC 8259), or is over a limit. The message never holds the document's own text. */
export class JsonError extends Error {
  readonly position: number;
  readonly limit: keyof Limits | undefined;

  constructor(position: number, message: string, limit?: keyof Limits) {
    super(`position ${position}: ${message}`);
    this.name = 'JsonError';
    this.position = position;
    this.limit = limit;
  }
}

/** Characters of a string from which on native code decodes it in less time, however many escapes it has. */
const longText = 256;

const quote = 34;
const backslash = 92;

/**
 * A forward-only reader over JSON text, made for codecs that know what comes next. Strict RFC 8259: every
 * character is looked at once, by the codec or by `skip`.
 */
export class JsonReader {
  readonly text: string;
  position: number;
  /** Characters that XML can't carry and that became U+FFFD (W21). */
  replaced = 0;
  /** Members that the contract lacks and that were left out (W20). */
  dropped = 0;
  /** Values that aren't of their type and are written all the same. */
  passed = 0;
  #depth = 0;
  #members = 0;
  readonly #maxDepth: number;
  readonly #maxMembers: number;

  constructor(text: string, limits: Limits, position = 0) {
    this.text = text;
    this.position = position;
    this.#maxDepth = limits.jsonDepth;
    this.#maxMembers = limits.jsonMembers;
  }

  fail(expected: string): never {
    const got =
      this.position >= this.text.length
        ? 'the end'
        : `U+${this.text.charCodeAt(this.position).toString(16).toUpperCase().padStart(4, '0')}`;
    throw new JsonError(this.position, `expected ${expected}, got ${got}`);
  }

  /** Code of the next character that isn't blank, which becomes the position; NaN at the end. */
  peek(): number {
    let code = this.text.charCodeAt(this.position);
    while (code === 32 || code === 10 || code === 13 || code === 9) {
      code = this.text.charCodeAt(++this.position);
    }
    return code;
  }

  /** Past the end only blanks may follow. */
  end(): void {
    this.peek();
    if (this.position < this.text.length) this.fail('nothing more');
  }

  /** Enters an object or array; the position is past its bracket. */
  enter(): void {
    if (++this.#depth > this.#maxDepth) {
      throw new JsonError(this.position, `nesting deeper than ${this.#maxDepth}`, 'jsonDepth');
    }
    this.position++;
  }

  /**
   * Moves to the next member's or item's start. `first` is true right after `enter`. False when the closing
   * bracket came, which is then past.
   */
  next(first: boolean, close: number): boolean {
    let code = this.peek();
    if (code === close) {
      this.position++;
      this.#depth--;
      return false;
    }
    if (!first) {
      if (code !== 44) this.fail(close === 125 ? '"," or "}"' : '"," or "]"');
      this.position++;
      code = this.peek();
      if (code === close) this.fail('a value after ","');
    }
    if (++this.#members > this.#maxMembers) {
      throw new JsonError(this.position, `more than ${this.#maxMembers} members and items`, 'jsonMembers');
    }
    return true;
  }

  /** A member's name, decoded; the position is then at its value. */
  name(): string {
    if (this.peek() !== quote) this.fail('a member name');
    const name = this.string();
    if (this.peek() !== 58) this.fail('":"');
    this.position++;
    this.peek();
    return name;
  }

  /** Moves past the string that starts here; true when it holds an escape. Checks it whole. */
  skipString(): boolean {
    const text = this.text;
    let at = this.position + 1;
    let escaped = false;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.position = at + 1;
        return escaped;
      }
      if (code === backslash) {
        escaped = true;
        at = this.#escapeEnd(at);
      } else if (code >= 32) {
        at++;
      } else {
        this.position = at;
        this.fail('a character of a string or its closing quote');
      }
    }
  }

  #escapeEnd(at: number): number {
    switch (this.text.charCodeAt(at + 1)) {
      case 34: // "
      case 92: // \
      case 47: // /
      case 98: // b
      case 102: // f
      case 110: // n
      case 114: // r
      case 116: // t
        return at + 2;
      case 117: // u
        for (let digit = at + 2; digit < at + 6; digit++) {
          if (hexValue(this.text.charCodeAt(digit)) < 0) {
            this.position = digit;
            this.fail('a hexadecimal digit');
          }
        }
        return at + 6;
      default:
        this.position = at + 1;
        return this.fail('an escape of JSON');
    }
  }

  /** The string that starts here, decoded. */
  string(): string {
    const start = this.position;
    if (!this.skipString()) return this.text.slice(start + 1, this.position - 1);
    if (this.position - start > longText) return String(JSON.parse(this.text.slice(start, this.position)));
    return decodeString(this.text, start + 1, this.position - 1);
  }

  /** The number that starts here, as its text. */
  number(): string {
    const start = this.position;
    this.#skipNumber();
    return this.text.slice(start, this.position);
  }

  #skipNumber(): void {
    const text = this.text;
    let at = this.position;
    if (text.charCodeAt(at) === 45) at++;
    let code = text.charCodeAt(at);
    if (code === 48) {
      code = text.charCodeAt(++at);
    } else if (code >= 49 && code <= 57) {
      do code = text.charCodeAt(++at);
      while (code >= 48 && code <= 57);
    } else {
      this.position = at;
      this.fail('a value');
    }
    if (code === 46) {
      at = this.#digits(at + 1);
      code = text.charCodeAt(at);
    }
    if (code === 101 || code === 69) {
      code = text.charCodeAt(++at);
      if (code === 43 || code === 45) at++;
      at = this.#digits(at);
    }
    this.position = at;
  }

  #digits(at: number): number {
    const start = at;
    let code = this.text.charCodeAt(at);
    while (code >= 48 && code <= 57) code = this.text.charCodeAt(++at);
    if (at === start) {
      this.position = at;
      this.fail('a digit');
    }
    return at;
  }

  /** `true`, `false` or `null`, whichever starts here. */
  literal(): 'true' | 'false' | 'null' {
    const { text, position } = this;
    for (const word of ['true', 'false', 'null'] as const) {
      if (text.startsWith(word, position)) {
        this.position = position + word.length;
        return word;
      }
    }
    return this.fail('a value');
  }

  /** Moves past whatever value starts here, checking it whole. */
  skip(): void {
    const code = this.peek();
    if (code === quote) this.skipString();
    else if (code === 123 || code === 91) this.#skipNested(code);
    else if (code === 116 || code === 102 || code === 110) this.literal();
    else this.#skipNumber();
  }

  #skipNested(open: number): void {
    const close = open + 2; // "{" "}" and "[" "]" lie two apart
    this.enter();
    for (let first = true; this.next(first, close); first = false) {
      if (close === 125) {
        if (this.peek() !== quote) this.fail('a member name');
        this.skipString();
        if (this.peek() !== 58) this.fail('":"');
        this.position++;
      }
      this.skip();
    }
  }

  /** What kind of value starts here, in words for a message. Throws where none does. */
  kind(): string {
    const code = this.peek();
    if (code === quote) return 'a string';
    if (code === 123) return 'an object';
    if (code === 91) return 'an array';
    if (code === 116 || code === 102) return 'a boolean';
    if (code === 110) return 'null';
    if (code !== 45 && !(code >= 48 && code <= 57)) this.fail('a value');
    return 'a number';
  }
}

/** Value of a hexadecimal digit's character code; -1 for another. */
export function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The characters between two quotes, escapes resolved; the text has been checked. */
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
