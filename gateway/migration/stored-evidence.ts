import { hash } from 'node:crypto';
import { setMeta } from '../store/numbered-writes.ts';
import type { Statement, Store, StoreRow } from '../store/store.ts';
import {
  addDurations,
  type Counts,
  type Durations,
  type EvidenceData,
  type Example,
  type Finding,
  type FindingDecision,
} from './evidence.ts';
import type { EvidenceSettings, State } from './state-file.ts';

// Findings and counts in the rows of a store (G53).

/** Values of a finding that this process has added to its row. */
export interface WrittenFinding {
  readonly count: number;
  readonly calls: number;
  readonly noise: number;
  readonly callers: number;
  readonly examples: number;
}

export const nothingWritten: WrittenFinding = { count: 0, calls: 0, noise: 0, callers: 0, examples: 0 };

/** Maximum number of examples in a row before no further ones are added. */
const maxStoredExamples = 5;

/** Maximum length of the callers in a row before no further ones are added: 32 hashes of 8 digits. */
const maxStoredCallers = 32 * 9;

/** Returns the identifier of a finding. It is equal in all processes. */
export function findingId(contract: string, { operation, path, kind, reason = '' }: Finding): string {
  return hash('sha256', [contract, operation, kind, reason, path].join('\n'), 'base64url').slice(0, 22);
}

/** Returns the statement that adds the new part of a finding to its row. */
export function addFinding(contract: string, finding: Finding, written: WrittenFinding): Statement {
  const { operation, path, kind, reason, count, calls, noise, first, last, callers, examples } = finding;
  const newExamples = examples.slice(written.examples);
  const added = (column: string, limit: string): string =>
    `${column} = CASE WHEN ${limit} THEN findings.${column} ELSE findings.${column} || excluded.${column} END`;
  return {
    sql: `INSERT INTO findings
      (id, contract, operation, path, kind, reason, count, calls, noise, first_at, last_at, callers, examples, example_count)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      ON CONFLICT (id) DO UPDATE SET
        count = findings.count + excluded.count,
        calls = findings.calls + excluded.calls,
        noise = findings.noise + excluded.noise,
        first_at = CASE WHEN excluded.first_at < findings.first_at THEN excluded.first_at ELSE findings.first_at END,
        last_at = CASE WHEN excluded.last_at > findings.last_at THEN excluded.last_at ELSE findings.last_at END,
        ${added('callers', `length(findings.callers) >= ${maxStoredCallers}`)},
        ${added('examples', `findings.example_count >= ${maxStoredExamples}`)},
        example_count = CASE WHEN findings.example_count >= ${maxStoredExamples} THEN findings.example_count
          ELSE findings.example_count + excluded.example_count END`,
    values: [
      findingId(contract, finding),
      contract,
      operation,
      path,
      kind,
      reason ?? null,
      count - written.count,
      calls - written.calls,
      noise - written.noise,
      first,
      last,
      callers
        .slice(written.callers)
        .map((caller) => `${caller.toString(16).padStart(8, '0')} `)
        .join(''),
      newExamples.map((example) => `${JSON.stringify(example)}\n`).join(''),
      newExamples.length,
    ],
  };
}

/** Returns the statement that replaces the counts of this process for an hour and a caller. */
export function replaceCounts(contract: string, writer: string, counts: Counts): Statement {
  const { operation, hour = 0, caller = '', equal, explained, different, more, unanswered } = counts;
  const { noisePairs, replaced, replacedLast, first, legacyMs, newMs } = counts;
  const names = [
    ...['equal', 'explained', 'different', 'more', 'unanswered', 'noise_pairs', 'replaced', 'replaced_at'],
    ...['first_at', 'legacy_ms', 'new_ms'],
  ];
  return {
    sql: `INSERT INTO compare_hours (contract, operation, hour, caller, writer, ${names.join(', ')})
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
      ON CONFLICT (contract, operation, hour, caller, writer) DO UPDATE SET
        ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    values: [
      ...[contract, operation, hour, caller, writer, equal, explained, different, more, unanswered],
      ...[noisePairs, replaced, replacedLast, first, JSON.stringify(legacyMs), JSON.stringify(newMs)],
    ],
  };
}

const settingsName = 'contract ';

/** Returns the statement that stores the settings of a contract, for reports. */
export function setSettings({ contract, ready, reads, dated }: EvidenceSettings, saved: number): Statement {
  return setMeta(`${settingsName}${contract}`, JSON.stringify({ contract, saved, ready, reads, dated }));
}

/** Returns the paths of the contracts with evidence. */
export async function storedContracts(store: Store): Promise<readonly string[]> {
  const sql = 'SELECT name FROM meta WHERE name LIKE $1 ORDER BY name';
  const rows = await store.all({ sql, values: [`${settingsName}%`] });
  return rows.map(({ name }) => String(name).slice(settingsName.length));
}

/**
 * Reads the evidence of all replicas about a contract; undefined if there is none. Rejects with StoreError.
 *
 * @param isWhole false to leave out examples and durations, which verdicts do not need
 */
export async function readStoredEvidence(
  store: Store,
  contract: string,
  isWhole = true,
): Promise<Omit<State, 'format' | 'version'> | undefined> {
  const settings = { sql: 'SELECT value FROM meta WHERE name = $1', values: [`${settingsName}${contract}`] };
  const [found] = await store.all(settings);
  if (found === undefined) return undefined;
  const data: EvidenceData = {
    operations: await readCounts(store, contract, isWhole),
    findings: await readFindings(store, contract, isWhole),
  };
  return { ...JSON.parse(String(found.value)), ...data };
}

async function readFindings(store: Store, contract: string, isWhole: boolean): Promise<readonly Finding[]> {
  const columns = `id, operation, path, kind, reason, count, calls, noise, first_at, last_at, callers, state, state_at,
    state_reason${isWhole ? ', examples' : ''}`;
  const sql = `SELECT ${columns} FROM findings WHERE contract = $1`;
  return (await store.all({ sql, values: [contract] })).map(findingOf);
}

function findingOf(row: StoreRow): Finding {
  const { reason, state, state_at: at, state_reason: why, examples } = row;
  const decision: FindingDecision | undefined =
    state === 'accepted' || state === 'fixed'
      ? { state, at: Number(at), reason: String(why ?? '') }
      : undefined;
  return {
    id: String(row.id),
    operation: String(row.operation),
    path: String(row.path),
    kind: String(row.kind) as Finding['kind'],
    ...(reason === null ? {} : { reason: String(reason) }),
    ...(decision === undefined ? {} : { decision }),
    count: Number(row.count),
    calls: Number(row.calls),
    noise: Number(row.noise),
    first: Number(row.first_at),
    last: Number(row.last_at),
    callers: [...new Set(String(row.callers).trim().split(' '))]
      .filter((caller) => caller !== '')
      .map((caller) => Number.parseInt(caller, 16)),
    examples: readExamples(String(examples ?? '')).slice(0, maxStoredExamples),
  };
}

/** Reads the examples of a row. */
export function readExamples(lines: string): readonly Example[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const sums = ['equal', 'explained', 'different', 'more', 'unanswered', 'noise_pairs', 'replaced'];

async function readCounts(store: Store, contract: string, isWhole: boolean): Promise<readonly Counts[]> {
  const values = [contract];
  const rows = await store.all({
    sql: `SELECT operation, ${sums.map((name) => `SUM(${name}) AS ${name}`).join(', ')},
      MAX(replaced_at) AS replaced_at, MIN(CASE WHEN first_at > 0 THEN first_at END) AS first_at,
      COUNT(DISTINCT CASE WHEN caller <> '' THEN caller END) AS callers
      FROM compare_hours WHERE contract = $1 GROUP BY operation`,
    values,
  });
  const durations = !isWhole
    ? []
    : await store.all({
        sql: "SELECT operation, legacy_ms, new_ms FROM compare_hours WHERE contract = $1 AND caller = ''",
        values,
      });
  const byOperation = Map.groupBy(durations, ({ operation }) => operation);
  return rows.map((row) => {
    const own = byOperation.get(row.operation ?? null) ?? [];
    const number = (name: string): number => Number(row[name] ?? 0);
    return {
      operation: String(row.operation),
      equal: number('equal'),
      explained: number('explained'),
      different: number('different'),
      more: number('more'),
      unanswered: number('unanswered'),
      noisePairs: number('noise_pairs'),
      replaced: number('replaced'),
      replacedLast: number('replaced_at'),
      first: number('first_at'),
      callers: Array.from({ length: number('callers') }, (_, index) => index), // only their number is reported
      legacyMs: sumOf(own.map(({ legacy_ms: ms }) => String(ms))),
      newMs: sumOf(own.map(({ new_ms: ms }) => String(ms))),
    };
  });
}

function sumOf(all: readonly string[]): Durations {
  const sum: Durations = {};
  for (const durations of all) addDurations(sum, JSON.parse(durations));
  return sum;
}
