import type { IncomingMessage } from 'node:http';
import type { Snapshot } from './metrics.ts';
import type { RequestRecord, RequestStats } from './request-stats.ts';

/** A request as its trace sees it. */
export interface Traced {
  readonly request: Pick<IncomingMessage, 'headers'>;
  /** When it came, in ms of `performance.now()`. */
  readonly started: number;
  readonly stats: RequestStats;
}

/** A call upstream as its span tells of it. */
export interface TracedCall {
  readonly method: string;
  /** The operation's path as the document has it, without values. */
  readonly path: string;
}

/** What is told to OpenTelemetry; none of it fails, or waits. */
export interface Traces {
  /** A request was read, and is about to go upstream; gives the headers that it has there. */
  readonly sending: (traced: Traced, call: TracedCall) => Readonly<Record<string, string>>;
  /** The answer is there, or there is none. */
  readonly answered: (traced: Traced) => void;
  /** The reply was handed over. */
  readonly finished: (traced: Traced, contract: string, record: RequestRecord) => void;
  readonly read: () => Snapshot;
  /** Sends what is left, for at most some seconds. */
  readonly close: () => Promise<void>;
}
