/** Mapping between the pointers of a converted document and those of the original. */
export class Places {
  readonly #originals = new Map<string, string>();
  readonly #converted = new Map<string, string>();

  /**
   * Records that `original`, with its content, was converted to `converted`. If there are several, the first is used.
   */
  note(converted: string, original: string): void {
    this.#originals.set(converted, original);
    if (!this.#converted.has(original)) this.#converted.set(original, converted);
  }

  /** Returns the original pointer of a converted pointer. */
  originalOf(pointer: string): string {
    return moved(pointer, this.#originals);
  }

  /** Returns the converted pointer of an original pointer. */
  convertedOf(pointer: string): string {
    return moved(pointer, this.#converted);
  }
}

/** Replaces the longest prefix of a pointer that the map contains. Without one, returns the pointer unchanged. */
function moved(pointer: string, beginnings: ReadonlyMap<string, string>): string {
  for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
    const beginning = beginnings.get(pointer.slice(0, end));
    if (beginning !== undefined) return beginning + pointer.slice(end);
  }
  return pointer;
}
