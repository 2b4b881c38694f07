import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';

const pinning = spawnSync('taskset', ['--version']).status === 0;

/** Whether processes can be pinned to cores here. */
export const canPin: boolean = pinning;

export interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  /** From spawn to the line that was waited for, in ms. */
  readonly startMs: number;
  /** What it said by then. */
  readonly output: string;
}

/** Starts a Node process on one core, or a list such as `0,1`; resolves once its output holds `ready`. */
export function start(
  core: number | string,
  args: readonly string[],
  ready: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Started> {
  const command = pinning ? 'taskset' : process.execPath;
  const prefix = pinning ? ['-c', String(core), process.execPath] : [];
  const started = performance.now();
  const child = spawn(command, [...prefix, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let output = '';
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      if (child.pid === undefined || output.includes(ready)) return;
      output += chunk.toString();
      if (output.includes(ready))
        resolve({ child, pid: child.pid, startMs: performance.now() - started, output });
    });
  });
}

/** Runs this process, all of its threads, on one core or on all; where there is no taskset it stays as it is. */
export function runOn(core: number | 'all'): void {
  const cores = core === 'all' ? `0-${cpus().length - 1}` : String(core);
  if (pinning) spawnSync('taskset', ['-acp', cores, String(process.pid)]);
}

export async function stop({ child }: Started): Promise<void> {
  child.removeAllListeners('exit');
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** CPU time of all threads of a process so far, in µs (/proc/PID/task/TID/schedstat). */
export function cpuMicroseconds(pid: number): number {
  let total = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    total += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  }
  return total;
}

/** The processes that a process has started and that live. */
export function childrenOf(pid: number): readonly number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return pids === '' ? [] : pids.split(' ').map(Number);
}

/** Resident memory in MB. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return Number(kilobytes) / 1024;
}

/** A port that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
