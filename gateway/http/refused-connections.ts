import type { Socket } from 'node:net';

/** Time in ms after which a connection whose call was rejected is read again. It is the time of `Retry-After`. */
export const refusedPauseMs = 1_000;

/** Number of rejected calls per `windowMs` whose connections are read on at once. */
export const maxUnpacedRefusals = 10;

const windowMs = 100;

/** Interval in ms at which connections are read again. */
const lookMs = 50;

/** A connection that is not read for a while. */
interface Paused {
  readonly socket: Socket;
  readonly until: number;
}

/**
 * Slows down connections whose calls were rejected for lack of capacity. A caller that repeats its call at once would
 * otherwise use the time of the calls that were accepted. The number of paused connections is limited by `connections`.
 */
export class RefusedConnections {
  readonly #read: (socket: Socket) => void;
  readonly #now: () => number;
  /** All pauses are equally long, so the first one ends first. */
  #paused: Paused[] = [];
  #timer: NodeJS.Timeout | undefined;
  #windowBegan = Number.NEGATIVE_INFINITY;
  #refusals = 0;

  /**
   * @param read reads a connection from now on
   * @param now returns the time in ms
   */
  constructor(read: (socket: Socket) => void, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#now = now;
  }

  /** Number of paused connections. */
  get size(): number {
    return this.#paused.length;
  }

  /** Counts a rejected call. Returns true if its connection must not be read until `read` is called. */
  add(socket: Socket): boolean {
    const now = this.#now();
    if (now - this.#windowBegan >= windowMs) {
      this.#windowBegan = now;
      this.#refusals = 0;
    }
    if (++this.#refusals <= maxUnpacedRefusals) return false;
    this.#paused.push({ socket, until: now + refusedPauseMs });
    this.#timer ??= setInterval(() => this.look(), lookMs).unref();
    return true;
  }

  /** Reads the connections whose pauses are over. */
  look(): void {
    const now = this.#now();
    const count = this.#paused.findIndex(({ until }) => until > now);
    const due = count === -1 ? this.#paused : this.#paused.slice(0, count);
    this.#paused = count === -1 ? [] : this.#paused.slice(count);
    for (const { socket } of due) if (!socket.destroyed) this.#read(socket);
    if (this.#paused.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
