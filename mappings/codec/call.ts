import type { Limits } from '../limits.ts';
import type { Contract, CredentialPart, Operation, Parameter } from '../model.ts';
import { compileBody } from './body.ts';
import { compileParameter, encodeName, encodeText } from './parameter.ts';
import { type ProblemCode, type Reading, refuse } from './problem.ts';

/** From the inputs of a call to the request that goes upstream (W35). */

/** The inputs of one call, read from whatever form the caller used. */
export interface Input {
  /**
   * The body object's JSON without the slotted inputs; of a JSON request the caller's own text. In UTF-8 where it was made
   * from bytes (`Templates`).
   */
  readonly text: string | Buffer;
  readonly reading: Reading;
  /** Where the body object closes in a JSON request's text; undefined for a text made here. */
  readonly closes: number | undefined;
}

/** Credentials to send upstream: all of them, and those that the body doesn't hold (W24, W25). */
export interface CredentialValues {
  readonly all: ReadonlyMap<string, string>;
  readonly fromHeaders: ReadonlySet<string>;
}

/** One call as it goes upstream. */
export interface UpstreamRequest {
  readonly method: string;
  /** Path and query below the upstream's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
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

  const fills = parameters.map((parameter) => compileFill(parameter, slots, limits));
  const begins = path.includes('?') ? '&' : '?';
  return (input, credentials) => {
    const { reading } = input;
    const before = reading.problems.length;
    const draft: Draft = { path, query: '', begins, cookie: '', headers: {} };
    for (const fill of fills) fill(draft, reading);
    const written = writeBody(input, credentials);
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
  return place === 'header' ? value : `${encodeName(name)}=${encodeText(value)}`;
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

const headerText = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

function compileFill(parameter: Parameter, slots: ReadonlyMap<string, number>, limits: Limits): Fill {
  const { field, name } = parameter;
  const slot = slots.get(field) ?? -1;
  const write = compileParameter(parameter, limits);
  const put = putters[parameter.in];
  return (draft, reading) => {
    const token = reading.slots[slot];
    const text = token === undefined || token === 'null' ? undefined : write(token);
    const problem = typeof text === 'object' ? text : put(draft, name, text);
    if (problem !== undefined) refuseAt(reading, problem.code, field, problem.says);
  };
}

interface Problem {
  readonly code: ProblemCode;
  readonly says: string;
}

/** What each place does with a parameter's text; undefined is nothing to send. */
const putters: Readonly<
  Record<Parameter['in'], (draft: Draft, name: string, text: string | undefined) => Problem | undefined>
> = {
  path: (draft, name, text) => {
    if (text === undefined || text === '')
      return { code: 'NotEmpty', says: 'expected a value for the path, got none' };
    // would change which resource the path names
    if (text.split('/').some((segment) => segment === '.' || segment === '..'))
      return { code: 'InvalidCharacter', says: 'expected a value for the path, got dots' };
    draft.path = draft.path.replaceAll(`{${name}}`, () => text);
    return undefined;
  },
  query: (draft, _name, text) => {
    if (text !== undefined) draft.query += (draft.query === '' ? draft.begins : '&') + text;
    return undefined;
  },
  header: (draft, name, text) => {
    if (text === undefined) return undefined;
    if (!headerText.test(text))
      return {
        code: 'InvalidCharacter',
        says: 'expected printable ASCII for a header, got other characters',
      };
    draft.headers[name.toLowerCase()] = text;
    return undefined;
  },
  cookie: (draft, _name, text) => {
    if (text !== undefined) draft.cookie += (draft.cookie === '' ? '' : '; ') + text;
    return undefined;
  },
};

function refuseAt(reading: Reading, code: ProblemCode, field: string, says: string): void {
  reading.path.push(field);
  refuse(reading, code, says);
  reading.path.pop();
}
