import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { Answer } from '../../mappings/http-mapping/answer.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { Base64Spans } from '../../mappings/json/base64-spans.ts';
import type { Permit } from '../admission/permit.ts';
import type { RequestStats } from '../telemetry/request-stats.ts';

// What lives here: the service behind and the way to it: connections, deadlines, breaker, repeated reads. It knows calls
// upstream and nothing of who made them but their network and pseudonym.

/** What an upstream answered, whole. */
export interface UpstreamReply {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Answer['headers'];
  readonly body: Buffer;
  /** Where a large body's base64 is, as far as it was looked for. */
  readonly runs?: Base64Spans | undefined;
  readonly retryAfter: string | undefined;
}

/**
 * Bytes of an upstream's response that the event loop reads, without its base64; of a response that is mapped, all bytes.
 * A worker thread reads a longer response.
 */
export const maxLoopReplyBytes = 256 * 1024;

/** A call on its way upstream and back, for whoever waits for it. */
export interface Waiting {
  /** What the call holds in memory is counted here. */
  readonly permit: Permit;
  /** When the answer must be there, in ms of `performance.now()`. */
  readonly deadline: number;
  /** The caller's; once it is destroyed nobody waits, and a read is given up. */
  readonly response: Pick<ServerResponse, 'destroyed' | 'on' | 'off'>;
  /** By which the caller, the log and the upstream speak of it. */
  readonly requestId: string;
  /** Whose call it is. */
  readonly request: IncomingMessage;
  /** Whether it was sent, whole or in part: before, nothing can have been done. */
  reached: boolean;
  /** Whether all its calls were answered, where it is several or their answers are mapped, whatever came of mapping them. */
  isAnswered?: boolean;
  /** Whether the system has all of it: the memory of its body is read no more. */
  isWritten: boolean;
  /** What the gateway itself sent with it that no text may tell: keys, a password, a token. */
  ownSecrets: readonly string[];
  readonly stats: Pick<
    RequestStats,
    'caller' | 'upstream' | 'failures' | 'sent' | 'retries' | 'upstreamStatus' | 'upstreamMs' | 'queueMs'
  >;
}

/** Tells from which network a request came, as text that is the same for the same network. */
export type NetworkOf = (request: IncomingMessage) => string;

/**
 * Makes one call upstream and gives its whole answer. Throws CallError: UpstreamUnavailable, UpstreamTimeout,
 * UpstreamInvalidResponse, Overloaded, CallerGone.
 */
export interface Upstream {
  readonly call: (request: UpstreamRequest, waiting: Waiting) => Promise<UpstreamReply>;
  readonly state: () => UpstreamState;
  readonly close: () => Promise<void>;
}

/** What an upstream does with calls at the moment. */
export interface UpstreamState {
  /** Whether calls are refused at once, because no connection was had. */
  readonly isOpen: boolean;
  /** How many operations have calls refused at once, because theirs failed. */
  readonly openOperations: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
  /** Calls shed since the start, for which there was no connection in time. */
  readonly shed: number;
}

/** The state of one that refuses nothing and has no call waiting. */
export const idleUpstream: UpstreamState = { isOpen: false, openOperations: 0, waiting: 0, shed: 0 };

/** A JSON service in this process, spoken to over the same JSON wire. */
export interface LocalService {
  readonly handle: (request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }) => Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }>;
  readonly close: () => void;
}

/** An upstream that is a service in this process; its calls have no time limit of ours. */
export function createLocalUpstream(service: LocalService): Upstream {
  return {
    call: async ({ method, path, headers, body }, waiting) => {
      if (body instanceof StreamedFile)
        throw new TypeError('a service in this process takes no file that flows');
      const started = performance.now();
      waiting.stats.sent++;
      waiting.reached = true;
      const reply = await service.handle({ method, path, headers, body: body?.toString() ?? '' });
      waiting.stats.upstreamStatus = reply.status;
      waiting.stats.upstreamMs = performance.now() - started;
      return {
        status: reply.status,
        headers: reply.headers,
        body: Buffer.from(reply.body),
        retryAfter: reply.headers['retry-after'],
      };
    },
    state: () => idleUpstream,
    close: async () => service.close(),
  };
}
