import type { Contract } from '../../mappings/contract/model.ts';
import { type Reason, textOf } from '../../mappings/contract/reason.ts';

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

/** Words that describe an actual value. All other texts may contain the value itself, or a name of the caller. */
const words: ReadonlySet<string> = new Set(
  'a boolean|a date alone|a fraction|a member|a number|a number outside it|a string|a string that is no number|a value|additional text|an array|an earlier Created. Send a new token|an element|an empty element|an empty object|an empty one|an empty string|an invalid string|an object|another|another element|another encoding|another form|another later|another member|another one|another type|another value|blanks|both|bytes of one each|bytes that are not|control characters|elements|false|half of one|HTML|it again|it as a string|it later|it on several|more|neither|none|nothing|null|one|one again|other bytes|other characters|other text|others|several|several members|some|text|that of several namespaces|the end|too much of them|true|two|xsi:nil|<!DOCTYPE|<?|<!'.split(
    '|',
  ),
);

const place = /^(?:line \d+, column \d+|(?:byte|character|offset|position) \d+)$/;

/** Returns the mistakes of a refused message for the log, without its values. */
export function mistakesOf(
  contract: Contract,
  reasons: readonly (Reason & { readonly code?: string; readonly path?: string })[],
): readonly LoggedMistake[] | undefined {
  if (reasons.length === 0) return undefined;
  const known = namesOf(contract);
  return reasons.slice(0, mostMistakes).map(({ code, path, where, expected, got }) => ({
    code,
    path: path === undefined || path === '' ? undefined : pathOf(path, known).slice(0, longest),
    where: where !== undefined && place.test(textOf(where)) ? textOf(where) : undefined,
    expected: expected === undefined ? undefined : expectedOf(textOf(expected), known).slice(0, longest),
    got: got === undefined ? undefined : gotOf(textOf(got)),
  }));
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

/** Errors of XML have names of the caller in `expected`: an end tag, or the prefix of a name. */
function expectedOf(text: string, known: ReadonlySet<string>): string {
  const [before = '', ...after] = text
    .replace(/<(\/?)([^<>]*)>/g, (tag, slash: string, name: string) =>
      known.has(name) ? tag : `<${slash}*>`,
    )
    .split('for the prefix ');
  return after.length === 0 ? before : `${before}for the prefix *`;
}

function gotOf(got: string): string {
  if (words.has(got)) return got;
  if (got.startsWith('"')) return 'a text';
  return got.startsWith('<') ? 'another element' : 'another value';
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
