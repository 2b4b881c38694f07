import { readFileSync } from 'node:fs';

/** Formats a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Replaces the text between `<!-- table: name -->` and `<!-- end -->` by the table with that name. */
export function withTables(page: URL, tables: Readonly<Record<string, string>>): string {
  return readFileSync(page, 'utf8').replace(
    /(<!-- table: (\w+) -->\n).*?(\n<!-- end -->)/gs,
    (_, start: string, name: string, end: string) => `${start}${tables[name] ?? `no table ${name}`}${end}`,
  );
}
