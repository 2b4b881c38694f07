/** The character classes of XML 1.0, fifth edition, and of Namespaces in XML 1.0. */

const start = 1;
const follow = 2;

/** The role of an ASCII character in an NCName. A colon has none. */
const ascii = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_]/.test(character)) ascii[code] = start | follow;
  else if (/[-.0-9]/.test(character)) ascii[code] = follow;
}

/** Returns true for a code point that starts an NCName: [4] NameStartChar without the colon. */
export function isNameStart(code: number): boolean {
  if (code < 128) return code >= 0 && ((ascii[code] ?? 0) & start) !== 0;
  return (
    (code >= 0xc0 && code <= 0x2ff && code !== 0xd7 && code !== 0xf7) ||
    (code >= 0x370 && code <= 0x1fff && code !== 0x37e) ||
    code === 0x200c ||
    code === 0x200d ||
    (code >= 0x2070 && code <= 0x218f) ||
    (code >= 0x2c00 && code <= 0x2fef) ||
    (code >= 0x3001 && code <= 0xd7ff) ||
    (code >= 0xf900 && code <= 0xfdcf) ||
    (code >= 0xfdf0 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0xeffff)
  );
}

/** Returns true for a code point inside an NCName: [4a] NameChar without the colon. */
export function isNameCharacter(code: number): boolean {
  if (code < 128) return code >= 0 && ((ascii[code] ?? 0) & follow) !== 0;
  return (
    isNameStart(code) ||
    code === 0xb7 ||
    (code >= 0x300 && code <= 0x36f) ||
    code === 0x203f ||
    code === 0x2040
  );
}

const ncName =
  /^[A-Z_a-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}][-.0-9A-Z_a-z\u{B7}\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{203F}-\u{2040}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}]*$/u;

/** Returns true for a name without a colon: [4] NCName, with the two classes above. */
export function isNcName(text: string): boolean {
  return ncName.test(text);
}

/** Returns true for a code point that a document may contain: [2] Char. */
export function isCharacter(code: number): boolean {
  return code < 0xd800
    ? code >= 0x20 || code === 0x9 || code === 0xa || code === 0xd
    : code > 0xdfff && code !== 0xfffe && code !== 0xffff && code <= 0x10ffff;
}

const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Resolves the character references and predefined entities of a text. Other references are unchanged. */
export function resolveReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d+)|#x([\da-fA-F]+)|(amp|lt|gt|quot|apos));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return predefined[name as string] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code > 0x10ffff ? all : String.fromCodePoint(code);
  });
}

/** Returns true for the four blanks: [3] S. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0xa || code === 0xd || code === 0x9;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
const control = /[\0-\x08\x0B\x0C\x0E-\x1F]/g;

/**
 * Returns the offset of the first character that a document must not contain (controls, U+FFFE, U+FFFF, unpaired
 * surrogates), or -1. Four native searches are faster than one loop in JavaScript.
 *
 * @param from offset up to which the text is known to be legal
 */
export function findIllegal(text: string, from = 0): number {
  control.lastIndex = from;
  if (
    !control.test(text) &&
    text.indexOf('\uFFFE', from) === -1 &&
    text.indexOf('\uFFFF', from) === -1 &&
    text.isWellFormed()
  ) {
    return -1;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
  return text.search(/[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]|\p{Surrogate}/u);
}
