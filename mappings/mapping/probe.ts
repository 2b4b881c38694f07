import type { Limits } from '../contract/limits.ts';
import type { CompiledEntry } from './compiled-entry.ts';
import { Made, MappingError, Run, Scope } from './run.ts';
import type { Shape } from './schemas.ts';
import type { TargetOperation } from './target.ts';
import { Digits, type Value } from './value.ts';

/** Tests at start if a reply can be made from each documented response (M3). */

/** Returns the reason why a documented success response is not sufficient for the reply (M3). Undefined if all are. */
export function lackingAnswer(way: CompiledEntry, limits: Limits): string | undefined {
  const [first, ...more] = way.target.successes.filter(({ body }) => body !== undefined);
  // Rules with `[k=v]` never match a probe, so other responses are tested only if the first one gives a complete reply.
  const others = first === undefined || missedOf(way, first, limits) !== undefined ? [] : more;
  for (const success of [...way.target.successes.filter(({ body }) => body === undefined), ...others]) {
    const missed = missedOf(way, success, limits);
    if (missed === undefined) continue;
    const why = success.body === undefined ? 'which have no body' : 'which have another body';
    return `expected a reply for responses of status ${success.status}, ${why}. Add default or else: ${missed}`;
  }
  return undefined;
}

/**
 * Returns the error about a required member that rules cannot make from a response with all members of its schema.
 * Undefined if the reply is complete.
 */
function missedOf(
  { reply }: CompiledEntry,
  { status, body }: TargetOperation['successes'][number],
  limits: Limits,
): string | undefined {
  const headers = new Proxy<Record<string, string>>({}, { get: () => 'probe' });
  const made = new Made(limits.mappingValues, Number.POSITIVE_INFINITY);
  const value = body === undefined ? undefined : probeOf(body, 0);
  try {
    reply(new Scope(value, new Run('reply', limits, made, { headers, status, isProbe: true })));
  } catch (error) {
    if (!(error instanceof MappingError)) throw error;
    // Other errors depend on values.
    if (error.isMissing) return error.message;
  }
  return undefined;
}

/** Maximum depth of a probe, and maximum members of each object. */
const probeLevels = 6;

const probeMembers = 100;

/** Returns a value with all members of a schema. Only the structure matters. */
function probeOf({ kinds, members, items, values }: Shape, level: number): Value {
  if (kinds.has('object') && members.size > 0) {
    if (level === probeLevels) return new Map();
    const inner = [...members].slice(0, probeMembers);
    return new Map(inner.map(([name, { shape }]) => [name, probeOf(shape, level + 1)]));
  }
  if (kinds.has('array') && items !== undefined)
    return level === probeLevels ? [] : [probeOf(items, level + 1)];
  if (kinds.has('string')) return values?.[0] ?? 'probe';
  return kinds.has('number') ? new Digits(values?.[0] ?? '1') : true;
}
