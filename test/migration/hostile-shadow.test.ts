import { type AddressInfo, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { until } from '../until.ts';
import { headers, message, path, results, startComparing } from './comparing.ts';

const body = message('GRANT1');
const mebibyte = 1024 * 1024;

/** A server that behaves badly after each request. `written` counts the bytes that it sent. */
interface Hostile {
  readonly url: string;
  readonly written: () => number;
}

type Behave = (socket: Socket, write: (bytes: Buffer | string) => boolean) => void;

async function startHostile(t: ExecutionContext, behave: Behave): Promise<Hostile> {
  const sockets = new Set<Socket>();
  let written = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      behave(socket, (bytes) => {
        written += bytes.length;
        return socket.write(bytes);
      });
    });
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, written: () => written };
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n';

const behaviours: Readonly<Record<string, { readonly behave: Behave; readonly result: string }>> = {
  hangs: { behave: () => {}, result: 'skipped:aborted' },
  'sends a byte at a time': {
    behave: (socket, write) => {
      write(`${head}Content-Length: 1000000\r\n\r\n`);
      const timer = setInterval(() => write('x'), 10);
      socket.on('close', () => clearInterval(timer));
    },
    result: 'skipped:aborted',
  },
  'sends 1 GB': {
    behave: (socket, write) => {
      write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      const piece = Buffer.concat([
        Buffer.from('10000\r\n'),
        Buffer.alloc(0x10000, 120),
        Buffer.from('\r\n'),
      ]);
      const pour = (): void => {
        for (let index = 0; index < 16_384; index++) {
          if (socket.destroyed) return;
          if (!write(piece)) {
            socket.once('drain', pour);
            return;
          }
        }
      };
      pour();
    },
    result: 'skipped:size',
  },
  'announces 1 GB': {
    behave: (_socket, write) => write(`${head}Content-Length: 1000000000\r\n\r\n`),
    result: 'skipped:size',
  },
  'sends garbage': { behave: (_socket, write) => write('\0\x01garbage\r\n\r\n'), result: 'skipped:aborted' },
  resets: { behave: (socket) => socket.resetAndDestroy(), result: 'skipped:aborted' },
  'resets after its head': {
    behave: (socket, write) => {
      write(`${head}Content-Length: 1000\r\n\r\n<`);
      setTimeout(() => socket.resetAndDestroy(), 20);
    },
    result: 'skipped:aborted',
  },
};

for (const answer of ['legacy', 'new'] as const)
  for (const [name, { behave, result }] of Object.entries(behaviours))
    test(`G26, G27: with answer ${answer}, a shadow side that ${name} changes nothing`, async (t) => {
      const hostile = await startHostile(t, behave);
      const plain = await startComparing(t, { mode: answer });
      const wanted = await plain.send({ path, headers, body });
      const site = await startComparing(
        t,
        { answer },
        {
          limits: { shadowMs: result === 'skipped:size' ? 60_000 : 400, compareBytes: mebibyte },
          [answer === 'legacy' ? 'upstream' : 'legacy']: hostile.url,
        },
      );
      const count = 4;
      // a caller gets its reply although the shadow requests of earlier calls have not ended
      for (let index = 0; index < count; index++) {
        const got = await site.send({ path, headers, body });
        t.is(got.status, wanted.status);
        t.deepEqual(got.body, wanted.body);
      }

      t.deepEqual(await results(site, count), new Array(count).fill(result));
      // the gateway reads at most `compareBytes`, and the system's buffers hold a few MiB
      t.true(hostile.written() < count * 16 * mebibyte, String(hostile.written()));
      await until(() => site.running.load().inFlight === 0);
      t.true(await site.running.stop(0));
    });
