import type { Socket } from 'node:net';
import { emptyReply } from '../gateway.ts';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/**
 * Upstreams that break off an exchange after the request, with the expected status, error code and numbers of attempts.
 */
export const broken: readonly (readonly [
  what: string,
  onRequest: (socket: Socket, count: number) => void,
  status: number,
  code: string,
  /** Number of attempts of a read and of a write. */
  reads: number,
  writes: number,
])[] = [
  ['resets before it answers', (socket) => socket.resetAndDestroy(), 502, 'UpstreamInvalidResponse', 2, 1],
  ['closes before it answers', (socket) => socket.end(), 502, 'UpstreamInvalidResponse', 2, 1],
  [
    'resets amid its answer',
    (socket) =>
      socket.write(`${head}Content-Length: 99\r\n\r\n{"data"`, () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      ),
    502,
    'UpstreamInvalidResponse',
    1,
    1,
  ],
  [
    'closes before its Content-Length',
    (socket) => socket.end(`${head}Content-Length: 99\r\n\r\n${emptyReply}`),
    502,
    'UpstreamInvalidResponse',
    1,
    1,
  ],
  [
    'closes amid its chunks',
    (socket) =>
      socket.end(
        `${head}Transfer-Encoding: chunked\r\n\r\n${emptyReply.length.toString(16)}\r\n${emptyReply}\r\n`,
      ),
    502,
    'UpstreamInvalidResponse',
    1,
    1,
  ],
  [
    'says a Content-Length too short',
    (socket) => socket.end(`${head}Content-Length: 9\r\n\r\n${emptyReply}`),
    502,
    'UpstreamInvalidResponse',
    1,
    1,
  ],
  [
    'says two Content-Lengths',
    (socket) => socket.end(`${head}Content-Length: 9\r\nContent-Length: 8\r\n\r\n${emptyReply}`),
    502,
    'UpstreamInvalidResponse',
    1,
    1,
  ],
  [
    'answers what is no HTTP',
    (socket) => socket.end('SSH-2.0-OpenSSH\r\n\r\n'),
    502,
    'UpstreamInvalidResponse',
    1,
    1,
  ],
  [
    'answers headers without end',
    (socket) => socket.write(`${head}X: ${'x'.repeat(40_000)}\r\n`),
    502,
    'UpstreamInvalidResponse',
    1,
    1,
  ],
  ['never answers', () => {}, 504, 'UpstreamTimeout', 1, 1],
  [
    'stalls after its headers',
    (socket) => socket.write(`${head}Content-Length: 99\r\n\r\n`),
    504,
    'UpstreamTimeout',
    1,
    1,
  ],
  [
    'stalls amid its body',
    (socket) => socket.write(`${head}Content-Length: 99\r\n\r\n{"da`),
    504,
    'UpstreamTimeout',
    1,
    1,
  ],
  [
    'drips its body beyond the deadline',
    (socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      const drip = setInterval(
        () => (socket.writable ? socket.write('1\r\n \r\n') : clearInterval(drip)),
        50,
      );
      socket.on('close', () => clearInterval(drip));
    },
    504,
    'UpstreamTimeout',
    1,
    1,
  ],
];
