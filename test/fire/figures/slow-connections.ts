import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

// Opens the slow connections in a separate process, so that its own cost is not attributed to the gateway. It receives
// a port, reports when the connections are open, and reports the lifetime of the last one after all are closed.

const connections = 1_000;
/** Interval between bytes; short enough that no connection counts as idle. */
const everyMs = 1_000;

/** Messages of the process to its parent. */
export type Said = { readonly open: number } | { readonly lastMs: number };

process.on('message', async (port: number) => {
  const open = new Set<Socket>();
  let began = 0;
  let lastMs = 0;
  for (let count = 0; count < connections; count++) {
    const opened = performance.now();
    if (count === 0) began = opened;
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    open.add(socket);
    socket.write('POST /v2/soap11 HTTP/1.1\r\nHost: x\r\nX: ');
    const drip = setInterval(() => socket.write('x'), everyMs);
    socket.resume().on('close', () => {
      clearInterval(drip);
      open.delete(socket);
      lastMs = Math.max(lastMs, performance.now() - opened);
      if (open.size === 0) say({ lastMs });
    });
    if (count % 10 === 9) await pause(Math.max(0, began + count - performance.now())); // spread over a second
  }
  say({ open: open.size });
});

function say(said: Said): void {
  process.send?.(said);
}
