import { MismatchError } from '../codec/problem.ts';
import type { Limits } from '../contract/limits.ts';
import {
  type BodyForm,
  linksMember,
  type Operation,
  type ReplyMapping,
  statusMember,
} from '../contract/model.ts';
import { checkJson } from '../json/parts.ts';
import { recordSeparator } from './body.ts';
import { parseContentType } from './content-type.ts';
import { type HeaderScalars, headerJson, linksOf } from './header.ts';

/** A complete response of the upstream. */
export interface Answer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * Reads a successful response as the JSON of the output (W35); undefined for no value. Throws MismatchError, JsonError.
 */
export type ReadAnswer = (answer: Answer) => Buffer | undefined;

/** Compiles the reader of an operation's responses from its reply mapping (W35). */
export function compileAnswer(
  { upstream: { reply, accept } }: Operation,
  scalars: HeaderScalars,
  limits: Limits,
): ReadAnswer {
  const refuseHtml = reply.kind === 'object' || reply.takesHtml === true ? passHtml : htmlRefusal(accept);
  switch (reply.kind) {
    case 'object':
      return ({ body }) => body;
    case 'member':
      return memberReader(reply.form, refuseHtml, limits);
    case 'record':
      return (answer) => Buffer.from(recordOf(answer, reply, refuseHtml, scalars, limits));
  }
}

/** Throws MismatchError for an HTML response if text or bytes of another media type are declared. */
type RefuseHtml = (answer: Answer) => void;

const passHtml: RefuseHtml = () => {};

/** Refuses HTML with status 200, because it is a page of a proxy or a login, not a text or file of the service. */
function htmlRefusal(accept: string): RefuseHtml {
  const declared = accept.split(',').map((type) => parseContentType(type).type);
  return ({ headers, body }) => {
    const stated = headers['content-type'];
    const isHtml =
      stated === undefined
        ? /^\s*<(?:!doctype\s+html|html)\b/i.test(body.toString('latin1', 0, 256))
        : htmlTypes.has(parseContentType(String(stated)).type);
    if (isHtml) throw new MismatchError({ expected: declared.join(' or '), got: 'HTML' });
  };
}

const htmlTypes: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);

/** Success statuses that may have no body, whatever the document declares (RFC 9110 §15.3.3, §15.3.5, §15.3.6). */
const mayBeEmpty: ReadonlySet<number> = new Set([202, 204, 205]);

/** Throws MismatchError for a success without the JSON that the document declares. */
export function requireBody({ status, body }: Answer): void {
  if (body.length === 0 && status < 300 && !mayBeEmpty.has(status))
    throw new MismatchError({ expected: `a JSON body with status ${status}`, got: 'none' });
}

/** Returns a predicate for success statuses: 2xx, or a redirect that the document declares. */
export function compileSuccess({ upstream: { reply } }: Operation): (status: number) => boolean {
  const redirects = reply.kind === 'record' ? reply.redirects : [];
  const known = (status: number): boolean => redirects.some((range) => isIn(status, range));
  return (status) => status >= 200 && (status < 300 || (status < 400 && known(status)));
}

function memberReader(form: BodyForm, refuseHtml: RefuseHtml, limits: Limits): ReadAnswer {
  if (form === 'none') return () => undefined;
  if (form === 'json')
    return (answer) => {
      requireBody(answer);
      return answer.body.length === 0 ? undefined : answer.body;
    };
  return (answer) => {
    if (isNone(answer)) return undefined;
    if (form !== 'lines') refuseHtml(answer);
    return Buffer.from(form === 'lines' ? arrayOfLines(answer.body, limits) : rawOf(answer, form));
  };
}

/** Converts JSON lines, or a sequence by RFC 7464, to one array. Each value is checked separately. */
function arrayOfLines(body: Buffer, limits: Limits): string {
  const text = decode(body, 'utf-8');
  const values = text
    .split(text.startsWith(recordSeparator) ? recordSeparator : '\n')
    .filter((line) => !/^[\t\n\r ]*$/.test(line));
  for (const value of values) checkJson(value, limits);
  return `[${values.join(',')}]`;
}

/** Returns true for an empty body with status 204 or 205, which is no body and not an empty text (RFC 9110, 15.3). */
function isNone({ status, body }: Answer): boolean {
  return (status === 204 || status === 205) && body.length === 0;
}

/** Converts a raw body to a JSON string. */
function rawOf({ body, headers }: Answer, form: 'text' | 'binary'): string {
  if (form === 'binary') return `"${body.toString('base64')}"`;
  const charset = parseContentType(String(headers['content-type'] ?? '')).charset || 'utf-8';
  return JSON.stringify(decode(body, charset));
}

function decode(body: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body);
  } catch {
    throw new MismatchError({ expected: 'text in the charset that it says', got: 'other bytes' });
  }
}

// --- a record of status, headers and body ------------------------------------------------------------

type RecordMapping = Extract<ReplyMapping, { kind: 'record' }>;

function recordOf(
  answer: Answer,
  { headers, bodies }: RecordMapping,
  refuseHtml: RefuseHtml,
  scalars: HeaderScalars,
  limits: Limits,
): string {
  const members = [`${JSON.stringify(statusMember)}:${answer.status}`];
  for (const header of headers) {
    const stated = answer.headers[header.name.toLowerCase()];
    if (stated === undefined) continue;
    const value = typeof stated === 'string' ? stated : stated.join(', ');
    const json = headerJson(value, header.shape, scalars);
    if (json !== undefined) members.push(`${JSON.stringify(header.member)}:${json}`);
    const links = header.name.toLowerCase() === 'link' ? linksOf(value) : [];
    if (links.length > 0) members.push(`${JSON.stringify(linksMember)}:${JSON.stringify(links)}`);
  }
  const body = findBody(answer.status, bodies);
  if (body !== undefined) {
    if (body.form === 'json' && isIn(answer.status, body.status)) requireBody(answer);
    const json = bodyJson(answer, body.form, refuseHtml, limits);
    if (json !== undefined) members.push(`${JSON.stringify(body.member)}:${json}`);
  }
  return `{${members.join(',')}}`;
}

/** Returns the document's most specific response for a status; the first one for an unknown status. */
function findBody(
  status: number,
  bodies: RecordMapping['bodies'],
): RecordMapping['bodies'][number] | undefined {
  return (
    bodies.find((body) => body.status === String(status)) ??
    bodies.find((body) => isIn(status, body.status)) ??
    bodies[0]
  );
}

/** Returns true if a status is in a range such as `2XX` or `default`, or equals it. */
function isIn(status: number, range: string): boolean {
  return (
    range === 'default' || range === String(status) || range.toUpperCase() === `${String(status).charAt(0)}XX`
  );
}

function bodyJson(
  answer: Answer,
  form: BodyForm,
  refuseHtml: RefuseHtml,
  limits: Limits,
): string | undefined {
  const { body } = answer;
  if (form === 'none' || isNone(answer)) return undefined;
  if (form === 'lines') return arrayOfLines(body, limits);
  if (body.length === 0) return undefined;
  if (form !== 'json') {
    refuseHtml(answer);
    return rawOf(answer, form);
  }
  const text = decode(body, 'utf-8');
  checkJson(text, limits); // more than one value in the body would add members to the record
  return text;
}
