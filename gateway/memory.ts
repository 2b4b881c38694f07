import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives back to the system what only starting took. Loading a contract makes V8's young generation grow, and V8 keeps
 * that size for good: some 35 MB of a process that does nothing. V8 gives it back in the collection that it would make
 * before it ran out of memory; it takes some 50 ms, so this is for a process that has just started.
 */
export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void =
    runInNewContext('gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** The share of a core that a process without anything to do may take all the same. */
const idleShare = 0.01;

/**
 * Leaves it to `giveBackMemory` to collect a process that has nothing to do, and that to a long pause: once in each, when
 * it lasted for `pauseMs` at least and twice that at most. V8 would do it after half a minute, and with the garbage goes
 * the code that it compiled: the first calls after cost up to ten times as much (decision 6).
 */
export function giveBackInPauses(pauseMs: number = 10 * 60_000): void {
  // an older V8 has no such flag, and would say so on standard error
  if (Number.parseInt(process.versions.v8, 10) >= 14) setFlagsFromString('--memory-reducer-gc-count=0');
  let before = process.cpuUsage();
  let isGiven = false;
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    const isBusy = (user + system) / 1000 > pauseMs * idleShare;
    if (!isBusy && !isGiven) giveBackMemory();
    isGiven = !isBusy;
    before = process.cpuUsage();
  }, pauseMs).unref();
}
