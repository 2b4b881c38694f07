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

/** What the service behind answered, whole. */
export interface Answer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** A success as the JSON that the output is written from (W35); undefined for no value. Throws MismatchError, JsonError. */
export type ReadAnswer = (answer: Answer) => Buffer | undefined;

/** What reads the answers of an operation, by its reply mapping (W35). */
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

/** Throws MismatchError for an answer of HTML where text or bytes of another media type are declared. */
type RefuseHtml = (answer: Answer) => void;

const passHtml: RefuseHtml = () => {};

/** The page of a proxy or of a login is no text or file of the service, though it comes with 200. */
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

/** Statuses of success that may have no body whatever the document says (RFC 9110 §15.3.3, §15.3.5, §15.3.6). */
const mayBeEmpty: ReadonlySet<number> = new Set([202, 204, 205]);

/** Throws MismatchError for a success without the JSON that the document declares. */
export function requireBody({ status, body }: Answer): void {
  if (body.length === 0 && status < 300 && !mayBeEmpty.has(status))
    throw new MismatchError({ expected: `a JSON body with status ${status}`, got: 'none' });
}

/** True for a status of success: 2xx, or a redirect that the document has. */
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

/** The JSON values of lines, or of a sequence by RFC 7464, as one array: each checked to be a value by itself. */
function arrayOfLines(body: Buffer, limits: Limits): string {
  const text = decode(body, 'utf-8');
  const values = text
    .split(text.startsWith(recordSeparator) ? recordSeparator : '\n')
    .filter((line) => !/^[\t\n\r ]*$/.test(line));
  for (const value of values) checkJson(value, limits);
  return `[${values.join(',')}]`;
}

/** 204 and 205 have no body, so that an empty one is none rather than an empty text (RFC 9110, 15.3). */
function isNone({ status, body }: Answer): boolean {
  return (status === 204 || status === 205) && body.length === 0;
}

/** A raw body as one JSON string. */
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

// --- a record of all that a reply holds ---------------------------------------------------------------

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

/** The most exact of the document's responses to a status; one that it doesn't know is taken for the first. */
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

/** `2XX` and `default` are ranges. */
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
  checkJson(text, limits); // a body that is more than one value would become members beside it
  return text;
}
