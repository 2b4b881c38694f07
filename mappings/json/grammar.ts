import type { Got } from '../contract/got.ts';
import type { Limits } from '../contract/limits.ts';
import { type Quote, type Reason, sentence } from '../contract/reason.ts';

/** Thrown for text that is not JSON (RFC 8259) or exceeds a limit. The message never contains text of the document. */
export class JsonError extends Error {
  /** Counted from 0: UTF-16 units of a text, bytes of a body. */
  readonly position: number;
  readonly reason: Reason;
  /** The limit that is exceeded; undefined for all other errors. */
  readonly limit: keyof Limits | undefined;

  constructor(position: number, reason: Reason, limit?: keyof Limits) {
    const placed = { ...reason, where: `position ${position}` } as const;
    super(sentence(placed));
    this.name = 'JsonError';
    this.position = position;
    this.reason = placed;
    this.limit = limit;
  }
}

const quote = 34;
const colon = 58;
const comma = 44;

/** The character codes of each literal. */
const literals = (['true', 'false', 'null'] as const).map((word) => ({
  word,
  codes: [...Buffer.from(word)],
}));

/** A literal of JSON. */
export type Literal = (typeof literals)[number]['word'];

/** By character code after a backslash: 1 for a complete escape, 2 for "u". */
const escapes = new Uint8Array(128);
for (const byte of Buffer.from('"\\/bfnrt')) escapes[byte] = 1;
escapes[117] = 2;

/**
 * The grammar of JSON (RFC 8259) with limits of depth and members, for forward reading by codecs. It has two views:
 * `JsonReader` over text and `Tape` over the bytes of a reply. Each implements `code`, `peek` for blanks and
 * `scanString`. `Tape` also overrides `next`, `colon`, `scanNumber` and `literal`: a method that both views share is
 * slower, because each character access has two possible types. All methods throw JsonError.
 */
export abstract class JsonGrammar {
  /** Offset of the next character, in the unit of the view. */
  position = 0;
  /** Number of characters that XML does not allow and that became U+FFFD (W21). */
  replaced = 0;
  /** Number of members that were left out because the contract lacks them (W20). */
  dropped = 0;
  /** Number of values that do not match their type but are written. */
  passed = 0;
  /** Number of texts that were repaired to the form of their type (W17). */
  repaired = 0;
  /** Number of open objects and arrays. */
  protected depth = 0;
  /** Number of members and items so far. */
  protected members = 0;
  #maxDepth = 0;
  protected maxMembers = 0;

  /** Returns the code unit or byte at an offset. Past the end it returns 0 or NaN, which no token contains. */
  protected abstract code(at: number): number;
  /** Names the character at an offset for an error; undefined past the end. */
  protected abstract got(at: number): Quote | undefined;
  /** Skips blanks and returns the code of the next character. */
  abstract peek(): number;
  /** Moves past the string at the position and checks it. Returns true if its content needs no conversion. */
  abstract scanString(): boolean;

  /** Starts reading at an offset. */
  protected begin(position: number, limits: Limits): void {
    this.position = position;
    this.replaced = 0;
    this.dropped = 0;
    this.passed = 0;
    this.repaired = 0;
    this.depth = 0;
    this.members = 0;
    this.#maxDepth = limits.jsonDepth;
    this.maxMembers = limits.jsonMembers;
  }

  /** Throws the error about the character at the position. */
  fail(expected: string): never {
    throw new JsonError(this.position, { expected, got: this.got(this.position) ?? 'the end' });
  }

  /** Moves to an offset and throws the error about its character. */
  protected failAt(at: number, expected: string): never {
    this.position = at;
    return this.fail(expected);
  }

  /** Checks that only blanks follow (RFC 8259, 2). */
  end(): void {
    this.peek();
    if (this.got(this.position) !== undefined) this.fail('nothing more');
  }

  /** Enters an object or array, and moves past its opening bracket. */
  enter(): void {
    if (++this.depth > this.#maxDepth) {
      throw new JsonError(this.position, { detail: `nesting deeper than ${this.#maxDepth}` }, 'jsonDepth');
    }
    this.position++;
  }

  /**
   * Moves to the start of the next member or item (RFC 8259, 4 and 5). Returns false at the closing bracket, and moves
   * past it.
   *
   * @param first true directly after `enter`
   * @param close code of the closing bracket
   */
  next(first: boolean, close: number): boolean {
    let code = this.peek();
    if (code === close) {
      this.position++;
      this.depth--;
      return false;
    }
    if (!first) {
      if (code !== comma) this.failAtComma(close);
      this.position++;
      code = this.peek();
      if (code === close) this.fail('a value after ","');
    }
    if (++this.members > this.maxMembers) this.failAtMembers();
    return true;
  }

  /** Throws the error about a missing comma or closing bracket. */
  protected failAtComma(close: number): never {
    return this.fail(close === 125 ? '"," or "}"' : '"," or "]"');
  }

  /** Throws the error about a member or item that exceeds the limit. */
  protected failAtMembers(): never {
    throw new JsonError(
      this.position,
      { detail: `more than ${this.maxMembers} members and items` },
      'jsonMembers',
    );
  }

  /** Moves past the colon after a member's name. */
  colon(): void {
    if (this.peek() !== colon) this.fail('":"');
    this.position++;
  }

  /** Returns the offset after an escape (RFC 8259, 7). */
  protected escapeEnd(at: number): number {
    const kind = escapes[this.code(at + 1)];
    if (kind === 1) return at + 2;
    if (kind !== 2) this.failAt(at + 1, 'an escape of JSON');
    for (let digit = at + 2; digit < at + 6; digit++) {
      if (!isHexadecimal(this.code(digit))) this.failAt(digit, 'a hexadecimal digit');
    }
    return at + 6;
  }

  /** Moves past the number at the position (RFC 8259, 6). Returns true if it has no fraction and no exponent. */
  scanNumber(): boolean {
    let at = this.position;
    let integer = true;
    if (this.code(at) === 45) at++;
    if (this.code(at) === 48) at++;
    else at = this.#digits(at, 'a value');
    if (this.code(at) === 46) {
      integer = false;
      at = this.#digits(at + 1, 'a digit');
    }
    const code = this.code(at);
    if (code === 101 || code === 69) {
      integer = false;
      const sign = this.code(++at);
      if (sign === 43 || sign === 45) at++;
      at = this.#digits(at, 'a digit');
    }
    this.position = at;
    return integer;
  }

  /** Returns the offset after one or more digits. */
  #digits(from: number, expected: string): number {
    let at = from;
    let code = this.code(at);
    while (code >= 48 && code <= 57) code = this.code(++at);
    if (at === from) this.failAt(at, expected);
    return at;
  }

  /** Moves past `true`, `false` or `null` (RFC 8259, 3) and returns it. */
  literal(): Literal {
    const { position } = this;
    const first = this.code(position);
    for (const { word, codes } of literals) {
      if (first !== codes[0]) continue;
      for (let index = 1; index < codes.length; index++) {
        if (this.code(position + index) !== codes[index]) this.fail('a value');
      }
      this.position = position + codes.length;
      return word;
    }
    return this.fail('a value');
  }

  /** Moves past the value at the position and checks it. */
  skip(): void {
    const code = this.peek();
    if (code === quote) this.scanString();
    else if (code === 123 || code === 91) this.#skipNested(code);
    else if (code === 116 || code === 102 || code === 110) this.literal();
    else this.scanNumber();
  }

  #skipNested(open: number): void {
    const close = open + 2; // the codes of "{" and "}", and of "[" and "]", differ by two
    this.enter();
    for (let first = true; this.next(first, close); first = false) {
      if (close === 125) {
        if (this.code(this.position) !== quote) this.fail('a member name');
        this.scanString();
        this.colon();
      }
      this.skip();
    }
  }

  /** Returns the kind of the value at the position, for a message. Throws if there is no value. */
  kind(): Got {
    const code = this.peek();
    if (code === quote) return 'a string';
    if (code === 123) return 'an object';
    if (code === 91) return 'an array';
    if (code === 116 || code === 102) return 'a boolean';
    if (code === 110) return 'null';
    return code === 45 || (code >= 48 && code <= 57) ? 'a number' : this.fail('a value');
  }
}

function isHexadecimal(code: number): boolean {
  const letter = code | 32;
  return (code >= 48 && code <= 57) || (letter >= 97 && letter <= 102);
}
