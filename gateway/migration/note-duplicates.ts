import type { Duplicate } from '../../mappings/compare/blend.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { CallSecrets } from './call-secrets.ts';
import type { Caller } from './identity.ts';
import type { Place } from './place.ts';
import type { Blend } from './routing.ts';

/** Counts the keys that both lists have, and records differences of their items once the reply is sent (G30). */
export function noteDuplicates(
  { counts, comparisons }: Pick<Place, 'counts' | 'comparisons'>,
  { requestId, stats, response }: RequestContext,
  { operation: { name: operation }, caller }: { readonly operation: Operation; readonly caller: Caller },
  { rule }: Blend,
  duplicates: readonly Duplicate[],
  keys: number,
  secrets: CallSecrets,
): void {
  counts.countDuplicates(operation, keys);
  response.once('close', () => {
    const { route, upstreamMs: newMs } = stats;
    const durations = route?.legacyMs === undefined ? { newMs } : { legacyMs: route.legacyMs, newMs };
    const of = { operation, callerKey: caller.key(), callerName: caller.name, requestId };
    comparisons?.addDuplicates(rule.list, duplicates, { ...of, ...durations }, secrets);
  });
}
