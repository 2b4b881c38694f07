import type { Worker } from 'node:cluster';
import type { UpstreamStates } from '../upstream/upstream.ts';
import { addSnapshots, one, type Snapshot } from './metrics.ts';

/** Messages about metrics between the primary and its workers. */
type ToPrimary =
  | { readonly kind: 'ask'; readonly number: number }
  | { readonly kind: 'snapshot'; readonly report: WorkerReport };
type ToWorker =
  | { readonly kind: 'report' }
  | { readonly kind: 'answer'; readonly number: number; readonly reports: AllReports };

/** Metrics of a worker, and the states of its upstreams. */
export interface WorkerReport {
  readonly snapshot: Snapshot;
  readonly upstreams: UpstreamStates;
}

/** Metrics of all workers together, and the states of the upstreams of each. */
interface AllReports {
  readonly snapshot: Snapshot;
  readonly upstreams: readonly (readonly [worker: string, states: UpstreamStates])[];
}

/** Maximum wait for a busy worker's report, in ms. After it, the worker's previous report is used. */
const longestWait = 1_000;

/** A serving worker. */
interface Member {
  /** The same for a worker and its replacement. */
  readonly name: string;
  last: WorkerReport;
  /** Functions that end the waits for its report. */
  readonly settle: Set<() => void>;
}

/**
 * Primary process: answers a worker's request for metrics with those of all workers. The counters of a worker that
 * ended are kept as last reported, so that no counter decreases.
 *
 * @param ofPrimary returns metrics that only the primary has
 * @returns function that adds a serving worker until it ends
 */
export function gatherSnapshots(
  ofPrimary: () => Snapshot = () => [],
): (worker: Worker, name: string) => void {
  const members = new Map<Worker, Member>();
  let ended: Snapshot = [];
  let deaths = 0;
  let gathering: Promise<AllReports> | undefined;

  return (worker, name) => {
    const member: Member = { name, last: { snapshot: [], upstreams: [] }, settle: new Set() };
    members.set(worker, member);
    worker.on('message', (message: ToPrimary) => {
      if (message.kind === 'snapshot') {
        member.last = message.report;
        settle(member);
      } else if (message.kind === 'ask') {
        gathering ??= gather().finally(() => {
          gathering = undefined;
        });
        gathering.then((reports) => send(worker, { kind: 'answer', number: message.number, reports }));
      }
    });
    worker.once('exit', () => {
      members.delete(worker);
      ended = addSnapshots(
        [ended, member.last.snapshot.filter(({ type }) => type !== 'gauge')].map((snapshot) => [
          '',
          snapshot,
        ]),
      );
      deaths++;
      settle(member);
    });
  };

  async function gather(): Promise<AllReports> {
    await Promise.all([...members].map(([worker, member]) => reported(worker, member)));
    const living = [...members.values()].map(({ name, last }) => [name, last.snapshot] as const);
    const snapshot = [
      ...addSnapshots([...living, ['', ended]]),
      one('workers', 'gauge', 'Running workers.', living.length),
      one('worker_deaths_total', 'counter', 'Workers that ended after serving.', deaths),
      ...ofPrimary(),
    ];
    return {
      snapshot,
      upstreams: [...members.values()].map(({ name, last }) => [name, last.upstreams] as const),
    };
  }
}

/** Resolves when a worker has reported, ended or exceeded the time limit. */
function reported(worker: Worker, { settle }: Member): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, longestWait);
    settle.add(end);
    send(worker, { kind: 'report' });
    function end(): void {
      clearTimeout(timer);
      settle.delete(end);
      resolve();
    }
  });
}

function settle(member: Member): void {
  for (const end of member.settle) end();
}

/** Sends nothing to a worker that is ending: its `exit` event ends the waits. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}

/** Worker process: reports its metrics to the primary and gets those of all workers. */
export interface Sharing {
  /** Returns the metrics of all workers; undefined if the primary is gone. */
  readonly ofAll: () => Promise<Snapshot | undefined>;
  /** Returns the states of the upstreams of all workers; undefined if the primary is gone. */
  readonly upstreamsOfAll: () => Promise<AllReports['upstreams'] | undefined>;
  /** Starts to report this worker's metrics and state when the primary asks. */
  readonly report: (own: () => WorkerReport) => void;
}

/** Shares metrics over this process's channel to the primary. */
export function shareSnapshots(): Sharing {
  const waiting = new Map<number, (reports: AllReports | undefined) => void>();
  const joined = Promise.withResolvers<void>(); // before that, the primary does not know this worker
  let lastRequest = 0;
  return {
    ofAll: async () => (await requestReports())?.snapshot,
    upstreamsOfAll: async () => (await requestReports())?.upstreams,
    report: (own) => {
      joined.resolve();
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'answer') answer(message.number, message.reports);
        else if (message.kind === 'report')
          process.send?.({ kind: 'snapshot', report: own() } satisfies ToPrimary);
      });
      process.once('disconnect', () => {
        for (const number of [...waiting.keys()]) answer(number, undefined);
      });
    },
  };

  async function requestReports(): Promise<AllReports | undefined> {
    await joined.promise;
    return new Promise((resolve) => {
      lastRequest++;
      waiting.set(lastRequest, resolve);
      if (process.connected) process.send?.({ kind: 'ask', number: lastRequest } satisfies ToPrimary);
      else answer(lastRequest, undefined);
    });
  }

  function answer(number: number, reports: AllReports | undefined): void {
    waiting.get(number)?.(reports);
    waiting.delete(number);
  }
}
