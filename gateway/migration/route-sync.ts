import { hostname } from 'node:os';
import type { Log } from '../core/core-options.ts';
import { Repeated } from '../store/repeated.ts';
import type { Store } from '../store/store.ts';
import { newestRouteVersions, seenReplica } from '../store/tables/routes.ts';
import { describeError } from '../telemetry/log.ts';
import { type Labelled, perWorkerGauge, type Snapshot } from '../telemetry/metrics.ts';
import { noChanges, type RouteChange, type RouteTable } from './route-changes.ts';

/** Time between two reads of the table, in ms (G66). */
const usualPause = 1_000;

/** Time between two rows about an unchanged version, in ms. */
const seenPause = 10_000;

/** The route changes of a process. It reads the table every second, and keeps the last one if the store fails (G54). */
export class RouteSync {
  readonly #store: Store;
  readonly #log: Log;
  readonly #paths: () => readonly string[];
  readonly #reading: Repeated;
  /** By the path of the contract; undefined until the store has answered. */
  #tables: ReadonlyMap<string, RouteTable> | undefined;
  #seen = '';
  #seenAt = Number.NEGATIVE_INFINITY;

  /** @param paths returns the paths of the contracts with a legacy service */
  constructor(store: Store, log: Log, paths: () => readonly string[], pauseMs = usualPause) {
    this.#store = store;
    this.#log = log;
    this.#paths = paths;
    const onError = (error: unknown): void => log.error(describeError(error), 'route changes not loaded');
    this.#reading = new Repeated(() => this.#poll(), pauseMs, onError);
  }

  /** Returns the changes of a contract; undefined if the store has not answered since the start. */
  tableOf(path: string): RouteTable | undefined {
    return this.#tables === undefined ? undefined : (this.#tables.get(path) ?? noChanges);
  }

  /** Reads the table now. A failure leaves the last one. */
  poll(): Promise<void> {
    return this.#reading.now();
  }

  /** Reads the table after the calls that the store has got so far. */
  refresh(): Promise<void> {
    return this.#reading.again();
  }

  /** Returns the metric of the versions in use (G74). */
  read(): Snapshot {
    const versions = this.#paths().map(
      (path): Labelled => [`contract="${path}"`, this.tableOf(path)?.version ?? 0],
    );
    return [perWorkerGauge('routes_version', 'Version of the route changes in use.', versions)];
  }

  close(): Promise<void> {
    return this.#reading.close();
  }

  async #poll(): Promise<void> {
    const rows = await this.#store.all(newestRouteVersions);
    this.#tables = new Map(
      rows.map(({ contract, version, changes }): [string, RouteTable] => {
        const known = this.#tables?.get(String(contract));
        if (known !== undefined && known.version === version) return [String(contract), known];
        this.#log.info({ contract, version }, 'route changes loaded');
        return [String(contract), { version: Number(version), changes: parseChanges(String(changes)) }];
      }),
    );
    await this.#report();
  }

  /** Writes the versions in use, after a change and every ten seconds. */
  async #report(): Promise<void> {
    const versions = this.#paths().map((path) => [path, this.tableOf(path)?.version ?? 0] as const);
    const seen = JSON.stringify(versions);
    if (seen === this.#seen && performance.now() - this.#seenAt < seenPause) return;
    const id = `${hostname()}-${process.pid}`;
    const seenAt = Date.now();
    await this.#store.write(
      versions.map(([contract, version]) => seenReplica({ id, contract, version, seenAt })),
    );
    this.#seen = seen;
    this.#seenAt = performance.now();
  }
}

/** Reads the changes of a version, as `JSON.stringify` wrote them. */
export function parseChanges(text: string): readonly RouteChange[] {
  return JSON.parse(text) as readonly RouteChange[];
}
