/** The conversion of an element's text to a JSON token, if it depends only on the text. */
export interface TextValue {
  /** The argument `lenient` of `XmlReader.readText`. */
  readonly lenient: boolean;
  /** Maximum length in characters. */
  readonly maxLength: number;
  /** Returns the token of a text with resolved references. Undefined if the text is refused or counts as absent. */
  readonly tokenOf: (text: string) => string | undefined;
  /** True if each token is the text as a JSON string. */
  readonly isText: boolean;
}

/** Supplies placeholders for tokens while a request shape is learned (`fast-path/`). */
export interface TokenPlaceholders {
  /**
   * Returns the placeholder for a text's token, or the token itself if another text must not replace it.
   *
   * @param start offset of the text in the document, directly after its start tag
   * @param token undefined if the text has none
   */
  readonly placeholderOf: (start: number, token: string | undefined, value: TextValue) => string | undefined;
}
