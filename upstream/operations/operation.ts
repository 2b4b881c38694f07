import type { Caller } from '../access.ts';
import type { Store } from '../database.ts';
import type { JsonObject, OutputObject } from '../json.ts';

/** What an operation works with beside its input. */
export interface Context {
  readonly store: Store;
  readonly caller: Caller;
  /** Milliseconds since 1970 (R4). */
  readonly now: number;
}

/** One operation: the request's top-level members in, the members of `data` but `responseStatus` out.
 *  Throws `Failure` for what the caller is to be told. */
export type Operation = (context: Context, input: JsonObject) => OutputObject | Promise<OutputObject>;

/** In milliseconds. */
export const day = 86_400_000;
