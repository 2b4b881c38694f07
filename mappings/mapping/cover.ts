import { isWhere, type Path, type Step, type WhereStep } from './paths.ts';
import type { Shape } from './schemas.ts';
import { isItems, isMembers, type Value } from './value.ts';

/** Items that match `[name=text]`: the first match for a path, all matches for an omission. */
interface Where {
  readonly step: WhereStep;
  readonly ofAll: boolean;
  readonly cover: Cover;
}

/**
 * The parts of a source that rules read or intentionally omit (M3), as a tree. A `whole` node includes all its content.
 */
export class Cover {
  whole = false;
  readonly members = new Map<string, Cover>();
  #every: Cover | undefined;
  readonly #at = new Map<number, Cover>();
  readonly #where: Where[] = [];
  /** Parts that `auto` reads here. They may be recursive. */
  readonly also: Cover[] = [];

  /**
   * Returns the node at a path, and creates missing nodes.
   *
   * @param ofAll true if `[name=text]` matches all items instead of the first
   */
  at(path: Path, ofAll = false): Cover {
    return path.reduce<Cover>((cover, step) => cover.#step(step, ofAll), this);
  }

  #step(step: Step, ofAll: boolean): Cover {
    switch (step.kind) {
      case 'member': {
        const known = this.members.get(step.name) ?? new Cover();
        this.members.set(step.name, known);
        return known;
      }
      case 'every':
        this.#every ??= new Cover();
        return this.#every;
      case 'index': {
        const known = this.#at.get(step.index) ?? new Cover();
        this.#at.set(step.index, known);
        return known;
      }
      case 'where': {
        const cover = new Cover();
        cover.at([{ kind: 'member', name: step.name }]).whole = true; // the value is known
        this.#where.push({ step, ofAll, cover });
        return cover;
      }
    }
  }

  /** Returns the nodes of a member. */
  ofMember(name: string): Cover[] {
    return this.#all((one) => [one.members.get(name)]);
  }

  /**
   * Returns the nodes of an item.
   *
   * @param met conditions that an earlier item has already matched
   */
  ofItem(index: number, item: Value, met: Set<unknown>): Cover[] {
    return this.#all((one) => [
      one.#every,
      one.#at.get(index),
      ...one.#where
        .filter((where) => !met.has(where) && isWhere(item, where.step))
        .map((where) => {
          if (!where.ofAll) met.add(where);
          return where.cover;
        }),
    ]);
  }

  /** Returns the nodes of all items. */
  get ofItems(): Cover[] {
    return this.#all((one) => [one.#every, ...one.#at.values(), ...one.#where.map(({ cover }) => cover)]);
  }

  /** True if the nodes of an item depend on its position or value. */
  get distinguishesItems(): boolean {
    return [this, ...this.also].some((one) => one.#at.size + one.#where.length > 0);
  }

  #all(of: (cover: Cover) => readonly (Cover | undefined)[]): Cover[] {
    const found: Cover[] = [];
    for (const cover of this.also.length === 0 ? [this] : [this, ...this.also])
      for (const inner of of(cover)) if (inner !== undefined) found.push(inner);
    return found;
  }

  get isWhole(): boolean {
    return this.whole || this.also.some(({ whole }) => whole);
  }
}

/** The nodes for one location of a message. Lookups of a member, or of items without distinction, are cached. */
class PlaceCovers {
  readonly #covers: readonly Cover[];
  readonly isWhole: boolean;
  readonly #distinguishesItems: boolean;
  readonly #members = new Map<string, PlaceCovers>();
  #every: PlaceCovers | undefined;

  constructor(covers: readonly Cover[]) {
    this.#covers = covers;
    this.isWhole = covers.some(({ isWhole }) => isWhole);
    this.#distinguishesItems = covers.some((cover) => cover.distinguishesItems);
  }

  get isNone(): boolean {
    return this.#covers.length === 0;
  }

  ofMember(name: string): PlaceCovers {
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const found = new PlaceCovers(this.#covers.flatMap((cover) => cover.ofMember(name)));
    this.#members.set(name, found);
    return found;
  }

  ofItem(index: number, item: Value, met: Set<unknown>): PlaceCovers {
    if (this.#distinguishesItems)
      return new PlaceCovers(this.#covers.flatMap((cover) => cover.ofItem(index, item, met)));
    this.#every ??= new PlaceCovers(this.#covers.flatMap((cover) => cover.ofItems));
    return this.#every;
  }
}

/** Returns the path of the first value that no rule reads. Undefined if all are read. Null values are ignored. */
export function uncoveredPlace(value: Value, cover: Cover): string | undefined {
  const steps = uncoveredSteps(value, new PlaceCovers([cover]));
  if (steps === undefined) return undefined;
  const path = steps.toReversed().map((step) => (typeof step === 'string' ? `.${step}` : `[${step}]`));
  return path.join('').replace(/^\./, '');
}

/** Returns the steps to the first unread value, last step first. They are collected only when one is found. */
function uncoveredSteps(value: Value, covers: PlaceCovers): (string | number)[] | undefined {
  if (value === null || covers.isWhole) return undefined;
  if (covers.isNone) return [];
  if (isMembers(value)) {
    for (const [name, inner] of value) {
      const steps = uncoveredSteps(inner, covers.ofMember(name));
      if (steps !== undefined) return [...steps, name];
    }
    return undefined;
  }
  if (!isItems(value)) return [];
  const met = new Set();
  for (let index = 0; index < value.length; index++) {
    const item = value[index] as Value;
    const steps = uncoveredSteps(item, covers.ofItem(index, item, met));
    if (steps !== undefined) return [...steps, index];
  }
  return undefined;
}

/** Returns the paths of members that no rule reads. An object that is not read at all is listed without its members. */
export function uncoveredMembers(shape: Shape, covers: readonly Cover[]): string[] {
  const found: string[] = [];
  const met = new Map<Shape, Set<Cover>>();
  const visit = (at: Shape, here: readonly Cover[], path: string): void => {
    if (here.some(({ isWhole }) => isWhole)) return;
    const known = met.get(at) ?? new Set();
    if (here.length > 0 && here.every((cover) => known.has(cover))) return; // a recursive type
    met.set(at, known);
    for (const cover of here) known.add(cover);
    if (here.length === 0) found.push(path);
    else {
      for (const [name, member] of at.members)
        visit(
          member.shape,
          here.flatMap((cover) => cover.ofMember(name)),
          path === '' ? name : `${path}.${name}`,
        );
      const inItems = here.flatMap((cover) => cover.ofItems);
      if (at.items !== undefined && inItems.length > 0) visit(at.items, inItems, `${path}[]`);
    }
  };
  visit(shape, covers, '');
  return found;
}
