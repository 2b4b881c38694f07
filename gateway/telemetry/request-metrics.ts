import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { Load } from '../admission/admission.ts';
import type { UpstreamState } from '../upstream/upstream.ts';
import { CallerCounts, FaultCounts, others } from './caller-counts.ts';
import { type Callers, createCallers } from './callers.ts';
import { codeOf } from './log.ts';
import {
  counter,
  createHistogram,
  type Family,
  gauge,
  type Histogram,
  histogram,
  joinLabels,
  type Labelled,
  observe,
  ofProcess,
  one,
  perWorkerGauge,
  type Snapshot,
} from './metrics.ts';
import type { RequestRecord } from './request-stats.ts';

/** Current values of the process. */
export interface Gauges extends Load {
  readonly connections: number;
  /** State of each contract's upstream, by the contract's path. */
  readonly upstreamStates: ReadonlyMap<string, UpstreamState>;
  /** Maximum delay of timers in the last second, in ms. */
  readonly loopDelayMs: number;
  /** Number of log lines dropped since the start. */
  readonly droppedLines: number;
}

/** Counts the requests of one process. */
export interface Metrics {
  /**
   * Returns the function that counts the requests of a contract, by its path. Asking again for the same path continues
   * its counts.
   */
  readonly counterOf: (path: string) => (record: RequestRecord) => void;
  /**
   * Returns the names of a contract's operations that were called since the start, by the contract's path. With more
   * than `metricOperations` operations, one of the names is `other`.
   */
  readonly calledOperations: (path: string) => readonly string[];
  /** Counts an aborted reply of a contract, by its path. */
  readonly countCut: (path: string) => void;
  readonly read: (gauges: Gauges) => Snapshot;
}

/** Counts of one contract's requests. */
interface Counts {
  /** By transport. */
  readonly requests: Map<string, TransportCounts>;
  readonly operations: Map<string, OperationCounts>;
  readonly callers: CallerCounts;
  readonly faults: FaultCounts;
  readonly wsse: Map<string, number>;
  readonly unverified: Map<string, number>;
  /** Calls with a verified signature that uses SHA-1. */
  sha1: number;
  /** Calls that were decrypted with AES-CBC. */
  cbc: number;
  /** By operation. */
  readonly upstreamStatuses: Map<string, Map<number, number>>;
  readonly upstreamDurations: Histogram;
  /** Members of replies, by operation. */
  readonly droppedMembers: Map<string, number>;
  readonly missingMembers: Map<string, number>;
  /** Requests that were read twice, by operation. */
  readonly readTwice: Map<string, number>;
  /** Tolerated deviations of requests, by the labels for operation and deviation. */
  readonly deviations: Map<string, number>;
  retries: number;
  aborted: number;
  cut: number;
}

/** Counts of the requests over a transport. */
interface TransportCounts {
  readonly statuses: Map<number, number>;
  readonly durations: Histogram;
}

/** Counts of the requests to an operation. */
interface OperationCounts {
  /** By transport. */
  readonly statuses: Map<string, Map<number, number>>;
  readonly durations: Histogram;
}

/**
 * Creates the metrics of one process. Counting is cheap. Everything else is computed when the metrics are read. Label
 * values never come from callers: they are paths of contracts, operations, transports, statuses, names and pseudonyms
 * of callers.
 */
export function createMetrics(limits: Limits = defaultLimits, callers: () => Callers = ownCallers): Metrics {
  const contracts = new Map<string, Counts>();
  const countsOf = (path: string): Counts => {
    const counts = contracts.get(path) ?? createCounts(limits, callers);
    contracts.set(path, counts);
    return counts;
  };
  return {
    counterOf: (path) => {
      const counts = countsOf(path);
      return (record) => count(counts, record, limits);
    },
    calledOperations: (path) => [...(contracts.get(path)?.operations.keys() ?? [])],
    countCut: (path) => {
      countsOf(path).cut++;
    },
    read: (gauges) => [...countersOf(contracts), ...gaugesOf(gauges)],
  };
}

/** Callers of a process that identifies none. */
const nobody = createCallers();
const ownCallers = (): Callers => nobody;

/** Maximum number of callers without a name that have metrics of their own. All others are counted as `other`. */
export const maxCallers = 20;

/** Maximum number of operations that have metrics of their own. All others are counted as `other`. */
export const maxOperations = 300;

function createCounts({ topCallers = maxCallers }: Limits, callers: () => Callers): Counts {
  return {
    requests: new Map(),
    operations: new Map(),
    callers: new CallerCounts(topCallers, callers),
    faults: new FaultCounts(),
    wsse: new Map(),
    unverified: new Map(),
    sha1: 0,
    cbc: 0,
    upstreamStatuses: new Map(),
    upstreamDurations: createHistogram(),
    droppedMembers: new Map(),
    missingMembers: new Map(),
    readTwice: new Map(),
    deviations: new Map(),
    retries: 0,
    aborted: 0,
    cut: 0,
  };
}

/** Returns the value of a key. A missing one is created. */
function at<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

const newStatuses = (): Map<number, number> => new Map();
const newTransport = (): TransportCounts => ({ statuses: new Map(), durations: createHistogram() });
const newOperation = (): OperationCounts => ({ statuses: new Map(), durations: createHistogram() });

function count(counts: Counts, record: RequestRecord, { metricOperations = maxOperations }: Limits): void {
  const { transport, meant, status, sent, retries, operation, caller } = record;
  const ofTransport = at(counts.requests, transport, newTransport);
  add(ofTransport.statuses, meant ?? status);
  observe(ofTransport.durations, record.ms / 1000);
  if (operation !== undefined && metricOperations > 0)
    countOperation(counts.operations, operation, record, metricOperations);
  if (caller !== undefined) counts.callers.count(caller, meant ?? status);
  const code = codeOf(record);
  if (code !== undefined)
    counts.faults.count(code, operationLabel(counts, operation), callerLabel(counts, caller));
  if (record.wsse !== undefined) add(counts.wsse, record.wsse);
  for (const name of record.unverified) add(counts.unverified, name);
  if (record.signed?.usesSha1 === true) counts.sha1++;
  if (record.decrypted?.usesCbc === true) counts.cbc++;
  if (record.aborted) counts.aborted++;
  if (record.isReadTwice && operation !== undefined) add(counts.readTwice, operation);
  if (record.noted !== undefined && record.operation !== undefined) {
    addTo(counts.droppedMembers, record.operation, record.noted.dropped);
    addTo(counts.missingMembers, record.operation, record.noted.missing);
    for (const deviation of record.noted.deviations ?? [])
      add(counts.deviations, `operation="${record.operation}",deviation="${deviation}"`);
  }
  if (sent === 0) return;
  counts.retries += retries;
  add(at(counts.upstreamStatuses, operationLabel(counts, operation), newStatuses), record.upstreamStatus);
  observe(counts.upstreamDurations, record.upstreamMs / 1000);
}

/** Returns the operation if it has counts of its own. */
function operationLabel({ operations }: Counts, operation: string | undefined): string {
  if (operation === undefined) return '';
  return operations.has(operation) ? operation : others;
}

/** Returns the caller if it has counts of its own. */
function callerLabel({ callers }: Counts, caller: string | undefined): string {
  if (caller === undefined) return '';
  return callers.has(caller) ? caller : others;
}

/** Counts a request to an operation. At most `most` operations have their own counts. */
function countOperation(
  operations: Counts['operations'],
  operation: string,
  { transport, meant, status, ms }: RequestRecord,
  most: number,
): void {
  const name = operations.has(operation) || operations.size < most ? operation : others;
  const { statuses, durations } = at(operations, name, newOperation);
  add(at(statuses, transport, newStatuses), meant ?? status);
  observe(durations, ms / 1000);
}

/** Adds a number unless it is 0, so that the map has no entries of 0. */
function addTo(counts: Map<string, number>, key: string, value: number): void {
  if (value !== 0) counts.set(key, (counts.get(key) ?? 0) + value);
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Contracts by their labels. */
type Contracts = readonly Labelled<Counts>[];

/** Returns a metric of all contracts. */
type ReadFamily = (contracts: Contracts) => Family;

function valuesOf<Value>(
  contracts: Contracts,
  valuesIn: (of: Counts) => Iterable<Labelled<Value>>,
): readonly Labelled<Value>[] {
  return contracts.flatMap(([labels, counts]) =>
    [...valuesIn(counts)].map(([own, value]): Labelled<Value> => [joinLabels(labels, own), value]),
  );
}

function counters(name: string, help: string, valuesIn: (of: Counts) => Iterable<Labelled>): ReadFamily {
  return (contracts) => counter(name, help, valuesOf(contracts, valuesIn));
}

function histograms(
  name: string,
  help: string,
  valuesIn: (of: Counts) => Iterable<Labelled<Histogram>>,
): ReadFamily {
  return (contracts) => histogram(name, help, valuesOf(contracts, valuesIn));
}

/** Creates a counter with one value per contract. */
function total(name: string, help: string, count: (of: Counts) => number): ReadFamily {
  return counters(name, help, (of) => [['', count(of)]]);
}

/** Returns counts with their keys as labels. */
function by<Value>(label: string, counts: Iterable<readonly [string | number, Value]>): Labelled<Value>[] {
  return [...counts].map(([key, value]) => [`${label}="${key}"`, value]);
}

/** Returns the counts by status, with the keys of their maps as a further label. */
function byStatusAnd(
  label: string,
  maps: Iterable<readonly [string, ReadonlyMap<number, number>]>,
): Labelled[] {
  return [...maps].flatMap(([key, statuses]) =>
    by('status', statuses).map(([status, value]): Labelled => [`${label}="${key}",${status}`, value]),
  );
}

const families: readonly ReadFamily[] = [
  counters(
    'requests_total',
    'Requests by transport and status. The status is X-Status if the HTTP status is 200.',
    ({ requests }) => byStatusAnd('transport', statusesOf(requests)),
  ),
  histograms(
    'request_duration_seconds',
    'Time from the first byte of a request to its reply, in seconds.',
    ({ requests }) => by('transport', durationsOf(requests)),
  ),
  counters('operation_requests_total', 'Calls by operation, transport and status.', ({ operations }) =>
    by('operation', statusesOf(operations)).flatMap(([operation, byTransport]) =>
      byStatusAnd('transport', byTransport).map(([own, value]): Labelled => [`${operation},${own}`, value]),
    ),
  ),
  histograms(
    'operation_duration_seconds',
    'Time from the first byte of a request to its reply by operation, in seconds.',
    ({ operations }) => by('operation', durationsOf(operations)),
  ),
  counters(
    'caller_requests_total',
    'Calls by caller and status. Requires SOAPBRIDGE_CALLERS or SOAPBRIDGE_CALLER_KEY.',
    ({ callers }) => byStatusAnd('caller', callers.entries()),
  ),
  counters(
    'faults_total',
    'Failed requests by error code, operation and caller. Empty labels are unknown.',
    ({ faults }) => faults.entries(),
  ),
  counters(
    'upstream_replies_total',
    'Upstream calls by operation and status. Status 0 means no response.',
    ({ upstreamStatuses }) => byStatusAnd('operation', upstreamStatuses),
  ),
  histograms(
    'upstream_duration_seconds',
    'Time that calls waited for the upstream, in seconds.',
    ({ upstreamDurations }) => [['', upstreamDurations]],
  ),
  total('upstream_retries_total', 'Read calls that were retried.', ({ retries }) => retries),
  counters(
    'reply_members_dropped_total',
    'Unknown members removed from replies, by operation. Only operations with a count are listed.',
    ({ droppedMembers }) => by('operation', droppedMembers),
  ),
  counters(
    'reply_members_missing_total',
    'Required members missing in replies, by operation. Only operations with a count are listed.',
    ({ missingMembers }) => by('operation', missingMembers),
  ),
  counters(
    'requests_read_twice_total',
    'Requests that the byte reader gave up, by operation; the usual XML reader read them.',
    ({ readTwice }) => by('operation', readTwice),
  ),
  counters(
    'tolerated_deviations_total',
    'Calls accepted although the client deviates from the contract, by operation and deviation.',
    ({ deviations }) => deviations,
  ),
  counters(
    'wsse_total',
    'WS-Security headers by outcome: signed, encrypted, text password, digest password, none, or error code.',
    ({ wsse }) => by('outcome', wsse),
  ),
  counters('wsse_unverified_total', 'WS-Security elements ignored without verification.', ({ unverified }) =>
    by('name', unverified),
  ),
  total('wsse_sha1_total', 'Calls with a verified signature that uses SHA-1.', ({ sha1 }) => sha1),
  total('wsse_cbc_total', 'Calls that were decrypted with AES-CBC.', ({ cbc }) => cbc),
  total('aborted_total', 'Calls whose caller disconnected before the reply.', ({ aborted }) => aborted),
  total('cut_total', 'Replies that were sent only in part.', ({ cut }) => cut),
];

function statusesOf<Statuses>(
  counts: Iterable<readonly [string, { readonly statuses: Statuses }]>,
): readonly (readonly [string, Statuses])[] {
  return [...counts].map(([key, { statuses }]) => [key, statuses]);
}

function durationsOf(
  counts: Iterable<readonly [string, { readonly durations: Histogram }]>,
): readonly (readonly [string, Histogram])[] {
  return [...counts].map(([key, { durations }]) => [key, durations]);
}

/** Returns the label of a contract. Its path needs no escaping. */
function contractLabel(path: string): string {
  return `contract="${path}"`;
}

function countersOf(contracts: ReadonlyMap<string, Counts>): Family[] {
  const all = [...contracts].map(([path, counts]): Labelled<Counts> => [contractLabel(path), counts]);
  return families.map((read) => read(all));
}

function gaugesOf(gauges: Gauges): Family[] {
  const { upstreamStates } = gauges;
  const byContract = (numberOf: (state: UpstreamState) => number): Labelled[] =>
    [...upstreamStates].map(([path, state]) => [contractLabel(path), numberOf(state)]);
  const addressesUp = [...upstreamStates].flatMap(([path, { addresses }]) =>
    addresses.map(
      ({ address, isOpen, isHealthy }): Labelled => [
        `${contractLabel(path)},address="${address}"`,
        Number(isHealthy && !isOpen),
      ],
    ),
  );
  const { shed, droppedLines, inFlight, queued, arriving, leaving, heldBytes, connections } = gauges;
  return [
    one('shed_total', 'counter', 'Calls rejected with 503 (load shedding).', shed),
    one(
      'log_lines_dropped_total',
      'counter',
      'Log lines dropped because the output was too slow.',
      droppedLines,
    ),
    one('in_flight', 'gauge', 'Calls in progress.', inFlight),
    one('queued', 'gauge', 'Calls waiting in the queue.', queued),
    one('arriving', 'gauge', 'Request bodies being received.', arriving),
    one('leaving', 'gauge', 'Replies being sent.', leaving),
    one('held_bytes', 'gauge', 'Memory used by bodies and replies, in bytes.', heldBytes),
    one('connections', 'gauge', 'Open connections from callers.', connections),
    perWorkerGauge(
      'upstream_breaker_open',
      '1 while the circuit breaker of the upstream is open.',
      byContract(({ isOpen }) => Number(isOpen)),
    ),
    perWorkerGauge(
      'upstream_address_up',
      '1 if the address gets calls; 0 while its circuit breaker is open or its health check fails.',
      addressesUp,
    ),
    perWorkerGauge(
      'upstream_operations_open',
      'Operations whose circuit breaker is open.',
      byContract(({ openOperations }) => openOperations.length),
    ),
    ...upstreamGauges(byContract),
    ofProcess(
      'event_loop_delay_seconds',
      'Maximum event-loop delay in the last second, sampled every 0.05 s.',
      gauges.loopDelayMs / 1000,
    ),
    ofProcess(
      'resident_memory_bytes',
      'Resident memory of the process, in bytes.',
      process.memoryUsage.rss(),
    ),
  ];
}

/** Returns the metrics of connections to upstreams. */
function upstreamGauges(
  byContract: (numberOf: (state: UpstreamState) => number) => readonly Labelled[],
): readonly Family[] {
  return [
    gauge(
      'upstream_connections',
      'Calls that have an upstream connection.',
      byContract(({ active }) => active),
    ),
    gauge(
      'upstream_connections_limit',
      'Maximum number of upstream connections.',
      byContract(({ connections }) => connections),
    ),
    gauge(
      'upstream_waiting',
      'Calls waiting for an upstream connection.',
      byContract(({ waiting }) => waiting),
    ),
    counter(
      'upstream_shed_total',
      'Calls rejected because no upstream connection became free in time.',
      byContract(({ shed }) => shed),
    ),
  ];
}
