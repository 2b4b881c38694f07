import { inspect } from 'node:util';
import { isStackOverflow } from '../../mappings/loader/document/allowance.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { printError, printJson } from './output.ts';

/** Exit code of a command that found a problem it checks for. */
export const finding = 1;

/** Exit code for errors that the author of a contract or a command line can correct. */
export const wrongInput = 2;

/**
 * Ends a command after an error. A known error is printed as a sentence without a stack, or as `problems` with
 * `--json`.
 */
export function fail(error: unknown, json = false): never {
  if (error instanceof ContractError || (error instanceof RangeError && !isStackOverflow(error))) {
    const isContract = error instanceof ContractError;
    if (json) printJson({ problems: isContract ? error.problems : [{ message: error.message }] });
    else printError(isContract ? `errors in the contract or the settings:\n${error.message}` : error.message);
    process.exit(wrongInput);
  }
  if (isStackOverflow(error)) {
    const message = 'expected types with less nesting of references, got too many levels';
    if (json) printJson({ problems: [{ message }] });
    else printError(message);
    process.exit(wrongInput);
  }
  const message = refusal(error);
  if (message === undefined) {
    printError(inspect(error));
    process.exit(1);
  }
  if (json) printJson({ problems: [{ message }] });
  else printError(message);
  process.exit(wrongInput);
}

/** Returns the message for an error of the operating system; undefined for another error. */
function refusal(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined;
  if ('path' in error && 'syscall' in error)
    return `${error.path}: cannot read or write the file (${error.code})`;
  const hint = startHints.get(error.code);
  return hint === undefined ? undefined : `${error.message}. ${hint}`;
}

const otherHost = 'Set --host to an address of this machine';

/** Hints for errors at the start, by error code. */
const startHints: ReadonlyMap<unknown, string> = new Map([
  ['EADDRINUSE', 'Choose another port with --port, or 0 for a free one'],
  ['EACCES', 'Choose another port with --port'],
  ['EADDRNOTAVAIL', otherHost],
  ['ENOTFOUND', otherHost],
  ['ENOSPC', 'Free some disk space'],
  ['ERR_SQLITE_ERROR', 'Set --upstream-db to a writable database file'],
]);
