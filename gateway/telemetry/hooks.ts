import { codeForLog } from './log.ts';
import type { Observer } from './observer.ts';
import type { RequestRecord } from './request-stats.ts';

/**
 * The result of a call. `ok`: the caller has its reply. `rejected`: the request is wrong, not allowed or over a limit. `failed`: the
 * gateway or the upstream failed. `aborted`: the caller left before its reply.
 */
export type CallOutcome = 'ok' | 'rejected' | 'failed' | 'aborted';

/** One call, as `onCall` gets it. It holds no value that the caller or the upstream sent. */
export interface CallReport {
  readonly requestId: string;
  /** The operation's name in the contract; undefined if the request names none. */
  readonly operation: string | undefined;
  /** The endpoint: `soap11`, `soap12`, `xml`, `json` or `rest`. */
  readonly protocol: string;
  /** Pseudonym of the caller; undefined if it gave no credentials. */
  readonly caller: string | undefined;
  /** HTTP status of the reply. A SOAP 1.1 fault has 500 whoever caused it (SOAP 1.1, 6.2). */
  readonly status: number;
  readonly outcome: CallOutcome;
  /** Error code that the caller gets; `Upstream` for a code of the upstream's own; undefined for `ok`. */
  readonly error: string | undefined;
  /** Time from receipt of the request's head to the reply, in ms. */
  readonly durationMs: number;
  /** Time of the upstream call in ms; 0 if there was no call. */
  readonly upstreamMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Called after each call. The returned value is ignored. */
export type OnCall = (call: CallReport) => unknown;

/** Called with an error of the gateway, of a hook, or of an upstream that is a function. */
export type OnError = (error: unknown, context: { readonly requestId: string | undefined }) => unknown;

/**
 * Returns an observer that calls `onCall` after each call. Requests for documents, for example the WSDL, are not calls.
 *
 * @param onThrow called with an error that the hook throws or rejects with
 */
export function observeCalls(onCall: OnCall, onThrow: (error: unknown, requestId: string) => void): Observer {
  return {
    finished: ({ stats }) => {
      if (stats.transport === 'http') return;
      callHook(
        () => onCall(reportOf(stats)),
        (error) => onThrow(error, stats.requestId),
      );
    },
  };
}

/** Calls a hook of the program. Errors of the hook do not affect the call. */
export function callHook(hook: () => unknown, onThrow: (error: unknown) => void): void {
  try {
    const result = hook();
    if (result instanceof Promise) result.catch(onThrow);
  } catch (error) {
    onThrow(error);
  }
}

function reportOf(stats: RequestRecord): CallReport {
  const { requestId, operation, transport, caller, status, ms, upstreamMs, bytesIn, bytesOut } = stats;
  const code = stats.error ?? stats.fault;
  return {
    requestId,
    operation,
    protocol: transport,
    caller,
    status,
    outcome: outcomeOf(stats),
    error: code === undefined || code === stats.fault ? code : codeForLog(code),
    durationMs: ms,
    upstreamMs,
    bytesIn,
    bytesOut,
  };
}

function outcomeOf({ aborted, meant, status, fault }: RequestRecord): CallOutcome {
  if (aborted) return 'aborted';
  const code = meant ?? status;
  if (code < 400) return 'ok';
  return code < 500 || (fault !== undefined && fault !== 'InternalError') ? 'rejected' : 'failed';
}
