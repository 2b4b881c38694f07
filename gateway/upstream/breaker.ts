import type { Limits } from '../../mappings/contract/limits.ts';
import type { Outgoing, Party } from './upstream-connections.ts';

/**
 * What a call shows of the upstream: `answered` with a status below 500; `failed` once it was out, by what the upstream
 * did or by no answer in time, for which the request itself may be the reason; `unreached`, as no connection was had.
 */
export type Evidence = 'answered' | 'failed' | 'unreached';

/** A call as a breaker sees it. */
export type Subject = Pick<Outgoing, 'party'> & { readonly operation: string };

/** Told when calls begin to be refused and when they no longer are: of an operation, or all where it is undefined. */
export type ReportBreaker = (open: boolean, operation: string | undefined) => void;

/** So many callers of a network are told apart; with more, all of them are one. */
const callersPerNetwork = 8;

/** Minimum time from the first to the last failure before the circuit breaker opens, in ms. */
export const minFailingMs = 5_000;

/** Time from the last failure until all failures are forgotten, in ms. */
export const failureWindowMs = 10_000;

/** Time between two probes while the circuit breaker is open, in ms. */
export const probeIntervalMs = 5_000;

/** Number of networks whose calls failed before the calls of all other networks are rejected, too. */
export const maxNetworks = 100;

/** Failures without a success between them, whom they met, and whether calls are refused for that. */
class Row {
  readonly #breakerCalls: number;
  readonly #failingMs: number;
  readonly #windowMs: number;
  readonly #probeMs: number;
  readonly #networks: number;
  /** When what went well last came to its end. */
  #wellAt = 0;
  #failures = 0;
  /** When the first failure went out, or later, when what went well before it ended. */
  #since = 0;
  /** When the last failure came, or a call was let through although it is open. */
  #lastAt = 0;
  #nextProbe = 0;
  /** Callers by network. */
  readonly #met = new Map<string, Set<string>>();
  /** 0 while it is closed. */
  openedAt = 0;

  constructor(limits: Limits) {
    this.#breakerCalls = limits.breakerCalls;
    this.#failingMs = limits.breakerFailingMs ?? minFailingMs;
    this.#windowMs = limits.breakerWindowMs ?? failureWindowMs;
    this.#probeMs = limits.breakerProbeMs ?? probeIntervalMs;
    this.#networks = limits.breakerNetworks ?? maxNetworks;
  }

  /** Whether nobody called for a while, so that it isn't known any more that calls fail. */
  isStale(now: number): boolean {
    return this.#failures > 0 && now - this.#lastAt > this.#windowMs;
  }

  /** Counts a failure of a call that went out at `sentAt`; true when that opens it. */
  fail(party: Party, sentAt: number, now: number): boolean {
    const since = Math.max(this.#wellAt, sentAt);
    this.#since = this.#failures === 0 ? since : Math.min(this.#since, since);
    this.#failures++;
    this.#lastAt = now;
    this.#meet(party);
    if (this.openedAt !== 0) return false;
    if (this.#failures < this.#breakerCalls || now - this.#since < this.#failingMs) return false;
    this.openedAt = now;
    this.#nextProbe = now + this.#probeMs;
    return true;
  }

  /** Takes note of a success; true when that closes it. What went out before it opened counts for nothing. */
  succeed(sentAt: number, now: number): boolean {
    if (sentAt < this.openedAt) return false;
    this.#wellAt = now;
    return this.#failures > 0 && this.start();
  }

  /** While it is open: undefined where the call may go, else in how many whole seconds to try again. */
  refusal(party: Party, onlyWhomItMet: boolean, now: number): number | undefined {
    if (onlyWhomItMet && this.#isStranger(party)) this.#meet(party);
    else if (now < this.#nextProbe) return Math.ceil((this.#nextProbe - now) / 1000);
    else this.#nextProbe = now + this.#probeMs;
    this.#lastAt = now;
    return undefined;
  }

  /** Begins anew; true where it was open. */
  start(): boolean {
    const wasOpen = this.openedAt !== 0;
    this.#failures = 0;
    this.openedAt = 0;
    this.#met.clear();
    return wasOpen;
  }

  #meet({ network, caller }: Party): void {
    const callers = this.#met.get(network);
    if (callers !== undefined) {
      if (callers.size < callersPerNetwork) callers.add(caller);
    } else if (this.#met.size < this.#networks) this.#met.set(network, new Set([caller]));
  }

  /** Whether the failures met neither this caller nor so many others that they are everybody's. */
  #isStranger({ network, caller }: Party): boolean {
    const callers = this.#met.get(network);
    if (callers === undefined) return this.#met.size < this.#networks;
    return callers.size < callersPerNetwork && !callers.has(caller);
  }
}

/**
 * Whether calls go to an upstream. They are refused after at least `breakerCalls` failures without a success between
 * them, over at least `breakerFailingMs`: all calls where no connection was had. Where calls of one operation failed, the
 * reason may be what they hold; so of its calls only those of callers whom that met are refused. Any other caller has a
 * call let through, and is refused when that fails too; when callers of `breakerNetworks` networks failed, everybody is.
 * Of what is refused one call in `breakerProbeMs` goes out all the same. The first success ends it. All times are ms of
 * one clock that never runs back.
 */
export class Breaker {
  readonly #limits: Limits;
  readonly #report: ReportBreaker;
  readonly #upstream: Row;
  readonly #operations = new Map<string, Row>();

  constructor(limits: Limits, report: ReportBreaker) {
    this.#limits = limits;
    this.#report = report;
    this.#upstream = new Row(limits);
  }

  /** Whether all calls are refused, as no connection is had. */
  isOpen(now: number): boolean {
    return isOpen(this.#upstream, now);
  }

  /** How many operations have calls refused. */
  openOperations(now: number): number {
    return [...this.#operations.values()].filter((row) => isOpen(row, now)).length;
  }

  /** Undefined where a call may go now; else in how many whole seconds to try again. */
  refusal(call: Subject, now: number): number | undefined {
    const upstream = this.#upstream;
    if (upstream.openedAt !== 0 && !this.#forgets(upstream, undefined, now))
      return upstream.refusal(call.party, false, now);
    const row = this.#operations.get(call.operation);
    if (row === undefined || row.openedAt === 0 || this.#forgets(row, call.operation, now)) return undefined;
    return row.refusal(call.party, true, now);
  }

  /** Whether calls of an operation began to be refused after a time. */
  hasOpenedSince(operation: string, time: number): boolean {
    return this.#upstream.openedAt > time || (this.#operations.get(operation)?.openedAt ?? 0) > time;
  }

  /** Takes note of a new connection: whatever comes over it, the upstream is there. */
  connected(now: number): void {
    this.#succeed(this.#upstream, undefined, now, now);
  }

  /** Takes note of what came of a call that went out at `sentAt`. */
  settle(call: Subject, evidence: Evidence, sentAt: number, now: number): void {
    const { operation } = call;
    if (evidence === 'unreached') {
      this.#forgets(this.#upstream, undefined, now);
      if (this.#upstream.fail(call.party, sentAt, now)) this.#report(true, undefined);
      return;
    }
    let row = this.#operations.get(operation);
    if (row === undefined) {
      row = new Row(this.#limits);
      this.#operations.set(operation, row);
    }
    if (evidence === 'answered') {
      this.#succeed(this.#upstream, undefined, sentAt, now);
      this.#succeed(row, operation, sentAt, now);
      return;
    }
    this.#forgets(row, operation, now);
    if (row.fail(call.party, sentAt, now)) this.#report(true, operation);
  }

  /** Forgets what is stale; true where that closed it. */
  #forgets(row: Row, operation: string | undefined, now: number): boolean {
    const closes = row.isStale(now) && row.start();
    if (closes) this.#report(false, operation);
    return closes;
  }

  #succeed(row: Row, operation: string | undefined, sentAt: number, now: number): void {
    if (row.succeed(sentAt, now)) this.#report(false, operation);
  }
}

function isOpen(row: Row, now: number): boolean {
  return row.openedAt !== 0 && !row.isStale(now);
}
