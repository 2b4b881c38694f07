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

// The parts of a fleet on one machine: a store, the load balancer of deploy/, replicas, an upstream, callers.

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

/** Returns the first of these tools that is installed, or undefined. */
export function installed(...tools: readonly string[]): string | undefined {
  return tools.find((tool) => spawnSync('which', [tool], { env }).status === 0);
}

/** Valkey, or Redis if only that is installed. */
export const storeTool = installed('valkey-server', 'redis-server');

/** Creates a folder that is deleted after the test. */
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

/** Starts a process that is stopped after the test. */
export async function startTool(
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

/** Kills a process and waits for its end. */
export async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Starts a store without persistence. */
export function startStore(t: ExecutionContext, port: number): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  return startTool(t, storeTool ?? '', [...args, '--dir', scratch(t)], port);
}

/** Starts HAProxy for these ports with deploy/haproxy/haproxy.cfg, without TLS. */
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

/** Starts a JSON service with delayed responses that counts how often it received each number. */
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

/** Starts a replica on a port and waits until it accepts calls. */
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

/** Waits until HAProxy uses a replica again. */
export async function inTurn(port: number): Promise<void> {
  await listening(port);
  await pause(1_500); // two health checks of half a second each
}

/** Result of one call. */
export interface Called {
  /** 0: no response. */
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly at: number;
}

let calls = 0;

/** Sends one write with a unique number and the given headers. */
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

/** Starts callers that call continuously until they are stopped, and collects the results. */
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
