import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { Pool } from 'undici';
import { createConnector } from '../../../gateway/upstream/connector.ts';

const lengths = [1, 100, 4_095, 65_535, 65_536, 65_537, 200_000, 3_000_000];

/** Returns bytes that differ at each position of a body, and between bodies. */
function bodyOf(length: number): Buffer {
  const body = Buffer.alloc(length);
  for (let at = 0; at < length; at++) body[at] = (at * 31 + length) % 251;
  return body;
}

test('replies of all sizes are complete on connections that are read in turns', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', async (request) => {
      const length = Number(/^GET \/(\d+)/.exec(request.toString('latin1'))?.[1]);
      const reply = Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`),
        bodyOf(length),
      ]);
      // Send pieces, so that data of one connection are buffered while another is read.
      for (let at = 0; at < reply.length; at += 50_000) {
        socket.write(reply.subarray(at, at + 50_000));
        await turn();
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 4, connect: createConnector(60_000) });
  for (let round = 0; round < 3; round++) {
    const bodies = await Promise.all(
      lengths.map(async (length) => {
        const { body } = await pool.request({ method: 'GET', path: `/${length}` });
        return Buffer.from(await body.arrayBuffer());
      }),
    );
    for (const [index, length] of lengths.entries())
      t.true(bodies[index]?.equals(bodyOf(length)), `${length}`);
  }
  await pool.close();
  server.close();
});

test('a slow reader slows the upstream down', async (t) => {
  const length = 64 * 1024 * 1024;
  let written = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`);
      const piece = Buffer.alloc(64 * 1024, 'x');
      const send = (): void => {
        while (written < length) {
          written += piece.length;
          if (!socket.write(piece)) {
            socket.once('drain', send);
            return;
          }
        }
      };
      send();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connect: createConnector(60_000) });
  const { body } = await pool.request({ method: 'GET', path: '/' });
  for (let before = -1; before !== written; ) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.true(written < length, `${written} bytes were taken that nobody read`);
  let read = 0;
  for await (const piece of body) read += piece.length;
  t.is(read, length);
  await pool.close();
  server.close();
});

test('a refused connection is reported as undici does', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const pool = new Pool(`http://127.0.0.1:${port}`, { connect: createConnector(60_000) });
  await t.throwsAsync(pool.request({ method: 'GET', path: '/' }), { code: 'ECONNREFUSED' });
  await pool.close();
});

for (const rest of ['H', 'HTTP/1.1 100 x', 'HTTP/1.1 100 Continue\r\n\r\nrest'])
  test(`a response that starts before its request is written is complete: ${JSON.stringify(rest)}`, async (t) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${rest.length + 2}\r\n\r\nab`);
        socket.on('data', (piece) => {
          if (piece.includes('last')) socket.write(rest);
        });
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1, connect: createConnector(60_000) });
    const sent = new PassThrough();
    sent.write('first');
    const asked = pool.request({ method: 'PUT', path: '/', body: sent, headers: { 'content-length': '13' } });
    const { body } = await asked;
    sent.write('last');
    let got = '';
    for await (const piece of body) got += piece;
    t.is(got, `ab${rest}`);
    sent.end('more');
    await pool.destroy();
    server.close();
  });

test('requests are complete: body with the head, after it, in chunks, or absent', async (t) => {
  const server = createHttpServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    response.setHeader('x-said', `${request.method} ${request.url} ${request.headers['x-own']}`);
    response.end(Buffer.concat(pieces));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1, connect: createConnector(60_000) });
  const sent: [string, Buffer | Readable | null, Buffer][] = [];
  for (const length of [1, 150, 16_384, 16_385, 300_000]) {
    const body = bodyOf(length);
    sent.push(
      [`/whole/${length}`, body, body],
      [`/streamed/${length}`, Readable.from([body, body]), Buffer.concat([body, body])],
    );
  }
  sent.push(['/empty', Buffer.alloc(0), Buffer.alloc(0)], ['/none', null, Buffer.alloc(0)]);
  for (const [path, given, expected] of sent) {
    const { headers, body } = await pool.request({
      method: 'POST',
      path,
      body: given,
      headers: { 'x-own': 'é' },
    });
    t.is(headers['x-said'], `POST ${path} é`);
    t.true(expected.equals(Buffer.from(await body.arrayBuffer())), path);
  }
  await pool.close();
  server.close();
});
