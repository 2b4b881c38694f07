/** 1 at the code of each letter of base64 (RFC 4648, 4). */
export const base64Letters = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  base64Letters[letter.charCodeAt(0)] = 1;
}

/** In bytes; shorter spans are looked through where they are met. */
const leastLength = 64 * 1024;

/**
 * Where the letters of base64 stand in long spans, found piece by piece while a body arrives: whoever then reads the
 * whole needn't look at each of 60 million bytes in one go.
 */
export class Base64Spans {
  /** Start and end of each span, in turn. */
  readonly #bounds: number[] = [];
  /** Where the letters that go on began. */
  #start = 0;
  #position = 0;

  /** Bytes in all spans that have ended so far. */
  get total(): number {
    let total = 0;
    for (let index = 0; index < this.#bounds.length; index += 2) {
      total += (this.#bounds[index + 1] ?? 0) - (this.#bounds[index] ?? 0);
    }
    return total;
  }

  /** The next piece of the body. */
  add(piece: Uint8Array): void {
    const { length } = piece;
    let at = 0;
    for (;;) {
      at = endOfLetters(piece, at);
      if (at === length) break;
      const end = this.#position + at;
      if (end - this.#start >= leastLength) this.#bounds.push(this.#start, end);
      at++;
      // no run within so few bytes is long: the last one alone may be one's beginning
      if (length - at <= leastLength) at = startOfLastLetters(piece, at);
      this.#start = this.#position + at;
    }
    this.#position += length;
  }

  /** The end of the span that an offset is in; the offset itself where it is in none. A span ends with a byte that is no letter. */
  endFrom(offset: number): number {
    for (let index = 0; index < this.#bounds.length; index += 2) {
      const end = this.#bounds[index + 1] ?? 0;
      if (offset < end) return offset >= (this.#bounds[index] ?? 0) ? end : offset;
    }
    return offset;
  }
}

/** Where the letters that begin at an offset end. */
function endOfLetters(piece: Uint8Array, from: number): number {
  const { length } = piece;
  let at = from;
  while (at < length && base64Letters[piece[at] as number] === 1) at++;
  return at;
}

/** Where the letters begin with which a piece ends, not before an offset; its length where it ends with another byte. */
function startOfLastLetters(piece: Uint8Array, from: number): number {
  let at = piece.length;
  while (at > from && base64Letters[piece[at - 1] as number] === 1) at--;
  return at;
}
