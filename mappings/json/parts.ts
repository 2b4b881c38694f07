import type { Limits } from '../contract/limits.ts';
import { JsonReader } from './reader.ts';

/**
 * A JSON value with all scalars as text, for formats without types, for example a query. Numbers keep their digits.
 */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'null' }
  | { readonly kind: 'list'; readonly json: string; readonly items: readonly Part[] }
  | {
      readonly kind: 'object';
      readonly json: string;
      readonly members: readonly (readonly [string, Part])[];
    };

/**
 * Parses one JSON value. Throws JsonError for invalid text.
 *
 * @param onPart called before each part is parsed; it may throw to stop
 */
export function readPart(text: string, limits: Limits, onPart?: () => void): Part {
  const json = new JsonReader(text, limits);
  const part = partAt(json, onPart);
  json.end();
  return part;
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

function partAt(json: JsonReader, onPart: (() => void) | undefined): Part {
  onPart?.();
  const code = json.peek();
  const start = json.position;
  if (code === 34) return { kind: 'text', text: json.string() };
  if (code === 91) {
    const items: Part[] = [];
    json.enter();
    for (let first = true; json.next(first, 93); first = false) items.push(partAt(json, onPart));
    return { kind: 'list', json: json.text.slice(start, json.position), items };
  }
  if (code === 123) {
    const members: (readonly [string, Part])[] = [];
    json.enter();
    for (let first = true; json.next(first, 125); first = false)
      members.push([json.name(), partAt(json, onPart)]);
    return { kind: 'object', json: json.text.slice(start, json.position), members };
  }
  json.skip();
  const token = json.text.slice(start, json.position);
  return token === 'null' ? { kind: 'null' } : { kind: 'text', text: token };
}
