/**
 * The version, the encoding and the length, in UTF-16 units, of an XML declaration: `<?xml version="1.0" encoding="utf-8" standalone="yes"?>` ([23] XMLDecl).
 * Undefined when the text doesn't start with a correct one.
 */
export function readDeclaration(
  text: string,
): { version: string; encoding: string | undefined; length: number } | undefined {
  const match = declaration.exec(text);
  if (match === null) return undefined;
  const [whole, version = '', encoding] = match;
  return { version: version.slice(1, -1), encoding: encoding?.slice(1, -1), length: whole.length };
}

// Blanks and the words between them never overlap, so there is nothing to backtrack over.
const blank = '[ \\t\\r\\n]';
const equals = `${blank}*=${blank}*`;
const quoted = (value: string): string => `"${value}"|'${value}'`;
/** Its groups are the quoted version and encoding. */
export const declaration: RegExp = new RegExp(
  `^<\\?xml${blank}+version${equals}(${quoted('1\\.[0-9]+')})` +
    `(?:${blank}+encoding${equals}(${quoted('[A-Za-z][A-Za-z0-9._-]*')}))?` +
    `(?:${blank}+standalone${equals}(?:${quoted('(?:yes|no)')}))?` +
    `${blank}*\\?>`,
);
