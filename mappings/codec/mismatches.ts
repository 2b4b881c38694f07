import type { Limits } from '../contract/limits.ts';
import { reachableFrom, type Type } from '../contract/model.ts';
import { JsonReader } from '../json/reader.ts';
import { type Mismatch, maxMismatches } from '../json/tape.ts';
import { fieldPath, MismatchError, type Step } from './problem.ts';

/**
 * Missing and unknown members of replies. Each name is logged once and each member is counted, or the reply is refused
 * (W20, W22).
 */

/** The mismatches of a reply. */
export interface Mismatches {
  /** Number of missing required members. */
  readonly missing: number;
  /** Descriptions of the mismatches that the operation has not reported before: the path, and the problem. */
  readonly described: readonly string[];
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Names that may appear in a log: those that look like a member's name, not like an address or number. */
const memberName = /^@?[A-Za-z_][\w.:-]{0,62}$/;

/**
 * Compiles the function that describes the mismatches of an operation's replies. It shows unknown names only if they
 * look like a member's name. Keys of maps in a path are `*`.
 *
 * @param type type of the reply's body
 * @param base first step of each path; undefined for none
 */
export function compileMismatches(
  type: Type,
  base: string | undefined,
  limits: Limits,
): (mismatches: readonly Mismatch[], missing: number, body: Uint8Array) => Mismatches {
  const reported = new Set<string>();
  let names: ReadonlySet<string> | undefined;
  return (mismatches, missing, body) => {
    const lines: string[] = [];
    for (const mismatch of mismatches) {
      if (reported.size >= (limits.replyMisfits ?? maxMismatches)) break;
      const key = `${mismatch.kind} ${mismatch.type} ${mismatch.member}`;
      if (reported.has(key)) continue;
      reported.add(key);
      names ??= memberNames(type);
      lines.push(sentenceOf(mismatch, pathOf(mismatch, body, undefined, limits), names, base));
    }
    return { missing, described: lines };
  };
}

/** Returns the error for the first mismatch of a reply (`replies: strict`). */
export function mismatchError(
  mismatch: Mismatch,
  body: Uint8Array,
  base: string | undefined,
  limits: Limits,
): MismatchError {
  const error = new MismatchError(
    mismatch.kind === 'missing'
      ? { expected: 'the member', got: 'none' }
      : { expected: `no member of this name, which ${mismatch.type} lacks` },
  );
  for (const step of pathOf(mismatch, body, base, limits).toReversed()) error.at(step);
  return error;
}

/**
 * Formats a path for the log. Names that the contract does not have are `*`, except the last one if it looks like a
 * member's name.
 *
 * @param names names of the contract; undefined to show all names that look like a member's
 */
export function pathForLog(path: readonly Step[], names: ReadonlySet<string> | undefined): string {
  return fieldPath(
    path.map((step, index) => {
      if (typeof step === 'number' || names?.has(step)) return step;
      const mayBeShown = names === undefined || index === path.length - 1;
      return mayBeShown && memberName.test(step) ? step : '*';
    }),
  );
}

function sentenceOf(
  { kind, type }: Mismatch,
  path: readonly Step[],
  names: ReadonlySet<string>,
  base: string | undefined,
): string {
  const what = kind === 'missing' ? `missing, though ${type} requires it` : `dropped, as ${type} lacks it`;
  const below = pathForLog(path, names);
  return `${base === undefined || below.startsWith('[') ? (base ?? '') : `${base}.`}${below}: ${what}`;
}

/** Returns the JSON names of all members that are reachable from a type. */
export function memberNames(root: Type): ReadonlySet<string> {
  const names = new Set<string>();
  for (const type of reachableFrom([root]))
    if (type.kind === 'record') for (const { json } of type.fields) names.add(json);
  return names;
}

function pathOf(
  { kind, member, at }: Mismatch,
  body: Uint8Array,
  base: string | undefined,
  limits: Limits,
): readonly Step[] {
  // `at` counts bytes, the reader counts characters
  const target = utf8.decode(body.subarray(0, at)).length;
  const path: Step[] = base === undefined ? [] : [base];
  findPlace(new JsonReader(utf8.decode(body), limits), target, path);
  if (kind === 'missing') path.push(member);
  return path;
}

/**
 * Reads up to the object or name that starts at an offset, and sets `path` to it. Returns false if it is not within the
 * value.
 */
function findPlace(json: JsonReader, target: number, path: Step[]): boolean {
  const open = json.peek();
  if (json.position === target) return true;
  if (open !== 123 && open !== 91) {
    json.skip();
    return false;
  }
  const close = open + 2; // the codes of "}" and "]" are two more than those of "{" and "["
  json.enter();
  for (let first = true, index = 0; json.next(first, close); first = false, index++) {
    const start = json.position;
    path.push(open === 123 ? json.name() : index);
    if ((open === 123 && start === target) || findPlace(json, target, path)) return true;
    path.pop();
  }
  return false;
}
