import type { Hide } from '../../mappings/codec/scalars/text.ts';

/** Number of characters searched at a time, plus the length of a secret that continues after them. */
const step = 64 * 1024;
/** Maximum number of characters of one escaped character of a secret, escaped about twice: `&amp;#x0002F;`. */
const longestEscape = 14;
/** Maximum number of characters before the `…` of a truncated text that are compared with the start of a secret. */
const longestBeginning = 64;
/** Minimum length of a secret, or a part of one, that is searched for (W25). */
const shortest = 6;

/** Minimum length after unescaping, if the secret itself looks escaped: `%df1a+` is four bytes. */
const shortestPlain = 4;

/** A form of a secret to search for in plain bytes (`plainOf`), as a text with one character per byte. */
interface Needle {
  readonly text: string;
  /** True if the adjacent character contains bits of the secret, too, as in base64. */
  readonly before: boolean;
  readonly after: boolean;
}

/**
 * Compiles a function that hides secrets in a text. It finds them in all escaped forms of JSON, XML, HTML and URLs,
 * even nested ones. It also finds them within base64 text in either alphabet. The search runs on the completely
 * unescaped text.
 */
export function compileHide(secrets: readonly string[]): Hide {
  const long = [...new Set(secrets)].filter((secret) => secret.length >= shortest);
  if (long.length === 0) return (text, most) => (most === undefined ? text : text.slice(0, most));
  const plain = long.map((secret) => plainOf(secret, 0, secret.length).toString());
  const whole = plain.filter((text) => text.length >= shortestPlain);
  const needles = [
    ...whole.map((text) => ({ text, before: false, after: false })),
    ...long.flatMap(inBase64),
  ];
  const least = Math.min(...long.map(({ length }) => length));
  const beyond = Math.max(...long.map(({ length }) => length)) * longestEscape;
  return (text, most = Number.POSITIVE_INFINITY) => {
    if (text.length < least) return text.slice(0, most);
    let shown = '';
    let at = 0;
    let hiddenTo = -1;
    for (let from = 0; from < text.length && shown.length < most; from += step) {
      const to = Math.min(text.length, from + step + beyond);
      const found = [...asTheyAre(text, long, from, to), ...escaped(text, needles, whole, from, to)];
      for (const { start, end } of found.toSorted((one, other) => one.start - other.start)) {
        if (start > at || (start === at && at !== hiddenTo)) shown += `${text.slice(at, start)}***`;
        at = Math.max(at, end);
        hiddenTo = at;
      }
      const next = Math.min(text.length, from + step);
      shown += text.slice(at, next);
      at = Math.max(at, next);
    }
    return shown.slice(0, most);
  };
}

/** Range of a secret in a text, in any form. */
interface Range {
  readonly start: number;
  readonly end: number;
}

function* asTheyAre(text: string, secrets: readonly string[], from: number, to: number): Generator<Range> {
  const part = text.slice(from, to);
  for (const secret of secrets)
    for (let at = part.indexOf(secret); at !== -1; at = part.indexOf(secret, at + secret.length))
      yield { start: from + at, end: from + at + secret.length };
}

function* escaped(
  text: string,
  needles: readonly Needle[],
  whole: readonly string[],
  from: number,
  to: number,
): Generator<Range> {
  const plain = plainOf(text, from, to);
  const bytes = plain.toString();
  for (const { text: needle, before, after } of needles) {
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.length)) {
      const first = before && at > 0 ? at - 1 : at;
      const last = at + needle.length - (after && at + needle.length < bytes.length ? 0 : 1);
      yield plain.rangeOf(first, last);
    }
  }
  for (let at = bytes.indexOf(cutMark); at !== -1; at = bytes.indexOf(cutMark, at + 1)) {
    const begun = bytes.slice(Math.max(0, at - longestBeginning), at);
    for (const secret of whole) {
      const length = beginningAtEnd(begun, secret);
      if (length > 0) yield plain.rangeOf(at - length, at - 1);
    }
  }
}

/** Mark at the end of a value that the gateway truncated, in UTF-8. */
const cutMark = Buffer.from('…').toString('latin1');

/** Returns the number of characters at the end of a text that are the start of a secret; 0 if there are too few. */
function beginningAtEnd(text: string, secret: string): number {
  for (let length = Math.min(text.length, secret.length); length >= shortest; length--)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}

/**
 * Returns the base64 characters that depend only on a secret's bytes, for each offset of its first byte in a group of
 * three.
 */
function inBase64(secret: string): Needle[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((place) => {
    const coded = Buffer.concat([Buffer.alloc(place), bytes]).toString('base64');
    const bits = (place + bytes.length) * 8;
    const own = coded.slice(Math.ceil((place * 8) / 6), Math.floor(bits / 6));
    const others = own.replaceAll('+', '-').replaceAll('/', '_');
    const alphabets = own === others ? [own] : [own, others];
    return alphabets.map((text) => ({
      text: plainOf(text, 0, text.length).toString(),
      before: place > 0,
      after: bits % 6 > 0,
    }));
  });
}

// --- unescaping of a text -----------------------------------------------------------------------------

const [blank, percent, ampersand, plus, semicolon, backslash] = [32, 37, 38, 43, 59, 92];
const [letterU, letterX] = [117, 120];
/** Entities of XML, and the HTML entities for characters that a credential may contain. */
const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    excl: '!',
    num: '#',
    dollar: '$',
    percnt: '%',
    lpar: '(',
    rpar: ')',
    ast: '*',
    plus: '+',
    comma: ',',
    period: '.',
    sol: '/',
    colon: ':',
    semi: ';',
    equals: '=',
    quest: '?',
    commat: '@',
    lsqb: '[',
    lbrack: '[',
    bsol: '\\',
    rsqb: ']',
    rbrack: ']',
    Hat: '^',
    lowbar: '_',
    grave: '`',
    lcub: '{',
    lbrace: '{',
    verbar: '|',
    vert: '|',
    rcub: '}',
    rbrace: '}',
    hyphen: '-',
    dash: '-',
  }),
);
const longestEntity = 16;

/**
 * Returns the UTF-8 bytes of a completely unescaped text, for nested escapes in any order. Backslashes are left out,
 * and so are control characters, which no credential contains. `+` becomes a space, as in forms. Secrets and the
 * searched text are unescaped in the same way.
 * The time is linear, because each unescaping reduces the number of bytes. The result for a small text is only valid
 * until the next call.
 */
function plainOf(text: string, from: number, to: number): Plain {
  const plain = to - from > smallText ? new Plain((to - from) * 3) : small;
  plain.start();
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 128) plain.put(unit, at, at + 1);
    else plain.putCode(unit, at, at + 1);
  }
  return plain;
}

/** An escape at the end of the bytes, and the character it represents. */
interface Undone {
  readonly length: number;
  /** True if the backslashes before it belong to it. */
  readonly isSlashed: boolean;
  /** A byte of UTF-8, or a character, which may be half of a surrogate pair. */
  readonly code: number;
  readonly isByte: boolean;
}

class Plain {
  readonly #bytes: Buffer;
  /** Start and end of each byte in the text. */
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  #length = 0;
  /**
   * Backslashes before each byte, and before the next one. They are not bytes themselves. Value 1 marks unescaped
   * backslashes, 2 marks escaped ones, and 3 marks escaped ones followed by unescaped ones. An escape starts with the
   * unescaped ones if there are any.
   */
  readonly #slashesBefore: Uint8Array;
  #slashes = 0;
  #slashedFrom = 0;

  /** @param most maximum number of bytes */
  constructor(most: number) {
    this.#bytes = Buffer.allocUnsafe(most);
    this.#starts = new Int32Array(most);
    this.#ends = new Int32Array(most);
    this.#slashesBefore = new Uint8Array(most);
  }

  start(): void {
    this.#length = 0;
    this.#slashes = 0;
  }

  /** Returns one character per byte. */
  toString(): string {
    return this.#bytes.toString('latin1', 0, this.#length);
  }

  /** Returns the range in the text that the bytes from `first` to `last` (inclusive) come from. */
  rangeOf(first: number, last: number): Range {
    return { start: this.#starts[first] ?? 0, end: this.#ends[last] ?? 0 };
  }

  /**
   * Adds an ASCII character. If it completes an escape, the unescaped character replaces the escape, and may complete
   * another one.
   */
  put(ascii: number, from: number, end: number): void {
    let start = from;
    let put = ascii;
    for (let wasEscaped = false; ; wasEscaped = true) {
      if (put === backslash) {
        if (this.#slashes === 0) this.#slashedFrom = start;
        this.#slashes |= wasEscaped ? 2 : 1;
        return;
      }
      if (!wasEscaped && (put < blank || put === 127)) return;
      this.#add(put === plus ? blank : put, start, end);
      const undone = this.#undone(put);
      if (undone === undefined) return;
      start = this.#drop(undone);
      put = undone.code;
      if (put < 128) continue;
      if (undone.isByte) this.#add(put, start, end);
      else this.putCode(put, start, end);
      return;
    }
  }

  /** Adds a character outside ASCII. The second half of a surrogate pair completes the first. */
  putCode(given: number, from: number, end: number): void {
    let [code, start] = [given, from];
    if (code >= 0xdc00 && code < 0xe000 && this.#last(3) === 0xed && this.#last(2) >= 0xa0) {
      const high = ((this.#last(2) & 0x0f) << 6) | (this.#last(1) & 0x3f);
      code = 0x1_0000 + (high << 10) + (code - 0xdc00);
      start = this.#drop({ length: 3, isSlashed: false });
    }
    const followers = code < 0x800 ? 1 : code < 0x1_0000 ? 2 : 3;
    this.#add(((0xff00 >> (followers + 1)) & 0xff) | (code >> (6 * followers)), start, end);
    for (let left = followers - 1; left >= 0; left--)
      this.#add(0x80 | ((code >> (6 * left)) & 0x3f), start, end);
  }

  #add(byte: number, start: number, end: number): void {
    this.#bytes[this.#length] = byte;
    this.#starts[this.#length] = this.#slashes === 0 ? start : this.#slashedFrom;
    this.#slashesBefore[this.#length] = this.#slashes;
    this.#ends[this.#length++] = end;
    this.#slashes = 0;
  }

  /** Removes an escape from the end. Returns its start in the text. */
  #drop({ length, isSlashed }: Pick<Undone, 'length' | 'isSlashed'>): number {
    this.#length -= length;
    const start = this.#starts[this.#length] ?? 0;
    const before = this.#slashesBefore[this.#length] ?? 0;
    if (!isSlashed) this.#slashes = before;
    else this.#slashes = before === 3 ? 2 : 0;
    this.#slashedFrom = start;
    return start;
  }

  /** Returns the byte at a distance from the end; 0 before the first one. */
  #last(at: number): number {
    return at > this.#length ? 0 : (this.#bytes[this.#length - at] ?? 0);
  }

  /** Returns the escape that ends with this character. */
  #undone(ascii: number): Undone | undefined {
    if (ascii === semicolon) return this.#undoneEntity();
    if (Number.isNaN(this.#hex(1))) return undefined;
    if (this.#last(3) === percent) return this.#undoneHex(3, 2, false);
    if (this.#isSlashed(3, letterX)) return this.#undoneHex(3, 2, true);
    if (this.#isSlashed(5, letterU)) return this.#undoneHex(5, 4, true);
    return undefined;
  }

  #isSlashed(at: number, letter: number): boolean {
    return this.#last(at) === letter && this.#slashesBefore[this.#length - at] !== 0;
  }

  #undoneHex(length: number, digits: number, isSlashed: boolean): Undone | undefined {
    const code = this.#hex(digits);
    return Number.isNaN(code) ? undefined : { length, code, isSlashed, isByte: !isSlashed };
  }

  /** Returns the value of the last hex digits; NaN if they are not hex digits. */
  #hex(digits: number): number {
    let value = 0;
    for (let at = digits; at > 0; at--) value = value * 16 + hexValue(this.#last(at));
    return value;
  }

  #undoneEntity(): Undone | undefined {
    const most = Math.min(longestEntity, this.#length);
    let length = 2;
    while (length <= most && this.#last(length) !== ampersand) length++;
    if (length > most) return undefined;
    const name = this.#bytes.toString('latin1', this.#length - length + 1, this.#length - 1);
    const [, hex, decimal] = /^#(?:[xX]([\da-fA-F]+)|(\d+))$/.exec(name) ?? [];
    const code =
      hex === undefined ? Number(decimal ?? entities.get(name)?.charCodeAt(0)) : Number.parseInt(hex, 16);
    return code <= 0x10_ffff ? { length, code, isSlashed: false, isByte: false } : undefined;
  }
}

/** Maximum length of a text that is unescaped into the reused buffer, in characters. */
const smallText = 1024;
const small = new Plain(smallText * 3);

function hexValue(ascii: number): number {
  if (ascii >= 48 && ascii < 58) return ascii - 48;
  const letter = ascii | 0x20;
  return letter >= 97 && letter < 103 ? letter - 87 : Number.NaN;
}
