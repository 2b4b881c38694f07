/** A problem in a contract, addressed to its author. */
export interface ContractProblem {
  readonly file: string;
  /** JSON pointer (RFC 6901) into the file. */
  readonly pointer: string;
  /** Line in the file, from 1; undefined if it is unknown. */
  readonly line?: number | undefined;
  /** Cause and remedy. */
  readonly message: string;
}

/** A contract that cannot be served. Thrown at start, never during a request. */
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

/** Control characters, line separators and bidirectional controls, which a terminal does not show as written. */
const unseen = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/**
 * Returns a line of text that is safe for a terminal. Control characters, including line ends, are written as `\u001b`;
 * tabs are kept.
 */
export function visible(text: string): string {
  return text.replace(unseen, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Collects the problems of one file, so that all are reported together.
 *
 * @param missing key that the object at the pointer lacks. The problem is a consequence if its value was rejected
 */
export type Report = (pointer: string, message: string, missing?: string) => void;

/** A remark about a valid part of the document, mostly the reason for JSON text. */
export interface Note {
  /** JSON pointer, as in `Located`. */
  readonly pointer: string;
  readonly why: string;
}

/** Reasons by pointer, as notes. */
export function notesOf(reasons: ReadonlyMap<string, string>): readonly Note[] {
  return [...reasons].map(([pointer, why]) => ({ pointer, why }));
}

/** Returns `segment` as a segment of a JSON pointer. */
export function pointerSegment(segment: string | number): string {
  if (typeof segment === 'number' || !/[~/]/.test(segment)) return `/${segment}`;
  return `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the key that a segment of a JSON pointer represents (RFC 6901, 4). */
export function unescapedSegment(segment: string): string {
  return segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment;
}
