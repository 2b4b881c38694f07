/**
 * The XML declaration: `<?xml version="1.0" encoding="utf-8" standalone="yes"?>` ([23] XMLDecl).
 *
 * Undefined when the text doesn't start with a correct one.
 */
export function readDeclaration(
  text: string,
): { version: string; encoding: string | undefined; length: number } | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  return { version: match[2] ?? '', encoding: match[4], length: match[0].length };
}

// Blanks and the words between them never overlap, so there is nothing to backtrack over.
const blank = '[ \\t\\r\\n]';
const equals = `${blank}*=${blank}*`;
const pattern = new RegExp(
  `^<\\?xml${blank}+version${equals}(["'])(1\\.[0-9]+)\\1` +
    `(?:${blank}+encoding${equals}(["'])([A-Za-z][A-Za-z0-9._-]*)\\3)?` +
    `(?:${blank}+standalone${equals}(["'])(?:yes|no)\\5)?` +
    `${blank}*\\?>`,
);
