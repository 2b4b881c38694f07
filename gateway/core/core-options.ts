import type { BlockList } from 'node:net';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { BurntKeys } from '../call/burnt-keys.ts';
import type { Secrets } from '../call/digest.ts';
import type { NonceStore } from '../call/nonces.ts';
import type { PagesMaker, TryIt } from '../http/pages.ts';
import type { AppOptions } from '../http/request-context.ts';
import type { Callers } from '../telemetry/callers.ts';
import type { LineBuffer } from '../telemetry/line-buffer.ts';
import type { Observer } from '../telemetry/observer.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { CallerLimitsOf } from './caller-limits.ts';

/** Logger for messages of the gateway, other than request lines. Takes the fields first, like pino. */
export interface Log {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/** Options of a gateway, for a process of its own or embedded. */
export interface CoreOptions {
  readonly limits: Limits;
  readonly log: Log;
  /** Receives the lines for requests, messages and audited writes. */
  readonly lines: LineBuffer;
  /**
   * Minimum level of the lines of requests, a number of pino; Infinity for no lines. A line has the level of the
   * outcome, and 20 (`debug`) for a monitoring request, for example to `/healthz`.
   */
  readonly lowestLevel: number;
  readonly logMessages: boolean;
  /** True if other workers serve the same contracts. */
  readonly hasOtherWorkers?: boolean;
  /** Remembers messages and nonces together with other workers and replicas (X17). Undefined: this process remembers. */
  readonly sharedNonces?: NonceStore | undefined;
  /** Remembers burnt keys together with other workers and replicas (X24). Undefined: this process remembers. */
  readonly sharedBurntKeys?: BurntKeys | undefined;
  /**
   * Returns the secrets for checking digests of UsernameTokens; undefined if there are none. Called for each contract.
   */
  readonly secrets?: () => Secrets | undefined;
  /**
   * The header that is filled from client certificates, and is the only source of its credential; undefined for none.
   */
  readonly certified?: string | undefined;
  /**
   * Returns names and pseudonyms of callers; without it, this process creates its own pseudonyms. Called for each
   * contract.
   */
  readonly callers?: () => Callers;
  /** Returns the caller limits; undefined for none. Called for each contract. */
  readonly callerLimits?: (() => CallerLimitsOf) | undefined;
  /** Records traces of calls; undefined for none. */
  readonly traces?: Traces | undefined;
  /** Observes all writes; undefined for none. */
  readonly audit: Observer | undefined;
  /** Observes the exchanges of each contract, after metrics and log. */
  readonly observer?: Observer | undefined;
  /** Returns observers of the contract at a path, after metrics and log. */
  readonly observersOf?: ((path: string) => readonly Observer[]) | undefined;
  /** Called with each internal error, in addition to the log message. */
  readonly onError?: ((error: unknown, requestId: string) => void) | undefined;
  readonly trustedProxies: BlockList | undefined;
  /** Returns true if a Host header names this gateway; undefined if any host is accepted. */
  readonly isOwnHost: AppOptions['isOwnHost'];
  /** Returns the public URL of the gateway, without a base path. Not called before the gateway serves. */
  readonly publicUrl: () => string;
  /** True if the public URL is configured. Otherwise a trusted proxy may send a better one (W34). */
  readonly isPublicUrlSet: boolean;
  readonly isReady: () => boolean;
  readonly unreadyReason?: AppOptions['unreadyReason'];
  /** Creates the console pages of each contract; undefined for none. */
  readonly pages?: PagesMaker | undefined;
  /** Permission of the pages to send calls. */
  readonly tryIt?: TryIt;
  /** Returns the page at /metrics, for `createApp`. */
  readonly metricsPage: AppOptions['metrics'];
  /** Returns the contracts listed at `/`, for `createApp`; undefined for no page. */
  readonly services?: AppOptions['services'];
}
