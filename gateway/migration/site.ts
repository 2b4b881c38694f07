import type { CompiledOperation } from '../../mappings/compile.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import { givenIn } from '../call/call.ts';
import type { Prepared } from '../call/call-service.ts';
import { CallError } from '../call/error.ts';
import type { Outcome } from '../call/outcome.ts';
import { dropRest } from '../http/body.ts';
import { targetOf } from '../http/endpoints.ts';
import { textReply } from '../http/reply.ts';
import type { Migration, RequestContext } from '../http/request-context.ts';
import { send } from '../http/send.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import { answer, serveByUpstream } from '../protocols/soap/endpoint.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import type { SoapAddress, SoapVersion } from '../protocols/soap/versions.ts';
import { type BlendedCall, runBlend } from './blend.ts';
import { CallSecrets } from './call-secrets.ts';
import { compareUpstream, noteRefusal } from './compare-upstream.ts';
import { CallDecider, type Decided } from './decide-call.ts';
import { copyToBoth, type ExchangeCopy } from './exchange-copy.ts';
import { allowRetry, findsNothing, withFaultCode } from './faults.ts';
import { forward, refuse } from './forward.ts';
import type { Caller } from './identity.ts';
import { noteDuplicates } from './note-duplicates.ts';
import type { PendingComparison } from './pending-comparison.ts';
import { asksForWsdl, type Place } from './place.ts';
import { readForUpstream } from './read-payload.ts';
import { type Received, receiveAll, receiveStart } from './receive.ts';
import type { Recording } from './recording/recording.ts';
import { noteSentOnce } from './replay-protected.ts';
import { isAnsweredByNew, type Packaging, unreadable } from './routing.ts';

/** Least time in ms that must remain for a call to the legacy service after the upstream (G32). */
const leastFallbackMs = 1_000;

/** Methods of requests that are forwarded, as far as clients use them. */
const otherVerbs = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Routes the requests of one contract (G6 to G17). */
export class Site implements Migration {
  readonly #place: Place;
  readonly #decider: CallDecider;

  constructor(place: Place) {
    this.#place = place;
    this.#decider = new CallDecider(place);
  }

  get packaging(): Packaging | undefined {
    return this.#place.routing.packaging;
  }

  serve(address: SoapAddress, context: RequestContext): Promise<void> | undefined {
    const { method } = context.request;
    if (method === 'POST')
      return this.#guard(context, address.version, () => this.#serveCall(address, context));
    if ((method === 'GET' || method === 'HEAD') && this.#isDocument(context)) return undefined;
    return this.#guard(context, undefined, () => this.#serveOther(context));
  }

  takesPath(path: string): boolean {
    return this.#place.isBelowPort(path);
  }

  serveBelow(context: RequestContext): Promise<void> {
    return this.#guard(context, undefined, () => this.#serveOther(context));
  }

  admit(context: RequestContext, operation: CompiledOperation, input: Input | Prepared): void {
    const { body } = givenIn(operation, input);
    const caller = this.#place.identify(context, { body });
    context.stats.caller ??= caller.name;
    const decision = this.#decider.decideRead(context, operation, caller, input);
    const isNew = isAnsweredByNew(decision);
    const { mode, rule } = decision;
    context.stats.route = { mode, rule, side: isNew ? 'new' : undefined };
    this.#place.counts.count(operation.operation.name, context.stats.route, 0);
    if (!isNew) throw new CallError('NotMigrated');
  }

  /** Runs a function, and answers errors that it throws before a reply. */
  async #guard(
    context: RequestContext,
    version: SoapVersion | undefined,
    run: () => Promise<void>,
  ): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (context.response.headersSent) throw error;
      if (version === undefined) refuse(context, version, error);
      else
        await answer(context, version, () => {
          throw error;
        });
    }
  }

  async #serveCall(address: SoapAddress, context: RequestContext): Promise<void> {
    const received = await receiveStart(context, this.#place.legacy.limits.streamBytes);
    let decided: Decided;
    try {
      decided = await this.#decider.decideCall(address, context, received);
    } finally {
      received.settle();
    }
    const { decision, operation, caller, refusal } = decided;
    context.stats.operation = operation.name;
    context.stats.caller ??= caller.name;
    if (refusal !== undefined) {
      refuse(context, decided.version, refusal);
      if (received.rest !== undefined && !context.request.readableEnded) dropRest(context, refusal);
      return;
    }
    const { mode, rule } = decision;
    const isLegacy = mode === 'legacy' || decision.compare?.answer === 'legacy';
    context.stats.route = { mode, rule, side: isLegacy ? 'legacy' : 'new' };
    const { version } = decided;
    const recording = this.#place.recorder?.begin(context, { address, version, operation, caller, decision });
    const comparison = this.#compare(address, context, decided, recording);
    try {
      if (isLegacy)
        await this.#forward(
          address,
          context,
          received,
          decided,
          copyToBoth(comparison, recording?.forwarded()),
        );
      else {
        await recording?.receive(received);
        if (mode === 'blend') await this.#answerByBoth(address, context, received, decided, recording);
        else await this.#answerByUpstream(address, context, received, decided, comparison, recording);
        if (mode !== 'fallback' && mode !== 'blend') this.#count(context);
      }
    } finally {
      comparison?.close();
      recording?.close(comparison?.ended);
    }
  }

  /** Begins the comparison of a call with mode `compare` (G25). */
  #compare(
    address: SoapAddress,
    context: RequestContext,
    { decision, operation, caller, version }: Decided,
    recording: Recording | undefined,
  ): PendingComparison | undefined {
    const { comparisons } = this.#place;
    if (decision.compare === undefined || comparisons === undefined) return undefined;
    const target = this.#place.targetOf(context.request, address.endpoint);
    const request = { address, version, operation, caller, target };
    return comparisons.begin(context, request, decision.compare, recording);
  }

  #count({ stats }: RequestContext): void {
    if (stats.route !== undefined) this.#place.counts.count(stats.operation, stats.route, stats.upstreamMs);
  }

  /** Answers by the upstream as without a legacy service, or by the legacy service if the upstream finds nothing. */
  async #answerByUpstream(
    address: SoapAddress,
    context: RequestContext,
    received: Received,
    decided: Decided,
    comparison: PendingComparison | undefined,
    recording: Recording | undefined,
  ): Promise<void> {
    const { request, stats, options } = context;
    const { service } = options;
    const isFallback = decided.decision.mode === 'fallback';
    if (isFallback || comparison !== undefined) await receiveAll(received, service.bodyLimit);
    if (comparison !== undefined) compareUpstream(context, received, comparison);
    recording?.watchUpstream();
    noteSentOnce(context, received, decided.operation);
    const change = async (outcome: Outcome): Promise<Outcome> => {
      if (comparison !== undefined) noteRefusal(context, outcome, comparison);
      return withFaultCode(allowRetry(context, outcome), decided.operation, this.#place);
    };
    if (received.rest !== undefined && !request.readableEnded) {
      await received.rest.return();
      request.unshift(received.bytes);
      context.permit.shrink(0);
      stats.bytesIn = 0;
      return serveByUpstream(address, context, change);
    }
    const read = async (): Promise<SoapCall | PreparedSoapCall> => {
      const call = await readForUpstream(address, context, received, decided.call, isFallback);
      comparison?.decoded(call);
      return call;
    };
    if (!isFallback) return answer(context, address.version, read, undefined, change);
    let isForwarded = false;
    await answer(context, address.version, read, undefined, async (outcome) => {
      const { limits } = service.compiled;
      const untilMs = Math.min(context.deadline, context.started + limits.totalMs) - performance.now();
      const isNothing = findsNothing(outcome, stats.upstreamStatus, decided.operation, this.#place);
      if (!isNothing || untilMs < leastFallbackMs || context.response.destroyed) return change(outcome);
      isForwarded = true;
      stats.error = undefined;
      stats.failures = undefined;
      stats.route = { ...decided.decision, side: 'legacy', fallback: true };
      received.isAdmitted = true;
      await this.#forward(address, context, received, decided, recording?.forwarded(false));
      return undefined;
    });
    if (!isForwarded) this.#count(context);
  }

  /** Answers with the items of both services (G28). */
  async #answerByBoth(
    address: SoapAddress,
    context: RequestContext,
    received: Received,
    decided: Decided,
    recording: Recording | undefined,
  ): Promise<void> {
    const { service } = context.options;
    const { operation, caller } = decided;
    const place = this.#place;
    const settings = place.routing.blends.get(operation.name);
    const codec = place.blendCodecs.get(operation.name);
    if (settings === undefined || codec === undefined)
      throw new TypeError(`blend: ${operation.name} has no settings`);
    await receiveAll(received, service.bodyLimit);
    noteSentOnce(context, received, operation);
    recording?.watchUpstream();
    const secrets = new CallSecrets(context, caller);
    const read = async (): Promise<SoapCall | PreparedSoapCall> => {
      const call = await readForUpstream(address, context, received, decided.call, true);
      secrets.read(call);
      return call;
    };
    const blended: BlendedCall = {
      place,
      blend: settings,
      codec,
      worker: place.blendWorker,
      read: (added) => ({
        operation,
        target: place.targetOf(context.request, address.endpoint),
        body: received.bytes,
        headers: () => place.headersOf(context, caller.name, added),
        onUnauthorized: place.onUnauthorized,
        onConnectionCredentials: place.onConnectionCredentials,
      }),
      change: (outcome) => withFaultCode(allowRetry(context, outcome), operation, place),
      onLegacy: (legacy) => recording?.answered(legacy),
      onDuplicates: (duplicates, keys) => {
        if (keys > 0) noteDuplicates(place, context, decided, settings, duplicates, keys, secrets);
      },
    };
    await answer(context, address.version, read, undefined, undefined, (call, frame) =>
      runBlend(context, call, frame, blended),
    );
    this.#count(context);
  }

  #forward(
    { endpoint }: SoapAddress,
    context: RequestContext,
    received: Received,
    { operation, version, caller }: Decided,
    copy: ExchangeCopy | undefined,
  ): Promise<void> {
    return this.#forwardTo(
      this.#place.targetOf(context.request, endpoint),
      context,
      received,
      operation,
      version,
      caller,
      copy,
    );
  }

  #forwardTo(
    target: string,
    context: RequestContext,
    received: Received,
    operation: Operation,
    version: SoapVersion | undefined,
    caller: Caller,
    copy?: ExchangeCopy,
  ): Promise<void> {
    const { service } = context.options;
    return forward(this.#place.legacy, context, {
      operation,
      version,
      target,
      received,
      copy,
      limitKey: () => service.limitKeyOf(caller.values.all.size === 0 ? undefined : caller.values, context),
      headersOf: (added) => this.#place.headersOf(context, caller.name, added),
      onUnauthorized: this.#place.onUnauthorized,
      onSettled: () => this.#count(context),
      onCut: () => this.#place.onCut(context.requestId),
      onConnectionCredentials: this.#place.onConnectionCredentials,
    });
  }

  /** Forwards a request that is neither a call nor for a document of the gateway (G17). */
  async #serveOther(context: RequestContext): Promise<void> {
    const { stats, request, requestId } = context;
    if (request.method === 'TRACE') {
      // the reply would contain the credentials of the gateway
      send(context, 'http', textReply(405, `expected ${otherVerbs}`, requestId, otherVerbs));
      return;
    }
    // the WSDL of the legacy service would contain its address
    const isDocument =
      /^(?:GET|HEAD)$/.test(request.method ?? '') && asksForWsdl(new URLSearchParams(context.query));
    if (isDocument || !this.#place.forwardsOthers) {
      send(context, 'http', textReply(404, 'unknown path', requestId));
      return;
    }
    const caller = this.#place.identify(context, undefined);
    this.#decider.override(context, this.#decider.unknown, caller, true);
    stats.operation = this.#decider.unknown.name;
    stats.caller = caller.name;
    stats.route = { mode: 'legacy', rule: unreadable, side: 'legacy' };
    const received = await receiveStart(context, this.#place.legacy.limits.streamBytes);
    received.settle();
    const target = this.#place.targetOf(request, undefined);
    await this.#forwardTo(target, context, received, this.#decider.unknown, undefined, caller);
  }

  /** Returns true for a GET that the gateway answers: the WSDL, a schema or a page (G17). */
  #isDocument({ request, query, options }: RequestContext): boolean {
    if (query === '') return true;
    const words = new URLSearchParams(query);
    if (asksForWsdl(words)) return true;
    const { path } = targetOf(request.url ?? '');
    if (options.pages?.takes(request, path, query) === true) return true;
    return options.documents.find(words, '?', request).kind !== 'missing';
  }
}
