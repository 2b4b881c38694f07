import { readFileSync } from 'node:fs';

// What Linux says of another process.

type Pid = number | undefined;

/** CPU time that all its threads took so far, in ms, to a hundredth of a second. */
export function cpuMs(pid: Pid): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export const residentBytes = (pid: Pid): number => memoryBytes(pid, 'VmRSS');

/** The most that ever was resident. */
export const peakBytes = (pid: Pid): number => memoryBytes(pid, 'VmHWM');

function memoryBytes(pid: Pid, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}
