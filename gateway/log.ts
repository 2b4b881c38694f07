import { createHmac, randomBytes } from 'node:crypto';
import { errorCodes } from './error.ts';
import { codesOfStatus } from './exchange.ts';
import type { RequestRecord } from './visit.ts';

/**
 * The members of a request's line.
 *
 * @param path the contract's that answered
 */
export function requestLine(record: RequestRecord, path: string): object {
  const { sent, error, queueMs, written } = record;
  return {
    level: 30,
    time: Date.now(),
    requestId: record.requestId,
    method: record.method,
    contract: path,
    transport: record.transport,
    operation: record.operation,
    status: record.status,
    meant: record.meant,
    bytesIn: record.bytesIn,
    bytesOut: record.bytesOut,
    ms: toMicrosecond(record.ms),
    clientIp: record.clientIp ?? '',
    caller: record.caller,
    audit: written && 'settled',
    outcome: written,
    upstreamStatus: sent === 0 ? undefined : record.upstreamStatus,
    upstreamMs: sent === 0 ? undefined : toMicrosecond(record.upstreamMs),
    error: error === undefined ? undefined : codeForLog(error),
    fault: record.fault,
    retry: sent > 1 || undefined,
    queueMs: queueMs === 0 ? undefined : toMicrosecond(queueMs),
    aborted: record.aborted || undefined,
    noted: record.noted,
  };
}

/** A time in ms as lines tell it: to the µs. */
export function toMicrosecond(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

const ownCodes: ReadonlySet<string> = new Set([...Object.keys(errorCodes), ...Object.values(codesOfStatus)]);

/** An errorCode of ours, or that a status stands for; one that the upstream made up may hold anything. */
function codeForLog(code: string): string {
  return ownCodes.has(code) || /^Status\d{3}$/.test(code) ? code : 'Upstream';
}

/** How many callers are kept with their pseudonyms. */
const knownCallers = 1_024;

/**
 * A pseudonym for a caller's id: the same for the same id in this process, and nothing to anyone who lacks the
 * process's key (W25).
 */
export function createPseudonyms(): (id: string) => string {
  const key = randomBytes(32);
  const known = new Map<string, string>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const pseudonym = createHmac('sha256', key).update(id).digest().toString('base64url', 0, 12);
    if (known.size >= knownCallers) known.clear();
    known.set(id, pseudonym);
    return pseudonym;
  };
}

/** What the log tells of an error. */
export interface ErrorDescription {
  readonly error: string;
  /** What the system or Node calls it, such as `ENOSPC`. */
  readonly code?: string;
  readonly at: readonly string[];
}

/** An error for the log: its kind and where it arose; never a message, which may hold what a caller sent. */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const at = (error.stack ?? '')
    .replace(error.message, '') // whose lines may look like places
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
  const code = 'code' in error ? String(error.code) : '';
  return { error: error.name, ...(/^[A-Z][A-Z0-9_]*$/.test(code) ? { code } : {}), at };
}
