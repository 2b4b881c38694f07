import type { Limits } from '../../mappings/contract/limits.ts';
import { CallError } from '../call/error.ts';
import { noteWait } from '../telemetry/request-stats.ts';
import { NetworkPlaces } from './caller-places.ts';
import { LargeReplies, MemoryQueue, type ReplyQueue } from './memory-queue.ts';
import { Permits, type Slot } from './permits.ts';
import { type Transfer, Transfers } from './transfers.ts';

// This folder limits the calls, bodies and bytes that a process handles at the same time. in-flight-set.ts is a set for
// transfers and calls in progress. Nothing here depends on HTTP or protocols: a call is a Slot, and a body or reply in
// transit is a Transfer.

/**
 * Maximum size in bytes of a body or reply that is never rejected for lack of memory. All permits together hold few of
 * them.
 */
export const smallBytes: number = 64 * 1024;

/** Time in ms before a reply may be cut to release its memory. */
const minSendingMs = 1_000;
/** A reply that will be sent within this time, in ms at its current speed, is not cut. */
const soonOutMs = 10_000;

/** Returns true if a reply may be cut to release its memory. */
function mayBeCut({ heldBytes, began, moved }: Transfer): boolean {
  const age = performance.now() - began;
  if (heldBytes <= smallBytes || age < minSendingMs) return false;
  const sent = moved();
  return (heldBytes - sent) * age > sent * soonOutMs;
}

/** The load of a process. */
export interface Load {
  readonly inFlight: number;
  readonly queued: number;
  /** Bodies that are arriving. */
  readonly arriving: number;
  /** Replies that their connections did not accept at once. */
  readonly leaving: number;
  readonly heldBytes: number;
  /** Calls rejected since the start. */
  readonly shed: number;
}

/** Maximum number of request bodies that are read before their calls have a slot. One more closes the slowest. */
export const maxArriving = 1_000;

/** Memory in bytes that request bodies may use while memory is scarce. Beyond it, the slowest connection is closed. */
export const maxArrivingBytes = 64 * 1024 * 1024;

/** Memory in bytes that replies may use while memory is scarce. Beyond it, the slowest connection is closed. */
export const maxLeavingBytes = 64 * 1024 * 1024;

/** Maximum number of compressed bodies of more than 16 KiB that are decompressed at the same time. */
export const maxUnpacking = 1;

/** Time in ms, accurate to a second, after which a reply must have the speed of `minWriteBytesPerSecond`. */
export const maxSlowWriteMs = 30_000;

/** Minimum average speed of a reply after `maxSlowWriteMs`, in bytes per second. */
export const minWriteBytesPerSecond = 8 * 1024;

/** Number of calls from the last two seconds that are accepted even if the event loop is late. */
export const minCallsInDelay = 64;

/** Limits of admission; undefined members have their defaults. */
type AdmissionLimits = ReturnType<typeof admissionLimitsOf>;

function admissionLimitsOf(limits: Limits) {
  const {
    arriving = maxArriving,
    arrivingBytes = maxArrivingBytes,
    leavingBytes = maxLeavingBytes,
    unpacking = maxUnpacking,
    writeSlowMs = maxSlowWriteMs,
    writeBytesPerSecond = minWriteBytesPerSecond,
    loopDelayInFlight = minCallsInDelay,
  } = limits;
  const defaults = { arriving, arrivingBytes, leavingBytes, unpacking };
  return { ...limits, ...defaults, writeSlowMs, writeBytesPerSecond, loopDelayInFlight };
}

/**
 * Admits as many calls as the process can carry, queues some for a short time, and rejects the rest. A call takes its
 * permit when its body has arrived, and returns it when its reply was passed to the connection. Arriving bodies and
 * leaving replies have limits of their own.
 */
export class Admission {
  /** Limits how many compressed bodies are decompressed at the same time. */
  readonly unpacking: Permits;
  /** Limits how many bodies are streamed at the same time; a share is kept for other networks. */
  readonly streams: NetworkPlaces;
  /** Memory for replies of writes, which wait for it instead of being rejected. */
  readonly replyQueue: ReplyQueue;
  /** Operations with writes that are likely to have a large reply. */
  readonly largeReplies: LargeReplies = new LargeReplies();
  readonly #limits: AdmissionLimits;
  readonly #permits: Permits;
  readonly #arrivals = new Transfers();
  readonly #departures = new Transfers();
  readonly #line: MemoryQueue;
  #heldBytes = 0;
  #shed = 0;
  #late = false;
  #delayMs = 0;
  #closed = false;
  /**
   * Number of observed delays, and the calls in progress that came since the last one, and in the interval before it.
   */
  #looks = 0;
  #young = 0;
  #older = 0;

  constructor(given: Limits) {
    const limits = admissionLimitsOf(given);
    const { inFlight, unpacking, queue, queueMs } = limits;
    this.#limits = limits;
    this.#permits = new Permits(inFlight, queue, queueMs, () => this.shed());
    this.unpacking = new Permits(unpacking, queue, queueMs, () => this.shed());
    this.streams = new NetworkPlaces(limits.streams);
    this.#line = new MemoryQueue({
      fits: (bytes) => this.#hasMemory(bytes),
      isDrained: () => this.#departures.heldBytes <= limits.leavingBytes,
      hold: (slot, bytes) => {
        this.#heldBytes += bytes;
        slot.heldBytes += bytes;
      },
    });
    this.replyQueue = this.#line;
  }

  /** Checks that there is capacity for a call with a body of `bytes` bytes, or 0. Throws CallError Overloaded. */
  look(bytes: number): void {
    if (this.#isShut() || this.#permits.isFull) throw this.shed();
    if (bytes > smallBytes && !this.#hasMemory(1)) throw this.shed();
  }

  /** Gives a call its permit: at once, or as a promise. Throws or rejects with CallError Overloaded. */
  enter(slot: Slot): Promise<void> | undefined {
    if (this.#isShut()) throw this.shed();
    if (!this.#permits.take()) return this.#wait(slot);
    this.#begin(slot);
    return undefined;
  }

  /** Lets a call wait for a connection as one of the `queue` calls, without its permit. Returns false if they are too many. */
  park(): boolean {
    return this.#permits.park();
  }

  /** Gives a parked call its permit back, even if all are taken. The number of connections limits how many more these are. */
  unpark(): void {
    this.#permits.unpark();
  }

  /**
   * True if calls wait for a permit, or the event loop is late by a quarter of `loopDelayMs`. Work that no caller waits
   * for should not start then.
   */
  get isBusy(): boolean {
    return this.#permits.waiting > 0 || this.#delayMs * 4 > this.#limits.loopDelayMs;
  }

  /** Adds bytes that a call holds in memory. Returns false if there is no memory for them. */
  hold(slot: Slot, bytes: number): boolean {
    this.#heldBytes += bytes;
    slot.heldBytes += bytes;
    return this.#hasMemory(0) || this.#line.isThrough(slot);
  }

  /**
   * Returns the bytes that are free, including what transfers above their share would release; undefined if the call
   * may not hold more. Cuts no transfer.
   */
  spare(slot: Slot): number | undefined {
    const { heldBytes, leavingBytes, arrivingBytes } = this.#limits;
    if (this.#heldBytes > heldBytes && !this.#line.isThrough(slot)) return undefined;
    const leaving = Math.max(0, this.#departures.heldBytes - leavingBytes);
    const arriving = Math.max(0, this.#arrivals.heldBytes - arrivingBytes);
    return heldBytes - this.#heldBytes + leaving + arriving;
  }

  /** Reduces the bytes that a call holds in memory to a maximum. */
  shrink(slot: Slot, bytes: number): void {
    if (slot.heldBytes <= bytes) return;
    this.#heldBytes -= slot.heldBytes - bytes;
    slot.heldBytes = bytes;
    this.#line.look();
  }

  /** Counts a rejected call, and returns its error. */
  shed(): CallError {
    this.#shed++;
    return overloaded();
  }

  /** Releases all that a call holds, even if it was not admitted. */
  release(slot: Slot): void {
    this.#heldBytes -= slot.heldBytes;
    slot.heldBytes = 0;
    this.#line.remove(slot);
    if (!slot.admitted) return;
    slot.admitted = false;
    if (slot.enteredAfter === this.#looks) this.#young--;
    else if (slot.enteredAfter === this.#looks - 1) this.#older--;
    this.#permits.give();
  }

  /** Adds a body that begins to arrive. Beyond the maximum, the slowest one is cut. */
  arrive(transfer: Transfer): void {
    if (this.#arrivals.size >= this.#limits.arriving) this.#cutArrival(-1);
    this.#arrivals.add(transfer);
  }

  /** Adds bytes of a body that arrived. Returns false if there is no memory for them. */
  addReceived(transfer: Transfer, bytes: number): boolean {
    this.#heldBytes += bytes;
    this.#arrivals.hold(transfer, bytes);
    return transfer.heldBytes <= smallBytes || this.#hasMemory(0);
  }

  /** Removes a body that has arrived, and returns its bytes, which its call holds from then on. */
  arrived(transfer: Transfer): number {
    const bytes = transfer.heldBytes;
    this.#arrivals.delete(transfer);
    return bytes;
  }

  /** Removes a body that was given up, and releases its bytes. */
  dropArrival(transfer: Transfer): void {
    this.#heldBytes -= transfer.heldBytes;
    this.#arrivals.delete(transfer);
    this.#line.look();
  }

  /** Adds a reply that is being sent. */
  depart(transfer: Transfer): void {
    const { shared } = transfer;
    if (shared !== undefined && this.#departures.ofShared(shared) !== undefined) transfer.heldBytes = 0;
    this.#heldBytes += transfer.heldBytes;
    this.#departures.add(transfer);
    this.#hasMemory(0);
  }

  /** Removes a reply that was sent or cut. */
  departed(transfer: Transfer): void {
    const bytes = transfer.heldBytes;
    const { shared } = transfer;
    this.#departures.delete(transfer);
    const heir = shared === undefined || bytes === 0 ? undefined : this.#departures.ofShared(shared);
    if (heir === undefined) this.#heldBytes -= bytes;
    else this.#departures.hold(heir, bytes);
    this.#line.look();
  }

  /** Cuts slow replies and checks whether memory is free again. Call this every second. */
  sweep(): void {
    this.#cutSlowDepartures();
    if (this.#line.size === 0) return;
    this.#hasMemory(0);
    this.#line.look();
  }

  /** Takes the delay of the event loop's timers in ms. Call this every second. */
  observeDelay(ms: number): void {
    this.#delayMs = ms;
    this.#late = ms > this.#limits.loopDelayMs;
    this.#looks++;
    this.#older = this.#young;
    this.#young = 0;
  }

  /** Returns the current load. */
  load(): Load {
    return {
      inFlight: this.#permits.taken,
      queued: this.#permits.waiting,
      arriving: this.#arrivals.size,
      leaving: this.#departures.size,
      heldBytes: this.#heldBytes,
      shed: this.#shed,
    };
  }

  /** Rejects every call from now on. Admitted calls continue. */
  close(): void {
    this.#closed = true;
  }

  #begin(slot: Slot): void {
    slot.admitted = true;
    slot.enteredAfter = this.#looks;
    this.#young++;
  }

  /**
   * Returns true if no call is admitted: admission is closed, or the event loop is late. Calls that have been in
   * progress for longer do not count, as they wait for a slow upstream and do not delay the loop.
   */
  #isShut(): boolean {
    return this.#closed || (this.#late && this.#young + this.#older >= this.#limits.loopDelayInFlight);
  }

  /** Returns true if there is memory for `bytes` more bytes. Cuts transfers above their share to free memory. */
  #hasMemory(bytes: number): boolean {
    const { heldBytes, leavingBytes, arrivingBytes } = this.#limits;
    while (this.#heldBytes + bytes > heldBytes) {
      const isCut =
        (this.#departures.heldBytes > leavingBytes && this.#departures.cutSlowest(mayBeCut)) ||
        (this.#arrivals.heldBytes > arrivingBytes && this.#cutArrival(smallBytes));
      if (!isCut) return false;
    }
    return true;
  }

  #cutArrival(bytes: number): boolean {
    const isCut = this.#arrivals.cutSlowest(({ heldBytes: held }) => held > bytes);
    if (isCut) this.#shed++;
    return isCut;
  }

  #cutSlowDepartures(): void {
    const now = performance.now();
    const { writeSlowMs, writeBytesPerSecond } = this.#limits;
    const slow = this.#departures.filter(({ began, moved }) => {
      const age = now - began;
      return age >= writeSlowMs && moved() * 1000 < writeBytesPerSecond * age;
    });
    for (const { cut } of slow) cut();
  }

  async #wait(slot: Slot): Promise<void> {
    const began = performance.now();
    try {
      await this.#permits.wait();
      this.#begin(slot);
    } finally {
      noteWait(slot.stats, began, performance.now());
    }
  }
}

/** Returns the error of a call that is rejected for lack of capacity, before any work was done for it. */
export function overloaded(): CallError {
  return new CallError('Overloaded', { retryAfter: '1' });
}
