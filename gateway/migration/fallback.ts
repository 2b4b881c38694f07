import type { Operation } from '../../mappings/contract/model.ts';
import type { Outcome } from '../call/outcome.ts';
import type { Place } from './place.ts';

/**
 * Returns true if the upstream reports that it finds nothing (G32): status 404, or a declared fault of
 * `migration.fallback`.
 *
 * @param status status of the upstream; 0 without a response
 */
export function findsNothing(
  outcome: Outcome,
  status: number,
  { name }: Operation,
  { routing, contract }: Pick<Place, 'routing' | 'contract'>,
): boolean {
  if (outcome.kind !== 'failure') return false;
  if (status === 404) return true;
  const { fault, json } = outcome.failure;
  const names = routing.fallback.get(name);
  if (fault?.isDeclared !== true || json === undefined || names === undefined) return false;
  const stated: unknown = JSON.parse(json)['@fault'];
  const declared =
    contract.adopted?.service.operations.find((operation) => operation.name === name)?.faults ?? [];
  return declared.some(
    (one) => names.has(one.name) && (one.name === stated || one.element.name.local === stated),
  );
}
