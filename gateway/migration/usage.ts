import type { IncomingMessage } from 'node:http';
import type { Log } from '../core/core-options.ts';
import { maxStatements, NumberedWrites } from '../store/numbered-writes.ts';
import { type Store, StoreError } from '../store/store.ts';
import {
  addUsage,
  type CallerRow,
  callersOf,
  putCaller,
  startOfDay,
  type UsageRow,
} from '../store/tables/usage.ts';
import { others } from '../telemetry/caller-counts.ts';
import { dateAt, describeError } from '../telemetry/log.ts';
import type { Observed, Observer } from '../telemetry/observer.ts';
import { logText, type RequestRecord } from '../telemetry/request-stats.ts';
import { clientStackOf, needsMessage } from './client-stack.ts';

/** Time between two writes of the counters, in ms (G61). */
export const usagePauseMs = 10_000;

/** Maximum number of rows of a contract that wait for the store. Further ones are added to the caller `other`. */
export const maxUsageRows = 20_000;

/** Time between two readings of the callers, in ms. Other processes add some. */
const readPause = 60_000;

/** Maximum number of networks whose pseudonyms are kept. */
const maxNetworks = 1_024;

/** Maximum number of characters of a User-Agent (G62). */
const longestAgent = 128;

/** Number of bytes at the start of a message that show the habits of its client. */
const startBytes = 1_024;

/** The parts that usage counters use. */
export interface UsageParts {
  /** Path of the contract as in the log. */
  readonly path: string;
  /** Maximum number of callers (`usageCallers`). */
  readonly maxCallers: number;
  /** Maximum number of waiting rows. */
  readonly maxRows?: number;
  /** Returns the network of a request. */
  readonly networkOf: (request: IncomingMessage) => string;
  /** Returns the pseudonym of a text. */
  readonly pseudonymOf: (text: string) => string;
  /** Returns the subject of the client certificate of a request; undefined for none. */
  readonly subjectOf: ((request: IncomingMessage) => string | undefined) | undefined;
  /** True if the network of callers is stored (`redact: none`). */
  readonly keepsNetworks: boolean;
}

/** Counts the calls of one contract (G61, G62). The counters wait in memory until they are written to the store. */
export class Usage {
  parts: UsageParts;
  readonly #store: Store;
  readonly #log: Log;
  readonly #writes: NumberedWrites;
  /** Rows that wait for the store. */
  readonly #rows = new Map<string, UsageRow>();
  /** Callers that wait for the store. */
  readonly #callers = new Map<string, CallerRow>();
  /** Names of callers with a row in the store. */
  #known = new Set<string>();
  /** Names of waiting callers that are not known. */
  readonly #new = new Set<string>();
  /** True if the store has the maximum number of callers. */
  #isFull = false;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Pseudonyms by network. */
  readonly #networks = new Map<string, string>();
  #writing: Promise<void> = Promise.resolve();

  constructor(store: Store, log: Log, parts: UsageParts) {
    this.#store = store;
    this.#writes = new NumberedWrites(store);
    this.#log = log;
    this.parts = parts;
  }

  /** Counts the calls that it observes. */
  readonly observer: Observer = {
    opened: ({ head, stats }, bytes) => {
      const agent = head.headers['user-agent'];
      if (needsMessage(agent))
        stats.clientStack = clientStackOf(agent, bytes.toString('latin1', 0, startBytes));
    },
    finished: (exchange) => this.#count(exchange),
  };

  #count(exchange: Observed): void {
    const { stats } = exchange;
    const { transport, operation, error, noted, route } = stats;
    // neither a call nor a forwarded request
    if (operation === undefined && (transport === 'http' || error === 'NotFound')) return;
    const at = dateAt(stats.endedAt);
    const caller = this.#admit(exchange, at);
    const row = this.#rowOf(operation ?? '?', caller, startOfDay(at), transport, sideOf(stats));
    row.calls++;
    row.lastAt = Math.max(row.lastAt, at);
    const status = stats.meant ?? stats.status;
    if (status >= 400 || error !== undefined || stats.fault !== undefined || stats.aborted) row.faults++;
    if (stats.isReordered) row.reordered++;
    if (noted !== undefined && noted.ignored.length > 0) row.ignored++;
    if (noted !== undefined && noted.quirks > 0) row.illegalReferences++;
    const isSoap11 = transport === 'soap11' || (transport === 'http' && route !== undefined);
    if (isSoap11 && exchange.head.headers.soapaction === undefined && operation !== '?') row.noAction++;
  }

  /** Returns the counted name of a caller, and keeps the data of its row (G62). */
  #admit(exchange: Observed, at: number): string {
    const { request, stats } = exchange;
    const name = stats.caller ?? this.#networkName(request);
    const waiting = this.#callers.get(name);
    if (waiting !== undefined) {
      waiting.lastAt = Math.max(waiting.lastAt, at);
      return name;
    }
    if (!this.#known.has(name) && !this.#new.has(name)) {
      if (this.#isFull || this.#known.size + this.#new.size >= this.parts.maxCallers) return others;
      this.#new.add(name);
    }
    const { keepsNetworks, networkOf, subjectOf } = this.parts;
    const agent = request.headers['user-agent'];
    this.#callers.set(name, {
      caller: name,
      network: keepsNetworks ? networkOf(request) : undefined,
      userAgent: agent === undefined ? undefined : logText(agent).slice(0, longestAgent),
      subject: subjectOf?.(request),
      stack: stats.clientStack ?? clientStackOf(agent, undefined),
      firstAt: at,
      lastAt: at,
    });
    return name;
  }

  /** Returns the pseudonym of the network of a caller that is not identified. */
  #networkName(request: IncomingMessage): string {
    const network = this.parts.networkOf(request);
    const known = this.#networks.get(network);
    if (known !== undefined) return known;
    if (this.#networks.size >= maxNetworks) this.#networks.clear();
    const name = this.parts.pseudonymOf(`net ${network}`);
    this.#networks.set(network, name);
    return name;
  }

  #rowOf(operation: string, caller: string, day: number, binding: string, side: string): UsageRow {
    const key = `${operation} ${caller} ${day} ${binding} ${side}`;
    const found = this.#rows.get(key);
    if (found !== undefined) return found;
    const { maxRows = maxUsageRows } = this.parts;
    if (this.#rows.size >= maxRows && caller !== others)
      return this.#rowOf(operation, others, day, binding, side);
    const row: UsageRow = {
      ...{ operation, caller, day, binding, side },
      ...{ calls: 0, faults: 0, reordered: 0, ignored: 0, illegalReferences: 0, noAction: 0, lastAt: 0 },
    };
    this.#rows.set(key, row);
    return row;
  }

  /** Writes the waiting counters. After a failure they wait for the next write (G54). */
  readonly write = (): Promise<void> => {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  };

  async #write(): Promise<void> {
    try {
      await this.#writes.settle();
      if (performance.now() - this.#readAt >= readPause) await this.#readCallers();
      await this.#writeCallers();
      await this.#writeRows();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // the store logs all other failures
      if (error.reason === 'constraint') this.#log.error(describeError(error), 'usage not stored');
    }
  }

  /** Reads the callers of all processes. */
  async #readCallers(): Promise<void> {
    const { path, maxCallers } = this.parts;
    this.#known = new Set(await callersOf(this.#store, path, maxCallers));
    this.#isFull = this.#known.size >= maxCallers;
    this.#readAt = performance.now();
    const isDeleted = (name: string): boolean => !this.#known.has(name) && !this.#callers.has(name);
    this.#countAsOther(isDeleted);
  }

  /** Writes the waiting callers. Those above the maximum number of the contract are counted as `other`. */
  async #writeCallers(): Promise<void> {
    const { path, maxCallers } = this.parts;
    const due = inOrder(this.#callers);
    this.#callers.clear();
    for (let from = 0; from < due.length; from += maxStatements) {
      const part = due.slice(from, from + maxStatements);
      try {
        const counts = await this.#store.write(part.map((row) => putCaller(path, row, maxCallers)));
        this.#settleCallers(part, counts);
      } catch (error) {
        for (const row of due.slice(from)) this.#keepCaller(row);
        throw error;
      }
    }
  }

  #settleCallers(part: readonly CallerRow[], counts: readonly number[]): void {
    const refused = new Set<string>();
    for (const [index, { caller }] of part.entries()) {
      this.#new.delete(caller);
      if (counts[index] !== 0) this.#known.add(caller);
      else {
        this.#known.delete(caller);
        this.#callers.delete(caller);
        refused.add(caller);
      }
    }
    if (refused.size === 0) return;
    this.#isFull = true;
    this.#countAsOther((name) => refused.has(name));
  }

  #countAsOther(isRefused: (caller: string) => boolean): void {
    for (const [key, row] of [...this.#rows])
      if (row.caller !== others && isRefused(row.caller)) {
        this.#rows.delete(key);
        this.#keepRow({ ...row, caller: others });
      }
  }

  /** Writes the waiting rows of callers that the store has. */
  async #writeRows(): Promise<void> {
    const { path } = this.parts;
    const rows = new Map(
      [...this.#rows].filter(([, { caller }]) => caller === others || this.#known.has(caller)),
    );
    for (const key of rows.keys()) this.#rows.delete(key);
    await this.#writes.write(
      inOrder(rows),
      (row) => addUsage(path, row),
      (part, isWritten) => {
        if (!isWritten) for (const row of part) this.#keepRow(row);
      },
    );
  }

  /** Adds a row that was not written to the waiting ones. */
  #keepRow(row: UsageRow): void {
    const { operation, caller, day, binding, side, ...values } = row;
    const kept = this.#rowOf(operation, caller, day, binding, side);
    kept.calls += values.calls;
    kept.faults += values.faults;
    kept.reordered += values.reordered;
    kept.ignored += values.ignored;
    kept.illegalReferences += values.illegalReferences;
    kept.noAction += values.noAction;
    kept.lastAt = Math.max(kept.lastAt, values.lastAt);
  }

  /** Adds the data of a caller that were not written to the waiting ones. */
  #keepCaller(row: CallerRow): void {
    const newer = this.#callers.get(row.caller);
    this.#callers.set(row.caller, newer === undefined ? row : { ...newer, firstAt: row.firstAt });
  }
}

/**
 * Returns values in the order of their keys. Transactions of several processes lock rows in this order, so that no two
 * wait for each other.
 */
function inOrder<Value>(values: ReadonlyMap<string, Value>): readonly Value[] {
  return [...values].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

/** Returns the side that answered a call (G61). */
function sideOf({ route, sent }: RequestRecord): string {
  if (route === undefined) return sent > 0 ? 'new' : 'none';
  if (route.partial !== undefined) return route.partial;
  return route.mode === 'blend' ? 'both' : (route.side ?? 'none');
}
