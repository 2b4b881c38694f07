import type { Hide } from '../../mappings/codec/scalars/text.ts';
import type { CompiledOperation, Frame } from '../../mappings/compile.ts';
import type { CredentialValues, UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { Admission } from '../admission/admission.ts';
import { giveBack } from '../upstream/collector.ts';
import { withinDeadline } from '../upstream/deadlines.ts';
import { maxLoopReplyBytes, type UpstreamReply } from '../upstream/upstream.ts';
import type { CallService, Exchange, ReadReply, ReplyTerms } from './call-service.ts';
import { bytesOf, type Outcome, readReply } from './outcome.ts';

/**
 * Maximum number of writes that wait for memory for their replies. While that many wait, a write is rejected if its
 * operation recently returned a large reply.
 */
export const maxMemoryWaits = 8;

/**
 * Rejects a write that is likely to wait for memory while too many writes already wait. A write is likely to wait if
 * its operation recently returned large replies. Throws CallError Overloaded.
 */
export function refuseLarge({ admission, compiled }: CallService, { operation }: UpstreamRequest): void {
  const { replyQueue, largeReplies } = admission;
  const { roomWaits = maxMemoryWaits } = compiled.limits;
  if (replyQueue.size >= roomWaits && largeReplies.isLikelyOf(operation)) throw admission.shed();
}

/** Data for reading a large reply. */
interface LargeReplyTerms {
  /** Frame of the reply; undefined for a caller of JSON. */
  readonly frame: Frame | undefined;
  readonly values: CredentialValues | undefined;
  readonly hide: Hide;
}

/**
 * Reads a large reply once there is memory for the result. A worker thread reads and signs it. The event loop reads a
 * reply that is mostly base64, which was already checked during receipt, and is not signed. Throws CallError.
 */
export async function readLargeReply(
  service: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  reply: UpstreamReply,
  terms: LargeReplyTerms,
): Promise<Outcome> {
  const { admission, compiled, observer } = service;
  const { readOnly } = operation.operation;
  const { ownSecrets, permit } = exchange;
  const bytes = reply.body.length; // read it now: a body that was transferred to the thread has length 0
  const isWritten = terms.frame !== undefined;
  let read: ReadReply | undefined;
  try {
    if (isWritten && !permit.hold(0)) await waitForMemory(admission, exchange, readOnly);
    // base64 is digested for a signature, and otherwise only copied
    const toRead = terms.frame?.answered === undefined ? bytes - (reply.runs?.total ?? 0) : bytes;
    if (toRead > (compiled.limits.replyAsideBytes ?? maxLoopReplyBytes))
      read = await readInWorker(service, exchange, operation, reply, terms);
    else {
      const outcome = readReply(reply, compiled, operation, terms.hide, terms.frame);
      const shown =
        outcome.kind === 'reply'
          ? service.shown?.reply(operation, outcome.json, terms.values, ownSecrets)
          : undefined;
      read = { outcome, shown };
    }
    const grown = isWritten ? writtenBytes(read.outcome) - bytes : 0;
    if (grown > 0 && !permit.hold(grown) && readOnly) throw admission.shed();
  } catch (error) {
    giveBack(reply.body);
    if (read !== undefined) dropOutcome(read.outcome);
    throw error;
  }
  const { outcome, shown } = read;
  if (shown !== undefined) observer.replied(exchange, operation, shown);
  if (isWritten && outcome.kind === 'reply' && Buffer.isBuffer(outcome.xml)) giveBack(reply.body);
  return outcome;
}

/** Reads a reply in a worker thread as soon as there is memory for the result. Throws CallError. */
async function readInWorker(
  { admission, readInWorker: reader }: CallService,
  exchange: Exchange,
  operation: CompiledOperation,
  reply: UpstreamReply,
  { frame, values }: LargeReplyTerms,
): Promise<ReadReply> {
  const { readOnly } = operation.operation;
  const { ownSecrets, permit } = exchange;
  const freeBytes = (): number | undefined => {
    if (frame === undefined) return Number.POSITIVE_INFINITY;
    const spare = permit.spare();
    return readOnly || spare === undefined ? spare : Number.POSITIVE_INFINITY;
  };
  const terms: ReplyTerms = { frame, values, ownSecrets, freeBytes };
  for (;;) {
    const read = await reader.reply(exchange, operation, reply, terms);
    if (read !== undefined) return read;
    await waitForMemory(admission, exchange, readOnly);
  }
}

/** Releases the memory of a reply that is not sent. */
function dropOutcome(outcome: Outcome): void {
  for (const bytes of bytesOf(outcome)) giveBack(bytes);
}

/**
 * Delays the large reply of a write until there is memory to write it as XML, which may take several times its size.
 * Throws CallError: Overloaded for a read, UpstreamTimeout.
 */
async function waitForMemory(admission: Admission, exchange: Exchange, readOnly: boolean): Promise<void> {
  if (readOnly) throw admission.shed();
  const free = new Promise<void>((resolve) => exchange.permit.whenFree(0, resolve));
  await withinDeadline(free, exchange.deadline, 'UpstreamTimeout');
}

/** Returns the size of a reply in XML, or of a declared fault's detail. Returns 0 if there is no XML. */
function writtenBytes(outcome: Outcome): number {
  if (outcome.kind === 'failure') return outcome.failure.fault?.detail.length ?? 0;
  const { xml } = outcome;
  return Array.isArray(xml) ? xml.reduce((sum, piece) => sum + piece.length, 0) : (xml?.length ?? 0);
}
