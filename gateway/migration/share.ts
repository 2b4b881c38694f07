/**
 * Reads a share such as `10%`, `0.5%` or `1 in 20` (G3). Returns it as a fraction: 0.1 for `10%`. Returns undefined for
 * another form.
 */
export function readShare(text: string): number | undefined {
  const [, percent] = /^(\d{1,9}(?:\.\d{1,9})?) ?%$/.exec(text) ?? [];
  if (percent !== undefined) return Number(percent) / 100;
  const [, part, whole] = /^(\d{1,9}) in (\d{1,9})$/.exec(text) ?? [];
  if (part === undefined || Number(whole) === 0) return undefined;
  return Number(part) / Number(whole);
}
