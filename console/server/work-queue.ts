import { setTimeout as pause } from 'node:timers/promises';

/** Maximum share of a core that creating pages and kits may use, so that calls have priority. */
const share = 0.25;

/** A queue that runs the work for visitors one piece at a time, with pauses in which calls are processed. */
export interface WorkQueue {
  /**
   * Runs work after the earlier work and its pause. The work must not block for long. Rejects with status 503 if too
   * many visitors wait, and with the errors of the work.
   */
  readonly run: <T>(work: () => T | Promise<T>) => Promise<T>;
}

/** @param mostWaiting maximum number of waiting visitors, in addition to the one being served */
export function createWorkQueue(mostWaiting: number): WorkQueue {
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    run: (work) => {
      if (waiting > mostWaiting) return Promise.reject(busy());
      waiting++;
      let rest = 0;
      const done = line.then(async () => {
        const began = performance.now();
        try {
          return await work();
        } finally {
          waiting--;
          rest = (performance.now() - began) * (1 / share - 1);
        }
      });
      line = done.catch(() => undefined).then(() => pause(rest));
      return done;
    },
  };
}

function busy(): Error {
  const message = 'expected fewer visitors at a time; try again in some seconds';
  return Object.assign(new Error(message), { status: 503, expose: true, headers: { 'Retry-After': '5' } });
}
