import type { Readable } from 'node:stream';
import type { CallError } from '../call/error.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { RequestStats } from '../telemetry/request-stats.ts';
import type { CallKeys } from '../upstream/shares.ts';
import type { LegacyService } from './legacy-service.ts';

/** A request to the legacy service. */
export interface LegacyRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  /** Creates the body; called for each attempt. A stream can be sent once only. */
  readonly body: Buffer | Readable | null;
  /** True if the connection must not be used again, because the request has credentials for the connection (G18). */
  readonly endsConnection: boolean;
  /** Name of the operation, for the circuit breaker. */
  readonly operation: string;
  readonly isRead: boolean;
  /** Returns true if the message may be sent twice (G22). */
  readonly mayRepeat: () => boolean;
  /** Key and network of the caller, for shares of connections. */
  readonly keysOf: () => CallKeys;
  /** Deadline in ms of `performance.now()`. */
  readonly deadline: number;
  /** Returns true if the caller has disconnected. */
  readonly isLeft: () => boolean;
  /** Returns false while the request waits for the caller to send more. */
  readonly isFed: () => boolean;
  readonly stats: Pick<RequestStats, 'failures' | 'sent' | 'queueMs' | 'waits' | 'upstream'>;
}

/** Receives the reply of the legacy service. After `failed` or `ended` nothing follows. */
export interface LegacyReceiver {
  /** A 1xx response other than 100 and 101. */
  readonly informed: (status: number, rawHeaders: readonly string[]) => void;
  readonly began: (status: number, text: string, rawHeaders: readonly string[]) => void;
  /** Returns false if the receiver calls `resume` before it takes more. */
  readonly received: (chunk: Buffer, resume: () => void) => boolean;
  readonly ended: () => void;
  readonly failed: (error: CallError) => void;
}

/** Progress of a call, for its outcome. */
export interface LegacyProgress {
  /** True if the request was sent at least in part. */
  isReached: boolean;
  /** Status of the reply; 0 without one. */
  status: number;
  /** Duration of all attempts, in ms. */
  ms: number;
  retries: number;
}

/** Returns the keys of a caller for shares of connections. */
export function keysOf(
  { networkOf }: Pick<LegacyService, 'networkOf'>,
  { request, stats }: Pick<RequestContext, 'request' | 'stats'>,
  operation: string,
): CallKeys {
  const network = networkOf(request);
  return { caller: `${network} ${stats.caller ?? ''}`, network, operation };
}
