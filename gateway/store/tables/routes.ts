import type { Statement, StoreRow } from '../store.ts';
import { tableOf } from '../table.ts';
import type { TableData } from '../table-data.ts';

/** Route changes and the versions of replicas (G66). */
export const routeTables: readonly string[] = [
  `CREATE TABLE route_changes (
    contract TEXT NOT NULL,
    version INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    action TEXT NOT NULL,
    operation TEXT,
    to_version INTEGER,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    at BIGINT NOT NULL,
    changes TEXT NOT NULL,
    PRIMARY KEY (contract, version)
  )`,
  `CREATE TABLE replicas (
    id TEXT NOT NULL,
    contract TEXT NOT NULL,
    version INTEGER NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (id, contract)
  )`,
];

/** Rows that expire or belong to callers (G55). */
export const routeData: readonly TableData[] = [
  { table: 'replicas', key: 'id, contract', time: 'seen_at', keepMs: 60 * 60 * 1_000 },
];

/** A version of the route changes of a contract. Rows are only added. */
export interface RouteVersion {
  readonly contract: string;
  /** 1 for the first. */
  readonly version: number;
  readonly id: string;
  readonly action: 'change' | 'end' | 'rollback';
  readonly operation: string | undefined;
  /** Version that a rollback restores. */
  readonly toVersion: number | undefined;
  readonly actor: string;
  readonly reason: string;
  /** In ms since 1970. */
  readonly at: number;
  /** All changes of this version, as JSON. */
  readonly changes: string;
}

const versions = tableOf<RouteVersion>('route_changes', [
  ...(['contract', 'version', 'id', 'action', 'operation', 'toVersion', 'actor', 'reason', 'at'] as const),
  'changes',
]);

/** Returns the statement that adds a version. It fails with `constraint` if the contract has this version. */
export function insertRouteVersion(row: RouteVersion): Statement {
  return versions.insert(row);
}

/** The query for the newest version of each contract. */
export const newestRouteVersions: Statement = {
  sql: `SELECT r.contract, r.version, r.changes FROM route_changes AS r
    JOIN (SELECT contract, MAX(version) AS version FROM route_changes GROUP BY contract) AS newest
    ON r.contract = newest.contract AND r.version = newest.version`,
};

/** Returns the query for the changes of one version. */
export function selectRouteVersion(contract: string, version: number): Statement {
  return {
    sql: 'SELECT changes FROM route_changes WHERE contract = $1 AND version = $2',
    values: [contract, version],
  };
}

/** Returns the query for the last versions of a contract, newest first. */
export function selectRouteHistory(contract: string, most: number): Statement {
  return {
    sql: `SELECT ${versions.columns} FROM route_changes WHERE contract = $1 ORDER BY version DESC LIMIT $2`,
    values: [contract, most],
  };
}

/** Returns the version of a row. */
export function routeVersionOf(row: StoreRow): RouteVersion {
  return versions.read(row);
}

/** The routes that a process uses. */
export interface Replica {
  readonly id: string;
  readonly contract: string;
  readonly version: number;
  /** In ms since 1970. */
  readonly seenAt: number;
}

const replicas = tableOf<Replica>('replicas', ['id', 'contract', 'version', 'seenAt']);

/** Returns the statement that records the routes of a process. */
export function seenReplica(replica: Replica): Statement {
  const end =
    'ON CONFLICT (id, contract) DO UPDATE SET version = excluded.version, seen_at = excluded.seen_at';
  return replicas.insert(replica, end);
}

/** Returns the query for the processes of a contract. */
export function selectReplicas(contract: string): Statement {
  return {
    sql: `SELECT ${replicas.columns} FROM replicas WHERE contract = $1 ORDER BY id`,
    values: [contract],
  };
}

/** Returns the process of a row. */
export function replicaOf(row: StoreRow): Replica {
  return replicas.read(row);
}
