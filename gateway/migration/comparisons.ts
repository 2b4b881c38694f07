import type { ServerResponse } from 'node:http';
import type { Duplicate } from '../../mappings/compare/blend.ts';
import type { Comparison } from '../../mappings/compare/comparison.ts';
import { maxComparedDuplicates } from '../../mappings/compare/items.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import { CallError } from '../call/error.ts';
import type { Log } from '../core/core-options.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Service } from '../protocols/read-request.ts';
import type { SoapAddress, SoapVersion } from '../protocols/soap/versions.ts';
import { announcedBytes } from '../upstream/content-length.ts';
import { failOnClose } from '../workers/worker-thread.ts';
import { CallSecrets } from './call-secrets.ts';
import type { ReceivedReply, WrittenAs } from './compare-task.ts';
import { CopyMemory } from './copy-memory.ts';
import type { RoutingCounts } from './counts.ts';
import type { ComparedCall, Evidence } from './evidence.ts';
import type { ForwardedHeaders, HeadersOf } from './forward-headers.ts';
import type { Caller } from './identity.ts';
import type { LegacyService } from './legacy-service.ts';
import { type CallShadow, PendingComparison } from './pending-comparison.ts';
import type { Recording } from './recording/recording.ts';
import { isMtomRequest } from './root-part.ts';
import type { CompareMode } from './routing.ts';
import type { ShadowCapacity } from './shadow-capacity.ts';
import { callLegacy, callNew, shadowHeader } from './shadow-request.ts';
import { Skipped, type SkipReason } from './skipped.ts';
import { type SentOnce, type StatedCompare, taskHead } from './task-head.ts';

/** The parts that the comparisons of one contract need. */
export interface ComparisonParts {
  /** Path of the contract as in the log. */
  readonly path: string;
  readonly capacity: ShadowCapacity;
  /** Service of the contract for shadow requests. */
  readonly service: Service;
  /** Connections to the legacy service for shadow requests. */
  readonly legacy: LegacyService;
  readonly stated: StatedCompare;
  /** Share of the compared calls with a noise comparison, from 0 to 1 (G46). */
  readonly noise: number;
  readonly headersOf: HeadersOf;
  /** Called with the token of a request that the legacy service answered with 401. */
  readonly onUnauthorized: (token: string) => void;
  readonly counts: RoutingCounts;
  readonly evidence: Evidence;
  readonly log: Log;
}

/** A call to compare. */
export interface ComparedRequest {
  readonly address: SoapAddress;
  readonly version: SoapVersion;
  readonly operation: Operation;
  readonly caller: Caller;
  /** Path and query at the legacy service. */
  readonly target: string;
}

let contracts = 0;

/** Returns the next number of a contract in the worker thread. */
export function nextContractId(): number {
  return contracts++;
}

/** Compares the replies of both services for the calls of one contract (G25 to G27). */
export class Comparisons {
  readonly #parts: ComparisonParts;
  readonly #sent: SentOnce;

  constructor(parts: ComparisonParts) {
    this.#parts = parts;
    const { service, stated } = parts;
    this.#sent = { contractId: nextContractId(), compiled: service.compiled, stated };
  }

  /** Begins the comparison of a call, whose recording gets the reply to the shadow request. Returns undefined for a call that is not compared, and counts it. */
  begin(
    context: RequestContext,
    request: ComparedRequest,
    { answer, sample }: CompareMode,
    recording?: Recording,
  ): PendingComparison | undefined {
    const { capacity, noise, service } = this.#parts;
    const { operation, address } = request;
    const announced = announcedBytes(context.request.headers['content-length']);
    const reason: SkipReason | undefined =
      Math.random() >= sample
        ? 'sample'
        : announced > capacity.limits.compareBytes
          ? 'size'
          : capacity.isFull
            ? 'busy'
            : undefined;
    if (reason !== undefined) {
      this.#skip(context, operation.name, new Skipped(reason));
      return undefined;
    }
    const secrets = new CallSecrets(context, request.caller);
    const isNoise = Math.random() < noise;
    const toLegacy = isNoise || answer === 'new' ? this.#legacyCaller(context, request) : undefined;
    const callShadow: CallShadow =
      answer === 'new' && toLegacy !== undefined
        ? (parts) => toLegacy({ ...parts, record: recording?.forwarded(false) })
        : async (parts) => {
            const reply = await callNew(service, address, parts);
            recording?.compared(reply);
            return reply;
          };
    return new PendingComparison(context, {
      capacity,
      answer,
      secrets,
      callShadow,
      callNoise: isNoise ? toLegacy : undefined,
      compare: (legacy, other, end, message) => {
        const isMtom = message !== undefined && isMtomRequest(message, context);
        const writtenAs = message === undefined ? undefined : { version: request.version.name, isMtom };
        return this.#compare(operation.name, legacy, other, writtenAs, end);
      },
      onCompared: (result, shadowMs) => {
        if (result instanceof Skipped) this.#skip(context, operation.name, result);
        else this.#report(context, request, answer, secrets.hideIn(result), shadowMs);
      },
      onNoise: (result) => {
        if (result instanceof Skipped) this.#parts.counts.countSkipped(result.reason);
        else this.#parts.evidence.addNoise(operation.name, result, Date.now());
      },
      onWork: (work, from, to) => context.options.service.observer.compared(context, work, from, to),
      onError: (error) => service.onError(error, context.requestId),
    });
  }

  /** Returns the function that calls the legacy service. It takes the headers of the caller's request now. */
  #legacyCaller(context: RequestContext, { operation, caller, target }: ComparedRequest): CallShadow {
    const { legacy, headersOf, onUnauthorized } = this.#parts;
    const headers = Promise.resolve(headersOf(context, caller.name, shadowHeader));
    headers.catch(() => {}); // it may fail before it is awaited
    return async (parts) => {
      let forwarded: ForwardedHeaders;
      try {
        forwarded = await headers;
      } catch (error) {
        throw error instanceof CallError ? new Skipped('aborted', true) : error;
      }
      if (forwarded.token !== undefined) parts.secrets.sent([forwarded.token]);
      const reply = await callLegacy(legacy, { operation: operation.name, target, forwarded }, parts);
      if (reply.status === 401 && forwarded.token !== undefined) onUnauthorized(forwarded.token);
      return reply;
    };
  }

  async #compare(
    operation: string,
    legacy: ReceivedReply,
    other: ReceivedReply,
    writtenAs: WrittenAs | undefined,
    end: ServerResponse,
  ): Promise<Comparison> {
    return this.#parts.capacity.compare({
      taskOf: (known) => ({ ...taskHead(this.#sent, operation, known), legacy, other, writtenAs }),
      watch: failOnClose(end, () => new Skipped('aborted')),
      bytes: legacy.body.length + other.body.length,
      memory: [legacy.body.buffer, other.body.buffer],
    });
  }

  /**
   * Compares items that both lists of a blended reply have, in the worker thread, and records the result (G30). Neither
   * fails nor waits.
   */
  addDuplicates(
    list: readonly string[],
    duplicates: readonly Duplicate[],
    call: Omit<ComparedCall, 'comparison' | 'at'>,
    secrets: CallSecrets,
  ): void {
    const { capacity, counts, service, evidence } = this.#parts;
    const compared = duplicates.slice(0, maxComparedDuplicates);
    const bytes = compared.reduce((sum, { legacy, new: fresh }) => sum + legacy.length + fresh.length, 0);
    const memory = new CopyMemory(capacity.admission, capacity.limits.compareBytes);
    let cancel = (): void => {};
    const compare = async (): Promise<void> => {
      if (!memory.hold(bytes)) throw memory.refusal();
      const comparison = await capacity.compare({
        taskOf: (known) => ({ ...taskHead(this.#sent, call.operation, known), list, duplicates: compared }),
        watch: (fail) => {
          cancel = () => fail(new Skipped('aborted'));
          return () => {};
        },
        bytes,
        memory: [],
      });
      counts.countDifferences(call.operation, comparison.differences);
      evidence.addFindings({ ...call, comparison: secrets.hideIn(comparison), at: Date.now() });
    };
    const ended = compare()
      .catch((error: unknown) => {
        if (error instanceof Skipped) counts.countSkipped(error.reason);
        else service.onError(error, call.requestId);
      })
      .finally(() => memory.release());
    capacity.register({ cancel: () => cancel(), ended });
  }

  #report(
    context: RequestContext,
    { operation: { name: operation }, caller }: ComparedRequest,
    answer: 'legacy' | 'new',
    comparison: Comparison,
    shadowMs: number,
  ): void {
    const { counts, evidence } = this.#parts;
    const { stats, requestId } = context;
    counts.countCompared(operation, comparison);
    const ownMs = answer === 'legacy' ? (stats.route?.legacyMs ?? 0) : stats.upstreamMs;
    evidence.add({
      operation,
      callerKey: caller.key(),
      callerName: caller.name,
      requestId,
      comparison,
      legacyMs: answer === 'legacy' ? ownMs : shadowMs,
      newMs: answer === 'legacy' ? shadowMs : ownMs,
      at: Date.now(),
    });
    this.#note(context, operation, comparison.result);
  }

  #skip(context: RequestContext, operation: string, { reason, isUnanswered }: Skipped): void {
    const { counts, evidence } = this.#parts;
    counts.countSkipped(reason);
    if (isUnanswered) evidence.unanswered(operation, Date.now());
    this.#note(context, operation, `skipped:${reason}`);
  }

  /** Records the result for the log line of the request, or writes a second line after that one (G52). */
  #note({ stats, requestId }: RequestContext, operation: string, compared: string): void {
    const { path, log } = this.#parts;
    const isLogged = stats.status !== 0;
    if (isLogged) log.info({ requestId, contract: path, operation, compared }, 'comparison ended');
    else if (stats.route !== undefined) stats.route.compared = compared;
  }
}
