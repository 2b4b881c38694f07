import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Returns memory to the operating system. V8's young generation grows while contracts are loaded or calls are frequent,
 * and V8 keeps it at that size. V8 shrinks it in a last-resort collection. That collection blocks the event loop, so
 * call this only in an idle process.
 */
function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void =
    runInNewContext('gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Older versions of V8 lack these flags and would print a warning. */
const hasNewFlags = Number.parseInt(process.versions.v8, 10) >= 14;

/**
 * Makes V8 count buffers like other memory. Without it V8 collects the whole heap whenever buffers have grown by 64 MB,
 * although the memory of bodies is released earlier.
 */
export function countBuffersAsMemory(): void {
  if (hasNewFlags) setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** Minimum number of bytes in buffers that counts as large messages. */
const largeBuffers = 48 * 1024 * 1024;
/** Growth of the heap before V8 collects it, in percent of the memory in use. */
const growingPercent = 400;
/** Time after large messages during which V8 continues to collect less often, in ms. */
const largeMs = 10_000;

/**
 * Makes V8 collect less often while there are large messages. Otherwise it collects the heap for each large message,
 * although its memory is released without that. V8 reads the flag after each collection. 0 restores V8's own heuristic,
 * which uses less memory.
 *
 * @param everyMs interval between two checks, in ms
 */
export function collectLessForLarge(everyMs: number = 100): void {
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

/** Maximum share of a core that an idle process uses. Its timers alone may use 0.02 on a slow machine. */
const idleShare = 0.03;

/** Reports at each interval whether the process was busy during it. */
function watchIdle(everyMs: number, report: (isBusy: boolean) => void): NodeJS.Timeout {
  let before = process.cpuUsage();
  return setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    report((user + system) / 1000 > everyMs * idleShare);
    before = process.cpuUsage();
  }, everyMs).unref();
}

/**
 * Maximum number of intervals to wait for an idle one after start. A process that was busy that long has compiled the
 * code it needs.
 */
const looksAfterStart = 5;

/**
 * Returns memory of an idle process to the operating system. The memory of the start is returned in the first idle
 * interval of `startedMs`, among the first five. Later, memory of a busy period is returned once per pause, after one
 * to two `pauseMs`.
 * V8's own memory reducer is turned off. It would run after half a minute and drop compiled code, which makes the next
 * calls up to ten times slower (decision 6).
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
