/**
 * Translates patterns of XML Schema (XSD 1.0, part 2, appendix F) to those of JSON Schema, which are ECMAScript's with
 * the flag `u` (A26).
 */

/**
 * The character classes `\s`, `\w`, `\i` and `\c`, as the inside of a bracket expression (XSD 1.0, part 2, F.1.1; XML
 * 1.0, 2.3).
 */
const nameStart =
  ':A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}';
const classes: Readonly<Record<string, string>> = {
  s: ' \\t\\n\\r',
  d: '\\d',
  w: '\\p{L}\\p{M}\\p{N}\\p{S}',
  i: nameStart,
  c: `${nameStart}\\-.0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040`,
};

/** Characters that a backslash may escape in both languages. A hyphen is escaped only within a class. */
const escapable = '\\|.?*+(){}[]^$/';

/**
 * Returns one pattern that matches a whole text if any of the alternatives does. Undefined if ECMAScript has no
 * equivalent: blocks of Unicode, class subtraction. `\d` matches ASCII digits only.
 */
export function patternOf(alternatives: readonly string[]): string | undefined {
  const translated = alternatives.map((pattern) => new Translation(pattern).whole());
  return translated.includes(undefined) ? undefined : `^(?:${translated.join('|')})$`;
}

/** Translates one pattern. */
class Translation {
  readonly #pattern: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = [...pattern];
  }

  /** Returns the translation; undefined if there is none. */
  whole(): string | undefined {
    let made = '';
    let depth = 0;
    let isAtom = false;
    while (this.#at < this.#pattern.length) {
      const character = this.#next();
      if (character === '(') depth++;
      if (character === ')' && --depth < 0) return undefined;
      const isQuantifier = '?*+{'.includes(character);
      if (isQuantifier && !isAtom) return undefined;
      const piece = this.#piece(character);
      if (piece === undefined) return undefined;
      isAtom = !isQuantifier && character !== '(' && character !== '|';
      made += piece;
    }
    return depth === 0 ? made : undefined;
  }

  #next(): string {
    return this.#pattern[this.#at++] ?? '';
  }

  #piece(character: string): string | undefined {
    switch (character) {
      case '(':
        return '(?:';
      case '.':
        return '[^\\n\\r]';
      case '^':
      case '$':
        return `\\${character}`;
      case '[':
        return this.#class();
      case '{':
        return this.#count();
      case '\\':
        return this.#escape(false);
      case ']':
      case '}':
        return undefined;
      default:
        return character;
    }
  }

  /** Translates the rest of `{2,5}`. */
  #count(): string | undefined {
    const end = this.#pattern.indexOf('}', this.#at);
    const inner = this.#pattern.slice(this.#at, end).join('');
    if (end === -1 || !/^\d+(?:,\d*)?$/.test(inner)) return undefined;
    this.#at = end + 1;
    return `{${inner}}`;
  }

  /** Translates the rest of an escape, after the backslash. */
  #escape(inClass: boolean): string | undefined {
    const character = this.#next();
    if (character === '') return undefined;
    const its = classes[character];
    if (its !== undefined) return inClass || character === 'd' ? its : `[${its}]`;
    const complement = classes[character.toLowerCase()];
    if (complement !== undefined) return inClass ? undefined : `[^${complement}]`;
    if (character === 'p' || character === 'P') return this.#category(character);
    if (character === '-') return inClass ? '\\-' : '-';
    if ('nrt'.includes(character)) return `\\${character}`;
    return escapable.includes(character) ? `\\${character}` : undefined;
  }

  /** Translates the rest of `\p{Lu}`. Blocks, such as `IsBasicLatin`, have no equivalent. */
  #category(character: string): string | undefined {
    const end = this.#pattern.indexOf('}', this.#at);
    const inner = this.#pattern.slice(this.#at, end).join('');
    if (end === -1 || !/^\{(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/.test(inner))
      return undefined;
    this.#at = end + 1;
    return `\\${character}${inner}}`;
  }

  /** Translates the rest of a class, after its opening bracket. */
  #class(): string | undefined {
    let made = '[';
    if (this.#pattern[this.#at] === '^') {
      made += '^';
      this.#at++;
    }
    for (let first = true; ; first = false) {
      const character = this.#next();
      if (character === ']') return first ? undefined : `${made}]`;
      if (character === '' || character === '[') return undefined;
      if (character === '-') {
        // a hyphen between two characters is a range, at either end a literal
        made += first || this.#pattern[this.#at] === ']' ? '\\-' : '-';
        continue;
      }
      const piece = character === '\\' ? this.#escape(true) : inClass(character);
      if (piece === undefined) return undefined;
      made += piece;
    }
  }
}

function inClass(character: string): string {
  return '^$.*+?()|{}/'.includes(character) ? `\\${character}` : character;
}
