import { linearPattern } from '../../mappings/codec/scalars/pattern.ts';

/** Maximum number of repetitions, so that samples stay readable. */
const maxRepeats = 64;
/** Maximum depth of nested groups. */
const maxGroupDepth = 32;

/**
 * Returns a sample text that an ECMAScript pattern matches as a whole. Returns undefined for a pattern with unsupported
 * parts: look-arounds, references, complements of categories. The caller must check the text, since anchors within the
 * pattern are ignored.
 *
 * @param source the pattern without flags, as in JSON Schema
 */
export function textOfPattern(source: string): string | undefined {
  try {
    const pattern = new PatternSampler(source);
    const text = pattern.alternatives(0);
    return pattern.isAtEnd ? text : undefined;
  } catch (error) {
    if (error instanceof UnsupportedPart) return undefined;
    throw error;
  }
}

/** Thrown for a part of a pattern that is not supported. */
class UnsupportedPart extends Error {}

/** Sample characters of class escapes. */
const escapes: Readonly<Record<string, string>> = {
  d: '1',
  w: 'a',
  s: ' ',
  D: 'a',
  W: '-',
  S: 'a',
  n: '\n',
  r: '\r',
  t: '\t',
  f: '\f',
  v: '\v',
  b: '',
};

/** Sample characters of Unicode categories, by the first letters of the category. */
const categories: readonly (readonly [string, string])[] = [
  ['Lu', 'A'],
  ['L', 'a'],
  ['N', '1'],
  ['P', '-'],
  ['S', '+'],
  ['Z', ' '],
];

/** Sample characters for a negated class; the first one that the class accepts is used. */
const negatedClassSamples = ['a', 'A', '1', '-', ' ', '_', 'é'] as const;

/** Parser of a pattern. It makes a sample while it parses: most methods return a text for the part that they read. */
class PatternSampler {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#source.length;
  }

  /** Returns a text for the first alternative and skips the others. */
  alternatives(depth: number): string {
    if (depth > maxGroupDepth) throw new UnsupportedPart();
    const first = this.#sequence(depth);
    while (this.#take('|')) this.#sequence(depth);
    return first;
  }

  #sequence(depth: number): string {
    let text = '';
    while (!this.isAtEnd && !'|)'.includes(this.#peek())) {
      const atom = this.#atom(depth);
      text += atom.repeat(this.#repeats());
    }
    return text;
  }

  #peek(): string {
    return this.#source[this.#at] ?? '';
  }

  /** Reads a text if it is next. Returns false if it is not. */
  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #atom(depth: number): string {
    if (this.#take('^') || this.#take('$')) return '';
    if (this.#take('.')) return 'a';
    if (this.#take('(')) return this.#group(depth);
    if (this.#take('[')) return this.#class();
    if (this.#take('\\')) return this.#escape();
    if ('*+?'.includes(this.#peek())) throw new UnsupportedPart();
    return this.#character();
  }

  #character(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  /** Returns a text for a group: capturing, named or `(?:…)`. The `(` was read before. */
  #group(depth: number): string {
    if (this.#take('?') && !this.#take(':')) {
      const name = /^<[A-Za-z_]\w*>/.exec(this.#source.slice(this.#at, this.#at + 64))?.[0];
      if (name === undefined) throw new UnsupportedPart();
      this.#at += name.length;
    }
    const text = this.alternatives(depth + 1);
    if (!this.#take(')')) throw new UnsupportedPart();
    return text;
  }

  #escape(): string {
    const character = this.#character();
    if (character === 'p') return this.#category();
    if (character === 'u' || character === 'x') return this.#code(character);
    if (character === 'P' || character === 'k' || character === 'B' || /[1-9]/.test(character))
      throw new UnsupportedPart();
    return escapes[character] ?? character;
  }

  /** Returns a character of `\p{…}`. */
  #category(): string {
    const name = /^\{(?:[\w]+=)?(\w+)\}/.exec(this.#source.slice(this.#at, this.#at + 64));
    if (name === null) throw new UnsupportedPart();
    this.#at += name[0].length;
    const known = categories.find(([start]) => name[1]?.startsWith(start));
    if (known === undefined) throw new UnsupportedPart();
    return known[1];
  }

  /** Returns the character of `\xHH`, `\uHHHH` or `\u{H}`. */
  #code(kind: string): string {
    const digits = kind === 'x' ? /^[\da-f]{2}/i : /^(?:[\da-f]{4}|\{[\da-f]{1,6}\})/i;
    const found = digits.exec(this.#source.slice(this.#at, this.#at + 8))?.[0];
    if (found === undefined) throw new UnsupportedPart();
    this.#at += found.length;
    const code = Number.parseInt(found.replace(/[{}]/g, ''), 16);
    if (code > 0x10ffff) throw new UnsupportedPart();
    return String.fromCodePoint(code);
  }

  /** Returns the first character of a class, or a character that a negated class accepts. The `[` was read before. */
  #class(): string {
    const from = this.#at - 1;
    const isNegated = this.#take('^');
    let first: string | undefined;
    while (!this.isAtEnd && this.#peek() !== ']') {
      // the hyphen and the end of a range are read as characters, which are not used
      const character = this.#take('\\') ? this.#escape() : this.#character();
      first ??= character;
    }
    if (!this.#take(']')) throw new UnsupportedPart();
    if (!isNegated) return first ?? '';
    const bracketed = this.#source.slice(from, this.#at);
    const accepted = negatedClassSamples.find((character) => acceptsCharacter(bracketed, character));
    if (accepted === undefined) throw new UnsupportedPart();
    return accepted;
  }

  /**
   * Reads an optional quantifier. Returns how often the atom before it is written: the minimum, or once if the minimum is
   * 0. An atom that must not occur (`{0}`) is not written.
   */
  #repeats(): number {
    let times = 1;
    const count = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/.exec(this.#source.slice(this.#at, this.#at + 16));
    if (this.#take('*') || this.#take('+') || this.#take('?')) times = 1;
    else if (count !== null) {
      this.#at += count[0].length;
      times = Math.max(
        Number(count[1]),
        count[2] === '0' || (count[1] === '0' && count[2] === undefined) ? 0 : 1,
      );
    } else return 1;
    this.#take('?');
    if (times > maxRepeats) throw new UnsupportedPart();
    return times;
  }
}

/** Returns true if a class, with its brackets, accepts a character. */
function acceptsCharacter(bracketed: string, character: string): boolean {
  return linearPattern(`^${bracketed}$`)?.matcher(character).find() === true;
}
