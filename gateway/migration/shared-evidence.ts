import { randomUUID } from 'node:crypto';
import type { Log } from '../core/core-options.ts';
import { maxStatements, NumberedWrites } from '../store/numbered-writes.ts';
import { type Statement, type Store, StoreError } from '../store/store.ts';
import { describeError } from '../telemetry/log.ts';
import type { Snapshot } from '../telemetry/metrics.ts';
import { type Counts, Evidence, type Finding, isUnexplained } from './evidence.ts';
import type { EvidenceKeeper, EvidencePart } from './evidence-store.ts';
import { reportOn, verdictMetric, verdictSamples } from './report.ts';
import type { EvidenceSettings } from './state-file.ts';
import {
  addFinding,
  nothingWritten,
  readStoredEvidence,
  replaceCounts,
  setSettings,
  type WrittenFinding,
} from './stored-evidence.ts';

/** Time after which the counts of an hour do not change any more. A busy worker sends its evidence later. */
const settledMs = 2 * 60 * 60 * 1_000;

/** Time between two readings of unchanged verdicts, in ms. Other replicas change them. */
const verdictPause = 60_000;

/** The evidence of this replica about one contract. */
interface Kept {
  settings: EvidenceSettings;
  /** Everything since the start. Findings and hours are limited. */
  readonly evidence: Evidence;
  writtenSettings: string;
}

/** A part of the evidence, with the function that marks it as written. */
interface Change {
  readonly statement: Statement;
  readonly settle: () => void;
}

/** Returns the primary key of a statement of `addFinding`. */
function idOf({ statement: { values = [] } }: Change): string {
  return String(values[0]);
}

/** The evidence of a replica with all its workers, which it adds to the store of all replicas (G53). */
export class SharedEvidence implements EvidenceKeeper {
  readonly #store: Store;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();
  /** Paths of the contracts that are served. */
  #served: readonly string[] = [];
  readonly #findings = new WeakMap<Finding, WrittenFinding>();
  readonly #counts = new WeakMap<Counts, string>();
  readonly #writer = randomUUID();
  readonly #writes: NumberedWrites;
  #verdicts: Snapshot = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #saving = Promise.resolve();

  /** @param now returns the time in ms since 1970 */
  constructor(store: Store, log: Log, now: () => number = Date.now) {
    this.#store = store;
    this.#writes = new NumberedWrites(store);
    this.#log = log;
    this.#now = now;
  }

  add(parts: readonly EvidencePart[]): void {
    this.#served = parts.map(({ settings }) => settings.contract);
    for (const { settings, data } of parts) {
      const { contract, maxFindings } = settings;
      const own = { contract, maxFindings, reasons: [], pseudonymOf: undefined, hasHours: true };
      const kept = this.#kept.get(contract) ?? { settings, evidence: new Evidence(own), writtenSettings: '' };
      kept.settings = settings;
      kept.evidence.parts = own;
      this.#kept.set(contract, kept);
      if (data !== undefined) kept.evidence.merge(data);
    }
  }

  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  read(): Snapshot {
    return this.#verdicts;
  }

  /** Writes all changes. After a failure, the remaining ones are written later (G54). */
  async #save(): Promise<void> {
    try {
      await this.#writes.settle();
      let hasChanged = false;
      for (const [contract, kept] of this.#kept) {
        const changes = this.#changesOf(contract, kept);
        hasChanged ||= changes.length > 0;
        await this.#writes.write(
          changes,
          ({ statement }) => statement,
          (part, isWritten) => {
            if (isWritten) for (const { settle } of part) settle();
          },
        );
        if (changes.length > 0) await this.#limitFindings(contract, kept);
        kept.evidence.removeHours(this.#now() - settledMs);
      }
      if (hasChanged || performance.now() - this.#readAt > verdictPause) await this.#readVerdicts();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // the store logs all other failures
      if (error.reason === 'constraint') this.#log.error(describeError(error), 'findings not stored');
    }
  }

  #changesOf(contract: string, kept: Kept): readonly Change[] {
    const changes: Change[] = [];
    const { operations, findings } = kept.evidence.data();
    for (const counts of operations) {
      const text = JSON.stringify(counts);
      if (this.#counts.get(counts) === text) continue;
      const settle = () => this.#counts.set(counts, text);
      changes.push({ statement: replaceCounts(contract, this.#writer, counts), settle });
    }
    const ofFindings: Change[] = [];
    for (const finding of findings) {
      const written = this.#findings.get(finding) ?? nothingWritten;
      const { count, noise, calls } = finding;
      if (written.count === count && written.noise === noise) continue;
      const next = {
        count,
        calls,
        noise,
        callers: finding.callers.length,
        examples: finding.examples.length,
      };
      const settle = () => this.#findings.set(finding, next);
      ofFindings.push({ statement: addFinding(contract, finding, written), settle });
    }
    // Replicas lock rows in the same order, so that no two wait for each other. Other rows belong to one process.
    changes.push(...ofFindings.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1)));
    const settings = JSON.stringify(kept.settings);
    if (changes.length > 0 || settings !== kept.writtenSettings) {
      const settle = () => {
        kept.writtenSettings = settings;
      };
      changes.push({ statement: setSettings(kept.settings, this.#now()), settle });
    }
    return changes;
  }

  /** Deletes the least frequent findings of all replicas above the maximum number (G45). */
  async #limitFindings(contract: string, { evidence, settings }: Kept): Promise<void> {
    const count = { sql: 'SELECT COUNT(*) AS n FROM findings WHERE contract = $1', values: [contract] };
    const [row] = await this.#store.all(count);
    const excess = Number(row?.n ?? 0) - settings.maxFindings;
    if (excess <= 0) return;
    const removed = await this.#store.all({
      sql: `SELECT id, operation, kind, reason, last_at FROM findings WHERE contract = $1
        ORDER BY CASE WHEN state = 'open' THEN 0 ELSE 1 END, count + noise, last_at LIMIT $2`,
      values: [contract, Math.min(excess, maxStatements)],
    });
    await this.#store.write(
      removed
        .map(({ id }) => String(id))
        .toSorted()
        .map((id) => ({ sql: 'DELETE FROM findings WHERE id = $1', values: [id] })),
    );
    for (const { operation, kind, reason, last_at: last } of removed) {
      const key = {
        kind: String(kind) as Finding['kind'],
        reason: reason === null ? undefined : String(reason),
      };
      const at = this.#now();
      evidence.countReplaced(String(operation), 1, isUnexplained(key) ? Number(last) : 0, at);
    }
  }

  /** Reads the verdicts of the served contracts, from the evidence of all replicas. */
  async #readVerdicts(): Promise<void> {
    this.#readAt = performance.now();
    const samples: (readonly [string, number])[] = [];
    for (const contract of this.#served) {
      const state = await readStoredEvidence(this.#store, contract, false);
      if (state !== undefined)
        samples.push(...verdictSamples(contract, reportOn(state, this.#now()).operations));
    }
    this.#verdicts = verdictMetric(samples);
  }
}
