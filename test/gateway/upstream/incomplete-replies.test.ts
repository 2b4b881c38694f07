import type { Socket } from 'node:net';
import test from 'ava';
import { emptyReply, keyHeaders, startGateway, statusOf } from '../gateway.ts';
import { startSockets } from '../sockets.ts';

const ends = {
  'a regular end': (socket: Socket) => socket.end(),
  'a reset': (socket: Socket) => setTimeout(() => socket.resetAndDestroy(), 50),
};

for (const version of ['HTTP/1.0', 'HTTP/1.1'])
  for (const [how, end] of Object.entries(ends))
    for (const fields of ['', 'Connection: close\r\n', 'Content-Type: text/plain\r\n']) {
      const about = `${version} reply without a length${fields === '' ? '' : `, with ${fields.trim()},`}`;
      test(`RFC 9112, 8: a ${about} that ends by ${how} is ${how === 'a reset' ? '502' : 'complete'}`, async (t) => {
        const sockets = await startSockets(t, (socket) => {
          socket.on('error', () => {});
          socket.write(`${version} 200 OK\r\n${fields}\r\n${emptyReply}`, () => end(socket));
        });
        const gateway = await startGateway(t, { serve: { upstreamUrl: sockets.url } });
        const reply = await gateway.send(
          'PUT',
          '/subusers/update',
          keyHeaders,
          '{"request":{"subUserName":"a"}}',
        );
        t.is(reply.status, how === 'a reset' ? 502 : 200);
        if (how !== 'a reset') return;
        t.is(statusOf(reply.text).errorCode, 'UpstreamInvalidResponse');
        t.regex(gateway.log(), /"cause":"reset"/);
        t.regex(gateway.log(), /"outcome":"unknown"/);
      });
    }

test('a reply of known length is complete if a reset follows', async (t) => {
  const sockets = await startSockets(t, (socket) => {
    socket.on('error', () => {});
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(emptyReply)}\r\n\r\n`;
    socket.write(head + emptyReply, () => setTimeout(() => socket.resetAndDestroy(), 50));
  });
  const gateway = await startGateway(t, { serve: { upstreamUrl: sockets.url } });
  t.is((await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}')).status, 200);
});
