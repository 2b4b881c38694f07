/** A member of an `InFlightSet`. */
export interface InFlight {
  /** Position in its set, written only by the set; -1 before it is added. */
  index: number;
}

/**
 * An unordered set for members that are added and removed constantly. A `Set` used like this keeps old hash tables,
 * which hold ended calls in memory.
 */
export class InFlightSet<T extends InFlight> {
  #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Returns the members that match a predicate. */
  filter(holds: (member: T) => boolean): readonly T[] {
    return this.#members.filter(holds);
  }

  add(member: T): void {
    member.index = this.#members.push(member) - 1;
  }

  /** Removes a member. Does nothing if it is not in the set. */
  delete(member: T): void {
    const { index } = member;
    if (this.#members[index] !== member) return;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    last.index = index;
    this.#members[index] = last;
  }

  /** Removes and returns all members. */
  takeAll(): readonly T[] {
    const members = this.#members;
    if (members.length > 0) this.#members = [];
    return members;
  }
}
