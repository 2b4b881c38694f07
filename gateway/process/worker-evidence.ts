import type { Worker } from 'node:cluster';
import type { EvidenceKeeper, EvidencePart } from '../migration/evidence-store.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import { answerCalls, callOver, ownChannel, unlessClosed, withinWait } from './worker-calls.ts';

// Evidence of comparisons between the primary and its workers (G48).

type Parts = readonly EvidencePart[];

/** Time between two requests to the workers, in ms. */
const usualPause = 10_000;

/** A serving worker. */
interface Member {
  readonly take: () => Promise<Parts | undefined>;
  /** Resolves when its channel is closed. */
  readonly gone: Promise<void>;
}

/** Primary process: collects the evidence of all workers every ten seconds, and writes it. */
export class WorkerEvidence {
  readonly #timer: NodeJS.Timeout;
  readonly #members = new Map<Worker, Member>();
  readonly #received: Parts[] = [];
  readonly #open: () => Promise<EvidenceKeeper>;
  /** Undefined until a worker has sent evidence. */
  #kept: EvidenceKeeper | undefined;

  /**
   * @param open opens what keeps the evidence
   * @param pauseMs time between two collections, in ms
   */
  constructor(open: () => Promise<EvidenceKeeper>, pauseMs = usualPause) {
    this.#timer = setInterval(() => this.#collect(), pauseMs).unref();
    this.#open = open;
  }

  /** Adds a serving worker, until its channel closes. */
  add(worker: Worker): void {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    const call = callOver<object, Parts>(worker, 'takeEvidence');
    this.#members.set(worker, { gone, take: () => unlessClosed(call({})) });
    answerCalls(worker, 'lastEvidence', (parts: Parts) => this.#receive(parts));
    worker.once('disconnect', () => {
      this.#members.delete(worker);
      resolve();
    });
  }

  /** Returns the verdicts of all contracts, as of the last collection. */
  read(): Snapshot {
    return this.#kept?.read() ?? [];
  }

  /** Ends when the channels of all workers are closed and their last evidence is written. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#members.values()].map(({ gone }) => withinWait(gone)));
    await this.#save();
  }

  /** The evidence of a worker that is busy for a second is added later. */
  async #collect(): Promise<void> {
    const taken = [...this.#members.values()].map(async ({ take }) => this.#receive((await take()) ?? []));
    await Promise.all(taken.map(withinWait));
    await this.#save();
  }

  #receive(parts: Parts): void {
    if (parts.length > 0 || this.#kept !== undefined) this.#received.push(parts);
  }

  async #save(): Promise<void> {
    if (this.#received.length > 0) this.#kept ??= await this.#open();
    for (const parts of this.#received.splice(0)) this.#kept?.add(parts);
    await this.#kept?.save();
  }
}

/**
 * Worker process: sends its evidence when the primary asks.
 *
 * @returns function that sends the last evidence before the worker ends
 */
export function shareEvidence(take: () => Parts): () => Promise<void> {
  const channel = ownChannel();
  const send = callOver<Parts, undefined>(channel, 'lastEvidence');
  answerCalls(channel, 'takeEvidence', take);
  return () => unlessClosed(send(take()));
}
