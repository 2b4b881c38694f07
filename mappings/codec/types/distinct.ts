import { createHash } from 'node:crypto';

/**
 * Maximum length in characters of a text that is stored directly. V8 hashes only the length of texts over 16 thousand
 * characters, so each of these would be compared with all others.
 */
const longest = 4_096;

/** A set of texts. */
export class Distinct {
  readonly #texts: Set<string>;
  /** SHA-256 digests of long texts. */
  readonly #digests = new Set<string>();

  constructor(texts: Iterable<string> = []) {
    this.#texts = new Set(texts);
  }

  /** Adds a text. Returns false if it was added before. */
  add(text: string): boolean {
    const isLong = text.length > longest;
    const kept = isLong ? this.#digests : this.#texts;
    const key = isLong ? createHash('sha256').update(text, 'utf16le').digest('base64') : text;
    const before = kept.size;
    return kept.add(key).size > before;
  }
}
