import { Attachments } from '../../../mappings/codec/attachments.ts';
import { StreamedFile } from '../../../mappings/codec/streamed-file.ts';
import { RelatedError, type RelatedType } from '../../../mappings/http-mapping/related.ts';
import {
  fileOf,
  type RelatedBeginning,
  readBeginning,
} from '../../../mappings/http-mapping/related-stream.ts';
import type { Transfer } from '../../admission/transfers.ts';
import { CallError } from '../../call/error.ts';
import { dropRest, isAwaited, piecesOf, tooLarge } from '../../http/body.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { bodyFlows } from '../../http/sockets.ts';
import { Collector } from '../../upstream/collector.ts';
import { announcedBytes } from '../../upstream/content-length.ts';
import { actionsOf, unreadable } from '../read-call.ts';
import { admitSoap } from '../read-request.ts';
import type { SoapCall } from './soap-reader.ts';
import type { SoapAddress } from './versions.ts';

/** A multipart message that may contain a file to stream (W64), read as far as necessary. */
export interface StreamedCall {
  /** The call; undefined for any other message, which was read completely. */
  readonly call: SoapCall | undefined;
  readonly body: Buffer;
  /** Returns the error for the caller if the file ended early; undefined otherwise. */
  readonly failure: () => unknown;
  /** Must be called when the call has ended. */
  readonly end: () => void;
}

/** Time limit of a call with a streamed file, in ms. */
export const maxStreamMs = 3_600_000;

/**
 * Number of bytes at which the start of a message is parsed for the first time. The number doubles each time, so the
 * total time is linear.
 */
const firstLookBytes = 2 * 1024;

/**
 * Reads a `multipart/related` message up to its file if its operation streams files. Reads any other message
 * completely, like `readBody`. The call has its permit when this resolves. Throws CallError, Fault. A single function,
 * because all steps share the data that has arrived.
 */
export async function receiveStreamed(
  context: RequestContext,
  address: SoapAddress,
  type: RelatedType,
): Promise<StreamedCall> {
  const { request, head, response, options, permit } = context;
  const { service } = options;
  const { admission, compiled, bodyLimit } = service;
  const { limits } = compiled;
  const { version } = address;
  admitSoap(service, context, Math.max(bodyLimit, limits.streamBytes));
  await undefined; // in the next microtask, Node's parser has passed on the bytes that arrived with the head
  if (response.destroyed) throw new CallError('CallerGone');
  if (isAwaited(request)) response.writeContinue();
  const heldMost = Math.min(bodyLimit, limits.streamBytes);
  let isHeld = false;
  const pieces = piecesOf(context, service, () => (isHeld ? heldMost : limits.streamBytes));
  const collector = new Collector(false);
  const transfer: Transfer = {
    index: -1,
    heldBytes: 0,
    began: performance.now(),
    moved: () => collector.size,
    cut: () => request.destroy(),
  };
  admission.arrive(transfer);
  let hasArrived = false;
  let looked: Buffer[] = [];
  let lookAt = firstLookBytes;
  try {
    for (;;) {
      const { value, done } = await pieces.next();
      if (done === true) break;
      if (!admission.addReceived(transfer, value.length)) throw admission.shed();
      collector.add(value);
      if (isHeld) continue;
      looked.push(value);
      if (collector.size < lookAt) continue;
      lookAt = collector.size * 2;
      looked = [Buffer.concat(looked)];
      const [received = value] = looked;
      const beginning = readBeginning(received, type, limits);
      if (beginning === 'more') continue;
      const call = beginning === 'held' ? undefined : await begin(beginning, received);
      if (call !== undefined) return call;
      looked = [];
      isHeld = true;
      if (Math.max(collector.size, announcedBytes(request.headers['content-length'])) > heldMost)
        throw tooLarge(heldMost);
    }
    if (collector.size > heldMost) throw tooLarge(heldMost);
    permit.receive(transfer);
    hasArrived = true;
    await permit.enter();
    return { call: undefined, body: collector.take().body, failure: () => undefined, end: () => {} };
  } catch (error) {
    if (!hasArrived) admission.dropArrival(transfer);
    await pieces.return();
    const isRead = request.readableEnded;
    if (!isRead) dropRest(context, error instanceof CallError ? error : new CallError('MalformedRequest'));
    throw unreadable(error, version);
  }

  /**
   * Continues with a message when its envelope and the headers of its file have arrived. Returns undefined if the
   * operation does not stream files. Also returns undefined if the call does not use the file, because it would then be
   * made even if the message is incomplete.
   */
  async function begin(beginning: RelatedBeginning, received: Buffer): Promise<StreamedCall | undefined> {
    let failure: unknown;
    async function* fileChunks(): AsyncGenerator<Buffer, void, undefined> {
      try {
        yield* fileOf(received.subarray(beginning.fileStart), pieces, type, limits);
      } catch (error) {
        failure =
          error instanceof RelatedError
            ? new CallError('MalformedRequest', { ...error.reason, cause: error })
            : error;
        throw failure;
      }
    }
    const file = new StreamedFile(fileChunks());
    const { form, root, charset, actions } = beginning;
    const attachments = new Attachments(form, [{ id: beginning.fileId, bytes: file }]);
    const hints = actionsOf(head, actions);
    const message = { document: root, charset, actions: hints, attachments };
    const envelope = service.openSoap(message, address);
    const { operation } = envelope.operation;
    if (!operation.stream) return undefined;
    service.observer.opened(context, received);
    const call = envelope.readPayload();
    const isRefused = call.input.reading.problems.length > 0;
    if (!(attachments.areTaken || isRefused)) return undefined;
    context.stats.operation = operation.name;
    permit.receive(transfer);
    hasArrived = true;
    const release = admission.streams.take(service.networkOf(request));
    if (release === undefined) throw admission.shed();
    const end = (): void => {
      release();
      bodyFlows(request.socket, false);
      if (!request.readableEnded) dropRest(context, new CallError('CallerGone'));
    };
    try {
      await permit.enter();
    } catch (error) {
      end();
      throw error;
    }
    bodyFlows(request.socket, true);
    context.deadline = context.started + (limits.streamMs ?? maxStreamMs);
    return { call, body: received, failure: () => failure, end };
  }
}
