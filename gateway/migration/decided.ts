import type { Operation } from '../../mappings/contract/model.ts';
import type { CallError } from '../call/error.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import type { SoapVersion } from '../protocols/soap/versions.ts';
import type { Decision } from './decide.ts';
import type { Caller, IdentifyCaller } from './identity.ts';
import { unreadable } from './routing.ts';

/** The decision about a call, with its operation and caller. */
export interface Decided {
  readonly decision: Decision;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly version: SoapVersion;
  /** The payload, if the decision needed it. */
  readonly call: SoapCall | PreparedSoapCall | undefined;
  /** The error for the caller, if the operation is deprecated and refused (G65). */
  readonly refusal?: CallError | undefined;
}

/** The decision about an unreadable request. */
export const unrouted: Decision = { mode: 'legacy', rule: unreadable, compare: undefined };

/** Returns the error of a call of a deprecated operation that is refused (G65). It is checked before the routes (G6). */
export function refusalOf(
  context: RequestContext,
  { name }: Operation,
  given: Parameters<IdentifyCaller>[1],
): CallError | undefined {
  return context.options.deprecated?.refusalOf(context, name, given);
}
