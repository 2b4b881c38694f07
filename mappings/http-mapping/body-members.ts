import type { CredentialValues, Input, WriteCredentialsMember } from '../codec/input.ts';
import { applyEdits, credentialsSlot, type Edit, type Reading } from '../codec/problem.ts';
import { foldAscii, quoteJson } from '../codec/scalars/text.ts';
import type { Limits } from '../contract/limits.ts';
import type { Contract, Operation } from '../contract/model.ts';
import { JsonReader } from '../json/reader.ts';

/** The member of an operation's upstream body that holds its credentials; undefined where none does. */
export function credentialsMemberOf(
  { credentials }: Contract,
  { upstream: { body, server } }: Operation,
): string | undefined {
  const isInBody = body.kind === 'members' && server.credentials && credentials?.send === 'body';
  return isInBody ? credentials.member : undefined;
}

/**
 * One function that writes that member of tokens that came in the request; an empty one is no credential.
 *
 * @param names in the order in which they are written
 * @param tokenNames whose the tokens are, one after the other
 */
export function compileCredentialsMember(
  member: string,
  names: readonly string[],
  tokenNames: readonly string[],
): WriteCredentialsMember {
  const write = credentialsWriter(names);
  return (tokens) => {
    const given = write((name) => {
      const token = tokens[tokenNames.indexOf(name)];
      return token === '""' || token === 'null' ? undefined : token;
    });
    return `${quoteJson(member)}:${given}`;
  };
}

/** The JSON object that most inputs are members of, as a request's body. */
export type WriteMembers = (input: Input, values: CredentialValues | undefined) => string | Buffer;

/**
 * One function that writes it; credentials go into it where it has a member for them (W25).
 *
 * @param member the one for credentials
 * @param names theirs in it
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
    // as they came, where all of them came in the body
    if (input.withCredentials !== undefined && values?.fromHeaders.size === 0) return input.withCredentials;
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

/** An object in UTF-8, with a member more. */
function withMember(object: Buffer, member: string): Buffer {
  const rest = `${object.length === 2 ? '' : ','}${member}}`;
  const all = Buffer.allocUnsafe(object.length - 1 + Buffer.byteLength(rest));
  all.set(object);
  all.write(rest, object.length - 1);
  return all;
}

/** Whether a JSON request has members that travel outside the body. */
function isElsewhere({ spans }: Reading, member: string | undefined): boolean {
  return spans.some((span, slot) => span !== undefined && (slot !== credentialsSlot || member === undefined));
}

/** All credentials as a JSON object. */
type WriteCredentials = (values: CredentialValues) => string;

/** @returns what writes them of what gives the JSON of each; one that is undefined is left out */
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

/** A JSON request's members, edits put in, without those that travel elsewhere. */
function withoutSlots(text: string, reading: Reading, limits: Limits): string {
  const members: string[] = [];
  const json = new JsonReader(text, limits);
  json.peek();
  json.enter();
  let from = 0; // edits stand in the order of the text
  for (let first = true; json.next(first, 125); first = false) {
    const start = json.position;
    json.name();
    const value = json.position;
    json.skip();
    const end = json.position;
    let isLeftOut = false; // with the comma before it, if it isn't the first
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

/** A member as the body's last. */
function appendMember(text: string, closes: number, edits: readonly Edit[], member: string): Edit {
  const empty = /^\s*\{\s*$/.test(applyEdits(text.slice(0, closes), edits));
  return { start: closes, end: closes, text: (empty ? '' : ',') + member };
}

/** What came from headers, put into the body's credentials object, or in its place where it is null (W37). */
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
    const said = foldAscii(json.name());
    const from = json.position;
    json.skip();
    const name = missing.get(said);
    if (name === undefined) continue;
    edits.push({ start: from, end: json.position, text: JSON.stringify(values.all.get(name)) });
    missing.delete(said);
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
