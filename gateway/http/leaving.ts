import type { Socket } from 'node:net';

/** Connections that give way to new ones. To close one takes half as long as to accept one, so newcomers come first. */
export interface Leaving {
  /** Has a connection read no further, and closed soon: once no turn of the event loop accepts one, at once where too many wait for it. */
  readonly add: (socket: Socket) => void;
  /** Says that this turn accepted a connection: each accepts one, and others may be waiting for it. */
  readonly noteAccepted: () => void;
}

/** So many are closed in a turn. */
const perTurn = 4;

/** @param most how many wait to be closed */
export function createLeaving(most: number): Leaving {
  const waiting: Socket[] = [];
  let hasAccepted = false;

  function endTurn(): void {
    if (!hasAccepted) closeFirst(perTurn);
    hasAccepted = false;
    if (waiting.length > 0) setImmediate(endTurn);
  }

  function closeFirst(count: number): void {
    for (const socket of waiting.splice(0, count)) socket.destroy();
  }

  return {
    add: (socket) => {
      if (waiting.length === 0) setImmediate(endTurn);
      waiting.push(socket.pause());
      if (waiting.length > most) closeFirst(1);
    },
    noteAccepted: () => {
      hasAccepted = true;
    },
  };
}
