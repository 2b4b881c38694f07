import type { Limits } from '../contract/limits.ts';
import { JsonReader } from './reader.ts';

/**
 * A JSON value with all scalars as text, for formats without types, for example a query. Numbers keep their digits.
 */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'null' }
  | { readonly kind: 'list'; readonly json: string; readonly items: readonly Part[] }
  | ObjectPart;

/** A JSON object. */
export interface ObjectPart {
  readonly kind: 'object';
  readonly json: string;
  readonly members: readonly (readonly [string, Part])[];
}

/**
 * Parses one JSON value. Throws JsonError for invalid text.
 *
 * @param onPart called before each part is parsed; it may throw to stop
 */
export function readPart(text: string, limits: Limits, onPart?: () => void): Part {
  const json = new JsonReader(text, limits);
  const part = partAt(json, onPart, undefined);
  json.end();
  return part;
}

/**
 * Parses one JSON value. The members of an object in a list are parsed when they are first read.
 *
 * @param onPart called before each part is parsed; it may throw to stop, also when members are read
 */
export function readLazyPart(text: string, limits: Limits, onPart: () => void): Part {
  const json = new JsonReader(text, limits);
  const part = partAt(json, onPart, (item) => new LazyObject(item, limits, onPart));
  json.end();
  return part;
}

/** An object whose members are parsed when they are first read. */
class LazyObject implements ObjectPart {
  readonly kind = 'object';
  readonly json: string;
  readonly #limits: Limits;
  readonly #onPart: () => void;
  #members: ObjectPart['members'] | undefined;

  constructor(json: string, limits: Limits, onPart: () => void) {
    this.json = json;
    this.#limits = limits;
    this.#onPart = onPart;
  }

  get members(): ObjectPart['members'] {
    this.#members ??= membersAt(new JsonReader(this.json, this.#limits), this.#onPart, (item) => {
      return new LazyObject(item, this.#limits, this.#onPart);
    });
    return this.#members;
  }
}

/** Checks that a text is exactly one JSON value. Throws JsonError. */
export function checkJson(text: string, limits: Limits): void {
  const json = new JsonReader(text, limits);
  json.skip();
  json.end();
}

/** Returns the members of an object, each with its JSON; undefined for another value. */
export function membersOf(text: string, limits: Limits): (readonly [string, string])[] | undefined {
  const json = new JsonReader(text, limits);
  if (json.peek() !== 123) return undefined;
  const members: (readonly [string, string])[] = [];
  json.enter();
  for (let first = true; json.next(first, 125); first = false) members.push([json.name(), skipped(json)]);
  return members;
}

/** Returns the items of an array, each as JSON; undefined for another value. */
export function itemsOf(text: string, limits: Limits): string[] | undefined {
  const json = new JsonReader(text, limits);
  if (json.peek() !== 91) return undefined;
  const items: string[] = [];
  json.enter();
  for (let first = true; json.next(first, 93); first = false) items.push(skipped(json));
  return items;
}

/** Moves past the value at the reader and returns its JSON. */
export function skipped(json: JsonReader): string {
  json.peek();
  const start = json.position;
  json.skip();
  return json.text.slice(start, json.position);
}

/** Creates the part of an object in a list from its JSON; undefined to parse it at once. */
type ItemOf = ((json: string) => ObjectPart) | undefined;

function partAt(json: JsonReader, onPart: (() => void) | undefined, itemOf: ItemOf, isItem = false): Part {
  onPart?.();
  const code = json.peek();
  const start = json.position;
  if (code === 34) return { kind: 'text', text: json.string() };
  if (code === 91) {
    const items: Part[] = [];
    json.enter();
    for (let first = true; json.next(first, 93); first = false)
      items.push(partAt(json, onPart, itemOf, true));
    return { kind: 'list', json: json.text.slice(start, json.position), items };
  }
  if (code === 123) {
    if (isItem && itemOf !== undefined) return itemOf(skipped(json));
    const members = membersAt(json, onPart, itemOf);
    return { kind: 'object', json: json.text.slice(start, json.position), members };
  }
  json.skip();
  const token = json.text.slice(start, json.position);
  return token === 'null' ? { kind: 'null' } : { kind: 'text', text: token };
}

/** Parses the members of the object at the reader. */
function membersAt(
  json: JsonReader,
  onPart: (() => void) | undefined,
  itemOf: ItemOf,
): ObjectPart['members'] {
  const members: (readonly [string, Part])[] = [];
  json.enter();
  for (let first = true; json.next(first, 125); first = false)
    members.push([json.name(), partAt(json, onPart, itemOf)]);
  return members;
}
