/** A text of which only the prose is left: all other characters are spaces, so that offsets and lines stay the same. */
export type Prose = string;

const fence = /^( *)(```|~~~)[^\n]*\n.*?^ *\2[^\n]*$/gms;
const span = /`[^`\n]*`/g;
const link = /(?<=\])\([^)\n]*\)/g;
const markup = /<[^>\n]+>/g;

/** The text with each match as spaces. Line breaks stay. */
function blank(text: string, form: RegExp, filler = ' '): string {
  return text.replace(form, (match) => spaces(match, filler));
}

/** The prose of a Markdown page: without code, addresses and markup. */
export function markdownProse(page: string): Prose {
  const text = blank(blank(page, fence), span, '`');
  return blank(blank(text, link), markup);
}

/**
 * Comments, strings, templates and regular expressions of TypeScript. A slash begins a regular expression only after a
 * character or a word that no expression ends with.
 */
const token =
  /\/\*.*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=(?:[=(,:;!&|?{}[>]|return|^)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])*\//gms;

export interface SourceTexts {
  /** The source with its comments only. */
  readonly comments: Prose;
  /** The source with the contents of its strings only. A string has a space if it is a text. */
  readonly strings: Prose;
  /** The first words of each comment, by offset. Lines of `//` that follow each other are one comment. */
  readonly starts: readonly (readonly [offset: number, words: string])[];
}

/** Splits TypeScript into comments and strings. */
export function sourceTexts(source: string): SourceTexts {
  const comments: string[] = [];
  const strings: string[] = [];
  const starts: [number, string][] = [];
  let end = 0;
  let isLineComment = false;
  for (const { 0: text, index } of source.matchAll(token)) {
    const gap = source.slice(end, index);
    const skipped = spaces(gap);
    const isComment = text.startsWith('/*') || text.startsWith('//');
    const isString = /^['"`]/.test(text);
    comments.push(skipped, isComment ? commentText(text) : spaces(text));
    strings.push(skipped, isString && text.includes(' ') ? stringText(text) : spaces(text));
    const continues = isLineComment && /^\n[ \t]*$/.test(gap);
    if (isComment && !continues) starts.push([index, firstWords(text)]);
    isLineComment = text.startsWith('//');
    end = index + text.length;
  }
  return { comments: comments.join(''), strings: strings.join(''), starts };
}

/** As many fillers as the text has characters. Line breaks stay. */
function spaces(text: string, filler = ' '): string {
  if (!text.includes('\n')) return filler.repeat(text.length);
  return text
    .split('\n')
    .map((line) => filler.repeat(line.length))
    .join('\n');
}

function commentText(comment: string): string {
  const text = comment.replace(/^[ \t]*(?:\/\*\*?|\*\/|\*(?!\/)|\/\/)|\*\/$/gm, (match) => spaces(match));
  return blank(blank(text, span, '`'), /@param \w+/g);
}

function stringText(literal: string): string {
  return blank(literal.replace(/\\./g, '  ').replace(/^.|.$/gs, ' '), /\$\{[^}]*\}/g, '`');
}

function firstWords(comment: string): string {
  return /^[\s/*]*([^\n]{0,40})/.exec(comment)?.[1] ?? '';
}
