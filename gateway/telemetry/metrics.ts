import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import type { Load } from '../admission/admission.ts';
import type { UpstreamState } from '../upstream/upstream.ts';
import { CallerCounts, others } from './caller-counts.ts';
import { type Callers, createCallers } from './callers.ts';
import { FaultCounts } from './fault-counts.ts';
import { codeOf } from './log.ts';
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

/** All metrics of one process, as data that can be sent to another process. */
export type Snapshot = readonly Family[];

/** A metric with all its samples. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Adds up the samples of several processes, or lists them with a label for each process. */
  readonly together: 'sum' | 'apart';
  readonly samples: readonly Sample[];
}

/** One line of a metric. */
export interface Sample {
  /** Name of the family, for a histogram with its suffix. */
  readonly name: string;
  /** For example `contract="/v2",status="200"`; `''` for none. */
  readonly labels: string;
  readonly value: number;
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

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Number of values per bucket, and their sum. */
export interface Histogram {
  readonly counts: Float64Array;
  sum: number;
}

/** Counts of one contract's requests. */
interface Counts {
  readonly requests: Map<string, { readonly statuses: Map<number, number>; readonly durations: Histogram }>;
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

function count(counts: Counts, record: RequestRecord, { metricOperations = maxOperations }: Limits): void {
  const { transport, meant, status, sent, retries, operation, caller } = record;
  let ofTransport = counts.requests.get(transport);
  if (ofTransport === undefined) {
    ofTransport = { statuses: new Map(), durations: createHistogram() };
    counts.requests.set(transport, ofTransport);
  }
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
  const label = operationLabel(counts, operation);
  let statuses = counts.upstreamStatuses.get(label);
  if (statuses === undefined) {
    statuses = new Map();
    counts.upstreamStatuses.set(label, statuses);
  }
  add(statuses, record.upstreamStatus);
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
  let counts = operations.get(operation);
  if (counts === undefined) {
    const name = operations.size < most ? operation : others;
    counts = operations.get(name) ?? { statuses: new Map(), durations: createHistogram() };
    operations.set(name, counts);
  }
  let statuses = counts.statuses.get(transport);
  if (statuses === undefined) {
    statuses = new Map();
    counts.statuses.set(transport, statuses);
  }
  add(statuses, meant ?? status);
  observe(counts.durations, ms / 1000);
}

/** The counts of a contract, and the label of its path. */
interface LabelledCounts extends Counts {
  readonly labels: string;
}

/** A family of metrics, and its samples of one contract. */
interface FamilyOfContracts {
  readonly name: string;
  readonly type: Family['type'];
  readonly help: string;
  readonly samples: (of: LabelledCounts, name: string) => Sample[];
}

function each(
  name: string,
  type: Family['type'],
  help: string,
  samples: FamilyOfContracts['samples'],
): FamilyOfContracts {
  return { name, type, help, samples };
}

function by(label: string, name: string, help: string, counts: (of: Counts) => NumbersBy): FamilyOfContracts {
  return each(name, 'counter', help, (of) => samplesBy(label, name, of.labels, counts(of)));
}

function total(name: string, help: string, count: (of: Counts) => number): FamilyOfContracts {
  return each(name, 'counter', help, (of) => [sample(name, of.labels, count(of))]);
}

const families: readonly FamilyOfContracts[] = [
  each(
    'requests_total',
    'counter',
    'Requests by transport and status. The status is X-Status if the HTTP status is 200.',
    ({ labels, requests }, name) =>
      [...requests].flatMap(([transport, { statuses }]) =>
        samplesBy('status', name, `${labels},transport="${transport}"`, statuses),
      ),
  ),
  each(
    'request_duration_seconds',
    'histogram',
    'Time from the first byte of a request to its reply, in seconds.',
    ({ labels, requests }, name) =>
      [...requests].flatMap(([transport, { durations }]) =>
        samplesOf(name, `${labels},transport="${transport}"`, durations),
      ),
  ),
  each(
    'operation_requests_total',
    'counter',
    'Calls by operation, transport and status.',
    ({ labels, operations }, name) =>
      [...operations].flatMap(([operation, { statuses }]) =>
        [...statuses].flatMap(([transport, ofTransport]) =>
          samplesBy(
            'status',
            name,
            `${labels},operation="${operation}",transport="${transport}"`,
            ofTransport,
          ),
        ),
      ),
  ),
  each(
    'operation_duration_seconds',
    'histogram',
    'Time from the first byte of a request to its reply by operation, in seconds.',
    ({ labels, operations }, name) =>
      [...operations].flatMap(([operation, { durations }]) =>
        samplesOf(name, `${labels},operation="${operation}"`, durations),
      ),
  ),
  each(
    'caller_requests_total',
    'counter',
    'Calls by caller and status. Requires SOAPBRIDGE_CALLERS or SOAPBRIDGE_CALLER_KEY.',
    ({ labels, callers }, name) =>
      [...callers.entries()].flatMap(([caller, statuses]) =>
        samplesBy('status', name, `${labels},caller="${caller}"`, statuses),
      ),
  ),
  each(
    'faults_total',
    'counter',
    'Failed requests by error code, operation and caller. Empty labels are unknown.',
    ({ labels, faults }, name) =>
      [...faults.entries()].map(([own, value]) => sample(name, `${labels},${own}`, value)),
  ),
  each(
    'upstream_replies_total',
    'counter',
    'Upstream calls by operation and status. Status 0 means no response.',
    ({ labels, upstreamStatuses }, name) =>
      [...upstreamStatuses].flatMap(([operation, statuses]) =>
        samplesBy('status', name, `${labels},operation="${operation}"`, statuses),
      ),
  ),
  each(
    'upstream_duration_seconds',
    'histogram',
    'Time that calls waited for the upstream, in seconds.',
    ({ labels, upstreamDurations }, name) => samplesOf(name, labels, upstreamDurations),
  ),
  total('upstream_retries_total', 'Read calls that were retried.', ({ retries }) => retries),
  by(
    'operation',
    'reply_members_dropped_total',
    'Unknown members removed from replies, by operation. Only operations with a count are listed.',
    ({ droppedMembers }) => droppedMembers,
  ),
  by(
    'operation',
    'reply_members_missing_total',
    'Required members missing in replies, by operation. Only operations with a count are listed.',
    ({ missingMembers }) => missingMembers,
  ),
  by(
    'operation',
    'requests_read_twice_total',
    'Requests that the byte reader gave up, by operation; the usual XML reader read them.',
    ({ readTwice }) => readTwice,
  ),
  each(
    'tolerated_deviations_total',
    'counter',
    'Calls accepted although the client deviates from the contract, by operation and deviation.',
    ({ labels, deviations }, name) =>
      [...deviations].map(([own, value]) => sample(name, `${labels},${own}`, value)),
  ),
  by(
    'outcome',
    'wsse_total',
    'WS-Security headers by outcome: signed, encrypted, text password, digest password, none, or error code.',
    ({ wsse }) => wsse,
  ),
  by(
    'name',
    'wsse_unverified_total',
    'WS-Security elements ignored without verification.',
    ({ unverified }) => unverified,
  ),
  total('wsse_sha1_total', 'Calls with a verified signature that uses SHA-1.', ({ sha1 }) => sha1),
  total('wsse_cbc_total', 'Calls that were decrypted with AES-CBC.', ({ cbc }) => cbc),
  total('aborted_total', 'Calls whose caller disconnected before the reply.', ({ aborted }) => aborted),
  total('cut_total', 'Replies that were sent only in part.', ({ cut }) => cut),
];

function countersOf(contracts: ReadonlyMap<string, Counts>): Family[] {
  const all = [...contracts].map(([path, counts]) => ({ labels: contractLabel(path), ...counts }));
  return families.map(({ name, type, help, samples }) =>
    family(
      name,
      type,
      help,
      all.flatMap((of) => samples(of, name)),
    ),
  );
}

function gaugesOf(gauges: Gauges): Family[] {
  const samplesOfStates = (name: string, numberOf: (state: UpstreamState) => number): Sample[] =>
    [...gauges.upstreamStates].map(([path, state]) => sample(name, contractLabel(path), numberOf(state)));
  return [
    one('shed_total', 'counter', 'Calls rejected with 503 (load shedding).', gauges.shed),
    one(
      'log_lines_dropped_total',
      'counter',
      'Log lines dropped because the output was too slow.',
      gauges.droppedLines,
    ),
    one('in_flight', 'gauge', 'Calls in progress.', gauges.inFlight),
    one('queued', 'gauge', 'Calls waiting in the queue.', gauges.queued),
    one('arriving', 'gauge', 'Request bodies being received.', gauges.arriving),
    one('leaving', 'gauge', 'Replies being sent.', gauges.leaving),
    one('held_bytes', 'gauge', 'Memory used by bodies and replies, in bytes.', gauges.heldBytes),
    one('connections', 'gauge', 'Open connections from callers.', gauges.connections),
    perWorkerGauge(
      'upstream_breaker_open',
      '1 while the circuit breaker of the upstream is open.',
      samplesOfStates('upstream_breaker_open', ({ isOpen }) => Number(isOpen)),
    ),
    perWorkerGauge(
      'upstream_address_up',
      '1 if the address gets calls; 0 while its circuit breaker is open or its health check fails.',
      [...gauges.upstreamStates].flatMap(([path, { addresses }]) =>
        addresses.map(({ address, isOpen, isHealthy }) =>
          sample(
            'upstream_address_up',
            `${contractLabel(path)},address="${address}"`,
            Number(isHealthy && !isOpen),
          ),
        ),
      ),
    ),
    perWorkerGauge(
      'upstream_operations_open',
      'Operations whose circuit breaker is open.',
      samplesOfStates('upstream_operations_open', ({ openOperations }) => openOperations.length),
    ),
    family(
      'upstream_connections',
      'gauge',
      'Calls that have an upstream connection.',
      samplesOfStates('upstream_connections', ({ active }) => active),
    ),
    family(
      'upstream_connections_limit',
      'gauge',
      'Maximum number of upstream connections.',
      samplesOfStates('upstream_connections_limit', ({ connections }) => connections),
    ),
    family(
      'upstream_waiting',
      'gauge',
      'Calls waiting for an upstream connection.',
      samplesOfStates('upstream_waiting', ({ waiting }) => waiting),
    ),
    family(
      'upstream_shed_total',
      'counter',
      'Calls rejected because no upstream connection became free in time.',
      samplesOfStates('upstream_shed_total', ({ shed }) => shed),
    ),
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

/** Counts by the value of a label. */
type NumbersBy = ReadonlyMap<string | number, number>;

function samplesBy(label: string, name: string, labels: string, counts: NumbersBy): Sample[] {
  return [...counts].map(([key, value]) => sample(name, `${labels},${label}="${key}"`, value));
}

/** Creates a counter with one value per set of labels. */
export function counter(name: string, help: string, counts: Iterable<readonly [string, number]>): Family {
  const samples = [...counts].map(([labels, value]) => sample(name, labels, value));
  return family(name, 'counter', help, samples);
}

/** Creates a metric with one sample. */
export function one(name: string, type: 'counter' | 'gauge', help: string, value: number): Family {
  return family(name, type, help, [sample(name, '', value)]);
}

function family(name: string, type: Family['type'], help: string, samples: readonly Sample[]): Family {
  return { name, type, help, together: 'sum', samples };
}

/** Creates a gauge. With several workers, each value has the worker's name as a label. */
export function perWorkerGauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'gauge', help, together: 'apart', samples };
}

/** Creates a gauge with one sample for each worker. */
export function ofProcess(name: string, help: string, value: number, labels = ''): Family {
  return perWorkerGauge(name, help, [sample(name, labels, value)]);
}

function sample(name: string, labels: string, value: number): Sample {
  return { name, labels, value };
}

/** Returns the label of a contract. Its path needs no escaping. */
function contractLabel(path: string): string {
  return `contract="${path}"`;
}

/**
 * Combines the snapshots of several processes. Counts and amounts are added up. Other values get a label with the
 * worker's name.
 */
export function addSnapshots(
  snapshots: readonly (readonly [worker: string, snapshot: Snapshot])[],
): Snapshot {
  const families = new Map<string, Family & { readonly samples: Sample[] }>();
  const places = new Map<string, number>();
  for (const [worker, snapshot] of snapshots) {
    for (const part of snapshot) {
      const whole = families.get(part.name) ?? { ...part, samples: [] };
      families.set(part.name, whole);
      for (const { name, labels: own, value } of part.samples) {
        const labels = part.together === 'sum' ? own : `${own}${own === '' ? '' : ','}worker="${worker}"`;
        const key = `${name}{${labels}}`;
        const place = places.get(key);
        if (place === undefined) places.set(key, whole.samples.push({ name, labels, value }) - 1);
        else whole.samples[place] = { name, labels, value: value + (whole.samples[place]?.value ?? 0) };
      }
    }
  }
  return [...families.values()];
}

/** Formats a snapshot in Prometheus' text format. */
export function writeSnapshot(snapshot: Snapshot): string {
  return snapshot
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        ({ name: of, labels, value }) => `soapbridge_${of}${labels === '' ? '' : `{${labels}}`} ${value}\n`,
      );
      return `# HELP soapbridge_${name} ${help}\n# TYPE soapbridge_${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

/** Adds a number unless it is 0, so that the map has no entries of 0. */
function addTo(counts: Map<string, number>, key: string, value: number): void {
  if (value !== 0) counts.set(key, (counts.get(key) ?? 0) + value);
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Creates a histogram of seconds. */
export function createHistogram(): Histogram {
  return { counts: new Float64Array(bounds.length + 1), sum: 0 };
}

/** Adds a value to a histogram. */
export function observe(histogram: Histogram, seconds: number): void {
  let index = 0;
  while (index < bounds.length && seconds > (bounds[index] ?? 0)) index++;
  histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
  histogram.sum += seconds;
}

/** Returns a histogram's samples. Buckets of the format are cumulative. */
export function samplesOf(name: string, labels: string, { counts, sum }: Histogram): Sample[] {
  let below = 0;
  const buckets = [...bounds, '+Inf'].map((bound, index) => {
    below += counts[index] ?? 0;
    return sample(`${name}_bucket`, `${labels},le="${bound}"`, below);
  });
  return [...buckets, sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, below)];
}
