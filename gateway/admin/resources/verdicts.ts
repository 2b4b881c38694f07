import type { CheckedMigration } from '../../migration/migrations.ts';
import {
  type Report,
  type ReportedOperation,
  readReport,
  reportOn,
  reportOperations,
} from '../../migration/report.ts';
import { readExamples, readStoredEvidence } from '../../migration/stored-evidence.ts';
import type { AdminState } from '../../process/admin.ts';
import type { FindingStateInput, FindingView, VerdictView } from '../api-types.ts';
import { recordOf } from '../audit.ts';
import { migrationAt, storeOf } from '../contract-at.ts';
import { checkReason } from '../members.ts';
import { conflict, Problem } from '../problem.ts';
import type { AdminReply, ChangeRequest } from '../route.ts';

/**
 * Returns the report on a contract (G50): of the store, otherwise of the state file. Throws Problem 404, and 409 without
 * both. Rejects with StoreError.
 *
 * @param isWhole false to leave out examples and durations
 */
export async function readContractReport(state: AdminState, path: string, isWhole = true): Promise<Report> {
  const { contract, evidence } = migrationAt(state, path);
  const now = Date.now();
  if (state.store === undefined) {
    if (evidence.state !== undefined) return readReport(evidence.state, now);
    throw conflict('NoStore', 'expected the setting store, or migration.state of the contract, got none');
  }
  const { ready } = evidence;
  const reads = contract.operations.filter(({ readOnly }) => readOnly).map(({ name }) => name);
  const stored = await readStoredEvidence(state.store, path, isWhole);
  if (stored !== undefined) return reportOn({ ...stored, ready, reads }, now);
  const none = { operations: [], findings: [] };
  const operations = reportOperations(none, reads, ready, now);
  return { contract: path, saved: now, ready, expired: [], operations };
}

/** Time for which a report without examples is used again, in ms. Pages and their lists ask for it repeatedly. */
export const reportKeptMs = 5_000;

/** Reports without examples by their contract. A reload replaces the contract. */
const kept = new WeakMap<CheckedMigration, { readonly at: number; readonly report: Promise<Report> }>();

/** Returns a report without examples that is at most `reportKeptMs` old. Throws as `readContractReport`. */
function recentReport(state: AdminState, path: string): Promise<Report> {
  const migration = migrationAt(state, path);
  const found = kept.get(migration);
  if (found !== undefined && performance.now() - found.at < reportKeptMs) return found.report;
  const report = readContractReport(state, path, false);
  kept.set(migration, { at: performance.now(), report });
  report.catch(() => kept.delete(migration)); // the caller gets the error
  return report;
}

/** Returns the verdicts of a contract (G47), in the order of its operations. Throws as `readContractReport`. */
export async function readVerdicts(state: AdminState, path: string): Promise<readonly VerdictView[]> {
  const { operations } = await recentReport(state, path);
  return operations.map(({ findings: _, ...verdict }) => verdict);
}

/** Returns the verdict of an operation; undefined for a write. Throws as `readContractReport`. */
export async function verdictOf(
  state: AdminState,
  path: string,
  operation: string,
): Promise<ReportedOperation | undefined> {
  const { operations } = await readContractReport(state, path, false);
  return operations.find((one) => one.operation === operation);
}

/** Returns the findings of a contract without examples (G45). Throws as `readContractReport`. */
export async function readFindings(state: AdminState, path: string): Promise<readonly FindingView[]> {
  const { operations } = await recentReport(state, path);
  return operations.flatMap(({ operation, findings }) =>
    findings.map((finding) => ({ ...finding, id: finding.id ?? `${operation} ${finding.name}`, operation })),
  );
}

/** Returns a finding with its examples. Throws Problem 404, and as `readContractReport`. */
export async function readFinding(state: AdminState, path: string, id: string): Promise<FindingView> {
  const found = (await readFindings(state, path)).find((finding) => finding.id === id);
  if (found === undefined) throw new Problem(404, 'expected the id of a finding, got another id');
  if (state.store === undefined) return found; // a state file has the examples
  const sql = 'SELECT examples FROM findings WHERE id = $1';
  const [row] = await state.store.all({ sql, values: [id] });
  return { ...found, examples: readExamples(String(row?.examples ?? '')) };
}

/** Writes the decision about a finding. Throws Problem 404 and 409. Rejects with StoreError. */
export async function setState(
  state: AdminState,
  request: ChangeRequest<FindingStateInput>,
): Promise<AdminReply> {
  const { c: path = '', id = '' } = request.params;
  const migration = migrationAt(state, path);
  const store = storeOf(state);
  await readFinding(state, path, id);
  const { body, audit } = request;
  checkReason(body.reason);
  const entry = { ...recordOf(request, 'finding', 200), detail: body.state };
  const sql = 'UPDATE findings SET state = $1, state_at = $2, state_reason = $3 WHERE id = $4';
  await audit.writeWith(entry, { sql, values: [body.state, Date.now(), body.reason, id] }, store);
  kept.delete(migration);
  return { json: await readFinding(state, path, id) };
}
