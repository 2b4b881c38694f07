import { randomBytes } from 'node:crypto';
import { type InFlight, InFlightSet } from '../admission/in-flight-set.ts';
import type { LineBuffer } from './line-buffer.ts';
import { toMicrosecond } from './log.ts';
import type { RequestStats, WriteOutcome } from './request-stats.ts';

/** What an audit line has of the call it is about. */
export interface Audited extends InFlight {
  readonly stats: Pick<
    RequestStats,
    'requestId' | 'operation' | 'caller' | 'upstreamStatus' | 'upstreamMs' | 'written' | 'writeId'
  >;
}

/** Tells of every write before it goes upstream, and of what came of it. */
export interface Audit {
  readonly sending: (call: Audited) => void;
  readonly settled: (call: Audited, outcome: WriteOutcome) => void;
}

/**
 * An audit in the log: what came of a write stands in the line of its request, and a write that is under way when lines
 * are handed on has one that says so among them. So whoever reads the log knows of as much as with a line before each.
 */
export function auditInLog(log: LineBuffer): Audit {
  const underWay = new InFlightSet<Audited>();
  log.beforeHandingOn(() => {
    for (const call of underWay.takeAll()) writeSending(log, call);
  });
  return {
    sending: (call) => {
      underWay.add(call);
      log.handOnSoon();
    },
    settled: (call, outcome) => {
      underWay.delete(call);
      call.stats.written = outcome;
    },
  };
}

/**
 * An audit apart from the log: `"audit":"sending"`, then `"audit":"settled"` with the outcome and the upstream's status. A
 * write whose first line is refused must not be sent; where the second is, it was, so its caller has the reply, and the line
 * of its request the outcome.
 *
 * @param onRefused called with why a second line could not be written
 */
export function auditApart(to: LineBuffer, onRefused: (error: unknown, requestId: string) => void): Audit {
  return {
    sending: (call) => writeSending(to, call),
    settled: (call, outcome) => {
      try {
        writeSettled(to, call, outcome);
      } catch (error) {
        call.stats.written = outcome;
        onRefused(error, call.stats.requestId);
      }
    },
  };
}

/** Writes of this process start with this; another process has another one. */
const processId = randomBytes(6).toString('base64url');
let writes = 0;

function writeSending(to: LineBuffer, { stats }: Audited): void {
  stats.writeId ??= `${processId}.${++writes}`;
  const { requestId, writeId, operation, caller } = stats;
  to.tell({ level: 30, time: Date.now(), audit: 'sending', requestId, writeId, operation, caller });
}

function writeSettled(
  to: LineBuffer,
  { stats: { requestId, writeId, operation, caller, upstreamStatus, upstreamMs } }: Audited,
  outcome: WriteOutcome,
): void {
  to.tell({
    level: 30,
    time: Date.now(),
    audit: 'settled',
    requestId,
    writeId,
    operation,
    caller,
    outcome,
    upstreamStatus: upstreamStatus === 0 ? undefined : upstreamStatus,
    upstreamMs: toMicrosecond(upstreamMs),
  });
}
