import type { Worker } from 'node:cluster';
import type { EvidenceKeeper, EvidencePart } from '../migration/evidence-store.ts';
import type { Snapshot } from '../telemetry/metrics.ts';

// Evidence of comparisons between the primary and its workers (G48).

type ToPrimary = { readonly kind: 'evidence'; readonly parts: readonly EvidencePart[] };
type ToWorker = { readonly kind: 'takeEvidence' };

/** Time between two requests to the workers, in ms. */
const usualPause = 10_000;

/** Maximum wait for a busy worker, in ms. Its evidence is added later. */
const longestWait = 1_000;

/** A serving worker. */
interface Member {
  /** Resolves when its channel is closed. */
  readonly gone: Promise<void>;
  /** Called when it sends evidence. */
  answered: (() => void) | undefined;
}

/** Primary process: collects the evidence of all workers every ten seconds, and writes it. */
export class WorkerEvidence {
  readonly #timer: NodeJS.Timeout;
  readonly #members = new Map<Worker, Member>();
  readonly #received: (readonly EvidencePart[])[] = [];
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
    const member: Member = { gone, answered: undefined };
    this.#members.set(worker, member);
    worker.on('message', (message: ToPrimary) => {
      if (message.kind !== 'evidence') return;
      if (message.parts.length > 0 || this.#kept !== undefined) this.#received.push(message.parts);
      member.answered?.();
    });
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

  async #collect(): Promise<void> {
    const answers = [...this.#members].map(([worker, member]) => {
      const answered = new Promise<void>((resolve) => {
        member.answered = resolve;
      });
      if (worker.isConnected()) worker.send({ kind: 'takeEvidence' } satisfies ToWorker);
      return withinWait(Promise.race([answered, member.gone]));
    });
    await Promise.all(answers);
    await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#received.length > 0) this.#kept ??= await this.#open();
    for (const parts of this.#received.splice(0)) this.#kept?.add(parts);
    await this.#kept?.save();
  }
}

/** Resolves with a promise, but after the longest wait at the latest. */
function withinWait(promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, longestWait);
    promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Worker process: sends its evidence when the primary asks.
 *
 * @returns function that sends the last evidence before the worker ends
 */
export function shareEvidence(take: () => readonly EvidencePart[]): () => Promise<void> {
  const send = (): Promise<void> =>
    new Promise((resolve) => {
      if (!process.connected || process.send === undefined) resolve();
      else process.send({ kind: 'evidence', parts: take() } satisfies ToPrimary, () => resolve());
    });
  process.on('message', ({ kind }: ToWorker) => {
    if (kind === 'takeEvidence') void send();
  });
  return send;
}
