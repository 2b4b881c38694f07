import { fstatSync, writeSync } from 'node:fs';
import { Option } from 'commander';
import { visible } from '../../mappings/loader/document/error.ts';

/** `--json`, the same for every command that prints. */
export function jsonOption(): Option {
  return new Option('--json', 'print one JSON document, errors too').default(false);
}

/** Whether what is printed goes to a file, of which Node writes as much as there is room for and says nothing of the rest. */
let isFile: boolean | undefined;

/** Prints to standard output, all of it; what keeps it from that is an error of `process.stdout`. */
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
  // its own line ends and indents are no part of a value
  const lines = JSON.stringify(value, null, 2).split('\n');
  print(`${lines.map(visible).join('\n')}\n`);
}

/** Prints a line to standard output; nothing that a document says moves the terminal's cursor, or makes a line of its own. */
export function printLine(line: string): void {
  print(`${visible(line)}\n`);
}

/** As `printLine`, to standard error; the lines of an error stay apart. */
export function printError(lines: string): void {
  console.error(lines.split('\n').map(visible).join('\n'));
}
