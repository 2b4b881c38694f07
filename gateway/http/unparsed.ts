import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type RequestRecord, startStats } from '../telemetry/request-stats.ts';
import { type Connections, endGently, endWithCare } from './connections.ts';
import { contentTypes } from './reply.ts';
import { newRequestId } from './request-context.ts';

// What Node's HTTP server gives to no handler of requests.

/** How a message is refused. */
interface Refusal extends Pick<RequestRecord, 'method' | 'status' | 'error'> {
  readonly message: string;
  readonly allow?: string;
}

/** A message that the parser refuses has no method that could be logged. */
const malformed: Refusal = {
  method: '',
  status: 400,
  error: 'MalformedRequest',
  message: 'expected a request of HTTP/1.1',
};

/** By the code of Node's error; all others are malformed. */
const refusals = new Map<unknown, Refusal>([
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { method: '', status: 408, error: 'RequestTimeout', message: 'the request took too long to arrive' },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { method: '', status: 413, error: 'RequestTooLarge', message: 'expected shorter extensions of chunks' },
  ],
  [
    'HPE_HEADER_OVERFLOW',
    { method: '', status: 431, error: undefined, message: 'expected a shorter target and header lines' },
  ],
]);

const tunnel: Refusal = {
  method: 'CONNECT',
  status: 405,
  error: 'MethodNotAllowed',
  message: 'this is no proxy',
  allow: 'GET, HEAD, OPTIONS, POST',
};

/** Listeners for the server's events 'clientError' and 'connect'. */
export interface Unparsed {
  readonly answer: (error: NodeJS.ErrnoException, stream: Duplex) => void;
  readonly refuseConnect: (request: IncomingMessage) => void;
}

/** @param tell called for each request that is answered here */
export function createUnparsed(
  connections: Pick<Connections, 'refuse' | 'excuse'>,
  report: (record: RequestRecord) => void,
): Unparsed {
  return {
    answer,
    refuseConnect: ({ socket }) => {
      socket.on('error', () => {}); // who asks for a tunnel may well be gone
      // Node took its own away, and replies before it may still wait for a caller who takes nothing
      socket.on('timeout', () => socket.destroy());
      connections.refuse(socket, () => refuse(socket, tunnel));
    },
  };

  /** A message that is no HTTP, or takes too long to become one, is the last of its connection (RFC 9112, 2.2). */
  function answer(error: NodeJS.ErrnoException, socket: Duplex): void {
    // bytes behind a message with `Connection: close`: its own reply is still to come
    if (error.code === 'HPE_CLOSED_CONNECTION') {
      if (socket instanceof Socket) endWithCare(socket);
      return;
    }
    const isGone = error.code === 'ECONNRESET' || !socket.writable;
    if (isGone || !(socket instanceof Socket) || (isLate(error) && socket.bytesRead === 0)) {
      socket.destroy(); // where nothing ever came, nothing is to be answered or logged
      return;
    }
    const refusal = refusals.get(error.code) ?? malformed;
    const refuseNow = (): void =>
      connections.refuse(socket, (under) => {
        if (under === undefined) refuse(socket, refusal);
        else refuseBody(socket, refusal, under);
      });
    if (!isLate(error) || !connections.excuse(socket, refuseNow)) refuseNow();
  }

  function refuse(socket: Socket, refusal: Refusal): void {
    if (!socket.writable) return; // the last reply reported it
    const requestId = newRequestId();
    const { bytes, bytesOut } = messageOf(refusal, requestId);
    socket.write(bytes);
    endGently(socket);
    const { method, status, error } = refusal;
    report(recordOf(socket, { method, status, error, requestId, bytesOut }));
  }
}

/** Refuses a request by its body, which its call, once it sees the connection gone, tells of. */
function refuseBody(socket: Socket, refusal: Refusal, response: ServerResponse): void {
  if (response.headersSent) {
    setImmediate(endGently, socket); // replies that are due go out by then
    return;
  }
  response.statusCode = refusal.status;
  socket.end(messageOf(refusal, newRequestId()).bytes, () => socket.destroy());
}

function isLate({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** A reply as it goes over the wire, to what Node made no request of. */
function messageOf(
  { status, message, allow }: Refusal,
  requestId: string,
): { readonly bytes: string; readonly bytesOut: number } {
  const body = `${message} (request ${requestId})\n`;
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${contentTypes.text}`,
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    ...(allow === undefined ? [] : [`Allow: ${allow}`]),
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
  ];
  return { bytes: `${lines.join('\r\n')}\r\n\r\n${body}`, bytesOut: body.length };
}

/** What is known of a message that no call was made of. */
type Known = Pick<RequestRecord, 'requestId' | 'method' | 'status' | 'bytesOut'> &
  Partial<Pick<RequestRecord, 'error'>>;

function recordOf(socket: Socket, { requestId, method, ...known }: Known): RequestRecord {
  return { ...startStats(requestId, method), ...known, clientIp: socket.remoteAddress };
}
