import { Buffer, isUtf8 } from 'node:buffer';
import { type Mismatches, memberNames, pathForLog } from '../../mappings/codec/mismatches.ts';
import { type Deviation, fieldPath, MismatchError } from '../../mappings/codec/problem.ts';
import type { Hide } from '../../mappings/codec/scalars/text.ts';
import {
  readStatus,
  type Status,
  type StatusMembers,
  type StatusValue,
} from '../../mappings/codec/types/response-status.ts';
import type { CompiledContract, CompiledOperation, Frame, WrittenFault } from '../../mappings/compile.ts';
import type { Got } from '../../mappings/contract/got.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { errorMembers, type Operation } from '../../mappings/contract/model.ts';
import { type Quote, sentence, textOf, within } from '../../mappings/contract/reason.ts';
import { readUpstreamError } from '../../mappings/http-mapping/upstream-error.ts';
import { JsonError } from '../../mappings/json/grammar.ts';
import { JsonReader } from '../../mappings/json/reader.ts';
import { NoReplyMemory } from '../../mappings/xml/error.ts';
import type { Noted } from '../telemetry/request-stats.ts';
import type { UpstreamReply } from '../upstream/upstream.ts';
import {
  CallError,
  codesOfStatus,
  type ErrorCode,
  errorCodes,
  type Failure,
  jsonFault,
  placeInReply,
  upstreamMember,
} from './error.ts';

const utf8 = new TextDecoder(); // removes a byte order mark

/** Result of a call: the reply in both formats, or the failure. */
export type Outcome =
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly json: Buffer;
      /** Framed reply element; undefined for a caller of JSON. A small one is a text with one character per byte. */
      readonly xml: Buffer | string | readonly Buffer[] | undefined;
      /** Decoded base64 values that are sent as attachments (W66); undefined if there are none. */
      readonly attached?: readonly Buffer[] | undefined;
      /** True if a worker thread signed `xml` (X31). */
      readonly isSigned?: boolean;
      readonly dropped: number;
      readonly replaced: number;
      readonly passed: number;
      readonly inexact?: number | undefined;
      readonly mismatches: Mismatches | undefined;
    }
  | { readonly kind: 'failure'; readonly failure: Failure };

/**
 * Returns all byte arrays of a reply. After a transfer between threads, a Buffer is a plain Uint8Array, which must not
 * be taken for a list.
 */
export function bytesOf(outcome: Outcome): readonly Uint8Array[] {
  if (outcome.kind === 'failure') return [];
  const { json, xml, attached = [] } = outcome;
  if (xml === undefined || typeof xml === 'string') return [json, ...attached];
  return [json, ...attached, ...(xml instanceof Uint8Array ? [xml] : xml)];
}

/**
 * Reads an upstream response (W22, W23, W30). A success is translated, which also checks it. An error of any shape
 * becomes one responseStatus. Throws CallError (UpstreamInvalidResponse) for anything else, and NoReplyMemory.
 *
 * @param hide removes the caller's secrets from the upstream's texts (W25)
 * @param frame frame of the reply; undefined for a caller of JSON, which gets the bytes unchanged (W23)
 * @param maxBytes in bytes; a large reply that needs more in XML throws NoReplyMemory
 */
export function readReply(
  reply: UpstreamReply,
  compiled: CompiledContract,
  operation: CompiledOperation,
  hide: Hide,
  frame: Frame | undefined,
  maxBytes?: number,
): Outcome {
  const { status } = reply;
  if (!operation.succeeds(status) || status > 599)
    return ownFault(reply, operation, hide) ?? failed(reply, compiled, hide);
  let body: Buffer = noValue;
  try {
    const value = operation.readAnswer(reply);
    const runs = value === reply.body ? reply.runs : undefined;
    if (value !== undefined) body = jsonOf(value, runs);
    const {
      failed: isFailed,
      xml,
      attached,
      dropped,
      replaced,
      passed,
      inexact,
      mismatches,
    } = operation.writeReply(body, frame, body === value ? runs : undefined, maxBytes);
    // A caller of JSON gets the body unchanged; without a value it is empty.
    const json = body === noValue ? nothing : body;
    const content = statusOf(status, frame !== undefined || json.length > 0);
    if (!isFailed)
      return {
        kind: 'reply',
        status: content,
        json,
        xml,
        attached,
        dropped,
        replaced,
        passed,
        inexact,
        mismatches: hidden(mismatches, hide),
      };
  } catch (error) {
    if (error instanceof NoReplyMemory) throw error;
    // The other members of a failed call are ignored, whatever their types (W30).
    if (readFailure(body, compiled, hide)?.errorCode === undefined)
      throw toInvalid(error, operation.operation);
  }
  return failed(reply, compiled, hide);
}

/** Hides secrets in the names of unknown members, since the upstream may return a secret as a name (W25). */
function hidden(mismatches: Mismatches | undefined, hide: Hide): Mismatches | undefined {
  return mismatches === undefined
    ? undefined
    : { ...mismatches, described: mismatches.described.map((line) => hide(line)) };
}

const noValue: Buffer = Buffer.from('null');
const nothing: Buffer = Buffer.alloc(0);

/** Returns the status of the reply. A reply with content is a 200 even if the upstream answered 204, 205 or 3xx. */
function statusOf(status: number, hasContent: boolean): number {
  if (status >= 300) return 200;
  return hasContent && (status === 204 || status === 205) ? 200 : status;
}

/** Returns the JSON of a success body: UTF-8 without a byte order mark. Base64 spans are not checked again. */
function jsonOf(body: Buffer, runs: UpstreamReply['runs']): Buffer {
  const isText = runs?.gaps(body.length).every(([start, end]) => isUtf8(body.subarray(start, end)));
  if (!(isText ?? isUtf8(body))) throw invalid('text that is not UTF-8');
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

const knownNames = new WeakMap<Operation, ReadonlySet<string>>();

/**
 * Returns the member names that an operation's replies may have. Returns undefined for an adopted contract, because its
 * schema holds the names.
 */
function namesOf(operation: Operation): ReadonlySet<string> | undefined {
  if (operation.output.fields.length === 0) return undefined;
  const known = knownNames.get(operation);
  if (known !== undefined) return known;
  const names = new Set([...memberNames(operation.output), errorMembers.data]);
  knownNames.set(operation, names);
  return names;
}

function toInvalid(error: unknown, operation: Operation): unknown {
  if (error instanceof MismatchError) {
    const path = pathForLog(error.path, namesOf(operation));
    return new CallError('UpstreamInvalidResponse', {
      ...within(placeInReply(fieldPath(error.path)), error.reason),
      path: fieldPath(error.path),
      cause: error,
      logged: sentence(path === '' ? error.reason : within(path, error.reason)),
    });
  }
  if (error instanceof JsonError) return invalid(jsonFault(error, 'text that is not one JSON object'), error);
  return error;
}

function invalid(got: Got | Quote, cause?: unknown): CallError {
  return new CallError('UpstreamInvalidResponse', {
    expected: 'a JSON response from the upstream',
    got,
    cause,
    logged: sentence({ expected: 'JSON', got }),
  });
}

/**
 * Converts an error response with the members of a declared or undeclared fault (A29). Returns undefined for any other
 * response. Throws CallError UpstreamInvalidResponse if its members are wrong.
 */
function ownFault(
  { status, body, retryAfter }: UpstreamReply,
  { writeFault, operation }: CompiledOperation,
  hide: Hide,
): Outcome | undefined {
  if (writeFault === undefined || status < 400 || status > 599 || !isUtf8(body)) return undefined;
  const json = utf8.decode(body);
  try {
    const fault = writeFault(json);
    if (fault === undefined) return undefined;
    const errorCode = codeOfStatus(status);
    const message = hide(fault.message ?? fault.code?.local ?? statusText(status));
    const failure: Failure = {
      status,
      errorCode,
      responseStatus: new Map([
        ['errorCode', errorCode],
        ['message', message],
      ]),
      retryAfter,
      fault: hiddenFault({ ...fault, message }, hide),
      json: hide(json),
    };
    return { kind: 'failure', failure };
  } catch (error) {
    if (error instanceof JsonError) return undefined; // for example HTML
    throw toInvalid(error, operation);
  }
}

function hiddenFault(fault: WrittenFault, hide: Hide): WrittenFault {
  const { code, actor, detail } = fault;
  return {
    ...fault,
    code: code && {
      ...code,
      more: hide(code.more),
      namespace: hide(code.namespace),
      local: hide(code.local),
    },
    actor: actor && hide(actor),
    detail: hide(detail),
  };
}

/** Rebuilds an upstream error with only responseStatus in data (W30). */
function failed(reply: UpstreamReply, compiled: CompiledContract, hide: Hide): Outcome {
  const found = isUtf8(reply.body) ? readFailure(reply.body, compiled, hide) : undefined;
  if (found === undefined) return failedOtherwise(reply, compiled, hide);
  const status = failureStatus(reply.status, true);
  const errorCode = found.errorCode ?? codeOfStatus(status);
  const responseStatus = found.errorCode === undefined ? withCode(found.members, errorCode) : found.members;
  const { retryAfter } = reply;
  return { kind: 'failure', failure: { status, errorCode, responseStatus, retryAfter, isOfUpstream: true } };
}

/**
 * Converts an upstream error without a responseStatus to its code, its text and, if the settings allow it, all of its
 * JSON.
 */
function failedOtherwise(reply: UpstreamReply, { contract, limits }: CompiledContract, hide: Hide): Outcome {
  const { upstreamErrors, stackTrace } = contract.settings;
  const upstreamError =
    upstreamErrors === 'tell' ? readUpstreamError(reply, limits, stackTrace, hide) : undefined;
  const status = failureStatus(reply.status, upstreamError !== undefined);
  const ownCode = codeOfStatus(status);
  const errorCode =
    upstreamError?.code === undefined || upstreamError.code === String(status) ? ownCode : upstreamError.code;
  const own =
    status >= 500 && Object.hasOwn(errorCodes, ownCode)
      ? errorCodes[ownCode as ErrorCode].message
      : undefined;
  const message = upstreamError?.message ?? exceededLimit(reply, limits) ?? own ?? statusText(reply.status);
  const responseStatus = new Map<string, StatusValue>([
    ['errorCode', errorCode],
    ['message', message],
  ]);
  if (upstreamError?.json !== undefined)
    responseStatus.set('meta', new Map([[upstreamMember, upstreamError.json]]));
  const { retryAfter } = reply;
  return { kind: 'failure', failure: { status, errorCode, responseStatus, retryAfter, isOfUpstream: true } };
}

/**
 * Returns the message for an error that was not read because its JSON exceeds a limit; undefined for any other body.
 */
function exceededLimit({ status, body }: UpstreamReply, limits: Limits): string | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    new JsonReader(utf8.decode(body), limits).skip();
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return error.limit === undefined
      ? undefined
      : `${statusText(status)} and ${textOf(jsonFault(error, 'none'))}`;
  }
}

function statusText(status: number): string {
  return `the upstream responded with status ${status}`;
}

/** Adds the error code of the HTTP status to a responseStatus that has none or an empty one. */
function withCode(members: StatusMembers, errorCode: string): StatusMembers {
  const others = [...members].filter(([name]) => name !== 'errorCode');
  return new Map<string, StatusValue>([['errorCode', errorCode], ...others]);
}

/**
 * Returns the status for an upstream failure (W30). 4xx and 2xx are kept, and 3xx becomes 502. 5xx is kept with a
 * responseStatus. Without one, 503 and 504 are kept and the others become 502.
 */
function failureStatus(status: number, hasResponseStatus: boolean): number {
  if (status > 599) return 502; // not an HTTP status (RFC 9110, 15)
  if (status >= 500) return hasResponseStatus || status === 503 || status === 504 ? status : 502;
  return status >= 300 && status < 400 ? 502 : status;
}

function codeOfStatus(status: number): string {
  return (
    codesOfStatus[status] ?? (status >= 400 && status < 500 ? `Status${status}` : 'UpstreamInvalidResponse')
  );
}

/**
 * Reads the responseStatus of an error body, in data or at the top level. Returns undefined if it is missing or empty.
 */
function readFailure(body: Buffer, compiled: CompiledContract, hide: Hide): Status | undefined {
  const { contract, limits } = compiled;
  const redact = (member: string, value: string): string =>
    member === 'message' || member === 'meta' ? hide(value) : value;
  const statusOf = (json: JsonReader, top: boolean): Status | undefined => {
    let found: Status | undefined;
    if (json.peek() !== 123) {
      json.skip();
      return undefined;
    }
    json.enter();
    for (let first = true; json.next(first, 125); first = false) {
      const name = json.name();
      if (name === errorMembers.status && found === undefined) {
        const status = readStatus(json, contract.responseStatus, contract.settings, redact);
        if (status !== undefined && status.members.size > 0) found = status;
      } else if (name === errorMembers.data && top) found = statusOf(json, false) ?? found;
      else json.skip();
    }
    return found;
  };
  try {
    const json = new JsonReader(utf8.decode(body), limits);
    const found = statusOf(json, true);
    json.end();
    return found;
  } catch (error) {
    if (error instanceof JsonError) return undefined; // for example HTML, treated as an empty error
    throw error;
  }
}

const nothingNoted = { dropped: 0, replaced: 0, passed: 0, mismatches: undefined } as const;

/** Returns the counts of tolerated deviations in a reply or a declared fault. */
function countsOf(
  outcome: Outcome,
): Pick<Extract<Outcome, { kind: 'reply' }>, 'dropped' | 'replaced' | 'passed' | 'inexact' | 'mismatches'> {
  if (outcome.kind === 'reply') return outcome;
  const { fault } = outcome.failure;
  if (fault === undefined) return nothingNoted;
  return { ...fault, mismatches: { missing: fault.missing, described: [] } };
}

/** Deviations that a request was accepted with. */
interface Read {
  readonly ignored: readonly string[];
  readonly illegalReferences: number;
  readonly deviations: ReadonlySet<Deviation> | undefined;
}

/** Returns the deviations of a request and its reply for the log; undefined if there are none. */
export function noted({ ignored, illegalReferences, deviations }: Read, outcome: Outcome): Noted | undefined {
  const { dropped, replaced, passed, inexact = 0, mismatches } = countsOf(outcome);
  const missing = mismatches?.missing ?? 0;
  if (
    ignored.length === 0 &&
    deviations === undefined &&
    illegalReferences + dropped + replaced + passed + inexact + missing === 0
  )
    return undefined;
  const names = ignored.slice(0, 20).map((name) => name.slice(0, 64));
  const members =
    mismatches === undefined || mismatches.described.length === 0 ? {} : { members: mismatches.described };
  const numbers = inexact === 0 ? {} : { inexact };
  const deviating = deviations === undefined ? {} : { deviations: [...deviations] };
  return {
    ignored: names,
    quirks: illegalReferences, // the name of a documented log field (docs/operations.md)
    dropped,
    missing,
    replaced,
    passed,
    ...numbers,
    ...deviating,
    ...members,
  };
}
