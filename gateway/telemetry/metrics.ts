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

/** A value of a metric with its labels. */
export type Labelled<Value = number> = readonly [labels: string, value: Value];

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Number of values per bucket, and their sum. */
export interface Histogram {
  readonly counts: Float64Array;
  sum: number;
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
function samplesOf(name: string, labels: string, { counts, sum }: Histogram): Sample[] {
  let below = 0;
  const buckets = [...bounds, '+Inf'].map((bound, index) => {
    below += counts[index] ?? 0;
    return { name: `${name}_bucket`, labels: joinLabels(labels, `le="${bound}"`), value: below };
  });
  return [
    ...buckets,
    { name: `${name}_sum`, labels, value: sum },
    { name: `${name}_count`, labels, value: below },
  ];
}

/** Creates a histogram, whose samples are added up over all workers. */
export function histogram(name: string, help: string, values: Iterable<Labelled<Histogram>>): Family {
  const samples = [...values].flatMap(([labels, value]) => samplesOf(name, labels, value));
  return { name, type: 'histogram', help, together: 'sum', samples };
}

/** Creates a counter with one value per set of labels. */
export function counter(name: string, help: string, values: Iterable<Labelled>): Family {
  return family(name, 'counter', help, 'sum', values);
}

/** Creates a gauge, whose values are added up over all workers. */
export function gauge(name: string, help: string, values: Iterable<Labelled>): Family {
  return family(name, 'gauge', help, 'sum', values);
}

/** Creates a gauge. With several workers, each value has the worker's name as a label. */
export function perWorkerGauge(name: string, help: string, values: Iterable<Labelled>): Family {
  return family(name, 'gauge', help, 'apart', values);
}

/** Creates a metric with one sample, which is added up over all workers. */
export function one(name: string, type: 'counter' | 'gauge', help: string, value: number): Family {
  return family(name, type, help, 'sum', [['', value]]);
}

/** Creates a gauge with one sample for each worker. */
export function ofProcess(name: string, help: string, value: number, labels = ''): Family {
  return perWorkerGauge(name, help, [[labels, value]]);
}

function family(
  name: string,
  type: Family['type'],
  help: string,
  together: Family['together'],
  values: Iterable<Labelled>,
): Family {
  const samples = [...values].map(([labels, value]) => ({ name, labels, value }));
  return { name, type, help, together, samples };
}

/** Joins two lists of labels. Both may be empty. */
export function joinLabels(some: string, more: string): string {
  return some === '' || more === '' ? some + more : `${some},${more}`;
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
        const labels = part.together === 'sum' ? own : joinLabels(own, `worker="${worker}"`);
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
