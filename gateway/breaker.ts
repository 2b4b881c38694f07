import type { Limits } from '../mappings/limits.ts';

/** Whether calls go to an upstream: closed lets them through, open refuses them but for a probe now and then. */
export interface Breaker {
  readonly isOpen: () => boolean;
  /** Undefined where a call may go now; else in how many whole seconds to try again. A probe counts as let through. */
  readonly refusal: (now: number) => number | undefined;
  /** What came of a call that was let through at `started`. */
  readonly settle: (succeeded: boolean, started: number, now: number) => void;
}

/** The window is cut into so many parts; the oldest is forgotten as a whole. */
const parts = 10;

/**
 * A breaker that opens when, of at least `breakerCalls` calls within `breakerWindowMs`, at least
 * `breakerFailurePercent` in a hundred failed; while open one call in `breakerProbeMs` is a probe, and the first that
 * succeeds closes it. All times are ms of one clock that never runs back.
 */
export function createBreaker(limits: Limits): Breaker {
  const partMs = limits.breakerWindowMs / parts;
  const calls = new Uint32Array(parts);
  const failures = new Uint32Array(parts);
  let part = 0;
  let openSince = 0;
  let nextProbe: number | undefined;

  return {
    isOpen: () => nextProbe !== undefined,
    refusal: (now) => {
      if (nextProbe === undefined) return undefined;
      if (now < nextProbe) return Math.ceil((nextProbe - now) / 1000);
      nextProbe = now + limits.breakerProbeMs;
      return undefined;
    },
    settle: (succeeded, started, now) => {
      if (nextProbe === undefined) count(succeeded, now);
      // what went out before says nothing of how the upstream is now
      else if (succeeded && started >= openSince) close();
    },
  };

  function count(succeeded: boolean, now: number): void {
    forget(Math.floor(now / partMs));
    const index = part % parts;
    calls[index] = (calls[index] ?? 0) + 1;
    if (succeeded) return;
    failures[index] = (failures[index] ?? 0) + 1;
    const all = sum(calls);
    if (all < limits.breakerCalls || sum(failures) * 100 < all * limits.breakerFailurePercent) return;
    openSince = now;
    nextProbe = now + limits.breakerProbeMs;
  }

  /** Moves on to the part of the window that it is now, emptying those in between. */
  function forget(current: number): void {
    const passed = Math.min(current - part, parts);
    for (let ahead = 1; ahead <= passed; ahead++) {
      calls[(part + ahead) % parts] = 0;
      failures[(part + ahead) % parts] = 0;
    }
    if (passed > 0) part = current;
  }

  function close(): void {
    nextProbe = undefined;
    calls.fill(0);
    failures.fill(0);
  }
}

function sum(counts: Uint32Array): number {
  return counts.reduce((total, count) => total + count, 0);
}
