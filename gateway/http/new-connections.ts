import type { Socket } from 'node:net';

/** Number of connections, accepted in successive event-loop iterations, that are read at once. */
const unheldConnections = 16;
/** While connections are being accepted, one is read only in every n-th iteration. */
const iterationsPerRead = 16;
/** An iteration is long from this time on, in ms. */
const longMs = 5;
/** Number of connections read after an iteration that is not long. */
const readPerIteration = 8;
/** Part of the waiting connections that is read after a long iteration. */
const longIterationPart = 64;
/** If a connection has waited for this time in ms, one is read in every iteration. */
export const maxUnreadMs = 1_000;

/** A connection that is not read yet. */
interface Held {
  readonly socket: Socket;
  readonly since: number;
}

/**
 * Delays the first read of connections that are opened in a burst. Node accepts one connection per event-loop iteration.
 * Without a delay, the requests of earlier connections are processed first, and a probe
 * waits for hundreds of them. A process that has just started takes milliseconds for each. Connections are read
 * alternately from the newest and from the oldest on, so that a probe during a burst is among the first. Callers that repeat
 * their calls during a burst wait, too, because each iteration with their calls delays the next new connection.
 */
export class NewConnections {
  readonly #read: (socket: Socket) => void;
  readonly #now: () => number;
  readonly #held: Held[] = [];
  #iteration = 0;
  #iterationBegan = 0;
  #isPlanned = false;
  #hasAccepted = false;
  /** Number of connections accepted since an iteration accepted none. */
  #streak = 0;
  #takesNewest = true;

  /**
   * @param read reads a connection from now on
   * @param now returns the time in ms
   */
  constructor(read: (socket: Socket) => void, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#now = now;
  }

  /** Number of connections that are not read yet. */
  get size(): number {
    return this.#held.length;
  }

  /** Adds a new connection. Returns true if it must not be read until `read` is called. */
  add(socket: Socket): boolean {
    const now = this.#now();
    this.#hasAccepted = true;
    this.#streak++;
    if (!this.#isPlanned) {
      this.#isPlanned = true;
      this.#iterationBegan = now;
      setImmediate(this.#endIteration);
    }
    if (this.#streak <= unheldConnections && this.#held.length === 0) return false;
    this.#held.push({ socket, since: now });
    return true;
  }

  /** True while connections are being opened in a burst. */
  get isBurst(): boolean {
    return this.#streak > unheldConnections;
  }

  /** Adds a connection that has sent a request during a burst. It must not be read until `read` is called. */
  hold(socket: Socket): void {
    this.#held.push({ socket, since: this.#now() });
  }

  readonly #endIteration = (): void => {
    const now = this.#now();
    for (let count = this.#countFor(now); count > 0 && this.#held.length > 0; count--) {
      const next = this.#takesNewest ? this.#held.pop() : this.#held.shift();
      this.#takesNewest = !this.#takesNewest;
      if (next !== undefined && !next.socket.destroyed) this.#read(next.socket);
    }
    if (!this.#hasAccepted) this.#streak = 0;
    this.#hasAccepted = false;
    this.#iteration++;
    this.#iterationBegan = now;
    this.#isPlanned = this.#held.length > 0 || this.#streak > 0;
    if (this.#isPlanned) setImmediate(this.#endIteration);
  };

  /** Returns how many connections are read after this iteration. */
  #countFor(now: number): number {
    const [oldest] = this.#held;
    if (oldest === undefined) return 0;
    const took = now - this.#iterationBegan;
    if (this.#hasAccepted && this.#streak > unheldConnections)
      return this.#iteration % iterationsPerRead === 0 || now - oldest.since >= maxUnreadMs ? 1 : 0;
    return took < longMs ? readPerIteration : Math.ceil(this.#held.length / longIterationPart);
  }
}
