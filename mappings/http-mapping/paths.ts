/** Removes the slashes at the end of a path or an address. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (path.endsWith('/', end)) end--;
  return path.slice(0, end);
}

/** Returns a contract's base path as it is shown in the log, in metrics and to operators. */
export function shownPath(basePath: string): string {
  return basePath === '' ? '/' : basePath;
}
