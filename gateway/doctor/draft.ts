import { type Location, locate } from '../../mappings/xml/error.ts';
import { type TreeElement, treeOf } from './tree.ts';

/** A message during its correction. It maps each offset back to the original message. */
export class Draft {
  /** The current text. */
  text: string;
  readonly #original: string;
  /** Edits of each step in order, by offsets of the text before that step. */
  readonly #changes: (readonly Edit[])[] = [];
  /** Cached tree of the current text, which many steps use. */
  #tree: { readonly text: string; readonly root: TreeElement | undefined } | undefined;

  constructor(text: string) {
    this.text = text;
    this.#original = text;
  }

  /** Number of steps that changed the text. */
  get changes(): number {
    return this.#changes.length;
  }

  /** Root element of the current text; undefined if there is none. */
  get root(): TreeElement | undefined {
    if (this.#tree?.text !== this.text) this.#tree = { text: this.text, root: treeOf(this.text) };
    return this.#tree.root;
  }

  /** Replaces the text from `start` to `end`. */
  replace(start: number, end: number, text: string): void {
    this.replaceAll([{ start, end, text }]);
  }

  /**
   * Makes several edits in one step. Their offsets refer to the text before the step. An edit that overlaps a previous
   * one is skipped. A later step can make it.
   */
  replaceAll(edits: readonly Edit[]): void {
    const made: Edit[] = [];
    const pieces: string[] = [];
    let from = 0;
    for (const edit of edits.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
      if (edit.start < from) continue;
      pieces.push(this.text.slice(from, edit.start), edit.text);
      from = edit.end;
      made.push(edit);
    }
    if (made.length === 0) return;
    this.text = pieces.join('') + this.text.slice(from);
    this.#changes.push(made);
  }

  /** Returns the position in the original message of an offset of the current text. */
  locationOf(offset: number): Location {
    const at = this.#changes.reduceRight((place, edits) => placeBefore(place, edits), offset);
    return locate(this.#original, Math.min(Math.max(at, 0), this.#original.length));
  }
}

/**
 * Returns the offset before some edits. Within new text it is the start of the edit, or the offset that the text was
 * moved from.
 */
function placeBefore(offset: number, edits: readonly Edit[]): number {
  let moved = 0;
  for (const { start, end, text, movedFrom } of edits) {
    const from = start + moved;
    if (offset < from) break;
    if (offset < from + text.length)
      return movedFrom === undefined
        ? start + Math.min(offset - from, end - start)
        : movedFrom + offset - from;
    moved += text.length - (end - start);
  }
  return offset - moved;
}

/** A change, by offsets in UTF-16 code units. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The offset of the text before the change, if it was moved from another place. */
  readonly movedFrom?: number;
}
