import { cpus } from 'node:os';
import { join } from 'node:path';
import { load } from './load.ts';
import { childrenOf, cpuMicroseconds, freePort, start, stop } from './process.ts';
import { usualRequests } from './small-call.ts';

const connections = 32;
const warmSeconds = 3;

export interface WorkersRow {
  readonly workers: number;
  readonly requestsPerSecond: number;
  /** CPU of all processes of the gateway, in µs. */
  readonly cpuPerRequest: number;
  /** Share of the busiest worker in the CPU of all workers: shows how evenly connections are distributed. */
  readonly busiest: number;
}

/** Measures the small call with each number of workers, one after another, without pinning. */
export async function measureWorkers(
  counts: readonly number[],
  seconds: number,
): Promise<readonly WorkersRow[]> {
  const directory = import.meta.dirname;
  const all = `0-${cpus().length - 1}`;
  const upstreamPort = await freePort();
  const upstream = await start(all, [join(directory, 'servers/upstream.ts'), String(upstreamPort)], 'ready');
  try {
    const rows: WorkersRow[] = [];
    for (const workers of counts) rows.push(await measure(workers, upstreamPort, all, seconds));
    return rows;
  } finally {
    await stop(upstream);
  }
}

async function measure(
  workers: number,
  upstreamPort: number,
  cores: string,
  seconds: number,
): Promise<WorkersRow> {
  const port = await freePort();
  const gateway = await start(
    cores,
    [join(import.meta.dirname, '../bin/soapbridge.js'), 'serve'],
    'listens',
    {
      PORT: String(port),
      SOAPBRIDGE_WORKERS: String(workers),
      SOAPBRIDGE_UPSTREAM_URL: `http://127.0.0.1:${upstreamPort}`,
    },
  );
  try {
    const requests = usualRequests(port);
    await load(port, requests, connections, warmSeconds);
    const serving = workers === 1 ? [gateway.pid] : childrenOf(gateway.pid);
    const processes = workers === 1 ? serving : [gateway.pid, ...serving];
    const before = new Map(processes.map((pid) => [pid, cpuMicroseconds(pid)]));
    const result = await load(port, requests, connections, seconds);
    const spent = (pid: number): number => cpuMicroseconds(pid) - (before.get(pid) ?? 0);
    const byWorker = serving.map(spent);
    return {
      workers,
      requestsPerSecond: result.requests / result.seconds,
      cpuPerRequest: sum(processes.map(spent)) / result.requests,
      busiest: Math.max(...byWorker) / sum(byWorker),
    };
  } finally {
    await stop(gateway);
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
