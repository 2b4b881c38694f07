import type { CompiledOperation } from '../../mappings/compile.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import type { Input } from '../../mappings/http-mapping/call.ts';
import { givenIn } from '../call/call.ts';
import type { Prepared } from '../call/call-service.ts';
import type { CallError } from '../call/error.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import type { SoapAddress, SoapVersion } from '../protocols/soap/versions.ts';
import type { Decision } from './decide.ts';
import type { Caller, IdentifyCaller } from './identity.ts';
import type { Place } from './place.ts';
import { jsonOf, readRequest } from './read-payload.ts';
import { readVerified } from './read-verified.ts';
import { isUnreadable, type Received, receiveEnvelope, receiveHead } from './receive.ts';
import { overridden, unreadable, usualCompare } from './routing.ts';
import { parseRequest } from './values.ts';

/** The decision about a call, with its operation and caller. */
export interface Decided {
  readonly decision: Decision;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly version: SoapVersion;
  /** The payload, if the decision needed it. */
  readonly call: SoapCall | PreparedSoapCall | undefined;
  /** The error for the caller, if the operation is deprecated and refused (G65). */
  readonly refusal?: CallError | undefined;
}

/** The decision about an unreadable request. */
const unrouted: Decision = { mode: 'legacy', rule: unreadable, compare: undefined };

/** Returns the error of a call of a deprecated operation that is refused (G65). It is checked before the routes (G6). */
function refusalOf(
  context: RequestContext,
  { name }: Operation,
  given: Parameters<IdentifyCaller>[1],
): CallError | undefined {
  return context.options.deprecated?.refusalOf(context, name, given);
}

/** Decides about the calls of one contract before anything is sent (G6). It reads as little of a request as possible. */
export class CallDecider {
  /** The operation of a request without a known one: a write. */
  readonly unknown: Operation;
  readonly #place: Place;

  constructor(place: Place) {
    const [first] = place.contract.operations;
    if (first === undefined) throw new RangeError('contract: expected operations, got none');
    this.unknown = { ...first, name: '?', readOnly: false };
    this.#place = place;
  }

  /** Reads as much of a call as the decision needs, and decides (G6, G12). */
  async decideCall(address: SoapAddress, context: RequestContext, received: Received): Promise<Decided> {
    if (context.options.service.compiled.contract.wsse?.x509 !== undefined)
      return this.#decideVerified(address, context, received);
    const head = await receiveHead(context, address, received);
    context.options.service.observer.opened(context, received.bytes);
    if ('error' in head) return this.#undecided(address, context, head.error, true);
    const { envelope } = head;
    const { version } = envelope;
    const { operation } = envelope.operation;
    const inHeader = envelope.findings?.values;
    const caller = this.#place.identify(context, inHeader);
    const isCallerRead = this.#place.readsCaller(operation.name);
    const known = { caller, operation, version, call: undefined };
    const refusal = isCallerRead ? undefined : refusalOf(context, operation, inHeader);
    if (refusal !== undefined) return { ...known, decision: unrouted, refusal };
    const decision = isCallerRead ? 'payload' : this.#decide(context, operation, caller, undefined);
    if (decision !== 'payload') return { ...known, decision };
    const isWhole = received.body !== undefined;
    const whole = isWhole ? head : await receiveEnvelope(context, address, received);
    if ('error' in whole) return this.#unread(address, context, known, whole.error, isCallerRead);
    try {
      const { json, call, moved } = await readRequest(address, context, received, whole.envelope);
      if (!isCallerRead)
        return { ...known, decision: this.#decideByJson(context, operation, caller, json, false), call };
      const given = { ...inHeader, body: moved };
      const named = { ...known, caller: this.#place.identify(context, given) };
      const late = refusalOf(context, operation, given);
      if (late !== undefined) return { ...named, decision: unrouted, refusal: late };
      const decided = this.#decideByJson(context, operation, named.caller, json, true);
      return { ...named, decision: decided, call };
    } catch (error) {
      if (isUnreadable(error)) return this.#unread(address, context, known, error, isCallerRead);
      throw error;
    }
  }

  /** Reads a call whose message is verified, and decides. */
  async #decideVerified(address: SoapAddress, context: RequestContext, received: Received): Promise<Decided> {
    const read = await readVerified(address, context, received);
    if ('error' in read) return this.#undecided(address, context, read.error, true);
    const { call } = read;
    const { operation, version } = call;
    const given = givenIn(operation, call.input, call.values);
    const caller = this.#place.identify(context, given);
    const known = { caller, operation: operation.operation, version, call };
    const refusal = refusalOf(context, known.operation, given);
    if (refusal !== undefined) return { ...known, decision: unrouted, refusal };
    return { ...known, decision: this.decideRead(context, operation, caller, call.input) };
  }

  /** Returns the decision about a request that was read completely. */
  decideRead(
    context: RequestContext,
    compiled: CompiledOperation,
    caller: Caller,
    input: Input | Prepared,
  ): Decision {
    const { operation } = compiled;
    const found = this.#decide(context, operation, caller, undefined);
    if (found !== 'payload') return found;
    return this.#decideByJson(context, operation, caller, jsonOf(compiled, input), false);
  }

  /** Returns the decision about a request with an operation and an unreadable payload. */
  #unread(
    address: SoapAddress,
    context: RequestContext,
    known: Omit<Decided, 'decision'>,
    error: unknown,
    isCallerRead: boolean,
  ): Decided {
    const refusal = isCallerRead ? refusalOf(context, known.operation, undefined) : undefined;
    if (refusal !== undefined) return { ...known, decision: unrouted, refusal };
    return this.#undecided(address, context, error, isCallerRead);
  }

  /** Returns the decision about a request without a known operation. Throws its error if no route leads to legacy. */
  #undecided(address: SoapAddress, context: RequestContext, error: unknown, isFirst: boolean): Decided {
    const caller = this.#place.identify(context, undefined);
    this.override(context, this.unknown, caller, isFirst);
    if (!this.#place.leadsToLegacy) throw error;
    return {
      decision: unrouted,
      caller,
      operation: this.unknown,
      version: address.version,
      call: undefined,
    };
  }

  /** Returns the decision if it depends on the payload. */
  #decideByJson(
    context: RequestContext,
    operation: Operation,
    caller: Caller,
    json: string,
    isFirst: boolean,
  ): Decision {
    return this.#decide(context, operation, caller, { json: parseRequest(json) }, isFirst) as Decision;
  }

  #decide(
    context: RequestContext,
    operation: Operation,
    caller: Caller,
    request: { readonly json: unknown } | undefined,
    isFirst = request === undefined,
  ): Decision | 'payload' {
    const forced = this.override(context, operation, caller, isFirst);
    if (forced !== undefined) return forced;
    const { rawHeaders } = context.request;
    return this.#place.decide(operation.name, {
      caller: caller.name,
      callerKey: caller.key,
      rawHeaders,
      request,
    });
  }

  /**
   * Returns the decision by the override header (G10); undefined if the rules decide.
   *
   * @param isFirst true if a header without effect was not counted yet
   */
  override(
    context: RequestContext,
    { name, readOnly }: Operation,
    caller: Caller,
    isFirst: boolean,
  ): Decision | undefined {
    const { override, unmapped, counts } = this.#place;
    if (override === undefined) return undefined;
    const word = context.request.headers[override.header];
    if (word === undefined) return undefined;
    const isAllowed = caller.name !== undefined && override.callers.has(caller.name);
    const isKnown = name !== this.unknown.name && !unmapped.has(name);
    if (isAllowed && (word === 'legacy' || (word === 'new' && isKnown)))
      return { mode: word, rule: overridden, compare: undefined };
    if (isAllowed && word === 'compare' && isKnown && readOnly)
      return { mode: word, rule: overridden, compare: usualCompare };
    if (isFirst) counts.refusedOverrides++;
    return undefined;
  }
}
