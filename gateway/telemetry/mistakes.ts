import type { Contract } from '../../mappings/contract/model.ts';
import type { Quote, Reason } from '../../mappings/contract/reason.ts';

/** A mistake in a refused message, for the log. It has names of the contract, and no text of the caller. */
export interface LoggedMistake {
  readonly code?: string | undefined;
  /** Path with the names of the contract; `*` replaces any other name. */
  readonly path?: string | undefined;
  /** For example `line 2, column 5`. */
  readonly where?: string | undefined;
  readonly expected?: string | undefined;
  readonly got?: string | undefined;
}

/** Maximum number of mistakes of one message in the log. */
const mostMistakes = 3;
/** Maximum number of characters of one text. */
const longest = 200;
/** Maximum number of objects of a contract that are searched for names. */
const mostObjects = 200_000;

/** Returns the mistakes of a refused message for the log, without its values; undefined if nothing else is left. */
export function mistakesOf(
  contract: Contract,
  reasons: readonly (Reason & { readonly code?: string; readonly path?: string })[],
): readonly LoggedMistake[] | undefined {
  if (reasons.length === 0) return undefined;
  const known = namesOf(contract);
  const mistakes = reasons.slice(0, mostMistakes).map(({ code, path, where, expected, got }) => ({
    code,
    path: path === undefined || path === '' ? undefined : pathOf(path, known).slice(0, longest),
    where: typeof where === 'string' ? where : undefined,
    expected: expected === undefined ? undefined : loggedOf(expected, known).slice(0, longest),
    got: got === undefined ? undefined : loggedOf(got, known).slice(0, longest),
  }));
  const logged = mistakes.filter((mistake) => Object.values(mistake).some((text) => text !== undefined));
  return logged.length === 0 ? undefined : logged;
}

function pathOf(path: string, known: ReadonlySet<string>): string {
  return path
    .split('.')
    .map((step) => {
      const [, name = '', index = ''] = /^([^[\]]*)((?:\[\d+\])*)$/.exec(step) ?? [];
      return `${known.has(name) ? name : '*'}${index}`;
    })
    .join('.');
}

/** Returns the description that replaces a text with a value. Names of the contract are not replaced. */
function loggedOf(part: string | Quote, known: ReadonlySet<string>): string {
  if (typeof part === 'string') return part;
  return part.name !== undefined && known.has(part.name) ? part.text : part.kind;
}

const cached = new WeakMap<Contract, ReadonlySet<string>>();

/** Returns the names of members, elements and operations of a contract. They are collected for its first refused message. */
function namesOf(contract: Contract): ReadonlySet<string> {
  const found = cached.get(contract);
  if (found !== undefined) return found;
  const names = new Set<string>();
  const seen = new Set<object>();
  const open: unknown[] = [contract.types, contract.operations, contract.credentials, contract.adopted];
  while (open.length > 0 && seen.size < mostObjects) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    if (next instanceof Map) open.push(...next.values());
    else if (Array.isArray(next)) for (const each of next) open.push(each);
    else
      for (const [key, value] of Object.entries(next)) {
        if (typeof value !== 'string') open.push(value);
        else if (key === 'xml' || key === 'json' || key === 'local' || key === 'name' || key === 'member')
          names.add(value).add(value.charAt(0).toUpperCase() + value.slice(1));
      }
  }
  cached.set(contract, names);
  return names;
}
