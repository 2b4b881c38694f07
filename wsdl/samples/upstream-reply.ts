import type { Limits } from '../../mappings/contract/limits.ts';
import {
  type BodyForm,
  type HeaderShape,
  type Operation,
  type ReplyMapping,
  statusMember,
} from '../../mappings/contract/model.ts';
import { itemsOf, membersOf, readPart } from '../../mappings/json/parts.ts';

/** A reply of the upstream that the gateway converts into a sample reply. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/**
 * Returns the upstream's reply for the JSON of an operation's output (W35).
 *
 * @param json JSON of the operation's reply type. Throws a JsonError if the text is not JSON.
 */
export function upstreamReplyOf({ upstream }: Operation, json: string, limits: Limits): UpstreamReply {
  const { reply } = upstream;
  switch (reply.kind) {
    case 'object':
      return { status: 200, ...bodyOf('json', json, limits) };
    case 'member':
      return { status: reply.form === 'none' ? 204 : 200, ...bodyOf(reply.form, json, limits) };
    case 'record':
      return recordReply(reply, new Map(membersOf(json, limits)), limits);
  }
}

/** Reduces a reply record to the members of one status: the first success that the document declares. */
export function withOneStatus(reply: ReplyMapping, json: string, limits: Limits): string {
  if (reply.kind !== 'record') return json;
  const [first] = reply.bodies;
  const bodies = new Set(reply.bodies.map(({ member }) => member));
  const members = (membersOf(json, limits) ?? []).flatMap(([name, value]) => {
    if (name === statusMember) return [];
    const isOther = bodies.has(name) && (name !== first?.member || first.form === 'none');
    return isOther ? [] : [`${JSON.stringify(name)}:${value}`];
  });
  return `{${[`"${statusMember}":${statusOf(first?.status)}`, ...members].join(',')}}`;
}

/** Returns a status code: `201` itself, the first code of a range like `2XX`, 200 for `default`. */
function statusOf(stated = 'default'): number {
  if (/^\d{3}$/.test(stated)) return Number(stated);
  return /^\dXX$/i.test(stated) ? Number(`${stated[0]}00`) : 200;
}

function recordReply(
  { bodies, headers }: Extract<ReplyMapping, { kind: 'record' }>,
  members: ReadonlyMap<string, string>,
  limits: Limits,
): UpstreamReply {
  const status = Number(members.get(statusMember) ?? 200);
  const [body] = bodies;
  const json = body === undefined ? undefined : members.get(body.member);
  const stated = headers.flatMap(({ name, member, shape }) => {
    const value = members.get(member);
    if (value === undefined) return [];
    const text = name.toLowerCase() === 'link' ? linkSample : headerText(value, shape, limits);
    return /^[\x20-\x7e]*$/.test(text) ? [[name.toLowerCase(), text] as const] : [];
  });
  const content = bodyOf(json === undefined ? 'none' : (body?.form ?? 'none'), json ?? '', limits);
  return { status, headers: { ...Object.fromEntries(stated), ...content.headers }, body: content.body };
}

/** A Link header (RFC 8288), which the gateway also reads into members of the reply. */
const linkSample = '<https://www.example.com/?page=2>; rel="next"';

/** Formats a header of style `simple` (OpenAPI 3.1, 4.8.12.3). */
function headerText(json: string, shape: HeaderShape, limits: Limits): string {
  if (shape.kind === 'scalar') return scalarText(json, limits);
  if (shape.kind === 'list')
    return (itemsOf(json, limits) ?? []).map((item) => scalarText(item, limits)).join(', ');
  const pairs = (membersOf(json, limits) ?? []).map(([name, value]) => [name, scalarText(value, limits)]);
  return pairs.map((pair) => pair.join(shape.explode ? '=' : ',')).join(',');
}

function scalarText(json: string, limits: Limits): string {
  const part = readPart(json, limits);
  return part.kind === 'text' ? part.text : json;
}

function bodyOf(form: BodyForm, json: string, limits: Limits): Pick<UpstreamReply, 'headers' | 'body'> {
  switch (form) {
    case 'none':
      return { headers: {}, body: '' };
    case 'json':
      return { headers: { 'content-type': 'application/json' }, body: json };
    case 'lines':
      return {
        headers: { 'content-type': 'application/jsonl' },
        body: (itemsOf(json, limits) ?? []).map((item) => `${item}\n`).join(''),
      };
    case 'text':
      return { headers: { 'content-type': 'text/plain; charset=utf-8' }, body: scalarText(json, limits) };
    case 'binary':
      return {
        headers: { 'content-type': 'application/octet-stream' },
        body: Buffer.from(scalarText(json, limits), 'base64'),
      };
  }
}
