import { readFileSync } from 'node:fs';

// Figures about another process, from Linux.

type Pid = number | undefined;

/** Returns the CPU time of all threads, in ms, with a resolution of 10 ms. */
export function cpuMs(pid: Pid): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export const residentBytes = (pid: Pid): number => memoryBytes(pid, 'VmRSS');

/** Returns the peak of resident memory. */
export const peakBytes = (pid: Pid): number => memoryBytes(pid, 'VmHWM');

function memoryBytes(pid: Pid, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}
