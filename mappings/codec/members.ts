import { JsonReader } from '../json/reader.ts';
import type { Limits } from '../limits.ts';
import type { CredentialValues, Input } from './call.ts';
import { credentialsSlot, type Edit } from './problem.ts';
import { applyEdits, foldAscii } from './record.ts';
import { quoteJson } from './text.ts';

/** The JSON object that most inputs are members of, as a request's body; credentials go into it where it has a member for them (W25). */
export function membersBody(
  input: Input,
  member: string | undefined,
  values: CredentialValues | undefined,
  limits: Limits,
): string {
  const { edits, spans } = input.reading;
  const elsewhere = spans.some((span, slot) => span !== undefined && (slot !== credentialsSlot || !member));
  if (input.closes === undefined || elsewhere) {
    const text = input.closes === undefined ? input.text : withoutSlots(input, limits);
    if (member === undefined || values === undefined) return text;
    const separator = text === '{}' ? '' : ',';
    return `${text.slice(0, -1)}${separator}${quoteJson(member)}:${credentialsText(values.all)}}`;
  }
  if (member === undefined || values === undefined || values.fromHeaders.size === 0) {
    return applyEdits(input.text, edits);
  }
  const span = spans[credentialsSlot];
  const added =
    span === undefined
      ? [appendMember(input.text, input.closes, member, values)]
      : spliceCredentials(input.text, span, values, limits);
  return applyEdits(
    input.text,
    [...edits, ...added].toSorted((a, b) => a.start - b.start),
  );
}

function credentialsText(all: ReadonlyMap<string, string>): string {
  let text = '';
  for (const [name, value] of all) text += `${text === '' ? '' : ','}${quoteJson(name)}:${quoteJson(value)}`;
  return `{${text}}`;
}

/** A JSON request's members, edits put in, without those that travel elsewhere. */
function withoutSlots({ text, reading }: Input, limits: Limits): string {
  const members: string[] = [];
  const json = new JsonReader(text, limits);
  json.peek();
  json.enter();
  for (let first = true; json.next(first, 125); first = false) {
    const start = json.position;
    json.name();
    const value = json.position;
    json.skip();
    const end = json.position;
    if (reading.spans.some((span) => span?.start === value)) continue;
    const edits = reading.edits.filter((edit) => edit.start >= start && edit.end <= end);
    members.push(applyEdits(text.slice(start, end), edits, start));
  }
  return `{${members.join(',')}}`;
}

/** The whole credentials member, as the body's last. */
function appendMember(text: string, closes: number, member: string, values: CredentialValues): Edit {
  const empty = /^\s*\{\s*$/.test(text.slice(0, closes));
  return {
    start: closes,
    end: closes,
    text: `${empty ? '' : ','}${JSON.stringify(member)}:${credentialsText(values.all)}`,
  };
}

/** What came from headers, put into the body's credentials object, or in its place where it is null (W37). */
function spliceCredentials(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  values: CredentialValues,
  limits: Limits,
): Edit[] {
  if (text.startsWith('null', start)) return [{ start, end, text: credentialsText(values.all) }];
  const missing = new Map<string, string>();
  for (const name of values.fromHeaders) missing.set(foldAscii(name), name);
  const edits: Edit[] = [];
  const json = new JsonReader(text, limits, start);
  json.enter();
  let isEmpty = true;
  for (; json.next(isEmpty, 125); isEmpty = false) {
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
  if (rest.length > 0)
    edits.push({ start: closes, end: closes, text: (isEmpty ? '' : ',') + rest.join(',') });
  return edits;
}
