/** Something that may not last for ever. */
export interface Watched {
  /** Where it stands in its watch. */
  place: number;
  /** Until when it may last, in ms of `performance.now()`, by what is known when it is asked, which is now. */
  readonly due: (now: number) => number;
  /** Told when that is over; it is watched no longer. */
  readonly onDue: () => void;
}

/** How often all is looked at, in ms: nothing ends earlier than it is due, or later than two looks after it. */
const everyMs = 25;

/** Ends what lasts too long: one timer for all that is under way, where each call would set and clear its own. */
export class Watch {
  /** No Set: one that is filled and emptied all the time leaves tables behind that keep dead calls in memory. */
  readonly #watched: Watched[] = [];
  #timer: NodeJS.Timeout | undefined;

  add(watched: Watched): void {
    watched.place = this.#watched.push(watched) - 1;
    this.#timer ??= setInterval(() => this.#look(), everyMs);
  }

  delete(watched: Watched): void {
    const { place } = watched;
    if (this.#watched[place] !== watched) return;
    const last = this.#watched.pop();
    if (last === undefined || last === watched) return;
    last.place = place;
    this.#watched[place] = last;
  }

  #look(): void {
    const now = performance.now();
    for (const watched of this.#watched.filter((one) => one.due(now) <= now)) {
      this.delete(watched);
      watched.onDue();
    }
    if (this.#watched.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
