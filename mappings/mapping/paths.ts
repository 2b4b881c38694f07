import { ByText, isItems, isMembers, type Value } from './value.ts';

/** One step of a path (M1). */
export type Step =
  | { readonly kind: 'member'; readonly name: string }
  /** `[n]`: the item at a position, from 0. */
  | { readonly kind: 'index'; readonly index: number }
  /** `[name=text]`: the first item whose member has that text, or is that number. */
  | WhereStep
  /** `[]`: every item. */
  | { readonly kind: 'every' };

export interface WhereStep {
  readonly kind: 'where';
  readonly name: string;
  readonly text: string;
  /** The text alone. */
  readonly wanted: ByText<true>;
}

/** Steps from where the path begins; none for the place itself. */
export type Path = readonly Step[];

/**
 * A path as its author writes it: `a.b`, `a[0]`, `a[k=v]`, `a[].b`, `"a.b".c`; `.` is the place itself. Undefined for text
 * that is none.
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

/** A path as text that `parsePath` reads. */
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

/** What stands at a path of a value; undefined for nothing. Null ends a path: nothing is in it. */
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

/** Whether an item is one that `[name=text]` means. */
export function isWhere(item: Value, { name, wanted }: WhereStep): boolean {
  return isMembers(item) && wanted.get(item.get(name)) === true;
}
