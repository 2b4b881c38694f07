import { isUtf8 } from 'node:buffer';
import { maxLoopSteps } from '../../mappings/codec/problem.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import { within } from '../../mappings/contract/reason.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { maxLoopRequestBytes } from '../../mappings/http-mapping/related-stream.ts';
import { JsonError } from '../../mappings/json/grammar.ts';
import type { MappedAnswer } from '../../mappings/mapping/compiled-entry.ts';
import type { MappedOperation, Mapping } from '../../mappings/mapping/mapping.ts';
import { LongMapping, MappingError } from '../../mappings/mapping/run.ts';
import type { MappedRequest } from '../../mappings/mapping/run-entry.ts';
import { CallError, jsonFault, placeInReply } from '../call/error.ts';
import { maxLoopReplyBytes, type Upstream, type UpstreamReply, type Waiting } from './upstream.ts';

/**
 * Maps large messages, and messages that need many steps, in a worker thread. Throws the CallError of mapping on the
 * event loop, and a CallError if the wait is too long.
 */
export interface MapInWorker {
  /** @param isBound true to wait even if the queue is full */
  readonly toCalls: (
    waiting: Waiting,
    operation: Operation,
    json: string,
    isBound: boolean,
  ) => Promise<MappedRequest>;
  readonly toReply: (
    waiting: Waiting,
    operation: Operation,
    entry: number,
    answers: readonly AnswerBytes[],
    isBound: boolean,
  ) => Promise<string>;
  /** Returns the declared fault of an error response (M7); undefined if it has none. */
  readonly toFault: (
    waiting: Waiting,
    operation: Operation,
    entry: number,
    answer: AnswerBytes,
  ) => Promise<string | undefined>;
}

/** An upstream response before it is mapped. */
export interface AnswerBytes extends MappedAnswer {
  readonly body: Buffer;
}

/**
 * Creates the upstream of an adopted contract with a mapping (M1). A call of `POST /{operation}` becomes the calls of
 * the mapping, made in sequence, and their responses become its response. A response that is not 2xx is returned
 * unchanged unless the mapping handles it (M4).
 * Throws the errors of the upstream, CallError ValidationError for a request, UpstreamInvalidResponse for a response
 * that cannot be mapped. After one call of a write was answered, no error suggests a retry, because a retry would
 * repeat that call.
 */
export function createMappedUpstream(
  upstream: Upstream,
  mapping: Mapping,
  inWorker: MapInWorker,
  limits: Limits,
): Upstream {
  const parts = { upstream, mapping, inWorker, limits };
  return {
    state: upstream.state,
    close: upstream.close,
    call: async (request, waiting) => new MappedCall(parts, request, waiting).run(),
  };
}

/** Parts that all calls of a mapped upstream share. */
interface MappedParts {
  readonly upstream: Upstream;
  readonly mapping: Mapping;
  readonly inWorker: MapInWorker;
  readonly limits: Limits;
}

/** One call of a contract with a mapping: the calls of the mapping, and their responses. */
class MappedCall {
  readonly #parts: MappedParts;
  readonly #request: UpstreamRequest;
  readonly #operation: Operation;
  readonly #waiting: Waiting;
  readonly #mapped: MappedOperation;
  /** Maximum number of members and items mapped on the event loop. */
  readonly #steps: number;
  readonly #answers: AnswerBytes[] = [];
  /** Bytes of the answers. */
  #bytes = 0;
  #answered = 0;
  #last: UpstreamReply | undefined;

  constructor(parts: MappedParts, request: UpstreamRequest, waiting: Waiting) {
    this.#parts = parts;
    this.#request = request;
    this.#operation = request.operation;
    this.#waiting = waiting;
    this.#mapped = mappedOf(parts.mapping, request.operation.name);
    this.#steps = Math.floor((parts.limits.loopSteps ?? maxLoopSteps) / stepsOfValue);
  }

  async run(): Promise<UpstreamReply> {
    const mapped = await this.#mapRequest();
    const own = withoutMediaType(this.#request.headers);
    const { length } = mapped.calls;
    try {
      for (const { method, path, headers, body } of mapped.calls) {
        const all = { ...withoutThose(own, headers), ...headers };
        const sent = { method, path, headers: all, body, operation: this.#operation };
        const reply = await this.#take(await this.#parts.upstream.call(sent, this.#waiting), mapped);
        if (reply !== undefined) return reply;
      }
      this.#waiting.isAnswered = length > 0;
      const text = await this.#mapReply(mapped.entry);
      const { headers = {} } = this.#last ?? {};
      return { status: 200, headers, body: Buffer.from(text), retryAfter: undefined };
    } catch (error) {
      const isBegun = this.#answered > 0 && length > 1 && !this.#operation.readOnly;
      throw isBegun && error instanceof CallError ? madeInPart(error, this.#answered, length) : error;
    }
  }

  async #mapRequest(): Promise<MappedRequest> {
    const { mapping, inWorker, limits } = this.#parts;
    const json = String(this.#request.body ?? '{}');
    const isSmall = json.length <= (limits.readAsideBytes ?? maxLoopRequestBytes);
    // A function of the mapping may use all the memory and time that it is allowed.
    const isHere = isSmall && !this.#mapped.callsFunctions.request;
    const name = this.#operation.name;
    const mapped = isHere ? unlessLong(() => mapRequest(mapping, name, json, this.#steps)) : undefined;
    if (mapped !== undefined) return mapped;
    const isBound = isSmall && this.#mapped.callsFunctions.request;
    return inWorker.toCalls(this.#waiting, this.#operation, json, isBound);
  }

  /** Keeps the response to a call for the mapping. Returns the reply of the whole call if this response decides it. */
  async #take(
    last: UpstreamReply,
    { entry, takesErrors, takesFaults }: MappedRequest,
  ): Promise<UpstreamReply | undefined> {
    this.#last = last;
    this.#answered++;
    const isError = last.status < 200 || last.status > 299;
    const isJson = !isError && this.#mapped.calls[entry]?.replyForm === 'json';
    const retryAfter = this.#answered > 1 && !this.#operation.readOnly ? undefined : last.retryAfter;
    if (isError && takesFaults) {
      this.#waiting.isAnswered = true;
      const fault = await this.#mapFault(entry, answerOf(last, isJson));
      if (fault !== undefined) return { ...faultReply(last, fault), retryAfter };
      this.#waiting.isAnswered = false;
    }
    if (isError && !takesErrors) return { ...last, retryAfter };
    const answer = answerOf(last, isJson);
    this.#bytes += answer.body.length;
    const limit = this.#operation.binaryOutput ? 'replyBytesWithBinary' : 'replyBytes';
    const most = this.#parts.limits[limit];
    if (this.#bytes > most)
      throw new CallError('UpstreamInvalidResponse', {
        expected: `responses of at most ${most} bytes in total (limit ${limit})`,
        got: 'larger responses',
      });
    this.#answers.push(answer);
    return undefined;
  }

  async #mapFault(entry: number, answer: AnswerBytes): Promise<string | undefined> {
    const { mapping, inWorker } = this.#parts;
    const { name } = this.#operation;
    const here = this.#isReplyHere(answer.body.length)
      ? unlessLong(() => ({ fault: mapFault(mapping, name, entry, answer, this.#steps) }))
      : undefined;
    return here === undefined ? inWorker.toFault(this.#waiting, this.#operation, entry, answer) : here.fault;
  }

  async #mapReply(entry: number): Promise<string> {
    const { mapping, inWorker } = this.#parts;
    const { name } = this.#operation;
    const reply = this.#isReplyHere(this.#bytes)
      ? unlessLong(() => mapReply(mapping, name, entry, this.#answers, this.#steps))
      : undefined;
    if (reply !== undefined) return reply;
    const isBound = this.#mapped.callsFunctions.reply && this.#isSmallReply(this.#bytes);
    return inWorker.toReply(this.#waiting, this.#operation, entry, this.#answers, isBound);
  }

  /** Returns true if responses of this size are mapped on the event loop. */
  #isReplyHere(bytes: number): boolean {
    return this.#isSmallReply(bytes) && !this.#mapped.callsFunctions.reply;
  }

  #isSmallReply(bytes: number): boolean {
    return bytes <= (this.#parts.limits.replyAsideBytes ?? maxLoopReplyBytes);
  }
}

/** Number of `loopSteps` per member or item. */
const stepsOfValue = 64;

/** Maps on the event loop. Returns undefined if that takes too many steps. */
function unlessLong<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof LongMapping) return undefined;
    throw error;
  }
}

/** Returns the error for a write that failed during or after its calls. `answered` is the number of answered calls. */
function madeInPart(error: CallError, answered: number, all: number): CallError {
  if (error.code === 'CallerGone') return error;
  const code = error.status === 503 ? 'UpstreamInvalidResponse' : error.code;
  const { messageData, logged } = error;
  const reason = within(`${answered} of ${all} calls succeeded, then`, messageData);
  return new CallError(code, { ...reason, logged, cause: error });
}

/** Returns a call's headers without those that describe its own body. */
function withoutMediaType(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { 'content-type': _, ...others } = headers;
  return others;
}

/** Returns headers without those that the mapping sets. The names in `filled` are in lower case. */
function withoutThose(
  own: Readonly<Record<string, string>>,
  filled: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(own).filter(([name]) => !Object.hasOwn(filled, name.toLowerCase())),
  );
}

/** Returns a response with a declared fault (A29). Its status is always an error status. */
function faultReply(last: UpstreamReply, fault: string): UpstreamReply {
  const status = last.status >= 400 && last.status <= 599 ? last.status : 502;
  return { ...last, status, body: Buffer.from(fault), runs: undefined };
}

/** @param isJson true if the body must be JSON, which is UTF-8 */
function answerOf({ status, headers, body }: UpstreamReply, isJson: boolean): AnswerBytes {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) texts[name] = typeof value === 'string' ? value : value.join(', ');
  if (isJson && !isUtf8(body))
    throw new CallError('UpstreamInvalidResponse', {
      expected: 'a JSON response from the upstream',
      got: 'text that is not UTF-8',
    });
  return { status, headers: texts, body };
}

/**
 * Maps a request in JSON to calls. Throws CallError OperationNotFound, ValidationError, and LongMapping after `steps`
 * steps.
 */
export function mapRequest(mapping: Mapping, operation: string, json: string, steps?: number): MappedRequest {
  try {
    return mappedOf(mapping, operation).toCalls(json, steps);
  } catch (error) {
    // A limit of JSON may first be exceeded here if the caller sent XML.
    if (!(error instanceof MappingError || error instanceof JsonError)) throw error;
    const path = error instanceof MappingError ? error.path : '';
    const problem = { code: 'InvalidType', path, ...error.reason } as const;
    throw new CallError('ValidationError', { problems: [problem], cause: error });
  }
}

/**
 * Maps the responses to the calls of an entry to the reply in JSON. Throws CallError UpstreamInvalidResponse, and
 * LongMapping after `steps` steps.
 */
export function mapReply(
  mapping: Mapping,
  operation: string,
  entry: number,
  answers: readonly MappedAnswer[],
  steps?: number,
): string {
  try {
    return mappedOf(mapping, operation).toReply(entry, answers, steps);
  } catch (error) {
    throw invalidReply(error);
  }
}

/** Converts an error of mapping a response to a CallError. */
function invalidReply(error: unknown): unknown {
  if (error instanceof MappingError)
    return new CallError('UpstreamInvalidResponse', {
      ...within(placeInReply(error.path), error.reason),
      cause: error,
    });
  if (error instanceof JsonError)
    return new CallError('UpstreamInvalidResponse', {
      expected: 'a JSON response from the upstream',
      got: jsonFault(error, 'text that is not JSON'),
      cause: error,
    });
  return error;
}

/**
 * Maps an error response to its declared fault in JSON; undefined if it has none. Throws CallError, and LongMapping
 * after `steps` steps.
 */
export function mapFault(
  mapping: Mapping,
  operation: string,
  entry: number,
  answer: MappedAnswer,
  steps?: number,
): string | undefined {
  try {
    return mappedOf(mapping, operation).toFault(entry, answer, steps);
  } catch (error) {
    throw invalidReply(error);
  }
}

/** Throws CallError OperationNotFound. */
function mappedOf({ operations }: Mapping, name: string): MappedOperation {
  const mapped = operations.get(name);
  if (mapped === undefined)
    throw new CallError('OperationNotFound', { detail: `the mapping has no rule for ${name}` });
  return mapped;
}
