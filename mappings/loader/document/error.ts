/** One thing wrong with a contract, for its author. */
export interface ContractProblem {
  readonly file: string;
  /** JSON pointer (RFC 6901) into the file. */
  readonly pointer: string;
  /** Where that is in the file, from 1; undefined where it isn't known. */
  readonly line?: number | undefined;
  /** What is wrong and what to do. */
  readonly message: string;
}

/** A contract that can't be served; found at start, never by a request. */
export class ContractError extends Error {
  readonly problems: readonly ContractProblem[];

  constructor(problems: readonly ContractProblem[]) {
    super(problems.map(lineOfText).join('\n'));
    this.name = 'ContractError';
    this.problems = problems;
  }
}

/** `soap.yaml:3#/dialect: expected one of servicestack, plain, got "esperanto"` */
function lineOfText({ file, line, pointer, message }: ContractProblem): string {
  return visible(`${file}${line === undefined ? '' : `:${line}`}#${pointer}: ${message}`);
}

/** What a terminal acts on rather than shows, or shows in another order than it is written. */
const unseen = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** One line of text as a terminal may have it: what isn't seen, line ends too, is written as `\u001b`; tabs stay. */
export function visible(text: string): string {
  return text.replace(unseen, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Gathers the problems of one file, so that an author sees them all at once. */
export type Report = (pointer: string, message: string) => void;

/** What is to be said of a place of the document that isn't wrong, mostly why it travels as JSON text. */
export interface Note {
  /** JSON pointer, as in `Located`. */
  readonly pointer: string;
  readonly why: string;
}

/** Reasons by pointer, as notes. */
export function notesOf(reasons: ReadonlyMap<string, string>): readonly Note[] {
  return [...reasons].map(([pointer, why]) => ({ pointer, why }));
}

/** `segment` as a part of a JSON pointer. */
export function pointerSegment(segment: string | number): string {
  if (typeof segment === 'number' || !/[~/]/.test(segment)) return `/${segment}`;
  return `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The key that a segment of a JSON pointer stands for (RFC 6901, 4). */
export function unescapedSegment(segment: string): string {
  return segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment;
}
