import { parsePath } from '../mapping/paths.ts';

// Paths of values in a reply, and the patterns of rules that match them (G40, G43).

/** A step to a value: the name of a member, the position of an item, or the key of an item in a set. */
export type ReplyStep = string | number | { readonly key: string; readonly text: string };

/** Steps from the root of a reply. */
export type ReplyPath = readonly ReplyStep[];

/** A step of a pattern: a member, any one member (`*`), any number of steps (`**`), or an item (`[]`). */
export type PatternStep =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'any' }
  | { readonly kind: 'item' };

export type Pattern = readonly PatternStep[];

/** Parses the path of a rule; undefined if it is invalid or has a position. */
export function parsePattern(text: string): Pattern | undefined {
  const steps: PatternStep[] = [];
  for (const step of parsePath(text) ?? []) {
    if (step.kind === 'every') steps.push({ kind: 'item' });
    else if (step.kind !== 'member') return undefined;
    else if (step.name === '*') steps.push({ kind: 'one' });
    else if (step.name === '**') steps.push({ kind: 'any' });
    else steps.push({ kind: 'member', name: step.name });
  }
  return steps.length === 0 ? undefined : steps;
}

/** Returns the positions in a pattern after a step from a position. */
export function advance(pattern: Pattern, at: number, step: ReplyStep): readonly number[] {
  const wanted = pattern[at];
  if (wanted === undefined) return [];
  if (wanted.kind === 'any') return [at, ...advance(pattern, at + 1, step)];
  const isMember = typeof step === 'string';
  const fits =
    wanted.kind === 'item' ? !isMember : isMember && (wanted.kind === 'one' || wanted.name === step);
  return fits ? [at + 1] : [];
}

/** Returns true if only steps `**` are left at a position in a pattern. */
export function isAtEnd(pattern: Pattern, at: number): boolean {
  return pattern.slice(at).every(({ kind }) => kind === 'any');
}

/** Returns true if a pattern matches a path. */
export function matches(pattern: Pattern, path: ReplyPath): boolean {
  let places: ReadonlySet<number> = new Set([0]);
  for (const step of path) {
    const next = new Set<number>();
    for (const at of places) for (const one of advance(pattern, at, step)) next.add(one);
    if (next.size === 0) return false;
    places = next;
  }
  return [...places].some((at) => isAtEnd(pattern, at));
}

/** Maximum number of characters of a key in a path. */
const maxKeyCharacters = 256;

/**
 * Returns the text of a path, e.g. `GetOrderResult.Line[0].Price` or `Line[Article=B]`. In a key, `]` and `\` follow a
 * `\`. A key is cut after 256 characters.
 */
export function replyPathText(path: ReplyPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (typeof step === 'object') {
      const key = step.text.slice(0, maxKeyCharacters).replace(/[\\\]]/g, '\\$&');
      text += `[${step.key}=${key}]`;
    } else {
      const name = /^[^.[\]"]+$/.test(step) ? step : `"${step}"`;
      text += text === '' ? name : `.${name}`;
    }
  }
  return text;
}
