import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { Permit } from '../admission/permit.ts';
import type { Exchange } from '../call/call.ts';
import { readHead } from '../call/head.ts';
import type { Service } from '../protocols/read-request.ts';
import { type RequestRecord, type RequestStats, startStats } from '../telemetry/request-stats.ts';
import type { Arrival } from './body.ts';
import type { CorsHeaders } from './cors.ts';
import type { Documents } from './documents.ts';
import type { Pages } from './pages.ts';
import type { WhenWaiting } from './reply.ts';
import type { ListedService } from './services-page.ts';

/** What an application is made of. */
export interface AppOptions {
  readonly service: Service;
  readonly documents: Documents;
  /** Pages for people; undefined where there are none. */
  readonly pages?: Pages | undefined;
  /** Whether a Host header names this gateway; undefined where any does. */
  readonly isOwnHost: ((host: string | undefined) => boolean) | undefined;
  /** The caller's address, for the log. */
  readonly addressOf: (request: IncomingMessage) => string | undefined;
  /** False once the process is stopping: /readyz answers 503 and connections close. */
  readonly isReady: () => boolean;
  /** Told of requests by those that watch the process, which come again and again. */
  readonly onProbe: (record: RequestRecord) => void;
  /** Told of a reply that the connection didn't take at once. */
  readonly whenWaiting: WhenWaiting;
  /** The page of /metrics; undefined where it can't be had any more. */
  readonly metrics: () => Promise<string | undefined>;
  /** What `/` lists; undefined where it lists nothing. */
  readonly services: () => readonly ListedService[] | undefined;
}

/**
 * One request, from its head to its reply: what came, which nothing changes; what it holds of what there is for all; and in
 * `stats` what happened, for the log and the metrics.
 */
export interface RequestContext extends Exchange, Arrival {
  readonly options: AppOptions;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The query string, without its mark. */
  readonly query: string;
  /** Later for a body that flows through (W64). */
  deadline: number;
  readonly cors: CorsHeaders | undefined;
  readonly stats: RequestStats;
}

let requests = 0;
const processPart = Math.floor(Math.random() * 36 ** 6).toString(36);

/** The caller's request id where it is one, else one of ours. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && /^[\w-]{8,64}$/.test(given)) return given;
  return newRequestId();
}

/** An id of ours for a request. */
export function newRequestId(): string {
  requests++;
  return `${processPart}-${requests.toString(36)}`;
}

/** A request that has just come; its time runs from here. */
export function startRequest(
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  options: AppOptions,
  cors: CorsHeaders | undefined,
): RequestContext {
  const started = performance.now();
  const requestId = requestIdOf(request);
  const stats = startStats(requestId, request.method ?? '', started);
  return {
    options,
    request,
    head: readHead(request),
    response,
    query,
    requestId,
    started,
    deadline: started + options.service.compiled.limits.totalMs,
    cors,
    stats,
    permit: new Permit(options.service.admission, stats),
    index: -1,
    bodyTaken: false,
    reached: false,
    isWritten: false,
    ownSecrets: [],
    passed: undefined,
  };
}
