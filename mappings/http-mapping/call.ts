import type { FilledBody } from '../codec/filled-body.ts';
import type { CredentialValues, Input } from '../codec/input.ts';
import { type Reading, refuseAt } from '../codec/problem.ts';
import type { Refusal } from '../codec/scalars/scalar.ts';
import type { StreamedFile } from '../codec/streamed-file.ts';
import type { Limits } from '../contract/limits.ts';
import type { Contract, CredentialPart, Operation, Parameter } from '../contract/model.ts';
import type { Reason } from '../contract/reason.ts';
import { fitsHeader, hasControls, hasControlsInQuery, hasDots } from '../places.ts';
import { compileBody } from './body.ts';
import { compileParameter, encodeName, encodeText, namesTaken } from './parameter.ts';

/** From the inputs of a call to the request that goes upstream (W35). */

export type { CredentialValues, Input };

/** One call as it goes upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path and query below the upstream's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One with parts of a multipart message in it makes their base64 as it is written; a file may still come (W64). */
  readonly body: string | Buffer | FilledBody | StreamedFile | undefined;
  /** Whether nobody else reads the memory of a body that is bytes: it can be given back once the call is over. */
  readonly ownsBody?: boolean;
  readonly operation: Operation;
}

/** The call upstream; undefined once it is noted in the reading that a value can't stand in its place. */
export type WriteCall = (
  input: Input,
  credentials: CredentialValues | undefined,
) => UpstreamRequest | undefined;

/** One function that turns an operation's inputs into its upstream call. */
export function compileCall(
  contract: Contract,
  operation: Operation,
  slots: ReadonlyMap<string, number>,
  limits: Limits,
): WriteCall {
  const { method, path, parameters, body, accept, server } = operation.upstream;
  const writeBody = compileBody(contract, operation, slots, limits);
  const withoutBody = { accept };
  const withBody = body.kind === 'none' ? withoutBody : { 'content-type': body.mediaType, accept };
  const parts =
    server.credentials && contract.credentials?.send === 'headers' ? contract.credentials.parts : [];

  if (parameters.length === 0 && parts.length === 0 && isFixed(body))
    return (input, credentials) => {
      const content = writeBody(input, credentials)?.content;
      return {
        method,
        path,
        headers: content === undefined ? withoutBody : withBody,
        body: content,
        operation,
      };
    };

  const fills = parameters.map((parameter) => {
    const type = operation.input.fields.find(({ json }) => json === parameter.field)?.type;
    const taken = namesTaken(namesBeside(parameter, operation, parts), type);
    return compileFill(parameter, slots, limits, taken);
  });
  const lastInPath = parameters.findLast((parameter) => parameter.in === 'path')?.field;
  const begins = path.includes('?') ? '&' : '?';
  return (input, credentials) => {
    const { reading } = input;
    const before = reading.problems.length;
    const draft: Draft = { path, query: '', begins, cookie: '', headers: {} };
    for (const fill of fills) fill(draft, reading);
    const written = writeBody(input, credentials);
    // several values may make one segment
    if (lastInPath !== undefined && reading.problems.length === before && hasDots(draft.path))
      refuseAt(reading, lastInPath, gotDots.code, gotDots.reason);
    if (reading.problems.length > before) return undefined;
    const { headers } = draft;
    headers.accept = accept;
    if (written !== undefined) headers['content-type'] = written.mediaType;
    for (const part of parts) {
      const value = credentials?.all.get(part.name);
      if (value !== undefined) putters[part.sent.in](draft, part.sent.name, credentialText(part, value));
    }
    if (draft.cookie !== '') headers.cookie = draft.cookie;
    return { method, path: draft.path + draft.query, headers, body: written?.content, operation };
  };
}

/** A credential as its place writes it. */
function credentialText({ sent: { in: place, name } }: CredentialPart, value: string): string {
  return place === 'header' ? value : `${encodeName(name.toWellFormed())}=${encodeText(value)}`;
}

/** True for a body whose media type says it all, and that can hold whatever its type can. */
function isFixed(body: Operation['upstream']['body']): boolean {
  if (body.kind === 'json') return body.arrays === body.mediaType;
  return body.kind === 'none' || body.kind === 'members';
}

// --- parameters ------------------------------------------------------------------------------------

/** The call while its parameters are put in. */
interface Draft {
  path: string;
  query: string;
  /** What the query begins with: `&` behind a path that has one of its own. */
  readonly begins: '?' | '&';
  cookie: string;
  readonly headers: Record<string, string>;
}

type Fill = (draft: Draft, reading: Reading) => void;

/** Names in a parameter's place that aren't its own; only in a query and in a cookie members have names there. */
function namesBeside(
  parameter: Parameter,
  { upstream: { parameters, path } }: Operation,
  credentials: readonly CredentialPart[],
): readonly string[] {
  const place = parameter.in;
  if (place !== 'query' && place !== 'cookie') return [];
  const others = [
    ...parameters.filter((other) => other !== parameter),
    ...credentials.map(({ sent }) => sent),
  ];
  const inPath = place === 'query' ? new URLSearchParams(path.split('?')[1]).keys() : [];
  return [...others.filter((other) => other.in === place).map(({ name }) => name), ...inPath];
}

function compileFill(
  parameter: Parameter,
  slots: ReadonlyMap<string, number>,
  limits: Limits,
  taken: ReadonlySet<string>,
): Fill {
  const { field, name } = parameter;
  const slot = slots.get(field) ?? -1;
  const write = compileParameter(parameter, limits, undefined, taken);
  const put = putters[parameter.in];
  return (draft, reading) => {
    const token = reading.slots[slot];
    const text = token === undefined || token === 'null' ? undefined : write(token);
    const problem = typeof text === 'object' ? text : put(draft, name, text);
    if (problem !== undefined) refuseAt(reading, field, problem.code, problem.reason);
  };
}

const gotDots = {
  code: 'InvalidCharacter',
  reason: { expected: 'a value for the path', got: 'dots' },
} as const;

function noControls(place: string): Reason {
  return { expected: `no control characters for ${place}`, got: 'some' };
}

/** What each place does with a parameter's text; undefined is nothing to send. */
const putters: Readonly<
  Record<Parameter['in'], (draft: Draft, name: string, text: string | undefined) => Refusal | undefined>
> = {
  path: (draft, name, text) => {
    if (text === undefined || text === '')
      return { code: 'NotEmpty', reason: { expected: 'a value for the path', got: 'none' } };
    if (hasControls(text)) return { code: 'InvalidCharacter', reason: noControls('the path') };
    if (hasDots(text)) return gotDots;
    draft.path = draft.path.replaceAll(`{${name}}`, () => text);
    return undefined;
  },
  query: (draft, _name, text) => {
    if (text !== undefined && hasControlsInQuery(text))
      return { code: 'InvalidCharacter', reason: noControls('the query') };
    if (text !== undefined) draft.query += (draft.query === '' ? draft.begins : '&') + text;
    return undefined;
  },
  header: (draft, name, text) => {
    if (text === undefined) return undefined;
    if (!fitsHeader(text))
      return {
        code: 'InvalidCharacter',
        reason: { expected: 'printable ASCII for a header', got: 'other characters' },
      };
    draft.headers[name.toLowerCase()] = text;
    return undefined;
  },
  cookie: (draft, _name, text) => {
    if (text !== undefined && hasControls(text))
      return { code: 'InvalidCharacter', reason: noControls('a cookie') };
    if (text !== undefined) draft.cookie += (draft.cookie === '' ? '' : '; ') + text;
    return undefined;
  },
};
