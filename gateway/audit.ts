import type { Operation } from '../mappings/model.ts';
import type { LineBuffer } from './line-buffer.ts';
import { toMicrosecond } from './log.ts';

/** What an audit line says of the call it is about. */
export interface Audited {
  readonly requestId: string;
  readonly caller: string | undefined;
  /** 0 without an answer. */
  readonly upstreamStatus: number;
  readonly upstreamMs: number;
  /** What came of it, where the line of the request tells so. */
  written: WriteOutcome | undefined;
}

/**
 * `answered`: the upstream said what it did. `unsent`: no connection was had, nothing was done. `unknown`: it may have
 * been done or not.
 */
export type WriteOutcome = 'answered' | 'unsent' | 'unknown';

/** Tells of every write before it goes upstream, and of what came of it. */
export interface Audit {
  readonly sending: (operation: Operation, call: Audited) => void;
  readonly settled: (operation: Operation, call: Audited, outcome: WriteOutcome) => void;
}

/** An audit whose second line is that of the request, which tells all that it would. */
export function auditInLog(log: LineBuffer): Audit {
  return {
    sending: (operation, call) => tellSending(log, operation, call),
    settled: (_operation, call, outcome) => {
      call.written = outcome;
    },
  };
}

/** An audit apart from the log: `"audit":"sending"`, then `"audit":"settled"` with the outcome and the upstream's status. */
export function auditApart(to: LineBuffer): Audit {
  return {
    sending: (operation, call) => tellSending(to, operation, call),
    settled: ({ name }, { requestId, caller, upstreamStatus, upstreamMs }, outcome) =>
      to.tell({
        level: 30,
        time: Date.now(),
        audit: 'settled',
        requestId,
        operation: name,
        caller,
        outcome,
        upstreamStatus: upstreamStatus === 0 ? undefined : upstreamStatus,
        upstreamMs: toMicrosecond(upstreamMs),
      }),
  };
}

function tellSending(to: LineBuffer, { name }: Operation, { requestId, caller }: Audited): void {
  to.tell({ level: 30, time: Date.now(), audit: 'sending', requestId, operation: name, caller });
}
