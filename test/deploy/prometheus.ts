import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../free-port.ts';

// Recorded pages of /metrics, and a Prometheus that has them as its data.

/** Time between two scrapes, in s, as in deploy/prometheus/prometheus.yml. */
export const scrapeSeconds = 15;

/** True if Prometheus and promtool are installed. */
export const isInstalled = ['prometheus', 'promtool'].every(
  (tool) => spawnSync('which', [tool]).status === 0,
);

/** Pages of /metrics of a cluster, by scrape and replica. Undefined: the replica could not be scraped. */
export interface Recording {
  readonly cluster: string;
  readonly scrapes: readonly ReadonlyMap<string, string | undefined>[];
}

/** A series with its values by time in s. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [at: number, value: number])[];
}

/** An alert as Prometheus has read it from the rules. */
export interface Alert {
  readonly name: string;
  readonly query: string;
  /** Time for which the query must have a result, in s. */
  readonly duration: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A running Prometheus. */
export interface Prometheus {
  /** Returns the series of a query over the recorded time, every 15 s. Throws Error if Prometheus rejects it. */
  readonly ask: (query: string) => Promise<readonly Series[]>;
  readonly alerts: () => Promise<readonly Alert[]>;
}

type Teardown = (end: () => unknown) => void;

/** Returns the pages as a text in the format OpenMetrics. The last scrape was at `end`, in s. */
function openMetrics({ cluster, scrapes }: Recording, end: number): string {
  const lines: string[] = [];
  for (const [index, pages] of scrapes.entries()) {
    const at = end - (scrapes.length - 1 - index) * scrapeSeconds;
    for (const [replica, page] of pages) {
      const target = `job="soapbridge",instance="${replica}",cluster="${cluster}"`;
      lines.push(`up{${target}} ${page === undefined ? 0 : 1} ${at}`);
      for (const [, name, , labels, value] of (page ?? '').matchAll(/^(\w+)(\{(.*)\})? (\S+)$/gm))
        lines.push(`${name}{${labels === undefined ? '' : `${labels},`}${target}} ${value} ${at}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function promtool(...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}: ${stdout}${stderr}`);
}

/** Starts a process of Prometheus with the data of a folder, and waits until it answers. */
async function start(
  folder: string,
  data: string,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const port = await freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error('expected prometheus to start, got its end');
    await pause(50);
  }
  return {
    url,
    stop: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

async function answerOf<Data>(url: string): Promise<Data> {
  const reply: { status: string; error?: string; data: Data } = await (await fetch(url)).json();
  if (reply.status !== 'success') throw new Error(`${url}: ${reply.error}`);
  return reply.data;
}

/**
 * Starts a Prometheus with recorded scrapes, of which the last was just now, and with rules. It evaluates the recording
 * rules for the recorded time.
 */
export async function startPrometheus(
  teardown: Teardown,
  rules: string,
  recordings: readonly Recording[],
): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-prometheus-'));
  teardown(() => rmSync(folder, { recursive: true, force: true }));
  copyFileSync(rules, join(folder, 'rules.yaml'));
  writeFileSync(join(folder, 'prometheus.yml'), 'rule_files: [rules.yaml]\n');
  const data = join(folder, 'data');
  const end = Math.floor(Date.now() / 1_000 / scrapeSeconds) * scrapeSeconds;
  const samples = join(folder, 'samples');
  writeFileSync(samples, `${recordings.map((recording) => openMetrics(recording, end)).join('')}# EOF\n`);
  promtool('tsdb', 'create-blocks-from', 'openmetrics', samples, data);
  const most = Math.max(...recordings.map(({ scrapes }) => scrapes.length));
  const first = end - (most - 1) * scrapeSeconds;
  // twice, because a rule may use the result of another; a process reads new blocks only when it starts
  for (let pass = 0; pass < 2; pass++) {
    const forRules = await start(folder, data);
    const between = [`--start=${first}`, `--end=${end}`, `--eval-interval=${scrapeSeconds}s`];
    const into = [`--url=${forRules.url}`, `--output-dir=${data}`, join(folder, 'rules.yaml')];
    promtool('tsdb', 'create-blocks-from', 'rules', ...between, ...into);
    await forRules.stop();
  }
  const { url, stop } = await start(folder, data);
  teardown(stop);
  return {
    ask: async (query) => {
      const range = new URLSearchParams({
        query,
        start: `${first}`,
        end: `${end}`,
        step: `${scrapeSeconds}`,
      });
      const { result } = await answerOf<{
        result: readonly { metric: Record<string, string>; values: readonly (readonly [number, string])[] }[];
      }>(`${url}/api/v1/query_range?${range}`);
      return result.map(({ metric, values }) => ({
        labels: metric,
        values: values.map(([at, value]) => [at, Number(value)] as const),
      }));
    },
    alerts: async () => {
      const { groups } = await answerOf<{
        groups: readonly { rules: readonly (Alert & { type: string })[] }[];
      }>(`${url}/api/v1/rules`);
      return groups.flatMap((group) => group.rules).filter(({ type }) => type === 'alerting');
    },
  };
}

/**
 * Returns the time in s at which an alert starts to fire for a series: its query had a result at each evaluation for
 * the duration of the alert. Undefined if it does not fire.
 */
export function firesAt({ values }: Series, { duration }: Alert): number | undefined {
  let since: number | undefined;
  let previous: number | undefined;
  for (const [at] of values) {
    if (previous === undefined || since === undefined || at - previous > scrapeSeconds) since = at;
    if (at - since >= duration) return at;
    previous = at;
  }
  return undefined;
}
