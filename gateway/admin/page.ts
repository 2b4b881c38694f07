import type { ParsedUrlQuery } from 'node:querystring';
import { Problem } from './problem.ts';

/** Maximum number of items of a list in one response. */
export const maxItems = 200;

/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Value of `cursor` for the next page; null on the last page. */
  readonly cursor: string | null;
}

/**
 * Returns a page of a list in the order of the keys. A list that changes between two pages loses and repeats no other
 * item. Throws Problem 400 for a wrong `limit` or `cursor`.
 */
export function pageOf<Item>(
  all: readonly Item[],
  query: ParsedUrlQuery,
  keyOf: (item: Item) => string,
): Page<Item> {
  const { most, after } = readPageQuery(query);
  const sorted = all
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === undefined || key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const items = sorted.slice(0, most);
  const last = sorted.length > most ? items.at(-1) : undefined;
  return {
    items: items.map(({ item }) => item),
    cursor: cursorOf(last?.key),
  };
}

/** Returns the cursor of the page after an item. */
export function cursorOf(key: string | undefined): string | null {
  return key === undefined ? null : Buffer.from(key).toString('base64url');
}

/**
 * Returns the maximum number of items, and the key of the last item before the page. Throws Problem 400.
 *
 * @param form form of a key
 */
export function readPageQuery(
  { limit, cursor }: ParsedUrlQuery,
  form = /^/,
): { readonly most: number; readonly after: string | undefined } {
  const most = limit === undefined ? maxItems : Number(limit);
  if (Array.isArray(limit) || !/^\d*$/.test(limit ?? '') || most < 1 || most > maxItems)
    throw wrong('limit', `expected a number from 1 to ${maxItems}`);
  const after = cursor === undefined ? undefined : Buffer.from(String(cursor), 'base64url').toString();
  if (Array.isArray(cursor) || !/^[\w-]*$/.test(cursor ?? '') || (after !== undefined && !form.test(after)))
    throw wrong('cursor', 'expected the cursor of the page before');
  return { most, after };
}

function wrong(parameter: string, message: string): Problem {
  return new Problem(400, `${parameter}: ${message}`, {}, [{ pointer: `/${parameter}`, message }]);
}
