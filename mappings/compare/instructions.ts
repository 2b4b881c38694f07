/** Start and end of the parts of a document that may contain `<?` as text. */
const opaque = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
] as const;

/** A range of a text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the processing instructions of an XML document, which the reader does not accept (W10, G37). */
export function instructionsIn(text: string): readonly Range[] {
  const found: Range[] = [];
  if (!text.includes('<?', 1)) return found;
  for (let at = text.indexOf('<', 1); at !== -1; ) {
    const part = opaque.find(([start]) => text.startsWith(start, at));
    if (part !== undefined || text.startsWith('<?', at)) {
      const close = part?.[1] ?? '?>';
      const end = text.indexOf(close, at);
      if (end === -1) break; // not well-formed, which the reader reports
      if (part === undefined) found.push({ start: at, end: end + close.length });
      at = text.indexOf('<', end + close.length);
    } else at = text.indexOf('<', at + 1);
  }
  return found;
}

/** Returns an XML document without its processing instructions. */
export function withoutInstructions(text: string): string {
  return withoutRanges(text, instructionsIn(text), '');
}

/** Returns a text with each character of some ranges replaced by another text. */
export function withoutRanges(text: string, ranges: readonly Range[], instead: string): string {
  let kept = '';
  let from = 0;
  for (const { start, end } of ranges) {
    kept += text.slice(from, start) + instead.repeat(end - start);
    from = end;
  }
  return from === 0 ? text : kept + text.slice(from);
}
