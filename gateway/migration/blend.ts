import { MismatchError } from '../../mappings/codec/problem.ts';
import { type Blended, blend, type Duplicate, withoutItems } from '../../mappings/compare/blend.ts';
import { type BlendCodec, unreadableAt } from '../../mappings/compare/blend-codecs.ts';
import type { CompiledOperation, Frame, WrittenReply } from '../../mappings/compile.ts';
import { failureFor, runCall } from '../call/call.ts';
import { CallError } from '../call/error.ts';
import type { Outcome } from '../call/outcome.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import { declaredFaultOf } from './faults.ts';
import {
  callLegacy,
  type LegacyAnswer,
  type LegacyRead,
  sendAnswer,
  unpackedReply,
} from './legacy-answer.ts';
import { invalidReply } from './legacy-errors.ts';
import type { Place } from './place.ts';
import type { Blend, Side } from './routing.ts';

// Blends the lists of both services in one reply (G28 to G31).

/** A call with mode `blend`. */
export interface BlendedCall {
  readonly place: Pick<Place, 'contract' | 'routing' | 'legacy' | 'counts'>;
  readonly blend: Blend;
  readonly codec: BlendCodec;
  /** The read for the legacy service; `added` are headers of the trace. */
  readonly read: (added: Readonly<Record<string, string>>) => LegacyRead;
  /** Changes an outcome of the upstream for the caller. */
  readonly change: (outcome: Outcome) => Outcome;
  /** Called with the items of both lists that have the same key (G30). */
  readonly onDuplicates: (duplicates: readonly Duplicate[]) => void;
}

/** What a side contributes: a list, no items, or a failure. */
type Part =
  | { readonly kind: 'list'; readonly json: string }
  /** A fault that means an empty list (G31). */
  | { readonly kind: 'empty' }
  | { readonly kind: 'failed' };

/** The reply of the legacy service. `failure` is the outcome for the caller without a reply that it can get. */
interface LegacyPart {
  readonly part: Part;
  readonly answer: LegacyAnswer | undefined;
  readonly error: CallError | undefined;
}

/** Calls both services at the same time and returns the blended reply; undefined if the caller was answered. */
export async function runBlend(
  context: RequestContext,
  call: SoapCall | PreparedSoapCall,
  frame: Frame,
  blended: BlendedCall,
): Promise<Outcome | undefined> {
  const { options, stats } = context;
  const { service } = options;
  const { operation, input, values } = call;
  let legacy: Promise<LegacyPart> | undefined;
  const upstream: typeof service.upstream = {
    ...service.upstream,
    call: (request, waiting) => {
      const { traceparent } = request.headers;
      const added = traceparent === undefined ? {} : { traceparent };
      legacy = readLegacyPart(context, operation, blended, added);
      legacy.catch(() => {}); // awaited when the upstream has answered
      return service.upstream.call(request, waiting);
    },
  };
  const outcome = await runCall(
    { ...service, upstream },
    context,
    operation,
    input,
    'xml',
    undefined,
    values,
  );
  const { route } = stats;
  // the call was refused before any service was called
  if (legacy === undefined || route === undefined) return blended.change(outcome);
  const fromLegacy = await legacy;
  const sides = new Sides(context, operation, frame, blended, fromLegacy, outcome);
  return sides.answer();
}

/** Calls the legacy service and reads its reply. Does not throw CallError. */
async function readLegacyPart(
  context: RequestContext,
  { operation }: CompiledOperation,
  { place, codec, blend: { rule, emptyFaults }, read }: BlendedCall,
  added: Readonly<Record<string, string>>,
): Promise<LegacyPart> {
  const failed = (answer: LegacyAnswer | undefined, error: CallError | undefined): LegacyPart => {
    return { part: { kind: 'failed' }, answer, error };
  };
  let answer: LegacyAnswer | undefined;
  try {
    answer = await callLegacy(place.legacy, context, read(added));
  } catch (error) {
    if (error instanceof CallError) return failed(undefined, error);
    throw error;
  }
  const isSuccess = answer.status >= 200 && answer.status < 300;
  const reply = await unpackedReply(answer, operation, context.options.service.compiled.limits);
  const decoded = reply && codec.decode(reply);
  if (decoded?.kind === 'fault') {
    const isEmpty = codec.faultsNamed(decoded.name).some((name) => emptyFaults.legacy.has(name));
    return isEmpty ? { part: { kind: 'empty' }, answer, error: undefined } : failed(answer, undefined);
  }
  if (!isSuccess) return failed(answer, undefined);
  if (decoded?.kind !== 'reply') return failed(undefined, invalidReply('', 'a readable SOAP envelope'));
  const unreadable = unreadableAt(decoded, rule.readAt);
  if (unreadable !== undefined) return failed(undefined, invalidReply(unreadable.path, unreadable.expected));
  return { part: { kind: 'list', json: decoded.json }, answer, error: undefined };
}

/** The replies of both sides of one call. */
class Sides {
  readonly #context: RequestContext;
  readonly #operation: CompiledOperation;
  readonly #frame: Frame;
  readonly #blended: BlendedCall;
  readonly #legacy: LegacyPart;
  readonly #outcome: Outcome;

  constructor(
    context: RequestContext,
    operation: CompiledOperation,
    frame: Frame,
    blended: BlendedCall,
    legacy: LegacyPart,
    outcome: Outcome,
  ) {
    this.#context = context;
    this.#operation = operation;
    this.#frame = frame;
    this.#blended = blended;
    this.#legacy = legacy;
    this.#outcome = outcome;
  }

  /** Returns the outcome for the caller; undefined if it got the reply of the legacy service. */
  answer(): Outcome | undefined {
    const { stats } = this.#context;
    stats.error = undefined;
    this.#setSide(undefined);
    const { part: legacy, error } = this.#legacy;
    const fresh = this.#newPart();
    if (legacy.kind === 'failed') return this.#fail('legacy', error, fresh.part);
    if (fresh.part.kind === 'failed') return this.#fail('new', fresh.error, legacy);
    if (legacy.kind === 'empty' && fresh.part.kind === 'empty') return this.#sendLegacy();
    const jsonOf = (part: Part) => (part.kind === 'list' ? part.json : undefined);
    const { codec, blend: settings } = this.#blended;
    const made = blend(settings.rule, jsonOf(legacy), jsonOf(fresh.part), codec.limits);
    return made.kind === 'failed'
      ? this.#fail(made.side, this.#errorOf(made), made.side === 'legacy' ? fresh.part : legacy)
      : this.#write(made);
  }

  #setSide(side: Side | undefined): void {
    const { route } = this.#context.stats;
    if (route !== undefined) route.side = side;
  }

  /** Returns what the upstream contributes. `error` replaces an outcome that is unreadable as a list. */
  #newPart(): { readonly part: Part; readonly error: CallError | undefined } {
    const outcome = this.#outcome;
    const { blend: settings, place } = this.#blended;
    if (outcome.kind === 'failure') {
      const fault = declaredFaultOf(outcome, this.#operation.operation, place);
      const isEmpty = fault !== undefined && settings.emptyFaults.new.has(fault.name);
      return { part: { kind: isEmpty ? 'empty' : 'failed' }, error: undefined };
    }
    const json = outcome.json.toString('utf8');
    const wrong = outcome.passed > 0 ? 'values of their types' : this.#lacksInItems(outcome, json);
    if (wrong === undefined)
      return { part: { kind: 'list', json: json === '' ? '{}' : json }, error: undefined };
    const error = invalidNew(settings.rule.list.join('.'), wrong);
    return { part: { kind: 'failed' }, error };
  }

  /** Returns what the items of the upstream lack; undefined for nothing. Other members may be missing. */
  #lacksInItems({ mismatches }: Extract<Outcome, { kind: 'reply' }>, json: string): string | undefined {
    const missing = mismatches?.missing ?? 0;
    if (missing === 0) return undefined;
    const { codec, blend: settings } = this.#blended;
    const { rule } = settings;
    const rest = withoutItems(json, rule.list, codec.limits);
    if (rest === undefined) return undefined;
    const { mismatches: others } = codec.write(Buffer.from(rest), this.#frame);
    const outside = (others?.missing ?? 0) - (rule.isRequired ? 1 : 0);
    return missing > outside ? 'items with their required members' : undefined;
  }

  #errorOf({ side, path, expected }: Extract<Blended, { kind: 'failed' }>): CallError {
    return side === 'legacy' ? invalidReply(path, expected) : invalidNew(path, expected);
  }

  /**
   * Returns the failure of a side, or the reply of the other side alone if that is allowed (G31).
   *
   * @param error undefined for a failure that the service itself has sent
   */
  #fail(side: Side, error: CallError | undefined, other: Part): Outcome | undefined {
    this.#setSide(side);
    const { partial } = this.#blended.blend;
    const otherSide = side === 'legacy' ? 'new' : 'legacy';
    if (other.kind !== 'failed' && (partial === 'either' || partial === otherSide))
      return this.#alone(otherSide);
    if (error !== undefined) return this.#failure(error);
    return side === 'legacy' ? this.#sendLegacy() : this.#newFailure();
  }

  #failure(error: CallError): Outcome {
    const { service } = this.#context.options;
    return { kind: 'failure', failure: failureFor(service, this.#context, error) };
  }

  #newFailure(): Outcome {
    const outcome = this.#blended.change(this.#outcome);
    if (outcome.kind === 'failure') this.#context.stats.error = outcome.failure.errorCode;
    return outcome;
  }

  /** Returns the reply of one side alone, with a header that says so. */
  #alone(side: Side): Outcome | undefined {
    const { route } = this.#context.stats;
    if (route !== undefined) route.partial = side;
    if (side === 'legacy') return this.#sendLegacy([partialHeader, side]);
    this.#context.passed = { ...this.#context.passed, [partialHeader]: side };
    const outcome = this.#outcome;
    if (outcome.kind === 'failure') return this.#newFailure();
    return this.#replyOf(this.#operation.writeReply(outcome.json, this.#frame));
  }

  /** Sends the reply of the legacy service unchanged. */
  #sendLegacy(added: readonly string[] = []): undefined {
    const { answer } = this.#legacy;
    if (answer === undefined) throw new TypeError('blend: expected a reply of the legacy service, got none');
    sendAnswer(this.#context, answer, added);
  }

  #write({ json, items, duplicates }: Extract<Blended, { kind: 'blended' }>): Outcome {
    const { codec, onDuplicates } = this.#blended;
    const { blendItems: most } = codec.limits;
    if (items > most) {
      const expected = `at most ${most} items in a blended list (limit blendItems)`;
      return this.#failure(new CallError('UpstreamInvalidResponse', { expected }));
    }
    onDuplicates(duplicates);
    try {
      return this.#replyOf(codec.write(Buffer.from(json), this.#frame));
    } catch (error) {
      if (!(error instanceof MismatchError)) throw error;
      this.#setSide('legacy'); // the reply of the upstream was checked by the writer
      return this.#failure(invalidReply(error.path.join('.'), 'a value that can be written'));
    }
  }

  #replyOf({ xml, attached, dropped, replaced, passed, mismatches }: WrittenReply): Outcome {
    return {
      kind: 'reply',
      status: 200,
      json: nothing,
      xml,
      attached,
      dropped,
      replaced,
      passed,
      mismatches,
    };
  }
}

const partialHeader = 'X-Soapbridge-Partial';
const nothing = Buffer.alloc(0);

/** Returns the error of a reply of the upstream that cannot be blended. */
function invalidNew(path: string, expected: string): CallError {
  return new CallError('UpstreamInvalidResponse', {
    detail: `the response of the upstream cannot be blended: ${path}: expected ${expected}`,
    logged: `${path}: expected ${expected}`,
  });
}
