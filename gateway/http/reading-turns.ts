import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Limits } from '../../mappings/contract/limits.ts';

/**
 * Keeps what callers send from holding the event loop. Node's parser takes all that a read gives, 64 KiB of each connection,
 * before anything else has its turn: ten thousand chunks of one byte, or two thousand requests in a row, are some 20 ms of it,
 * and so are three hundred requests that come at once. So once more of the kind behind the first of a connection has taken
 * `parsingMs` of a turn, or turns with a crowd of requests from one network take so long while others are connected, what comes
 * on all connections goes to the parser in slices, for `parsingSliceUs` of each turn, and so does what comes on new ones until
 * `parsingWatchMs` after it was last too much. Networks have their slices in turn, so that a caller doesn't wait behind the crowd
 * of another; a connection that sent more than a slice waits behind those that sent less, and all of these together leave most
 * of the time to everybody else. It costs a small call some 5 µs, which is why it isn't done all the time.
 */
export interface ReadingTurns {
  /** Takes note of a new connection. */
  readonly add: (socket: Socket, network: Network) => void;
  /** Says that the parser gave something of a connection: the head of a request, or some pieces of a body; gives the time. */
  readonly note: (socket: Socket, network: Network) => number;
  /** Says that a connection is closed: what waits of it is let go of with this turn. */
  readonly noteClosed: () => void;
}

/** Connections that are counted as of one address. */
export interface Network {
  /** Whether it is a proxy's, which many callers come by: their requests are no crowd. */
  readonly isProxy: boolean;
  /** The turn in which it had a request last, and how many then. */
  turn: number;
  requests: number;
  /** The turn in which something of it was parsed as it came, while all are read in slices. */
  parsedIn: number;
  /** How many of its connections wait for a slice. */
  waiting: number;
  /** When one of them had a slice last, in slices of all so far. */
  served: number;
}

/** A network that had nothing so far. */
export function newNetwork(isProxy: boolean): Network {
  return { isProxy, turn: -1, requests: 0, parsedIn: -1, waiting: 0, served: 0 };
}

/** Bytes that the parser gets at a time: most requests are one slice, and the worst slices take half a millisecond. */
const sliceBytes = 2 * 1024;

const endOfHead = '\r\n\r\n';

/** Of so many turns that accept connections one parses a slice of those that wait. */
const acceptingTurns = 8;

/** For each ms of slices of those that sent more than one there are so many, at least, for all else. */
const othersShare = 3;

/** So many requests of one network within a turn are a crowd. */
const crowdRequests = 16;

/** In ms: two long turns with a crowd are no chance when they are no further apart. */
const crowdMs = 1_000;

/**
 * Time in ms that the HTTP parser takes in one event-loop iteration, for more than one request or many chunks of a
 * connection. After more, all connections are parsed in slices. 0: as soon as a connection has two requests.
 */
export const maxParsingMs = 5;

/** Time that slices take in one event-loop iteration, in µs. */
export const parsingSlice = 300;

/** Time in ms that new connections are parsed in slices after the last long iteration. */
export const parsingWatch = 10_000;

/** Node's own listener, which has the parser read what came. */
type Parse = (this: Socket, data: Buffer) => void;

/** A connection that is read in slices. What isn't parsed yet stays in the socket's own buffer, and so does its end. */
interface Lane {
  readonly socket: Socket;
  readonly network: Network;
  readonly parse: Parse;
  /** Whether it waits for a slice; it isn't read meanwhile. */
  isWaiting: boolean;
  /** Bytes of it that wait. */
  left: number;
  /** Whether what it gives is a slice that was asked for. */
  hasTurn: boolean;
}

/** @param connections all there are, each with its network */
export function createReadingTurns(
  { parsingMs = maxParsingMs, parsingSliceUs = parsingSlice, parsingWatchMs = parsingWatch }: Limits,
  connections: () => Iterable<readonly [Socket, Network]>,
): ReadingTurns {
  const parsingSliceMs = parsingSliceUs / 1_000;
  const lanes = new WeakSet<Socket>();
  /** Those that wait for a slice, in the order in which they came to wait. */
  let waiting: Lane[] = [];
  let slicingUntil = 0;
  let turn = 0;
  /** When this turn of the event loop had its first request or slice; undefined before. */
  let began: number | undefined;
  /** The network with the most requests in this turn. */
  let crowd: Network | undefined;
  let crowdedAt = Number.NEGATIVE_INFINITY;
  /** Whether this turn accepted a connection: each accepts one, and others may be waiting for it. */
  let hasAccepted = false;
  /** The connection of which the parser gave something last. */
  let last: Socket | undefined;
  /** When it gave more than one thing of it in a row; undefined where it didn't, as it is with callers who wait for replies. */
  let lastAt: number | undefined;
  /** What more took of this turn, in ms. */
  let moreMs = 0;
  /** So many slices were parsed of those that waited. */
  let slices = 0;
  /** When those that sent more than a slice go on. */
  let moreFrom = 0;
  let isMorePlanned = false;
  /** Whether connections were closed since those that wait were looked through. */
  let hasClosed = false;

  return {
    add: (socket, network) => {
      if (slicingUntil === 0 || performance.now() >= slicingUntil) return;
      beginTurn();
      hasAccepted = true;
      slice(socket, network);
    },
    note: (socket, network) => {
      const now = beginTurn();
      if (network.turn !== turn) network.requests = 0;
      network.turn = turn;
      network.requests++;
      if (crowd === undefined || network.requests > crowd.requests) crowd = network;
      if (socket !== last) {
        last = socket;
        lastAt = undefined;
        return now;
      }
      if (lastAt !== undefined) moreMs += now - lastAt;
      lastAt = now;
      if (moreMs >= parsingMs && now >= slicingUntil) sliceAll(now);
      return now;
    },
    noteClosed: () => {
      hasClosed = true;
    },
  };

  /** Plans this turn's end, once; gives the time. */
  function beginTurn(): number {
    const now = performance.now();
    if (began !== undefined) return now;
    began = now;
    setImmediate(endTurn);
    return now;
  }

  /** Looks how long the turn took, and goes on with those that wait. */
  function endTurn(): void {
    const now = performance.now();
    const took = now - (began ?? now);
    if (took >= parsingMs && crowd !== undefined && isCrowd(crowd)) {
      if (now - crowdedAt < crowdMs) sliceAll(now);
      crowdedAt = now;
    }
    turn++;
    began = undefined;
    crowd = undefined;
    last = undefined;
    lastAt = undefined;
    moreMs = 0;
    const accepted = hasAccepted;
    hasAccepted = false;
    if (waiting.length === 0) return;
    if (accepted && turn % acceptingTurns !== 0) {
      beginTurn();
      return;
    }
    if (hasClosed) waiting = waiting.filter(isThere);
    hasClosed = false;
    goOn(now, accepted ? now : now + parsingSliceMs, now >= moreFrom);
  }

  function isCrowd(network: Network): boolean {
    if (network.isProxy || network.requests < crowdRequests) return false;
    for (const [, other] of connections()) if (other !== network) return true;
    return false;
  }

  function sliceAll(now: number): void {
    slicingUntil = now + parsingWatchMs;
    for (const [socket, network] of connections()) if (slice(socket, network)) noteUnread(socket);
  }

  /**
   * Reads a connection in slices for as long as it lives: Node's parser doesn't take it back. False for one that is read so
   * already, or by nobody.
   */
  function slice(socket: Socket, network: Network): boolean {
    const [parse] = socket.listeners('data') as Parse[];
    if (parse === undefined || lanes.has(socket) || socket.destroyed || socket.writableEnded) return false;
    lanes.add(socket);
    const lane: Lane = { socket, network, parse, isWaiting: false, left: 0, hasTurn: false };
    socket.removeListener('data', parse);
    socket
      .on('data', (data: Buffer) => take(lane, data))
      .on('resume', () => {
        if (lane.isWaiting) socket.pause(); // a request asked for more of its body
      });
    return true;
  }

  /** What comes: a slice is parsed where it was asked for, or there is time and nobody of its network waits; the rest is put back. */
  function take(lane: Lane, data: Buffer): void {
    const { socket, network, parse } = lane;
    if (socket.writableEnded) return; // nobody reads it any more
    const now = beginTurn();
    const isFirst = network.parsedIn !== turn || now - (began ?? now) < parsingSliceMs;
    const mayParse = lane.hasTurn || (!lane.isWaiting && network.waiting === 0 && isFirst);
    const slice = sliceOf(data);
    const rest = mayParse ? data.subarray(slice.length) : data;
    if (rest.length > 0) {
      socket.pause();
      socket.unshift(rest);
    }
    if (mayParse) {
      network.parsedIn = turn;
      parse.call(socket, slice);
    }
    if (rest.length === 0) return;
    if (lane.isWaiting) lane.left = socket.readableLength;
    else wait(lane);
  }

  function wait(lane: Lane): void {
    lane.isWaiting = true;
    lane.left = lane.socket.readableLength;
    lane.network.waiting++;
    waiting.push(lane);
    beginTurn();
  }

  /** Has a turn once those that sent more may go on. */
  function planMore(ms: number): void {
    if (isMorePlanned) return;
    isMorePlanned = true;
    setTimeout(
      () => {
        isMorePlanned = false;
        beginTurn();
      },
      Math.max(1, ms),
    );
  }

  /** Parses slices while there is time, one at least, each once what the one before it began has gone as far as it can. */
  function goOn(start: number, until: number, withMore: boolean): void {
    const next = choose(withMore);
    if (next !== undefined) {
      waiting.splice(waiting.indexOf(next), 1);
      if (isThere(next)) parseNext(next);
      if (performance.now() < until) {
        queueMicrotask(() => process.nextTick(goOn, start, until, withMore));
        return;
      }
    }
    if (waiting.length === 0) return;
    const now = performance.now();
    slicingUntil = now + parsingWatchMs;
    if (withMore) moreFrom = now + (now - start) * othersShare;
    if (waiting.some(isLast)) beginTurn();
    else planMore(moreFrom - now);
  }

  /** Whether a connection that waits is still to be read; one that isn't is let go of. */
  function isThere(lane: Lane): boolean {
    const { socket, network } = lane;
    if (!socket.destroyed && !socket.writableEnded) return true;
    lane.isWaiting = false;
    network.waiting--;
    socket.resume();
    return false;
  }

  /**
   * Of the network that had a slice longest ago the connection with the least to parse, as whose caller sent one request, and
   * the one that came to wait first, in turn; undefined where all sent more than a slice and it isn't time for these.
   */
  function choose(withMore: boolean): Lane | undefined {
    const byAge = withMore && slices % 2 === 1;
    let best: Lane | undefined;
    for (const lane of waiting) {
      const { network } = lane;
      if (!withMore && !isLast(lane)) continue;
      if (best === undefined || network.served < best.network.served) best = lane;
      else if (network === best.network && !byAge && lane.left < best.left) best = lane;
    }
    return best;
  }

  /** Parses the next slice of a connection that waited. */
  function parseNext(lane: Lane): void {
    const { socket, network } = lane;
    network.waiting--;
    network.served = ++slices;
    if (socket.writableNeedDrain) {
      socket.once('drain', () => wait(lane));
      return;
    }
    lane.hasTurn = true;
    socket.read(Math.min(sliceBytes, socket.readableLength)); // which gives it as data
    lane.hasTurn = false;
    if (socket.readableLength > 0 && !socket.destroyed && !socket.writableEnded) {
      wait(lane);
      return;
    }
    lane.isWaiting = false;
    socket.resume();
  }
}

/**
 * Has a connection that was taken from Node's parser read again once it is resumed: the parser read it beside the stream, which
 * believes that it is being read. For one that was paused nobody would begin.
 */
export function noteUnread(socket: Socket): void {
  socket.push(''); // nothing came, so there is more to be asked for
}

/**
 * The first slice of what came: it ends behind a second head at the latest, or what looks like one. Each request that the
 * parser has begun takes time when its caller leaves, and callers may leave by the hundred in the same moment.
 */
function sliceOf(data: Buffer): Buffer {
  const most = data.subarray(0, sliceBytes);
  const first = most.indexOf(endOfHead);
  const second = first < 0 ? -1 : most.indexOf(endOfHead, first + endOfHead.length);
  return second < 0 ? most : most.subarray(0, second + endOfHead.length);
}

/** Whether a slice is all that is to be parsed of it. */
function isLast({ left }: Lane): boolean {
  return left <= sliceBytes;
}
