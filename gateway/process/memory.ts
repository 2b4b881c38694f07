import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Gives memory back to the system. V8's young generation grows while a contract is loaded or many are called, and V8 keeps
 * that size for good: some 35 MB of a process that does nothing. V8 gives it back in the collection that it would make
 * before it ran out of memory; it takes some 50 ms, so this is for a process that has nothing to do.
 */
function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void =
    runInNewContext('gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** An older V8 has no such flags, and would say so on standard error. */
const hasNewFlags = Number.parseInt(process.versions.v8, 10) >= 14;

/**
 * Counts buffers like other memory. Else V8 collects the whole heap, some 5 ms each time, whenever those that there are have
 * grown by 64 MB: bodies come and go, and their memory is given back long before.
 */
export function countBuffersAsMemory(): void {
  if (hasNewFlags) setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** From so many bytes in buffers on messages are large. */
const largeBuffers = 48 * 1024 * 1024;
/** The memory that V8 lets a heap come to before it collects, in percent on top of what was in use. */
const growingPercent = 400;
/** In ms: so long after there were large messages others may follow. */
const largeMs = 10_000;

/**
 * Has V8 collect less often while there are large messages. Otherwise it does once for each, 5 to 10 ms of the event loop, though
 * their memory is given back without it. V8 reads the flag whenever it has collected; 0 is for its own judgement, by which a
 * process takes some 100 MB less.
 *
 * @param everyMs how often it is looked
 */
export function collectLessBesideLarge(everyMs: number = 100): void {
  let until = 0;
  let isLess = false;
  const look = (): void => {
    const now = performance.now();
    if (getHeapStatistics().external_memory >= largeBuffers) until = now + largeMs;
    if (now < until === isLess) return;
    isLess = !isLess;
    setFlagsFromString(`--heap-growing-percent=${isLess ? growingPercent : 0}`);
  };
  setInterval(look, everyMs).unref();
}

/** The share of a core that a process without anything to do may take all the same. */
const idleShare = 0.01;

/** Tells again and again whether the process had anything to do lately, in ms. */
function watchIdle(everyMs: number, report: (isBusy: boolean) => void): NodeJS.Timeout {
  let before = process.cpuUsage();
  return setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    report((user + system) / 1000 > everyMs * idleShare);
    before = process.cpuUsage();
  }, everyMs).unref();
}

/** So many times a process that has started is looked at; one that was busy so long has compiled what it needs. */
const looksAfterStart = 5;

/**
 * Gives memory back for a process that has started: what only that took in the first of a few seconds (`startedMs` each)
 * in which it has nothing to do, and later what a busy time took in a long pause, once in each, when it lasted for
 * `pauseMs` at least and twice that at most. V8 is kept from doing the latter after half a minute: with the garbage goes
 * the code that it compiled, and the first calls after cost up to ten times as much (decision 6).
 */
export function giveBackWhenIdle(startedMs: number = 1_000, pauseMs: number = 10 * 60_000): void {
  if (hasNewFlags) setFlagsFromString('--memory-reducer-gc-count=0');
  let looks = 0;
  const sinceStart = watchIdle(startedMs, (isBusy) => {
    if (++looks < looksAfterStart && isBusy) return;
    clearInterval(sinceStart);
    if (!isBusy) giveBackMemory();
  });
  let isGiven = false;
  watchIdle(pauseMs, (isBusy) => {
    if (!isBusy && !isGiven) giveBackMemory();
    isGiven = !isBusy;
  });
}
