import type { ReplyBytes } from '../../mappings/compare/comparison.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import { isWaiting } from '../http/reply.ts';
import type { RequestContext } from '../http/request-context.ts';
import { report } from '../http/send.ts';
import type { RequestStats } from '../telemetry/request-stats.ts';
import { reasonPhrase } from './forward.ts';
import { authenticatesConnection, type ForwardedHeaders, replyHeaders } from './forward-headers.ts';
import { LegacyCall } from './legacy-call.ts';
import { invalid } from './legacy-errors.ts';
import { keysOf, type LegacyReceiver } from './legacy-request.ts';
import type { LegacyService } from './legacy-service.ts';
import { isReplayProtected } from './replay-protected.ts';
import { headerIn } from './reply-head.ts';
import { unpack } from './unpack.ts';

// Complete replies of the legacy service (G28).

/** A complete reply. */
export interface LegacyAnswer {
  readonly status: number;
  readonly text: string;
  /** Alternating names and values. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** A read that is sent to the legacy service while its caller waits for another reply. */
export interface LegacyRead {
  readonly operation: Operation;
  readonly target: string;
  readonly body: Buffer;
  readonly headers: () => ForwardedHeaders | Promise<ForwardedHeaders>;
  readonly onUnauthorized: (token: string) => void;
  readonly onConnectionCredentials: () => void;
}

/** Returns the maximum size of a reply that is held in memory, in bytes. */
function mostBytes({ binaryOutput }: Operation, { replyBytes, replyBytesWithBinary }: Limits): number {
  return binaryOutput ? replyBytesWithBinary : replyBytes;
}

/** Sends a request and returns the complete reply, of at most `most` bytes. Rejects with CallError. */
function gather(
  call: (receiver: LegacyReceiver) => LegacyCall,
  { permit, options: { service } }: RequestContext,
  most: number,
): Promise<LegacyAnswer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let head: Omit<LegacyAnswer, 'body'> = { status: 0, text: '', rawHeaders: [] };
    const made = call({
      informed: () => {},
      began: (status, text, rawHeaders) => {
        head = { status, text, rawHeaders };
      },
      received: (chunk) => {
        size += chunk.length;
        if (size > most) made.abort(invalid(`its response has more than ${most} bytes`));
        else if (!permit.hold(chunk.length)) made.abort(service.admission.shed());
        else pieces.push(chunk);
        return true;
      },
      ended: () => resolve({ ...head, body: Buffer.concat(pieces) }),
      failed: reject,
    });
    made.start();
  });
}

/** Calls the legacy service and returns its complete reply. Throws CallError. */
export async function callLegacy(
  service: LegacyService,
  context: RequestContext,
  read: LegacyRead,
): Promise<LegacyAnswer> {
  const { request, response, deadline, stats, started } = context;
  const { operation, target, body } = read;
  const own: Pick<RequestStats, 'failures' | 'sent' | 'queueMs' | 'waits' | 'upstream'> = {
    failures: undefined,
    sent: 0,
    queueMs: 0,
    upstream: undefined,
  };
  let call: LegacyCall | undefined;
  try {
    const { headers, token } = await read.headers();
    const endsConnection = authenticatesConnection(headers);
    if (endsConnection) read.onConnectionCredentials();
    const made = (receiver: LegacyReceiver): LegacyCall => {
      call = new LegacyCall(
        service,
        {
          method: request.method ?? '',
          target,
          headers,
          endsConnection,
          body,
          operation: operation.name,
          isRead: true,
          mayRepeat: () => !isReplayProtected(body, context),
          keysOf: () => keysOf(service, context, operation.name),
          deadline: Math.min(deadline, started + service.limits.totalMs),
          isLeft: () => response.destroyed,
          isFed: () => true,
          stats: own,
        },
        receiver,
      );
      return call;
    };
    const answer = await gather(made, context, mostBytes(operation, service.limits));
    if (answer.status === 401 && token !== undefined) read.onUnauthorized(token);
    return answer;
  } finally {
    const { route } = stats;
    if (route !== undefined && call?.progress.isReached === true) {
      route.legacyMs = call.progress.ms;
      if (call.progress.status !== 0) route.legacyStatus = call.progress.status;
    }
    if (own.failures !== undefined) stats.failures = [...own.failures, ...(stats.failures ?? [])];
  }
}

/** Sends a reply of the legacy service unchanged, with additional headers. */
export function sendAnswer(
  context: RequestContext,
  { status, text, rawHeaders, body }: LegacyAnswer,
  added: readonly string[],
): void {
  const { response, options, permit, requestId } = context;
  if (!response.destroyed) {
    if (!options.isReady()) response.shouldKeepAlive = false;
    response.sendDate = false;
    response.writeHead(status, reasonPhrase(text), [...replyHeaders(rawHeaders), ...added]);
    // from now on, the reply's bytes are counted by its transfer
    permit.shrink(0);
    response.end(body);
    if (isWaiting(response)) options.whenWaiting(response, requestId, body.length);
  }
  report(context, status, body.length);
}

/**
 * Returns a reply without its content coding; undefined for another coding, damaged bytes, or more bytes than the limits
 * allow. Throws CallError Overloaded if there is no memory for it.
 */
export async function unpackedReply(
  { status, rawHeaders, body }: LegacyAnswer,
  operation: Operation,
  { permit, options: { service } }: RequestContext,
): Promise<ReplyBytes | undefined> {
  const { limits } = service.compiled;
  const coding = headerIn(rawHeaders, 'content-encoding');
  const bytes = await unpack(body, coding, mostBytes(operation, limits), limits);
  if (typeof bytes === 'string') return undefined;
  if (bytes !== body && !permit.hold(bytes.length)) throw service.admission.shed();
  return { status, contentType: headerIn(rawHeaders, 'content-type'), body: bytes };
}
