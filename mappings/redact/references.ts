import { anyType } from '../contract/built-in-types.ts';
import type { SchemaType } from '../contract/type-graph.ts';
import { type Level, type Step, stepOf } from './levels.ts';

// Targets of references in messages of SOAP's encoding (A23). A target is redacted like the elements that refer to it.

/** An element while it is redacted. */
export interface Place {
  readonly type: SchemaType | undefined;
  readonly path: readonly Step[];
  readonly level: Level;
  /** True if the path does not begin at the root. */
  readonly isPart: boolean;
}

/** The places of the elements that refer to a target, joined, by the id of the target. */
export class References {
  /** True if a place has changed since this was set to false. */
  isChanged = false;
  readonly #places = new Map<string, Place>();

  /** Adds an element that refers to a target. */
  note(id: string, place: Place): void {
    const known = this.#places.get(id);
    const type = known === undefined || known.type === place.type ? place.type : anyType;
    const next = known === undefined ? place : joined(known, place, type);
    if (known !== undefined && isSame(known, next)) return;
    this.#places.set(id, next);
    this.isChanged = true;
  }

  /** Returns the place of a target; undefined for an unknown one. */
  at(id: string): Place | undefined {
    return this.#places.get(id);
  }
}

const ranks: readonly Level[] = [undefined, 'personal', 'open', 'credential'];

/** Returns the level that shows less. */
export function strictest(one: Level, other: Level): Level {
  return ranks.indexOf(one) > ranks.indexOf(other) ? one : other;
}

/** Joins two places of an element: a path is sensitive if it is so at either of them. */
export function joined(one: Place, other: Place, type: SchemaType | undefined): Place {
  const length = Math.min(one.path.length, other.path.length);
  const [first, second] = [one, other].map(({ path }) => path.slice(path.length - length));
  return {
    type,
    path: (first ?? []).map((step, at) => stepOf(...step, ...(second?.[at] ?? []))),
    level: strictest(one.level, other.level),
    isPart: one.isPart || other.isPart || one.path.length !== other.path.length,
  };
}

/** Returns true if joining changed nothing. */
function isSame(before: Place, after: Place): boolean {
  const { type, path, level, isPart } = after;
  return (
    before.type === type &&
    before.level === level &&
    before.isPart === isPart &&
    before.path.length === path.length &&
    before.path.every((step, at) => step.length === path[at]?.length)
  );
}
