import type { CompiledOperation } from '../../mappings/compile.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { InFlight } from '../admission/in-flight-set.ts';
import type { MessageHead } from '../call/head.ts';
import type { RequestStats, WriteOutcome } from './request-stats.ts';

/** An exchange, as it is observed: the head of its request, and what happened so far. */
export interface Observed extends InFlight {
  readonly head: MessageHead;
  /** When the request came, in ms of `performance.now()`. */
  readonly started: number;
  readonly stats: RequestStats;
}

/** The call upstream, as it is observed. */
export type ObservedCall = Pick<UpstreamRequest, 'method' | 'operation'>;

/**
 * Observes exchanges, stage by stage. Metrics, log, audit, message log and traces are observers; a call tells nobody else.
 * An observer decides nothing, except that a `sending` which throws keeps the call from being sent.
 */
export interface Observer {
  /** The request was read. `body` is JSON that may be shown. */
  readonly read?: (exchange: Observed, operation: CompiledOperation, body: string) => void;
  /** The call is about to go upstream. The header fields that it gives go with it. */
  readonly sending?: (exchange: Observed, call: ObservedCall) => Readonly<Record<string, string>> | undefined;
  /** The upstream answered, or it will not. */
  readonly settled?: (exchange: Observed, call: ObservedCall, outcome: WriteOutcome) => void;
  /** The reply of the upstream was read. `body` is JSON that may be shown. */
  readonly replied?: (exchange: Observed, operation: CompiledOperation, body: string) => void;
  /** The caller has its reply, or left; the stats are whole. */
  readonly finished?: (exchange: Observed) => void;
}

/** One observer of several. */
export function observeAll(observers: readonly Observer[]): Required<Observer> {
  const told = <Stage extends keyof Observer>(stage: Stage): readonly NonNullable<Observer[Stage]>[] =>
    observers.flatMap((observer) => observer[stage] ?? []);
  const [read, sending, settled] = [told('read'), told('sending'), told('settled')];
  const [replied, finished] = [told('replied'), told('finished')];
  return {
    read: (exchange, operation, body) => {
      for (const tell of read) tell(exchange, operation, body);
    },
    sending: (exchange, call) => {
      let headers: Readonly<Record<string, string>> | undefined;
      for (const tell of sending) headers = tell(exchange, call) ?? headers;
      return headers;
    },
    settled: (exchange, call, outcome) => {
      for (const tell of settled) tell(exchange, call, outcome);
    },
    replied: (exchange, operation, body) => {
      for (const tell of replied) tell(exchange, operation, body);
    },
    finished: (exchange) => {
      for (const tell of finished) tell(exchange);
    },
  };
}
