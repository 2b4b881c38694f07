import type { Worker } from 'node:cluster';
import { addSnapshots, one, type Snapshot } from '../telemetry/metrics.ts';
import type { UpstreamStates } from '../upstream/upstream.ts';
import type { WorkerUpstreams } from './admin.ts';
import { answerCalls, callOver, ownChannel, unlessClosed, withinWait } from './worker-calls.ts';

/** Metrics of a worker, and the states of its upstreams. */
export interface WorkerReport {
  readonly snapshot: Snapshot;
  readonly upstreams: UpstreamStates;
}

/** Metrics of all workers together, and the states of the upstreams of each. */
interface AllReports {
  readonly snapshot: Snapshot;
  readonly upstreams: WorkerUpstreams;
}

/** A serving worker. */
interface Member {
  /** The same for a worker and its replacement. */
  readonly name: string;
  readonly ask: () => Promise<WorkerReport>;
  last: WorkerReport;
  /** Defined while the worker makes a report. */
  update: Promise<void> | undefined;
}

/**
 * Primary process: metrics of all workers. The counters of a worker that ended are kept as last reported, so that no
 * counter decreases.
 */
export class WorkerMetrics {
  readonly #members = new Map<Worker, Member>();
  readonly #ofPrimary: () => Snapshot;
  #ended: Snapshot = [];
  #deaths = 0;
  #gathering: Promise<AllReports> | undefined;

  /** @param ofPrimary returns metrics that only the primary has */
  constructor(ofPrimary: () => Snapshot) {
    this.#ofPrimary = ofPrimary;
  }

  /** Adds a serving worker until it ends. */
  add(worker: Worker, name: string): void {
    const call = callOver<object, WorkerReport>(worker, 'report');
    const member: Member = {
      name,
      ask: () => call({}),
      last: { snapshot: [], upstreams: [] },
      update: undefined,
    };
    this.#members.set(worker, member);
    worker.once('exit', () => {
      this.#members.delete(worker);
      const counters = member.last.snapshot.filter(({ type }) => type !== 'gauge');
      this.#ended = addSnapshots([this.#ended, counters].map((snapshot) => ['', snapshot]));
      this.#deaths++;
    });
  }

  /** Returns the reports of all workers. A worker that is busy for a second has its previous report. */
  readonly gather = (): Promise<AllReports> => {
    this.#gathering ??= this.#gather().finally(() => {
      this.#gathering = undefined;
    });
    return this.#gathering;
  };

  async #gather(): Promise<AllReports> {
    await Promise.all([...this.#members.values()].map((member) => withinWait(updated(member))));
    const living = [...this.#members.values()].map(({ name, last }) => [name, last] as const);
    return {
      snapshot: [
        ...addSnapshots([
          ...living.map(([name, { snapshot }]) => [name, snapshot] as const),
          ['', this.#ended],
        ]),
        one('workers', 'gauge', 'Running workers.', living.length),
        one('worker_deaths_total', 'counter', 'Workers that ended after serving.', this.#deaths),
        ...this.#ofPrimary(),
      ],
      upstreams: living.map(([name, { upstreams }]) => [name, upstreams] as const),
    };
  }
}

/** Asks a worker for its report. Resolves when it has reported or ended. */
function updated(member: Member): Promise<void> {
  member.update ??= unlessClosed(member.ask())
    .then((report) => {
      if (report !== undefined) member.last = report;
    })
    .finally(() => {
      member.update = undefined;
    });
  return member.update;
}

/** Worker process: the metrics and upstreams of all workers. */
export interface SharedReports {
  /** Returns the metrics of all workers; undefined if the primary is gone. */
  readonly metricsOfAll: () => Promise<Snapshot | undefined>;
  /** Returns the states of the upstreams of all workers; undefined if the primary is gone. */
  readonly upstreamsOfAll: () => Promise<WorkerUpstreams | undefined>;
}

/** Worker process: returns functions that ask the primary for the reports of all workers. */
export function sharedReports(): SharedReports {
  const call = callOver<object, AllReports>(ownChannel(), 'reports');
  const all = (): Promise<AllReports | undefined> => unlessClosed(call({}));
  return {
    metricsOfAll: async () => (await all())?.snapshot,
    upstreamsOfAll: async () => (await all())?.upstreams,
  };
}

/** Worker process: reports its own metrics and upstreams when the primary asks. */
export function shareReports(own: () => WorkerReport): void {
  answerCalls(ownChannel(), 'report', own);
}
