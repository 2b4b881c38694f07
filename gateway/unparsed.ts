import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

// What Node's HTTP parser gives to no handler of requests.

const reasons = new Map([
  [400, 'Bad Request'],
  [405, 'Method Not Allowed'],
  [408, 'Request Timeout'],
  [413, 'Payload Too Large'],
  [431, 'Request Header Fields Too Large'],
]);

/** By the code of Node's error; all others are 400. */
const statuses = new Map<unknown, number>([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['HPE_HEADER_OVERFLOW', 431],
]);

/** Connections whose last reply is written though the rest of its request may still come. */
const answered = new WeakSet<Duplex>();

/** Says that whatever still comes on a connection has had its reply. */
export function markAnswered(socket: Socket): void {
  answered.add(socket);
}

/**
 * Answers a message that is no HTTP, or takes too long to become one, once, and ends its connection (RFC 9112, 2.2).
 * To be the server's listener for 'clientError'.
 */
export function answerUnparsed(error: NodeJS.ErrnoException, socket: Duplex): void {
  // bytes behind a message that said `Connection: close`: its own reply is still to come
  if (error.code === 'HPE_CLOSED_CONNECTION') return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // replies that are due go out at the end of this turn: after them
  setImmediate(() => {
    if (answered.has(socket)) socket.end();
    else endWith(socket, statuses.get(error.code) ?? 400);
  });
}

/** This is no proxy. To be the server's listener for 'connect'. */
export function refuseConnect(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {}); // who asks for a tunnel may well be gone
  endWith(socket, 405, 'Allow: GET, HEAD, OPTIONS, POST\r\n');
}

function endWith(socket: Duplex, status: number, headers = ''): void {
  socket.end(
    `HTTP/1.1 ${status} ${reasons.get(status)}\r\n${headers}Content-Length: 0\r\nConnection: close\r\n\r\n`,
    () => socket.destroy(),
  );
}
