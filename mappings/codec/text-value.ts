/** How an element's text becomes a JSON token, where nothing but the text matters. */
export interface TextValue {
  /** As `XmlReader.readText` has it. */
  readonly lenient: boolean;
  /** In characters. */
  readonly maxLength: number;
  /** The token of a text whose references are resolved; undefined for one that is refused or means that nothing was given. */
  readonly tokenOf: (text: string) => string | undefined;
  /** Whether any text's token is that text as a JSON string. */
  readonly isText: boolean;
}

/** What a codec gives in place of tokens while the shape of a request is learned (`fast-path/`). */
export interface TokenPlaceholders {
  /**
   * The placeholder for a text's token, or the token itself where it can't be replaced by another text's.
   *
   * @param start offset of the text in the document, right behind its start tag
   * @param token undefined where the text has none
   */
  readonly placeholderOf: (start: number, token: string | undefined, value: TextValue) => string | undefined;
}
