import type { Limits } from '../../mappings/contract/limits.ts';
import { CallError } from '../call/error.ts';
import { LargeReplies } from './large-replies.ts';
import { MemoryQueue, type Room } from './memory-queue.ts';
import { NetworkPlaces } from './network-places.ts';
import { Permits, type Slot } from './permits.ts';
import { type Transfer, Transfers } from './transfers.ts';

// What lives here: how many calls, bodies and bytes a process carries at once (permits.ts, network-places.ts, transfers.ts,
// memory-queue.ts), and what is under way (in-flight-set.ts). It knows neither HTTP nor protocols: a call is a Slot, a body or a
// reply on its way a Transfer.

/**
 * In bytes: a body or reply of no more is never refused for want of memory. As many of these as there are permits for take
 * little beside what large ones may.
 */
export const smallBytes: number = 64 * 1024;

/** How long a reply is on its way before it may be cut where others need its memory, in ms. */
const leastLeavingMs = 1_000;
/** In ms: one that will be out so soon, at the speed at which it goes, is let go on. */
const soonOutMs = 10_000;

/** Whether a reply on its way out may be cut where others need its memory. */
function mayBeCut({ heldBytes, began, moved }: Transfer): boolean {
  const age = performance.now() - began;
  if (heldBytes <= smallBytes || age < leastLeavingMs) return false;
  const sent = moved();
  return (heldBytes - sent) * age > sent * soonOutMs;
}

/**
 * Lets in as many calls as the process can carry, keeps some waiting for a moment, and sheds the rest. A call takes its
 * permit once its body is there, and gives it back when its reply was given to its connection; bodies on their way in, and
 * replies on their way out, have bounds of their own.
 */
export interface Admission {
  /**
   * Looks whether a call would find room that announces a body of so many bytes, or 0. Throws CallError Overloaded.
   */
  readonly look: (bytes: number) => void;
  /**
   * Gives the call its permit: at once, or a promise of one. Throws CallError Overloaded, at once or when it has waited
   * too long.
   */
  readonly enter: (slot: Slot) => Promise<void> | undefined;
  /** Counts bytes (here and below) that a call has in memory from now on; false when there is no room for them. */
  readonly hold: (slot: Slot, bytes: number) => boolean;
  /**
   * How many bytes more there is room for, once those gave way that take more than their share; undefined where a call's may not
   * become more. Cuts nobody to make room.
   */
  readonly spare: (slot: Slot) => number | undefined;
  /** Says that a call has no more than so many bytes in memory from now on. */
  readonly shrink: (slot: Slot, bytes: number) => void;
  /** Counts a call that there is no room for, and gives its refusal. */
  readonly shed: () => CallError;
  /** Gives back all that a call had, whether it was let in or not. */
  readonly leave: (slot: Slot) => void;
  /** A body begins to come; where too many do the slowest is cut. */
  readonly arrive: (transfer: Transfer) => void;
  /** Counts bytes of a body that came; false when there is no room for them. */
  readonly came: (transfer: Transfer, bytes: number) => boolean;
  /** A body is there, and its bytes are its call's; or, without a call, it is given up. */
  readonly arrived: (transfer: Transfer, slot: Slot | undefined) => void;
  /** A reply is on its way out, or isn't any more. */
  readonly depart: (transfer: Transfer) => void;
  readonly departed: (transfer: Transfer) => void;
  /** Where compressed bodies are unpacked, a few at a time. */
  readonly unpacking: Permits;
  /** Bodies whose file flows through, a few at a time, of which something is left for others. */
  readonly streams: NetworkPlaces;
  /** Room for the replies of writes, which aren't refused for want of it. */
  readonly room: Room;
  /** Of which operations' writes such a reply is likely. */
  readonly largeReplies: LargeReplies;
  /** Ends what is too slow, and looks whether there is room again; to be called every second or so. */
  readonly sweep: () => void;
  /** Tells how late the event loop's timers come, in ms; to be called every second. */
  readonly observeDelay: (ms: number) => void;
  /** How much is under way at this moment. */
  readonly load: () => Load;
  /** Sheds every call from now on; those that are in end as they would. */
  readonly close: () => void;
}

/** How much is under way in a process. */
export interface Load {
  readonly inFlight: number;
  readonly queued: number;
  /** Bodies on their way in. */
  readonly arriving: number;
  /** Replies on their way out that their connections didn't take at once. */
  readonly leaving: number;
  readonly heldBytes: number;
  /** Calls shed since the start. */
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

/** Number of calls of the last two seconds that are accepted even if the event loop is late. */
export const minCallsInDelay = 64;

/**
 * The admission of one process, by its limits. One function, as all that it gives works on the same few counters.
 */
export function createAdmission(limits: Limits): Admission {
  const {
    arriving: mostArriving = maxArriving,
    arrivingBytes = maxArrivingBytes,
    leavingBytes = maxLeavingBytes,
    writeSlowMs = maxSlowWriteMs,
    writeBytesPerSecond = minWriteBytesPerSecond,
    loopDelayInFlight = minCallsInDelay,
  } = limits;
  const permits = new Permits(limits.inFlight, limits.queue, limits.queueMs, shedding);
  const arrivals = new Transfers();
  const departures = new Transfers();
  let heldBytes = 0;
  let shed = 0;
  let late = false;
  let closed = false;
  /** Looks at the delay so far, and the calls under way that came since the last one, and between that and the one before. */
  let looks = 0;
  let young = 0;
  let older = 0;

  const line = new MemoryQueue({
    fits: (bytes) => hasRoom(bytes),
    isDrained: () => departures.heldBytes <= leavingBytes,
    hold: (slot, bytes) => {
      heldBytes += bytes;
      slot.heldBytes += bytes;
    },
  });

  return {
    look: (bytes) => {
      if (isShut() || permits.isFull) throw shedding();
      if (bytes > smallBytes && !hasRoom(1)) throw shedding();
    },
    enter: (slot) => {
      if (isShut()) throw shedding();
      if (!permits.take()) return wait(slot);
      begin(slot);
      return undefined;
    },
    hold: (slot, bytes) => {
      heldBytes += bytes;
      slot.heldBytes += bytes;
      return hasRoom(0) || line.isThrough(slot);
    },
    spare: (slot) => {
      if (heldBytes > limits.heldBytes && !line.isThrough(slot)) return undefined;
      const leaving = Math.max(0, departures.heldBytes - leavingBytes);
      const arriving = Math.max(0, arrivals.heldBytes - arrivingBytes);
      return limits.heldBytes - heldBytes + leaving + arriving;
    },
    shed: shedding,
    shrink: (slot, bytes) => {
      if (slot.heldBytes <= bytes) return;
      heldBytes -= slot.heldBytes - bytes;
      slot.heldBytes = bytes;
      line.look();
    },
    leave: (slot) => {
      heldBytes -= slot.heldBytes;
      slot.heldBytes = 0;
      line.leave(slot);
      if (!slot.admitted) return;
      slot.admitted = false;
      if (slot.enteredAfter === looks) young--;
      else if (slot.enteredAfter === looks - 1) older--;
      permits.give();
    },
    arrive: (transfer) => {
      if (arrivals.size >= mostArriving) cutArrival(-1);
      arrivals.add(transfer);
    },
    came: (transfer, bytes) => {
      heldBytes += bytes;
      arrivals.hold(transfer, bytes);
      return transfer.heldBytes <= smallBytes || hasRoom(0);
    },
    arrived: (transfer, slot) => {
      const bytes = transfer.heldBytes;
      arrivals.delete(transfer);
      if (slot === undefined) {
        heldBytes -= bytes;
        line.look();
      } else slot.heldBytes += bytes;
    },
    depart: (transfer) => {
      const { shared } = transfer;
      if (shared !== undefined && departures.ofShared(shared) !== undefined) transfer.heldBytes = 0;
      heldBytes += transfer.heldBytes;
      departures.add(transfer);
      hasRoom(0);
    },
    departed: (transfer) => {
      const bytes = transfer.heldBytes;
      departures.delete(transfer);
      const heir =
        transfer.shared === undefined || bytes === 0 ? undefined : departures.ofShared(transfer.shared);
      if (heir === undefined) heldBytes -= bytes;
      else departures.hold(heir, bytes);
      line.look();
    },
    unpacking: new Permits(limits.unpacking ?? maxUnpacking, limits.queue, limits.queueMs, shedding),
    streams: new NetworkPlaces(limits.streams),
    room: line,
    largeReplies: new LargeReplies(),
    sweep: () => {
      cutSlowDepartures();
      if (line.size === 0) return;
      hasRoom(0);
      line.look();
    },
    observeDelay: (ms) => {
      late = ms > limits.loopDelayMs;
      looks++;
      older = young;
      young = 0;
    },
    load: () => ({
      inFlight: permits.taken,
      queued: permits.waiting,
      arriving: arrivals.size,
      leaving: departures.size,
      heldBytes,
      shed,
    }),
    close: () => {
      closed = true;
    },
  };

  function begin(slot: Slot): void {
    slot.admitted = true;
    slot.enteredAfter = looks;
    young++;
  }

  /**
   * Whether no call is let in: it is closed, or the loop is late. Calls that have been under way for longer wait for a slow
   * upstream: what makes the loop late is not theirs.
   */
  function isShut(): boolean {
    return closed || (late && young + older >= loopDelayInFlight);
  }

  /** Whether there is room for so many bytes more, once those gave way that take more than their share. */
  function hasRoom(bytes: number): boolean {
    while (heldBytes + bytes > limits.heldBytes) {
      const gaveWay =
        (departures.heldBytes > leavingBytes && departures.cutSlowest(mayBeCut)) ||
        (arrivals.heldBytes > arrivingBytes && cutArrival(smallBytes));
      if (!gaveWay) return false;
    }
    return true;
  }

  function cutArrival(bytes: number): boolean {
    const isCut = arrivals.cutSlowest(({ heldBytes: held }) => held > bytes);
    if (isCut) shed++;
    return isCut;
  }

  function cutSlowDepartures(): void {
    const now = performance.now();
    const slow = departures.filter(({ began, moved }) => {
      const age = now - began;
      return age >= writeSlowMs && moved() * 1000 < writeBytesPerSecond * age;
    });
    for (const { cut } of slow) cut();
  }

  async function wait(slot: Slot): Promise<void> {
    const began = performance.now();
    try {
      await permits.wait();
      begin(slot);
    } finally {
      slot.stats.queueMs = performance.now() - began;
    }
  }

  function shedding(): CallError {
    shed++;
    return overloaded();
  }
}

/** The refusal of a call that there is no room for, before anything was done for it. */
export function overloaded(): CallError {
  return new CallError('Overloaded', { retryAfter: '1' });
}
