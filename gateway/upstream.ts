import type { Answer } from '../mappings/codec/answer.ts';
import type { UpstreamRequest } from '../mappings/codec/call.ts';
import type { LetterRuns } from '../mappings/reply/letter-runs.ts';
import type { Place } from './admission.ts';

/** What an upstream answered, whole. */
export interface UpstreamReply {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Answer['headers'];
  readonly body: Buffer;
  /** Where a large body's base64 is, as far as it was looked for. */
  readonly runs?: LetterRuns | undefined;
  readonly retryAfter: string | undefined;
}

/** A call on its way upstream and back, for whoever waits for it. */
export interface Waiting extends Place {
  /** When the answer must be there, in ms of `performance.now()`. */
  readonly deadline: number;
  /** The caller's; once it is destroyed nobody waits, and a read is given up. */
  readonly response: { readonly destroyed: boolean };
  /** How often the call went out. */
  sent: number;
  /** The upstream's own status; 0 without an answer. */
  upstreamStatus: number;
  /** Until the answer was whole or was given up, in ms. */
  upstreamMs: number;
}

/**
 * Makes one call upstream and gives its whole answer. Throws CallError: UpstreamUnavailable, UpstreamTimeout,
 * UpstreamInvalidResponse, Overloaded, CallerGone.
 */
export interface Upstream {
  readonly call: (request: UpstreamRequest, waiting: Waiting) => Promise<UpstreamReply>;
  /** Whether calls are refused at once, because too many failed. */
  readonly isOpen: () => boolean;
  readonly close: () => Promise<void>;
}

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

export function createLocalUpstream(service: LocalService): Upstream {
  return {
    call: async ({ method, path, headers, body }, waiting) => {
      const started = performance.now();
      waiting.sent++;
      const reply = await service.handle({ method, path, headers, body: body?.toString() ?? '' });
      waiting.upstreamStatus = reply.status;
      waiting.upstreamMs = performance.now() - started;
      return {
        status: reply.status,
        headers: reply.headers,
        body: Buffer.from(reply.body),
        retryAfter: reply.headers['retry-after'],
      };
    },
    isOpen: () => false,
    close: async () => service.close(),
  };
}
