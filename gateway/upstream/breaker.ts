import type { Limits } from '../../mappings/contract/limits.ts';
import type { CallKeys } from './shares.ts';
import type { Outgoing } from './upstream-connections.ts';

/**
 * Evidence that a call gives about the upstream. `answered`: a status below 500. `failed`: the call was sent and the
 * upstream broke it off or did not respond in time. The request itself may be the cause. `unreached`: no connection
 * could be made.
 */
export type Evidence = 'answered' | 'failed' | 'unreached';

/** The properties of a call that a circuit breaker uses. */
export type Subject = Pick<Outgoing, 'keys'> & { readonly operation: string };

/** Called when a circuit breaker opens or closes: for one operation, or for all if it is undefined. */
export type ReportBreaker = (open: boolean, operation: string | undefined) => void;

/** Maximum number of callers of a network that are counted separately. With more, all of its callers count as one. */
const callersPerNetwork = 8;

/** Minimum time from the first to the last failure before the circuit breaker opens, in ms. */
export const minFailingMs = 5_000;

/** Time from the last failure until all failures are forgotten, in ms. */
export const failureWindowMs = 10_000;

/** Time between two probes while the circuit breaker is open, in ms. */
export const probeIntervalMs = 5_000;

/**
 * Maximum number of networks counted separately. When calls of that many networks failed, calls of all other networks
 * are rejected, too.
 */
export const maxNetworks = 100;

/** State of one circuit: its consecutive failures, the affected callers, and whether calls are rejected. */
class Row {
  readonly #breakerCalls: number;
  readonly #failingMs: number;
  readonly #windowMs: number;
  readonly #probeMs: number;
  readonly #networks: number;
  /** Time of the last success. */
  #wellAt = 0;
  #failures = 0;
  /** Time when the first failed call was sent, or time of the last success if that is later. */
  #since = 0;
  /** Time of the last failure, or of the last call that was let through while open. */
  #lastAt = 0;
  #nextProbe = 0;
  /** Callers with failed calls, by network. */
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

  /** Returns true if the last failure is so old that the state of the upstream is unknown. */
  isStale(now: number): boolean {
    return this.#failures > 0 && now - this.#lastAt > this.#windowMs;
  }

  /** Counts a failure of a call sent at `sentAt`. Returns true if that opens the circuit. */
  fail(keys: CallKeys, sentAt: number, now: number): boolean {
    const since = Math.max(this.#wellAt, sentAt);
    this.#since = this.#failures === 0 ? since : Math.min(this.#since, since);
    this.#failures++;
    this.#lastAt = now;
    this.#meet(keys);
    if (this.openedAt !== 0) return false;
    if (this.#failures < this.#breakerCalls || now - this.#since < this.#failingMs) return false;
    this.openedAt = now;
    this.#nextProbe = now + this.#probeMs;
    return true;
  }

  /** Records a success. Returns true if that closes the circuit. Calls that were sent before it opened are ignored. */
  succeed(sentAt: number, now: number): boolean {
    if (sentAt < this.openedAt) return false;
    this.#wellAt = now;
    return this.#failures > 0 && this.start();
  }

  /**
   * Decides about a call while the circuit is open. Returns undefined if the call may be sent, else the whole seconds
   * until the next attempt.
   */
  refusal(keys: CallKeys, onlyWhomItMet: boolean, now: number): number | undefined {
    if (onlyWhomItMet && this.#isUnaffected(keys)) this.#meet(keys);
    else if (now < this.#nextProbe) return Math.ceil((this.#nextProbe - now) / 1000);
    else this.#nextProbe = now + this.#probeMs;
    this.#lastAt = now;
    return undefined;
  }

  /** Resets the circuit. Returns true if it was open. */
  start(): boolean {
    const wasOpen = this.openedAt !== 0;
    this.#failures = 0;
    this.openedAt = 0;
    this.#met.clear();
    return wasOpen;
  }

  #meet({ network, caller }: CallKeys): void {
    const callers = this.#met.get(network);
    if (callers !== undefined) {
      if (callers.size < callersPerNetwork) callers.add(caller);
    } else if (this.#met.size < this.#networks) this.#met.set(network, new Set([caller]));
  }

  /** Returns true if the failures affected neither this caller nor enough others to reject everyone. */
  #isUnaffected({ network, caller }: CallKeys): boolean {
    const callers = this.#met.get(network);
    if (callers === undefined) return this.#met.size < this.#networks;
    return callers.size < callersPerNetwork && !callers.has(caller);
  }
}

/**
 * Circuit breakers of an upstream. A circuit opens after at least `breakerCalls` failures without a success between
 * them, over at least `breakerFailingMs`. If no connection could be made, all calls of the upstream are rejected.
 * If calls of one operation failed, the cause may be their content. Then only its calls by affected callers are
 * rejected. Another caller gets one call through and is rejected after that fails, too. When callers of
 * `breakerNetworks` networks are affected, calls of all callers are rejected.
 * While a circuit is open, one call per `breakerProbeMs` is sent as a probe. The first success closes the circuit. All
 * times are ms of a monotonic clock.
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

  /** Returns true if all calls are rejected because no connection can be made. */
  isOpen(now: number): boolean {
    return isOpen(this.#upstream, now);
  }

  /** Returns the names of the operations with an open circuit. */
  openOperations(now: number): readonly string[] {
    return [...this.#operations].flatMap(([operation, row]) => (isOpen(row, now) ? [operation] : []));
  }

  /**
   * Returns undefined if a call may be sent now, else the whole seconds until the next attempt.
   *
   * @param onlyProbes true if callers without a failure are rejected, too
   */
  refusal(call: Subject, now: number, onlyProbes = false): number | undefined {
    const upstream = this.#upstream;
    if (upstream.openedAt !== 0 && !this.#forgets(upstream, undefined, now))
      return upstream.refusal(call.keys, false, now);
    const row = this.#operations.get(call.operation);
    if (row === undefined || row.openedAt === 0 || this.#forgets(row, call.operation, now)) return undefined;
    return row.refusal(call.keys, !onlyProbes, now);
  }

  /** Returns true if a circuit that applies to an operation opened after a time. */
  hasOpenedSince(operation: string, time: number): boolean {
    return this.#upstream.openedAt > time || (this.#operations.get(operation)?.openedAt ?? 0) > time;
  }

  /** Records a new connection. It proves that the upstream is reachable. */
  connected(now: number): void {
    this.#succeed(this.#upstream, undefined, now, now);
  }

  /** Records the result of a call that was sent at `sentAt`. */
  settle(call: Subject, evidence: Evidence, sentAt: number, now: number): void {
    const { operation } = call;
    if (evidence === 'unreached') {
      this.#forgets(this.#upstream, undefined, now);
      if (this.#upstream.fail(call.keys, sentAt, now)) this.#report(true, undefined);
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
    if (row.fail(call.keys, sentAt, now)) this.#report(true, operation);
  }

  /** Resets a stale circuit. Returns true if that closed it. */
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
