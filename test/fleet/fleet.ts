import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { freePort } from '../free-port.ts';
import { type Served, start } from '../gateway/commands/run.ts';
import { emptyReply, keyHeaders } from '../gateway/gateway.ts';

// What a fleet is made of on one machine: a store, a balancer by the recipe in deploy/, replicas, an upstream, callers.

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** The first of these tools that is installed; undefined for none. */
export function installed(...tools: readonly string[]): string | undefined {
  return tools.find((tool) => spawnSync('which', [tool], { env }).status === 0);
}

/** Valkey, or Redis where that is what there is. */
export const storeTool = installed('valkey-server', 'redis-server');

/** A folder that goes away with the test. */
export function scratch(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-fleet-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Waits until something listens. */
async function listening(port: number): Promise<void> {
  for (;;) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('close', () => socket.destroy());
      socket.once('connect', () => socket.end());
    });
    if (isThere) return;
    await pause(20);
  }
}

/** A process of this test, ended with it. */
async function startTool(
  t: ExecutionContext,
  tool: string,
  args: readonly string[],
  port: number,
): Promise<ChildProcess> {
  const child = spawn(tool, args, { env, stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));
  await listening(port);
  return child;
}

/** Ends a process at once, and waits until it has gone. */
export async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** A store that keeps nothing on a disk. */
export function startStore(t: ExecutionContext, port: number): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  return startTool(t, storeTool ?? '', [...args, '--dir', scratch(t)], port);
}

/** HAProxy in front of these ports, by deploy/haproxy/haproxy.cfg without TLS. */
export async function startBalancer(t: ExecutionContext, ports: readonly number[]): Promise<number> {
  const port = await freePort();
  let config = readFileSync(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url), 'utf8')
    .replace(/^ {2}bind :443 .*\n/m, '')
    .replace(/^ {2}http-request redirect .*\n/m, '')
    .replace('bind :80', `bind 127.0.0.1:${port}`)
    .replace('log stdout format raw local0 info', '');
  for (const [index, to] of ports.entries())
    config = config.replace(`127.0.0.1:808${index + 1}`, `127.0.0.1:${to}`);
  const file = join(scratch(t), 'haproxy.cfg');
  writeFileSync(file, config);
  await startTool(t, 'haproxy', ['-db', '-q', '-f', file], port);
  return port;
}

/** A JSON service that answers after a while, and how often it met each number. */
export async function startUpstream(t: ExecutionContext, delayMs: number) {
  const met = new Map<string, number>();
  const server = createServer(async (incoming, response) => {
    const id = /"subUserName":"(\w+)"/.exec(await text(incoming))?.[1] ?? '';
    met.set(id, (met.get(id) ?? 0) + 1);
    setTimeout(() => {
      response.setHeader('content-type', 'application/json');
      response.end(emptyReply);
    }, delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, met };
}

/** A replica on a port, once it takes calls. */
export function startReplica(
  t: ExecutionContext,
  port: number,
  environment: Record<string, string>,
): Promise<Served> {
  return start(t, [], {
    PORT: String(port),
    SOAPBRIDGE_TRUSTED_PROXIES: '127.0.0.1',
    SOAPBRIDGE_DRAIN_DELAY: '2500',
    ...environment,
  });
}

/** Waits until HAProxy has a replica in its turn again. */
export async function inTurn(port: number): Promise<void> {
  await listening(port);
  await pause(1_500); // two checks of half a second each
}

/** What came of one call. */
export interface Called {
  /** 0: no answer. */
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly at: number;
}

let calls = 0;

/** One write, with a number of its own, as the caller of these headers. */
export function call(
  port: number,
  agent: Agent,
  headers: Record<string, string> = keyHeaders,
): Promise<Called> {
  const body = `{"request":{"subUserName":"u${calls++}"}}`;
  return new Promise((resolve) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        agent,
        method: 'POST',
        path: '/v2/json/reply/UpdateSubUser',
        headers: { 'Content-Type': 'application/json', 'Content-Length': body.length, ...headers },
      },
      (incoming) => {
        incoming.resume().once('end', () => {
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, at: performance.now() });
        });
        incoming.once('error', () => resolve({ status: 0, headers: {}, at: performance.now() }));
      },
    );
    outgoing.once('error', () => resolve({ status: 0, headers: {}, at: performance.now() }));
    outgoing.end(body);
  });
}

/** Callers that call one after the other until they are stopped; what came of it all. */
export function startCallers(port: number, count: number, pauseMs = 5) {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const results: Called[] = [];
  let isOver = false;
  const callers = Array.from({ length: count }, async () => {
    while (!isOver) {
      results.push(await call(port, agent));
      await pause(pauseMs);
    }
  });
  return {
    results,
    stop: async (): Promise<readonly Called[]> => {
      isOver = true;
      await Promise.all(callers);
      agent.destroy();
      return results;
    },
  };
}
