import { type InFlight, InFlightSet } from '../admission/in-flight-set.ts';

/** Something that may not last for ever. */
export interface Watched extends InFlight {
  /** Until when it may last, in ms of `performance.now()`, by what is known when it is asked, which is now. */
  readonly due: (now: number) => number;
  /** Told when that is over; it is watched no longer. */
  readonly onDue: () => void;
}

/** How often all is looked at, in ms: nothing ends earlier than it is due, or later than two looks after it. */
const everyMs = 25;

/** Ends what lasts too long: one timer for all that is under way, where each call would set and clear its own. */
export class Watch {
  readonly #watched = new InFlightSet<Watched>();
  #timer: NodeJS.Timeout | undefined;

  add(watched: Watched): void {
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#look(), everyMs);
  }

  delete(watched: Watched): void {
    this.#watched.delete(watched);
  }

  #look(): void {
    const now = performance.now();
    for (const watched of this.#watched.filter((one) => one.due(now) <= now)) {
      this.delete(watched);
      watched.onDue();
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
