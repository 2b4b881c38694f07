import type { Worker } from 'node:cluster';
import { addSheets, one, type Sheet } from './metrics.ts';

/** What the primary and its workers say to each other of metrics. */
type ToPrimary =
  | { readonly kind: 'ask'; readonly number: number }
  | { readonly kind: 'sheet'; readonly sheet: Sheet };
type ToWorker =
  | { readonly kind: 'tell' }
  | { readonly kind: 'answer'; readonly number: number; readonly sheet: Sheet };

/** In ms: how long a worker too busy to tell is waited for; what it told last stands for it then. */
const longestWait = 1_000;

/** A worker that serves. */
interface Member {
  /** The same for a worker and the one that takes its place. */
  readonly name: string;
  last: Sheet;
  /** Ends every wait for what it tells. */
  readonly settle: Set<() => void>;
}

/** The primary's part: answers a worker that was asked for its metrics with those of all. */
export interface Gathering {
  /** Counts a worker in, from when it serves until it ends. */
  readonly join: (worker: Worker, name: string) => void;
}

/**
 * Gathers the metrics of workers. What one of them counted is kept when it ends, as far as it was told: no counter goes
 * back.
 */
export function gatherSheets(): Gathering {
  const members = new Map<Worker, Member>();
  let ended: Sheet = [];
  let deaths = 0;
  let gathering: Promise<Sheet> | undefined;

  return {
    join: (worker, name) => {
      const member: Member = { name, last: [], settle: new Set() };
      members.set(worker, member);
      worker.on('message', (said: ToPrimary) => {
        if (said.kind === 'sheet') {
          member.last = said.sheet;
          settle(member);
        } else if (said.kind === 'ask') {
          gathering ??= gather().finally(() => {
            gathering = undefined;
          });
          gathering.then((sheet) => say(worker, { kind: 'answer', number: said.number, sheet }));
        }
      });
      worker.once('exit', () => {
        members.delete(worker);
        ended = addSheets(
          [ended, member.last.filter(({ type }) => type !== 'gauge')].map((sheet) => ['', sheet]),
        );
        deaths++;
        settle(member);
      });
    },
  };

  async function gather(): Promise<Sheet> {
    await Promise.all([...members].map(([worker, member]) => told(worker, member)));
    const living = [...members.values()].map(({ name, last }) => [name, last] as const);
    return [
      ...addSheets([...living, ['', ended]]),
      one('workers', 'gauge', 'Workers that serve.', living.length),
      one('worker_deaths_total', 'counter', 'Workers that served and ended.', deaths),
    ];
  }
}

function told(worker: Worker, { settle }: Member): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, longestWait);
    settle.add(end);
    say(worker, { kind: 'tell' });
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

/** To one that is ending nothing is said: its end says it all. */
function say(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}

/** A worker's part: tells its own metrics to the primary, and gets those of all from it. */
export interface Sharing {
  /** The metrics of all workers; undefined when the primary is no more. */
  readonly ofAll: () => Promise<Sheet | undefined>;
  /** From now on the primary is told what this worker's are. */
  readonly tell: (own: () => Sheet) => void;
}

/** Shares metrics over this process's channel to the primary. */
export function shareSheets(): Sharing {
  const waiting = new Map<number, (sheet: Sheet | undefined) => void>();
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
    tell: (own) => {
      joined.resolve();
      process.on('message', (said: ToWorker) => {
        if (said.kind === 'answer') answer(said.number, said.sheet);
        else if (said.kind === 'tell') process.send?.({ kind: 'sheet', sheet: own() } satisfies ToPrimary);
      });
      process.once('disconnect', () => {
        for (const number of [...waiting.keys()]) answer(number, undefined);
      });
    },
  };

  function answer(number: number, sheet: Sheet | undefined): void {
    waiting.get(number)?.(sheet);
    waiting.delete(number);
  }
}
