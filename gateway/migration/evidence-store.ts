import type { Log } from '../core/core-options.ts';
import { describeError } from '../telemetry/log.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import { Evidence, type EvidenceData } from './evidence.ts';
import { reportOperations, verdictMetric, verdictSamples } from './report.ts';
import { type EvidenceSettings, readState, writeState } from './state-file.ts';

/** New evidence of a process about one contract. It is JSON, so that a worker can send it. */
export interface EvidencePart {
  readonly settings: EvidenceSettings;
  /** Undefined if there is none. */
  readonly data: EvidenceData | undefined;
}

/** Keeps the evidence of a gateway with all its workers. */
export interface EvidenceKeeper {
  /** Adds the evidence of a process about all contracts that it serves. */
  readonly add: (parts: readonly EvidencePart[]) => void;
  /** Writes the evidence that has changed. */
  readonly save: () => Promise<void>;
  /** Returns the verdicts of the served contracts (G51). */
  readonly read: () => Snapshot;
}

/** The evidence of all workers about one contract. */
interface Kept {
  settings: EvidenceSettings;
  readonly evidence: Evidence;
  isChanged: boolean;
  /** Time of the last log line about the file, in ms since the start of the process. */
  loggedAt: number;
}

/** Minimum time between two log lines about a state file that cannot be written, in ms (G48). */
const logPause = 60_000;

/** The evidence of a gateway with all its workers. It is in the memory of one process, and in the state files (G48). */
export class EvidenceStore implements EvidenceKeeper {
  readonly #log: Log;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();
  /** Paths of the contracts that are served. */
  #served = new Set<string>();
  #saving = Promise.resolve();

  /** @param now returns the time in ms since 1970 */
  constructor(log: Log, now: () => number = Date.now) {
    this.#log = log;
    this.#now = now;
  }

  /** Adds the evidence of a process about all contracts that it serves. */
  add(parts: readonly EvidencePart[]): void {
    this.#served = new Set(parts.map(({ settings }) => settings.contract));
    for (const { settings, data } of parts) {
      const kept = this.#keptOf(settings);
      kept.isChanged ||= data !== undefined || JSON.stringify(settings) !== JSON.stringify(kept.settings);
      kept.settings = settings;
      kept.evidence.parts = { ...kept.evidence.parts, maxFindings: settings.maxFindings };
      if (data !== undefined) kept.evidence.merge(data);
    }
  }

  /** Writes the state files whose evidence has changed. A failure is logged at most once a minute. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  /** Returns the verdicts of the served contracts (G51). */
  read(): Snapshot {
    const samples = [...this.#kept].flatMap(([contract, { settings, evidence }]) =>
      this.#served.has(contract)
        ? verdictSamples(
            contract,
            reportOperations(evidence.data(), settings.reads, settings.ready, this.#now()),
          )
        : [],
    );
    return verdictMetric(samples);
  }

  async #save(): Promise<void> {
    for (const kept of this.#kept.values()) {
      const { settings, evidence, isChanged } = kept;
      if (settings.state === undefined || !isChanged) continue;
      kept.isChanged = false;
      try {
        await writeState(settings.state, settings, evidence.data());
      } catch (error) {
        kept.isChanged = true;
        this.#logFailure(kept, error, 'migration state not written: the evidence is only in memory');
      }
    }
  }

  /** Returns the evidence about a contract. The first time, and for another file, it begins with the state file. */
  #keptOf(settings: EvidenceSettings): Kept {
    const { contract, state, maxFindings } = settings;
    const known = this.#kept.get(contract);
    if (known !== undefined && known.settings.state === state) return known;
    const evidence = new Evidence({ contract, maxFindings, reasons: [], pseudonymOf: undefined });
    const kept: Kept = { settings, evidence, isChanged: true, loggedAt: Number.NEGATIVE_INFINITY };
    this.#kept.set(contract, kept);
    try {
      const read = state === undefined ? undefined : readState(state);
      if (read !== undefined) evidence.merge(read);
    } catch (error) {
      // the workers have checked the file, so it was replaced since
      this.#logFailure(kept, error, 'migration state not read: the evidence starts empty');
    }
    return kept;
  }

  #logFailure(kept: Kept, error: unknown, message: string): void {
    const now = performance.now();
    if (now - kept.loggedAt < logPause) return;
    kept.loggedAt = now;
    const { contract, state } = kept.settings;
    this.#log.error({ contract, state, ...describeError(error) }, message);
  }
}
