import { type Location, locate } from '../../mappings/xml/error.ts';
import { type TreeElement, treeOf } from './tree.ts';

/** A message while it is put right, which knows where each place was in what came. */
export class Draft {
  /** As it is by now. */
  text: string;
  readonly #original: string;
  /** Each with its edits in order, by offsets of the text as it was before. */
  readonly #changes: (readonly Edit[])[] = [];
  /** The tree of a text, of which many steps ask. */
  #tree: { readonly text: string; readonly root: TreeElement | undefined } | undefined;

  constructor(text: string) {
    this.text = text;
    this.#original = text;
  }

  /** How often it was changed. */
  get changes(): number {
    return this.#changes.length;
  }

  /** The root element of the text as it is by now; undefined where there is none. */
  get root(): TreeElement | undefined {
    if (this.#tree?.text !== this.text) this.#tree = { text: this.text, root: treeOf(this.text) };
    return this.#tree.root;
  }

  /** Puts `text` in the place of what stands from `start` to `end`. */
  replace(start: number, end: number, text: string): void {
    this.replaceAll([{ start, end, text }]);
  }

  /** Several changes at once; their places are those before the first. One that overlaps another is left for later. */
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

  /** Where an offset of the text stands in the message that came. */
  locationOf(offset: number): Location {
    const at = this.#changes.reduceRight((place, edits) => placeBefore(place, edits), offset);
    return locate(this.#original, Math.min(Math.max(at, 0), this.#original.length));
  }
}

/** Where an offset was before some edits; within new text, at the beginning of the edit or where the text was moved from. */
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

/** A change, by offsets in characters. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The offset of the text before the change, if it was moved from another place. */
  readonly movedFrom?: number;
}
