import { hash } from 'node:crypto';
import type { Comparison, Difference } from '../../mappings/compare/comparison.ts';
import {
  type FindingKind,
  findingName,
  findingPath,
  isNote,
  pathWithoutValues,
} from '../../mappings/compare/findings.ts';
import { counter, type Snapshot } from '../telemetry/metrics.ts';

/** Maximum number of distinct callers that an operation and a finding count. More callers are ignored. */
export const maxCallers = { operation: 1_000, finding: 32 } as const;

/** Maximum number of examples of a finding (G45). */
const maxExamples = 5;

/** Maximum length of a value in an example, in characters (G45). */
const maxValue = 256;

/** A difference as it is stored (G45). */
export interface Example {
  /** Path with positions, without keys. */
  readonly path: string;
  /** Class of the difference, or code of the note. */
  readonly class?: string;
  readonly legacy?: string;
  readonly new?: string;
  readonly requestId: string;
  /** Name or pseudonym. */
  readonly caller?: string;
  /** In ms since 1970. */
  readonly at: number;
}

/** Differences or notes with an equal key are one finding (G45). */
interface FindingKey {
  readonly operation: string;
  /** Path without positions. */
  readonly path: string;
  readonly kind: FindingKind;
  /** Reason of the rule that explains the differences (G44). */
  readonly reason?: string | undefined;
}

/** Decision of an operator about a finding (G71). */
export interface FindingDecision {
  /** `accepted` counts as explained. `fixed` closes the finding until its next occurrence. */
  readonly state: 'accepted' | 'fixed';
  /** In ms since 1970. */
  readonly at: number;
  readonly reason: string;
}

/** A finding. Numbers of calls are numbers of comparisons. */
export interface Finding extends FindingKey {
  /** Identifier in the store. */
  readonly id?: string;
  readonly decision?: FindingDecision;
  /** Differences or notes. */
  count: number;
  calls: number;
  /** Comparisons of two legacy replies that contain the finding (G46). */
  noise: number;
  /** First and last time, in ms since 1970. */
  first: number;
  last: number;
  /** Hashes of the callers' keys. */
  readonly callers: number[];
  readonly examples: Example[];
}

/** Durations in buckets: bucket n ends at 2^(n/8) ms. */
export type Durations = Record<string, number>;

/** Counts of the comparisons of an operation. */
export interface Counts {
  readonly operation: string;
  /** With a store: begin of the hour, in ms since 1970. */
  readonly hour?: number;
  /** With a store: name or pseudonym; `''` for durations and other data without a caller. */
  readonly caller?: string;
  equal: number;
  explained: number;
  different: number;
  /** Differences above the maximum number of a call. */
  more: number;
  unanswered: number;
  /** Comparisons of two legacy replies. */
  noisePairs: number;
  /** Unexplained findings that were replaced, and the last time of one, in ms since 1970. */
  replaced: number;
  replacedLast: number;
  /** Time of the first comparison, in ms since 1970; 0 without one. */
  first: number;
  readonly callers: number[];
  readonly legacyMs: Durations;
  readonly newMs: Durations;
}

const hourMs = 60 * 60 * 1_000;

/** Maximum number of counts by hour and caller in a process. Further callers are counted as `other`. */
const maxHours = 10_000;

/** Evidence as JSON. */
export interface EvidenceData {
  readonly operations: readonly Counts[];
  readonly findings: readonly Finding[];
}

/** Parts of a contract that its evidence uses. They can change at a reload. */
export interface EvidenceParts {
  /** Path of the contract as in the log. */
  readonly contract: string;
  readonly maxFindings: number;
  /** Reasons of the rules in `migration.compare.rules`. */
  readonly reasons: readonly string[];
  /** Returns a stable pseudonym of a text; undefined without SOAPBRIDGE_CALLER_KEY. */
  readonly pseudonymOf: ((text: string) => string) | undefined;
  /** True to count by hour and caller, for a store. */
  readonly hasHours?: boolean;
}

/** A compared call. */
export interface ComparedCall {
  /** Name of the operation. */
  readonly operation: string;
  /** `id ID`, `secret SECRET` or `net NETWORK` (G9). */
  readonly callerKey: string;
  /** Name or pseudonym; undefined without identification. */
  readonly callerName: string | undefined;
  readonly requestId: string;
  readonly comparison: Comparison;
  /** Duration of the call to the legacy service, in ms. */
  readonly legacyMs?: number;
  /** Duration of the call to the upstream, in ms. */
  readonly newMs?: number;
  /** Time of the comparison, in ms since 1970. */
  readonly at: number;
}

/** The evidence of one contract: counts of operations, and findings (G45 to G47). It continues over a reload. */
export class Evidence {
  parts: EvidenceParts;
  #operations = new Map<string, Counts>();
  #findings = new Map<string, Finding>();
  /** Keys of findings by frequency. */
  #byFrequency = new Map<number, Set<string>>();
  /** No finding has a smaller frequency. */
  #leastFrequency = 0;
  readonly #noise = new Map<string, number>();

  constructor(parts: EvidenceParts) {
    this.parts = parts;
  }

  /** Adds the comparison of a call. */
  add(call: ComparedCall): void {
    const { comparison, at, callerKey, legacyMs, newMs } = call;
    const counts = this.#countsOf(call.operation, at, this.#storedNameOf(call));
    const durations = this.#countsOf(call.operation, at);
    const caller = this.#hashOf(callerKey);
    counts[comparison.result]++;
    counts.more += comparison.more;
    counts.first = earliest(counts.first, at);
    addCaller(counts.callers, caller, maxCallers.operation);
    if (legacyMs !== undefined) observe(durations.legacyMs, legacyMs);
    if (newMs !== undefined) observe(durations.newMs, newMs);
    this.addFindings(call);
  }

  /** Adds only the findings of a comparison of items, which is no comparison of two replies (G30). */
  addFindings(call: ComparedCall): void {
    const { comparison, at, callerKey } = call;
    const { differences, explained, notes } = comparison;
    this.#countsOf(call.operation, at); // `take` returns operations with their findings
    const caller = this.#hashOf(callerKey);
    const seen = new Set<Finding>();
    const found = (of: Omit<Difference, 'kind'> & { kind: FindingKind }, reason?: string): void => {
      const key = { operation: call.operation, path: findingPath(of.path), kind: of.kind, reason };
      const finding = this.#find(key, { count: 1, noise: 0, at });
      if (!seen.has(finding)) finding.calls++;
      seen.add(finding);
      addCaller(finding.callers, caller, maxCallers.finding);
      if (finding.examples.length < maxExamples) finding.examples.push(this.#exampleOf(call, of));
    };
    for (const difference of differences) found(difference);
    for (const one of explained) found(one, this.parts.reasons[one.rule] ?? 'a rule');
    for (const { path, note, code } of notes)
      found({ path, kind: note, ...(code === undefined ? {} : { class: code }) });
  }

  /** Adds the comparison of two replies of the legacy service to one request (G46). */
  addNoise(operation: string, comparison: Comparison, at: number): void {
    this.#countsOf(operation, at).noisePairs++;
    const label = `operation="${operation}",result="${comparison.result}"`;
    this.#noise.set(label, (this.#noise.get(label) ?? 0) + 1);
    const seen = new Map(comparison.differences.map((one) => [findingName(one.path, one.kind), one]));
    for (const { path, kind } of seen.values())
      this.#find({ operation, path: findingPath(path), kind }, { count: 0, noise: 1, at });
  }

  /** Adds a shadow request without a reply. */
  unanswered(operation: string, at: number): void {
    this.#countsOf(operation, at).unanswered++;
  }

  /** Adds the evidence of another process. */
  merge({ operations, findings }: EvidenceData): void {
    for (const from of operations) {
      const into = this.#countsOf(from.operation, from.hour, from.caller);
      for (const name of addedCounts) into[name] += from[name];
      into.replacedLast = Math.max(into.replacedLast, from.replacedLast);
      into.first = earliest(into.first, from.first);
      for (const caller of from.callers) addCaller(into.callers, caller, maxCallers.operation);
      addDurations(into.legacyMs, from.legacyMs);
      addDurations(into.newMs, from.newMs);
    }
    for (const from of findings) {
      const into = this.#find(from, { count: from.count, noise: from.noise, at: from.last });
      into.calls += from.calls;
      into.first = Math.min(into.first, from.first);
      for (const caller of from.callers) addCaller(into.callers, caller, maxCallers.finding);
      into.examples.push(...from.examples.slice(0, maxExamples - into.examples.length));
    }
  }

  /** Returns the evidence so far. The data change with the next comparison. */
  data(): EvidenceData {
    return { operations: [...this.#operations.values()], findings: [...this.#findings.values()] };
  }

  /** Returns the evidence so far and clears it; undefined if there is none. */
  take(): EvidenceData | undefined {
    if (this.#operations.size === 0) return undefined;
    const data = this.data();
    this.#operations = new Map();
    this.#findings = new Map();
    this.#byFrequency = new Map();
    return data;
  }

  /** Returns the metric of the noise comparisons of this process (G51). */
  read(): Snapshot {
    const counts = [...this.#noise].map(
      ([labels, value]) => [`contract="${this.parts.contract}",${labels}`, value] as const,
    );
    const help = 'Comparisons of two replies of the legacy service, by operation and result.';
    return [counter('migration_noise_total', help, counts)];
  }

  /** Counts findings that were replaced, and the last time of an unexplained one. */
  countReplaced(operation: string, replaced: number, lastUnexplained: number, at: number): void {
    const counts = this.#countsOf(operation, at);
    counts.replaced += replaced;
    counts.replacedLast = Math.max(counts.replacedLast, lastUnexplained);
  }

  /** Removes the counts of hours that begin before a time. */
  removeHours(before: number): void {
    for (const [key, { hour = before }] of this.#operations) if (hour < before) this.#operations.delete(key);
  }

  /** Returns the counts of an operation, or of its caller in an hour. */
  #countsOf(operation: string, at = 0, caller = ''): Counts {
    if (this.parts.hasHours !== true) return this.#countsAt(operation, { operation });
    const of = { operation, hour: at - (at % hourMs), caller };
    const key = `${operation}\n${of.hour}\n${caller}`;
    if (this.#operations.size < maxHours || this.#operations.has(key)) return this.#countsAt(key, of);
    return this.#countsAt(`${operation}\nother`, { ...of, caller: 'other' });
  }

  #countsAt(key: string, of: Pick<Counts, 'operation' | 'hour' | 'caller'>): Counts {
    const counts = this.#operations.get(key) ?? createCounts(of);
    this.#operations.set(key, counts);
    return counts;
  }

  /** Returns the name of a caller in the store: a name or a pseudonym. */
  #storedNameOf({ callerName, callerKey }: ComparedCall): string {
    return callerName ?? this.parts.pseudonymOf?.(callerKey) ?? '';
  }

  /**
   * Adds to the frequency of a finding and returns it. A new one replaces the least frequent one above the maximum
   * number (G45).
   */
  #find(
    of: FindingKey,
    { count, noise, at }: Pick<Finding, 'count' | 'noise'> & { readonly at: number },
  ): Finding {
    const { operation, path, kind, reason } = of;
    const key = [operation, kind, reason ?? '', path].join('\n');
    const known = this.#findings.get(key);
    const finding = known ?? createFinding(of, at);
    if (known === undefined) {
      // more than one after a reload with a smaller limit
      while (this.#findings.size >= this.parts.maxFindings) this.#removeLeast();
      this.#findings.set(key, finding);
    }
    const before = frequencyOf(finding);
    finding.count += count;
    finding.noise += noise;
    finding.last = Math.max(finding.last, at);
    this.#moveKey(key, before, frequencyOf(finding));
    return finding;
  }

  #moveKey(key: string, from: number, to: number): void {
    const old = this.#byFrequency.get(from);
    if (old?.delete(key) === true && old.size === 0) this.#byFrequency.delete(from);
    const keys = this.#byFrequency.get(to) ?? new Set();
    this.#byFrequency.set(to, keys.add(key));
    this.#leastFrequency = Math.min(this.#leastFrequency, to);
  }

  /** Removes one of the findings with the smallest frequency. */
  #removeLeast(): void {
    if (!this.#byFrequency.has(this.#leastFrequency)) {
      this.#leastFrequency = Number.POSITIVE_INFINITY;
      for (const frequency of this.#byFrequency.keys())
        this.#leastFrequency = Math.min(this.#leastFrequency, frequency);
    }
    const keys = this.#byFrequency.get(this.#leastFrequency);
    const [key = ''] = keys ?? [];
    keys?.delete(key);
    if (keys?.size === 0) this.#byFrequency.delete(this.#leastFrequency);
    const finding = this.#findings.get(key);
    this.#findings.delete(key);
    if (finding === undefined) return;
    const { operation, last } = finding;
    this.countReplaced(operation, 1, isUnexplained(finding) ? last : 0, last);
  }

  #exampleOf({ requestId, callerName, at }: ComparedCall, of: Omit<Difference, 'kind'>): Example {
    return {
      path: pathWithoutValues(of.path),
      ...(of.class === undefined ? {} : { class: of.class }),
      ...(of.legacy === undefined ? {} : { legacy: this.#shown(of.legacy, of.sensitivity) }),
      ...(of.new === undefined ? {} : { new: this.#shown(of.new, of.sensitivity) }),
      requestId,
      ...(callerName === undefined ? {} : { caller: callerName }),
      at,
    };
  }

  /** Returns a value as it may be stored: credentials are hidden, personal values are pseudonyms (G45). */
  #shown(value: string, sensitivity: Difference['sensitivity']): string {
    const { contract, pseudonymOf } = this.parts;
    if (sensitivity === undefined || states.has(value)) return copied(value.slice(0, maxValue));
    if (sensitivity === 'credential' || pseudonymOf === undefined) return '***';
    return `p-${pseudonymOf([contract, 'text', value].join('\n'))}`;
  }

  /** Returns 32 bits of a caller's key, to distinguish callers without their names. */
  #hashOf(callerKey: string): number {
    const { pseudonymOf } = this.parts;
    const text = pseudonymOf === undefined ? callerKey : pseudonymOf(`caller ${callerKey}`);
    return Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16);
  }
}

function createFinding({ operation, path, kind, reason }: FindingKey, at: number): Finding {
  const added = { count: 0, calls: 0, noise: 0, first: at, last: at, callers: [], examples: [] };
  return { operation, path: copied(path), kind, ...(reason === undefined ? {} : { reason }), ...added };
}

/** Counts that are added up when evidence is merged. */
const addedCounts = [
  'equal',
  'explained',
  'different',
  'more',
  'unanswered',
  'noisePairs',
  'replaced',
] as const;

/** Values that name a state, and no value of a message (G35). */
const states: ReadonlySet<string> = new Set(['(absent)', '(nil)', '(empty)', '[]']);

function createCounts(of: Pick<Counts, 'operation' | 'hour' | 'caller'>): Counts {
  const calls = { equal: 0, explained: 0, different: 0, more: 0, unanswered: 0, noisePairs: 0 };
  const times = { replaced: 0, replacedLast: 0, first: 0 };
  return { ...of, ...calls, ...times, callers: [], legacyMs: {}, newMs: {} };
}

/** Returns true if a finding has differences without an explanation. */
export function isUnexplained({ kind, reason }: Pick<Finding, 'kind' | 'reason'>): boolean {
  return reason === undefined && !isNote(kind);
}

function frequencyOf({ count, noise }: Finding): number {
  return count + noise;
}

/** Returns the earlier of two times. 0 means no time. */
function earliest(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}

function addCaller(callers: number[], caller: number, most: number): void {
  if (callers.length < most && !callers.includes(caller)) callers.push(caller);
}

/** Copies a text, because a part of a text would keep the whole reply in memory. */
function copied(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

const bucketsPerOctave = 8;
const [firstBucket, lastBucket] = [-40, 200];

function observe(durations: Durations, ms: number): void {
  const bucket = Math.ceil(Math.log2(ms) * bucketsPerOctave);
  const key = String(Math.min(Math.max(bucket, firstBucket), lastBucket));
  durations[key] = (durations[key] ?? 0) + 1;
}

/** Adds the counts of durations. */
export function addDurations(into: Durations, from: Durations): void {
  for (const [bucket, count] of Object.entries(from)) into[bucket] = (into[bucket] ?? 0) + count;
}

/** Returns a quantile in ms, with an error of at most 5 %; undefined without durations. */
export function quantileOf(durations: Durations, share: number): number | undefined {
  const buckets = Object.entries(durations).map(([bucket, count]) => [Number(bucket), count] as const);
  const all = buckets.reduce((sum, [, count]) => sum + count, 0);
  let below = 0;
  for (const [bucket, count] of buckets.toSorted(([a], [b]) => a - b)) {
    below += count;
    if (below >= share * all) return 2 ** ((bucket - 0.5) / bucketsPerOctave);
  }
  return undefined;
}
