import { createHmac, randomBytes } from 'node:crypto';
import { errorCodes } from './error.ts';
import { codesOfStatus } from './exchange.ts';
import type { RequestRecord } from './visit.ts';

/**
 * A request's line as pino would write it, without its walk over the members: half of what a line costs.
 *
 * @param path the contract's that answered
 */
export function requestLine(record: RequestRecord, path: string): string {
  const { requestId, method, transport, operation, status, meant, bytesIn, bytesOut, ms, clientIp } = record;
  const named = operation === undefined ? '' : `,"operation":${JSON.stringify(operation)}`;
  const intended = meant === undefined ? '' : `,"meant":${meant}`;
  return `{"level":30,"time":${Date.now()},"requestId":"${requestId}","method":"${method}","contract":"${path}","transport":"${transport}"${named},"status":${status}${intended},"bytesIn":${bytesIn},"bytesOut":${bytesOut},"ms":${ms},"clientIp":"${clientIp ?? ''}"${callPart(record)}${oddPart(record)}}\n`;
}

/** Who called, and what the upstream did. */
function callPart({ caller, sent, upstreamStatus, upstreamMs }: RequestRecord): string {
  const who = caller === undefined ? '' : `,"caller":"${caller}"`;
  return sent === 0
    ? who
    : `${who},"upstreamStatus":${upstreamStatus},"upstreamMs":${Math.round(upstreamMs * 1000) / 1000}`;
}

/** What most requests have nothing of. */
function oddPart({ error, fault, sent, queueMs, aborted, noted }: RequestRecord): string {
  if (error === undefined && fault === undefined && sent < 2 && queueMs === 0 && !aborted && !noted)
    return '';
  const told = error === undefined ? '' : `,"error":"${codeForLog(error)}"`;
  const refused = fault === undefined ? '' : `,"fault":"${fault}"`;
  const again = sent < 2 ? '' : ',"retry":true';
  const waited = queueMs === 0 ? '' : `,"queueMs":${Math.round(queueMs * 1000) / 1000}`;
  const gone = aborted ? ',"aborted":true' : '';
  const notes = noted === undefined ? '' : `,"noted":${JSON.stringify(noted)}`;
  return told + refused + again + waited + gone + notes;
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
    const pseudonym = createHmac('sha256', key).update(id).digest('base64url').slice(0, 16);
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
