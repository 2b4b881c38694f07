import type { Load } from './admission.ts';
import type { RequestRecord } from './visit.ts';

/** What is true at the moment of asking. */
export interface Gauges extends Load {
  readonly connections: number;
  readonly breakerOpen: boolean;
  /** p99 of the last second, in ms. */
  readonly loopDelayMs: number;
}

/** Counts requests, and tells of them in Prometheus' text format. */
export interface Metrics {
  readonly count: (record: RequestRecord) => void;
  readonly write: (gauges: Gauges) => string;
}

/** Upper bounds, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** How often values fell below each bound, and their sum. */
interface Histogram {
  readonly counts: Uint32Array;
  sum: number;
}

/**
 * Metrics of one process. Counting is a few additions; all text is made when it is asked for. Label values are ours:
 * transports, statuses.
 */
export function createMetrics(): Metrics {
  const requests = new Map<string, Map<number, number>>();
  const durations = new Map<string, Histogram>();
  const upstreamDurations = createHistogram();
  const upstreamStatuses = new Map<number, number>();
  let retries = 0;
  let aborted = 0;

  return {
    count: (record) => {
      const { transport, meant, status, sent } = record;
      let statuses = requests.get(transport);
      let histogram = durations.get(transport);
      if (statuses === undefined || histogram === undefined) {
        statuses = new Map();
        histogram = createHistogram();
        requests.set(transport, statuses);
        durations.set(transport, histogram);
      }
      add(statuses, meant ?? status);
      observe(histogram, record.ms / 1000);
      if (record.aborted) aborted++;
      if (sent === 0) return;
      retries += sent - 1;
      add(upstreamStatuses, record.upstreamStatus);
      observe(upstreamDurations, record.upstreamMs / 1000);
    },
    write: (gauges) => {
      const page: string[] = [];
      const say = (name: string, type: string, help: string, samples: readonly string[]): void => {
        page.push(`# HELP soapbridge_${name} ${help}\n# TYPE soapbridge_${name} ${type}\n`, ...samples);
      };
      const one = (name: string, type: string, help: string, value: number): void =>
        say(name, type, help, [`soapbridge_${name} ${value}\n`]);
      say(
        'requests_total',
        'counter',
        'Requests by transport and the status meant (X-Status, where HTTP says 200).',
        [...requests].flatMap(([transport, statuses]) =>
          [...statuses].map(
            ([status, count]) =>
              `soapbridge_requests_total{transport="${transport}",status="${status}"} ${count}\n`,
          ),
        ),
      );
      say(
        'request_duration_seconds',
        'histogram',
        'From the first byte of a request to its reply.',
        [...durations].flatMap(([transport, histogram]) =>
          samplesOf('request_duration_seconds', `transport="${transport}"`, histogram),
        ),
      );
      say(
        'upstream_replies_total',
        'counter',
        'Calls upstream by status; 0 is no answer.',
        [...upstreamStatuses].map(
          ([status, count]) => `soapbridge_upstream_replies_total{status="${status}"} ${count}\n`,
        ),
      );
      say(
        'upstream_duration_seconds',
        'histogram',
        'What calls waited for the upstream.',
        samplesOf('upstream_duration_seconds', '', upstreamDurations),
      );
      one('upstream_retries_total', 'counter', 'Reads that went out a second time.', retries);
      one('upstream_breaker_open', 'gauge', '1 while calls are refused at once.', Number(gauges.breakerOpen));
      one('aborted_total', 'counter', 'Callers that left before their reply.', aborted);
      one('shed_total', 'counter', 'Calls that there was no room for.', gauges.shed);
      one('in_flight', 'gauge', 'Calls under way.', gauges.inFlight);
      one('queued', 'gauge', 'Calls waiting for a place.', gauges.queued);
      one('held_bytes', 'gauge', 'Bodies in memory.', gauges.heldBytes);
      one('connections', 'gauge', "Callers' connections.", gauges.connections);
      one(
        'event_loop_delay_seconds',
        'gauge',
        'p99 of the last second, by samples 0.05 s apart.',
        gauges.loopDelayMs / 1000,
      );
      one('resident_memory_bytes', 'gauge', 'Memory of the process.', process.memoryUsage.rss());
      return page.join('');
    },
  };
}

function add(counts: Map<number, number>, status: number): void {
  counts.set(status, (counts.get(status) ?? 0) + 1);
}

function createHistogram(): Histogram {
  return { counts: new Uint32Array(bounds.length + 1), sum: 0 };
}

function observe(histogram: Histogram, seconds: number): void {
  let index = 0;
  while (index < bounds.length && seconds > (bounds[index] ?? 0)) index++;
  histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
  histogram.sum += seconds;
}

/** A histogram's lines; the buckets of the format hold all that fell below their bound. */
function samplesOf(name: string, labels: string, { counts, sum }: Histogram): string[] {
  const before = labels === '' ? '' : `${labels},`;
  const own = labels === '' ? '' : `{${labels}}`;
  let below = 0;
  const lines = [...bounds, '+Inf'].map((bound, index) => {
    below += counts[index] ?? 0;
    return `soapbridge_${name}_bucket{${before}le="${bound}"} ${below}\n`;
  });
  return [...lines, `soapbridge_${name}_sum${own} ${sum}\n`, `soapbridge_${name}_count${own} ${below}\n`];
}
