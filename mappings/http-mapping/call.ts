import type { FilledBody } from '../codec/filled-body.ts';
import type { CredentialValues, Input } from '../codec/input.ts';
import { type Reading, refuseAt } from '../codec/problem.ts';
import type { Refusal } from '../codec/scalars/scalar.ts';
import type { StreamedFile } from '../codec/streamed-file.ts';
import type { CredentialPart } from '../contract/credentials.ts';
import type { Limits } from '../contract/limits.ts';
import type { Contract, Operation, Parameter } from '../contract/model.ts';
import type { Reason } from '../contract/reason.ts';
import { fitsHeader, hasControls, hasControlsInQuery, hasDots } from '../places.ts';
import { compileBody } from './body.ts';
import { compileParameter, encodeName, encodeText, namesTaken } from './parameter.ts';

/** Converts the inputs of a call to the upstream request (W35). */

export type { CredentialValues, Input };

/** An upstream request. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path and query below the upstream's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A FilledBody generates the base64 of attachments while it is sent. A StreamedFile may still be arriving (W64). */
  readonly body: string | Buffer | FilledBody | StreamedFile | undefined;
  /** True if the memory of a Buffer body is not shared, so that it can be released after the call. */
  readonly ownsBody?: boolean;
  readonly operation: Operation;
}

/**
 * Writes the upstream request. Returns undefined if a value is invalid at its position; the reading records the
 * problem.
 */
export type WriteCall = (
  input: Input,
  credentials: CredentialValues | undefined,
) => UpstreamRequest | undefined;

/** Compiles the function that converts an operation's inputs to its upstream request. */
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
    const taken = namesTaken(otherNames(parameter, operation, parts), type);
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
    // several values may form one segment
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

/** Formats a credential for its position. */
function credentialText({ sent: { in: place, name } }: CredentialPart, value: string): string {
  return place === 'header' ? value : `${encodeName(name.toWellFormed())}=${encodeText(value)}`;
}

/** Returns true for a body with a constant media type that can represent all values of its type. */
function isFixed(body: Operation['upstream']['body']): boolean {
  if (body.kind === 'json') return body.arrays === body.mediaType;
  return body.kind === 'none' || body.kind === 'members';
}

// --- parameters ------------------------------------------------------------------------------------

/** The request while its parameters are added. */
interface Draft {
  path: string;
  query: string;
  /** First character of the query: `&` if the path already has a query. */
  readonly begins: '?' | '&';
  cookie: string;
  readonly headers: Record<string, string>;
}

type Fill = (draft: Draft, reading: Reading) => void;

/** Returns the other names at a parameter's position. Only in queries and cookies do members have names. */
function otherNames(
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
  return { expected: `no control characters for ${place}`, got: 'control characters' };
}

/** Adds a parameter's text to its position; undefined means no value. */
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
