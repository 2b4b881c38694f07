import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from '../mappings/limits.ts';

/** The callers' connections of one server. */
export interface Connections {
  /** Takes note of a new one, or ends it where its address has too many. */
  readonly add: (socket: Socket) => void;
  readonly count: () => number;
  /** Looks at all of them: one whose caller doesn't take what it is sent gets a time limit. For every second or so. */
  readonly sweep: () => void;
  /** Closes the server as requests end; true when none was cut. */
  readonly close: (server: Server, withinMs: number) => Promise<boolean>;
}

/**
 * @param isExempt whether any number of connections may come from an address, as from a proxy before many callers
 */
export function createConnections(limits: Limits, isExempt: (address: string) => boolean): Connections {
  const sockets = new Set<Socket>();
  const counts = new Map<string, number>();

  return {
    add: (socket) => {
      const address = socket.remoteAddress;
      if (address === undefined) return; // gone already
      const counted = !isExempt(address);
      const count = counted ? (counts.get(address) ?? 0) + 1 : 0;
      if (count > limits.connectionsPerAddress) {
        socket.destroy();
        return;
      }
      if (counted) counts.set(address, count);
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        if (counted) forget(address);
      });
    },
    count: () => sockets.size,
    sweep: () => {
      for (const socket of sockets) {
        // Node starts the time again whenever some of it was taken, and puts its own in when all of it was
        if (socket.writableLength > 0 && socket.timeout !== limits.writeIdleMs)
          socket.setTimeout(limits.writeIdleMs);
      }
    },
    close: (server, withinMs) => closeServer(server, sockets, withinMs),
  };

  function forget(address: string): void {
    const left = (counts.get(address) ?? 1) - 1;
    if (left === 0) counts.delete(address);
    else counts.set(address, left);
  }
}

/** Whether an address is this machine's own: a proxy or a person on it, never a stranger. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

/**
 * Closes connections as their requests end, and soon those that never sent a byte, which Node counts as busy: soon
 * and not at once, as a request may be on its way in.
 */
function closeServer(server: Server, sockets: ReadonlySet<Socket>, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    let clean = true;
    const timer = setTimeout(() => {
      clean = false;
      server.closeAllConnections();
    }, withinMs);
    const often = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }, 50);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(often);
      resolve(clean);
    });
    server.closeIdleConnections();
  });
}
