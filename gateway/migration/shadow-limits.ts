import type { Limits } from '../../mappings/contract/limits.ts';

/** Maximum number of connections to a service for shadow requests (G27). */
export const maxShadowConnections = 16;

/** Limits of the connections for shadow requests, which are never repeated (G22). `compareBytes` limits their replies. */
export const shadowLimits: Partial<Limits> = {
  upstreamConnections: maxShadowConnections,
  retryPercent: 0,
  retrySavings: 0,
  replyBytes: Number.MAX_SAFE_INTEGER,
  replyBytesWithBinary: Number.MAX_SAFE_INTEGER,
};
