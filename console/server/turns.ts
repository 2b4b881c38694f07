import { setTimeout as pause } from 'node:timers/promises';

/** Pages and kits take this share of a core at most while they are made, as calls come first. */
const share = 0.25;

/** Makes what visitors ask for, a piece at a time, with pauses between them in which calls are answered. */
export interface Turns {
  /**
   * Does some work once what came before is done and its pause is over; nothing of it may take long by itself. Throws an error
   * with the status 503, for the visitor, where too many wait, and what the work throws.
   */
  readonly take: <T>(work: () => T | Promise<T>) => Promise<T>;
}

/** @param mostWaiting how many may wait, beside the one that has its turn */
export function createTurns(mostWaiting: number): Turns {
  let line: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    take: (work) => {
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
