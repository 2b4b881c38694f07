import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Limits } from '../../mappings/contract/limits.ts';
import { dropPiece } from '../upstream/collector.ts';
import { countPieces, gatherBody } from './body.ts';
import { createLeaving } from './leaving.ts';
import { createReadingTurns, type Network, newNetwork, noteUnread } from './reading-turns.ts';
import { createWaitingRequests } from './waiting-requests.ts';

/** The callers' connections of one server. */
export interface Connections {
  /** Takes note of a new one, for which idle ones give way where there are too many, or ends it. */
  readonly add: (socket: Socket) => void;
  /** Has a request handled once the replies to those before it on its connection are out, which is usually now. */
  readonly begin: (request: IncomingMessage, response: ServerResponse, handle: Handle) => void;
  /**
   * Reads a connection no further and refuses what came on it, once the replies that are due are out; at once where what
   * is wrong is the body of the request under way. Never where the connection ends before.
   */
  readonly refuse: (socket: Socket, refuse: Refuse) => void;
  /**
   * Whether a request that takes too long to come isn't late by its caller's doing, as its connection isn't read. `late`
   * is called when it takes too long from when it is read again.
   */
  readonly excuse: (socket: Socket, late: () => void) => boolean;
  readonly count: () => number;
  /** Whether a connection is one of them. */
  readonly knows: (socket: Socket) => boolean;
  /** Looks at all of them: one whose caller doesn't take what it is sent gets a time limit. For every second or so. */
  readonly sweep: () => void;
  /** Closes the server as requests end; gives how many connections were cut with a request or a reply under way. */
  readonly close: (server: Server, withinMs: number) => Promise<number>;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Refuses what came on a connection; `under` is the reply that is due to it, where it is the body of a request. */
export type Refuse = (under: ServerResponse | undefined) => void;

/** A network of which so many connections are there. */
interface CountedNetwork extends Network {
  readonly name: string;
  count: number;
}

/** What is known of a connection. */
interface Entry {
  readonly network: CountedNetwork;
  /** Requests so far. */
  requests: number;
  /** When it was put behind all others for one, in ms as all times. */
  movedAt: number;
  /** The reply to the last of them. Replies go out in order: once this one is out, all are. */
  latest: ServerResponse | undefined;
  /** Requests that aren't begun, since one before them is under way. */
  waiting: number;
  /** Whether it isn't read for now. */
  isHeld: boolean;
  /** Whether it was ever so. */
  canHold: boolean;
  refuse: Refuse | undefined;
  /** What is to be done when a request whose time is over takes as long again from when it is read on. */
  late: (() => void) | undefined;
  /** Bytes that had come when it was last looked at by a server that closes. */
  bytesSeen: number;
}

/** So well, in ms, is known which connection had a request last: to put one behind the others takes 0.2 µs. */
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

/** How many of a hundred connections give way at a time. */
const givingWayPercent = 1;
/** So many more, for each that there may be, gave way and are still to be closed. */
const leavingShare = 0.1;
/** How long, in ms, nobody looks for connections that could give way when there were none. */
const fullMs = 10;
/** How often, in ms, a server that closes looks at its connections. */
const lookMs = 50;

/**
 * The connections of a server, within limits. One function, as all that it gives works on the same few sets.
 *
 * @param isProxy whether an address is that of a proxy before many callers, from which any number of connections may come
 */
export function createConnections(limits: Limits, isProxy: (address: string) => boolean): Connections {
  /** In the order in which connections came or had a request, but for `orderMs`. */
  const entries = new Map<Socket, Entry>();
  const networks = new Map<string, CountedNetwork>();
  const {
    requestsPerSocket = maxRequestsPerConnection,
    writeIdleMs = maxWriteIdleMs,
    pipelined = maxPipelined,
    headersMs = maxHeadersMs,
  } = limits;
  const reading = createReadingTurns(limits, () => withNetworks(entries));
  const beginWaiting = createWaitingRequests(limits.pipelinedAtOnce ?? maxPipelinedInProgress);
  const leaving = createLeaving(limits.connections * leavingShare);
  let waiting = 0;
  let fullUntil = 0;

  return {
    add: (socket) => {
      leaving.noteAccepted();
      const address = socket.remoteAddress;
      if (address === undefined) return; // gone already
      const name = networkOf(address);
      const network = networks.get(name) ?? { name, count: 0, ...newNetwork(isProxy(address)) };
      const isFull =
        network.count >= limits.connectionsPerAddress && !network.isProxy && !isLoopback(address);
      if (isFull || (entries.size >= limits.connections && !makeRoom())) {
        socket.destroy();
        return;
      }
      networks.set(name, network);
      network.count++;
      entries.set(socket, {
        network,
        requests: 0,
        movedAt: Number.NEGATIVE_INFINITY,
        latest: undefined,
        waiting: 0,
        isHeld: false,
        canHold: false,
        refuse: undefined,
        late: undefined,
        bytesSeen: 0,
      });
      socket.once('close', () => {
        forget(socket);
        reading.noteClosed();
      });
      reading.add(socket, network);
    },
    begin: (request, response, handle) => {
      const { socket } = request;
      const entry = entries.get(socket);
      if (entry === undefined) return; // it gave way
      readWholeBehindReply(socket);
      const now = reading.note(socket, entry.network);
      if (now - entry.movedAt > orderMs) {
        entry.movedAt = now;
        entries.delete(socket);
        entries.set(socket, entry);
      }
      const isChunked = request.headers['transfer-encoding'] !== undefined;
      if (isChunked) countPieces(request, () => reading.note(socket, entry.network));
      if (++entry.requests >= requestsPerSocket) {
        if (entry.requests > requestsPerSocket) {
          waitInLine(socket, entry);
          return; // behind the last one
        }
        response.shouldKeepAlive = false;
      }
      const before = entry.latest;
      entry.latest = response;
      // Node gives a reply its socket once those before it are out
      if (response.socket !== null) {
        handle(request, response);
        return;
      }
      // over TLS a caller may have its reply before Node knows that it is out: the next request isn't sent ahead then
      const isAhead = entry.waiting > 0 || before?.writableEnded === false;
      waitInLine(socket, entry);
      const release = isChunked ? gatherBody(request) : undefined;
      const take = (): void => {
        release?.();
        takeTurn(entry, request, response, handle);
      };
      response.once('socket', () => setImmediate(() => (isAhead ? beginWaiting(response, take) : take())));
    },
    refuse: (socket, refuse) => {
      const entry = entries.get(socket);
      if (entry === undefined || entry.refuse !== undefined || socket.writableEnded) return;
      entry.refuse = refuse;
      hold(socket, entry);
      const { latest } = entry;
      if (latest === undefined || latest.writableFinished) refuse(undefined);
      else if (latest.req.complete) latest.once('finish', () => refuse(undefined));
      else if (entry.waiting === 0) refuse(latest);
    },
    excuse: (socket, late) => {
      const entry = entries.get(socket);
      if (flowing.has(socket)) return true;
      if (entry === undefined || entry.waiting === 0) return false;
      entry.late = late;
      return true;
    },
    count: () => entries.size,
    knows: (socket) => entries.has(socket),
    sweep: () => {
      for (const socket of entries.keys()) {
        // Node starts the time again whenever some of it was taken, and puts its own in when all of it was
        if (socket.writableLength > 0 && socket.timeout !== writeIdleMs) socket.setTimeout(writeIdleMs);
      }
    },
    close,
  };

  /** Reads no more requests of a connection until those that it has brought are begun. */
  function waitInLine(socket: Socket, entry: Entry): void {
    waiting++;
    entry.waiting++;
    if (waiting > pipelined && entry.waiting > 1) cutOff(socket);
    else if (entry.waiting === 1) hold(socket, entry);
  }

  function takeTurn(entry: Entry, request: IncomingMessage, response: ServerResponse, handle: Handle): void {
    if (response.destroyed) return; // counted by then
    waiting--;
    entry.waiting--;
    if (entry.refuse !== undefined) {
      if (!request.complete) {
        entry.refuse(response);
        return;
      }
    } else if (entry.waiting === 0) readOn(request.socket, entry);
    handle(request, response);
  }

  function readOn(socket: Socket, entry: Entry): void {
    entry.isHeld = false;
    socket.resume();
    const { late, requests } = entry;
    if (late === undefined) return;
    entry.late = undefined;
    setTimeout(() => {
      const isHere = entry.requests > requests || entry.latest?.req.complete === false;
      if (!isHere && entries.has(socket)) late();
    }, headersMs).unref();
  }

  /** Closes the connections that had nothing to do for longest; false when there are none. */
  function makeRoom(): boolean {
    const now = performance.now();
    if (now < fullUntil) return false;
    const count = Math.ceil((limits.connections * givingWayPercent) / 100);
    const idle: Socket[] = [];
    for (const [socket, entry] of entries) {
      if (!isBusy(entry)) idle.push(socket);
      if (idle.length === count) break;
    }
    for (const socket of idle) {
      forget(socket);
      leaving.add(socket);
    }
    if (idle.length === 0) fullUntil = now + fullMs;
    return idle.length > 0;
  }

  function forget(socket: Socket): void {
    const entry = entries.get(socket);
    if (entry === undefined) return;
    entries.delete(socket);
    waiting -= entry.waiting;
    const { network } = entry;
    network.count--;
    if (network.count === 0) networks.delete(network.name);
  }

  /**
   * Closes connections as their requests end, and soon those on which nothing comes: soon and not at once, as a request
   * may be on its way in. Node's own way counts a reply as out when it is written, not when it is sent.
   */
  async function close(server: Server, withinMs: number): Promise<number> {
    await acceptWaiting(server);
    return new Promise((resolve) => {
      let cut = 0;
      const timer = setTimeout(() => {
        for (const [socket, entry] of entries) {
          if (isBusy(entry)) cut++;
          socket.destroy();
        }
      }, withinMs);
      // behind the reading of what has come, where the clock was late
      const often = setInterval(() => setImmediate(closeIdle, entries), lookMs);
      TcpServer.prototype.close.call(server, () => {
        clearTimeout(timer);
        clearInterval(often);
        server.close(); // ends Node's clock for slow requests, which went on until now
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
}

/** How long, in ms, a server that closes accepts those that come meanwhile. */
const acceptingMs = 1_000;
/** So many turns of the event loop that accept nothing say that nobody waits. */
const quietTurns = 3;

/**
 * Has a server accept the connections that the system has for it: to close it resets them. Each turn of the event loop
 * accepts one.
 */
async function acceptWaiting(server: Server): Promise<void> {
  const until = performance.now() + acceptingMs;
  let quiet = 0;
  const noteAccepted = (): void => {
    quiet = 0;
  };
  server.on('connection', noteAccepted);
  while (quiet < quietTurns && performance.now() < until) {
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

/** Whether a request is under way, or its reply isn't all sent. */
function isBusy({ latest }: Entry): boolean {
  return latest !== undefined && !latest.writableFinished;
}

function closeIdle(entries: ReadonlyMap<Socket, Entry>): void {
  for (const [socket, entry] of entries) {
    if (isBusy(entry) || socket.writableEnded) continue;
    if (socket.bytesRead === entry.bytesSeen) socket.destroy();
    entry.bytesSeen = socket.bytesRead;
  }
}

/**
 * Has Node's parser get what comes over TLS from the stream, told of a request as it comes while a reply before it waits for its
 * caller. The parser takes what is decrypted beside the stream otherwise, also of a connection that Node has paused just now for
 * that reply: it would refuse the rest of what was read with the request's head, a good body, as malformed. From the start it
 * would be 7 % of a small call over TLS.
 */
export function readWholeBehindReply(socket: Socket): void {
  if (!socket.writableNeedDrain || !(socket instanceof TLSSocket)) return;
  const listener = (): void => {};
  socket.on('data', listener).off('data', listener); // Node leaves it to the stream once anybody listens
  noteUnread(socket);
}

/**
 * Stops reading a connection. What has been read is parsed to its end all the same; then Node's parser would read on, as
 * it does whenever a request is taken from it.
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
    socket.emit('pause'); // which a socket that is paused already doesn't emit: Node's server stops reading by it
  });
  endWithCare(socket);
}

/**
 * Destroys a connection amid what was read of it, which may hold thousands of requests that the parser makes all the same:
 * they are let go of when it has, and not when the system has closed the connection and others have done the same.
 */
function cutOff(socket: Socket): void {
  if (socket.destroyed) return;
  socket.destroy();
  process.nextTick(() => socket.emit('close'));
}

/** Has a connection ended gently where Node would close it as soon as its last reply is sent. */
export function endWithCare(socket: Socket): void {
  socket.destroySoon = () => endGently(socket);
}

const flowing = new WeakSet<Socket>();

/** Says whether a body flows through that comes on a connection: it has time limits of its own, other than Node's. */
export function bodyFlows(socket: Socket, flows: boolean): void {
  if (flows) flowing.add(socket);
  else flowing.delete(socket);
}

/** How long, in ms, a connection that has had its last reply is read. */
const lingerMs = 2_000;

/**
 * Ends a connection when all is sent, and reads what comes until its caller ends it too: a connection that is closed on
 * bytes that nobody read is reset, and what its caller hasn't taken is lost.
 */
export function endGently(socket: Socket): void {
  if (socket.writableEnded) return;
  // from Node's parser to nobody
  socket.removeAllListeners('data').removeAllListeners('resume');
  // what is read away by the megabyte would have V8 collect again and again
  socket.on('error', () => {}).on('data', dropPiece);
  noteUnread(socket);
  socket.end(() => {
    if (socket.destroyed) return;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  });
  socket.resume();
}

/** Whether an address is this machine's own: a proxy or a person on it, never a stranger. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

/**
 * What is counted as one address: an IPv4 address, mapped to IPv6 or not, and the first 64 bits of an IPv6 address, of
 * which every household has all the rest (RFC 6177).
 *
 * @param count how many groups of 16 bits of an IPv6 address are kept
 */
export function networkOf(address: string, count = 4): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [before = '', after] = (address.split('%')[0] ?? '').split('::');
  const groups = before === '' ? [] : before.split(':');
  if (after !== undefined) {
    const last = after === '' ? [] : after.split(':');
    const length = last.length + (after.includes('.') ? 1 : 0); // an IPv4 address at the end is two groups
    groups.push(...Array<string>(8 - groups.length - length).fill('0'), ...last);
  }
  return groups
    .slice(0, count)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
