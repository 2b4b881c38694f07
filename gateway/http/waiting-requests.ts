import type { ServerResponse } from 'node:http';

/**
 * Begins requests that waited for one before them on their connection, so many at once and the others in their order. Who
 * sends a hundred on each of many connections would have as many calls come back from the upstream in the same moment, and
 * everybody else's wait behind them. A place is free again when the reply is written or the caller gone, but no sooner than
 * the next turn of the event loop.
 *
 * @param placeMs who is under way for longer waits for the upstream or a caller, and keeps nobody else waiting
 * @returns has a request begun, `begin`, once there is a place; one whose caller left by then has none, and is begun too
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

  function leave(): void {
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
        setImmediate(leave);
      };
      const timer = setTimeout(free, placeMs).unref();
      response.once('prefinish', free).once('close', free);
      begin();
    });
    goOn();
  };
}
