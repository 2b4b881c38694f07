import { constants, createGunzip, createInflate } from 'node:zlib';
import { Attachments } from '../../mappings/codec/attachments.ts';
import { endOfPayloadTag } from '../../mappings/codec/byte-reader/head.ts';
import { RelatedError, type RelatedType, RelatedTypeError } from '../../mappings/http-mapping/related.ts';
import { rootIn } from '../../mappings/http-mapping/related-stream.ts';
import { UnsupportedCharset } from '../../mappings/xml/error.ts';
import { CallError } from '../call/error.ts';
import { hasBody, isAwaited, piecesOf, readBody, tooLarge, unpackBody } from '../http/body.ts';
import type { RequestContext } from '../http/request-context.ts';
import { actionsOf, openSoap, splitSoap } from '../protocols/read-call.ts';
import type { Service } from '../protocols/read-request.ts';
import { Fault } from '../protocols/soap/faults.ts';
import type { Envelope } from '../protocols/soap/soap-reader.ts';
import type { SoapAddress } from '../protocols/soap/versions.ts';
import { announcedBytes } from '../upstream/content-length.ts';

// Receives the part of a request that the decision needs (G15).

/** Maximum number of bytes up to the first start tag in Body, of a request that is not yet complete (G15). */
export const maxHeadBytes = 64 * 1024;

const noBytes = Buffer.alloc(0);

/** A request, received in whole or in part. */
export interface Received {
  /** The received bytes, as sent. */
  bytes: Buffer;
  /** The rest of the body; undefined if `bytes` is the complete body. */
  rest: AsyncGenerator<Buffer, void, undefined> | undefined;
  /** The complete body after decompression; undefined if it is not known. */
  body: Buffer | undefined;
  /** True if the call has its permit. */
  isAdmitted: boolean;
}

/**
 * Receives a small body completely, and the first bytes of any other body. Throws CallError: Overloaded, CallerGone,
 * RequestTimeout, RequestTooLarge, MalformedRequest.
 */
export async function receiveStart(context: RequestContext): Promise<Received> {
  const { request, response, options } = context;
  const { headers } = request;
  const { service } = options;
  const { streamBytes } = service.compiled.limits;
  if (!hasBody(request)) return { bytes: noBytes, rest: undefined, body: undefined, isAdmitted: false };
  const announced = announcedBytes(headers['content-length']);
  if (announced > streamBytes) throw tooLarge(streamBytes);
  service.admission.look(Math.min(announced, maxHeadBytes));
  await undefined; // in the next microtask, Node's parser has passed on the bytes that arrived with the head
  const isPlain = headers['content-encoding'] === undefined && headers['transfer-encoding'] === undefined;
  if (isPlain && announced <= Math.min(maxHeadBytes, service.bodyLimit)) {
    const read = readBody(context, service);
    const body = Buffer.isBuffer(read) ? read : await read;
    return { bytes: body, rest: undefined, body, isAdmitted: true };
  }
  if (response.destroyed) throw new CallError('CallerGone');
  if (isAwaited(request)) {
    response.writeContinue();
    delete headers.expect; // it is answered
  }
  const received: Received = {
    bytes: noBytes,
    rest: piecesOf(context, service, () => streamBytes),
    body: undefined,
    isAdmitted: false,
  };
  await receiveMore(received);
  return received;
}

/** Receives the next piece. Returns false at the end of the body. Throws CallError. */
export async function receiveMore(received: Received): Promise<boolean> {
  if (received.rest === undefined) return false;
  const { value, done } = await received.rest.next();
  if (done === true) {
    received.rest = undefined;
    return false;
  }
  received.bytes = received.bytes.length === 0 ? value : Buffer.concat([received.bytes, value]);
  return true;
}

/** The envelope of a request up to its payload, or the reason why no operation is known (G12). */
export type Head = { readonly envelope: Envelope } | { readonly error: unknown };

/**
 * Receives the request until its envelope can be opened, at most `maxHeadBytes`, and opens the envelope. Throws
 * CallError for an error of the connection.
 */
export async function receiveHead(
  context: RequestContext,
  address: SoapAddress,
  received: Received,
): Promise<Head> {
  let lookAt = 0;
  for (;;) {
    const isLast = received.rest === undefined || received.bytes.length >= maxHeadBytes;
    if (isLast || received.bytes.length >= lookAt) {
      lookAt = received.bytes.length * 2;
      try {
        return { envelope: await openStart(context, address, received) };
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        if (isLast) return { error };
      }
    }
    await receiveMore(received);
  }
}

/** Returns true for the errors of an unreadable request (G12). */
export function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Fault ||
    error instanceof CallError ||
    error instanceof RelatedError ||
    error instanceof UnsupportedCharset
  );
}

/** Opens the envelope in the received bytes. Throws the errors of `isUnreadable`. */
async function openStart(
  context: RequestContext,
  address: SoapAddress,
  received: Received,
): Promise<Envelope> {
  const { head, options } = context;
  const { service } = options;
  const { related } = head;
  if (related instanceof RelatedTypeError) throw new CallError('UnsupportedMediaType', { ...related.reason });
  const { bytes, isWhole } = await startOf(received, head.headers['content-encoding']);
  if (related === undefined)
    return openSoap(service, head, address, isWhole ? bytes : upToPayload(bytes), undefined);
  if (isWhole)
    return openSoap(service, head, address, bytes, splitSoap(service, head, address.version, bytes));
  const {
    root,
    isWhole: isRootWhole,
    form,
    charset,
    actions,
  } = rootIn(bytes, related, service.compiled.limits);
  const message = {
    document: isRootWhole ? root : upToPayload(root),
    charset,
    actions: actionsOf(head, actions),
    attachments: new Attachments(form, partsNamedIn(isRootWhole ? root : noBytes)),
  };
  return service.openSoap(message, address);
}

/** Maximum number of parts that an envelope refers to, while its parts have not arrived. */
const maxNamedParts = 1_000;

/** Returns an empty part for each reference of an envelope, so that it is readable before its parts have arrived. */
function partsNamedIn(root: Buffer): readonly { readonly id: string; readonly bytes: Buffer }[] {
  const ids = new Set<string>();
  for (const [, id = ''] of root.toString('latin1').matchAll(/["']cid:([^"'<>\s]{1,256})["']/g)) {
    ids.add(URL.canParse(`cid:${id}`) ? decodePart(id) : id);
    if (ids.size === maxNamedParts) break;
  }
  return [...ids].map((id) => ({ id, bytes: noBytes }));
}

function decodePart(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id; // the reference has a malformed escape, and no part has that name
  }
}

/** Returns an incomplete document up to its payload's start tag, or else up to its last complete tag. */
function upToPayload(document: Buffer): Buffer {
  const end = endOfPayloadTag(document, 0);
  if (end > 0) return document.subarray(0, end);
  const last = document.lastIndexOf('>') + 1;
  return document.subarray(0, last + (last % 2 === 1 && isUtf16(document) ? 1 : 0));
}

function isUtf16(document: Buffer): boolean {
  return (document[0] === 0xff && document[1] === 0xfe) || (document[0] === 0xfe && document[1] === 0xff);
}

/** Returns the beginning of a body, decompressed up to about `maxHeadBytes`. Throws CallError. */
async function startOf(
  { bytes, rest, body }: Received,
  coding: string | undefined,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  if (body !== undefined) return { bytes: body, isWhole: true };
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return { bytes, isWhole: rest === undefined };
  if (name !== 'gzip' && name !== 'x-gzip' && name !== 'deflate')
    throw new CallError('UnsupportedMediaType', { expected: 'Content-Encoding to be gzip or deflate' });
  const options = { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: maxHeadBytes };
  const stream = name === 'deflate' ? createInflate(options) : createGunzip(options);
  stream.end(bytes);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of stream) {
      pieces.push(piece);
      size += piece.length;
      if (size >= maxHeadBytes) break;
    }
  } catch (cause) {
    throw new CallError('MalformedRequest', {
      detail: 'the body does not match its Content-Encoding',
      cause,
    });
  }
  return { bytes: Buffer.concat(pieces), isWhole: rest === undefined && size < maxHeadBytes };
}

/** Receives the rest of a body that must be complete. Throws CallError. */
export async function receiveAll(context: RequestContext, received: Received, limit: number): Promise<void> {
  if (received.rest === undefined) return;
  const pieces = [received.bytes];
  let size = received.bytes.length;
  context.permit.require(size);
  for await (const piece of received.rest) {
    size += piece.length;
    if (size > limit) throw tooLarge(limit);
    context.permit.require(piece.length);
    pieces.push(piece);
  }
  received.bytes = Buffer.concat(pieces);
  received.rest = undefined;
}

/**
 * Receives the envelope completely, or the root part of a multipart message (G15). Returns its envelope, which is
 * readable to the end of the payload. Throws CallError for an error of the connection.
 */
export async function receiveEnvelope(
  context: RequestContext,
  address: SoapAddress,
  received: Received,
): Promise<Head> {
  const { head, options } = context;
  const { service } = options;
  const { related } = head;
  const isRelated = related !== undefined && !(related instanceof RelatedTypeError);
  if (isRelated && head.headers['content-encoding'] === undefined) {
    await receiveRoot(received, related, service);
  } else {
    await receiveAll(context, received, service.bodyLimit);
    received.body ??= await unpackBody(context, received.bytes, service);
    received.isAdmitted = true;
  }
  try {
    return { envelope: await openStart(context, address, received) };
  } catch (error) {
    if (isUnreadable(error)) return { error };
    throw error;
  }
}

/** Receives a multipart message up to the end of its root part. Throws CallError. */
async function receiveRoot(
  received: Received,
  type: RelatedType,
  { bodyLimit, compiled }: Service,
): Promise<void> {
  let lookAt = 0;
  while (received.rest !== undefined) {
    if (received.bytes.length >= lookAt) {
      lookAt = received.bytes.length * 2;
      if (rootIn(received.bytes, type, compiled.limits).isWhole) return;
    }
    if (received.bytes.length > bodyLimit) throw tooLarge(bodyLimit);
    await receiveMore(received);
  }
}
