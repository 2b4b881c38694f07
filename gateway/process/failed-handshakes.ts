import type { Socket } from 'node:net';
import type { Log } from '../core/core-options.ts';
import { counter, type Snapshot } from '../telemetry/metrics.ts';

/** TLS handshakes with callers that failed. */
export interface FailedHandshakes {
  /** Counts one by its reason, and logs it where that reason wasn't logged in the last minute. */
  readonly note: (error: Error, socket: Socket) => void;
  readonly read: () => Snapshot;
}

/** Reasons that are told apart; all others are `other`. */
const mostReasons = 16;
/** In ms. */
const quietMs = 60_000;

/** Counts by the code of Node or of OpenSSL, such as `ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE`. */
export function createFailedHandshakes(log: Log): FailedHandshakes {
  const counts = new Map<string, { total: number; untold: number; toldAt: number }>();
  return {
    note: (error, { remoteAddress }) => {
      const code = 'code' in error && typeof error.code === 'string' ? error.code : 'other';
      const reason = counts.has(code) || counts.size < mostReasons ? code : 'other';
      const count = counts.get(reason) ?? { total: 0, untold: 0, toldAt: Number.NEGATIVE_INFINITY };
      counts.set(reason, count);
      count.total++;
      // who just closes: a balancer that looks whether the port is open does so every few seconds
      if (reason === 'ECONNRESET') return;
      const now = performance.now();
      if (now - count.toldAt < quietMs) {
        count.untold++;
        return;
      }
      const handshake = {
        reason,
        address: remoteAddress,
        ...(count.untold > 0 ? { more: count.untold } : {}),
      };
      log.warn({ handshake }, 'a TLS handshake with a caller failed');
      count.untold = 0;
      count.toldAt = now;
    },
    read: () => {
      const totals = [...counts].map(([reason, { total }]) => [`reason="${reason}"`, total] as const);
      const help = 'TLS handshakes with callers that failed, by reason.';
      return [counter('tls_handshakes_failed_total', help, totals)];
    },
  };
}
