import type { Caller } from '../access.ts';
import type { Store } from '../database.ts';
import type { JsonObject, OutputObject } from '../json.ts';

/** Context of an operation apart from its input. */
export interface Context {
  readonly store: Store;
  readonly caller: Caller;
  /** Milliseconds since 1970 (R4). */
  readonly now: number;
}

/**
 * One operation. It receives the request's top-level members and returns the members of `data` without
 * `responseStatus`. Throws `Failure` for errors that are reported to the caller.
 */
export type Operation = (context: Context, input: JsonObject) => OutputObject | Promise<OutputObject>;

/** One day in milliseconds. */
export const day = 86_400_000;
