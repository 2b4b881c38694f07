/** Code units that are gathered before they become text. */
const room = 16_384;
/** A piece of more code units is worth a string of its own. */
const longest = 256;

/**
 * A text of very many pieces. Added up as strings they would be a tree, whose every piece takes time and memory of its
 * own; here short ones are gathered in a buffer first.
 */
export class GatheredText {
  /** UTF-16 units so far. */
  length = 0;
  #text = '';
  readonly #units = new Uint16Array(room);
  #size = 0;
  /** All of the units by a bitwise or. */
  #bits = 0;
  readonly #bytes = Buffer.allocUnsafe(room * 2);

  /** Adds a part of another text. */
  add(text: string, start: number, end: number): void {
    this.length += end - start;
    if (end - start > longest) {
      this.#flush();
      this.#text += text.slice(start, end);
    } else for (let at = start; at < end; at++) this.#put(text.charCodeAt(at));
  }

  /** Adds a character by its code point. */
  addCharacter(code: number): void {
    this.length += code > 0xffff ? 2 : 1;
    if (code <= 0xffff) this.#put(code);
    else {
      this.#put(0xd800 + ((code - 0x10000) >> 10));
      this.#put(0xdc00 + (code & 0x3ff));
    }
  }

  /** Adds an ASCII character so many times. */
  addRun(code: number, count: number): void {
    this.length += count;
    if (count > longest) {
      this.#flush();
      this.#text += String.fromCharCode(code).repeat(count);
    } else for (let left = count; left > 0; left--) this.#put(code);
  }

  /** All of it; the next text begins anew. */
  take(): string {
    this.#flush();
    const text = this.#text;
    this.#text = '';
    this.length = 0;
    return text;
  }

  #put(unit: number): void {
    if (this.#size === room) this.#flush();
    this.#units[this.#size++] = unit;
    this.#bits |= unit;
  }

  /** A text is half as large where each of its parts is made of bytes. */
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

/** For each ASCII character the text that takes its place, if one does. */
export type Replacements = readonly (string | undefined)[];

/** The replacements of texts by the character that each takes the place of. */
export function replacementsOf(texts: Readonly<Record<string, string>>): Replacements {
  return Array.from({ length: 128 }, (_, code) => texts[String.fromCharCode(code)]);
}

let gathered: GatheredText | undefined;

/** A text with others in the places of some characters; by a pattern each would take 100 ns. */
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
