import { isMarkedAsUntransferable } from 'node:worker_threads';
import { bufferOf } from '../../mappings/bytes.ts';
import type { CompiledContract, Frame } from '../../mappings/compile.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';
import type { ReadReply } from '../call/call-service.ts';
import { hideCredentials, secrets } from '../call/hidden-credentials.ts';
import { bytesOf, type Outcome, readReply } from '../call/outcome.ts';
import type { ShownMessages } from '../telemetry/messages.ts';
import type { UpstreamReply } from '../upstream/upstream.ts';
import { signOutcome } from './soap/signed-reply.ts';

/** An upstream reply in the form that is sent to the worker thread: plain data and the body's bytes. */
export interface ReplyMessage {
  readonly kind: 'reply';
  /** The name of the operation. */
  readonly operation: string;
  /** The reply without the positions of base64 (`runs`). The memory of its body is transferred. */
  readonly reply: Omit<UpstreamReply, 'runs' | 'body'> & { readonly body: Uint8Array };
  /** The frame to write the reply in; undefined for a JSON caller. */
  readonly frame: Frame | undefined;
  /** The credentials of the call, which must not appear in its errors. */
  readonly values: CredentialValues | undefined;
  /** Secrets that the gateway itself added to the upstream request. They must not appear in errors either. */
  readonly ownSecrets: readonly string[];
}

/**
 * Reads a reply in the worker thread, with the same result as on the event loop. Throws CallError
 * UpstreamInvalidResponse; NoReplyMemory.
 *
 * @param maxBytes maximum number of bytes of the result in addition to the size of the reply
 * @param shown undefined if messages are not logged
 */
export function readReplyMessage(
  { operation: name, reply, frame, values, ownSecrets }: ReplyMessage,
  compiled: CompiledContract,
  shown: ShownMessages | undefined,
  maxBytes: number,
): ReadReply {
  const operation = compiled.operations.get(name);
  if (operation === undefined) throw new Error('an operation that is unknown in the worker thread');
  const body = bufferOf(reply.body);
  const hide = hideCredentials(compiled.contract.credentials, values, secrets, ownSecrets);
  const outcome = readReply({ ...reply, body }, compiled, operation, hide, frame, body.length + maxBytes);
  if (outcome.kind === 'failure') return { outcome, shown: undefined };
  const text = shown?.reply(operation, outcome.json, values, ownSecrets);
  if (frame === undefined) return { outcome, shown: text };
  return { outcome: signOutcome({ ...outcome, json: noBytes }, frame, compiled), shown: text };
}

const noBytes = Buffer.alloc(0);

/**
 * Returns the memory of an outcome to transfer to another thread. Small memory may be shared, so it is copied instead.
 */
export function memoryOf({ outcome }: ReadReply): ArrayBuffer[] {
  return ownMemoryOf(bytesOf(outcome));
}

/** Minimum size in bytes of memory that is transferred. Smaller memory may be shared. */
const leastOwn = 64 * 1024;

/** Returns the large memory blocks that contain the bytes and can be transferred to another thread. */
export function ownMemoryOf(pieces: readonly Uint8Array[]): ArrayBuffer[] {
  const own = new Set<ArrayBuffer>();
  for (const { buffer } of pieces) {
    const isLarge = buffer instanceof ArrayBuffer && buffer.byteLength >= leastOwn;
    if (isLarge && !isMarkedAsUntransferable(buffer)) own.add(buffer);
  }
  return [...own];
}

/** Restores an outcome from another thread, because sending turns each Buffer into a Uint8Array. */
export function outcomeOf({ outcome }: ReadReply): Outcome {
  if (outcome.kind === 'failure') return outcome;
  const { json, xml, attached } = outcome;
  return {
    ...outcome,
    json: bufferOf(json),
    xml: xml === undefined ? undefined : writtenOf(xml),
    attached: attached?.map(bufferOf),
  };
}

type Written = NonNullable<Extract<Outcome, { kind: 'reply' }>['xml']>;

function writtenOf(xml: Written): Written {
  if (typeof xml === 'string') return xml;
  return xml instanceof Uint8Array ? bufferOf(xml) : xml.map(bufferOf);
}
