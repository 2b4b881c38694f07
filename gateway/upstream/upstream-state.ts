import type { Limits } from '../../mappings/contract/limits.ts';
import type { Admission } from '../admission/admission.ts';
import type { Balancer } from './balancer.ts';
import type { Breaker } from './breaker.ts';
import type { Watch } from './deadlines.ts';
import type { CallDispatcher } from './fetch-dispatcher.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { NetworkOf } from './upstream.ts';
import type { UpstreamConnections } from './upstream-connections.ts';

/** Data shared by all calls to one address of an upstream. */
export interface Line {
  readonly pool: CallDispatcher;
  /** Scheme, host and port of the upstream. */
  readonly address: string;
  /** Path of the upstream's address. It precedes the path of each call. */
  readonly prefix: string;
  /** Additional headers for a proxy; undefined if there are none. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Chooses between the addresses of the upstream; undefined if it has only this one. */
  readonly balancer: Balancer<Line> | undefined;
  readonly limits: Limits;
  readonly admission: Admission;
  readonly networkOf: NetworkOf;
  /** All addresses of an upstream share connection slots, retries and deadlines. */
  readonly connections: UpstreamConnections;
  readonly retries: RetryBudget;
  readonly watch: Watch;
  readonly breaker: Breaker;
  /** Number of calls rejected for lack of a connection since the start. */
  shed: number;
}

/**
 * Progress of an exchange. `waiting`: it waits for a connection, or for its retry. `connecting`: it was passed to a
 * connection, which may not be open yet. `sent`: the request was sent. `answered`: a part of the response arrived.
 */
export type Stage = 'waiting' | 'connecting' | 'sent' | 'answered';
