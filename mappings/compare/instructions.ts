/** Start and end of the parts of a document that may contain `<?` as text. */
const opaque = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
] as const;

/** Returns an XML document without its processing instructions, which the reader does not accept (W10, G37). */
export function withoutInstructions(text: string): string {
  if (!text.includes('<?', 1)) return text;
  let kept = '';
  let from = 0;
  for (let at = text.indexOf('<', 1); at !== -1; ) {
    const part = opaque.find(([start]) => text.startsWith(start, at));
    if (part !== undefined || text.startsWith('<?', at)) {
      const close = part?.[1] ?? '?>';
      const end = text.indexOf(close, at);
      if (end === -1) break; // not well-formed, which the reader reports
      if (part === undefined) {
        kept += text.slice(from, at);
        from = end + close.length;
      }
      at = text.indexOf('<', end + close.length);
    } else at = text.indexOf('<', at + 1);
  }
  return kept + text.slice(from);
}
