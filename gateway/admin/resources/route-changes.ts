import { randomBytes } from 'node:crypto';
import { expectedInstant, readInstant } from '../../../mappings/contract/times.ts';
import { isNode } from '../../../mappings/loader/document/node.ts';
import { type CheckedMigration, factsOf } from '../../migration/migrations.ts';
import { type Checked, readChange } from '../../migration/read-routing.ts';
import {
  noChanges,
  type RouteChange,
  type RouteTable,
  ruleOf,
  withChanges,
} from '../../migration/route-changes.ts';
import { parseChanges } from '../../migration/route-sync.ts';
import type { Routing } from '../../migration/routing.ts';
import { operationRoute, ruleSentences } from '../../migration/sentences.ts';
import type { AdminState } from '../../process/admin.ts';
import { StoreError } from '../../store/store.ts';
import {
  insertRouteVersion,
  type RouteVersion,
  replicaOf,
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
import { checkReason, viewOf } from '../members.ts';
import { conflict, invalid, Problem } from '../problem.ts';
import type { AdminReply, ChangeRequest } from '../route.ts';
import { verdictOf } from './verdicts.ts';

/** Number of versions in the history. */
const maxHistory = 50;

/** The routes of a contract with the changes that this process uses. */
export interface PresentRoutes {
  readonly migration: CheckedMigration;
  readonly facts: Checked;
  readonly table: RouteTable;
}

/** Returns the routes of a contract. Throws Problem 404. */
export function presentRoutes(state: AdminState, path: string): PresentRoutes {
  const migration = migrationAt(state, path);
  const facts = factsOf(migration, state.callers());
  return { migration, facts, table: state.routeSync()?.tableOf(path) ?? noChanges };
}

/** Returns the rules of the file after those of the changes. */
export function routingWith(
  { migration, facts, table }: PresentRoutes,
  changes: readonly RouteChange[] = table.changes,
): Routing {
  return withChanges(migration.routing, { ...table, changes }, facts, Date.now());
}

/** Returns true if a change routes calls: it has not ended, and the contract still permits it. */
function isActive({ migration, facts }: PresentRoutes, change: RouteChange): boolean {
  return ruleOf(change, migration.routing, facts, Date.now()) !== undefined;
}

/** Returns the routes of a contract (G71). Throws Problem 404. */
export async function readRoutes(state: AdminState, path: string): Promise<RoutesView> {
  await state.routeSync()?.refresh();
  const present = presentRoutes(state, path);
  const { contract, routing } = present.migration;
  const combined = routingWith(present);
  const rules = ruleSentences(routing);
  return {
    version: present.table.version,
    readOnlyReason: readOnlyReason(state),
    file: routing.rules.map(({ name, mode, operations }, index) => ({
      name,
      mode,
      operations: operations === undefined ? null : [...operations],
      sentence: rules[index] ?? '',
    })),
    changes: viewsOf(present, present.table.changes),
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
      replicas: replicas.map(replicaOf).map(({ contract: _, ...replica }) => viewOf(replica, 'seenAt')),
      history: history.map(routeVersionOf).map((row) => {
        const { contract: _, id: _id, changes: _changes, ...version } = row;
        return viewOf(version, 'at');
      }),
    };
  } catch (error) {
    if (error instanceof StoreError) return { replicas: [], history: [] };
    throw error;
  }
}

function viewsOf(present: PresentRoutes, changes: readonly RouteChange[]): readonly RouteChangeView[] {
  const optional = { answer: undefined, until: undefined };
  return changes.map((change) => {
    return { ...viewOf({ ...optional, ...change }, 'until', 'at'), isActive: isActive(present, change) };
  });
}

/** Returns the sentence about an operation after a change, for a preview. Throws Problem 404 and 422. */
export function previewChange(
  state: AdminState,
  path: string,
  input: Pick<RouteChangeInput, 'operation' | 'mode' | 'percent' | 'answer'>,
): string {
  const present = presentRoutes(state, path);
  const change = readInput(present, { ...input, reason: '', ifVersion: 0 }, 'preview');
  return `${operationRoute(routingWith(present, [change, ...without(present, change)]), input.operation)}.`;
}

/** Checks a change against the contract. Throws Problem 422. */
function readInput({ migration, facts }: PresentRoutes, input: RouteChangeInput, actor: string): RouteChange {
  const { operation, mode, percent, answer, until, reason, force = false } = input;
  const problems: Problem['problems'][number][] = [];
  const report = (pointer: string, message: string): void => {
    problems.push({ pointer, message });
  };
  const share = isNode(percent) ? 'an object' : percent;
  const blended = new Set(migration.routing.blends.keys());
  readChange({ operation, mode, answer, percent: share }, blended, facts, report);
  const end = until === undefined ? undefined : (readInstant(until) ?? 0);
  if (end !== undefined && !(end > Date.now()))
    report('/until', `expected ${expectedInstant}, after now, got ${until}`);
  if (problems.length > 0) throw invalid(422, problems);
  return {
    ...{ id: newId(), operation, mode, percent: percent ?? 100 },
    ...(answer === undefined ? {} : { answer }),
    ...(end === undefined ? {} : { until: end }),
    ...{ actor, reason, at: Date.now(), isForced: force },
  };
}

function newId(): string {
  return randomBytes(9).toString('base64url');
}

/** Returns the changes of other operations. */
function without(
  { table }: PresentRoutes,
  { operation }: Pick<RouteChange, 'operation'>,
): readonly RouteChange[] {
  return table.changes.filter((change) => change.operation !== operation);
}

/** Returns the newest routes of a contract. Throws Problem 404. Rejects with StoreError if the store does not work. */
async function newestRoutes(state: AdminState, path: string): Promise<PresentRoutes> {
  migrationAt(state, path);
  const { store, sync } = changeableRoutes(state);
  await sync.refresh();
  if (sync.tableOf(path) === undefined || !store.isUp)
    throw new StoreError('expected a working store, got one that fails');
  return presentRoutes(state, path);
}

/** The next version of the route changes. */
interface NextVersion extends Pick<RouteVersion, 'action'>, Partial<Pick<RouteVersion, 'id'>> {
  readonly operation?: string;
  readonly toVersion?: number;
  readonly changes: readonly RouteChange[];
  /** Verdict for the audit. */
  readonly verdict?: string | undefined;
}

type Changing = Pick<
  ChangeRequest<{ readonly reason?: string }>,
  'actor' | 'network' | 'params' | 'body' | 'audit'
>;

/** Writes the next version with its row of the audit, and applies it in this process. Throws StaleVersion. */
async function writeVersion(
  state: AdminState,
  { actor, body, audit, ...request }: Changing,
  present: PresentRoutes,
  { action, operation, toVersion, changes, id, verdict }: NextVersion,
): Promise<AdminReply> {
  const { store, sync } = changeableRoutes(state);
  const status = action === 'end' ? 200 : 201;
  const name = action === 'rollback' ? 'rollback' : 'routes';
  const entry = { ...recordOf({ ...request, actor, body }, name, status), verdict };
  const version = present.table.version + 1;
  const row: RouteVersion = {
    ...{ contract: request.params.c ?? '', version, id: id ?? newId(), action, operation, toVersion },
    ...{ actor: actor.name, reason: body.reason ?? '', at: Date.now(), changes: JSON.stringify(changes) },
  };
  try {
    await audit.writeWith(entry, insertRouteVersion(row), store);
  } catch (error) {
    if (error instanceof StoreError && error.reason === 'constraint') throw stale(undefined);
    throw error;
  }
  await sync.refresh();
  const json: RouteChanged = { id: id ?? null, version, changes: viewsOf(present, changes) };
  return { status, json };
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
  const present = await newestRoutes(state, path);
  const { contract } = present.facts;
  const wanted = readInput(present, body, actor.name);
  checkReason(body.reason);
  const { version } = present.table;
  if (version !== body.ifVersion) throw stale(version);
  const { operation, mode, percent } = wanted;
  const isRead = contract.operations.some(({ name, readOnly }) => name === operation && readOnly);
  const before = present.table.changes.find((one) => one.operation === operation && isActive(present, one));
  const isMore = before?.mode !== 'new' || before.percent < percent;
  const verdict = isRead && mode === 'new' ? await verdictOf(state, path, operation) : undefined;
  if (verdict !== undefined && verdict.verdict !== 'ready' && isMore && !wanted.isForced) {
    const missing = verdict.missing.length === 0 ? '' : `, missing: ${verdict.missing.join(', ')}`;
    throw conflict(
      'NotReady',
      `${operation}: expected the verdict ready or force, got ${verdict.verdict}${missing}`,
    );
  }
  return writeVersion(state, request, present, {
    ...{ id: wanted.id, action: 'change', operation, verdict: verdict?.verdict },
    changes: [wanted, ...without(present, wanted)],
  });
}

/** Ends a route change. Throws Problem 404 and 409. Rejects with StoreError. */
export async function end(state: AdminState, request: ChangeRequest<undefined>): Promise<AdminReply> {
  const { c: path = '', id } = request.params;
  const present = await newestRoutes(state, path);
  const ended = present.table.changes.find((one) => one.id === id);
  if (ended === undefined) throw new Problem(404, 'expected the id of a route change, got another id');
  const { operation } = ended;
  const changing = { ...request, body: { operation, reason: 'ended' } };
  const changes = without(present, ended);
  return writeVersion(state, changing, present, { action: 'end', operation, changes });
}

/** Restores the changes of an earlier version. Throws Problem 404, 409 and 422. Rejects with StoreError. */
export async function rollBack(
  state: AdminState,
  request: ChangeRequest<RollbackInput>,
): Promise<AdminReply> {
  const path = request.params.c ?? '';
  const present = await newestRoutes(state, path);
  const { store } = changeableRoutes(state);
  const { toVersion } = request.body;
  const [row] = toVersion === 0 ? [{ changes: '[]' }] : await store.all(selectRouteVersion(path, toVersion));
  if (row === undefined) {
    const message = `expected a version from 0 to ${present.table.version}, got ${toVersion}`;
    throw invalid(422, [{ pointer: '/toVersion', message }]);
  }
  checkReason(request.body.reason);
  const changes = parseChanges(String(row.changes));
  return writeVersion(state, request, present, { action: 'rollback', toVersion, changes });
}
