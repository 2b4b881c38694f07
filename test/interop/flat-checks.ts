import { checks } from './checks.ts';

/**
 * Prints the checks as tab-separated rows for clients whose language has no JSON reader. Columns: operation, situation,
 * `input`, `null` (a null input) or `read`, path, value.
 */
for (const { operation, situation, input, read } of checks) {
  for (const [path, value] of leaves(input, [])) {
    if (value === null) print(operation, situation, 'null', path, '');
    else print(operation, situation, 'input', path, value);
  }
  for (const path of Object.keys(read)) print(operation, situation, 'read', path, '');
}

/** Returns each value with its path. An array also has its length, at `#`. */
function* leaves(value: unknown, path: readonly string[]): Generator<[string, string | null]> {
  if (Array.isArray(value)) yield [[...path, '#'].join('.'), String(value.length)];
  if (value === null) yield [path.join('.'), null];
  else if (typeof value !== 'object' || 'rawJSON' in value) {
    yield [path.join('.'), typeof value === 'string' ? value : JSON.stringify(value)];
  } else for (const [name, inner] of Object.entries(value)) yield* leaves(inner, [...path, name]);
}

function print(...columns: readonly string[]): void {
  process.stdout.write(`${columns.join('\t')}\n`);
}
