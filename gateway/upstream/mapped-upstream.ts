import { isUtf8 } from 'node:buffer';
import { maxLoopSteps } from '../../mappings/codec/problem.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import { within } from '../../mappings/contract/reason.ts';
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
  {
    loopSteps = maxLoopSteps,
    readAsideBytes = maxLoopRequestBytes,
    replyAsideBytes = maxLoopReplyBytes,
    replyBytes,
    replyBytesWithBinary,
  }: Limits,
): Upstream {
  const steps = Math.floor(loopSteps / stepsOfValue);
  const faultOf = async (
    waiting: Waiting,
    operation: Operation,
    entry: number,
    answer: AnswerBytes,
  ): Promise<string | undefined> => {
    const usesWorker =
      answer.body.length > replyAsideBytes || mappedOf(mapping, operation.name).callsFunctions.reply;
    const here = usesWorker
      ? undefined
      : unlessLong(() => ({ fault: mapFault(mapping, operation.name, entry, answer, steps) }));
    return here === undefined ? inWorker.toFault(waiting, operation, entry, answer) : here.fault;
  };
  return {
    state: upstream.state,
    close: upstream.close,
    call: async (request, waiting) => {
      const { operation } = request;
      const json = String(request.body ?? '{}');
      const { calls: targets, callsFunctions } = mappedOf(mapping, operation.name);
      // A function of the mapping may use all the memory and time that it is allowed.
      const mapped =
        json.length > readAsideBytes || callsFunctions.request
          ? undefined
          : unlessLong(() => mapRequest(mapping, operation.name, json, steps));
      const isSmall = callsFunctions.request && json.length <= readAsideBytes;
      const { calls, entry, takesErrors, takesFaults } =
        mapped ?? (await inWorker.toCalls(waiting, operation, json, isSmall));
      const own = withoutMediaType(request.headers);
      const answers: AnswerBytes[] = [];
      const limit = operation.binaryOutput ? 'replyBytesWithBinary' : 'replyBytes';
      const most = operation.binaryOutput ? replyBytesWithBinary : replyBytes;
      let bytes = 0;
      let answered = 0;
      let last: UpstreamReply | undefined;
      try {
        for (const { method, path, headers, body } of calls) {
          last = await upstream.call(
            { method, path, headers: { ...withoutThose(own, headers), ...headers }, body, operation },
            waiting,
          );
          answered++;
          const isError = last.status < 200 || last.status > 299;
          const isJson = !isError && targets[entry]?.replyForm === 'json';
          const retryAfter = answered > 1 && !operation.readOnly ? undefined : last.retryAfter;
          if (isError && takesFaults) {
            waiting.isAnswered = true;
            const fault = await faultOf(waiting, operation, entry, answerOf(last, isJson));
            if (fault !== undefined) return { ...faultReply(last, fault), retryAfter };
            waiting.isAnswered = false;
          }
          if (isError && !takesErrors) return { ...last, retryAfter };
          const answer = answerOf(last, isJson);
          bytes += answer.body.length;
          if (bytes > most)
            throw new CallError('UpstreamInvalidResponse', {
              expected: `responses of at most ${most} bytes in total (limit ${limit})`,
              got: 'larger responses',
            });
          answers.push(answer);
        }
        waiting.isAnswered = calls.length > 0;
        const reply =
          bytes > replyAsideBytes || callsFunctions.reply
            ? undefined
            : unlessLong(() => mapReply(mapping, operation.name, entry, answers, steps));
        const isSmallReply = callsFunctions.reply && bytes <= replyAsideBytes;
        const text = reply ?? (await inWorker.toReply(waiting, operation, entry, answers, isSmallReply));
        return { status: 200, headers: last?.headers ?? {}, body: Buffer.from(text), retryAfter: undefined };
      } catch (error) {
        const isBegun = answered > 0 && calls.length > 1 && !operation.readOnly;
        throw isBegun && error instanceof CallError ? madeInPart(error, answered, calls.length) : error;
      }
    },
  };
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
