import { type Location, locate } from '../../mappings/xml/error.ts';

/** One change of the text: what stood at `start` of the text as it was then. */
interface Change {
  readonly start: number;
  readonly removed: number;
  readonly inserted: number;
}

/** A message while it is put right, which knows where each place was in what came. */
export class Draft {
  /** As it is by now. */
  text: string;
  readonly #original: string;
  readonly #changes: Change[] = [];

  constructor(text: string) {
    this.text = text;
    this.#original = text;
  }

  /** How often it was changed. */
  get changes(): number {
    return this.#changes.length;
  }

  /** Puts `text` in the place of what stands from `start` to `end`. */
  replace(start: number, end: number, text: string): void {
    this.text = this.text.slice(0, start) + text + this.text.slice(end);
    this.#changes.push({ start, removed: end - start, inserted: text.length });
  }

  /** Several changes at once; their places are those before the first, and don't overlap. */
  replaceAll(edits: readonly Edit[]): void {
    const ordered = edits.toSorted((one, other) => other.start - one.start || other.end - one.end);
    for (const { start, end, text } of ordered) this.replace(start, end, text);
  }

  /** Where an offset of the text stands in the message that came. */
  locationOf(offset: number): Location {
    let at = offset;
    for (let index = this.#changes.length - 1; index >= 0; index--) {
      const { start, removed, inserted } = this.#changes[index] as Change;
      if (at >= start + inserted) at += removed - inserted;
      else if (at > start) at = start + Math.min(at - start, removed);
    }
    return locate(this.#original, Math.min(Math.max(at, 0), this.#original.length));
  }
}

/** A change, by offsets in characters. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}
