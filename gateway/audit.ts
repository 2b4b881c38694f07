import type { Operation } from '../mappings/model.ts';
import type { LineWriter } from './line-buffer.ts';

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

/** Audit lines of JSON: `"audit":"sending"`, then `"audit":"settled"` with the outcome and the upstream's status. */
export function createAudit(to: LineWriter): Audit {
  const write = (phase: string, { name }: Operation, { requestId, caller }: Audited, more: string): void => {
    const who = caller === undefined ? '' : `,"caller":"${caller}"`;
    to.write(
      `{"level":30,"time":${Date.now()},"audit":"${phase}","requestId":"${requestId}","operation":${JSON.stringify(name)}${who}${more}}\n`,
    );
  };
  return {
    sending: (operation, call) => write('sending', operation, call, ''),
    settled: (operation, call, outcome) => {
      const status = call.upstreamStatus === 0 ? '' : `,"upstreamStatus":${call.upstreamStatus}`;
      const ms = Math.round(call.upstreamMs * 1000) / 1000;
      write('settled', operation, call, `,"outcome":"${outcome}"${status},"upstreamMs":${ms}`);
    },
  };
}
