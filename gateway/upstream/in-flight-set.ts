/** What may be in a crowd. */
export interface Standing {
  /** Where it stands in its crowd. */
  place: number;
}

/**
 * What is under way, in no order, coming and going all the time. No Set: one that is filled and emptied all the time
 * leaves tables behind that keep dead calls in memory.
 */
export class Crowd<T extends Standing> {
  #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Those that a test holds for, as of now. */
  filter(holds: (member: T) => boolean): readonly T[] {
    return this.#members.filter(holds);
  }

  add(member: T): void {
    member.place = this.#members.push(member) - 1;
  }

  /** Nothing where it isn't in the crowd. */
  delete(member: T): void {
    const { place } = member;
    if (this.#members[place] !== member) return;
    const last = this.#members.pop();
    if (last === undefined || last === member) return;
    last.place = place;
    this.#members[place] = last;
  }

  /** All of it, which leaves. */
  takeAll(): readonly T[] {
    const members = this.#members;
    if (members.length > 0) this.#members = [];
    return members;
  }
}
