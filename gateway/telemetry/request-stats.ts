import { performance } from 'node:perf_hooks';
import type { Deviation } from '../../mappings/codec/problem.ts';
import type { LoggedMistake } from './mistakes.ts';

/**
 * Record of a request, for its log line and the metrics. It is filled during the request and is complete once the reply
 * is sent. It never contains a value that a caller sent.
 */
export interface RequestStats {
  readonly requestId: string;
  readonly method: string;
  /** Endpoint of the request: `soap11`, `soap12`, `xml`, `json`, `rest`, or `http` for a request that is not a call. */
  transport: string;
  operation: string | undefined;
  /** HTTP status of the reply, and the intended status if it differs: X-Status, or the class of a fault (W27). */
  status: number;
  meant: number | undefined;
  /** Sizes of the bodies. */
  bytesIn: number;
  bytesOut: number;
  /** Time of the reply, in ms of `performance.now()`. Before that, time of receipt. */
  endedAt: number;
  ms: number;
  /** Address of the caller: the peer's address, or the one that a trusted proxy reports. */
  clientIp: string | undefined;
  /** Configured name or pseudonym of the caller, if callers are identified. */
  caller: string | undefined;
  /** Trace of the request (W3C Trace Context); undefined without traces, and before its first span. */
  traceId: string | undefined;
  /** Error code that the caller gets. */
  error: string | undefined;
  /** One-word reason if no operation could answer and the caller gets a fault. */
  fault: string | undefined;
  /** The mistakes of a refused message; undefined if it was not refused. */
  refusal: readonly LoggedMistake[] | undefined;
  /** Scheme, host and port of the upstream. */
  upstream: string | undefined;
  /** Failures of the upstream call, one per attempt; undefined if there were none. */
  failures: UpstreamFailure[] | undefined;
  /** Header block that was not understood, `{namespace}name`, as `logText` writes it. */
  block: string | undefined;
  /**
   * Path and User-Agent of a request that failed or was for no operation, as `logText` writes them. The path of a REST
   * route has values of the message, so it is not logged.
   */
  path: string | undefined;
  userAgent: string | undefined;
  /** Number of attempts to send it upstream. */
  sent: number;
  /** Number of retries among them (W35). */
  retries: number;
  /** Status of the upstream; 0 without a response. */
  upstreamStatus: number;
  /**
   * Time from the assignment of a connection, which may have to be opened first, to the complete response or failure,
   * in ms.
   */
  upstreamMs: number;
  /** Time when the first attempt was passed to a connection, in ms of `performance.now()`; 0 before that. */
  sentAt: number;
  /** Time spent waiting for a permit and for connections, in ms. */
  queueMs: number;
  /** The waits in `queueMs`, the first one first. Undefined if the call never waited. */
  waits?: Wait[] | undefined;
  /** True if the caller disconnected before its reply. */
  aborted: boolean;
  noted: Noted | undefined;
  /** True if the byte reader gave the request up, so that the usual reader read it again. */
  isReadTwice: boolean;
  /** True if the message was accepted with elements in another order than that of the contract (W11). */
  isReordered: boolean;
  /** The client stack that the message shows, if its User-Agent does not show it (G62). */
  clientStack?: string | undefined;
  /** The result of its Security block (W56): `text`, `digest`, `none`, or the code of its refusal; undefined without a block. */
  wsse: string | undefined;
  /** The verified signer and what its signature covers (X29); undefined for none. */
  signed: SignedRecord | undefined;
  /** Decrypted parts of the message (X29); undefined for none. */
  decrypted: DecryptedRecord | undefined;
  /** Why a signature was refused, a fixed text; undefined if none was. */
  wsseReason: string | undefined;
  /** Names of the elements of that block that were ignored without verification. */
  unverified: readonly string[];
  /** Outcome of a write, if this log line must contain it. */
  written: WriteOutcome | undefined;
  /**
   * Id that connects the audit lines of a write. Callers may use a request id twice. Undefined until a line needs it.
   */
  writeId: string | undefined;
  /** Routing of the call, for a contract with a legacy service (G52); undefined for any other contract. */
  route: RouteRecord | undefined;
}

/** Decrypted parts of a message, for the log. */
export interface DecryptedRecord {
  /** Algorithm and elements. */
  readonly shown: string;
  readonly usesCbc: boolean;
}

/** The signer of a message for the log. The texts are of a verified message. */
export interface SignedRecord {
  readonly signer?: string | undefined;
  readonly signerCertificate?: string | undefined;
  readonly signature?: string | undefined;
  /** The issuer of a SAML Assertion. */
  readonly assertion?: string | undefined;
  /** True if the signature or a digest uses SHA-1. */
  readonly usesSha1: boolean;
  /** Members for the audit of a write: the whole fingerprint of the certificate, and hashes. */
  readonly audited?: object | undefined;
}

/** Routing of a call between the legacy service and the upstream, the new service (G52). */
export interface RouteRecord {
  mode: string;
  rule: string;
  /** The service that answered; with mode `blend` the one that failed. Undefined for none. */
  side: 'legacy' | 'new' | undefined;
  /** Status of the legacy service's reply. */
  legacyStatus?: number;
  /** Duration of the call to the legacy service, in ms. */
  legacyMs?: number;
  /** True if the legacy service answered because the upstream found nothing (G32). */
  fallback?: true;
  /** The service whose reply the caller got alone, because the other one failed (G31). */
  partial?: 'legacy' | 'new';
  /** Result of mode `compare`: `equal`, `explained`, `different` or `skipped:REASON`; undefined before the result. */
  compared?: string;
}

/** Begin and end of a wait, in ms of `performance.now()`. */
export type Wait = readonly [from: number, to: number];

/** Failure of an upstream call. Its texts never contain data of the caller or the upstream. */
export interface UpstreamFailure {
  /** 1 for the first attempt; 0 if it was not sent. */
  readonly attempt: number;
  readonly cause:
    | 'dns'
    | 'refused'
    | 'unreachable'
    | 'proxy'
    | 'tls'
    | 'timeout'
    | 'reset'
    | 'status'
    | 'invalid'
    | 'token'
    | 'exhausted'
    | 'breaker'
    | 'queue'
    | 'other';
  /** Further details. For a reply of a wrong type: the path, the expected type and the actual kind. */
  readonly reason?: string;
  /** Code of the system, Node or OpenSSL. */
  readonly code?: string;
  /** Status of the upstream, if it is the failure. */
  readonly status?: number;
}

/** Stats of a request after its reply. */
export type RequestRecord = Readonly<RequestStats>;

/**
 * `answered`: the upstream responded. `unsent`: no connection or no call was made, so nothing was done. `unknown`: the
 * write may have been done or not.
 */
export type WriteOutcome = 'answered' | 'unsent' | 'unknown';

/**
 * Counts of deviations that a call was accepted with. For a request it contains only names, no values (W10, W12, W20,
 * W21).
 */
export interface Noted {
  /** Names of ignored members of the request. */
  readonly ignored: readonly string[];
  /** Number of character references that XML forbids. `quirks` is the name of a documented log field. */
  readonly quirks: number;
  /** Distinct tolerated deviations of the request; undefined if there were none. */
  readonly deviations?: readonly Deviation[];
  /** Number of members removed from the reply. */
  readonly dropped: number;
  /** Number of required members that the reply lacks. */
  readonly missing: number;
  /** Number of characters of the reply replaced by U+FFFD. */
  readonly replaced: number;
  /** Number of enum and date values of the reply that do not match their type. */
  readonly passed: number;
  /** Number of numbers in the reply that a .NET decimal or a double cannot represent exactly; undefined if 0. */
  readonly inexact?: number;
  /** Unknown or missing members of the reply with their paths, unless they were reported before for this operation. */
  readonly members?: readonly string[];
}

/**
 * Creates the stats of a request that has just arrived.
 *
 * @param arrivedAt time of receipt, in ms of `performance.now()`
 */
export function startStats(
  requestId: string,
  method: string,
  arrivedAt: number = performance.now(),
): RequestStats {
  return {
    requestId,
    method,
    transport: 'http',
    operation: undefined,
    status: 0,
    meant: undefined,
    bytesIn: 0,
    bytesOut: 0,
    endedAt: arrivedAt,
    ms: 0,
    clientIp: undefined,
    caller: undefined,
    traceId: undefined,
    error: undefined,
    fault: undefined,
    refusal: undefined,
    upstream: undefined,
    failures: undefined,
    block: undefined,
    path: undefined,
    userAgent: undefined,
    sent: 0,
    retries: 0,
    upstreamStatus: 0,
    upstreamMs: 0,
    sentAt: 0,
    queueMs: 0,
    waits: undefined,
    aborted: false,
    noted: undefined,
    isReadTwice: false,
    isReordered: false,
    clientStack: undefined,
    wsse: undefined,
    signed: undefined,
    decrypted: undefined,
    wsseReason: undefined,
    unverified: [],
    written: undefined,
    writeId: undefined,
    route: undefined,
  };
}

/** Records a wait for a permit or a connection. */
export function noteWait(stats: Pick<RequestStats, 'queueMs' | 'waits'>, from: number, to: number): void {
  stats.queueMs += to - from;
  stats.waits ??= [];
  if (stats.waits.length < maxWaits) stats.waits.push([from, to]);
}

/** Maximum number of recorded waits of a request. The calls of a mapping may wait more often. */
export const maxWaits = 16;

/** Records a failure of an upstream call. */
export function noteFailure(
  stats: Pick<RequestStats, 'failures' | 'sent'>,
  failure: Omit<UpstreamFailure, 'attempt'>,
  attempt: number = stats.sent,
): void {
  stats.failures ??= [];
  stats.failures.push({ attempt, ...failure });
}

/** Maximum length of a caller's text in a log line, in bytes. */
const longestText = 200;

/**
 * Formats a caller's text for the log: at most 200 bytes of printable ASCII. Every other character is percent-encoded,
 * so that control characters and bidirectional overrides cannot change how a terminal shows the line.
 */
export function logText(text: string): string {
  const short = text.slice(0, longestText).toWellFormed();
  return short.replaceAll(/[^ -~]/gu, encodeURIComponent).slice(0, longestText);
}
