import { performance } from 'node:perf_hooks';
import type { Deviation } from '../../mappings/codec/problem.ts';

/**
 * What happened to a request: one line of the log, and what the metrics count. It is filled in on the way, and is whole once
 * the request has its reply. Never a value that a caller sent.
 */
export interface RequestStats {
  readonly requestId: string;
  readonly method: string;
  /** The face that it came to: `soap11`, `soap12`, `xml`, `json`, `rest`, or `http` for what is no call. */
  transport: string;
  operation: string | undefined;
  /** The HTTP status of the reply, and the one in X-Status. */
  status: number;
  meant: number | undefined;
  /** Of the bodies. */
  bytesIn: number;
  bytesOut: number;
  /** When it had its reply, in ms of `performance.now()`; until then when it came. */
  endedAt: number;
  ms: number;
  /** The caller's address: the peer's, or the one that a trusted proxy says. */
  clientIp: string | undefined;
  /** Who calls, where callers are told apart: a name that the operator gave, or a pseudonym. */
  caller: string | undefined;
  /** The errorCode that the caller gets. */
  error: string | undefined;
  /** Why no operation could answer, in one word, where the caller gets a fault for it. */
  fault: string | undefined;
  /** Where it was sent: scheme, host and port. */
  upstream: string | undefined;
  /** What went wrong with it upstream, each attempt; undefined where nothing did. */
  failures: UpstreamFailure[] | undefined;
  /** The header block that isn't understood, `{namespace}name`, as `logText` writes it. */
  block: string | undefined;
  /** Path and User-Agent of a request for no operation, as `logText` writes them. */
  path: string | undefined;
  userAgent: string | undefined;
  /** How often a connection was asked for to send it upstream. */
  sent: number;
  /** How many of these were the second time of a call (W35). */
  retries: number;
  /** The upstream's own status; 0 without an answer. */
  upstreamStatus: number;
  /** From when it had a connection, or one was made for it, until its answer was whole or it was given up, in ms. */
  upstreamMs: number;
  /** How long it waited for its permit, and for connections, in ms. */
  queueMs: number;
  /** Whether the caller left before its reply. */
  aborted: boolean;
  noted: Noted | undefined;
  /** What its Security block came to (W56): `text`, `digest`, `none`, or the code of its refusal; undefined: there was none. */
  wsse: string | undefined;
  /** Names of what of that block was left out unchecked. */
  unverified: readonly string[];
  /** What came of a write, where this line is to tell so. */
  written: WriteOutcome | undefined;
  /** Pairs the audit lines of a write, as callers may use one request id twice; undefined until a line needs it. */
  writeId: string | undefined;
}

/** Why a call upstream failed: in the words of the operator, never those of the caller or the upstream. */
export interface UpstreamFailure {
  /** 1 for the first time that it was sent; 0 where it was not. */
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
    | 'breaker'
    | 'queue'
    | 'other';
  /** What more is known; of a reply that is not of its type the path, what was expected there and what kind was met. */
  readonly reason?: string;
  /** What the system, Node or OpenSSL calls it. */
  readonly code?: string;
  /** The upstream's status, where that is what is wrong. */
  readonly status?: number;
}

/** The stats of a request that has its reply. */
export type RequestRecord = Readonly<RequestStats>;

/**
 * `answered`: the upstream reported what it did. `unsent`: no connection was had, or no call was made of it, nothing was done. `unknown`: it may have
 * been done or not.
 */
export type WriteOutcome = 'answered' | 'unsent' | 'unknown';

/** What a call was let through with, counted; of what a caller sent, names alone (W10, W12, W20, W21). */
export interface Noted {
  /** Names of members left out of the request. */
  readonly ignored: readonly string[];
  /** Character references that XML forbids. */
  readonly quirks: number;
  /** Tolerated deviations of the request, each once; undefined for none. */
  readonly deviations?: readonly Deviation[];
  /** Members left out of the reply. */
  readonly dropped: number;
  /** Members that the contract requires of the reply and that it lacks. */
  readonly missing: number;
  /** Characters of the reply that became U+FFFD. */
  readonly replaced: number;
  /** Values of the reply that aren't of their type: of an enum, or dates. */
  readonly passed: number;
  /** Numbers of the reply that a decimal of .NET, or a double, can't hold as they are; undefined for none. */
  readonly inexact?: number;
  /** Of members left out or missing those that weren't told of the operation before, each with its place. */
  readonly members?: readonly string[];
}

/**
 * The stats of a request that has just come.
 *
 * @param came when, in ms of `performance.now()`
 */
export function startStats(
  requestId: string,
  method: string,
  came: number = performance.now(),
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
    endedAt: came,
    ms: 0,
    clientIp: undefined,
    caller: undefined,
    error: undefined,
    fault: undefined,
    upstream: undefined,
    failures: undefined,
    block: undefined,
    path: undefined,
    userAgent: undefined,
    sent: 0,
    retries: 0,
    upstreamStatus: 0,
    upstreamMs: 0,
    queueMs: 0,
    aborted: false,
    noted: undefined,
    wsse: undefined,
    unverified: [],
    written: undefined,
    writeId: undefined,
  };
}

/** Takes note of what went wrong with a call upstream. */
export function noteFailure(
  stats: Pick<RequestStats, 'failures' | 'sent'>,
  failure: Omit<UpstreamFailure, 'attempt'>,
  attempt: number = stats.sent,
): void {
  stats.failures ??= [];
  stats.failures.push({ attempt, ...failure });
}

/** Longest text of a caller in a line of the log, in bytes. */
const longestText = 200;

/**
 * A text of a caller for the log: at most 200 bytes of printable ASCII. Every other character is percent-encoded, so that
 * control characters and bidirectional overrides cannot change how a terminal shows the line.
 */
export function logText(text: string): string {
  const short = text.slice(0, longestText).toWellFormed();
  return short.replaceAll(/[^ -~]/gu, encodeURIComponent).slice(0, longestText);
}
