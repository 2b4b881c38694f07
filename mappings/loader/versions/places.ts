/** Where parts of a document stand once it is converted, and where they stood, by JSON pointers. */
export class Places {
  readonly #originals = new Map<string, string>();
  readonly #converted = new Map<string, string>();

  /** Notes that what stood at `original`, with all in it, stands at `converted`; the first of several places counts. */
  note(converted: string, original: string): void {
    this.#originals.set(converted, original);
    if (!this.#converted.has(original)) this.#converted.set(original, converted);
  }

  /** Where that stood which stands at a pointer. */
  originalOf(pointer: string): string {
    return moved(pointer, this.#originals);
  }

  /** Where that stands which stood at a pointer. */
  convertedOf(pointer: string): string {
    return moved(pointer, this.#converted);
  }
}

/** A pointer with the longest beginning that the map has replaced; itself where it has none. */
function moved(pointer: string, beginnings: ReadonlyMap<string, string>): string {
  for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
    const beginning = beginnings.get(pointer.slice(0, end));
    if (beginning !== undefined) return beginning + pointer.slice(end);
  }
  return pointer;
}
