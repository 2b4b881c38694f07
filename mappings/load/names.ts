/** How what a document calls things becomes names of operations, types and elements. */

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** A title or path in PascalCase: `/parcels/{number}` is `ParcelsNumber`. */
export function pascal(title: string): string {
  return title
    .split(/[^A-Za-z0-9]+/)
    .map(upperFirst)
    .join('');
}

/** `name` with what no identifier may hold as `_`: importers take nothing else as the name of an operation. */
export function identifier(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[0-9]/.test(plain) ? `_${plain}` : plain;
}

/**
 * Letters outside ASCII that both XML 1.0's fourth edition (B. Character Classes), by which .NET reads names, and its
 * fifth have for the start of a name: Latin, Greek, Cyrillic, Kana, Han, Hangul.
 */
const letters =
  /[\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u0131\u0134-\u013E\u0141-\u0148\u014A-\u017E\u0388-\u038A\u038E-\u03A1\u03A3-\u03CE\u0401-\u040C\u040E-\u044F\u0451-\u045C\u045E-\u0481\u3041-\u3094\u30A1-\u30FA\u4E00-\u9FA5\uAC00-\uD7A3]/;

/**
 * A JSON member's name as an XML name: what an NCName can't hold as `_xHHHH_`, .NET's escape. One case wider than
 * .NET's, every underscore before `x` and four hexadecimal digits, so that it can be undone.
 */
export function escapeName(name: string): string {
  let escaped = '';
  for (let at = 0; at < name.length; at++) {
    const letter = name.charAt(at);
    const starts = /[A-Za-z_]/.test(letter) || letters.test(letter);
    const isEscape = letter === '_' && /^x[0-9A-Fa-f]{4}/.test(name.slice(at + 1, at + 6));
    const legal = starts || (at > 0 && /[0-9.-]/.test(letter));
    escaped +=
      legal && !isEscape ? letter : `_x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
  }
  return escaped;
}

/** True for a name that may stand as an element without an escape. */
export function isElementName(name: string): boolean {
  return name !== '' && escapeName(name) === name;
}
