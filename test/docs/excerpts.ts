import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'docs/clients');

/** A page with code from the sources. */
interface Page {
  readonly name: string;
  readonly file: string;
}

/** Pages for callers with code examples, and the page about embedding. */
export function excerptPages(): readonly Page[] {
  const names = readdirSync(folder).map((name) => `docs/clients/${name}`);
  return [...names, 'docs/embedding.md'].map((name) => ({ name, file: join(root, name) }));
}

/**
 * Returns a page with its code updated from the sources. Each fenced block below a line `<!-- from path: name -->`
 * becomes the lines between `docs:begin name` and `docs:end name`, which XML has in comments. Throws if these marks are
 * missing.
 */
export function withExcerpts(page: string): string {
  return page.replace(
    /^(<!-- from (\S+): (\S+) -->\n```\w*\n)(?:.*?\n)??(```)$/gms,
    (_all, head: string, path: string, name: string, end: string) => head + excerpt(path, name) + end,
  );
}

function excerpt(path: string, name: string): string {
  const source = readFileSync(join(root, path), 'utf8');
  const [, lines] =
    new RegExp(`docs:begin ${name}(?: -->)?\\n(.*?)^[^\\n]*docs:end ${name}(?: -->)?$`, 'ms').exec(source) ??
    [];
  if (lines !== undefined) return withoutIndent(lines);
  throw new Error(`${path}: expected lines between "docs:begin ${name}" and "docs:end ${name}", got none`);
}

/** Removes the common indentation of lines. */
function withoutIndent(lines: string): string {
  const indents = [...lines.matchAll(/^( *)\S/gm)].map(([, indent = '']) => indent.length);
  return lines.replace(new RegExp(`^ {${Math.min(...indents)}}`, 'gm'), '');
}
