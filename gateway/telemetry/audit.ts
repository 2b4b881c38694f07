import { randomBytes } from 'node:crypto';
import { piece } from '../../mappings/xml/output.ts';
import { InFlightSet } from '../admission/in-flight-set.ts';
import type { LineBuffer } from './line-buffer.ts';
import { toMicrosecond } from './log.ts';
import type { Observed, ObservedCall, Observer } from './observer.ts';
import type { WriteOutcome } from './request-stats.ts';

/** Records each write before it is sent upstream, and its outcome. */
interface Audit {
  readonly sending: (exchange: Observed) => void;
  readonly settled: (exchange: Observed, outcome: WriteOutcome) => void;
}

/** Creates an observer that calls the audit only for writes. */
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
 * Creates an audit in the log. The outcome of a write is in the log line of its request. When lines are flushed while a
 * write is in progress, a line about that write is added. The log is therefore as complete as with a line before each
 * write.
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
 * Creates an audit that is separate from the log. It writes `"audit":"sending"`, then `"audit":"settled"` with the outcome and the
 * upstream's status. If the first line cannot be written, the write is not sent. If the second cannot be written, the
 * caller still gets the reply, and the outcome is in the log line of the request.
 *
 * @param onRefused called with the error if a second line could not be written
 */
export function createSeparateAudit(
  to: LineBuffer,
  onRefused: (error: unknown, requestId: string) => void,
): Observer {
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

/** Prefix of this process's write ids. It differs between processes. */
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
  const { requestId, writeId, operation, caller, traceId, route, signed } = stats;
  const line = to.begin();
  line.reserve(longestSending);
  line.piece(opening);
  line.integer(Date.now());
  line.piece(sending);
  line.ascii(requestId);
  line.piece(id);
  line.ascii(writeId);
  line.ascii('"');
  const names = JSON.stringify({
    operation,
    caller,
    traceId,
    side: route?.side,
    rule: route?.rule,
    ...signerOf(signed),
  });
  line.text(`,${names.slice(1, -1)}`);
  line.ascii('}');
  to.end();
}

function writeSettled(to: LineBuffer, { stats }: Observed, outcome: WriteOutcome): void {
  const { requestId, writeId, operation, caller, traceId, route, upstreamStatus, upstreamMs, signed } = stats;
  to.addJson({
    level: 30,
    time: Date.now(),
    audit: 'settled',
    requestId,
    writeId,
    operation,
    caller,
    traceId,
    outcome,
    side: route?.side,
    rule: route?.rule,
    ...signerOf(signed),
    upstreamStatus: upstreamStatus === 0 ? undefined : upstreamStatus,
    upstreamMs: toMicrosecond(upstreamMs),
  });
}

/** Returns the members about the signer of a message (X29). */
function signerOf(signed: Observed['stats']['signed']): object | undefined {
  return signed?.audited === undefined ? undefined : { signer: signed.signer, ...signed.audited };
}
