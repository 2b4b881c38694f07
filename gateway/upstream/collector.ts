import { isMarkedAsUntransferable } from 'node:worker_threads';
import { padding } from '../../mappings/bytes.ts';
import { Base64Spans } from '../../mappings/json/base64-spans.ts';
import { perIteration } from './per-iteration.ts';

/** Minimum size of a body in bytes that gets its own memory, so that it can be read without another copy. */
const largeBytes = 1024 * 1024;
/** Maximum size in bytes that is allocated from Node's pool of small buffers. */
const smallBytes = 64 * 1024;

/** Maximum number of bytes of one body read per event-loop iteration. The rest waits for the next iteration. */
export const maxIterationBytes: number = 64 * 1024;

/**
 * Limits the number of large bodies, of callers and upstreams, that are read per event-loop iteration. Each iteration
 * accepts only one connection, so it must be short.
 */
const readOnPerIteration = perIteration(2);

/** Continues to read a large body in a later event-loop iteration. */
export function readOnLater(readOn: () => void): void {
  setImmediate(readOnPerIteration, readOn);
}

/** A complete body. */
export interface Collected {
  readonly body: Buffer;
  /** Base64 spans of a large body, found while it arrived. */
  readonly runs: Base64Spans | undefined;
}

/** Minimum and maximum size of a buffer, in bytes, if the size of the body is unknown. */
const leastBytes = 4 * 1024;
const segmentBytes = 1024 * 1024;

/** Minimum size of a piece in bytes that usually has its own memory. */
const ownBytes = 16 * 1024;

const noBytes = Buffer.alloc(0);

/** Maximum number of segments of large bodies copied per event-loop iteration. */
const copyPerIteration = perIteration(2);

/**
 * Collects a body piece by piece and copies each piece, so that its memory can be released. A body with an unknown or
 * untrusted length is kept in segments until it is complete. Copying it to ever larger buffers would block the event
 * loop.
 * Large bodies are processed as they arrive, so that their end does not block the event loop.
 */
export class Collector {
  /** Announced length in bytes; 0 if unknown. */
  announced = 0;
  size = 0;
  readonly #isTrusted: boolean;
  /** The first piece, while there is only one. */
  #only: Buffer | undefined;
  /** True if no other code reads it. */
  #ownsOnly = false;
  /** The last copied piece of `addRead`; released when the next piece arrives. */
  #spent: Buffer | undefined;
  /** Segments that are full. */
  #full: Buffer[] = [];
  /** The segment that is being filled, its capacity and its used bytes. */
  #last: Buffer = noBytes;
  #capacity = 0;
  #used = 0;
  #runs: Base64Spans | undefined;

  /**
   * @param isTrusted true for an upstream's body: memory for the announced length is allocated at once, and base64
   * spans are searched for
   */
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

  /**
   * Adds a piece that no other code reads. Its memory is released once it is copied, without waiting for the garbage
   * collector.
   */
  addOwn(piece: Buffer): void {
    this.add(piece);
    if (this.#only === piece) this.#ownsOnly = true;
    else dropPiece(piece);
  }

  /** Like `addOwn`, but the previous owner may read the piece until the next one arrives. */
  addRead(piece: Buffer): void {
    if (this.#spent !== undefined) dropPiece(this.#spent);
    this.#spent = undefined;
    this.add(piece);
    if (this.#only === piece) this.#ownsOnly = true;
    else this.#spent = piece;
  }

  /** Returns true if the body is in one segment, so that taking it needs no copy. */
  get isWhole(): boolean {
    return this.#full.length === 0;
  }

  /** Returns the whole body. */
  take(): Collected {
    for (const segment of this.#segmentsForOne()) this.#move(segment);
    return this.#collected();
  }

  /** Returns the whole body. Segments are copied in several event-loop iterations. */
  async takeInSteps(): Promise<Collected> {
    for (const segment of this.#segmentsForOne())
      await new Promise<void>((resolve) =>
        copyPerIteration(() => {
          this.#move(segment);
          resolve();
        }),
      );
    return this.#collected();
  }

  /** Releases the memory of a body that will not be used. */
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
      if (this.#used === this.#capacity) this.#allocate(piece.length - from);
      const to = Math.min(piece.length, from + this.#capacity - this.#used);
      piece.copy(this.#last, this.#used, from, to);
      this.#used += to - from;
      from = to;
    }
  }

  /** Allocates memory for the next `count` bytes, limited by the size of a segment. */
  #allocate(count: number): void {
    const { announced } = this;
    if (this.#capacity >= segmentBytes) {
      this.#full.push(this.#last.subarray(0, this.#used));
      this.#begin(Math.min(segmentBytes, this.#most()));
    } else if (this.#isTrusted && announced >= this.size) this.#grow(announced);
    else this.#grow(Math.min(segmentBytes, this.#most(), Math.max((this.#used + count) * 2, leastBytes)));
  }

  /** Returns the maximum size of the last segment, in bytes. */
  #most(): number {
    if (this.announced < this.size) return segmentBytes;
    return this.#full.reduce((left, { length }) => left - length, this.announced);
  }

  /** Starts a new last segment. An upstream's body is followed by zeros. */
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

  /** Returns the segments in order. */
  #segments(): Buffer[] {
    return [...this.#full, this.#last.subarray(0, this.#used)];
  }

  /** Returns the segments to copy into one; an empty array if there is only one. */
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

  /** Returns the bytes of the last segment. */
  #trimmed(): Buffer {
    const last = this.#last;
    const used = this.#used;
    if (last.length === 0) return noBytes;
    if (this.#isTrusted) {
      last.fill(0, used, used + padding);
      return last.subarray(0, used);
    }
    // Up to half of a large buffer may be unused if the length was unknown.
    if (last.length <= smallBytes || last.length === used) return last.subarray(0, used);
    return Buffer.from((last.buffer as ArrayBuffer).transfer(used));
  }
}

/** Allocates memory that is not zeroed, because zeroing a large buffer would block the event loop. */
function memoryFor(length: number): Buffer {
  return length <= smallBytes ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(length);
}

/** Releases a segment that has its own memory. Small buffers share theirs, so it cannot be released. */
function dropSegment({ buffer }: Buffer): void {
  if (buffer.byteLength > smallBytes && !isMarkedAsUntransferable(buffer)) giveBackOwn(buffer);
}

/** Releases the memory of a piece, unless it is shared. */
export function dropPiece({ buffer, byteLength }: Buffer): void {
  if (byteLength >= ownBytes && buffer.byteLength === byteLength) giveBackOwn(buffer);
}

/**
 * Releases the memory of a large body at once, without waiting for the garbage collector. The body must not be read
 * afterwards. Small bodies are ignored, because their memory may be shared.
 */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer.byteLength >= largeBytes) giveBackOwn(buffer);
}

/** Releases unshared memory that is no longer read, unless it was transferred to another thread. */
export function giveBackOwn(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer && !memory.detached) memory.transfer(0);
}
