/** What can't stand in a place of a call upstream, whoever writes it: as text for a header, percent-encoded elsewhere. */

/** Characters of a value in the path, the query, a header or a cookie of a call to the upstream. */
export const maxParameterCharacters = 64 * 1024;

/** Text of a header: printable ASCII without a blank at either end, which nobody would get. */
const headerText = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Headers, in lower case, that are the connection's to say and not a caller's. */
export const connectionHeaders: ReadonlySet<string> = new Set([
  ...['accept-encoding', 'connection', 'content-encoding', 'content-length', 'expect', 'host', 'keep-alive'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/**
 * A segment of dots, which would change the resource that a path names: for whoever takes an encoded dot or slash for a plain
 * one, a backslash for a slash, or does without what follows a semicolon, too.
 */
const dots = /(?:^|[/\\]|%2F|%5C)(?:\.|%2E){1,2}(?:$|[/\\;?]|%2F|%5C|%3B)/i;

/** Control characters, as they are encoded, and in a query all but tabs and the ends of lines, which texts may have. */
const controls = /%(?:[01][\dA-F]|7F|C2%[89])/i;
const controlsButLines = /%(?:0[0-8BCEF]|1[\dA-F]|7F|C2%[89])/i;

/** A `{name}`, or a character that neither path nor query of a request may have (RFC 3986, 3.3 and 3.4). */
const excluded = /\{[^{}]*\}|[^\w.~!$&'()*+,;=:@/?%-]/gu;

/** A path, with or without a query, whose excluded characters are percent-encoded; `{name}`s stay. */
export function encodeTarget(path: string): string {
  return path.replace(excluded, (found) =>
    found.length > 1 && found.startsWith('{') ? found : encodeURIComponent(found.toWellFormed()),
  );
}

/** Whether a text can be a header's value. */
export function fitsHeader(text: string): boolean {
  return headerText.test(text);
}

/** Whether a path, or a part of one, has a segment of dots. */
export function hasDots(path: string): boolean {
  return dots.test(path);
}

/** Whether there are control characters in text for a path or a cookie. */
export function hasControls(text: string): boolean {
  return controls.test(text);
}

/** The same of a query. */
export function hasControlsInQuery(text: string): boolean {
  return controlsButLines.test(text);
}
