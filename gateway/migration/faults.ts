import { type AdoptedFault, adoptedOperation } from '../../mappings/contract/adopted.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import type { Outcome } from '../call/outcome.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Place } from './place.ts';

// Failures of the new service (G20, G24, G32).

/** The parts of a contract's routing that concern faults. */
export type Routed = Pick<Place, 'routing' | 'contract'>;

/** Returns the declared fault of an outcome; undefined for any other outcome. */
export function declaredFaultOf(
  outcome: Outcome,
  { name }: Operation,
  { contract }: Routed,
): AdoptedFault | undefined {
  if (outcome.kind !== 'failure') return undefined;
  const { fault, json } = outcome.failure;
  if (fault?.isDeclared !== true || json === undefined) return undefined;
  const stated: unknown = JSON.parse(json)['@fault'];
  return adoptedOperation(contract, name)?.faults.find(
    (one) => one.name === stated || one.element.name.local === stated,
  );
}

/**
 * Returns true if the upstream reports that it finds nothing (G32): status 404, or a declared fault of
 * `migration.fallback`.
 *
 * @param status status of the upstream; 0 without a response
 */
export function findsNothing(
  outcome: Outcome,
  status: number,
  operation: Operation,
  routed: Routed,
): boolean {
  if (outcome.kind !== 'failure') return false;
  if (status === 404) return true;
  const fault = declaredFaultOf(outcome, operation, routed);
  return fault !== undefined && routed.routing.fallback.get(operation.name)?.has(fault.name) === true;
}

const codes = {
  Client: { is: 'sender', more: '', namespace: '', local: 'Client' },
  Server: { is: 'receiver', more: '', namespace: '', local: 'Server' },
} as const;

/** Sets the configured code of a declared fault, unless the upstream states its own `@code` (G24, A29). */
export function withFaultCode(outcome: Outcome, operation: Operation, routed: Routed): Outcome {
  const { faultCodes } = routed.routing;
  if (outcome.kind !== 'failure' || faultCodes.size === 0) return outcome;
  const declared = declaredFaultOf(outcome, operation, routed);
  const code = declared === undefined ? undefined : faultCodes.get(declared.name);
  const { fault } = outcome.failure;
  if (code === undefined || fault === undefined || fault.code !== undefined) return outcome;
  return { kind: 'failure', failure: { ...outcome.failure, fault: { ...fault, code: codes[code] } } };
}

/** Adds Retry-After to the reply of a call that was not sent, because no connection was made (G20). */
export function allowRetry(context: RequestContext, outcome: Outcome): Outcome {
  if (outcome.kind !== 'failure' || context.reached) return outcome;
  const { failure } = outcome;
  if (failure.errorCode !== 'UpstreamUnavailable' || failure.retryAfter !== undefined) return outcome;
  return { kind: 'failure', failure: { ...failure, retryAfter: '1' } };
}
