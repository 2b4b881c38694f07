import type { Socket } from 'node:net';
import type { Log } from '../core/core-options.ts';
import { counter, type Snapshot } from '../telemetry/metrics.ts';

/** Failed TLS handshakes with clients. */
export interface FailedHandshakes {
  /** Counts a failed handshake by reason. It is logged if that reason was not logged in the last minute. */
  readonly note: (error: Error, socket: Socket) => void;
  readonly read: () => Snapshot;
}

/** Maximum number of distinct reasons. Further reasons count as `other`. */
const mostReasons = 16;
/** Minimum time between two log messages with the same reason, in ms. */
const quietMs = 60_000;

/** Creates the counters by error code of Node or OpenSSL, for example `ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE`. */
export function createFailedHandshakes(log: Log): FailedHandshakes {
  const counts = new Map<string, { total: number; unreported: number; reportedAt: number }>();
  return {
    note: (error, { remoteAddress }) => {
      const code = 'code' in error && typeof error.code === 'string' ? error.code : 'other';
      const reason = counts.has(code) || counts.size < mostReasons ? code : 'other';
      const count = counts.get(reason) ?? { total: 0, unreported: 0, reportedAt: Number.NEGATIVE_INFINITY };
      counts.set(reason, count);
      count.total++;
      // Not logged: a load balancer that checks the port connects and closes every few seconds.
      if (reason === 'ECONNRESET') return;
      const now = performance.now();
      if (now - count.reportedAt < quietMs) {
        count.unreported++;
        return;
      }
      const handshake = {
        reason,
        address: remoteAddress,
        ...(count.unreported > 0 ? { more: count.unreported } : {}),
      };
      log.warn({ handshake }, 'TLS handshake with a caller failed');
      count.unreported = 0;
      count.reportedAt = now;
    },
    read: () => {
      const totals = [...counts].map(([reason, { total }]) => [`reason="${reason}"`, total] as const);
      const help = 'Failed TLS handshakes with callers, by reason.';
      return [counter('tls_handshakes_failed_total', help, totals)];
    },
  };
}
