import type { Limits } from '../../mappings/contract/limits.ts';

/** Whose a call is and what it calls, for sharing what there is for all. */
export interface Party {
  /** One caller of a network. */
  readonly caller: string;
  readonly network: string;
  readonly operation: string;
}

/** A call that needs a connection for as long as it is out. */
export interface Outgoing {
  readonly party: Party;
  /** Told when a call that waited has a connection. */
  readonly go: () => void;
}

/** How many times as much as is left one may have: a caller, a network, an operation. */
const callerShare = 4;
const networkShare = 8;
const operationShare = 16;

/**
 * Gives each call a connection, or lets it wait for one, or neither. As many are out as there are connections, as many
 * wait as `upstreamQueue`. Of both something is left for others: a caller has at most four times what is free, a network
 * eight times, an operation sixteen times. So of 64 connections one caller has 51, and two have 28 each.
 */
export class UpstreamConnections {
  readonly #out: Places;
  readonly #waiting: Places;
  #advancing = false;

  constructor({ upstreamConnections, upstreamQueue }: Limits) {
    this.#out = new Places(upstreamConnections);
    this.#waiting = new Places(upstreamQueue);
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.#waiting.calls.length;
  }

  /** Whether the call may go out now, waits until it is told to, or finds no room. */
  enter(call: Outgoing): 'go' | 'wait' | 'full' {
    if (this.#out.take(call)) return 'go';
    return this.#waiting.take(call) ? 'wait' : 'full';
  }

  /** Takes a call back that waits. */
  drop(call: Outgoing): void {
    this.#waiting.give(call);
  }

  /** Gives a call's connection to one that waits; nothing where it has none. */
  leave(call: Outgoing): void {
    if (this.#out.give(call) && !this.#advancing) this.#advance();
  }

  /** Lets calls out that waited, oldest first, as long as there is one that may. */
  #advance(): void {
    this.#advancing = true; // a call that is told to go may end at once
    for (;;) {
      const next = this.#waiting.calls.find((call) => this.#out.take(call));
      if (next === undefined) break;
      this.#waiting.give(next);
      next.go();
    }
    this.#advancing = false;
  }
}

/** So many places, and the calls that have one, in the order in which they came. */
class Places {
  readonly calls: Outgoing[] = [];
  readonly #total: number;
  /** Who has how many; undefined where so many are free that it doesn't matter. */
  #shares: Shares | undefined;

  constructor(total: number) {
    this.#total = total;
  }

  /** Takes a place for a call; false where there is none, or its party has its share. */
  take(call: Outgoing): boolean {
    const { calls } = this;
    const free = this.#total - calls.length;
    // before, not even a single caller has more than its share
    if (calls.length >= callerShare * free) {
      this.#shares ??= new Shares(calls);
      if (!this.#shares.hasRoomFor(call.party, free)) return false;
    }
    calls.push(call);
    this.#shares?.add(call.party, 1);
    return true;
  }

  /** Gives a call's place back; false where it has none. */
  give(call: Outgoing): boolean {
    const { calls } = this;
    let at = calls.indexOf(call);
    if (at === -1) return false;
    for (; at < calls.length - 1; at++) calls[at] = calls[at + 1] as Outgoing; // to splice makes a list of what it takes out
    calls.pop();
    if (calls.length < this.#total / 2) this.#shares = undefined;
    this.#shares?.add(call.party, -1);
    return true;
  }
}

/** Who has how much. */
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

  /** @param count 1, or -1 for one that has left */
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
