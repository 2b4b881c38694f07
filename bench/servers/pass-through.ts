import { createServer } from 'node:http';
import { Pool } from 'undici';

/** A naive Node proxy: collects the body, sends one request, buffers the reply. */
const [port, upstream = ''] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 64 });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const reply = await pool.request({
      method: 'POST',
      path: '/json/reply/UpdateSubUser',
      headers: { 'content-type': 'application/json' },
      body: Buffer.concat(chunks),
    });
    const body = Buffer.from(await reply.body.arrayBuffer());
    response.writeHead(reply.statusCode, {
      'Content-Type': 'text/xml; charset=utf-8',
      'Content-Length': body.length,
    });
    response.end(body);
  });
});
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
