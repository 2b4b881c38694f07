import type { ServerResponse } from 'node:http';
import type { Comparison } from '../../mappings/compare/comparison.ts';
import { Permit } from '../admission/permit.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { PreparedSoapCall } from '../protocols/read-in-worker.ts';
import type { SoapCall } from '../protocols/soap/soap-reader.ts';
import { BodyCopy } from './body-copy.ts';
import type { CallSecrets } from './call-secrets.ts';
import type { ReceivedReply } from './compare-task.ts';
import { CopyMemory } from './copy-memory.ts';
import type { ExchangeCopy } from './exchange-copy.ts';
import { isReplayProtected } from './replay-protected.ts';
import { ReplyCopy } from './reply-copy.ts';
import type { ReplyHead } from './reply-head.ts';
import type { Cancellable, ShadowCapacity } from './shadow-capacity.ts';
import { createEnd, type ShadowParts, type TimedReply } from './shadow-request.ts';
import { Skipped } from './skipped.ts';

/** Makes a shadow request. Throws Skipped. */
export type CallShadow = (parts: ShadowParts) => Promise<TimedReply>;

/** The parts of a comparison that depend on the contract and the call. */
export interface PendingParts {
  readonly capacity: ShadowCapacity;
  /** The service that answers the caller. */
  readonly answer: 'legacy' | 'new';
  /** Receives the credentials of the call. */
  readonly secrets: CallSecrets;
  /** Calls the other service. */
  readonly callShadow: CallShadow;
  /** Calls the legacy service for a noise comparison (G46); undefined for none. */
  readonly callNoise: CallShadow | undefined;
  /**
   * Compares a reply of the legacy service with another reply. Throws Skipped.
   *
   * @param request the caller's message if `other` is a reply of the upstream
   */
  readonly compare: (
    legacy: ReceivedReply,
    other: ReceivedReply,
    end: ServerResponse,
    request?: Buffer,
  ) => Promise<Comparison>;
  /** Called with the comparison and the duration of the shadow request in ms, or why there is no comparison. */
  readonly onCompared: (result: Comparison | Skipped, shadowMs: number) => void;
  /** Called with the comparison of two replies of the legacy service, or the reason why there is none. */
  readonly onNoise: (result: Comparison | Skipped) => void;
  /** Called when a shadow request or a comparison has ended. Times are in ms of `performance.now()`. */
  readonly onWork: (work: 'shadow' | 'compare', from: number, to: number) => void;
  readonly onError: (error: unknown) => void;
}

/** The copied messages of a comparison. */
const messages = ['request', 'own', 'shadow', 'kept'] as const;

/**
 * The comparison of one call. It copies the caller's message and the reply that the caller gets while they are passed on,
 * and makes the shadow request. The methods that the call uses neither fail nor wait.
 */
export class PendingComparison implements Cancellable, ExchangeCopy {
  readonly ended: Promise<void>;
  readonly #parts: PendingParts;
  readonly #context: RequestContext;
  readonly #end: ServerResponse;
  readonly #memory: Readonly<Record<(typeof messages)[number], CopyMemory>>;
  readonly #request: BodyCopy;
  #reply: ReplyCopy | undefined;
  /** The reply that the caller gets. */
  readonly #own = Promise.withResolvers<ReceivedReply>();
  readonly #finished = Promise.withResolvers<void>();
  #isStarted = false;
  #isAnswered = false;
  #cancelled: Skipped | undefined;

  constructor(context: RequestContext, parts: PendingParts) {
    const { admission, limits } = parts.capacity;
    const memory = (): CopyMemory => new CopyMemory(admission, limits.compareBytes);
    this.#parts = parts;
    this.#context = context;
    this.#end = createEnd(context);
    const kept = new CopyMemory(admission, Number.POSITIVE_INFINITY); // it was counted as a reply
    this.#memory = { request: memory(), own: memory(), shadow: memory(), kept };
    this.#request = new BodyCopy(this.#memory.request);
    this.ended = this.#finished.promise;
    this.#own.promise.catch(() => {}); // it may fail before it is awaited
    parts.capacity.register(this);
  }

  /** The caller's message was decoded. */
  decoded(call: SoapCall | PreparedSoapCall): void {
    this.#parts.secrets.read(call);
  }

  /** Copies a piece of the caller's message. */
  sent(piece: Buffer): void {
    this.#copy(this.#request, piece);
  }

  /** The caller's message is complete: makes the shadow request after the message was passed on. */
  sentAll(): void {
    if (this.#isStarted || this.#cancelled !== undefined) return;
    this.#isStarted = true;
    setImmediate(() => void this.#run());
  }

  /**
   * The head of the reply for the caller has arrived.
   *
   * @param announced announced length of the body in bytes; 0 for none
   */
  began(head: ReplyHead, announced: number): void {
    const { limits } = this.#parts.capacity;
    this.#reply = new ReplyCopy(head, this.#memory.own, limits);
    if (this.#reply.isTooLarge(announced)) this.cancel(new Skipped('size'));
  }

  /** Copies a piece of the reply for the caller. */
  received(piece: Buffer): void {
    if (this.#reply !== undefined) this.#copy(this.#reply, piece);
  }

  /** The reply for the caller is complete. */
  complete(): void {
    if (this.#reply === undefined || this.#cancelled !== undefined) return;
    try {
      this.#own.resolve(this.#reply.take());
      this.#isAnswered = true;
    } catch (error) {
      if (error instanceof Skipped) this.cancel(error);
      else throw error;
    }
  }

  /** The call has ended: cancels the comparison if the message or the reply is incomplete. */
  close(): void {
    if (!this.#isStarted || !this.#isAnswered) this.cancel();
  }

  /** Cancels the comparison and its shadow request. */
  cancel(why: Skipped = new Skipped('aborted')): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = why;
    this.#end.destroy();
    this.#end.emit('close');
    this.#own.reject(why);
    if (!this.#isStarted) this.#finish(why);
  }

  #copy(copy: BodyCopy | ReplyCopy, piece: Buffer): void {
    if (this.#cancelled !== undefined) return;
    copy.add(piece);
    if (copy.dropped !== undefined) this.cancel(copy.dropped);
  }

  async #run(): Promise<void> {
    try {
      await this.#compare();
      this.#release();
    } catch (error) {
      const skipped = this.#cancelled ?? error;
      this.#finish(skipped instanceof Skipped ? skipped : new Skipped('aborted'));
      if (!(skipped instanceof Skipped)) this.#parts.onError(skipped);
    }
  }

  async #compare(): Promise<void> {
    const { answer, callShadow, callNoise, compare, onCompared } = this.#parts;
    const request = this.#request.take();
    const shadow = await this.#call(callShadow, request);
    const own = await this.#own.promise;
    const [legacy, other] = answer === 'legacy' ? [own, shadow] : [shadow, own];
    const kept = callNoise === undefined ? undefined : this.#keep(legacy, request);
    const comparison = await this.#measured('compare', () => compare(legacy, other, this.#end, request));
    onCompared(comparison, shadow.ms);
    this.#memory.own.release();
    this.#memory.shadow.release();
    if (callNoise !== undefined && kept !== undefined) await this.#compareNoise(callNoise, request, kept);
  }

  /** Copies the reply of the legacy service for a noise comparison. Returns undefined if there is none. */
  #keep(legacy: ReceivedReply, request: Buffer): ReceivedReply | undefined {
    const { kept } = this.#memory;
    const refusal = isReplayProtected(request, this.#context)
      ? new Skipped('replayProtected')
      : kept.hold(legacy.body.length)
        ? undefined
        : kept.refusal();
    if (refusal === undefined) return { ...legacy, body: new Uint8Array(legacy.body) };
    this.#parts.onNoise(refusal);
    return undefined;
  }

  async #compareNoise(callNoise: CallShadow, request: Buffer, kept: ReceivedReply): Promise<void> {
    const { compare, onNoise, onError } = this.#parts;
    try {
      const second = await this.#call(callNoise, request);
      onNoise(await this.#measured('compare', () => compare(kept, second, this.#end)));
    } catch (error) {
      const skipped = this.#cancelled ?? error;
      if (skipped instanceof Skipped) onNoise(skipped);
      else onError(skipped);
    }
  }

  /** Makes a shadow request when there is capacity. */
  async #call(call: CallShadow, body: Buffer): Promise<TimedReply> {
    const { capacity, secrets } = this.#parts;
    const slot = new Permit(capacity.admission, { queueMs: 0 });
    try {
      await capacity.enter(slot, () => this.#end.destroyed);
      const deadline = performance.now() + capacity.limits.shadowMs;
      const { shadow: memory } = this.#memory;
      const parts = { context: this.#context, body, memory, secrets, end: this.#end, deadline };
      return await this.#measured('shadow', () => call(parts));
    } finally {
      slot.release();
    }
  }

  async #measured<Result>(work: 'shadow' | 'compare', run: () => Promise<Result>): Promise<Result> {
    const from = performance.now();
    try {
      return await run();
    } finally {
      this.#parts.onWork(work, from, performance.now());
    }
  }

  #finish(skipped: Skipped): void {
    this.#cancelled ??= skipped; // nothing more is copied
    this.#release();
    this.#parts.onCompared(skipped, 0);
  }

  #release(): void {
    this.#reply?.drop(new Skipped('aborted'));
    for (const message of messages) this.#memory[message].release();
    this.#finished.resolve();
  }
}
