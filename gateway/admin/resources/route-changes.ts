import { randomBytes } from 'node:crypto';
import { expectedInstant, readInstant } from '../../../mappings/contract/times.ts';
import { isNode } from '../../../mappings/loader/document/node.ts';
import { factsOf } from '../../migration/migrations.ts';
import { readChange } from '../../migration/read-routing.ts';
import {
  noChanges,
  type RouteChange,
  type RouteTable,
  ruleOf,
  withChanges,
} from '../../migration/route-changes.ts';
import { parseChanges } from '../../migration/route-sync.ts';
import { operationRoute, ruleSentences } from '../../migration/sentences.ts';
import type { AdminState } from '../../process/admin.ts';
import { StoreError } from '../../store/store.ts';
import {
  insertRouteVersion,
  type RouteVersion,
  routeVersionOf,
  selectReplicas,
  selectRouteHistory,
  selectRouteVersion,
} from '../../store/tables/routes.ts';
import type {
  RollbackInput,
  RouteChanged,
  RouteChangeInput,
  RouteChangeView,
  RoutesView,
} from '../api-types.ts';
import { recordOf } from '../audit.ts';
import { changeableRoutes, migrationAt } from '../contract-at.ts';
import { checkReason, timeOf } from '../members.ts';
import { conflict, invalid, Problem } from '../problem.ts';
import type { AdminReply, ChangeRequest } from '../route.ts';
import { verdictOf } from './verdicts.ts';

/** Number of versions in the history. */
const maxHistory = 50;

/** Returns the routes of a contract (G71). Throws Problem 404. */
export async function readRoutes(state: AdminState, path: string): Promise<RoutesView> {
  const migration = migrationAt(state, path);
  const { contract, routing } = migration;
  const sync = state.routeSync?.();
  await sync?.refresh();
  const table = sync?.tableOf(path) ?? noChanges;
  const facts = factsOf(migration, state.callers());
  const combined = withChanges(routing, table, facts, Date.now());
  const rules = ruleSentences(routing);
  return {
    version: table.version,
    readOnlyReason: readOnlyReason(state),
    file: routing.rules.map(({ name, mode, operations }, index) => ({
      name,
      mode,
      operations: operations === undefined ? null : [...operations],
      sentence: rules[index] ?? '',
    })),
    changes: viewsOf(state, path, table),
    sentences: contract.operations.map(({ name, readOnly }) => ({
      operation: name,
      isRead: readOnly,
      sentence: `${operationRoute(combined, name)}.`,
    })),
    ...(await readVersions(state, path)),
  };
}

function readOnlyReason({ store }: AdminState): string | null {
  if (store === undefined) return 'soapbridge.yaml has no store';
  return store.isUp ? null : 'the store does not work';
}

/** Returns processes and history; nothing while the store does not work. */
async function readVersions(
  { store }: AdminState,
  path: string,
): Promise<Pick<RoutesView, 'replicas' | 'history'>> {
  try {
    const replicas = (await store?.all(selectReplicas(path))) ?? [];
    const history = (await store?.all(selectRouteHistory(path, maxHistory))) ?? [];
    return {
      replicas: replicas.map(({ id, version, seen_at: seenAt }) => ({
        id: String(id),
        version: Number(version),
        seenAt: timeOf(Number(seenAt)),
      })),
      history: history.map(routeVersionOf).map(({ version, at, actor, reason, action, ...of }) => ({
        ...{ version, at: timeOf(at), actor, reason, action },
        operation: of.operation ?? null,
        toVersion: of.toVersion ?? null,
      })),
    };
  } catch (error) {
    if (error instanceof StoreError) return { replicas: [], history: [] };
    throw error;
  }
}

function viewsOf(state: AdminState, path: string, { changes }: RouteTable): readonly RouteChangeView[] {
  const migration = migrationAt(state, path);
  const facts = factsOf(migration, state.callers());
  return changes.map((change) => ({
    ...change,
    answer: change.answer ?? null,
    until: change.until === undefined ? null : timeOf(change.until),
    at: timeOf(change.at),
    isActive: ruleOf(change, migration.routing, facts, Date.now()) !== undefined,
  }));
}

/** Returns the sentences about an operation before and after a change, for a preview. Throws Problem 404 and 422. */
export function previewChange(
  state: AdminState,
  path: string,
  input: Pick<RouteChangeInput, 'operation' | 'mode' | 'percent' | 'answer'>,
): { readonly before: string; readonly after: string } {
  const { routing, ...migration } = migrationAt(state, path);
  const facts = factsOf(migration, state.callers());
  const table = state.routeSync?.()?.tableOf(path) ?? noChanges;
  const change = readInput(state, path, { ...input, reason: '', ifVersion: 0 }, 'preview');
  const sentence = (changes: readonly RouteChange[]): string =>
    `${operationRoute(withChanges(routing, { version: 0, changes }, facts, Date.now()), input.operation)}.`;
  return { before: sentence(table.changes), after: sentence([change, ...without(table, change)]) };
}

/** Checks a change against the contract. Throws Problem 422. */
function readInput(state: AdminState, path: string, input: RouteChangeInput, actor: string): RouteChange {
  const migration = migrationAt(state, path);
  const { operation, mode, percent, answer, until, reason, force = false } = input;
  const problems: Problem['problems'][number][] = [];
  const report = (pointer: string, message: string): void => {
    problems.push({ pointer, message });
  };
  const share = isNode(percent) ? 'an object' : percent;
  const facts = factsOf(migration, state.callers());
  const blended = new Set(migration.routing.blends.keys());
  readChange({ operation, mode, answer, percent: share }, blended, facts, report);
  const end = until === undefined ? undefined : (readInstant(until) ?? 0);
  if (end !== undefined && !(end > Date.now()))
    report('/until', `expected ${expectedInstant}, after now, got ${until}`);
  if (problems.length > 0) throw invalid(422, problems);
  return {
    ...{ id: randomBytes(9).toString('base64url'), operation, mode, percent: percent ?? 100 },
    ...(answer === undefined ? {} : { answer }),
    ...(end === undefined ? {} : { until: end }),
    ...{ actor, reason, at: Date.now(), isForced: force },
  };
}

function without(
  { changes }: RouteTable,
  { operation }: Pick<RouteChange, 'operation'>,
): readonly RouteChange[] {
  return changes.filter((change) => change.operation !== operation);
}

type Changing = Pick<
  ChangeRequest<{ readonly reason?: string }>,
  'actor' | 'network' | 'params' | 'body' | 'audit'
>;

/** Returns the present table of a path. Rejects with StoreError if the store does not work. */
async function presentTable(state: AdminState, path: string): Promise<RouteTable> {
  const { store, sync } = changeableRoutes(state);
  await sync.refresh();
  const table = sync.tableOf(path);
  if (table === undefined || !store.isUp)
    throw new StoreError('expected a working store, got one that fails');
  return table;
}

/** Writes the next version with its row of the audit, and applies it in this process. Throws StaleVersion. */
async function writeVersion(
  state: AdminState,
  request: Changing,
  version: Pick<RouteVersion, 'version' | 'action' | 'operation' | 'toVersion'> &
    Partial<Pick<RouteVersion, 'id'>>,
  changes: readonly RouteChange[],
  audited: { readonly name: string; readonly status: number; readonly verdict?: string | undefined },
): Promise<RouteChanged> {
  const { store, sync } = changeableRoutes(state);
  const path = request.params.c ?? '';
  const { id = randomBytes(9).toString('base64url') } = version;
  const { verdict } = audited;
  const entry = { ...recordOf(request, audited.name, audited.status), verdict };
  const { actor, body } = request;
  const reason = body.reason ?? '';
  const row = { ...version, id, contract: path, actor: actor.name, reason, at: Date.now() };
  const [added] = await store.write([
    insertRouteVersion({ ...row, changes: JSON.stringify(changes) }),
    request.audit.statementOf(entry, id),
  ]);
  if (added === 0) throw stale(undefined);
  request.audit.log(entry);
  await sync.refresh();
  const table = { version: version.version, changes };
  return { id: version.id ?? null, version: version.version, changes: viewsOf(state, path, table) };
}

function stale(present: number | undefined): Problem {
  const got =
    present === undefined ? 'a version that another change replaced' : `another one; it is ${present}`;
  return conflict('StaleVersion', `ifVersion: expected the present version of the routes, got ${got}`);
}

/** Adds a route change (G66, G67). Throws Problem 404, 409 and 422. Rejects with StoreError. */
export async function change(
  state: AdminState,
  request: ChangeRequest<RouteChangeInput>,
): Promise<AdminReply> {
  const path = request.params.c ?? '';
  const { body, actor } = request;
  const migration = migrationAt(state, path);
  const table = await presentTable(state, path);
  const wanted = readInput(state, path, body, actor.name);
  checkReason(body.reason);
  if (table.version !== body.ifVersion) throw stale(table.version);
  const { operation, mode, percent } = wanted;
  const facts = factsOf(migration, state.callers());
  const isRead = facts.contract.operations.some(({ name, readOnly }) => name === operation && readOnly);
  // a change that has ended routes no call
  const before = table.changes.find(
    (one) => one.operation === operation && ruleOf(one, migration.routing, facts, Date.now()) !== undefined,
  );
  const isMore = before?.mode !== 'new' || before.percent < percent;
  const verdict = isRead && mode === 'new' ? await verdictOf(state, path, operation) : undefined;
  if (verdict !== undefined && verdict.verdict !== 'ready' && isMore && !wanted.isForced) {
    const missing = verdict.missing.length === 0 ? '' : `, missing: ${verdict.missing.join(', ')}`;
    throw conflict(
      'NotReady',
      `${operation}: expected the verdict ready or force, got ${verdict.verdict}${missing}`,
    );
  }
  const next = {
    id: wanted.id,
    version: table.version + 1,
    action: 'change',
    operation,
    toVersion: undefined,
  } as const;
  const changes = [wanted, ...without(table, wanted)];
  const audited = { name: 'routes', status: 201, verdict: verdict?.verdict };
  return { status: 201, json: await writeVersion(state, request, next, changes, audited) };
}

/** Ends a route change. Throws Problem 404 and 409. Rejects with StoreError. */
export async function end(state: AdminState, request: ChangeRequest<undefined>): Promise<AdminReply> {
  const { c: path = '', id } = request.params;
  migrationAt(state, path);
  const table = await presentTable(state, path);
  const ended = table.changes.find((one) => one.id === id);
  if (ended === undefined) throw new Problem(404, 'expected the id of a route change, got another id');
  const { operation } = ended;
  const next = { version: table.version + 1, action: 'end', operation, toVersion: undefined } as const;
  const changing = { ...request, body: { operation, reason: 'ended' } };
  const audited = { name: 'routes', status: 200 };
  return { json: await writeVersion(state, changing, next, without(table, ended), audited) };
}

/** Restores the changes of an earlier version. Throws Problem 404, 409 and 422. Rejects with StoreError. */
export async function rollBack(
  state: AdminState,
  request: ChangeRequest<RollbackInput>,
): Promise<AdminReply> {
  const path = request.params.c ?? '';
  migrationAt(state, path);
  const { store } = changeableRoutes(state);
  const table = await presentTable(state, path);
  const { toVersion } = request.body;
  const [row] = toVersion === 0 ? [{ changes: '[]' }] : await store.all(selectRouteVersion(path, toVersion));
  if (row === undefined) {
    const message = `expected a version from 0 to ${table.version}, got ${toVersion}`;
    throw invalid(422, [{ pointer: '/toVersion', message }]);
  }
  checkReason(request.body.reason);
  const next = { version: table.version + 1, action: 'rollback', operation: undefined, toVersion } as const;
  const changes = parseChanges(String(row.changes));
  const audited = { name: 'rollback', status: 201 };
  return { status: 201, json: await writeVersion(state, request, next, changes, audited) };
}
