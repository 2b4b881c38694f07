import type { ServerResponse } from 'node:http';
import type { CompiledContract } from '../../mappings/compile.ts';
import { verifiedCredentialsOf } from '../../mappings/contract/credentials.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';
import type { CallerLimits } from '../admission/caller-limits.ts';
import type { RequestStats } from '../telemetry/request-stats.ts';
import { claimedCredentials, type MessageCredentials } from './credentials.ts';
import { CallError, type ErrorCode } from './error.ts';
import type { MessageHead } from './head.ts';

/** The parts of an exchange that counting uses. */
interface Counted {
  readonly head: MessageHead;
  readonly stats: RequestStats;
  readonly response: Pick<ServerResponse, 'destroyed'>;
  passed: Readonly<Record<string, string>> | undefined;
}

/** The parts of a service that counting uses. */
interface Counting<Of> {
  readonly compiled: CompiledContract;
  readonly callerOf: (values: CredentialValues) => string | undefined;
  readonly callerLimits: CallerLimits | undefined;
  readonly limitKeyOf: (values: CredentialValues | undefined, exchange: Of) => string;
}

/** Errors of callers that name no endpoint, that were counted before, or after which the caller is gone. */
const uncounted: ReadonlySet<ErrorCode> = new Set([
  'NotFound',
  'MethodNotAllowed',
  'TooManyRequests',
  'CallerGone',
]);

/** Returns true for a mistake of the caller. A call without credentials may only wait for the challenge. */
export function isMistake(error: unknown): boolean {
  return (
    error instanceof CallError && error.status < 500 && !error.lacksCredentials && !uncounted.has(error.code)
  );
}

/** A message that was refused before its caller's limits were checked. */
export interface Refused {
  readonly error: unknown;
  /** True if the caller made a mistake, false if for example the gateway is overloaded. */
  readonly isMistake: boolean;
  /** Name of the operation; undefined if it is unknown. */
  readonly operation: string | undefined;
  /** Credentials in the message; undefined if it could not be read. */
  readonly given?: MessageCredentials | undefined;
}

/**
 * Finds the caller of a refused message by the credentials that it claims, and counts the message against the limits of
 * that caller. Returns the error for the caller: the error of the message, or TooManyRequests.
 */
export async function countRefused<Of extends Counted>(
  { compiled, callerOf, callerLimits, limitKeyOf }: Counting<Of>,
  exchange: Of,
  { error, isMistake, operation, given }: Refused,
): Promise<unknown> {
  const { head, stats, response } = exchange;
  if (!isMistake || response.destroyed) return error;
  const { credentials, wsse } = compiled.contract;
  const values = claimedCredentials(credentials, given, head, compiled.limits, verifiedCredentialsOf(wsse));
  stats.caller ??= callerOf(values);
  if (callerLimits === undefined) return error;
  try {
    const release = await callerLimits.enter({
      key: limitKeyOf(values, exchange),
      caller: stats.caller,
      operation: operation ?? '',
      setHeaders: (headers) => {
        exchange.passed = headers;
      },
    });
    release();
    return error;
  } catch (limitError) {
    return limitError;
  }
}
