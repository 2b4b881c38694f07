import { type Duplicate, withItemsTwice } from '../../mappings/compare/blend.ts';
import type { BlendCodec } from '../../mappings/compare/blend-codecs.ts';
import type { BlendResult, NewPart } from '../../mappings/compare/blend-replies.ts';
import type { ReplyBytes } from '../../mappings/compare/comparison.ts';
import type { CompiledOperation, Frame, WrittenReply } from '../../mappings/compile.ts';
import { failureFor, runCall } from '../call/call.ts';
import { CallError } from '../call/error.ts';
import type { Outcome } from '../call/outcome.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import type { BlendWorker } from './blend-worker.ts';
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
  readonly worker: BlendWorker;
  /** The read for the legacy service; `added` are headers of the trace. */
  readonly read: (added: Readonly<Record<string, string>>) => LegacyRead;
  /** Called with the reply of the legacy service. */
  readonly onLegacy: (answer: LegacyAnswer) => void;
  /** Changes an outcome of the upstream for the caller. */
  readonly change: (outcome: Outcome) => Outcome;
  /** Called with pairs of items with the same key, and the number of such keys (G30). */
  readonly onDuplicates: (duplicates: readonly Duplicate[], keys: number) => void;
}

/** The reply of the legacy service: its answer, also without content coding, or the error of a missing reply. */
type LegacyPart =
  | { readonly kind: 'error'; readonly error: CallError }
  | { readonly kind: 'answer'; readonly answer: LegacyAnswer; readonly reply: ReplyBytes | undefined };

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
  try {
    return await new Sides(context, operation, frame, blended, fromLegacy, outcome).answer();
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { kind: 'failure', failure: failureFor(service, context, error) };
  }
}

/** Calls the legacy service. Does not throw CallError. */
async function readLegacyPart(
  context: RequestContext,
  { operation }: CompiledOperation,
  { place, read, onLegacy }: BlendedCall,
  added: Readonly<Record<string, string>>,
): Promise<LegacyPart> {
  try {
    const answer = await callLegacy(place.legacy, context, read(added));
    onLegacy(answer);
    const reply = await unpackedReply(answer, operation, context);
    return { kind: 'answer', answer, reply };
  } catch (error) {
    if (error instanceof CallError) return { kind: 'error', error };
    throw error;
  }
}

/** The part of the new service. `error` replaces an outcome whose list is unreadable. */
interface FoundNew {
  readonly part: NewPart;
  readonly error?: CallError;
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

  /** Returns the outcome for the caller; undefined if it got the reply of the legacy service. Throws CallError. */
  async answer(): Promise<Outcome | undefined> {
    this.#context.stats.error = undefined;
    this.#setSide(undefined);
    const fresh = this.#newPart();
    const isNewUsable = fresh.part.kind !== 'failed';
    if (this.#legacy.kind === 'error') return this.#fail('legacy', this.#legacy.error, isNewUsable);
    const result = await this.#blend(this.#legacy, fresh.part);
    switch (result.kind) {
      case 'legacyFailed':
        return this.#fail('legacy', undefined, isNewUsable);
      case 'unreadable': {
        const { side, path, expected } = result;
        return side === 'legacy'
          ? this.#fail(side, invalidReply(path, expected), isNewUsable)
          : this.#fail(side, invalidNew(path, expected), true);
      }
      case 'legacyAlone':
        return this.#fail('new', fresh.error, true);
      case 'bothEmpty':
        return this.#sendLegacy();
      case 'tooLong': {
        const most = this.#blended.codec.limits.blendItems;
        const expected = `at most ${most} items in a blended list (limit blendItems)`;
        return this.#failure(new CallError('UpstreamInvalidResponse', { expected }));
      }
      case 'blended':
        this.#blended.onDuplicates(result.duplicates, result.keys);
        return this.#replyOf(result.reply);
    }
  }

  async #blend(
    { answer, reply }: Extract<LegacyPart, { kind: 'answer' }>,
    fresh: NewPart,
  ): Promise<BlendResult> {
    const { blend, codec, worker } = this.#blended;
    // a reply that cannot be decompressed has no envelope
    const legacy = reply ?? { status: answer.status, contentType: undefined, body: nothing };
    const { rule, emptyFaults } = blend;
    const input = { rule, emptyFaults: emptyFaults.legacy, legacy, fresh, frame: this.#frame };
    return worker.blend(this.#context, this.#operation.operation.name, codec, input);
  }

  #setSide(side: Side | undefined): void {
    const { route } = this.#context.stats;
    if (route !== undefined) route.side = side;
  }

  #newPart(): FoundNew {
    const outcome = this.#outcome;
    const { blend, place } = this.#blended;
    if (outcome.kind === 'failure') {
      const fault = declaredFaultOf(outcome, this.#operation.operation, place);
      const isEmpty = fault !== undefined && blend.emptyFaults.new.has(fault.name);
      return { part: { kind: isEmpty ? 'empty' : 'failed' } };
    }
    const wrong = outcome.passed > 0 ? 'values of their types' : this.#lacksInItems(outcome);
    const { json, dropped } = outcome;
    if (wrong === undefined) return { part: { kind: 'list', json, dropped } };
    return { part: { kind: 'failed' }, error: invalidNew(blend.rule.list.join('.'), wrong) };
  }

  /** Returns what the items of the upstream lack; undefined for nothing. Other members may be missing. */
  #lacksInItems({ mismatches, json }: Extract<Outcome, { kind: 'reply' }>): string | undefined {
    const missing = mismatches?.missing ?? 0;
    if (missing === 0) return undefined;
    const { codec, blend } = this.#blended;
    const twice = withItemsTwice(json.toString('utf8'), blend.rule, codec.limits);
    if (twice === undefined) return undefined;
    // what an item lacks is then missing twice
    const { mismatches: ofTwice } = codec.write(Buffer.from(twice), this.#frame);
    return (ofTwice?.missing ?? 0) > missing ? 'items with their required members' : undefined;
  }

  /**
   * Returns the failure of a side, or the reply of the other side alone if that is allowed (G31).
   *
   * @param error undefined for a failure that the service itself has sent
   * @param isOtherUsable false if the other side failed, too
   */
  #fail(side: Side, error: CallError | undefined, isOtherUsable: boolean): Outcome | undefined {
    this.#setSide(side);
    const { partial } = this.#blended.blend;
    const otherSide = side === 'legacy' ? 'new' : 'legacy';
    if (isOtherUsable && (partial === 'either' || partial === otherSide)) return this.#alone(otherSide);
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
    if (this.#legacy.kind === 'error') throw this.#legacy.error;
    sendAnswer(this.#context, this.#legacy.answer, added);
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
