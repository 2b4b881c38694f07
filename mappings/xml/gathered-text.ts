/** Number of code units that are collected before they become a string. */
const collected = 16_384;
/** A piece with more code units is appended directly as a string. */
const longest = 256;

/**
 * Builds a text from many pieces. Concatenated strings would form a tree, which takes time and memory per piece. Short
 * pieces are collected in a buffer first.
 */
export class GatheredText {
  /** UTF-16 units so far. */
  length = 0;
  #text = '';
  readonly #units = new Uint16Array(collected);
  #size = 0;
  /** Bitwise or of all units in the buffer. */
  #bits = 0;
  readonly #bytes = Buffer.allocUnsafe(collected * 2);

  /** Appends a part of another text. */
  add(text: string, start: number, end: number): void {
    this.length += end - start;
    if (end - start > longest) {
      this.#flush();
      this.#text += text.slice(start, end);
    } else for (let at = start; at < end; at++) this.#put(text.charCodeAt(at));
  }

  /** Appends a character by its code point. */
  addCharacter(code: number): void {
    this.length += code > 0xffff ? 2 : 1;
    if (code <= 0xffff) this.#put(code);
    else {
      this.#put(0xd800 + ((code - 0x10000) >> 10));
      this.#put(0xdc00 + (code & 0x3ff));
    }
  }

  /** Appends an ASCII character `count` times. */
  addRun(code: number, count: number): void {
    this.length += count;
    if (count > longest) {
      this.#flush();
      this.#text += String.fromCharCode(code).repeat(count);
    } else for (let left = count; left > 0; left--) this.#put(code);
  }

  /** Returns the text and resets the builder. */
  take(): string {
    this.#flush();
    const text = this.#text;
    this.#text = '';
    this.length = 0;
    return text;
  }

  #put(unit: number): void {
    if (this.#size === collected) this.#flush();
    this.#units[this.#size++] = unit;
    this.#bits |= unit;
  }

  /** Appends the buffer. If all units are below 256, the string takes one byte per character. */
  #flush(): void {
    const bytes = this.#bytes;
    const size = this.#size;
    const isNarrow = this.#bits <= 0xff;
    for (let index = 0; index < size; index++) {
      const unit = this.#units[index] as number;
      if (isNarrow) bytes[index] = unit;
      else bytes.writeUInt16LE(unit, index * 2);
    }
    this.#text += isNarrow ? bytes.toString('latin1', 0, size) : bytes.toString('utf16le', 0, size * 2);
    this.#size = 0;
    this.#bits = 0;
  }
}

/** The replacement of each ASCII character; undefined to keep it. */
export type Replacements = readonly (string | undefined)[];

/** Returns the replacements from a record by character. */
export function replacementsOf(texts: Readonly<Record<string, string>>): Replacements {
  return Array.from({ length: 128 }, (_, code) => texts[String.fromCharCode(code)]);
}

let gathered: GatheredText | undefined;

/** Replaces characters of a text. A regular expression is slower with many matches. */
export function replaceCharacters(text: string, replacements: Replacements): string {
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const replacement = code < 128 ? replacements[code] : undefined;
    if (replacement === undefined) continue;
    gathered ??= new GatheredText();
    gathered.add(text, from, at);
    gathered.add(replacement, 0, replacement.length);
    from = at + 1;
  }
  if (from === 0 || gathered === undefined) return text;
  gathered.add(text, from, text.length);
  return gathered.take();
}
