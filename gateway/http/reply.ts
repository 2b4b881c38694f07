import type { ServerResponse } from 'node:http';
import type { CompiledContract, CompiledOperation, Frame } from '../../mappings/compile.ts';
import { type Failure, upstreamMember } from '../call/error.ts';
import type { Outcome } from '../call/outcome.ts';
import { replyFrame } from '../protocols/soap/envelope.ts';
import { Fault, isSenderCode, writeFault } from '../protocols/soap/faults.ts';
import type { ReplyHeader } from '../protocols/soap/headers/reply-header.ts';
import { type SoapVersion, soap11, soap12, xmlDeclaration } from '../protocols/soap/versions.ts';
import { giveBack } from '../upstream/collector.ts';
import { type Format, writeJsonp } from './negotiate.ts';

/** One HTTP reply, whole. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer | readonly Buffer[];
  /** True when the body is a text of one character per byte. */
  readonly binary?: boolean;
  /** The status meant, where the HTTP status can't say it (W26). */
  readonly xStatus: number | undefined;
  readonly retryAfter: string | undefined;
  readonly allow?: string | undefined;
  readonly nosniff?: boolean;
}

export const contentTypes = {
  json: 'application/json; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  jsonp: 'text/javascript; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  wsdl: 'text/xml; charset=utf-8',
  html: 'text/html; charset=utf-8',
} as const;

export const versionOf = { soap11, soap12 } as const;

/** What a reply is written for: who asked, and how. */
export interface ReplyContext {
  readonly compiled: CompiledContract;
  /** Undefined for an error before the operation is known. */
  readonly operation: CompiledOperation | undefined;
  readonly requestId: string;
  /** What a SOAP reply’s Header answers. */
  readonly header: ReplyHeader | undefined;
  /** True for a SOAP request whose Accept is `application/xml` and nothing else (W7). */
  readonly asXml: boolean;
}

/** An outcome in a SOAP envelope, in-band errors with 200 and X-Status (W26), or as a fault by the setting. */
export function soapReply(version: SoapVersion, outcome: Outcome, context: ReplyContext): Reply {
  const { operation, compiled, header } = context;
  const name = operation?.operation.name;
  const contentType = soapContentType(version, context);
  if (outcome.kind === 'reply') {
    const body = writtenXml(outcome);
    return { status: 200, contentType, body, binary: true, xStatus: undefined, retryAfter: undefined };
  }
  const { failure } = outcome;
  if (compiled.contract.settings.soapErrors === 'fault') {
    const code = failure.status < 500 ? 'sender' : 'receiver';
    return faultReply(new Fault(version, code, messageOf(failure), { header }), context, failure);
  }
  const payload =
    operation === undefined
      ? compiled.writeError(failure.statusJson)
      : operation.writeError(failure.statusJson);
  const { before, after } = replyFrame(version, name, header);
  return {
    status: 200,
    contentType,
    body: before + payload + after,
    xStatus: failure.status >= 400 ? failure.status : undefined,
    retryAfter: failure.retryAfter,
  };
}

/** What the reply was written into; the frame was chosen before the call (`frameOf`). */
function writtenXml({ xml }: Extract<Outcome, { kind: 'reply' }>): Reply['body'] {
  if (xml === undefined) throw new Error('the reply was not written in the form that it goes out in');
  return xml;
}

const xmlFrame: Frame = { before: xmlDeclaration, after: '' };

/** What a reply of an operation is to be written into for a format; undefined for JSON, which passes as it came. */
export function frameOf(format: Format): Frame | undefined {
  if (format === 'json') return undefined;
  return format === 'xml' ? xmlFrame : versionOf[format].frame;
}

/** A SOAP fault, always HTTP 500 unless the setting takes 1.2's own status (W27). */
export function faultReply(fault: Fault, context: ReplyContext, failure?: Failure): Reply {
  const { version } = fault;
  const standard = context.compiled.contract.settings.soap12FaultStatus === 'standard';
  return {
    status: standard && version === soap12 && isSenderCode(fault.code) ? 400 : 500,
    contentType: soapContentType(version, context),
    body: writeFault(fault, context.requestId),
    xStatus: failure !== undefined && failure.status >= 400 ? failure.status : undefined,
    retryAfter: failure?.retryAfter,
  };
}

function soapContentType(version: SoapVersion, { compiled, asXml }: ReplyContext): string {
  const documented = compiled.contract.settings.soapReplyContentType === 'documented';
  return documented || asXml ? contentTypes.xml : version.contentType;
}

/**
 * What a failure says, for a fault: its code and message, the fields it names, and what the upstream said. All of it in
 * the text, since a detail of one's own hides the fault from WCF and SOAP::WSDL (W27).
 */
function messageOf({ statusJson }: Failure): string {
  const status: {
    errorCode?: string;
    message?: string | null;
    errors?: { message?: string | null }[] | null;
    meta?: Readonly<Record<string, string | null>> | null;
  } = JSON.parse(statusJson);
  const fields = (status.errors ?? [])
    .map(({ message }) => message ?? '')
    .filter((message) => message !== '' && message !== status.message);
  const upstream = status.meta?.[upstreamMember];
  const rest = typeof upstream === 'string' ? [`${upstreamMember}: ${upstream}`] : [];
  return [`${status.errorCode ?? 'error'}: ${status.message ?? ''}`, ...fields, ...rest].join('; ');
}

/** An outcome outside the SOAP endpoints, in the format chosen (W5, W6, W26). */
export function plainReply(
  format: Format,
  callback: string | undefined,
  outcome: Outcome,
  context: ReplyContext,
): Reply {
  if (format === 'soap11' || format === 'soap12') return soapReply(versionOf[format], outcome, context);
  const retryAfter = outcome.kind === 'failure' ? outcome.failure.retryAfter : undefined;
  const status = outcome.kind === 'failure' ? outcome.failure.status : outcome.status;
  if (format === 'json') {
    const json =
      outcome.kind === 'reply' ? outcome.json : `{"data":{"responseStatus":${outcome.failure.statusJson}}}`;
    if (callback === undefined)
      return { status, contentType: contentTypes.json, body: json, xStatus: undefined, retryAfter };
    const text = typeof json === 'string' ? json : json.toString('utf8');
    return {
      status: 200,
      contentType: contentTypes.jsonp,
      body: writeJsonp(callback, text),
      xStatus: status >= 400 ? status : undefined,
      retryAfter,
      nosniff: true,
    };
  }
  const common = { status, contentType: contentTypes.xml, xStatus: undefined, retryAfter };
  if (outcome.kind === 'reply') return { ...common, body: writtenXml(outcome), binary: true };
  const { operation, compiled } = context;
  const inBand = operation !== undefined && compiled.contract.settings.soapErrors === 'in-band';
  const element = (inBand ? operation : compiled).writeError(outcome.failure.statusJson);
  return { ...common, body: xmlDeclaration + element };
}

/** A refusal before anything is known to be SOAP: plain text, which no browser takes for another type (W44). */
export function textReply(status: number, message: string, requestId: string, allow?: string): Reply {
  return {
    status,
    contentType: contentTypes.text,
    body: `${message} (request ${requestId})\n`,
    xStatus: undefined,
    retryAfter: status === 503 ? '1' : undefined,
    allow,
    nosniff: true,
  };
}

/** Told of a reply that its connection didn't take at once, or that has none any more; of its bytes, or how many they are. */
export type WhenWaiting = (response: ServerResponse, requestId: string, bytes: number | Buffer) => void;

/**
 * Writes a reply, its length known (W8): a small one in one go, head and body together, a large one as its caller takes
 * it. Gives the body's length in bytes.
 */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  requestId: string,
  {
    close,
    more,
    whenWaiting,
  }: {
    readonly close: boolean;
    readonly more: Readonly<Record<string, string>> | undefined;
    readonly whenWaiting: WhenWaiting | undefined;
  },
): number {
  const { body } = reply;
  const encoding = reply.binary === true ? 'latin1' : 'utf8';
  const length = lengthOf(body, encoding);
  const headers: Record<string, string | number> = {
    'Content-Type': reply.contentType,
    'Content-Length': length,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
  };
  if (reply.status === 204) delete headers['Content-Length']; // RFC 9110, 8.6
  if (reply.xStatus !== undefined) headers['X-Status'] = reply.xStatus;
  if (reply.retryAfter !== undefined) headers['Retry-After'] = reply.retryAfter;
  if (reply.allow !== undefined) headers.Allow = reply.allow;
  if (reply.nosniff === true) headers['X-Content-Type-Options'] = 'nosniff';
  if (close) headers.Connection = 'close';
  if (more !== undefined) Object.assign(headers, more);
  response.writeHead(reply.status, headers);
  if (length > atOnce) {
    pour(response, typeof body === 'string' ? Buffer.from(body, encoding) : body);
    if (isWaiting(response)) whenWaiting?.(response, requestId, length);
  } else if (typeof body !== 'string' && !Buffer.isBuffer(body)) {
    for (const piece of body) response.write(piece);
    response.end();
    if (isWaiting(response)) whenWaiting?.(response, requestId, length);
  } else endSoon({ response, body, encoding, requestId, whenWaiting });
  return length;
}

function lengthOf(body: Reply['body'], encoding: BufferEncoding): number {
  if (typeof body === 'string') return Buffer.byteLength(body, encoding);
  if (Buffer.isBuffer(body)) return body.length;
  return body.reduce((length, piece) => length + piece.length, 0);
}

/** In bytes: more than that is given to a connection piece by piece, as it takes them. */
const atOnce = 64 * 1024;
/** How much of a large reply a connection is given at a time: how fast a caller takes it is known so exactly. */
const pouredBytes = 256 * 1024;

/** Writes a large reply as its connection takes it; then its memory is given back. */
function pour(response: ServerResponse, body: Buffer | readonly Buffer[]): void {
  const pieces = Buffer.isBuffer(body) ? [body] : body;
  response.once('close', () => pieces.forEach(giveBack));
  let index = 0;
  let at = 0;
  const go = (): void => {
    for (let piece = pieces[index]; piece !== undefined; piece = pieces[index]) {
      const from = at;
      at += pouredBytes;
      const goesOn = response.write(piece.length <= pouredBytes ? piece : piece.subarray(from, at));
      if (at >= piece.length) {
        index++;
        at = 0;
      }
      if (goesOn) continue;
      response.once('drain', go);
      return;
    }
    response.end();
  };
  go();
}

/** A reply whose head is set and whose body is about to go out. */
interface Ending {
  readonly response: ServerResponse;
  readonly body: string | Buffer;
  readonly encoding: BufferEncoding;
  readonly requestId: string;
  readonly whenWaiting: WhenWaiting | undefined;
}

let endings: Ending[] = [];

/**
 * Ends a reply with those of the other calls that the same turn of the event loop finished: the callers' side is woken
 * once for all of them, which costs less than one by one (decision 6).
 */
function endSoon(ending: Ending): void {
  if (endings.length === 0) setImmediate(endAll);
  endings.push(ending);
}

function endAll(): void {
  const due = endings;
  endings = [];
  for (const { response, body, encoding, requestId, whenWaiting } of due) {
    response.end(body, encoding);
    if (isWaiting(response)) whenWaiting?.(response, requestId, body.length);
  }
}

/**
 * Whether a reply that was written just now isn't sent: the system has no room for all of it, others on its connection go
 * first, or the connection is gone.
 */
export function isWaiting({ destroyed, socket }: ServerResponse): boolean {
  return destroyed || socket === null || socket.writableLength > 0;
}
