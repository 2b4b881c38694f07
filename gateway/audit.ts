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

/** Audit lines: `"audit":"sending"`, then `"audit":"settled"` with the outcome and the upstream's status. */
export function createAudit(to: LineBuffer): Audit {
  return {
    sending: ({ name }, { requestId, caller }) =>
      to.tell({ level: 30, time: Date.now(), audit: 'sending', requestId, operation: name, caller }),
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
