import { constants, createGunzip, createInflate } from 'node:zlib';
import { Attachments } from '../../mappings/codec/attachments.ts';
import { endOfPayloadTag } from '../../mappings/codec/byte-reader/head.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { RelatedError, type RelatedType, RelatedTypeError } from '../../mappings/http-mapping/related.ts';
import { type RelatedRoot, rootIn } from '../../mappings/http-mapping/related-stream.ts';
import { UnsupportedCharset } from '../../mappings/xml/error.ts';
import type { Transfer } from '../admission/transfers.ts';
import { CallError } from '../call/error.ts';
import { hasBody, isAwaited, maxBodyMs, piecesOf, readBody, tooLarge, unpackBody } from '../http/body.ts';
import type { RequestContext } from '../http/request-context.ts';
import { actionsOf, openSoap, relatedTypeOf, splitSoap } from '../protocols/read-call.ts';
import type { Service } from '../protocols/read-request.ts';
import { Fault } from '../protocols/soap/faults.ts';
import type { Envelope } from '../protocols/soap/soap-reader.ts';
import type { SoapAddress } from '../protocols/soap/versions.ts';
import { announcedBytes } from '../upstream/content-length.ts';

// Receives the part of a request that the decision needs (G15).

/** Maximum number of bytes up to the first start tag in Body, of a request that is not yet complete (G15). */
export const maxHeadBytes = 64 * 1024;

const noBytes = Buffer.alloc(0);

/**
 * A request, received in whole or in part. The received bytes count as memory of an arriving body until `settle`, and then
 * as memory of the call.
 */
export class Received {
  /** The rest of the body; undefined if the body is complete. */
  rest: AsyncGenerator<Buffer, void, undefined> | undefined;
  /** The complete body after decompression; undefined if it is not known. */
  body: Buffer | undefined;
  /** True if the call has its permit. */
  isAdmitted: boolean;
  readonly #context: RequestContext;
  #pieces: Buffer[];
  #size: number;
  #transfer: Transfer | undefined;

  /** @param body a complete body */
  constructor(context: RequestContext, body: Buffer, isAdmitted: boolean) {
    this.#context = context;
    this.#pieces = [body];
    this.#size = body.length;
    this.isAdmitted = isAdmitted;
  }

  /** Number of the received bytes. */
  get size(): number {
    return this.#size;
  }

  /** The received bytes, as sent. Joins the pieces, so call it only after the size has doubled. */
  get bytes(): Buffer {
    const [only = noBytes] = this.#pieces;
    if (this.#pieces.length < 2) return only;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [bytes];
    return bytes;
  }

  /** Starts to receive a body in pieces. */
  start(rest: AsyncGenerator<Buffer, void, undefined>): void {
    const { request, options } = this.#context;
    this.rest = rest;
    this.#transfer = {
      index: -1,
      heldBytes: 0,
      began: performance.now(),
      moved: () => this.#size,
      cut: () => request.destroy(),
    };
    options.service.admission.arrive(this.#transfer);
  }

  /** Receives the next piece, if there is one. Throws CallError, also after the maximum time for a body. */
  async more(): Promise<void> {
    if (this.rest === undefined) return;
    const { permit, options, started } = this.#context;
    const { admission, compiled } = options.service;
    const { value, done } = await this.rest.next();
    if (done === true) {
      this.rest = undefined;
      return;
    }
    const transfer = this.#transfer;
    if (transfer === undefined) permit.require(value.length);
    else if (!admission.addReceived(transfer, value.length)) throw admission.shed();
    if (performance.now() - started >= maxBodyMs(compiled.limits)) throw new CallError('RequestTimeout');
    this.#pieces.push(value);
    this.#size += value.length;
  }

  /** The decision needs no more of the request: its bytes are memory of the call. */
  settle(): void {
    if (this.#transfer !== undefined) this.#context.permit.receive(this.#transfer);
    this.#transfer = undefined;
  }
}

/**
 * Receives a small body completely, and the first bytes of any other body. Throws CallError: Overloaded, CallerGone,
 * RequestTimeout, RequestTooLarge, MalformedRequest.
 *
 * @param streamBytes maximum size of the body
 */
export async function receiveStart(context: RequestContext, streamBytes: number): Promise<Received> {
  const { request, response, options } = context;
  const { headers } = request;
  const { service } = options;
  if (!hasBody(request)) return new Received(context, noBytes, false);
  const announced = announcedBytes(headers['content-length']);
  if (announced > streamBytes) throw tooLarge(streamBytes);
  service.admission.look(Math.min(announced, maxHeadBytes));
  await undefined; // in the next microtask, Node's parser has passed on the bytes that arrived with the head
  const isPlain = headers['content-encoding'] === undefined && headers['transfer-encoding'] === undefined;
  if (isPlain && announced <= Math.min(maxHeadBytes, service.bodyLimit)) {
    const read = readBody(context, service);
    const body = Buffer.isBuffer(read) ? read : await read;
    const whole = new Received(context, body, true);
    whole.body = body;
    return whole;
  }
  if (response.destroyed) throw new CallError('CallerGone');
  if (isAwaited(request)) {
    response.writeContinue();
    delete headers.expect; // it is answered
  }
  const received = new Received(context, noBytes, false);
  received.start(piecesOf(context, service, () => streamBytes));
  try {
    await received.more();
  } catch (error) {
    received.settle();
    throw error;
  }
  return received;
}

/** The envelope of a request up to its payload, or the reason why no operation is known (G12). */
export type Head = { readonly envelope: Envelope } | { readonly error: unknown };

/**
 * Receives the request until its envelope can be opened, at most `maxHeadBytes`, and opens the envelope. Throws
 * CallError for an error of the connection.
 */
export function receiveHead(
  context: RequestContext,
  address: SoapAddress,
  received: Received,
): Head | Promise<Head> {
  const { body } = received;
  return body === undefined
    ? receiveFirst(context, address, received)
    : headOf(() => open(context, address, relatedTypeOf(context.head), body, true));
}

/** Receives the first part of a request whose body is not complete yet. */
async function receiveFirst(
  context: RequestContext,
  address: SoapAddress,
  received: Received,
): Promise<Head> {
  let lookAt = 0;
  for (;;) {
    const isLast = received.rest === undefined || received.size >= maxHeadBytes;
    if (isLast || received.size >= lookAt) {
      lookAt = received.size * 2;
      try {
        return { envelope: await openStart(context, address, received) };
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        if (isLast) return { error };
      }
    }
    await received.more();
  }
}

/** Returns the envelope that a function opens, or the error of an unreadable request. */
function headOf(opened: () => Envelope): Head {
  try {
    return { envelope: opened() };
  } catch (error) {
    if (isUnreadable(error)) return { error };
    throw error;
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
  const { head } = context;
  const related = relatedTypeOf(head);
  const { bytes, isWhole } = await startOf(received, head.headers['content-encoding']);
  return open(context, address, related, bytes, isWhole);
}

/**
 * Opens the envelope in decompressed bytes. Throws the errors of `isUnreadable`.
 *
 * @param isWhole true if the bytes are the complete body
 */
function open(
  { head, options }: RequestContext,
  address: SoapAddress,
  related: RelatedType | undefined,
  bytes: Buffer,
  isWhole: boolean,
): Envelope {
  const { service } = options;
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
  received: Received,
  coding: string | undefined,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const { bytes, rest, body } = received;
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

/** Receives the rest of a body that must be complete, of at most `limit` bytes. Throws CallError. */
export async function receiveAll(received: Received, limit: number): Promise<void> {
  for (;;) {
    if (received.size > limit) throw tooLarge(limit);
    if (received.rest === undefined) return;
    await received.more();
  }
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
  if (!isRelated || head.headers['content-encoding'] !== undefined) {
    await receiveAll(received, service.bodyLimit);
    received.body ??= await unpackBody(context, received.bytes, service);
    received.isAdmitted = true;
  } else {
    const error = await receiveRoot(received, related, service);
    if (error !== undefined) return { error };
  }
  try {
    return { envelope: await openStart(context, address, received) };
  } catch (error) {
    if (isUnreadable(error)) return { error };
    throw error;
  }
}

/**
 * Receives a multipart message up to the end of its root part, which has at most `bodyLimit` bytes. Returns the error of a
 * message that is malformed. Throws CallError.
 */
async function receiveRoot(
  received: Received,
  type: RelatedType,
  { bodyLimit, compiled }: Service,
): Promise<RelatedError | undefined> {
  const most = bodyLimit + maxHeadBytes; // with the boundary and the headers of the part
  let lookAt = 0;
  for (;;) {
    const isLast = received.rest === undefined || received.size >= most;
    if (isLast || received.size >= lookAt) {
      lookAt = Math.min(received.size * 2, most);
      const found = lookForRoot(received, type, compiled.limits);
      if (found instanceof RelatedError) return found;
      const isTooLarge = found.isWhole ? found.root.length > bodyLimit : received.size >= most;
      if (isTooLarge) throw tooLarge(bodyLimit);
      if (found.isWhole || isLast) return undefined;
    }
    await received.more();
  }
}

function lookForRoot({ bytes }: Received, type: RelatedType, limits: Limits): RelatedRoot | RelatedError {
  try {
    return rootIn(bytes, type, limits);
  } catch (error) {
    if (error instanceof RelatedError) return error;
    throw error;
  }
}
