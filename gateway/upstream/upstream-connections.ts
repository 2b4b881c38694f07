import type { Limits } from '../../mappings/contract/limits.ts';

/** Caller, network and operation of a call, for fair sharing. */
export interface Party {
  /** A caller within its network. */
  readonly caller: string;
  readonly network: string;
  readonly operation: string;
}

/** A call that needs a connection until it ends. */
export interface Outgoing {
  readonly party: Party;
  /** Called when a waiting call gets a connection. */
  readonly go: () => void;
}

/** Maximum share of one caller, network or operation, as a multiple of the free slots. */
const callerShare = 4;
const networkShare = 8;
const operationShare = 16;

/**
 * Assigns connections to calls, or queues or rejects them. At most `upstreamConnections` calls are sent and
 * `upstreamQueue` calls wait. Both leave capacity for others: a caller has at most four times the free slots, a network
 * eight times, an operation sixteen times. With 64 connections, one caller can have 52.
 */
export class UpstreamConnections {
  readonly #out: Places;
  readonly #waiting: Places;
  #advancing = false;

  constructor({ upstreamConnections, upstreamQueue }: Limits) {
    this.#out = new Places(upstreamConnections);
    this.#waiting = new Places(upstreamQueue);
  }

  /** Number of calls that have a connection. */
  get active(): number {
    return this.#out.calls.length;
  }

  /** Number of waiting calls. */
  get waiting(): number {
    return this.#waiting.calls.length;
  }

  /** Returns `go` if the call may be sent now, `wait` if it is queued, `full` if it is rejected. */
  enter(call: Outgoing): 'go' | 'wait' | 'full' {
    if (this.#out.take(call)) return 'go';
    return this.#waiting.take(call) ? 'wait' : 'full';
  }

  /** Removes a waiting call. */
  drop(call: Outgoing): void {
    this.#waiting.give(call);
  }

  /** Passes a call's connection to a waiting call. Does nothing if the call has no connection. */
  leave(call: Outgoing): void {
    if (this.#out.give(call) && !this.#advancing) this.#advance();
  }

  /** Starts waiting calls, oldest first, while connections are free. */
  #advance(): void {
    this.#advancing = true; // a call that starts may end at once
    for (;;) {
      const next = this.#waiting.calls.find((call) => this.#out.take(call));
      if (next === undefined) break;
      this.#waiting.give(next);
      next.go();
    }
    this.#advancing = false;
  }
}

/** A limited number of slots, and the calls that hold them in order of arrival. */
class Places {
  readonly calls: Outgoing[] = [];
  readonly #total: number;
  /** Slots per caller, network and operation; undefined while the pool has spare slots. */
  #shares: Shares | undefined;

  constructor(total: number) {
    this.#total = total;
  }

  /** Takes a slot for a call. Returns false if none is free, or if its caller, network or operation has its share. */
  take(call: Outgoing): boolean {
    const { calls } = this;
    const free = this.#total - calls.length;
    // With fewer calls, even a single caller cannot exceed its share.
    if (calls.length >= callerShare * free) {
      this.#shares ??= new Shares(calls);
      if (!this.#shares.hasRoomFor(call.party, free)) return false;
    }
    calls.push(call);
    this.#shares?.add(call.party, 1);
    return true;
  }

  /** Releases a call's slot. Returns false if it has none. */
  give(call: Outgoing): boolean {
    const { calls } = this;
    let at = calls.indexOf(call);
    if (at === -1) return false;
    for (; at < calls.length - 1; at++) calls[at] = calls[at + 1] as Outgoing; // avoids the array that splice returns
    calls.pop();
    if (calls.length < this.#total / 2) this.#shares = undefined;
    this.#shares?.add(call.party, -1);
    return true;
  }
}

/** Slots per caller, network and operation. */
class Shares {
  readonly #callers = new Map<string, number>();
  readonly #networks = new Map<string, number>();
  readonly #operations = new Map<string, number>();

  constructor(calls: readonly Outgoing[]) {
    for (const { party } of calls) this.add(party, 1);
  }

  hasRoomFor({ caller, network, operation }: Party, free: number): boolean {
    return (
      (this.#callers.get(caller) ?? 0) < free * callerShare &&
      (this.#networks.get(network) ?? 0) < free * networkShare &&
      (this.#operations.get(operation) ?? 0) < free * operationShare
    );
  }

  /** @param count 1, or -1 for a call that ended */
  add({ caller, network, operation }: Party, count: number): void {
    add(this.#callers, caller, count);
    add(this.#networks, network, count);
    add(this.#operations, operation, count);
  }
}

function add(counts: Map<string, number>, name: string, count: number): void {
  const sum = (counts.get(name) ?? 0) + count;
  if (sum === 0) counts.delete(name);
  else counts.set(name, sum);
}
