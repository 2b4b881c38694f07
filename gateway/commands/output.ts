import { fstatSync, writeSync } from 'node:fs';
import { Option } from 'commander';
import { visible } from '../../mappings/loader/document/error.ts';

/** Creates the option `--json`, shared by all commands that print. */
export function jsonOption(): Option {
  return new Option('--json', 'print the result, or the errors, as one JSON document').default(false);
}

/** True if standard output is a file. Node's stream writes only as much as fits on the disk and reports no error. */
let isFile: boolean | undefined;

/** Prints everything to standard output. A failure is emitted as an error of `process.stdout`. */
export function print(content: string | Uint8Array): void {
  isFile ??= fstatSync(1).isFile();
  if (!isFile) {
    process.stdout.write(content);
    return;
  }
  const bytes = Buffer.from(content);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
  } catch (error) {
    process.stdout.emit('error', error);
  }
}

/** Prints a value to standard output as JSON, indented by two. */
export function printJson(value: unknown): void {
  // The line breaks and indents between values must not be escaped.
  const lines = JSON.stringify(value, null, 2).split('\n');
  print(`${lines.map(visible).join('\n')}\n`);
}

/**
 * Prints a line to standard output. Control characters are escaped, so that a document's text can neither move the
 * cursor nor start a new line.
 */
export function printLine(line: string): void {
  print(`${visible(line)}\n`);
}

/** True if errors are lines of a log. */
let isLog = false;

/** pino's number for `fatal`, because each printed error ends the process. */
const fatal = 60;

/** Makes `printError` write JSON lines like those of the log. */
export function printErrorsAsLog(): void {
  isLog = true;
}

/** Like `printLine`, to standard error. It keeps the line breaks of an error, unless errors are lines of a log. */
export function printError(lines: string): void {
  const text = isLog ? JSON.stringify({ level: fatal, time: Date.now(), msg: lines }) : lines;
  console.error(text.split('\n').map(visible).join('\n'));
}
