import { defaultLimits, type Limits } from '../../../mappings/contract/limits.ts';
import { JsonError } from '../../../mappings/json/grammar.ts';
import { JsonReader } from '../../../mappings/json/reader.ts';
import { Tape } from '../../../mappings/json/tape.ts';

/** A JSON text as returned by the pull methods of JsonReader: numbers as text, objects as lists of members. */
export type Seen =
  | { readonly number: string }
  | { readonly string: string }
  | { readonly literal: string }
  | { readonly items: readonly Seen[] }
  | { readonly members: readonly (readonly [string, Seen])[] };

/** Reads a whole text by pulling each member and item, as codecs do. Throws JsonError. */
export function pull(text: string, limits: Limits = defaultLimits): Seen {
  const json = new JsonReader(text, limits);
  const seen = pullValue(json);
  json.end();
  return seen;
}

function pullValue(json: JsonReader): Seen {
  const code = json.peek();
  if (code === 34) return { string: json.string() };
  if (code === 91) {
    const items: Seen[] = [];
    json.enter();
    for (let first = true; json.next(first, 93); first = false) items.push(pullValue(json));
    return { items };
  }
  if (code === 123) {
    const members: (readonly [string, Seen])[] = [];
    json.enter();
    for (let first = true; json.next(first, 125); first = false) members.push([json.name(), pullValue(json)]);
    return { members };
  }
  if (code === 116 || code === 102 || code === 110) return { literal: json.literal() };
  return { number: json.number() };
}

/** Reads a whole text by skipping it, as codecs do with unknown members. Throws JsonError. */
export function skip(text: string, limits: Limits = defaultLimits): void {
  const json = new JsonReader(text, limits);
  json.skip();
  json.end();
}

/** Reads a whole text from its bytes, as replies are read. Throws JsonError. */
function scan(text: string, limits: Limits): void {
  const tape = new Tape();
  tape.start(Buffer.from(text), limits);
  tape.skip();
  tape.end();
}

/** Returns the JsonError of all readers, or undefined if none fails. Throws if they disagree. */
export function errorOf(text: string, limits: Limits = defaultLimits): JsonError | undefined {
  const pulled = catchError(() => pull(text, limits));
  const skipped = catchError(() => skip(text, limits));
  const scanned = catchError(() => scan(text, limits));
  if (pulled?.message !== skipped?.message) {
    throw new Error(`pulled: ${pulled?.message}; skipped: ${skipped?.message}`);
  }
  if (verdictOf(pulled) !== verdictOf(scanned, Buffer.from(text))) {
    throw new Error(`pulled: ${pulled?.message}; scanned: ${scanned?.message}`);
  }
  return pulled;
}

/** Returns an error without the found value, which is a character or a byte, and with its position in characters. */
function verdictOf(error: JsonError | undefined, bytes?: Buffer): string | undefined {
  if (error === undefined) return undefined;
  const { position, message, limit } = error;
  const place = bytes === undefined ? position : bytes.toString('utf8', 0, position).length;
  return `${place}${message.slice(message.indexOf(':')).replace(/got (?!the end).*/, 'got another')} ${limit}`;
}

function catchError(read: () => void): JsonError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
}
