import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import type { Limits } from '../../mappings/contract/limits.ts';
import { countPieces, gatherBody } from './body.ts';
import { isLoopback, networkOf } from './networks.ts';
import { NewConnections } from './new-connections.ts';
import { RefusedConnections } from './refused-connections.ts';
import { type Network, newNetwork, RequestSlicer } from './request-slicer.ts';
import { cutOff, endWithCare, isBodyFlowing, readThroughStream } from './sockets.ts';
import { createWaitingRequests } from './waiting-requests.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Rejects what arrived on a connection. `under` is the pending reply if the error is in the body of a request. */
export type Refuse = (under: ServerResponse | undefined) => void;

/** A network, and the number of its connections. */
interface CountedNetwork extends Network {
  readonly name: string;
  count: number;
}

/** The state of a connection. */
interface Entry {
  readonly network: CountedNetwork;
  /** Number of requests so far. */
  requests: number;
  /** Time when it was moved to the end of the order for a request, in ms. */
  movedAt: number;
  /** The reply to the last request. Replies are sent in order: when this one is sent, all are. */
  latest: ServerResponse | undefined;
  /** Number of requests that wait for an earlier one. */
  waiting: number;
  /** True while the connection is not read. */
  isHeld: boolean;
  /** True while it is not read because it is one of many new ones, or because a call was rejected. */
  isPaused: boolean;
  /** True once it was not read. */
  canHold: boolean;
  refuse: Refuse | undefined;
  /** Called if a request that exceeded its time takes as long again after reading resumes. */
  late: (() => void) | undefined;
  /** Bytes that had arrived at the last check of a closing server. */
  bytesSeen: number;
}

/** Resolution of the order of last requests, in ms. */
const orderMs = 10;

/** Maximum number of requests on one connection of a caller. */
export const maxRequestsPerConnection = 1_000;

/** Time in ms, accurate to a second, until a connection that accepts no bytes of a reply is closed. */
export const maxWriteIdleMs = 30_000;

/** Maximum number of pipelined requests that wait, on all connections. Each connection may always have one. */
export const maxPipelined = 4_096;

/** Maximum number of pipelined requests in progress. A request counts for 50 ms. */
export const maxPipelinedInProgress = 4;

/** Time until the headers of a request are complete, in ms. */
export const maxHeadersMs = 10_000;

/** Percentage of connections that are closed at a time to free capacity. */
const givingWayPercent = 1;
/** Time in ms until idle connections are searched again if there were none. */
const fullMs = 10;
/** Interval in ms of a closing server's checks of its connections. */
const lookMs = 50;

/** The clients' connections of one server, within limits. */
export class Connections {
  readonly #limits: Limits;
  readonly #isProxy: (address: string) => boolean;
  /** Ordered by the time of the last request (or of connecting), with a resolution of `orderMs`. */
  readonly #entries = new Map<Socket, Entry>();
  readonly #networks = new Map<string, CountedNetwork>();
  readonly #reading: RequestSlicer;
  readonly #new = new NewConnections((socket) => this.#endPause(socket));
  readonly #refused = new RefusedConnections((socket) => this.#endPause(socket));
  readonly #beginWaiting: ReturnType<typeof createWaitingRequests>;
  #waiting = 0;
  #fullUntil = 0;

  /** @param isProxy returns true for the address of a proxy, which may open any number of connections */
  constructor(limits: Limits, isProxy: (address: string) => boolean) {
    this.#limits = limits;
    this.#isProxy = isProxy;
    this.#reading = new RequestSlicer(limits, () => withNetworks(this.#entries));
    this.#beginWaiting = createWaitingRequests(limits.pipelinedAtOnce ?? maxPipelinedInProgress);
  }

  /** Adds a new connection. If there are too many, it closes idle ones, else the new one. */
  add(socket: Socket): void {
    const address = socket.remoteAddress;
    if (address === undefined) return; // closed already
    const { connections, connectionsPerAddress } = this.#limits;
    const name = networkOf(address);
    const network = this.#networks.get(name) ?? { name, count: 0, ...newNetwork(this.#isProxy(address)) };
    const isFull = network.count >= connectionsPerAddress && !network.isProxy && !isLoopback(address);
    if (isFull || (this.#entries.size >= connections && !this.#closeIdle())) {
      socket.destroy();
      return;
    }
    this.#networks.set(name, network);
    network.count++;
    const entry: Entry = {
      network,
      requests: 0,
      movedAt: Number.NEGATIVE_INFINITY,
      latest: undefined,
      waiting: 0,
      isHeld: false,
      isPaused: false,
      canHold: false,
      refuse: undefined,
      late: undefined,
      bytesSeen: 0,
    };
    this.#entries.set(socket, entry);
    owners.set(socket, this);
    socket.once('close', () => {
      this.#forget(socket);
      this.#reading.noteClosed();
    });
    this.#reading.add(socket, network);
    if (this.#new.add(socket)) pause(socket, entry);
  }

  /**
   * Stops reading a connection for a short time, if many calls are rejected. Does nothing for a proxy, whose connections
   * carry the calls of many callers.
   *
   * @param socket the connection of a rejected call
   */
  pace(socket: Socket): void {
    const entry = this.#entries.get(socket);
    if (entry === undefined || entry.network.isProxy || entry.isHeld || socket.writableEnded) return;
    if (this.#refused.add(socket)) pause(socket, entry);
  }

  /** Calls `handle` when the earlier replies on the connection are sent, which is usually at once. */
  begin(request: IncomingMessage, response: ServerResponse, handle: Handle): void {
    const { socket } = request;
    const entry = this.#entries.get(socket);
    if (entry === undefined) return; // closed to free capacity
    readThroughStream(socket);
    this.#noteRequest(socket, entry);
    if (this.#new.isBurst && !entry.network.isProxy && !entry.isHeld) {
      this.#new.hold(socket);
      pause(socket, entry);
    }
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    if (isChunked) countPieces(request, () => this.#reading.note(socket, entry.network));
    const { requestsPerSocket = maxRequestsPerConnection } = this.#limits;
    if (++entry.requests >= requestsPerSocket) {
      if (entry.requests > requestsPerSocket) {
        this.#waitInLine(socket, entry);
        return; // no request after the last one is handled
      }
      response.shouldKeepAlive = false;
    }
    const before = entry.latest;
    entry.latest = response;
    // Node assigns the socket to a reply when those before it are sent
    if (response.socket !== null) {
      handle(request, response);
      return;
    }
    // over TLS a client may have its reply before Node knows that it is sent: its next request is not pipelined
    const isAhead = entry.waiting > 0 || before?.writableEnded === false;
    this.#waitInLine(socket, entry);
    const release = isChunked ? gatherBody(request) : undefined;
    const take = (): void => {
      release?.();
      this.#serveNext(entry, request, response, handle);
    };
    response.once('socket', () =>
      setImmediate(() => (isAhead ? this.#beginWaiting(response, take) : take())),
    );
  }

  /**
   * Stops reading a connection, and calls `refuse` when the pending replies are sent. Calls it at once if the error is
   * in the body of the request in progress, and never if the connection ends first.
   */
  refuse(socket: Socket, refuse: Refuse): void {
    const entry = this.#entries.get(socket);
    if (entry === undefined || entry.refuse !== undefined || socket.writableEnded) return;
    entry.refuse = refuse;
    hold(socket, entry);
    const { latest } = entry;
    if (latest === undefined || latest.writableFinished) refuse(undefined);
    else if (latest.req.complete) latest.once('finish', () => refuse(undefined));
    else if (entry.waiting === 0) refuse(latest);
  }

  /**
   * Returns true if a slow request is not the client's fault, as its connection is not being read. Calls `late` if the
   * request takes too long again after reading resumes.
   */
  excuse(socket: Socket, late: () => void): boolean {
    const entry = this.#entries.get(socket);
    if (isBodyFlowing(socket)) return true;
    if (entry === undefined || (entry.waiting === 0 && !entry.isPaused)) return false;
    entry.late = late;
    return true;
  }

  count(): number {
    return this.#entries.size;
  }

  has(socket: Socket): boolean {
    return this.#entries.has(socket);
  }

  /** Sets a time limit on connections with clients that do not read their replies. Call this every second. */
  sweep(): void {
    const { writeIdleMs = maxWriteIdleMs } = this.#limits;
    for (const socket of this.#entries.keys()) {
      // Node restarts the time when the client takes some bytes, and sets its own limit when it has taken all
      if (socket.writableLength > 0 && socket.timeout !== writeIdleMs) socket.setTimeout(writeIdleMs);
    }
  }

  /**
   * Closes connections as their requests end, and idle ones after a short time, as a request may be on its way. Node's
   * own method counts a reply as sent when it is written. Returns the number of connections that were cut with a
   * request or a reply in progress.
   */
  async close(server: Server, withinMs: number): Promise<number> {
    await acceptWaiting(server);
    const entries = this.#entries;
    return new Promise((resolve) => {
      let cut = 0;
      const timer = setTimeout(() => {
        for (const [socket, entry] of entries) {
          if (isBusy(entry)) cut++;
          socket.destroy();
        }
      }, withinMs);
      // reads the data that has arrived first, in case the timer was late
      const often = setInterval(() => setImmediate(closeIdle, entries), lookMs);
      TcpServer.prototype.close.call(server, () => {
        clearTimeout(timer);
        clearInterval(often);
        server.close(); // ends Node's timer for slow requests, which ran until now
        settle();
      });
      // sockets report that they are closed a little later than the server
      const settle = (): void => {
        setImmediate(() => (entries.size === 0 ? resolve(cut) : settle()));
      };
      for (const [socket, entry] of entries) {
        entry.bytesSeen = socket.bytesRead;
        if (!socket.writableEnded) endWithCare(socket);
      }
    });
  }

  #noteRequest(socket: Socket, entry: Entry): void {
    const now = this.#reading.note(socket, entry.network);
    if (now - entry.movedAt <= orderMs) return;
    entry.movedAt = now;
    this.#entries.delete(socket);
    this.#entries.set(socket, entry);
  }

  /** Stops reading a connection until the requests that it has sent are begun. */
  #waitInLine(socket: Socket, entry: Entry): void {
    const { pipelined = maxPipelined } = this.#limits;
    this.#waiting++;
    entry.waiting++;
    if (this.#waiting > pipelined && entry.waiting > 1) cutOff(socket);
    else if (entry.waiting === 1) hold(socket, entry);
  }

  #serveNext(entry: Entry, request: IncomingMessage, response: ServerResponse, handle: Handle): void {
    if (response.destroyed) return; // already counted
    this.#waiting--;
    entry.waiting--;
    if (entry.refuse !== undefined) {
      if (!request.complete) {
        entry.refuse(response);
        return;
      }
    } else if (entry.waiting === 0 && !entry.isPaused) this.#readOn(request.socket, entry);
    handle(request, response);
  }

  #endPause(socket: Socket): void {
    const entry = this.#entries.get(socket);
    if (entry?.isPaused !== true) return;
    entry.isPaused = false;
    if (entry.waiting === 0 && entry.refuse === undefined) this.#readOn(socket, entry);
  }

  #readOn(socket: Socket, entry: Entry): void {
    entry.isHeld = false;
    socket.resume();
    const { late, requests } = entry;
    if (late === undefined) return;
    entry.late = undefined;
    setTimeout(() => {
      const isHere = entry.requests > requests || entry.latest?.req.complete === false;
      if (!isHere && this.#entries.has(socket)) late();
    }, this.#limits.headersMs ?? maxHeadersMs).unref();
  }

  /** Closes the connections that were idle for longest. Returns false if there are none. */
  #closeIdle(): boolean {
    const now = performance.now();
    if (now < this.#fullUntil) return false;
    const count = Math.ceil((this.#limits.connections * givingWayPercent) / 100);
    const idle: Socket[] = [];
    for (const [socket, entry] of this.#entries) {
      if (!isBusy(entry)) idle.push(socket);
      if (idle.length === count) break;
    }
    for (const socket of idle) {
      this.#forget(socket);
      socket.destroy();
    }
    if (idle.length === 0) this.#fullUntil = now + fullMs;
    return idle.length > 0;
  }

  #forget(socket: Socket): void {
    const entry = this.#entries.get(socket);
    if (entry === undefined) return;
    this.#entries.delete(socket);
    this.#waiting -= entry.waiting;
    const { network } = entry;
    network.count--;
    if (network.count === 0) this.#networks.delete(network.name);
  }
}

/** Maximum time in ms that a closing server accepts further connections. */
const acceptingMs = 1_000;
/** Number of event-loop iterations without a new connection after which no connection is pending. */
const quietIterations = 3;

/**
 * Accepts the connections that are pending in the operating system, because closing the server resets them. Each
 * event-loop iteration accepts one.
 */
async function acceptWaiting(server: Server): Promise<void> {
  const until = performance.now() + acceptingMs;
  let quiet = 0;
  const noteAccepted = (): void => {
    quiet = 0;
  };
  server.on('connection', noteAccepted);
  while (quiet < quietIterations && performance.now() < until) {
    quiet++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', noteAccepted);
}

function* withNetworks(
  entries: ReadonlyMap<Socket, Entry>,
): Generator<readonly [Socket, Network], void, undefined> {
  for (const [socket, { network }] of entries) yield [socket, network];
}

/** Returns true if a request is in progress or its reply is not completely sent. */
function isBusy({ latest }: Entry): boolean {
  return latest !== undefined && !latest.writableFinished;
}

function closeIdle(entries: ReadonlyMap<Socket, Entry>): void {
  for (const [socket, entry] of entries) {
    // the operating system may hold a request of a paused connection
    if (entry.isPaused || isBusy(entry) || socket.writableEnded) continue;
    if (socket.bytesRead === entry.bytesSeen) socket.destroy();
    entry.bytesSeen = socket.bytesRead;
  }
}

/**
 * Stops reading a connection. The parser still processes the data that was read. It would then resume the connection,
 * as it does whenever a request is taken from it.
 */
function hold(socket: Socket, entry: Entry): void {
  if (entry.isHeld) return;
  entry.isHeld = true;
  socket.pause();
  if (entry.canHold) return;
  entry.canHold = true;
  socket.on('resume', () => {
    if (!entry.isHeld) return;
    socket.pause();
    socket.emit('pause'); // a paused socket does not emit this itself, and Node's server stops reading because of it
  });
  endWithCare(socket);
}

function pause(socket: Socket, entry: Entry): void {
  entry.isPaused = true;
  hold(socket, entry);
}

/** The connections that a socket belongs to. */
const owners = new WeakMap<Socket, Connections>();

/**
 * Slows down the connection of a call that was rejected for lack of capacity. Does nothing in an embedding program, which
 * has its own server.
 */
export function paceRefused(socket: Socket): void {
  owners.get(socket)?.pace(socket);
}
