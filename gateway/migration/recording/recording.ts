import { randomBytes } from 'node:crypto';
import type { Operation } from '../../../mappings/contract/model.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { Service } from '../../protocols/read-request.ts';
import type { SoapAddress, SoapVersion } from '../../protocols/soap/versions.ts';
import type { RecordedHeaders, RecordedReply, StoredExchange } from '../../store/tables/record.ts';
import type { UpstreamReply } from '../../upstream/upstream.ts';
import { CallSecrets } from '../call-secrets.ts';
import type { Decision } from '../decide.ts';
import type { ExchangeCopy } from '../exchange-copy.ts';
import type { Caller } from '../identity.ts';
import type { LegacyAnswer } from '../legacy-answer.ts';
import { type Received, receiveAll } from '../receive.ts';
import { headOf, type ReplyHead } from '../reply-head.ts';
import type { Side } from '../routing.ts';
import type { ShadowCapacity } from '../shadow-capacity.ts';
import type { TimedReply } from '../shadow-request.ts';
import { Skipped } from '../skipped.ts';
import { type SentOnce, taskHead } from '../task-head.ts';
import type { DropReason, RecordQueue } from './record-queue.ts';
import type { RecordPlan } from './record-settings.ts';
import type { CopiedMessage, SentRedaction } from './record-task.ts';
import { BodyRecorder, type RecordedBody } from './recorded-body.ts';

/** Maximum length of a recorded header in characters. */
const maxHeaderCharacters = 512;

/** The parts that the recordings of one contract need. */
export interface RecorderParts {
  readonly service: Service;
  readonly plan: RecordPlan;
  readonly redaction: SentRedaction;
  /** The contract in the thread of comparisons. */
  readonly sent: SentOnce;
  readonly queue: RecordQueue;
  readonly capacity: ShadowCapacity;
}

/** A call that may be recorded. */
export interface RecordedCall {
  readonly address: SoapAddress;
  readonly version: SoapVersion;
  readonly operation: Operation;
  readonly caller: Caller;
  readonly decision: Decision;
}

/** Records exchanges of one contract (G56). */
export class Recorder {
  readonly #parts: RecorderParts;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Begins the recording of a call; undefined for a call that is not recorded. */
  begin(context: RequestContext, call: RecordedCall): Recording | undefined {
    const { plan, queue, redaction } = this.#parts;
    const { sample, operations } = plan;
    if (operations !== undefined && !operations.has(call.operation.name)) return undefined;
    if (Math.random() >= sample) return undefined;
    if (queue.enter()) return new Recording(context, call, this.#parts);
    queue.refuse(redaction.path);
    return undefined;
  }
}

/** A copied reply. */
interface Copied {
  readonly head: ReplyHead;
  readonly body: RecordedBody;
  readonly ms: number;
}

/** The recording of one call. Its methods neither fail nor wait. */
export class Recording {
  readonly #context: RequestContext;
  readonly #call: RecordedCall;
  readonly #parts: RecorderParts;
  readonly #at = Date.now();
  readonly #id: string = newId(this.#at);
  readonly #secrets: CallSecrets;
  readonly #request: BodyRecorder;
  readonly #replies = new Map<Side, Copied>();
  readonly #open: BodyRecorder[] = [];
  #held = 0;
  #dropped: DropReason | undefined;

  constructor(context: RequestContext, call: RecordedCall, parts: RecorderParts) {
    this.#context = context;
    this.#call = call;
    this.#parts = parts;
    this.#secrets = new CallSecrets(context, call.caller);
    this.#request = this.#body();
  }

  /** Copies a piece of the caller's message. */
  #sent(bytes: Uint8Array): void {
    if (this.#dropped === undefined) this.#request.add(bytes);
  }

  /** Receives and copies the message for the upstream. A message with a streamed file has no copy. */
  async receive(received: Received): Promise<void> {
    const { service } = this.#context.options;
    if (received.rest !== undefined && service.streams) return;
    await receiveAll(received, service.bodyLimit);
    this.#sent(received.bytes);
  }

  /**
   * Returns the copy of an exchange with the legacy service.
   *
   * @param isFirst false if the caller's message was copied before
   */
  forwarded(isFirst = true): ExchangeCopy {
    const body = this.#body();
    let head: ReplyHead | undefined;
    return {
      sent: (piece) => {
        if (isFirst) this.#sent(piece);
      },
      sentAll: () => {},
      began: (one) => {
        head = one;
      },
      received: (piece) => {
        if (this.#dropped === undefined) body.add(piece);
      },
      complete: (ms = this.#context.stats.route?.legacyMs ?? 0) => {
        if (head !== undefined) this.#add('legacy', head, body.take(), ms);
      },
      close: () => {},
    };
  }

  /** Copies the replies of the upstream to the caller's call. */
  watchUpstream(): void {
    const context = this.#context;
    const other = context.onUpstreamReply;
    context.onUpstreamReply = (reply) => {
      this.#addUpstream(reply);
      other?.(reply);
    };
  }

  #addUpstream({ status, headers, body: bytes }: UpstreamReply): void {
    const { 'content-type': type, 'retry-after': retryAfter } = headers;
    const textOf = (value: typeof type) => (typeof value === 'string' ? value : undefined);
    const head = { status, contentType: textOf(type), coding: undefined, retryAfter: textOf(retryAfter) };
    this.#addWhole('new', head, bytes, undefined);
  }

  /** Copies a complete reply of the legacy service. */
  answered({ status, rawHeaders, body }: LegacyAnswer): void {
    this.#addWhole('legacy', headOf(status, rawHeaders), body, undefined);
  }

  /** Copies the reply of the upstream to a shadow request. */
  compared({ body, ms, ...head }: TimedReply): void {
    this.#addWhole('new', head, body, ms);
  }

  #addWhole(side: Side, head: ReplyHead, bytes: Uint8Array, ms: number | undefined): void {
    if (this.#dropped !== undefined) return;
    const body = this.#body();
    body.add(bytes);
    this.#add(side, head, body.take(), ms ?? Number.NaN);
  }

  #add(side: Side, head: ReplyHead, body: RecordedBody, ms: number): void {
    if (this.#dropped === undefined) this.#replies.set(side, { head, body, ms });
  }

  #body(): BodyRecorder {
    const { queue, service } = this.#parts;
    const body = new BodyRecorder(service.compiled.limits.recordBytes, (bytes) => {
      this.#held += bytes;
      queue.hold(bytes);
      if (queue.isTooLarge) this.#drop('queue');
    });
    this.#open.push(body);
    return body;
  }

  #drop(reason: DropReason): void {
    if (this.#dropped !== undefined) return;
    this.#dropped = reason;
    const { queue, redaction } = this.#parts;
    queue.hold(-this.#held);
    this.#held = 0;
    this.#replies.clear();
    for (const body of this.#open) body.abandon();
    this.#open.length = 0;
    queue.drop(redaction.path, reason);
  }

  /** The call has ended: redacts and queues the exchange when its comparison has ended, too. */
  close(compared: Promise<void> | undefined): void {
    if (this.#dropped !== undefined) return;
    const { service, capacity } = this.#parts;
    const { requestId } = this.#context;
    const ended = (compared ?? Promise.resolve())
      .then(() => this.#finish())
      .catch((error: unknown) => {
        this.#drop(error instanceof Skipped ? 'queue' : 'error');
        if (!(error instanceof Skipped)) service.onError(error, requestId);
      });
    capacity.register({ cancel: () => {}, ended });
  }

  async #finish(): Promise<void> {
    if (this.#dropped !== undefined) return;
    const { capacity, sent, redaction, queue, plan } = this.#parts;
    const { stats, head, requestId } = this.#context;
    const { operation, address, version, caller, decision } = this.#call;
    const request = this.#request.take();
    const [legacy, fresh] = [this.#replies.get('legacy'), this.#replies.get('new')];
    const copied = (one: Copied | undefined): CopiedMessage | undefined =>
      one && { contentType: one.head.contentType, coding: one.head.coding, body: one.body };
    const newCopy = copied(fresh);
    const redacted = await capacity.redact(
      (known) => ({
        ...taskHead(sent, operation.name, known),
        redaction,
        requestHead: head,
        version: version.name,
        endpoint: address.endpoint,
        request: {
          contentType: head.headers['content-type'],
          coding: head.headers['content-encoding'],
          body: request,
        },
        legacy: copied(legacy),
        new: newCopy && { ...newCopy, status: fresh?.head.status ?? 0 },
        secrets: this.#secrets.list(),
      }),
      this.#held,
    );
    const { route } = stats;
    const legacyReply = replyOf(legacy, redacted.legacy, route?.legacyMs);
    const newReply = replyOf(fresh, redacted.new, stats.upstreamMs);
    const exchange: StoredExchange = {
      id: this.#id,
      contract: redaction.path,
      at: this.#at,
      operation: operation.name,
      caller: caller.name ?? stats.caller,
      mode: decision.mode,
      rule: decision.rule,
      redaction: plan.redact,
      details: {
        requestId,
        path: address.endpoint ?? '',
        version: version.name,
        request: { headers: requestHeaders(this.#context), ...sizeOf(redacted.request) },
        ...(legacyReply === undefined ? {} : { legacy: legacyReply }),
        ...(newReply === undefined ? {} : { new: newReply }),
      },
      request: redacted.request.bytes,
      requestJson: redacted.requestJson,
      legacy: redacted.legacy?.bytes,
      new: redacted.new?.bytes,
    };
    queue.hold(-this.#held);
    this.#held = 0;
    queue.add(exchange);
  }
}

let exchanges = 0;

/** Returns an id that sorts by time, and within a process by order. */
function newId(at: number): string {
  exchanges = (exchanges + 1) % 1e9;
  return `${String(at).padStart(15, '0')}-${String(exchanges).padStart(9, '0')}-${randomBytes(4).toString('hex')}`;
}

function sizeOf({ size, sha256 }: RecordedBody): Omit<RecordedBody, 'bytes'> {
  return sha256 === undefined ? { size } : { size, sha256 };
}

function replyOf(
  copied: Copied | undefined,
  body: RecordedBody | undefined,
  ownMs: number | undefined,
): RecordedReply | undefined {
  if (copied === undefined || body === undefined) return undefined;
  const { status, contentType, coding, retryAfter } = copied.head;
  const ms = Math.round((Number.isNaN(copied.ms) ? (ownMs ?? 0) : copied.ms) * 10) / 10;
  const headers = headersOf({
    'Content-Type': contentType,
    'Content-Encoding': coding,
    'Retry-After': retryAfter,
  });
  return { status, ms, headers, ...sizeOf(body) };
}

function requestHeaders({ head: { headers } }: RequestContext): RecordedHeaders {
  const { soapaction: action } = headers;
  return headersOf({
    'Content-Type': headers['content-type'],
    SOAPAction: typeof action === 'string' ? action : undefined,
    'Content-Encoding': headers['content-encoding'],
  });
}

function headersOf(headers: Readonly<Record<string, string | undefined>>): RecordedHeaders {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value.slice(0, maxHeaderCharacters)] as const],
  );
  return Object.fromEntries(given);
}
