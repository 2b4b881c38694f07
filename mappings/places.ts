/**
 * Characters that are not allowed in parts of an upstream request. Headers are checked as text, other parts after
 * percent-encoding.
 */

/** Maximum number of characters of a value in the path, the query, a header or a cookie of an upstream request. */
export const maxParameterCharacters = 64 * 1024;

/** Text of a header: printable ASCII without blanks at either end, which receivers would remove. */
const headerText = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Headers, in lower case, that belong to the connection; a caller cannot set them. */
export const connectionHeaders: ReadonlySet<string> = new Set([
  ...['accept-encoding', 'connection', 'content-encoding', 'content-length', 'expect', 'host', 'keep-alive'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/**
 * A dot segment, which would change the resource of a path. It also matches for readers that decode dots and slashes,
 * treat a backslash as a slash, or ignore the text after a semicolon.
 */
const dots = /(?:^|[/\\]|%2F|%5C)(?:\.|%2E){1,2}(?:$|[/\\;?]|%2F|%5C|%3B)/i;

/** Percent-encoded control characters. In a query, tabs and line ends are allowed because texts may contain them. */
const controls = /%(?:[01][\dA-F]|7F|C2%[89])/i;
const controlsButLines = /%(?:0[0-8BCEF]|1[\dA-F]|7F|C2%[89])/i;

/** A `{name}`, or a character that is not allowed in the path or query of a request (RFC 3986, 3.3 and 3.4). */
const excluded = /\{[^{}]*\}|[^\w.~!$&'()*+,;=:@/?%-]/gu;

/** Percent-encodes the forbidden characters of a path, with or without a query, except those of `{name}`. */
export function encodeTarget(path: string): string {
  return path.replace(excluded, (found) =>
    found.length > 1 && found.startsWith('{') ? found : encodeURIComponent(found.toWellFormed()),
  );
}

/** Returns true if a text is a valid header value. */
export function fitsHeader(text: string): boolean {
  return headerText.test(text);
}

/** Returns true if a path, or a part of a path, has a dot segment. */
export function hasDots(path: string): boolean {
  return dots.test(path);
}

/** Returns true if text for a path or a cookie has control characters. */
export function hasControls(text: string): boolean {
  return controls.test(text);
}

/** Returns true if text for a query has control characters other than tabs and line ends. */
export function hasControlsInQuery(text: string): boolean {
  return controlsButLines.test(text);
}
