import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { http } from '../node-http.ts';
import { type RequestRecord, startStats } from '../telemetry/request-stats.ts';
import type { Connections } from './connections.ts';
import { contentTypes } from './reply.ts';
import { newRequestId } from './request-context.ts';
import { endGently, endWithCare } from './sockets.ts';

// Answers messages that Node's HTTP server passes to no request handler.

/** The rejection of a message. */
interface Refusal extends Pick<RequestRecord, 'method' | 'status' | 'error'> {
  readonly message: string;
  readonly allow?: string;
}

/** A message that the parser rejects has no method for the log. */
const malformed: Refusal = {
  method: '',
  status: 400,
  error: 'MalformedRequest',
  message: 'expected an HTTP/1.1 request',
};

/** Keys are the codes of Node's errors. All other errors count as malformed. */
const refusals = new Map<unknown, Refusal>([
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { method: '', status: 408, error: 'RequestTimeout', message: 'the request took too long to arrive' },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    { method: '', status: 413, error: 'RequestTooLarge', message: 'expected shorter chunk extensions' },
  ],
  [
    'HPE_HEADER_OVERFLOW',
    {
      method: '',
      status: 431,
      error: undefined,
      message: 'expected a shorter request target and shorter headers',
    },
  ],
]);

const tunnel: Refusal = {
  method: 'CONNECT',
  status: 405,
  error: 'MethodNotAllowed',
  message: 'this server is not a proxy',
  allow: 'GET, HEAD, OPTIONS, POST',
};

/** Listeners for the server's events 'clientError' and 'connect'. */
export interface Unparsed {
  readonly answer: (error: NodeJS.ErrnoException, stream: Duplex) => void;
  readonly refuseConnect: (request: IncomingMessage) => void;
}

/** @param report called for each request that is answered here */
export function createUnparsed(
  connections: Pick<Connections, 'refuse' | 'excuse'>,
  report: (record: RequestRecord) => void,
): Unparsed {
  return {
    answer,
    refuseConnect: ({ socket }) => {
      socket.on('error', () => {}); // the client may have disconnected
      // Node removed its timeout listener, and earlier replies may still wait for a client that reads nothing
      socket.on('timeout', () => socket.destroy());
      connections.refuse(socket, () => refuse(socket, tunnel));
    },
  };

  /** Answers a message that is not HTTP or arrives too slowly, and ends the connection (RFC 9112 §2.2). */
  function answer(error: NodeJS.ErrnoException, socket: Duplex): void {
    // bytes after a message with `Connection: close`; the reply to that message is still pending
    if (error.code === 'HPE_CLOSED_CONNECTION') {
      if (socket instanceof Socket) endWithCare(socket);
      return;
    }
    const isGone = error.code === 'ECONNRESET' || !socket.writable;
    if (isGone || !(socket instanceof Socket) || (isLate(error) && socket.bytesRead === 0)) {
      socket.destroy(); // nothing arrived, so there is nothing to answer or log
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
    if (!socket.writable) return; // the last reply was logged already
    const requestId = newRequestId();
    const { bytes, bytesOut } = messageOf(refusal, requestId);
    socket.write(bytes);
    endGently(socket);
    const { method, status, error } = refusal;
    report(recordOf(socket, { method, status, error, requestId, bytesOut }));
  }
}

/** Rejects a request with a malformed body. Its call logs it when it finds the connection closed. */
function refuseBody(socket: Socket, refusal: Refusal, response: ServerResponse): void {
  if (response.headersSent) {
    setImmediate(endGently, socket); // pending replies are sent by then
    return;
  }
  response.statusCode = refusal.status;
  socket.end(messageOf(refusal, newRequestId()).bytes, () => socket.destroy());
}

function isLate({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** Returns a complete HTTP response as text, for a message for which Node created no request. */
function messageOf(
  { status, message, allow }: Refusal,
  requestId: string,
): { readonly bytes: string; readonly bytesOut: number } {
  const body = `${message} (request ${requestId})\n`;
  const lines = [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
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

/** Known members of the log record of a message without a call. */
type Known = Pick<RequestRecord, 'requestId' | 'method' | 'status' | 'bytesOut'> &
  Partial<Pick<RequestRecord, 'error'>>;

function recordOf(socket: Socket, { requestId, method, ...known }: Known): RequestRecord {
  return { ...startStats(requestId, method), ...known, clientIp: socket.remoteAddress };
}
