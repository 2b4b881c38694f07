import type { Socket } from 'node:net';
import type { Limits } from '../../mappings/contract/limits.ts';

/**
 * Keeps what callers send from holding the event loop. Node's parser takes all that a read gives, 64 KiB of each connection,
 * before anything else has its turn: ten thousand chunks of one byte, or two thousand requests in a row, are some 20 ms of it.
 * So once more of the kind behind the first of a connection has taken `parsingMs` of a turn, what comes on all connections goes
 * to the parser in slices, for `parsingSliceMs` of each turn, and so does what comes on new ones until `parsingWatchMs` after it
 * was last too much. A connection that sent more than a slice, as an attacker does, waits for its turn behind those that sent
 * less, and all of these together leave most of the time to everybody else. It costs a small call some 5 µs, which is why it
 * isn't done all the time.
 */
export interface ReadingTurns {
  /** Takes note of a new connection. */
  readonly add: (socket: Socket) => void;
  /** Says that the parser gave something of a connection: the head of a request, or some pieces of a body. */
  readonly note: (socket: Socket) => void;
}

/** Bytes that the parser gets at a time: most requests are one slice, and the worst slices take half a millisecond. */
const sliceBytes = 2 * 1024;

/** For each ms of slices of those that sent more than one there are so many, at least, for all else. */
const othersShare = 3;

/** Node's own listener, which has the parser read what came. */
type Parse = (this: Socket, data: Buffer) => void;

/** A connection that is read in slices. What isn't parsed yet stays in the socket's own buffer, and so does its end. */
interface Lane {
  readonly socket: Socket;
  readonly parse: Parse;
  /** Whether it waits for a turn; it isn't read meanwhile. */
  isWaiting: boolean;
  /** Whether what it gives is a slice that was asked for. */
  hasTurn: boolean;
}

/** @param sockets all connections there are */
export function createReadingTurns(
  { parsingMs, parsingSliceMs, parsingWatchMs }: Limits,
  sockets: () => Iterable<Socket>,
): ReadingTurns {
  const lanes = new WeakSet<Socket>();
  /** Those that wait for a turn, in the order in which they came to wait. */
  const waiting: Lane[] = [];
  let slicingUntil = 0;
  /** The connection of which the parser gave something last. */
  let last: Socket | undefined;
  /** When it gave more than one thing of it in a row; undefined where it didn't, as it is with callers who wait for replies. */
  let lastAt: number | undefined;
  /** What more took of this turn, in ms. */
  let moreMs = 0;
  /** What slices took of this turn, in ms. */
  let spentMs = 0;
  let isPlanned = false;
  /** So many slices were parsed of those that waited. */
  let slices = 0;
  /** When those that sent more than a slice go on. */
  let moreFrom = 0;
  let isMorePlanned = false;

  return {
    add: (socket) => {
      if (slicingUntil > 0 && performance.now() < slicingUntil) slice(socket);
    },
    note: (socket) => {
      if (socket !== last) {
        last = socket;
        lastAt = undefined;
        return;
      }
      const now = performance.now();
      if (lastAt === undefined) {
        if (moreMs === 0) setImmediate(endTurn);
      } else moreMs += now - lastAt;
      lastAt = now;
      if (moreMs < parsingMs || now < slicingUntil) return;
      slicingUntil = now + parsingWatchMs;
      for (const each of sockets()) slice(each);
    },
  };

  function endTurn(): void {
    last = undefined;
    lastAt = undefined;
    moreMs = 0;
  }

  /** Reads a connection in slices for as long as it lives: Node's parser doesn't take it back. */
  function slice(socket: Socket): void {
    const [parse] = socket.listeners('data') as Parse[];
    if (parse === undefined || lanes.has(socket) || socket.destroyed || socket.writableEnded) return;
    lanes.add(socket);
    const lane: Lane = { socket, parse, isWaiting: false, hasTurn: false };
    socket.removeListener('data', parse);
    socket
      .on('data', (data: Buffer) => take(lane, data))
      .on('resume', () => {
        if (lane.isWaiting) socket.pause(); // a request asked for more of its body
      });
  }

  /** What comes: parsed as far as there is time for it, and put back. */
  function take(lane: Lane, data: Buffer): void {
    const { socket, hasTurn, isWaiting } = lane;
    if (socket.writableEnded) return; // nobody reads it any more
    const mayParse = hasTurn || (!isWaiting && spentMs < parsingSliceMs);
    const rest = mayParse ? data.subarray(sliceBytes) : data;
    if (rest.length > 0) {
      socket.pause();
      socket.unshift(rest);
    }
    if (mayParse) parseSlice(lane, data.length <= sliceBytes ? data : data.subarray(0, sliceBytes));
    if (rest.length > 0 && !isWaiting) wait(lane);
    else planTurn();
  }

  function parseSlice({ socket, parse }: Lane, data: Buffer): void {
    const began = performance.now();
    parse.call(socket, data);
    spentMs += performance.now() - began;
  }

  function wait(lane: Lane): void {
    lane.isWaiting = true;
    waiting.push(lane);
    planTurn();
  }

  function planTurn(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(takeTurn);
  }

  /** Has a turn once those that sent more may go on. */
  function planMore(ms: number): void {
    if (isMorePlanned) return;
    isMorePlanned = true;
    setTimeout(
      () => {
        isMorePlanned = false;
        planTurn();
      },
      Math.max(1, ms),
    );
  }

  /**
   * Parses slices while there is time: of the one with the least to parse, as whose caller sent one request, and of the one
   * that came to wait first, in turn. Those that sent more than a slice leave most of the time to all else.
   */
  function takeTurn(): void {
    isPlanned = false;
    spentMs = 0;
    const isTimeForMore = performance.now() >= moreFrom;
    let least = leastOf(waiting);
    while (least !== undefined && spentMs < parsingSliceMs && (isTimeForMore || isLast(least))) {
      const isFirst = isTimeForMore && slices++ % 2 === 1;
      goOn((isFirst ? waiting[0] : least) ?? least);
      least = leastOf(waiting);
    }
    if (least === undefined) return;
    const now = performance.now();
    slicingUntil = now + parsingWatchMs;
    if (isTimeForMore) moreFrom = now + spentMs * othersShare;
    if (isLast(least)) planTurn();
    else planMore(moreFrom - now);
  }

  /** The next slice of a connection. */
  function goOn(lane: Lane): void {
    const { socket } = lane;
    waiting.splice(waiting.indexOf(lane), 1);
    if (socket.writableNeedDrain && !socket.destroyed && !socket.writableEnded) {
      socket.once('drain', () => wait(lane));
      return;
    }
    lane.hasTurn = true;
    socket.read(Math.min(sliceBytes, socket.readableLength)); // which gives it as data
    lane.hasTurn = false;
    if (socket.readableLength > 0 && !socket.destroyed && !socket.writableEnded) {
      waiting.push(lane);
      return;
    }
    lane.isWaiting = false;
    socket.resume();
  }
}

/** The one of which the least is to be parsed. */
function leastOf(lanes: readonly Lane[]): Lane | undefined {
  let [least] = lanes;
  let bytes = least?.socket.readableLength ?? 0;
  for (const lane of lanes) {
    const { readableLength } = lane.socket;
    if (readableLength >= bytes) continue;
    bytes = readableLength;
    least = lane;
  }
  return least;
}

/** Whether a slice is all that is to be parsed of it. */
function isLast({ socket }: Lane): boolean {
  return socket.readableLength <= sliceBytes;
}
