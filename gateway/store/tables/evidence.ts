import { countsKeptMs, type TableData } from '../table-data.ts';

/** Findings and counts of comparisons (G45, G48). */
export const evidenceTables: readonly string[] = [
  // `callers`: hashes with spaces in between. `examples`: a JSON document per line. `state`: open, accepted or fixed
  // (G71), set at the time `state_at`.
  `CREATE TABLE findings (
    id TEXT PRIMARY KEY,
    contract TEXT NOT NULL,
    operation TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    reason TEXT,
    count BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    noise BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    callers TEXT NOT NULL,
    examples TEXT NOT NULL,
    example_count BIGINT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open',
    state_at BIGINT NOT NULL DEFAULT 0,
    state_reason TEXT
  )`,
  'CREATE INDEX findings_by_contract ON findings (contract, operation)',
  // Each process has rows of its own, which it replaces. Rows without a caller have the durations.
  `CREATE TABLE compare_hours (
    contract TEXT NOT NULL,
    operation TEXT NOT NULL,
    hour BIGINT NOT NULL,
    caller TEXT NOT NULL,
    writer TEXT NOT NULL,
    equal BIGINT NOT NULL,
    explained BIGINT NOT NULL,
    different BIGINT NOT NULL,
    more BIGINT NOT NULL,
    unanswered BIGINT NOT NULL,
    noise_pairs BIGINT NOT NULL,
    replaced BIGINT NOT NULL,
    replaced_at BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    legacy_ms TEXT NOT NULL,
    new_ms TEXT NOT NULL,
    PRIMARY KEY (contract, operation, hour, caller, writer)
  )`,
  'CREATE INDEX compare_hours_by_hour ON compare_hours (hour)',
];

/** Rows that expire or belong to callers (G55). */
export const evidenceData: readonly TableData[] = [
  { table: 'findings', key: 'id', time: 'last_at', keepMs: countsKeptMs },
  {
    table: 'compare_hours',
    key: 'contract, operation, hour, caller, writer',
    time: 'hour',
    caller: 'caller',
    keepMs: countsKeptMs,
  },
];
