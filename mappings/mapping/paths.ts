import { ByText, isItems, isMembers, type Value } from './value.ts';

/** A step of a path (M1). */
export type Step =
  | { readonly kind: 'member'; readonly name: string }
  /** `[n]`: the item at a position, from 0. */
  | { readonly kind: 'index'; readonly index: number }
  /** `[name=text]`: the first item with a member that equals the text, or the number. */
  | WhereStep
  /** `[]`: every item. */
  | { readonly kind: 'every' };

export interface WhereStep {
  readonly kind: 'where';
  readonly name: string;
  readonly text: string;
  /** The text as a lookup. */
  readonly wanted: ByText<true>;
}

/** Steps from the root of a path; empty for the root itself. */
export type Path = readonly Step[];

/**
 * Parses a path as written: `a.b`, `a[0]`, `a[k=v]`, `a[].b`, `"a.b".c`; `.` is the root. Undefined if it is invalid.
 */
export function parsePath(text: string): Path | undefined {
  const steps: Step[] = [];
  if (text === '.') return steps;
  const token = /(\.?)(?:"([^"]*)"|([^.[\]"]+))|\[([^\]]*)\]/y;
  while (token.lastIndex < text.length) {
    const isFirst = token.lastIndex === 0;
    const match = token.exec(text);
    if (match === null) return undefined;
    const [, dot, quoted, plain, bracket] = match;
    if (bracket === undefined) {
      if (isFirst === (dot === '.')) return undefined;
      steps.push({ kind: 'member', name: quoted ?? plain ?? '' });
    } else steps.push(bracketStep(bracket));
  }
  return steps.length === 0 ? undefined : steps;
}

function bracketStep(text: string): Step {
  if (text === '') return { kind: 'every' };
  if (/^[0-9]{1,9}$/.test(text)) return { kind: 'index', index: Number(text) };
  const at = text.indexOf('=');
  const [name, value] = at < 0 ? [text, 'true'] : [text.slice(0, at), text.slice(at + 1)];
  return { kind: 'where', name, text: value, wanted: new ByText([[value, true]]) };
}

/** Returns the text of a path in the form that `parsePath` accepts. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path) {
    if (step.kind === 'member') {
      const name = /^[^.[\]"]+$/.test(step.name) ? step.name : `"${step.name}"`;
      text += text === '' ? name : `.${name}`;
    } else if (step.kind === 'index') text += `[${step.index}]`;
    else text += step.kind === 'every' ? '[]' : `[${step.name}=${step.text}]`;
  }
  return text === '' ? '.' : text;
}

/** Returns the value at a path; undefined if it is missing. A path through null gives undefined. */
export function valueAtPath(value: Value | undefined, path: Path): Value | undefined {
  let at = value;
  for (const step of path) {
    if (at === undefined) return undefined;
    if (step.kind === 'member') at = isMembers(at) ? at.get(step.name) : undefined;
    else if (!isItems(at)) return undefined;
    else if (step.kind === 'index') at = at[step.index];
    else if (step.kind === 'where') at = at.find((item) => isWhere(item, step));
  }
  return at;
}

/** Returns true if an item matches `[name=text]`. */
export function isWhere(item: Value, { name, wanted }: WhereStep): boolean {
  return isMembers(item) && wanted.get(item.get(name)) === true;
}
