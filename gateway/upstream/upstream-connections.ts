import type { Limits } from '../../mappings/contract/limits.ts';
import type { Admission } from '../admission/admission.ts';
import { OperationPaces, stuckMs, stuckShare } from './operation-paces.ts';
import { type CallKeys, Shares } from './shares.ts';

/** A call that needs a connection until it ends. All times are in ms of `performance.now()`. */
export interface Outgoing {
  readonly operation: string;
  readonly keys: CallKeys;
  /** The address of the upstream that it is sent to; undefined if there is only one. */
  readonly target?: unknown;
  /** Time when it was passed to a connection. */
  readonly sentAt: number;
  /** Time by which it must have a connection. */
  readonly latest: number;
  /** True while it waits without an `inFlight` slot. Only `UpstreamConnections` changes it. */
  isParked: boolean;
  /** Called when a waiting call gets a connection. */
  readonly go: () => void;
}

/** One of this number of connections is kept for others. Quick calls of one caller, network or operation use the rest. */
const restShare = 32;

/**
 * Assigns connections to calls, or queues or rejects them. At most `upstreamConnections` calls are sent. The others wait
 * in the order of their deadlines; `inFlight` and `queue` limit their number. A call whose deadline cannot be met is
 * rejected.
 *
 * Operations that are slow, or not measured yet, get shares of the connections and of the `inFlight` slots
 * (`Shares.hasSlotFor`). With 64 connections, one caller has at most 52, and one operation of this caller at most 41. Calls
 * of a quick operation may use almost all connections while they keep giving them back. They do not count for the shares of
 * slow calls, nor slow calls for theirs.
 */
export class UpstreamConnections {
  readonly #total: number;
  readonly #most: number;
  readonly #slots: Pick<Admission, 'park' | 'unpark'>;
  readonly #now: () => number;
  readonly #paces = new OperationPaces();
  /** Calls that have a connection, in the order in which they were sent. */
  readonly #out: Outgoing[] = [];
  /** Waiting calls, the one with the earliest deadline first. */
  readonly #waiting: Outgoing[] = [];
  /** Number of waiting calls without an `inFlight` slot. */
  #parked = 0;
  /** Shares of the connections, and of all calls; undefined while there is room enough for everyone. */
  #outShares: Shares | undefined;
  #allShares: Shares | undefined;
  #advancing = false;

  /**
   * @param slots the `inFlight` slots; each call holds one when it enters
   * @param now returns the time in ms
   */
  constructor(
    { upstreamConnections, inFlight }: Limits,
    slots: Pick<Admission, 'park' | 'unpark'>,
    now: () => number = () => performance.now(),
  ) {
    this.#slots = slots;
    this.#total = upstreamConnections;
    this.#most = Math.max(inFlight, upstreamConnections);
    this.#now = now;
  }

  /** Number of calls that have a connection. */
  get active(): number {
    return this.#out.length;
  }

  /** Number of waiting calls. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Returns `go` if the call may be sent now, `wait` if it is queued, `late` if its connection would be free too late. If
   * the contract, caller, network or operation of a waiting call has its share of the `inFlight` slots, the call is
   * parked: it waits without its slot. The result is also `late` if too many calls wait without a slot.
   */
  enter(call: Outgoing): 'go' | 'wait' | 'late' {
    const now = this.#out.length * 2 < this.#total ? 0 : this.#now();
    if (this.#take(call, now)) {
      this.#allShares?.add(call.keys, 1);
      return 'go';
    }
    return this.#queue(call, now) ? 'wait' : 'late';
  }

  /** Returns true if stuck calls have more than one of `stuckShare` connections, so that the address gets no more calls. */
  isStuck(target: unknown, now: number): boolean {
    let stuck = 0;
    for (const call of this.#out) {
      if (now - call.sentAt < stuckMs) break;
      if (call.target === target) stuck++;
    }
    return stuck > this.#total / stuckShare;
  }

  /** Parks a waiting call if its operation is no longer quick and has more than its share of the `inFlight` slots. */
  park(call: Outgoing, now: number): void {
    if (call.isParked || this.#count * 2 < this.#most) return;
    if (this.#paces.isQuick(call.operation, this.#out, this.#total, now)) return;
    this.#setParked(call, true);
    if (!(this.#hasAllShare(call, now) && this.#slots.park())) this.#setParked(call, false);
  }

  #setParked(call: Outgoing, isParked: boolean): void {
    call.isParked = isParked;
    this.#parked += isParked ? 1 : -1;
    this.#allShares?.add(call.keys, isParked ? -1 : 1);
  }

  /** Removes a call that was not sent: a waiting one, or one that just received its connection. */
  drop(call: Outgoing): void {
    if (remove(this.#waiting, call)) {
      if (call.isParked) this.#unpark(call);
      else this.#left(call);
    } else if (remove(this.#out, call)) this.#passOn(call, this.#now());
  }

  /**
   * Passes a call's connection to a waiting call. Does nothing if the call has no connection.
   *
   * @param isAnswered false if the call failed, or had a status of 500 or more
   */
  release(call: Outgoing, isAnswered = true): void {
    if (!remove(this.#out, call)) return;
    const now = this.#now();
    this.#paces.note(call.operation, now - call.sentAt, isAnswered, now);
    this.#passOn(call, now);
  }

  #passOn(call: Outgoing, now: number): void {
    if (this.#out.length * 4 < this.#total) this.#outShares = undefined;
    this.#outShares?.add(call.keys, -1);
    this.#left(call);
    if (this.#waiting.length > 0 && !this.#advancing) this.#advance(now);
  }

  /** Starts waiting calls, in the order of their deadlines, while connections are free. */
  #advance(now: number): void {
    this.#advancing = true; // a call that starts may end at once
    while (this.#out.length < this.#total) {
      const next = this.#next(now);
      if (next === undefined) break;
      remove(this.#waiting, next);
      if (next.isParked) {
        this.#unpark(next);
        this.#allShares?.add(next.keys, 1);
      }
      next.go();
    }
    this.#advancing = false;
  }

  /** Gives a parked call its `inFlight` slot back, because it no longer waits. */
  #unpark(call: Outgoing): void {
    call.isParked = false;
    this.#parked--;
    this.#slots.unpark();
  }

  /** Gives a connection to the first waiting call that may have one, and returns the call. */
  #next(now: number): Outgoing | undefined {
    let blocked: Outgoing | undefined;
    return this.#waiting.find((call) => {
      const isAlike = call.operation === blocked?.operation && call.keys.caller === blocked.keys.caller;
      if (!isAlike && this.#take(call, now)) return true;
      blocked = call;
      return false;
    });
  }

  /**
   * Takes a connection for a call. Returns false if no connection is free, or if its caller, network or operation
   * has its share.
   */
  #take(call: Outgoing, now: number): boolean {
    const out = this.#out;
    const free = this.#total - out.length;
    if (free === 0) return false;
    // fewer calls cannot exceed the share of a single operation of a single caller
    if (out.length * 2 >= this.#total && !this.#hasShare(call, free, now)) return false;
    out.push(call);
    this.#outShares?.add(call.keys, 1);
    return true;
  }

  #hasShare(call: Outgoing, free: number, now: number): boolean {
    const rest = Math.floor(this.#total / restShare);
    const isQuick = (operation: string): boolean =>
      this.#paces.isQuick(operation, this.#out, this.#total, now);
    const mayExceed = isQuick(call.operation) && this.#paces.keepsUp(call.operation, this.#out, now);
    if (mayExceed && free > rest) return true;
    this.#outShares ??= new Shares(this.#out);
    if (mayExceed) return this.#outShares.hasFewerThan(this.#total - rest, call.keys, isQuick);
    if (this.#outShares.hasSlotFor(call.keys, free)) return true;
    // Quick calls give their connections back, so they keep no slow call of their caller waiting. One connection is
    // kept for others, in case the quick operation begins to hang.
    return free > Math.min(1, rest) && this.#outShares.hasSlotFor(call.keys, free, isQuick);
  }

  /** Number of calls that hold `inFlight` slots. */
  get #count(): number {
    return this.#out.length + this.#waiting.length - this.#parked;
  }

  /** Returns true if the contract, caller, network or operation of a call has its share of the `inFlight` slots. */
  #hasAllShare(call: Outgoing, now: number): boolean {
    const count = this.#count;
    if (count * 2 < this.#most) return false;
    if (this.#paces.isQuick(call.operation, this.#out, this.#total, now)) return false;
    const free = this.#most - count;
    this.#allShares ??= new Shares(
      this.#out,
      this.#waiting.filter(({ isParked }) => !isParked),
    );
    return !(
      this.#allShares.contractHasSlotFor(call.keys, free) && this.#allShares.hasSlotFor(call.keys, free)
    );
  }

  /** Queues a call. Returns false if its connection would be free too late, or if it must park and cannot. */
  #queue(call: Outgoing, now: number): boolean {
    const waiting = this.#waiting;
    let at = waiting.length;
    while (at > 0 && (waiting[at - 1] as Outgoing).latest > call.latest) at--;
    if (now + this.#paces.waitOf(call.operation, this.#out, waiting, at) > call.latest) return false;
    const isParked = this.#hasAllShare(call, now);
    if (isParked && !this.#slots.park()) return false;
    call.isParked = isParked;
    if (isParked) this.#parked++;
    else this.#allShares?.add(call.keys, 1);
    waiting.splice(at, 0, call);
    return true;
  }

  /** Counts a call that is neither sent nor waiting any more. */
  #left(call: Outgoing): void {
    if (this.#count * 4 < this.#most) this.#allShares = undefined;
    this.#allShares?.add(call.keys, -1);
  }
}

/** Removes a call from a list. Returns false if it is not in the list. */
function remove(calls: Outgoing[], call: Outgoing): boolean {
  let at = calls.indexOf(call);
  if (at === -1) return false;
  for (; at < calls.length - 1; at++) calls[at] = calls[at + 1] as Outgoing; // avoids the array that splice returns
  calls.pop();
  return true;
}
