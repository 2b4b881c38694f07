import { Option } from 'commander';

/** `--json`, the same for every command that prints. */
export function jsonOption(): Option {
  return new Option('--json', 'print one JSON document, errors too').default(false);
}

/** Prints a value to standard output as JSON, indented by two. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
