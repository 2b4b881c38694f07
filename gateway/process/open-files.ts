import { readdirSync, readFileSync } from 'node:fs';
import type { Limits } from '../../mappings/contract/limits.ts';
import type { Log } from '../core/core-options.ts';
import { ofProcess, type Snapshot } from '../telemetry/metrics.ts';

/** File descriptors for the log, worker threads, contract files and the admin listener. */
const otherFiles = 100;

/** Returns the maximum number of open files of this process (`ulimit -n`); undefined if unknown or unlimited. */
export function mostOpenFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined; // a system without /proc
  }
}

/** Returns the number of files that a process needs if all its connections are in use. */
export function filesNeeded({ connections, upstreamConnections }: Limits, upstreams: number): number {
  return connections + upstreamConnections * upstreams + otherFiles;
}

/** Warns if the process may open fewer files than its limits of connections need. */
export function warnOfOpenFiles(limits: Limits, upstreams: number, most: number | undefined, log: Log): void {
  const needed = filesNeeded(limits, upstreams);
  if (most === undefined || most >= needed) return;
  log.warn(
    { openFiles: most, needed },
    'the limit of open files is too low for the limits of connections: raise ulimit -n, or lower connections or upstreamConnections',
  );
}

/** Returns the number of open files and its maximum; nothing on a system without /proc. */
export function openFileMetrics(): Snapshot {
  const most = mostOpenFiles();
  if (most === undefined) return [];
  return [
    ofProcess('open_files', 'Open file descriptors.', readdirSync('/proc/self/fd').length - 1),
    ofProcess('open_files_limit', 'Maximum number of open file descriptors.', most),
  ];
}
