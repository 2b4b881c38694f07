import type { CredentialValues, Input } from '../codec/input.ts';
import { applyEdits, credentialsSlot, type Edit, type Reading } from '../codec/problem.ts';
import { foldAscii, quoteJson } from '../codec/scalars/text.ts';
import type { Limits } from '../contract/limits.ts';
import type { Contract, Operation } from '../contract/model.ts';
import { JsonReader } from '../json/reader.ts';

/** Returns the member of an operation's upstream body that contains the credentials; undefined for none. */
export function credentialsMemberOf(
  { credentials }: Contract,
  { upstream: { body, server } }: Operation,
): string | undefined {
  const isInBody = body.kind === 'members' && server.credentials && credentials?.send === 'body';
  return isInBody ? credentials.member : undefined;
}

/** The JSON object that most inputs are members of, as a request's body. */
export type WriteMembers = (input: Input, values: CredentialValues | undefined) => string | Buffer;

/**
 * Compiles the function that writes this object. Credentials are added if it has a member for them (W25).
 *
 * @param member the member for credentials
 * @param names names of the credentials in it
 */
export function compileMembers(
  member: string | undefined,
  names: readonly string[],
  limits: Limits,
): WriteMembers {
  const write = credentialsWriter(names);
  const whole: WriteCredentials = ({ all }) =>
    write((name) => {
      const value = all.get(name);
      return value === undefined ? undefined : quoteJson(value);
    });
  const opens = member === undefined ? undefined : `${quoteJson(member)}:`;
  return (input, values) => {
    const { text, closes, reading } = input;
    if (typeof text !== 'string')
      return opens === undefined || values === undefined ? text : withMember(text, opens + whole(values));
    if (closes === undefined || isElsewhere(reading, member)) {
      const content = closes === undefined ? text : withoutSlots(text, reading, limits);
      if (opens === undefined || values === undefined) return content;
      return `${content.slice(0, -1)}${content === '{}' ? '' : ','}${opens}${whole(values)}}`;
    }
    const { edits, spans } = reading;
    if (opens === undefined || values === undefined || values.fromHeaders.size === 0)
      return applyEdits(text, edits);
    const span = spans[credentialsSlot];
    const added =
      span === undefined
        ? [appendMember(text, closes, edits, opens + whole(values))]
        : spliceCredentials(text, span, edits, values, whole, limits);
    return applyEdits(
      text,
      [...edits, ...added].toSorted((a, b) => a.start - b.start),
    );
  };
}

/** Adds a member to a JSON object in UTF-8. */
function withMember(object: Buffer, member: string): Buffer {
  const rest = `${object.length === 2 ? '' : ','}${member}}`;
  const all = Buffer.allocUnsafe(object.length - 1 + Buffer.byteLength(rest));
  all.set(object);
  all.write(rest, object.length - 1);
  return all;
}

/** Returns true if a JSON request has members that are not sent in the body. */
function isElsewhere({ spans }: Reading, member: string | undefined): boolean {
  return spans.some((span, slot) => span !== undefined && (slot !== credentialsSlot || member === undefined));
}

/** Writes all credentials as a JSON object. */
type WriteCredentials = (values: CredentialValues) => string;

/** @returns a function that writes the credentials with the JSON from `jsonOf`; those with undefined are left out */
function credentialsWriter(
  names: readonly string[],
): (jsonOf: (name: string) => string | undefined) => string {
  const members = names.map((name) => ({ name, opens: `${quoteJson(name)}:` }));
  return (jsonOf) => {
    let text = '';
    for (const { name, opens } of members) {
      const json = jsonOf(name);
      if (json !== undefined) text += (text === '' ? '' : ',') + opens + json;
    }
    return `{${text}}`;
  };
}

/** Returns a JSON request's object with its edits applied, without members that are not sent in the body. */
function withoutSlots(text: string, reading: Reading, limits: Limits): string {
  const members: string[] = [];
  const json = new JsonReader(text, limits);
  json.peek();
  json.enter();
  let from = 0; // edits are in the order of the text
  for (let first = true; json.next(first, 125); first = false) {
    const start = json.position;
    json.name();
    const value = json.position;
    json.skip();
    const end = json.position;
    let isLeftOut = false; // including the comma before it, unless it is the first member
    for (let edit = reading.edits[from]; edit !== undefined && edit.start < start; ) {
      isLeftOut = edit.end === end;
      edit = reading.edits[++from];
    }
    let to = from;
    while ((reading.edits[to]?.start ?? end) < end) to++;
    const edits = reading.edits.slice(from, to);
    from = to;
    if (isLeftOut || reading.spans.some((span) => span?.start === value)) continue;
    const member = applyEdits(text.slice(start, end), edits, start);
    if (member !== '') members.push(member);
  }
  return `{${members.join(',')}}`;
}

/** Returns the edit that appends a member to the body. */
function appendMember(text: string, closes: number, edits: readonly Edit[], member: string): Edit {
  const empty = /^\s*\{\s*$/.test(applyEdits(text.slice(0, closes), edits));
  return { start: closes, end: closes, text: (empty ? '' : ',') + member };
}

/**
 * Returns the edits that add credentials from headers to the body's credentials object, or replace it if it is null
 * (W37).
 */
function spliceCredentials(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  made: readonly Edit[],
  values: CredentialValues,
  whole: WriteCredentials,
  limits: Limits,
): Edit[] {
  if (text.startsWith('null', start)) return [{ start, end, text: whole(values) }];
  const missing = new Map<string, string>();
  for (const name of values.fromHeaders) missing.set(foldAscii(name), name);
  const edits: Edit[] = [];
  const json = new JsonReader(text, limits, start);
  json.enter();
  for (let first = true; json.next(first, 125); first = false) {
    const folded = foldAscii(json.name());
    const from = json.position;
    json.skip();
    const name = missing.get(folded);
    if (name === undefined) continue;
    edits.push({ start: from, end: json.position, text: JSON.stringify(values.all.get(name)) });
    missing.delete(folded);
  }
  const rest = [...missing.values()].map(
    (name) => `${JSON.stringify(name)}:${JSON.stringify(values.all.get(name))}`,
  );
  const closes = end - 1;
  if (rest.length > 0) {
    const inside = made.filter((edit) => edit.start >= start && edit.start < closes);
    const content = applyEdits(text.slice(start + 1, closes), inside, start + 1);
    edits.push({ start: closes, end: closes, text: (content.trim() === '' ? '' : ',') + rest.join(',') });
  }
  return edits;
}
