import type { ServerResponse } from 'node:http';

/**
 * Returns a function that starts pipelined requests, in order, with at most `most` in progress. Otherwise a client with
 * many requests on many connections would receive all their upstream replies at the same moment, which delays other
 * clients. A slot is free when the reply is written, the client is gone, or `placeMs` has passed, but not before the
 * next event-loop iteration.
 *
 * @param placeMs time in ms after which a request no longer counts, because it waits for the upstream or client
 * @returns calls `begin` when a slot is free; it needs no slot if the client is gone
 */
export function createWaitingRequests(
  most: number,
  placeMs = 50,
): (response: ServerResponse, begin: () => void) => void {
  let underWay = 0;
  const line: (() => void)[] = [];

  function goOn(): void {
    while (underWay < most) {
      const next = line.shift();
      if (next === undefined) return;
      next();
    }
  }

  function release(): void {
    underWay--;
    goOn();
  }

  return (response, begin) => {
    line.push(() => {
      if (response.destroyed) {
        begin();
        return;
      }
      underWay++;
      let hasPlace = true;
      const free = (): void => {
        if (!hasPlace) return;
        hasPlace = false;
        clearTimeout(timer);
        setImmediate(release);
      };
      const timer = setTimeout(free, placeMs).unref();
      response.once('prefinish', free).once('close', free);
      begin();
    });
    goOn();
  };
}
