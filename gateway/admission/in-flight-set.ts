/** A member of an `InFlightSet`. */
export interface InFlight {
  /** Where it stands in its set, which alone writes it; -1 before. */
  index: number;
}

/**
 * What is under way, in no order, coming and going all the time. No Set: one that is filled and emptied all the time
 * leaves tables behind that keep dead calls in memory.
 */
export class InFlightSet<T extends InFlight> {
  #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Those that a test holds for, as of now. */
  filter(holds: (member: T) => boolean): readonly T[] {
    return this.#members.filter(holds);
  }

  add(member: T): void {
    member.index = this.#members.push(member) - 1;
  }

  /** Nothing where it isn't in the set. */
  delete(member: T): void {
    const { index } = member;
    if (this.#members[index] !== member) return;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    last.index = index;
    this.#members[index] = last;
  }

  /** All of it, which leaves. */
  takeAll(): readonly T[] {
    const members = this.#members;
    if (members.length > 0) this.#members = [];
    return members;
  }
}
