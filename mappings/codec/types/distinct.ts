import { createHash } from 'node:crypto';

/**
 * Characters of a text that is kept as it is. Of texts of more than 16 thousand V8's sets know nothing but the length,
 * so that each would be compared with all others.
 */
const longest = 4_096;

/** Texts that differ from each other. */
export class Distinct {
  readonly #texts: Set<string>;
  /** SHA-256 of the long ones. */
  readonly #digests = new Set<string>();

  constructor(texts: Iterable<string> = []) {
    this.#texts = new Set(texts);
  }

  /** False for a text that was there already. */
  add(text: string): boolean {
    const isLong = text.length > longest;
    const kept = isLong ? this.#digests : this.#texts;
    const key = isLong ? createHash('sha256').update(text, 'utf16le').digest('base64') : text;
    const before = kept.size;
    return kept.add(key).size > before;
  }
}
