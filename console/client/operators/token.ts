/** Returns the token of a pasted text, which may be the value of a header Authorization. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  const scheme = 'bearer ';
  return text.toLowerCase().startsWith(scheme) ? text.slice(scheme.length).trim() : text;
}
