import { isMarkedAsUntransferable } from 'node:worker_threads';
import { padding } from '../../mappings/bytes.ts';
import { Base64Spans } from '../../mappings/json/base64-spans.ts';
import { perTurn } from './per-turn.ts';

/** From here on a body gets memory of its own, where it can be read without another copy. */
const largeBytes = 1024 * 1024;
/** Up to here memory comes from where Node takes it for small buffers. */
const smallBytes = 64 * 1024;

/** In bytes: so much of one body is taken in a turn of the event loop; what is there beyond waits for the next one. */
export const turnBytes: number = 64 * 1024;

/**
 * So many large bodies, of callers and upstreams, are read on in a turn: to take `turnBytes` of one takes 0.1 ms, and each turn
 * accepts one connection, however many wait.
 */
const readInTurn = perTurn(2);

/** Has a large body be read on in one of the next turns of the event loop. */
export function readOnLater(readOn: () => void): void {
  setImmediate(readInTurn, readOn);
}

/** A body, whole. */
export interface Collected {
  readonly body: Buffer;
  /** Of a large one, what was found while it arrived. */
  readonly runs: Base64Spans | undefined;
}

/** In bytes: the least that room is made for, and the most in one go, where it isn't known that there is more. */
const leastBytes = 4 * 1024;
const segmentBytes = 1024 * 1024;

/** Pieces from so many bytes on have memory of their own, mostly. */
const ownBytes = 16 * 1024;

const noBytes = Buffer.alloc(0);

/** Large bodies are put together by so many segments in a turn of the event loop: half a millisecond of it. */
const inTurn = perTurn(2);

/**
 * Gathers a body piece by piece, so that a piece, however small, is gone once it was added. One whose length isn't known, or not
 * to be believed, is in segments until it is all there: to move it from buffer to larger buffer would hold the event loop for
 * 3 ms at a time. What is to be done with a large body is done as it comes, so that its end is not one long hold.
 */
export class Collector {
  /** The length that is known in advance, where it is. */
  announced = 0;
  size = 0;
  readonly #isTrusted: boolean;
  /** The first piece, while it is all. */
  #only: Buffer | undefined;
  /** Whether nobody else reads it. */
  #ownsOnly = false;
  /** The piece that was copied last, of those that are given back by the next one. */
  #spent: Buffer | undefined;
  /** Segments that are full. */
  #full: Buffer[] = [];
  /** The segment that is being filled, how many bytes it takes, and how many are in it. */
  #last: Buffer = noBytes;
  #capacity = 0;
  #used = 0;
  #runs: Base64Spans | undefined;

  /** @param isTrusted true for an upstream's: room is made for all that it announces, and base64 is looked for */
  constructor(isTrusted: boolean) {
    this.#isTrusted = isTrusted;
  }

  add(piece: Buffer): void {
    const isFirst = this.size === 0;
    this.size += piece.length;
    if (isFirst && this.size <= largeBytes) {
      this.#only = piece;
      return;
    }
    const only = this.#only;
    if (only !== undefined) {
      this.#only = undefined;
      this.#append(only);
      if (this.#ownsOnly) dropPiece(only);
    }
    if (this.#isTrusted && this.size > largeBytes && this.#runs === undefined) {
      this.#runs = new Base64Spans();
      for (const segment of this.#segments()) this.#runs.add(segment);
    }
    this.#append(piece);
    this.#runs?.add(piece);
  }

  /** Adds a piece that nobody else reads, whose memory goes back to the system once it is copied, and not when V8 collects. */
  addOwn(piece: Buffer): void {
    this.add(piece);
    if (this.#only === piece) this.#ownsOnly = true;
    else dropPiece(piece);
  }

  /** As `addOwn`, of a piece that whoever hands it over is done with by the next one only. */
  addRead(piece: Buffer): void {
    if (this.#spent !== undefined) dropPiece(this.#spent);
    this.#spent = undefined;
    this.add(piece);
    if (this.#only === piece) this.#ownsOnly = true;
    else this.#spent = piece;
  }

  /** Whether all that came is in one segment, so that to take it is nothing. */
  get isWhole(): boolean {
    return this.#full.length === 0;
  }

  /** All that came. */
  take(): Collected {
    for (const segment of this.#segmentsForOne()) this.#move(segment);
    return this.#collected();
  }

  /** All that came; segments are put together beside what else the event loop has to do. */
  async takeInTurns(): Promise<Collected> {
    for (const segment of this.#segmentsForOne())
      await new Promise<void>((resolve) =>
        inTurn(() => {
          this.#move(segment);
          resolve();
        }),
      );
    return this.#collected();
  }

  /** Gives back the memory of what was gathered: nobody wants it any more. */
  drop(): void {
    if (this.#ownsOnly && this.#only !== undefined) dropPiece(this.#only);
    if (this.#spent !== undefined) dropPiece(this.#spent);
    for (const segment of this.#segments()) dropSegment(segment);
    this.#only = undefined;
    this.#spent = undefined;
    this.#full = [];
    this.#begin(0);
  }

  #append(piece: Buffer): void {
    let from = 0;
    while (from < piece.length) {
      if (this.#used === this.#capacity) this.#makeRoom(piece.length - from);
      const to = Math.min(piece.length, from + this.#capacity - this.#used);
      piece.copy(this.#last, this.#used, from, to);
      this.#used += to - from;
      from = to;
    }
  }

  /** Makes room behind what is there, for as many bytes more where there may be so many in a segment. */
  #makeRoom(count: number): void {
    const { announced } = this;
    if (this.#capacity >= segmentBytes) {
      this.#full.push(this.#last.subarray(0, this.#used));
      this.#begin(Math.min(segmentBytes, this.#most()));
    } else if (this.#isTrusted && announced >= this.size) this.#grow(announced);
    else this.#grow(Math.min(segmentBytes, this.#most(), Math.max((this.#used + count) * 2, leastBytes)));
  }

  /** How many bytes the last segment may come to hold. */
  #most(): number {
    if (this.announced < this.size) return segmentBytes;
    return this.#full.reduce((left, { length }) => left - length, this.announced);
  }

  /** Has the last segment begin anew. An upstream's has zeros behind what is in it. */
  #begin(capacity: number): void {
    this.#last = capacity === 0 ? noBytes : memoryFor(capacity + (this.#isTrusted ? padding : 0));
    this.#capacity = capacity;
    this.#used = 0;
  }

  #grow(capacity: number): void {
    const smaller = this.#last.subarray(0, this.#used);
    this.#begin(capacity);
    this.#move(smaller);
  }

  /** What is there, in order. */
  #segments(): Buffer[] {
    return [...this.#full, this.#last.subarray(0, this.#used)];
  }

  /** What is there, to be moved to one segment; nothing where it is in one already. */
  #segmentsForOne(): Buffer[] {
    if (this.isWhole) return [];
    const segments = this.#segments();
    this.#full = [];
    this.#begin(this.size);
    return segments;
  }

  #move(segment: Buffer): void {
    segment.copy(this.#last, this.#used);
    this.#used += segment.length;
    dropSegment(segment);
  }

  #collected(): Collected {
    return { body: this.#only ?? this.#trimmed(), runs: this.#runs };
  }

  /** What is in the last segment. */
  #trimmed(): Buffer {
    const last = this.#last;
    const used = this.#used;
    if (last.length === 0) return noBytes;
    if (this.#isTrusted) {
      last.fill(0, used, used + padding);
      return last.subarray(0, used);
    }
    // of a large one of unknown length half may be room that nobody needs
    if (last.length <= smallBytes || last.length === used) return last.subarray(0, used);
    return Buffer.from((last.buffer as ArrayBuffer).transfer(used));
  }
}

/** Memory that the system gives once something is written to it: 30 MB of zeros would hold the event loop for 4 ms. */
function memoryFor(length: number): Buffer {
  return length <= smallBytes ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(length);
}

/** Gives back a segment, where it has memory of its own: what small buffers share can't be. */
function dropSegment({ buffer }: Buffer): void {
  if (buffer.byteLength > smallBytes && !isMarkedAsUntransferable(buffer)) giveBackOwn(buffer);
}

/** Gives back the memory of a piece, where nothing else is in it. */
export function dropPiece({ buffer, byteLength }: Buffer): void {
  if (byteLength >= ownBytes && buffer.byteLength === byteLength) giveBackOwn(buffer);
}

/**
 * Gives the memory of a large body back at once: the garbage collector may take its time. Nobody may read it any more; of a
 * small one nothing is done, whose memory may be others' too.
 */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer.byteLength >= largeBytes) giveBackOwn(buffer);
}

/** Gives back memory that has nothing of others in it and that nobody reads any more, unless it went over to another thread. */
export function giveBackOwn(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer && !memory.detached) memory.transfer(0);
}
