import type { Limits } from '../contract/limits.ts';
import { bodyOf, bytesOf, errorBodyOf } from './answer.ts';
import type { CompiledEntry, MappedAnswer, MappedCall } from './compiled-entry.ts';
import { uncoveredPlace } from './cover.ts';
import { CodeError } from './makers.ts';
import { type Path, pathText } from './paths.ts';
import { Made, MappingError, Run, Scope } from './run.ts';
import { isItems, isMembers, readValue, type Value, writeValue } from './value.ts';

/** Applies compiled entries to requests and responses. */

/** A mapped request, as plain data. */
export interface MappedRequest {
  /** Calls in order. Without `forEach`, there is one call. */
  readonly calls: readonly MappedCall[];
  /** Index of the operation's entry, from 0. The responses are mapped by the same entry. */
  readonly entry: number;
  /**
   * True if error responses are mapped to the reply (`error`). Otherwise an error response is the error of the call
   * (W27).
   */
  readonly takesErrors: boolean;
  /** True if an error response may be a declared fault (M7). */
  readonly takesFaults: boolean;
}

/** Maximum number of upstream calls for one request (`forEach`). */
export const maxCalls = 100;

/** Time limit of module functions for one message, in ms, for each started 64 KiB of the message. */
export const maxCodeMs = 50;

/** Characters or bytes of a message for which functions get one `mappingCodeMs`. */
const codePart = 64 * 1024;

/** Runs the rules for a message. Functions have a time limit, and the rules may run again. Throws MappingError. */
function mapped<T>(
  side: 'request' | 'reply',
  { within }: CompiledEntry,
  characters: number,
  { mappingCodeMs = maxCodeMs }: Limits,
  make: () => T,
): T {
  const watched = within[side];
  if (watched === undefined) return make();
  try {
    return watched(mappingCodeMs * Math.max(1, Math.ceil(characters / codePart)), make);
  } catch (error) {
    throw error instanceof CodeError ? new MappingError(side, '', error.reason) : error;
  }
}

/** Maps a request to calls by the first entry that fits. Errors: see `toCalls`. */
export function begin(
  ways: readonly CompiledEntry[],
  json: string,
  limits: Limits,
  steps: number,
): MappedRequest {
  const value = readValue(json, limits);
  const rootOf = (): Scope =>
    new Scope(value, new Run('request', limits, new Made(limits.mappingValues, steps)));
  const root = rootOf();
  const entry = ways.findIndex(({ fits }) => fits(root));
  const way = ways[entry];
  if (way === undefined)
    throw root.error([], {
      expected: 'a request that matches a rule of its operation',
      got: 'a request that matches no `when`',
    });
  const unmapped = uncoveredPlace(value, way.cover);
  if (unmapped !== undefined)
    throw new MappingError('request', unmapped, {
      expected: 'only members with a rule in the mapping',
      got: 'a value',
    });
  const scopes = way.scopesOf(root);
  const { mappingCalls = maxCalls } = limits;
  if (scopes.length > mappingCalls)
    throw root.error([], { expected: `at most ${mappingCalls} calls`, got: `${scopes.length}` });
  if (scopes.length === 0) refuseNone(way, root, limits, steps);
  // counts start again on each run
  const calls = mapped('request', way, json.length, limits, () => way.scopesOf(rootOf()).map(way.call));
  return { calls, entry, takesErrors: way.error !== undefined, takesFaults: way.faults.length > 0 };
}

/** Maps the responses to the calls of an entry to its reply. Errors: see `toReply`. */
export function end(
  way: CompiledEntry | undefined,
  answers: readonly MappedAnswer[],
  limits: Limits,
  steps: number,
): string {
  if (way === undefined) throw new RangeError('entry: expected an entry of the operation, got another entry');
  if (answers.length === 0) return writeValue(replyOfNone(way, limits, steps));
  const characters = answers.reduce((sum, { body }) => sum + body.length, 0);
  const replies = mapped('reply', way, characters, limits, () => {
    const made = new Made(limits.mappingValues, steps);
    return answers.map((answer) => replyOf(way, answer, limits, made));
  });
  return writeValue(gathered(replies, []) ?? new Map());
}

/**
 * Returns the reply to a request that made no call: constants and empty lists. Throws MappingError if required values
 * are missing.
 */
function replyOfNone(way: CompiledEntry, limits: Limits, steps: number): Value {
  const run = new Run('reply', limits, new Made(limits.mappingValues, steps));
  return mapped('reply', way, 0, limits, () => way.reply(new Scope(undefined, run)) ?? new Map());
}

/** Rejects a request that makes no call if its reply requires a response. Throws MappingError. */
function refuseNone(way: CompiledEntry, root: Scope, limits: Limits, steps: number): void {
  try {
    replyOfNone(way, limits, steps);
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    throw root.error(way.forEach, {
      expected: 'an item for a call',
      got: 'none',
      detail: `of the reply: ${error.message}`,
    });
  }
}

function replyOf(
  { target, reply, error }: CompiledEntry,
  answer: MappedAnswer,
  limits: Limits,
  made: Made,
): Value {
  const { status } = answer;
  const isError = status < 200 || status > 299;
  const run = new Run('reply', limits, made, { ...answer, bytes: bytesOf(answer) });
  if (isError && error === undefined)
    throw new MappingError('reply', '', {
      expected: 'a successful response, or rules for error',
      got: `status ${status}`,
    });
  const scope = new Scope(isError ? errorBodyOf(answer, limits) : bodyOf(target, answer, limits), run);
  return ((isError ? error : reply) ?? reply)(scope) ?? new Map();
}

/** Returns the first matching declared fault for an error response, as JSON (M7). */
export function faultIn(
  way: CompiledEntry | undefined,
  answer: MappedAnswer,
  limits: Limits,
  steps: number,
): string | undefined {
  if (way === undefined) throw new RangeError('entry: expected an entry of the operation, got another entry');
  if (way.faults.length === 0) return undefined;
  const value = errorBodyOf(answer, limits);
  return mapped('reply', way, answer.body.length, limits, () => {
    const run = new Run('reply', limits, new Made(limits.mappingValues, steps), answer);
    const scope = new Scope(value, run);
    const fault = way.faults.find(({ fits }) => fits(scope));
    if (fault === undefined) return undefined;
    const detail = fault.make(scope);
    return writeValue(new Map([['@fault', fault.name], ...(isMembers(detail) ? detail : [])]));
  });
}

/**
 * Merges the replies of several calls (M4): lists are concatenated, objects merged, and the first scalar is used.
 * Throws MappingError if a list or an object would be merged with another kind of value.
 */
function gathered(replies: readonly Value[], path: Path): Value | undefined {
  const given = replies.filter((reply) => reply !== null);
  const [first = replies[0]] = given;
  if (given.length < 2) return first;
  if (given.every(isItems)) return given.flat();
  if (!given.every(isMembers)) {
    if (given.every((reply) => !isItems(reply) && !isMembers(reply))) return first;
    throw new MappingError('reply', pathText(path), {
      expected: 'the same kind (list, object or value) in the replies of several calls',
      got: 'several kinds',
    });
  }
  const byName = new Map<string, Value[]>();
  for (const reply of given)
    for (const [name, value] of reply) {
      const values = byName.get(name);
      if (values === undefined) byName.set(name, [value]);
      else values.push(value);
    }
  return new Map(
    [...byName].map(([name, values]) => [
      name,
      gathered(values, [...path, { kind: 'member', name }]) as Value,
    ]),
  );
}
