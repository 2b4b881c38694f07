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
  readonly #connections: number;
  readonly #queue: number;
  readonly #out: Outgoing[] = [];
  readonly #waiting: Outgoing[] = [];
  #advancing = false;

  constructor({ upstreamConnections, upstreamQueue }: Limits) {
    this.#connections = upstreamConnections;
    this.#queue = upstreamQueue;
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether the call may go out now, waits until it is told to, or finds no room. */
  enter(call: Outgoing): 'go' | 'wait' | 'full' {
    if (mayJoin(call, this.#out, this.#connections)) {
      this.#out.push(call);
      return 'go';
    }
    if (!mayJoin(call, this.#waiting, this.#queue)) return 'full';
    this.#waiting.push(call);
    return 'wait';
  }

  /** Takes a call back that waits. */
  drop(call: Outgoing): void {
    const at = this.#waiting.indexOf(call);
    if (at !== -1) this.#waiting.splice(at, 1);
  }

  /** Gives a call's connection to one that waits; nothing where it has none. */
  leave(call: Outgoing): void {
    const at = this.#out.indexOf(call);
    if (at === -1) return;
    const last = this.#out.pop();
    if (last !== undefined && last !== call) this.#out[at] = last;
    if (this.#waiting.length > 0 && !this.#advancing) this.#advance();
  }

  /** Lets calls out that waited, oldest first, as long as there is one that may. */
  #advance(): void {
    this.#advancing = true; // a call that is told to go may end at once
    for (;;) {
      const shares = isScarce(this.#out, this.#connections)
        ? new Shares(this.#out, this.#connections)
        : undefined;
      const at = this.#waiting.findIndex((call) => shares === undefined || shares.hasRoomFor(call.party));
      const [next] = at === -1 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) break;
      this.#out.push(next);
      next.go();
    }
    this.#advancing = false;
  }
}

function mayJoin(call: Outgoing, present: readonly Outgoing[], total: number): boolean {
  return !isScarce(present, total) || new Shares(present, total).hasRoomFor(call.party);
}

/** Whether so much is taken that who takes it matters: before, not even a single caller has more than its share. */
function isScarce(present: readonly Outgoing[], total: number): boolean {
  return present.length >= callerShare * (total - present.length);
}

/** Who has how much. */
class Shares {
  readonly #free: number;
  readonly #callers = new Map<string, number>();
  readonly #networks = new Map<string, number>();
  readonly #operations = new Map<string, number>();

  constructor(present: readonly Outgoing[], total: number) {
    this.#free = total - present.length;
    for (const { party } of present) {
      add(this.#callers, party.caller);
      add(this.#networks, party.network);
      add(this.#operations, party.operation);
    }
  }

  hasRoomFor({ caller, network, operation }: Party): boolean {
    return (
      (this.#callers.get(caller) ?? 0) < this.#free * callerShare &&
      (this.#networks.get(network) ?? 0) < this.#free * networkShare &&
      (this.#operations.get(operation) ?? 0) < this.#free * operationShare
    );
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
