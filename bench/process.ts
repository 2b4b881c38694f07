import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';

const pinning = spawnSync('taskset', ['--version']).status === 0;

/** True if processes can be pinned to cores on this machine. */
export const canPin: boolean = pinning;

export interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Time from spawning to the expected output, in ms. */
  readonly startMs: number;
  /** Output up to that time. */
  readonly output: string;
}

/** Starts a Node process on one core, or on a list like `0,1`. Resolves when its output contains `ready`. */
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

/** Pins all threads of this process to one core, or to all cores. Does nothing without taskset. */
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

/** Returns the CPU time of all threads of a process, in µs (/proc/PID/task/TID/schedstat). */
export function cpuMicroseconds(pid: number): number {
  let total = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    total += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  }
  return total;
}

/** Returns the CPU time of the main thread of a process, in µs. */
export function loopMicroseconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
}

/** Returns the living child processes of a process. */
export function childrenOf(pid: number): readonly number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return pids === '' ? [] : pids.split(' ').map(Number);
}

/** Returns the resident memory of a process in MB. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return Number(kilobytes) / 1024;
}

/** Returns a free port. */
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
