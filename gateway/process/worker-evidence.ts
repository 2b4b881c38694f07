import type { Worker } from 'node:cluster';
import type { EvidenceKeeper, EvidencePart } from '../migration/evidence-store.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import { answerCalls, callOver, ownChannel, unlessClosed } from './worker-calls.ts';

// Evidence of comparisons between the primary and its workers (G48).

type Parts = readonly EvidencePart[];

/** Time between two writes of the primary, and between two messages of a worker, in ms: together ten seconds. */
const [writeMs, sendMs] = [8_000, 2_000];

/** Primary process: adds the evidence that workers send, and writes it. */
export class WorkerEvidence {
  readonly #timer: NodeJS.Timeout;
  readonly #received: Parts[] = [];
  readonly #open: () => Promise<EvidenceKeeper>;
  /** Undefined until a worker has sent evidence. */
  #kept: EvidenceKeeper | undefined;

  /**
   * @param open opens what keeps the evidence
   * @param pauseMs time between two writes, in ms
   */
  constructor(open: () => Promise<EvidenceKeeper>, pauseMs = writeMs) {
    this.#timer = setInterval(() => this.#save(), pauseMs).unref();
    this.#open = open;
  }

  /** Adds a worker. */
  add(worker: Worker): void {
    answerCalls(worker, 'evidence', (parts: Parts) => {
      if (parts.length > 0 || this.#kept !== undefined) this.#received.push(parts);
    });
  }

  /** Returns the verdicts of all contracts, as of the last write. */
  read(): Snapshot {
    return this.#kept?.read() ?? [];
  }

  /** Writes the evidence of workers that have ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#received.length > 0) this.#kept ??= await this.#open();
    for (const parts of this.#received.splice(0)) this.#kept?.add(parts);
    await this.#kept?.save();
  }
}

/**
 * Worker process: sends its evidence to the primary every two seconds.
 *
 * @returns function that sends the last evidence before the worker ends. It resolves when the primary has it.
 */
export function shareEvidence(take: () => Parts, pauseMs = sendMs): () => Promise<void> {
  const call = callOver<Parts, undefined>(ownChannel(), 'evidence');
  const send = (): Promise<void> => unlessClosed(call(take())); // without its primary, the worker ends
  setInterval(send, pauseMs).unref();
  return send;
}
