import { type Location, locate } from '../../mappings/xml/error.ts';
import type { Finding, Findings } from './findings.ts';
import { type TreeElement, treeOf } from './tree.ts';

/** A message during its correction, with its findings. It maps each offset back to the original message. */
export class Draft {
  /** The current text. */
  text: string;
  readonly findings: Findings;
  readonly #original: string;
  /** Edits of each step in order, by offsets of the text before that step. */
  readonly #changes: (readonly Edit[])[] = [];
  /** Cached tree of the current text, which many steps use. */
  #tree: { readonly text: string; readonly root: TreeElement | undefined } | undefined;

  constructor(text: string, findings: Findings) {
    this.text = text;
    this.#original = text;
    this.findings = findings;
  }

  /** Adds a finding at an offset of the current text. */
  note(offset: number, severity: Finding['severity'], message: string, fix?: string, element?: string): void {
    this.findings.add({ severity, message, fix, element }, () => this.locationOf(offset));
  }

  /** Adds a finding that this service rejects. */
  error(offset: number, message: string, fix?: string, element?: string): void {
    this.note(offset, 'error', message, fix, element);
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

/** Returns the offset of a line and column of a text. */
export function offsetOf(text: string, { line, column }: Location): number {
  let start = 0;
  for (let left = line, at = 0; left > 1 && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 10 && code !== 13) continue;
    if (code === 13 && text.charCodeAt(at + 1) === 10) at++;
    start = at + 1;
    left--;
  }
  return Math.min(start + column - 1, text.length);
}

/** A change, by offsets in UTF-16 code units. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The offset of the text before the change, if it was moved from another place. */
  readonly movedFrom?: number;
}
