import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { ServeOptions } from '../../../gateway/process/serve-options.ts';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { type Gateway, type Reply, send, startGateway } from '../gateway.ts';

/** A JSON service at one address. */
export interface Service {
  readonly port: number;
  readonly host: string;
  readonly url: string;
  /** Method and path of each request, without health checks. */
  readonly hits: string[];
  /** Number of connections that it accepted. */
  readonly connections: () => number;
  /** Number of open connections. */
  readonly open: () => number;
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers `/healthz`. */
  health: number;
  readonly stop: () => Promise<void>;
}

let hosts = 0;

/** Returns a loopback address of its own. No other server takes the port of a stopped service there. */
export function ownHost(): string {
  hosts++;
  return `127.${1 + (process.pid % 250)}.${(process.pid >> 8) % 250}.${hosts}`;
}

/** Starts a service. Port 0 selects a free one. */
export async function startService(
  t: Pick<ExecutionContext, 'teardown'>,
  { port = 0, host = ownHost() }: { port?: number; host?: string } = {},
): Promise<Service> {
  let connections = 0;
  const server: Server = createServer((request, response) => {
    if (request.url === '/healthz') {
      response.writeHead(service.health).end();
      return;
    }
    service.hits.push(`${request.method} ${request.url}`);
    service.answer(request, response);
  });
  let open = 0;
  server.on('connection', (socket) => {
    connections++;
    open++;
    socket.on('close', () => open--);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const own = (server.address() as AddressInfo).port;
  const service: Service = {
    port: own,
    host,
    url: `http://${host}:${own}`,
    hits: [],
    connections: () => connections,
    open: () => open,
    answer: (_request, response) => response.writeHead(204).end(),
    health: 200,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  t.teardown(service.stop);
  return service;
}

const responses = { 204: { description: 'done' } };
const paths = {
  '/read': { get: { operationId: 'read', responses } },
  '/write': { post: { operationId: 'write', responses } },
};

/** Writes a `soapbridge.yaml` with a contract at `/c` that has the operations `read` and `write`. */
export function configWith(t: Pick<ExecutionContext, 'teardown'>, upstream: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), 'addresses-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'openapi.json'), JSON.stringify({ openapi: '3.1.0', info: {}, paths }));
  const config = join(directory, 'soapbridge.yaml');
  const contracts = { '/c': { openapi: 'openapi.json', upstream } };
  writeFileSync(config, JSON.stringify({ contracts }));
  return config;
}

/** Starts a gateway with an upstream as in `soapbridge.yaml`. */
export function startWith(
  t: Pick<ExecutionContext, 'teardown'>,
  upstream: unknown,
  limits: Partial<Limits> = {},
  options: Partial<ServeOptions> = {},
): Promise<Gateway> {
  const serve = { config: configWith(t, upstream), ...options };
  return startGateway(t, { isPatient: true, limits, serve });
}

export function call(gateway: Gateway, operation: 'read' | 'write'): Promise<Reply> {
  return send(gateway.port, 'POST', `/c/json/reply/${operation}`, {}, '{}');
}

/** Returns the samples of the metric `upstream_address_up` by address. */
export async function up(gateway: Gateway): Promise<Record<string, number>> {
  const { text } = await send(gateway.port, 'GET', '/metrics');
  const samples = text.matchAll(/upstream_address_up\{[^}]*address="([^"]*)"[^}]*\} (\d)/g);
  return Object.fromEntries([...samples].map(([, address, value]) => [address, Number(value)]));
}
