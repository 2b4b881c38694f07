import type { Socket } from 'node:net';
import test from 'ava';
import { emptyReply, keyHeaders, startGateway, statusOf } from '../gateway.ts';
import { startSockets } from '../sockets.ts';

const head = 'HTTP/1.1 200 OK\r\n';
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
const answer = `${head}Content-Length: ${emptyReply.length}\r\n\r\n${emptyReply}`;

/**
 * Endless bytes outside a body: name, start of the response, repeated piece, and the end that completes the response.
 */
const floods: readonly (readonly [what: string, start: string, piece: string, end: string])[] = [
  ['a reason phrase', 'HTTP/1.1 200 ', 'r', `\r\n${answer.slice(head.length)}`],
  ['lines before the status', '', '\r\n', answer],
  ['interim responses', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', answer],
  ['the extension of a chunk', `${chunked}1e;`, 'e', `\r\n${emptyReply}\r\n0\r\n\r\n`],
  ['zeros before a chunk’s size', chunked, '0', `1e\r\n${emptyReply}\r\n0\r\n\r\n`],
  ['chunks of one byte', chunked, '1\r\n \r\n', `1e\r\n${emptyReply}\r\n0\r\n\r\n`],
];

for (const [what, start, piece, end] of floods) {
  test(`upstreamOverheadBytes: ${what} of 100,000 bytes is skipped; endless is 502`, async (t) => {
    const limits = { upstreamOverheadBytes: 200_000 };
    const much = piece.repeat(Math.floor(100_000 / piece.length));
    const some = await startSockets(t, (socket) => socket.write(start + much + end));
    const gateway = await startGateway(t, { limits, serve: { upstreamUrl: some.url } });
    const reply = await gateway.send('PUT', '/subusers/update', keyHeaders, write);
    t.is(reply.status, 200);
    t.is(reply.text.trimStart(), emptyReply);
    const endless = await startSockets(t, (socket) => {
      socket.write(start);
      goOn(socket, Buffer.from(much));
    });
    const flooded = await startGateway(t, { limits, serve: { upstreamUrl: endless.url } });
    const refusal = await flooded.send('PUT', '/subusers/update', keyHeaders, write);
    t.is(refusal.status, 502);
    t.is(statusOf(refusal.text).errorCode, 'UpstreamInvalidResponse');
    while (endless.open() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });
}

const write = '{"request":{"subUserName":"a"}}';

function goOn(socket: Socket, piece: Buffer): void {
  while (socket.writable) {
    if (socket.write(piece)) continue;
    socket.once('drain', () => goOn(socket, piece));
    return;
  }
}
