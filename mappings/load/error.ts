/** One thing wrong with a contract, said to whoever wrote it. */
export interface ContractProblem {
  readonly file: string;
  /** JSON pointer (RFC 6901) into the file. */
  readonly pointer: string;
  /** What is wrong and what to do. */
  readonly message: string;
}

/** A contract that can't be served; found at start, never by a request. */
export class ContractError extends Error {
  readonly problems: readonly ContractProblem[];

  constructor(problems: readonly ContractProblem[]) {
    super(problems.map(({ file, pointer, message }) => `${file}#${pointer}: ${message}`).join('\n'));
    this.name = 'ContractError';
    this.problems = problems;
  }
}

/** Gathers the problems of one file, so that an author sees them all at once. */
export type Report = (pointer: string, message: string) => void;

/** `segment` as a part of a JSON pointer. */
export function pointerSegment(segment: string | number): string {
  return `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
