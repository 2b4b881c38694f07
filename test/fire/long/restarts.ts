import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { emptyReply, keyHeaders, send } from '../../gateway/gateway.ts';
import { type Served, startProcess } from '../process.ts';

const restarts = 100;

/** Starts a TCP load balancer that distributes new connections among the processes that report ready. */
async function startBalancer(t: ExecutionContext) {
  const ready = new Set<number>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createTcpServer((caller) => {
    const ports = [...ready];
    const port = ports[turn++ % ports.length];
    if (port === undefined) {
      caller.destroy();
      return;
    }
    const process = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [caller, process],
      [process, caller],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy()).on('close', () => sockets.delete(from));
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  /** Polls a process until it has ended. It receives calls only while it reports ready. */
  const watch = async ({ port }: Served): Promise<void> => {
    for (;;) {
      const reply = await send(port, 'GET', '/readyz').catch(() => undefined);
      if (reply?.status === 200) ready.add(port);
      else ready.delete(port);
      if (reply === undefined) return;
      await pause(25);
    }
  };
  return { port: (server.address() as AddressInfo).port, ready, watch };
}

test(`${restarts} restarts behind a balancer under load lose no request and repeat no write`, async (t) => {
  const writes = new Map<string, number>();
  const upstream = createServer(async (incoming, response) => {
    const name = /"subUserName":"(\w+)"/.exec(await text(incoming))?.[1];
    if (name !== undefined) writes.set(name, (writes.get(name) ?? 0) + 1);
    setTimeout(() => response.end(emptyReply), 5);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const environment = {
    SOAPBRIDGE_UPSTREAM_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    SOAPBRIDGE_DRAIN_DELAY: '700',
  };
  const balancer = await startBalancer(t);
  const living = new Set<Served>();
  t.teardown(() => {
    for (const { child } of living) child.kill('SIGKILL');
  });
  const start = async (): Promise<Served> => {
    const served = await startProcess(environment);
    living.add(served);
    balancer.watch(served);
    while (!balancer.ready.has(served.port)) await pause(5);
    return served;
  };

  let over = false;
  let answered = 0;
  const failed: string[] = [];
  const done: string[] = [];
  const caller = async (name: string): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const call = (method: string, path: string, body: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { ...keyHeaders, 'Content-Length': Buffer.byteLength(body) };
        request({ host: '127.0.0.1', port: balancer.port, method, path, headers, agent }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
          response.on('error', reject);
        })
          .on('error', reject)
          .end(body);
      });
    for (let count = 0; !over; count++) {
      const write = `${name}n${count}`;
      const status = await (count % 2 === 0
        ? call('POST', '/v2/json/reply/GetSearch', '{}')
        : call('PUT', '/v2/subusers/update', `{"request":{"subUserName":"${write}"}}`)
      ).catch(String);
      if (status === 200) answered++;
      else failed.push(`${write}: ${status}`);
      if (status === 200 && count % 2 === 1) done.push(write);
      await pause(10);
    }
    agent.destroy();
  };
  let [first, second] = [await start(), await start()];
  const callers = Array.from({ length: 16 }, (_, index) => caller(`c${index}`));
  const ends: (number | null)[] = [];
  for (let count = 0; count < restarts; count++) {
    const next = await start();
    first.child.kill('SIGTERM');
    const { code, err } = await first.ended;
    living.delete(first);
    ends.push(code);
    t.is(err, '');
    [first, second] = [second, next];
  }
  over = true;
  await Promise.all(callers);
  t.log(`${answered} requests answered, ${failed.length} failed`);
  t.deepEqual(failed, []);
  t.true(ends.every((code) => code === 0));
  t.true(answered > 1_000);
  t.deepEqual(
    done.filter((write) => writes.get(write) !== 1),
    [],
  );
  t.is(writes.size, done.length);
});
