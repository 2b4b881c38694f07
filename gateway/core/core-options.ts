import type { BlockList } from 'node:net';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Secrets } from '../call/digest.ts';
import type { PagesMaker, TryIt } from '../http/pages.ts';
import type { AppOptions } from '../http/request-context.ts';
import type { Callers } from '../telemetry/callers.ts';
import type { LineBuffer } from '../telemetry/line-buffer.ts';
import type { Observer } from '../telemetry/observer.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { CallerLimitsOf } from './caller-limits.ts';

/** Where messages of the gateway go, besides the lines of requests: fields first, as pino has it. */
export interface Log {
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/** What the gateway of a process and one that is embedded are made of. */
export interface CoreOptions {
  readonly limits: Limits;
  readonly log: Log;
  /** Where lines of requests, of messages and of writes go. */
  readonly lines: LineBuffer;
  readonly logsRequests: boolean;
  /** Whether requests that watch the process, `/healthz` say, are logged too. */
  readonly logsProbes: boolean;
  readonly logMessages: boolean;
  /** By which digests of UsernameTokens are checked; undefined: none can be. Asked for with each contract. */
  readonly secrets?: () => Secrets | undefined;
  /** The header that callers' certificates fill, whose credential comes from nowhere else; undefined: there is none. */
  readonly certified?: string | undefined;
  /** Names and pseudonyms of callers; undefined: pseudonyms of this process's own. Asked for with each contract. */
  readonly callers?: () => Callers;
  /** What callers may do; undefined: nothing limits them one by one. Asked for with each contract. */
  readonly callerLimits?: (() => CallerLimitsOf) | undefined;
  /** Told of calls as traces; undefined: nobody is. */
  readonly traces?: Traces | undefined;
  /** Told of each write; undefined: nobody is. */
  readonly audit: Observer | undefined;
  /** Observes the exchanges of each contract, after metrics and log. */
  readonly observer?: Observer | undefined;
  /** Called with each error of the gateway itself, besides its line in the log. */
  readonly onError?: ((error: unknown, requestId: string) => void) | undefined;
  readonly trustedProxies: BlockList | undefined;
  /** Whether a Host header names this gateway; undefined where any does. */
  readonly isOwnHost: AppOptions['isOwnHost'];
  /** Where callers reach the gateway, without a base path; asked for once it serves. */
  readonly publicUrl: () => string;
  /** Whether someone said so; a trusted proxy may better it otherwise (W34). */
  readonly isPublicUrlSet: boolean;
  readonly isReady: () => boolean;
  /** Makes the pages of each contract; undefined: there are none. */
  readonly pages?: PagesMaker | undefined;
  /** Whether those pages may send calls. */
  readonly tryIt?: TryIt;
  /** The page of /metrics, for `createApp`. */
  readonly metricsPage: AppOptions['metrics'];
  /** What the page at `/` lists, for `createApp`; undefined: there is none. */
  readonly services?: AppOptions['services'];
}
