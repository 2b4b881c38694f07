import type { Limits } from '../contract/limits.ts';
import { type NamedType, partsOf, type Type } from '../contract/model.ts';
import { JsonReader } from '../json/reader.ts';
import { type Misfit, maxMisfits } from '../json/tape.ts';
import { fieldPath, MismatchError, type Step } from './problem.ts';

/** Members of replies that are missing or that their type lacks: told by name once, counted always, or refused (W20, W22). */

/** What a reply lacks or has too much of. */
export interface Misfits {
  /** How many required members are missing. */
  readonly missing: number;
  /** Those that were not told of the operation before: where they are, and what is wrong. */
  readonly told: readonly string[];
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** What a name is like that may stand in a log: that of a member, not a person's address or number. */
const memberName = /^@?[A-Za-z_][\w.:-]{0,62}$/;

/**
 * Compiles what is told of an operation's replies. A name that the upstream made up is told as far as it looks like one;
 * keys of maps on the way are `*`.
 *
 * @param type of the reply's body
 * @param base the name that stands before every path; undefined for none
 */
export function compileMisfits(
  type: Type,
  base: string | undefined,
  limits: Limits,
): (misfits: readonly Misfit[], missing: number, body: Uint8Array) => Misfits {
  const told = new Set<string>();
  let names: ReadonlySet<string> | undefined;
  return (misfits, missing, body) => {
    const lines: string[] = [];
    for (const misfit of misfits) {
      if (told.size >= (limits.replyMisfits ?? maxMisfits)) break;
      const key = `${misfit.kind} ${misfit.type} ${misfit.member}`;
      if (told.has(key)) continue;
      told.add(key);
      names ??= memberNames(type);
      lines.push(sentenceOf(misfit, pathOf(misfit, body, undefined, limits), names, base));
    }
    return { missing, told: lines };
  };
}

/** The error of the first misfit of a reply (`replies: strict`). */
export function misfitError(
  misfit: Misfit,
  body: Uint8Array,
  base: string | undefined,
  limits: Limits,
): MismatchError {
  const error = new MismatchError(
    misfit.kind === 'missing'
      ? { expected: 'the member', got: 'none' }
      : { expected: `no member of this name, which ${misfit.type} lacks` },
  );
  for (const step of pathOf(misfit, body, base, limits).toReversed()) error.at(step);
  return error;
}

/**
 * A path for the log: names that are not a member's of the contract are `*`, but for the last one where it looks like one.
 *
 * @param names undefined: all that look like names are told
 */
export function pathForLog(path: readonly Step[], names: ReadonlySet<string> | undefined): string {
  return fieldPath(
    path.map((step, index) => {
      if (typeof step === 'number' || names?.has(step)) return step;
      const mayBeTold = names === undefined || index === path.length - 1;
      return mayBeTold && memberName.test(step) ? step : '*';
    }),
  );
}

function sentenceOf(
  { kind, type }: Misfit,
  path: readonly Step[],
  names: ReadonlySet<string>,
  base: string | undefined,
): string {
  const what = kind === 'missing' ? `missing, though ${type} requires it` : `dropped, as ${type} lacks it`;
  const below = pathForLog(path, names);
  return `${base === undefined || below.startsWith('[') ? (base ?? '') : `${base}.`}${below}: ${what}`;
}

/** The JSON names of all members that a type reaches. */
export function memberNames(root: Type): ReadonlySet<string> {
  const names = new Set<string>();
  if (root.kind === 'scalar') return names;
  const seen = new Set<NamedType>([root]);
  for (const type of seen) {
    if (type.kind === 'record') for (const { json } of type.fields) names.add(json);
    for (const part of partsOf(type)) if (part.kind !== 'scalar') seen.add(part);
  }
  return names;
}

function pathOf(
  { kind, member, at }: Misfit,
  body: Uint8Array,
  base: string | undefined,
  limits: Limits,
): readonly Step[] {
  // offsets are in bytes there, in characters here
  const target = utf8.decode(body.subarray(0, at)).length;
  const path: Step[] = base === undefined ? [] : [base];
  findPlace(new JsonReader(utf8.decode(body), limits), target, path);
  if (kind === 'missing') path.push(member);
  return path;
}

/** Reads on until the object or the name that starts at an offset, whose place is the path then; false: it isn't within the value. */
function findPlace(json: JsonReader, target: number, path: Step[]): boolean {
  const open = json.peek();
  if (json.position === target) return true;
  if (open !== 123 && open !== 91) {
    json.skip();
    return false;
  }
  const close = open + 2; // "}" and "]" follow two behind
  json.enter();
  for (let first = true, index = 0; json.next(first, close); first = false, index++) {
    const start = json.position;
    path.push(open === 123 ? json.name() : index);
    if ((open === 123 && start === target) || findPlace(json, target, path)) return true;
    path.pop();
  }
  return false;
}
