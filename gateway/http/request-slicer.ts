import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Limits } from '../../mappings/contract/limits.ts';

/** Statistics of the connections of one network. */
export interface Network {
  /** True for a trusted proxy, which carries many clients: many requests from it are not a burst. */
  readonly isProxy: boolean;
  /** Number of the event-loop iteration of its last request, and the number of requests in it. */
  iteration: number;
  requests: number;
  /** Number of the last iteration in which data of the network was parsed on arrival, while slicing. */
  parsedIn: number;
  /** Number of its connections that wait for a slice. */
  waiting: number;
  /** Sequence number of the last slice of one of its connections. */
  served: number;
}

/** Returns the initial statistics of a network. */
export function newNetwork(isProxy: boolean): Network {
  return { isProxy, iteration: -1, requests: 0, parsedIn: -1, waiting: 0, served: 0 };
}

/** Size of a slice, in bytes. Most requests fit in one; parsing takes at most about 0.5 ms. */
const sliceBytes = 2 * 1024;

const endOfHead = '\r\n\r\n';

/** While connections are being accepted, a waiting slice is parsed only in every n-th iteration. */
const iterationsPerSlice = 8;

/** Minimum time for other work per unit of time spent on connections that sent more than a slice. */
const othersShare = 3;

/** Minimum number of requests of one network in an iteration that count as a burst. */
const burstRequests = 16;

/** Maximum time in ms between two long iterations with a burst for slicing to start. */
const burstMs = 1_000;

/**
 * Time in ms that the HTTP parser takes in one event-loop iteration, for more than one request or many chunks of a
 * connection. After more, all connections are parsed in slices. 0: as soon as a connection has two requests.
 */
export const maxParsingMs = 5;

/** Time that slices take in one event-loop iteration, in µs. */
export const parsingSlice = 300;

/** Time in ms that new connections are parsed in slices after the last long iteration. */
export const parsingWatch = 10_000;

/** Node's own 'data' listener, which passes the bytes to the parser. */
type Parse = (this: Socket, data: Buffer) => void;

/**
 * A connection that is read in slices. Unparsed data, and the end of the connection, stay in the socket's own buffer.
 */
interface SlicedConnection {
  readonly socket: Socket;
  readonly network: Network;
  readonly parse: Parse;
  /** True while it waits for a slice. It is not read meanwhile. */
  isWaiting: boolean;
  /** Number of its bytes that wait. */
  left: number;
  /** True while the data that it emits is a requested slice. */
  hasSlice: boolean;
}

/**
 * Keeps the HTTP parser from blocking the event loop. Node's parser takes everything that a read returns, 64 KiB of
 * each connection: ten thousand chunks of one byte, or two thousand requests in a row, take about 20 ms. All
 * connections are therefore parsed in slices, for `parsingSliceUs` per event-loop iteration. This starts when further
 * requests or chunks of connections took `parsingMs` of an iteration. The same happens after two iterations with a
 * burst of requests of one network, if other networks are connected. New connections are parsed in slices until
 * `parsingWatchMs` after the last long iteration. Networks are served alternately. A connection that sent more than a
 * slice waits for those that sent less. Slices cost a small call about 5 µs, so they are not used all the time
 * (decision 14).
 */
export class RequestSlicer {
  readonly #parsingMs: number;
  readonly #sliceMs: number;
  readonly #watchMs: number;
  readonly #connections: () => Iterable<readonly [Socket, Network]>;
  readonly #sliced = new WeakSet<Socket>();
  /** Connections that wait for a slice, in the order of their arrival. */
  #waiting: SlicedConnection[] = [];
  #slicingUntil = 0;
  #iteration = 0;
  /** Time of the first request or slice of this event-loop iteration; undefined before. */
  #began: number | undefined;
  /** The network with the most requests in this iteration. */
  #burstNetwork: Network | undefined;
  #burstAt = Number.NEGATIVE_INFINITY;
  /** True if this iteration accepted a connection. Each iteration accepts one, and others may wait for it. */
  #hasAccepted = false;
  /** The connection whose bytes the parser processed last. */
  #last: Socket | undefined;
  /** Time of the last of several requests or chunks of one connection in a row; undefined if there was only one. */
  #lastAt: number | undefined;
  /** Time in ms that the parser took in this iteration for such requests and chunks. */
  #moreMs = 0;
  /** Number of slices of waiting connections that were parsed. */
  #slices = 0;
  /** Time from which connections that sent more than a slice continue. */
  #moreFrom = 0;
  #isMorePlanned = false;
  /** True if connections were closed since the last check of the waiting ones. */
  #hasClosed = false;

  /** @param connections all connections, each with its network */
  constructor(
    { parsingMs = maxParsingMs, parsingSliceUs = parsingSlice, parsingWatchMs = parsingWatch }: Limits,
    connections: () => Iterable<readonly [Socket, Network]>,
  ) {
    this.#parsingMs = parsingMs;
    this.#sliceMs = parsingSliceUs / 1_000;
    this.#watchMs = parsingWatchMs;
    this.#connections = connections;
  }

  /** Adds a new connection. */
  add(socket: Socket, network: Network): void {
    if (this.#slicingUntil === 0 || performance.now() >= this.#slicingUntil) return;
    this.#beginIteration();
    this.#hasAccepted = true;
    this.#slice(socket, network);
  }

  /** Counts a request head or a chunk of a body that the parser returned. Returns the time. */
  note(socket: Socket, network: Network): number {
    const now = this.#beginIteration();
    if (network.iteration !== this.#iteration) network.requests = 0;
    network.iteration = this.#iteration;
    network.requests++;
    if (this.#burstNetwork === undefined || network.requests > this.#burstNetwork.requests)
      this.#burstNetwork = network;
    if (socket !== this.#last) {
      this.#last = socket;
      this.#lastAt = undefined;
      return now;
    }
    if (this.#lastAt !== undefined) this.#moreMs += now - this.#lastAt;
    this.#lastAt = now;
    if (this.#moreMs >= this.#parsingMs && now >= this.#slicingUntil) this.#sliceAll(now);
    return now;
  }

  /** Reports that a connection was closed. Its waiting bytes are released after this iteration. */
  noteClosed(): void {
    this.#hasClosed = true;
  }

  /** Schedules the end of this iteration, once. Returns the time. */
  #beginIteration(): number {
    const now = performance.now();
    if (this.#began !== undefined) return now;
    this.#began = now;
    setImmediate(this.#endIteration);
    return now;
  }

  /** Measures how long the iteration took, and continues with the waiting connections. */
  readonly #endIteration = (): void => {
    const now = performance.now();
    const took = now - (this.#began ?? now);
    if (took >= this.#parsingMs && this.#burstNetwork !== undefined && this.#isBurst(this.#burstNetwork)) {
      if (now - this.#burstAt < burstMs) this.#sliceAll(now);
      this.#burstAt = now;
    }
    this.#iteration++;
    this.#began = undefined;
    this.#burstNetwork = undefined;
    this.#last = undefined;
    this.#lastAt = undefined;
    this.#moreMs = 0;
    const accepted = this.#hasAccepted;
    this.#hasAccepted = false;
    if (this.#waiting.length === 0) return;
    if (accepted && this.#iteration % iterationsPerSlice !== 0) {
      this.#beginIteration();
      return;
    }
    if (this.#hasClosed) this.#waiting = this.#waiting.filter(isThere);
    this.#hasClosed = false;
    this.#goOn(now, accepted ? now : now + this.#sliceMs, now >= this.#moreFrom);
  };

  #isBurst(network: Network): boolean {
    if (network.isProxy || network.requests < burstRequests) return false;
    for (const [, other] of this.#connections()) if (other !== network) return true;
    return false;
  }

  #sliceAll(now: number): void {
    this.#slicingUntil = now + this.#watchMs;
    for (const [socket, network] of this.#connections()) if (this.#slice(socket, network)) noteUnread(socket);
  }

  /**
   * Reads a connection in slices until it closes, because Node's parser does not take it back. Returns false for a
   * connection that is already read in slices, or is not read at all.
   */
  #slice(socket: Socket, network: Network): boolean {
    const [parse] = socket.listeners('data') as Parse[];
    if (parse === undefined || this.#sliced.has(socket) || socket.destroyed || socket.writableEnded)
      return false;
    this.#sliced.add(socket);
    const connection: SlicedConnection = {
      socket,
      network,
      parse,
      isWaiting: false,
      left: 0,
      hasSlice: false,
    };
    socket.removeListener('data', parse);
    socket
      .on('data', (data: Buffer) => this.#take(connection, data))
      .on('resume', () => {
        if (connection.isWaiting) socket.pause(); // a request asked for more of its body
      });
    return true;
  }

  /**
   * Parses a slice of the data that arrived, if it was requested, or if there is time and no other connection of its
   * network waits. Returns the rest to the socket's buffer.
   */
  #take(connection: SlicedConnection, data: Buffer): void {
    const { socket, network, parse } = connection;
    if (socket.writableEnded) return; // the connection has ended
    const now = this.#beginIteration();
    const isFirst = network.parsedIn !== this.#iteration || now - (this.#began ?? now) < this.#sliceMs;
    const mayParse = connection.hasSlice || (!connection.isWaiting && network.waiting === 0 && isFirst);
    const slice = sliceOf(data);
    const rest = mayParse ? data.subarray(slice.length) : data;
    if (rest.length > 0) {
      socket.pause();
      socket.unshift(rest);
    }
    if (mayParse) {
      network.parsedIn = this.#iteration;
      parse.call(socket, slice);
    }
    if (rest.length === 0) return;
    if (connection.isWaiting) connection.left = socket.readableLength;
    else this.#wait(connection);
  }

  #wait(connection: SlicedConnection): void {
    connection.isWaiting = true;
    connection.left = connection.socket.readableLength;
    connection.network.waiting++;
    this.#waiting.push(connection);
    this.#beginIteration();
  }

  /** Schedules an iteration for when connections that sent more than a slice may continue. */
  #planMore(ms: number): void {
    if (this.#isMorePlanned) return;
    this.#isMorePlanned = true;
    setTimeout(
      () => {
        this.#isMorePlanned = false;
        this.#beginIteration();
      },
      Math.max(1, ms),
    );
  }

  /** Parses slices until `until`, at least one. Each slice waits until the work of the slice before it has settled. */
  readonly #goOn = (start: number, until: number, withMore: boolean): void => {
    const next = this.#choose(withMore);
    if (next !== undefined) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      if (isThere(next)) this.#parseNext(next);
      if (performance.now() < until) {
        queueMicrotask(() => process.nextTick(this.#goOn, start, until, withMore));
        return;
      }
    }
    if (this.#waiting.length === 0) return;
    const now = performance.now();
    this.#slicingUntil = now + this.#watchMs;
    if (withMore) this.#moreFrom = now + (now - start) * othersShare;
    if (this.#waiting.some(isLast)) this.#beginIteration();
    else this.#planMore(this.#moreFrom - now);
  };

  /**
   * Chooses the network that has had no slice for longest. Alternately chooses its connection with the fewest bytes and
   * the one that has waited longest. Returns undefined if all sent more than a slice and may not continue yet.
   */
  #choose(withMore: boolean): SlicedConnection | undefined {
    const byAge = withMore && this.#slices % 2 === 1;
    let best: SlicedConnection | undefined;
    for (const connection of this.#waiting) {
      const { network } = connection;
      if (!withMore && !isLast(connection)) continue;
      if (best === undefined || network.served < best.network.served) best = connection;
      else if (network === best.network && !byAge && connection.left < best.left) best = connection;
    }
    return best;
  }

  /** Parses the next slice of a connection that waited. */
  #parseNext(connection: SlicedConnection): void {
    const { socket, network } = connection;
    network.waiting--;
    network.served = ++this.#slices;
    if (socket.writableNeedDrain) {
      socket.once('drain', () => this.#wait(connection));
      return;
    }
    connection.hasSlice = true;
    socket.read(Math.min(sliceBytes, socket.readableLength)); // which emits it as data
    connection.hasSlice = false;
    if (socket.readableLength > 0 && !socket.destroyed && !socket.writableEnded) {
      this.#wait(connection);
      return;
    }
    connection.isWaiting = false;
    socket.resume();
  }
}

/** Returns true if a waiting connection is still to be read. Otherwise it is released. */
function isThere(connection: SlicedConnection): boolean {
  const { socket, network } = connection;
  if (!socket.destroyed && !socket.writableEnded) return true;
  connection.isWaiting = false;
  network.waiting--;
  socket.resume();
  return false;
}

/**
 * Restarts reading of a connection that was detached from Node's parser, once it is resumed. The parser reads without
 * the stream, so the stream assumes that a read is pending and would not start another.
 */
export function noteUnread(socket: Socket): void {
  socket.push(''); // an empty chunk clears the pending read
}

/**
 * Returns the first slice of the data. It ends after the second request head at the latest. Each parsed request costs
 * time when its client disconnects, and hundreds of clients may disconnect at the same moment.
 */
function sliceOf(data: Buffer): Buffer {
  const most = data.subarray(0, sliceBytes);
  const first = most.indexOf(endOfHead);
  const second = first < 0 ? -1 : most.indexOf(endOfHead, first + endOfHead.length);
  return second < 0 ? most : most.subarray(0, second + endOfHead.length);
}

/** Returns true if one slice is enough for the rest of the connection's data. */
function isLast({ left }: SlicedConnection): boolean {
  return left <= sliceBytes;
}
