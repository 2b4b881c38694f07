import { isStackOverflow } from '../../mappings/loader/document/allowance.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { printError, printJson } from './output.ts';

/** Exit code for what a command was asked to look for and found. */
export const finding = 1;

/** Exit code for what the author of a contract or a command line can mend. */
export const wrongInput = 2;

/**
 * The end of a command that can't go on: a sentence where we know what is wrong, never a stack; for a script that asked
 * for JSON the same as `problems`.
 */
export function fail(error: unknown, json = false): never {
  if (error instanceof ContractError || (error instanceof RangeError && !isStackOverflow(error))) {
    const isContract = error instanceof ContractError;
    if (json) printJson({ problems: isContract ? error.problems : [{ message: error.message }] });
    else printError(isContract ? `the contract can't be served:\n${error.message}` : error.message);
    process.exit(wrongInput);
  }
  if (isStackOverflow(error)) {
    const message = 'expected types that refer to fewer others in turn, got more than can be followed';
    if (json) printJson({ problems: [{ message }] });
    else printError(message);
    process.exit(wrongInput);
  }
  const message = refusal(error);
  if (message === undefined) {
    console.error(error);
    process.exit(1);
  }
  if (json) printJson({ problems: [{ message }] });
  else printError(message);
  process.exit(wrongInput);
}

/** What the machine refuses, in words; undefined for another error. */
function refusal(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined;
  if ('path' in error && 'syscall' in error) return `${error.path}: can't be read or written (${error.code})`;
  const hint = startHints.get(error.code);
  return hint === undefined ? undefined : `${error.message}; ${hint}`;
}

const otherHost = '--host takes an address of this machine';

/** What to do about a start that the machine refuses, by the error's code. */
const startHints: ReadonlyMap<unknown, string> = new Map([
  ['EADDRINUSE', 'take another port with --port, 0 for a free one'],
  ['EACCES', 'take another port with --port'],
  ['EADDRNOTAVAIL', otherHost],
  ['ENOTFOUND', otherHost],
  ['ENOSPC', 'make room where it writes'],
  ['ERR_SQLITE_ERROR', '--upstream-db takes a database file that can be written'],
]);
