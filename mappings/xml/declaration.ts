/**
 * Returns the version, the encoding and the length, in UTF-16 units, of an XML declaration ([23] XMLDecl), for example
 * `<?xml version="1.0" encoding="utf-8" standalone="yes"?>`. Undefined if the text does not start with a valid
 * declaration.
 */
export function readDeclaration(
  text: string,
): { version: string; encoding: string | undefined; length: number } | undefined {
  const match = declaration.exec(text);
  if (match === null) return undefined;
  const [whole, version = '', encoding] = match;
  return { version: version.slice(1, -1), encoding: encoding?.slice(1, -1), length: whole.length };
}

// Blanks and the words between them are disjoint, so the pattern never backtracks.
const blank = '[ \\t\\r\\n]';
const equals = `${blank}*=${blank}*`;
const quoted = (value: string): string => `"${value}"|'${value}'`;
/** The groups are the version and the encoding with their quotes. */
export const declaration: RegExp = new RegExp(
  `^<\\?xml${blank}+version${equals}(${quoted('1\\.[0-9]+')})` +
    `(?:${blank}+encoding${equals}(${quoted('[A-Za-z][A-Za-z0-9._-]*')}))?` +
    `(?:${blank}+standalone${equals}(?:${quoted('(?:yes|no)')}))?` +
    `${blank}*\\?>`,
);
