import { performance } from 'node:perf_hooks';
import { type Piece, piece } from '../../mappings/xml/output.ts';
import { codesOfStatus, errorCodes } from '../call/error.ts';
import type { LineBuffer } from './line-buffer.ts';
import type { RequestRecord } from './request-stats.ts';

// The process's reports about itself: log, audit, metrics, messages, and hiding of secrets. This folder receives stats
// and writes lines. It decides nothing about a request.

/** Writes the line of a request. */
export type WriteRequestLine = (record: RequestRecord, to: LineBuffer) => void;

/** The level numbers of pino. */
export const levels = { debug: 20, info: 30, warn: 40, error: 50 } as const;
const requestId = piece(',"requestId":"');
const bytesOut = piece(',"bytesOut":');
const ms = piece(',"ms":');
const clientIp = piece(',"clientIp":"');
const caller = piece('","caller":"');
const traceId = piece('","traceId":"');
const audit = piece(',"audit":"settled","outcome":"');
const writeId = piece(',"writeId":"');
const upstreamStatus = piece(',"upstreamStatus":');
const upstreamMs = piece(',"upstreamMs":');

/** Maximum number of bytes in a line apart from its shared text. */
const mostOthers = 1_024;
/** Maximum number of cached shared texts. */
const knownKinds = 16;

/** A text shared by many lines, and the members of the record that it depends on. */
interface Kind extends Pick<RequestRecord, 'method' | 'transport' | 'operation' | 'status' | 'meant'> {
  /** Text of the line between the request's id and the first number. */
  readonly text: Piece;
}

function isOf(record: RequestRecord, kind: Kind): boolean {
  return (
    record.operation === kind.operation &&
    record.status === kind.status &&
    record.transport === kind.transport &&
    record.method === kind.method &&
    record.meant === kind.meant
  );
}

/** Returns a function that finds a line's shared text. It caches the last `knownKinds` texts. */
function compileKinds(path: string): (record: RequestRecord) => Piece {
  const kinds: Kind[] = [];
  return (record) => {
    for (let index = 0; index < kinds.length; index++) {
      const known = kinds[index] as Kind;
      if (!isOf(record, known)) continue;
      kinds[index] = kinds[0] as Kind;
      kinds[0] = known;
      return known.text;
    }
    const { method, transport, operation, status, meant } = record;
    const members = JSON.stringify({ method, contract: path, transport, operation, status, meant });
    const text = piece(`",${members.slice(1, -1)},"bytesIn":`);
    if (kinds.length === knownKinds) kinds.pop();
    kinds.unshift({ method, transport, operation, status, meant, text });
    return text;
  };
}

/** Returns a function that finds the beginning of a line by the outcome; undefined for a line below the minimum. */
function compileOpenings(
  level: 'debug' | 'info',
  lowest: number,
): (record: RequestRecord) => Piece | undefined {
  const openingAt = (number: number): Piece | undefined =>
    number < lowest ? undefined : piece(`{"level":${number},"time":`);
  const opening = openingAt(levels[level]);
  const warning = openingAt(levels.warn);
  const failure = openingAt(levels.error);
  return (record) => {
    if (level === 'debug') return opening;
    const outcome = record.meant ?? record.status;
    if (outcome >= 500) return failure;
    return outcome >= 400 || record.fault !== undefined ? warning : opening;
  };
}

/**
 * Compiles the function that writes the log lines of requests to a contract directly to the buffer. It copies the
 * shared text as a whole and writes the rest byte by byte (decision 6).
 *
 * @param path the contract's path
 * @param level `debug` for requests of monitoring
 * @param lowest minimum level of the lines, a number of pino
 */
export function compileRequestLine(
  path: string,
  level: 'debug' | 'info' = 'info',
  lowest: number = levels.debug,
): WriteRequestLine {
  const openingOf = compileOpenings(level, lowest);
  const kindOf = compileKinds(path);
  return (record, to) => {
    const opening = openingOf(record);
    if (opening === undefined) return;
    const kind = kindOf(record);
    const line = to.begin();
    line.reserve(kind.length + mostOthers);
    line.piece(opening);
    line.integer(dateAt(record.endedAt));
    line.piece(requestId);
    line.ascii(record.requestId);
    line.piece(kind);
    line.integer(record.bytesIn);
    line.piece(bytesOut);
    line.integer(record.bytesOut);
    line.piece(ms);
    line.thousandths(Math.round(record.ms * 1000));
    line.piece(clientIp);
    line.ascii(record.clientIp ?? '');
    if (record.caller !== undefined) {
      line.piece(caller);
      line.ascii(record.caller);
    }
    if (record.traceId !== undefined) {
      line.piece(traceId);
      line.ascii(record.traceId);
    }
    line.ascii('"');
    if (record.written !== undefined) {
      line.piece(audit);
      line.ascii(record.written);
      line.ascii('"');
    }
    // most writes have an id if the gateway is under load
    if (record.writeId !== undefined) {
      line.piece(writeId);
      line.ascii(record.writeId);
      line.ascii('"');
    }
    if (record.sent !== 0) {
      line.piece(upstreamStatus);
      line.integer(record.upstreamStatus);
      line.piece(upstreamMs);
      line.thousandths(Math.round(record.upstreamMs * 1000));
    }
    const rest = seldom(record);
    if (rest !== undefined) line.text(`,${JSON.stringify(rest).slice(1, -1)}`);
    line.ascii('}');
    to.end();
  };
}

/** Returns the members that most lines lack; undefined if there are none. */
function seldom({
  error,
  fault,
  upstream,
  failures,
  block,
  path,
  userAgent,
  retries,
  queueMs,
  aborted,
  noted,
  unverified,
  refusal,
  route,
  signed,
  decrypted,
  wsse,
  wsseReason,
  written,
}: RequestRecord): object | undefined {
  if (
    error === undefined &&
    fault === undefined &&
    path === undefined &&
    failures === undefined &&
    retries === 0 &&
    queueMs === 0 &&
    !aborted &&
    noted === undefined &&
    route === undefined &&
    signed === undefined &&
    decrypted === undefined &&
    unverified.length === 0
  )
    return undefined;
  return {
    error: error === undefined ? undefined : codeForLog(error),
    fault,
    refusal,
    ...(failures === undefined ? {} : { upstream, failures }),
    block,
    path,
    userAgent,
    retry: retries > 0 || undefined,
    queueMs: queueMs === 0 ? undefined : toMicrosecond(queueMs),
    aborted: aborted || undefined,
    noted,
    unverified: unverified.length === 0 ? undefined : unverified,
    ...(signed === undefined ? {} : { ...signed, usesSha1: undefined, audited: undefined }),
    ...(written === undefined ? {} : signed?.audited),
    decrypted: decrypted?.shown,
    ...(wsseReason === undefined ? {} : { wsse, reason: wsseReason }),
    ...(route === undefined ? {} : routeMembers(route)),
  };
}

/** Returns the members of a line about the routing of a call (G52). */
function routeMembers({ legacyMs, ...route }: NonNullable<RequestRecord['route']>): object {
  return { ...route, legacyMs: legacyMs === undefined ? undefined : toMicrosecond(legacyMs) };
}

/** Rounds a time in ms to µs, as log lines show it. */
export function toMicrosecond(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

const ownCodes: ReadonlySet<string> = new Set([...Object.keys(errorCodes), ...Object.values(codesOfStatus)]);

/**
 * Returns an error code of the gateway or of a status. Other codes become `Upstream`, because they are the upstream's
 * texts.
 */
export function codeForLog(code: string): string {
  return ownCodes.has(code) || /^Status\d{3}$/.test(code) ? code : 'Upstream';
}

/** Returns the code of a failed request for log and metrics; undefined if it did not fail. */
export function codeOf({ error, fault }: Pick<RequestRecord, 'error' | 'fault'>): string | undefined {
  return fault ?? (error === undefined ? undefined : codeForLog(error));
}

/** An error as the log describes it. */
export interface ErrorDescription {
  readonly error: string;
  /** Code of the system or Node, for example `ENOSPC`. */
  readonly code?: string;
  readonly at: readonly string[];
}

/**
 * Describes an error for the log: its kind and stack. The message is left out, because it may contain data of a caller.
 */
export function describeError(error: unknown): ErrorDescription {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const at = (error.stack ?? '')
    .replace(error.message, '') // the message may contain lines that look like stack frames
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
  const code = 'code' in error ? String(error.code) : '';
  return { error: error.name, ...(/^[A-Z][A-Z0-9_]*$/.test(code) ? { code } : {}), at };
}

/** Time for which the offset between both clocks is reused, in ms. The system clock may be changed. */
const keptMs = 100;

let distance = 0;
let lookedAt = Number.NEGATIVE_INFINITY;

/**
 * Returns the date of a moment of `performance.now()`, in whole ms since 1970. It avoids a slow call of `Date.now()`
 * per line.
 */
export function dateAt(moment: number): number {
  if (moment - lookedAt >= keptMs) {
    lookedAt = performance.now();
    distance = Date.now() - lookedAt;
  }
  return Math.floor(moment + distance);
}
