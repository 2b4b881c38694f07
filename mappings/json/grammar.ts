import type { Limits } from '../contract/limits.ts';
import { type Reason, sentence } from '../contract/reason.ts';

/** Text that isn't JSON (RFC 8259), or is over a limit. The message never holds the document's own text. */
export class JsonError extends Error {
  /** From 0: UTF-16 units of a text, bytes of a body. */
  readonly position: number;
  readonly reason: Reason;
  /** The limit that the text is over; undefined for every other error. */
  readonly limit: keyof Limits | undefined;

  constructor(position: number, reason: Reason, limit?: keyof Limits) {
    const placed = { ...reason, where: `position ${position}` };
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

/** The codes of each literal. */
const literals = (['true', 'false', 'null'] as const).map((word) => ({
  word,
  codes: [...Buffer.from(word)],
}));

/** What a literal is. */
export type Literal = (typeof literals)[number]['word'];

/** By code: 1 for what may follow a backslash alone, 2 for "u". */
const escapes = new Uint8Array(128);
for (const byte of Buffer.from('"\\/bfnrt')) escapes[byte] = 1;
escapes[117] = 2;

/**
 * The grammar of JSON (RFC 8259) with the limits of depth and of members, for reading forward by codecs that know what
 * comes next. It has two views: `JsonReader` over text, `Tape` over the bytes of a reply. Each brings `code`, and the two
 * loops that most characters go through: blanks (`peek`) and strings (`scanString`). `Tape` has ways of its own through
 * what a reply has most of, too (`next`, integers, literals), and leaves the rest to this: a method that both views use
 * has to ask at each character which of them it is in, which costs a large reply a third more. Every method throws
 * JsonError.
 */
export abstract class JsonGrammar {
  /** Offset of the next character, in what the view counts. */
  position = 0;
  /** Characters that XML can't carry and that became U+FFFD (W21). */
  replaced = 0;
  /** Members that the contract lacks and that were left out (W20). */
  dropped = 0;
  /** Values that aren't of their type and are written all the same. */
  passed = 0;
  /** Texts whose form was repaired to that of their type (W17). */
  repaired = 0;
  /** Objects and arrays that are open. */
  protected depth = 0;
  /** Members and items so far. */
  protected members = 0;
  #maxDepth = 0;
  protected maxMembers = 0;

  /** The code unit or byte at an offset; one that no token has, 0 or NaN, past the end. */
  protected abstract code(at: number): number;
  /** What is at an offset, as an error names it; undefined past the end. */
  protected abstract got(at: number): string | undefined;
  /** Code of the next character that isn't blank, which becomes the position. */
  abstract peek(): number;
  /** Moves past the string that starts here, checking it whole; true when its content is as it stands. */
  abstract scanString(): boolean;

  /** Begins at an offset, with nothing read. */
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

  /** The error of what stands at the position. */
  fail(expected: string): never {
    throw new JsonError(this.position, { expected, got: this.got(this.position) ?? 'the end' });
  }

  /** The error of what stands at an offset, which becomes the position. */
  protected failAt(at: number, expected: string): never {
    this.position = at;
    return this.fail(expected);
  }

  /** Past the end only blanks may follow (RFC 8259, 2). */
  end(): void {
    this.peek();
    if (this.got(this.position) !== undefined) this.fail('nothing more');
  }

  /** Enters an object or array; the position is past its bracket. */
  enter(): void {
    if (++this.depth > this.#maxDepth) {
      throw new JsonError(this.position, { detail: `nesting deeper than ${this.#maxDepth}` }, 'jsonDepth');
    }
    this.position++;
  }

  /**
   * Moves to the next member's or item's start (RFC 8259, 4 and 5). False when the closing bracket came, which is then past.
   *
   * @param first true right after `enter`
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

  /** The error where a comma or a closing bracket should be. */
  protected failAtComma(close: number): never {
    return this.fail(close === 125 ? '"," or "}"' : '"," or "]"');
  }

  /** The error of a member or item over the limit. */
  protected failAtMembers(): never {
    throw new JsonError(
      this.position,
      { detail: `more than ${this.maxMembers} members and items` },
      'jsonMembers',
    );
  }

  /** Past the colon after a member's name. */
  colon(): void {
    if (this.peek() !== colon) this.fail('":"');
    this.position++;
  }

  /** The offset after the escape at an offset (RFC 8259, 7). */
  protected escapeEnd(at: number): number {
    const kind = escapes[this.code(at + 1)];
    if (kind === 1) return at + 2;
    if (kind !== 2) this.failAt(at + 1, 'an escape of JSON');
    for (let digit = at + 2; digit < at + 6; digit++) {
      if (!isHexadecimal(this.code(digit))) this.failAt(digit, 'a hexadecimal digit');
    }
    return at + 6;
  }

  /** Moves past the number that starts here (RFC 8259, 6); true when it has neither fraction nor exponent. */
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

  /** The offset after one digit or more. */
  #digits(from: number, expected: string): number {
    let at = from;
    let code = this.code(at);
    while (code >= 48 && code <= 57) code = this.code(++at);
    if (at === from) this.failAt(at, expected);
    return at;
  }

  /** Moves past `true`, `false` or `null` (RFC 8259, 3), and gives which it was. */
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

  /** Moves past whatever value starts here, checking it whole. */
  skip(): void {
    const code = this.peek();
    if (code === quote) this.scanString();
    else if (code === 123 || code === 91) this.#skipNested(code);
    else if (code === 116 || code === 102 || code === 110) this.literal();
    else this.scanNumber();
  }

  #skipNested(open: number): void {
    const close = open + 2; // "{" "}" and "[" "]" lie two apart
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

  /** What kind of value starts here, in words for a message. Throws where none does. */
  kind(): string {
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
