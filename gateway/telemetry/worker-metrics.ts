import type { Worker } from 'node:cluster';
import { addSnapshots, one, type Snapshot } from './metrics.ts';

/** Messages about metrics between the primary and its workers. */
type ToPrimary =
  | { readonly kind: 'ask'; readonly number: number }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot };
type ToWorker =
  | { readonly kind: 'report' }
  | { readonly kind: 'answer'; readonly number: number; readonly snapshot: Snapshot };

/** In ms: how long a worker too busy to report is waited for; its last report stands for it then. */
const longestWait = 1_000;

/** A worker that serves. */
interface Member {
  /** The same for a worker and the one that takes its place. */
  readonly name: string;
  last: Snapshot;
  /** Ends every wait for its report. */
  readonly settle: Set<() => void>;
}

/**
 * The primary's part: answers a worker that was asked for its metrics with those of all. What one of them counted is kept when
 * it ends, as far as it was reported: no counter goes back.
 *
 * @returns what counts a worker in, from when it serves until it ends
 */
export function gatherSnapshots(): (worker: Worker, name: string) => void {
  const members = new Map<Worker, Member>();
  let ended: Snapshot = [];
  let deaths = 0;
  let gathering: Promise<Snapshot> | undefined;

  return (worker, name) => {
    const member: Member = { name, last: [], settle: new Set() };
    members.set(worker, member);
    worker.on('message', (message: ToPrimary) => {
      if (message.kind === 'snapshot') {
        member.last = message.snapshot;
        settle(member);
      } else if (message.kind === 'ask') {
        gathering ??= gather().finally(() => {
          gathering = undefined;
        });
        gathering.then((snapshot) => send(worker, { kind: 'answer', number: message.number, snapshot }));
      }
    });
    worker.once('exit', () => {
      members.delete(worker);
      ended = addSnapshots(
        [ended, member.last.filter(({ type }) => type !== 'gauge')].map((snapshot) => ['', snapshot]),
      );
      deaths++;
      settle(member);
    });
  };

  async function gather(): Promise<Snapshot> {
    await Promise.all([...members].map(([worker, member]) => reported(worker, member)));
    const living = [...members.values()].map(({ name, last }) => [name, last] as const);
    return [
      ...addSnapshots([...living, ['', ended]]),
      one('workers', 'gauge', 'Workers that serve.', living.length),
      one('worker_deaths_total', 'counter', 'Workers that served and ended.', deaths),
    ];
  }
}

/** Resolves once a worker has reported, ended or taken too long. */
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

/** Nothing is sent to one that is ending: its `exit` settles it. */
function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}

/** A worker's part: reports its own metrics to the primary, and gets those of all from it. */
export interface Sharing {
  /** The metrics of all workers; undefined when the primary is no more. */
  readonly ofAll: () => Promise<Snapshot | undefined>;
  /** From now on the primary gets this worker's when it asks. */
  readonly report: (own: () => Snapshot) => void;
}

/** Shares metrics over this process's channel to the primary. */
export function shareSnapshots(): Sharing {
  const waiting = new Map<number, (snapshot: Snapshot | undefined) => void>();
  const joined = Promise.withResolvers<void>(); // before, the primary would not know who asks
  let asked = 0;
  return {
    ofAll: async () => {
      await joined.promise;
      return new Promise((resolve) => {
        asked++;
        waiting.set(asked, resolve);
        if (process.connected) process.send?.({ kind: 'ask', number: asked } satisfies ToPrimary);
        else answer(asked, undefined);
      });
    },
    report: (own) => {
      joined.resolve();
      process.on('message', (message: ToWorker) => {
        if (message.kind === 'answer') answer(message.number, message.snapshot);
        else if (message.kind === 'report')
          process.send?.({ kind: 'snapshot', snapshot: own() } satisfies ToPrimary);
      });
      process.once('disconnect', () => {
        for (const number of [...waiting.keys()]) answer(number, undefined);
      });
    },
  };

  function answer(number: number, snapshot: Snapshot | undefined): void {
    waiting.get(number)?.(snapshot);
    waiting.delete(number);
  }
}
