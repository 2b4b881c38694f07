import type { IncomingMessage } from 'node:http';
import type { CompiledOperation } from '../../mappings/compile.ts';
import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import type { InFlight } from '../admission/in-flight-set.ts';
import type { MessageHead } from '../call/head.ts';
import type { RequestStats, WriteOutcome } from './request-stats.ts';

/** Data of an exchange for observers: the head of its request, and the stats so far. */
export interface Observed extends InFlight {
  readonly head: MessageHead;
  readonly request: IncomingMessage;
  /** Time when the request arrived, in ms of `performance.now()`. */
  readonly started: number;
  readonly stats: RequestStats;
}

/** Data of an upstream call for observers. */
export type ObservedCall = Pick<UpstreamRequest, 'method' | 'operation'>;

/**
 * Observes exchanges, stage by stage. Metrics, log, audit, message log and traces are observers. Calls report to
 * observers only. An observer decides nothing, except that a `sending` which throws prevents the upstream call.
 */
export interface Observer {
  /** The start of a SOAP message has arrived, or all of it. The bytes are valid during the call only. */
  readonly opened?: (exchange: Observed, start: Buffer) => void;
  /** The request was read. `body` is JSON that may be logged. */
  readonly read?: (exchange: Observed, operation: CompiledOperation, body: string) => void;
  /** The upstream call is about to be sent. The returned header fields are added to it. */
  readonly sending?: (exchange: Observed, call: ObservedCall) => Readonly<Record<string, string>> | undefined;
  /** The upstream has answered or failed. */
  readonly settled?: (exchange: Observed, call: ObservedCall, outcome: WriteOutcome) => void;
  /** The upstream's reply was read. `body` is JSON that may be logged. */
  readonly replied?: (exchange: Observed, operation: CompiledOperation, body: string) => void;
  /**
   * Work that the caller does not wait for has ended: the shadow request of a call, or the comparison of its replies.
   * Times are in ms of `performance.now()`.
   */
  readonly compared?: (exchange: Observed, work: 'shadow' | 'compare', from: number, to: number) => void;
  /** The caller has its reply or has disconnected. The stats are complete. */
  readonly finished?: (exchange: Observed) => void;
}

/** Combines several observers into one. */
export function observeAll(observers: readonly Observer[]): Required<Observer> {
  const handlersOf = <Stage extends keyof Observer>(stage: Stage): readonly NonNullable<Observer[Stage]>[] =>
    observers.flatMap((observer) => observer[stage] ?? []);
  const [read, sending, settled] = [handlersOf('read'), handlersOf('sending'), handlersOf('settled')];
  const [replied, finished] = [handlersOf('replied'), handlersOf('finished')];
  const [opened, compared] = [handlersOf('opened'), handlersOf('compared')];
  return {
    opened: (exchange, start) => {
      for (const handle of opened) handle(exchange, start);
    },
    read: (exchange, operation, body) => {
      for (const handle of read) handle(exchange, operation, body);
    },
    sending: (exchange, call) => {
      let headers: Readonly<Record<string, string>> | undefined;
      for (const handle of sending) headers = handle(exchange, call) ?? headers;
      return headers;
    },
    settled: (exchange, call, outcome) => {
      for (const handle of settled) handle(exchange, call, outcome);
    },
    replied: (exchange, operation, body) => {
      for (const handle of replied) handle(exchange, operation, body);
    },
    compared: (exchange, work, from, to) => {
      for (const handle of compared) handle(exchange, work, from, to);
    },
    finished: (exchange) => {
      for (const handle of finished) handle(exchange);
    },
  };
}
