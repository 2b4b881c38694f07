import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Result of one round of load. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Requests to send in rotation, or a function that creates each request when it is sent. */
export type Requests = readonly Buffer[] | (() => Buffer);

/**
 * Sends requests in rotation on `connections` sockets for `seconds`. Each socket waits for a reply before the next
 * request. Throws if a reply is not HTTP 200.
 *
 * @param ca the CA of a server that is called over TLS, as PEM
 */
export async function load(
  port: number,
  requests: Requests,
  connections: number,
  seconds: number,
  ca?: string,
): Promise<LoadResult> {
  const times: number[] = [];
  let turn = 0;
  const next =
    typeof requests === 'function'
      ? requests
      : (): Buffer => requests[turn++ % requests.length] ?? Buffer.alloc(0);
  const open = (): Socket =>
    ca === undefined ? connect(port, '127.0.0.1') : connectTls({ port, host: '127.0.0.1', ca });
  const until = performance.now() + seconds * 1000;
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, () => oneSocket(open, next, until, times)));
  const elapsed = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { requests: times.length, seconds: elapsed, p50: at(0.5), p99: at(0.99) };
}

/** Opens a new connection whenever the server closes one, until the time is over. */
async function oneSocket(
  open: () => Socket,
  next: () => Buffer,
  until: number,
  times: number[],
): Promise<void> {
  while (performance.now() < until) await oneConnection(open, next, until, times);
}

function oneConnection(
  open: () => Socket,
  next: () => Buffer,
  until: number,
  times: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = open();
    let closing = false;
    let sent = 0;
    let missing = -1; // bytes of the reply that are still missing; -1 before the end of its head
    let head = '';
    const send = (): void => {
      sent = performance.now();
      missing = -1;
      head = '';
      socket.write(next());
    };
    socket.setNoDelay(true);
    socket.on('encrypted' in socket ? 'secureConnect' : 'connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      if (missing === -1) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end === -1) return;
        const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
        if (!head.startsWith('HTTP/1.1 200')) {
          reject(new Error(`expected 200, got ${head.slice(0, 300)}`));
          socket.destroy();
          return;
        }
        closing = /\r\nconnection: close/i.test(head);
        // node-soap sends chunked replies without a length
        if (length === undefined) missing = head.endsWith('\r\n0\r\n\r\n') ? 0 : -1;
        else missing = Number(length) - (head.length - end - 4);
        if (missing === -1) return;
      } else missing -= chunk.length;
      if (missing > 0) return;
      const now = performance.now();
      times.push(now - sent);
      if (now < until && !closing) send();
      else {
        socket.end();
        resolve();
      }
    });
  });
}
