import { Option } from 'commander';
import { visible } from '../../mappings/loader/document/error.ts';

/** `--json`, the same for every command that prints. */
export function jsonOption(): Option {
  return new Option('--json', 'print one JSON document, errors too').default(false);
}

/** Prints a value to standard output as JSON, indented by two. */
export function printJson(value: unknown): void {
  // its own line ends and indents are no part of a value
  const lines = JSON.stringify(value, null, 2).split('\n');
  process.stdout.write(`${lines.map(visible).join('\n')}\n`);
}

/** Prints a line to standard output; nothing that a document says moves the terminal's cursor, or makes a line of its own. */
export function printLine(line: string): void {
  console.log(visible(line));
}

/** As `printLine`, to standard error; the lines of an error stay apart. */
export function printError(lines: string): void {
  console.error(lines.split('\n').map(visible).join('\n'));
}
