import type { Difference, Note } from './comparison.ts';

/** Kind of a finding: that of its differences, or of its notes (G36, G45). */
export type FindingKind = Difference['kind'] | Note['note'];

const noteKinds: ReadonlySet<string> = new Set<Note['note']>(['offset', 'scale', 'default', 'offContract']);

/** Returns true if a finding consists of notes, which do not affect the result of a call (G36). */
export function isNote(kind: FindingKind): kind is Note['note'] {
  return noteKinds.has(kind);
}

/** A quoted name, a position, or the key of an item in a set, which may contain any character. */
const step = /("[^"]*")|\[(?:(\d+)|([^\]=]*)=(?:\\.|[^\\\]])*)\]/gs;

/** Maximum length of a path in a finding, in characters. Names of undeclared elements can be longer. */
const maxPath = 500;

/** Returns a path without positions: `Line[0].Price` and `Line[Article=B].Price` are `Line[].Price` (G45). */
export function findingPath(path: string): string {
  return path.replace(step, (_all, quoted?: string) => quoted ?? '[]').slice(0, maxPath);
}

/** Returns a path with positions but without values: `Line[Article=B]` is `Line[Article=***]`. */
export function pathWithoutValues(path: string): string {
  const shown = path.replace(step, (all: string, _quoted?: string, _position?: string, key?: string) =>
    key === undefined ? all : `[${key}=***]`,
  );
  return shown.slice(0, maxPath);
}

/** Returns the name of a finding within its operation, e.g. `GetOrderResult.Line[].Price value` (G45). */
export function findingName(path: string, kind: FindingKind): string {
  return `${findingPath(path)} ${kind}`;
}
