import type { Difference, Note } from './comparison.ts';

/** Kind of a finding: that of its differences, or of its notes (G36, G45). */
export type FindingKind = Difference['kind'] | Note['note'];

const noteKinds: ReadonlySet<string> = new Set<Note['note']>(['offset', 'scale', 'default', 'offContract']);

/** Returns true if a finding consists of notes, which do not affect the result of a call (G36). */
export function isNote(kind: FindingKind): kind is Note['note'] {
  return noteKinds.has(kind);
}

/** Maximum length of a path in a finding, in characters. Names of undeclared elements can be longer. */
const maxPath = 500;

/** Returns a path without positions: `Line[0].Price` and `Line[Article=B].Price` are `Line[].Price` (G45). */
export function findingPath(path: string): string {
  return withBrackets(path, () => '').slice(0, maxPath);
}

/** Returns a path with positions but without values: `Line[Article=B]` is `Line[Article=***]`. */
export function pathWithoutValues(path: string): string {
  const hidden = withBrackets(path, (content) => {
    const end = content.indexOf('=');
    return end === -1 ? content : `${content.slice(0, end)}=***`;
  });
  return hidden.slice(0, maxPath);
}

/** Changes the content of all brackets outside quoted names. In a bracket, a backslash escapes the next character. */
function withBrackets(path: string, change: (content: string) => string): string {
  let changed = '';
  for (let at = 0; at < path.length; ) {
    const start = at;
    if (path[at] === '"') {
      const end = path.indexOf('"', at + 1);
      at = end === -1 ? path.length : end + 1;
      changed += path.slice(start, at);
    } else if (path[at] === '[') {
      while (++at < path.length && path[at] !== ']') if (path[at] === '\\') at++;
      changed += `[${change(path.slice(start + 1, at))}]`;
      at++;
    } else {
      changed += path[at];
      at++;
    }
  }
  return changed;
}

/** Returns the name of a finding within its operation, e.g. `GetOrderResult.Line[].Price value` (G45). */
export function findingName(path: string, kind: FindingKind): string {
  return `${findingPath(path)} ${kind}`;
}
