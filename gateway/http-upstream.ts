import { Pool } from 'undici';
import type { Limits } from '../mappings/limits.ts';
import type { Admission } from './admission.ts';
import { createBreaker } from './breaker.ts';
import { createConnector } from './connector.ts';
import { CallError } from './error.ts';
import { createRetryBudget } from './retry-budget.ts';
import type { Upstream } from './upstream.ts';
import { callUpstream, type Line } from './upstream-call.ts';
import { Watch } from './watch.ts';

/** An upstream over HTTP: pooled, behind a breaker. */
export function createHttpUpstream(address: string, limits: Limits, admission: Admission): Upstream {
  const url = new URL(address);
  const pool = new Pool(url.origin, {
    connections: limits.upstreamConnections,
    pipelining: 1,
    connect: createConnector(limits.upstreamConnectMs),
    keepAliveTimeout: 4_000,
    headersTimeout: 0,
    bodyTimeout: 0, // undici would set and clear a timer of its own for each call
  });
  const breaker = createBreaker(limits);
  const retries = createRetryBudget(limits);
  const prefix = url.pathname.replace(/\/+$/, '');
  const line: Line = { pool, prefix, limits, admission, breaker, retries, watch: new Watch() };
  return {
    call: (request, waiting) => {
      const now = performance.now();
      const retryAfter = breaker.refusal(now);
      if (retryAfter !== undefined) {
        return Promise.reject(new CallError('UpstreamUnavailable', { retryAfter: String(retryAfter) }));
      }
      retries.earn();
      return callUpstream(line, request, waiting, now);
    },
    isOpen: breaker.isOpen,
    close: () => pool.close(),
  };
}
