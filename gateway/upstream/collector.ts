import { padding } from '../../mappings/bytes.ts';
import { Base64Spans } from '../../mappings/json/base64-spans.ts';

/** From here on a body gets memory of its own, where it can be read without another copy. */
const largeBytes = 1024 * 1024;
/** Up to here memory comes from where Node takes it for small buffers. */
const smallBytes = 64 * 1024;

/** In bytes: so much of one body is taken in a turn of the event loop; what is there beyond waits for the next one. */
export const turnBytes: number = 64 * 1024;

/** A body, whole. */
export interface Collected {
  readonly body: Buffer;
  /** Of a large one, what was found while it arrived. */
  readonly runs: Base64Spans | undefined;
}

/** Pieces from so many bytes on have memory of their own, mostly. */
const ownBytes = 16 * 1024;

/**
 * Gathers a body piece by piece in one growing buffer, so that a piece, however small, is gone once it was added. What is
 * to be done with a large body is done as it comes, so that its end is not one long hold of the event loop.
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
  #gathered: Buffer | undefined;
  #runs: Base64Spans | undefined;

  /** @param isTrusted true for an upstream's: room is made for all that it announces, and base64 is looked for */
  constructor(isTrusted: boolean) {
    this.#isTrusted = isTrusted;
  }

  add(piece: Buffer): void {
    const before = this.size;
    this.size += piece.length;
    if (before === 0 && this.size <= largeBytes) {
      this.#only = piece;
      return;
    }
    const gathered = this.#room(before);
    piece.copy(gathered, before);
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

  take(): Collected {
    return { body: this.#only ?? this.#whole(), runs: this.#runs };
  }

  /** Gives back the memory of what was gathered: nobody wants it any more. */
  drop(): void {
    if (this.#ownsOnly && this.#only !== undefined) dropPiece(this.#only);
    dropGathered(this.#gathered);
    this.#only = undefined;
    this.#gathered = undefined;
  }

  #whole(): Buffer {
    const gathered = this.#gathered;
    if (gathered === undefined) return noBytes;
    const { size } = this;
    // of a large one of unknown length half may be room that nobody needs
    if (this.#isTrusted || gathered.length <= smallBytes || gathered.length === size)
      return gathered.subarray(0, size);
    return Buffer.from((gathered.buffer as ArrayBuffer).transfer(size));
  }

  /** Memory for all that came, `before` bytes of which are in it; that of an upstream's large one has zeros behind. */
  #room(before: number): Buffer {
    const behind = this.#isTrusted ? padding : 0;
    let gathered = this.#gathered;
    if (gathered === undefined || gathered.length < this.size + behind) {
      gathered = grown(gathered, this.#capacity() + behind);
      this.#gathered = gathered;
    }
    if (this.#only !== undefined) {
      this.#only.copy(gathered);
      if (this.#ownsOnly) dropPiece(this.#only);
      this.#only = undefined;
    }
    if (this.#isTrusted && this.size > largeBytes && this.#runs === undefined) {
      this.#runs = new Base64Spans();
      this.#runs.add(gathered.subarray(0, before));
    }
    return gathered;
  }

  #capacity(): number {
    const { announced, size } = this;
    const doubled = Math.max(size * 2, 4096);
    if (announced < size) return doubled;
    return this.#isTrusted ? announced : Math.min(announced, doubled);
  }
}

const noBytes = Buffer.alloc(0);

/** A buffer of so many bytes that begins with what is in another one, whose memory is given back at once. */
function grown(from: Buffer | undefined, length: number): Buffer {
  if (length <= smallBytes) {
    const small = Buffer.allocUnsafe(length);
    from?.copy(small);
    return small;
  }
  const own = Buffer.from(new ArrayBuffer(length)); // its memory is the system's until something is written to it
  from?.copy(own);
  dropGathered(from);
  return own;
}

/** Gives back what was gathered, where it has memory of its own. */
function dropGathered(gathered: Buffer | undefined): void {
  if (gathered !== undefined && gathered.length > smallBytes) giveBackOwn(gathered.buffer);
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
