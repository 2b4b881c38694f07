import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamedFile } from '../../mappings/codec/streamed-file.ts';
import type { Server } from '../../mappings/contract/model.ts';
import type { Answer } from '../../mappings/http-mapping/answer.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { withoutEndSlashes } from '../../mappings/http-mapping/paths.ts';
import type { Base64Spans } from '../../mappings/json/base64-spans.ts';
import type { Permit } from '../admission/permit.ts';
import type { RequestStats } from '../telemetry/request-stats.ts';

// The upstream and its transport: connections, deadlines, circuit breaker, retries. This folder knows upstream calls.
// Of their callers it knows only network and pseudonym.

/** A complete upstream response. */
export interface UpstreamReply {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Answer['headers'];
  readonly body: Buffer;
  /** Base64 spans of a large body, if they were searched for. */
  readonly runs?: Base64Spans | undefined;
  readonly retryAfter: string | undefined;
}

/**
 * Maximum size of an upstream response, in bytes without base64, that is read on the event loop. For a response that is
 * mapped, all bytes count. A worker thread reads longer responses.
 */
export const maxLoopReplyBytes = 256 * 1024;

/** An upstream call from its caller's point of view. */
export interface Waiting {
  /** Counts the memory of the call. */
  readonly permit: Permit;
  /** Deadline of the response, in ms of `performance.now()`. */
  readonly deadline: number;
  /** Response to the caller. Once it is destroyed, the caller has disconnected and a read is cancelled. */
  readonly response: Pick<ServerResponse, 'destroyed' | 'on' | 'off'>;
  /** Id in the messages to the caller, in the log and in upstream calls. */
  readonly requestId: string;
  /** Request of the caller. */
  readonly request: IncomingMessage;
  /** True if it was sent at least in part. Before that, the upstream cannot have acted. */
  reached: boolean;
  /** True if all upstream calls of a mapping were answered, even if mapping the responses failed. */
  isAnswered?: boolean;
  /** True for a message that a receiver accepts only once, so that a read is not sent again (G22). */
  isSentOnce?: boolean;
  /** True if the operating system has all bytes of the request, so that its memory is no longer read. */
  isWritten: boolean;
  /** Secrets that the gateway itself sent with the call: keys, a password, a token. Texts never contain them. */
  ownSecrets: readonly string[];
  readonly stats: Pick<
    RequestStats,
    | 'caller'
    | 'upstream'
    | 'failures'
    | 'sent'
    | 'retries'
    | 'upstreamStatus'
    | 'upstreamMs'
    | 'sentAt'
    | 'queueMs'
    | 'waits'
  >;
}

/** Returns the network of a request as a text. Equal networks give equal texts. */
export type NetworkOf = (request: IncomingMessage) => string;

/**
 * Makes one upstream call and returns its complete response. Throws CallError: UpstreamUnavailable, UpstreamTimeout,
 * UpstreamInvalidResponse, Overloaded, CallerGone.
 */
export interface Upstream {
  readonly call: (request: UpstreamRequest, waiting: Waiting) => Promise<UpstreamReply>;
  readonly state: () => UpstreamState;
  readonly close: () => Promise<void>;
}

/** Current state of one address of an upstream. */
export interface AddressState {
  /** Scheme, host and port. */
  readonly address: string;
  readonly weight: number;
  readonly isOpen: boolean;
  readonly openOperations: readonly string[];
  /** False while its health check fails. */
  readonly isHealthy: boolean;
  /** Number of calls in progress at this address. */
  readonly active: number;
}

/** Current state of an upstream. */
export interface UpstreamState {
  /** True if all calls are rejected because no connection could be made to any address. */
  readonly isOpen: boolean;
  /** Names of operations whose circuit breaker is open at all addresses. */
  readonly openOperations: readonly string[];
  /** Its addresses; empty if it has only one. */
  readonly addresses: readonly AddressState[];
  /** Number of calls that have a connection. */
  readonly active: number;
  /** Maximum number of connections; 0 for a service in this process. */
  readonly connections: number;
  /** Number of calls that wait for a connection. */
  readonly waiting: number;
  /** Number of calls rejected since the start because no connection was free in time. */
  readonly shed: number;
}

/** State of an upstream with closed circuit breakers and no waiting calls. */
export const idleUpstream: UpstreamState = {
  isOpen: false,
  openOperations: [],
  addresses: [],
  active: 0,
  connections: 0,
  waiting: 0,
  shed: 0,
};

/** States of upstreams, by the paths of their contracts. */
export type UpstreamStates = readonly (readonly [path: string, state: UpstreamState])[];

/** A JSON service in this process. Requests and responses are JSON texts, as over HTTP. */
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

/** Creates an upstream for a service in this process. Its calls have no time limit. */
export function createLocalUpstream(service: LocalService): Upstream {
  return {
    call: async ({ method, path, headers, body }, waiting) => {
      if (body instanceof StreamedFile)
        throw new TypeError('an in-process upstream does not accept streamed files');
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

/**
 * Returns the URL of a server's calls. An upstream address without a path, even without a slash, is followed by the
 * base path of the document. The path of an upstream address replaces the document's base path.
 */
export function addressOf(address: string, { address: own, basePath, root }: Server): string {
  if (own !== undefined) return own;
  const { origin, pathname } = new URL(address);
  if (!/^https?:\/\/[^/]+\//i.test(address)) return origin + basePath;
  const path = withoutEndSlashes(pathname);
  if (basePath === root) return origin + path;
  return origin + (path.endsWith(root) ? path.slice(0, path.length - root.length) : path) + basePath;
}
