import { isMarkedAsUntransferable } from 'node:worker_threads';
import { bufferOf } from '../../mappings/bytes.ts';
import type { CompiledContract, Frame } from '../../mappings/compile.ts';
import type { CredentialValues } from '../../mappings/http-mapping/call.ts';
import type { ReadReply } from '../call/call.ts';
import { hideCredentials, secrets } from '../call/credentials.ts';
import { bytesOf, type Outcome, readReply } from '../call/outcome.ts';
import type { ShownMessages } from '../telemetry/messages.ts';
import type { UpstreamReply } from '../upstream/upstream.ts';

/** An upstream's answer on its way to the thread that reads it; plain data, but for its bytes. */
export interface ReplyMessage {
  readonly kind: 'reply';
  /** The name of its operation. */
  readonly operation: string;
  /** Its bytes are taken along with their memory; what is known of its base64 stays behind. */
  readonly reply: Omit<UpstreamReply, 'runs' | 'body'> & { readonly body: Uint8Array };
  /** What it goes out in; undefined for a caller of JSON. */
  readonly frame: Frame | undefined;
  /** The credentials of the call, which its errors don't tell. */
  readonly values: CredentialValues | undefined;
  /** What the gateway itself sent with it, which they don't tell either. */
  readonly ownSecrets: readonly string[];
}

/**
 * Reads a reply in the thread as it would be read on the event loop. Throws CallError UpstreamInvalidResponse; NoRoom.
 *
 * @param room in bytes: so much more than the answer may be made of it
 * @param shown undefined where messages aren't logged
 */
export function readReplyMessage(
  { operation: name, reply, frame, values, ownSecrets }: ReplyMessage,
  compiled: CompiledContract,
  shown: ShownMessages | undefined,
  room: number,
): ReadReply {
  const operation = compiled.operations.get(name);
  if (operation === undefined) throw new Error('an operation that the contract of the reading thread lacks');
  const body = bufferOf(reply.body);
  const hide = hideCredentials(compiled.contract.credentials, values, secrets, ownSecrets);
  const outcome = readReply({ ...reply, body }, compiled, operation, hide, frame, body.length + room);
  if (outcome.kind === 'failure') return { outcome, shown: undefined };
  const text = shown?.reply(operation, outcome.json, values, ownSecrets);
  if (frame === undefined) return { outcome, shown: text };
  return { outcome: { ...outcome, json: noBytes }, shown: text };
}

const noBytes = Buffer.alloc(0);

/** The memory that an outcome takes along to another thread; what is small and others' too is copied. */
export function memoryOf({ outcome }: ReadReply): ArrayBuffer[] {
  return ownMemoryOf(bytesOf(outcome));
}

/** In bytes: memory of less may be others' too, and is copied. */
const leastOwn = 64 * 1024;

/** The large memory that bytes are in, which may go over to another thread. */
export function ownMemoryOf(pieces: readonly Uint8Array[]): ArrayBuffer[] {
  const own = new Set<ArrayBuffer>();
  for (const { buffer } of pieces) {
    const isLarge = buffer instanceof ArrayBuffer && buffer.byteLength >= leastOwn;
    if (isLarge && !isMarkedAsUntransferable(buffer)) own.add(buffer);
  }
  return [...own];
}

/** An outcome as it came from another thread, where a Buffer becomes a Uint8Array on the way. */
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
