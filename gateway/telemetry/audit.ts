import { randomBytes } from 'node:crypto';
import { piece } from '../../mappings/xml/output.ts';
import { InFlightSet } from '../admission/in-flight-set.ts';
import type { LineBuffer } from './line-buffer.ts';
import { toMicrosecond } from './log.ts';
import type { Observed, ObservedCall, Observer } from './observer.ts';
import type { WriteOutcome } from './request-stats.ts';

/** Tells of every write before it goes upstream, and of what came of it. */
interface Audit {
  readonly sending: (exchange: Observed) => void;
  readonly settled: (exchange: Observed, outcome: WriteOutcome) => void;
}

/** An audit as an observer: it is told of writes alone. */
function ofWrites({ sending, settled }: Audit): Observer {
  const isWrite = ({ operation }: ObservedCall): boolean => !operation.readOnly;
  return {
    sending: (exchange, call) => {
      if (isWrite(call)) sending(exchange);
      return undefined;
    },
    settled: (exchange, call, outcome) => {
      if (isWrite(call)) settled(exchange, outcome);
    },
  };
}

/**
 * An audit in the log: what came of a write stands in the line of its request, and a write that is under way when lines
 * are handed on has one that says so among them. So whoever reads the log knows of as much as with a line before each.
 */
export function auditInLog(log: LineBuffer): Observer {
  const underWay = new InFlightSet<Observed>();
  log.beforeHandingOn(() => {
    for (const call of underWay.takeAll()) writeSending(log, call);
  });
  return ofWrites({
    sending: (call) => {
      underWay.add(call);
      log.handOnSoon();
    },
    settled: (call, outcome) => {
      underWay.delete(call);
      call.stats.written = outcome;
    },
  });
}

/**
 * An audit apart from the log: `"audit":"sending"`, then `"audit":"settled"` with the outcome and the upstream's status. A
 * write whose first line is refused must not be sent; where the second is, it was, so its caller has the reply, and the line
 * of its request the outcome.
 *
 * @param onRefused called with why a second line could not be written
 */
export function auditApart(to: LineBuffer, onRefused: (error: unknown, requestId: string) => void): Observer {
  return ofWrites({
    sending: (call) => writeSending(to, call),
    settled: (call, outcome) => {
      try {
        writeSettled(to, call, outcome);
      } catch (error) {
        call.stats.written = outcome;
        onRefused(error, call.stats.requestId);
      }
    },
  });
}

/** Writes of this process start with this; another process has another one. */
const processId = randomBytes(6).toString('base64url');
let writes = 0;

const opening = piece('{"level":30,"time":');
const sending = piece(',"audit":"sending","requestId":"');
const id = piece('","writeId":"');
/** Maximum number of bytes of a `sending` line before its names. */
const longestSending = 1_024;

/** Writes the line of a write before it is sent upstream. */
function writeSending(to: LineBuffer, { stats }: Observed): void {
  stats.writeId ??= `${processId}.${++writes}`;
  const { requestId, writeId, operation, caller } = stats;
  const line = to.begin();
  line.reserve(longestSending);
  line.piece(opening);
  line.integer(Date.now());
  line.piece(sending);
  line.ascii(requestId);
  line.piece(id);
  line.ascii(writeId);
  line.ascii('"');
  const names = JSON.stringify({ operation, caller });
  line.text(`,${names.slice(1, -1)}`);
  line.ascii('}');
  to.end();
}

function writeSettled(
  to: LineBuffer,
  { stats: { requestId, writeId, operation, caller, upstreamStatus, upstreamMs } }: Observed,
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
