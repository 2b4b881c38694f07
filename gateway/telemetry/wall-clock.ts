import { performance } from 'node:perf_hooks';

/** In ms: how long the distance between both clocks is taken as it was; the system's may be set. */
const keptMs = 100;

let distance = 0;
let lookedAt = Number.NEGATIVE_INFINITY;

/** What `Date.now()` gave at a moment of `performance.now()`, in ms, to the ms; to ask for the date is 0.1 µs of V8's runtime. */
export function dateAt(moment: number): number {
  if (moment - lookedAt >= keptMs) {
    lookedAt = performance.now();
    distance = Date.now() - lookedAt;
  }
  return Math.floor(moment + distance);
}
