/** Removes the slashes at the end of a path or an address. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (path.endsWith('/', end)) end--;
  return path.slice(0, end);
}
