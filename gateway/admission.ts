import type { Limits } from '../mappings/limits.ts';
import { CallError } from './error.ts';

/** What one call holds of what there is for all. */
export interface Place {
  admitted: boolean;
  /** How long it waited for its place, in ms. */
  queueMs: number;
  /** Bytes of bodies that it keeps in memory. */
  heldBytes: number;
}

/** Lets in as many calls as the process can carry, keeps some waiting for a moment, and sheds the rest. */
export interface Admission {
  /**
   * Gives the call a place: at once, or a promise of one. Throws CallError Overloaded, at once or when it has waited
   * too long.
   */
  readonly enter: (place: Place) => Promise<void> | undefined;
  /** Counts bytes that a call has in memory from now on; false when there is no room for them. */
  readonly hold: (place: Place, bytes: number) => boolean;
  /** Gives back all that a call had, whether it was let in or not. */
  readonly leave: (place: Place) => void;
  /** Tells how late the event loop's timers came of late, in ms. */
  readonly observeDelay: (ms: number) => void;
  readonly load: () => Load;
}

/** How much is under way in a process. */
export interface Load {
  readonly inFlight: number;
  readonly queued: number;
  readonly heldBytes: number;
  /** Calls shed since the start. */
  readonly shed: number;
}

interface Waiter {
  readonly resolve: () => void;
}

export function createAdmission(limits: Limits): Admission {
  const queue: Waiter[] = [];
  let inFlight = 0;
  let heldBytes = 0;
  let shed = 0;
  let late = false;

  return {
    enter: (place) => {
      if (heldBytes >= limits.heldBytes || (late && inFlight >= limits.loopDelayInFlight)) throw shedding();
      if (inFlight < limits.inFlight) {
        inFlight++;
        place.admitted = true;
        return undefined;
      }
      if (queue.length >= limits.queue) throw shedding();
      return wait(place);
    },
    hold: (place, bytes) => {
      heldBytes += bytes;
      place.heldBytes += bytes;
      return heldBytes <= limits.heldBytes;
    },
    leave: (place) => {
      heldBytes -= place.heldBytes;
      place.heldBytes = 0;
      if (!place.admitted) return;
      place.admitted = false;
      const next = queue.shift();
      if (next === undefined) inFlight--;
      else next.resolve(); // the place goes on to who waited longest
    },
    observeDelay: (ms) => {
      late = ms > limits.loopDelayMs;
    },
    load: () => ({ inFlight, queued: queue.length, heldBytes, shed }),
  };

  async function wait(place: Place): Promise<void> {
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(shedding());
      }, limits.queueMs);
      const waiter: Waiter = {
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      queue.push(waiter);
    }).finally(() => {
      place.queueMs = performance.now() - began;
    });
    place.admitted = true;
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
