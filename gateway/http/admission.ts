import type { Limits } from '../../mappings/contract/limits.ts';
import { CallError } from '../call/error.ts';
import { LargeReplies } from './large-replies.ts';
import { type Passage, Passages } from './passages.ts';
import { Places } from './places.ts';
import { type Room, RoomLine } from './room-line.ts';

/** What one call holds of what there is for all. */
export interface Place {
  admitted: boolean;
  /** The look at the event loop's delay before it was let in, counted from the start. */
  enteredAfter: number;
  /** How long it waited for its place, in ms. */
  queueMs: number;
  /** Bytes of bodies that it keeps in memory. */
  heldBytes: number;
}

/**
 * In bytes: a body or reply of no more is never refused for want of memory. As many of these as there are places for take
 * little beside what large ones may.
 */
export const smallBytes: number = 64 * 1024;

/** How long a reply is on its way before it may be cut where others need its memory, in ms. */
const leastLeavingMs = 1_000;
/** In ms: one that will be out so soon, at the speed at which it goes, is let go on. */
const soonOutMs = 10_000;

/** Whether a reply on its way out may be cut where others need its memory. */
function mayBeCut({ heldBytes, began, moved }: Passage): boolean {
  const age = performance.now() - began;
  if (heldBytes <= smallBytes || age < leastLeavingMs) return false;
  const sent = moved();
  return (heldBytes - sent) * age > sent * soonOutMs;
}

/**
 * Lets in as many calls as the process can carry, keeps some waiting for a moment, and sheds the rest. A call takes its
 * place once its body is there, and gives it back when its reply was given to its connection; bodies on their way in, and
 * replies on their way out, have bounds of their own.
 */
export interface Admission {
  /**
   * Looks whether a call would find room that announces a body of so many bytes, or 0. Throws CallError Overloaded.
   */
  readonly look: (bytes: number) => void;
  /**
   * Gives the call a place: at once, or a promise of one. Throws CallError Overloaded, at once or when it has waited
   * too long.
   */
  readonly enter: (place: Place) => Promise<void> | undefined;
  /** Counts bytes that a call has in memory from now on; false when there is no room for them. */
  readonly hold: (place: Place, bytes: number) => boolean;
  /** Whether there is still room for more of a call's bytes; cuts nobody to make some. */
  readonly mayGrow: (place: Place) => boolean;
  /** Says that a call has no more than so many bytes in memory from now on. */
  readonly shrink: (place: Place, bytes: number) => void;
  /** Counts a call that there is no room for, and gives its refusal. */
  readonly shed: () => CallError;
  /** Gives back all that a call had, whether it was let in or not. */
  readonly leave: (place: Place) => void;
  /** A body begins to come; where too many do the slowest is cut. */
  readonly arrive: (passage: Passage) => void;
  /** Counts bytes of a body that came; false when there is no room for them. */
  readonly came: (passage: Passage, bytes: number) => boolean;
  /** A body is there, and its bytes are its call's; or, without a call, it is given up. */
  readonly arrived: (passage: Passage, place: Place | undefined) => void;
  /** A reply is on its way out, or isn't any more. */
  readonly depart: (passage: Passage) => void;
  readonly departed: (passage: Passage) => void;
  /** Where compressed bodies are unpacked, a few at a time. */
  readonly unpacking: Places;
  /** Room for the replies of writes, which aren't refused for want of it. */
  readonly room: Room;
  /** Of which operations' writes such a reply is likely. */
  readonly largeReplies: LargeReplies;
  /** Ends what is too slow, and looks whether there is room again; to be called every second or so. */
  readonly sweep: () => void;
  /** Tells how late the event loop's timers came at most since the last look, in ms; to be called every second. */
  readonly observeDelay: (ms: number) => void;
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

export function createAdmission(limits: Limits): Admission {
  const places = new Places(limits.inFlight, limits.queue, limits.queueMs, shedding);
  const arrivals = new Passages();
  const departures = new Passages();
  let heldBytes = 0;
  let shed = 0;
  let late = false;
  let closed = false;
  /** Looks at the delay so far, and the calls under way that came since the last one, and between that and the one before. */
  let looks = 0;
  let young = 0;
  let older = 0;

  const line = new RoomLine({
    fits: (bytes) => hasRoom(bytes),
    isDrained: () => departures.heldBytes <= limits.leavingBytes,
    hold: (place, bytes) => {
      heldBytes += bytes;
      place.heldBytes += bytes;
    },
  });

  return {
    look: (bytes) => {
      if (isShut() || places.isFull) throw shedding();
      if (bytes > smallBytes && !hasRoom(1)) throw shedding();
    },
    enter: (place) => {
      if (isShut()) throw shedding();
      if (!places.take()) return wait(place);
      begin(place);
      return undefined;
    },
    hold: (place, bytes) => {
      heldBytes += bytes;
      place.heldBytes += bytes;
      return hasRoom(0) || line.isThrough(place);
    },
    mayGrow: (place) => heldBytes <= limits.heldBytes || line.isThrough(place),
    shed: shedding,
    shrink: (place, bytes) => {
      if (place.heldBytes <= bytes) return;
      heldBytes -= place.heldBytes - bytes;
      place.heldBytes = bytes;
      line.look();
    },
    leave: (place) => {
      heldBytes -= place.heldBytes;
      place.heldBytes = 0;
      line.leave(place);
      if (!place.admitted) return;
      place.admitted = false;
      if (place.enteredAfter === looks) young--;
      else if (place.enteredAfter === looks - 1) older--;
      places.give();
    },
    arrive: (passage) => {
      if (arrivals.size >= limits.arriving) cutArrival(-1);
      arrivals.add(passage);
    },
    came: (passage, bytes) => {
      heldBytes += bytes;
      arrivals.hold(passage, bytes);
      return passage.heldBytes <= smallBytes || hasRoom(0);
    },
    arrived: (passage, place) => {
      const bytes = passage.heldBytes;
      arrivals.delete(passage);
      if (place === undefined) {
        heldBytes -= bytes;
        line.look();
      } else place.heldBytes += bytes;
    },
    depart: (passage) => {
      const { shared } = passage;
      if (shared !== undefined && departures.ofShared(shared) !== undefined) passage.heldBytes = 0;
      heldBytes += passage.heldBytes;
      departures.add(passage);
      hasRoom(0);
    },
    departed: (passage) => {
      const bytes = passage.heldBytes;
      departures.delete(passage);
      const heir =
        passage.shared === undefined || bytes === 0 ? undefined : departures.ofShared(passage.shared);
      if (heir === undefined) heldBytes -= bytes;
      else departures.hold(heir, bytes);
      line.look();
    },
    unpacking: new Places(limits.unpacking, limits.queue, limits.queueMs, shedding),
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
      inFlight: places.taken,
      queued: places.waiting,
      arriving: arrivals.size,
      leaving: departures.size,
      heldBytes,
      shed,
    }),
    close: () => {
      closed = true;
    },
  };

  function begin(place: Place): void {
    place.admitted = true;
    place.enteredAfter = looks;
    young++;
  }

  /**
   * Whether no call is let in: it is closed, or the loop is late. Calls that have been under way for longer wait for a slow
   * upstream: what makes the loop late is not theirs.
   */
  function isShut(): boolean {
    return closed || (late && young + older >= limits.loopDelayInFlight);
  }

  /** Whether there is room for so many bytes more, once those gave way that take more than their share. */
  function hasRoom(bytes: number): boolean {
    while (heldBytes + bytes > limits.heldBytes) {
      const gaveWay =
        (departures.heldBytes > limits.leavingBytes && departures.cutSlowest(mayBeCut)) ||
        (arrivals.heldBytes > limits.arrivingBytes && cutArrival(smallBytes));
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
    const { writeSlowMs, writeBytesPerSecond } = limits;
    const now = performance.now();
    const slow = departures.filter(({ began, moved }) => {
      const age = now - began;
      return age >= writeSlowMs && moved() * 1000 < writeBytesPerSecond * age;
    });
    for (const { cut } of slow) cut();
  }

  async function wait(place: Place): Promise<void> {
    const began = performance.now();
    try {
      await places.wait();
      begin(place);
    } finally {
      place.queueMs = performance.now() - began;
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
