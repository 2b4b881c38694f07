import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { networkOf } from '../http/networks.ts';
import { http, https } from '../node-http.ts';
import type { AdminListener, AdminOptions } from '../process/admin.ts';
import { AdminMemory } from '../process/admin-memory.ts';
import { counter } from '../telemetry/metrics.ts';
import { createAdminApp } from './app.ts';
import type { OperatorPages } from './operator-pages.ts';
import { Problem, problemType } from './problem.ts';
import { maxAnonymousPerMinute, RequestRates } from './request-rates.ts';
import { routes } from './routes.ts';
import { readTokens } from './tokens.ts';

/** Maximum number of connections, of one network and together. Further ones are closed. */
export const maxConnectionsPerNetwork = 32;
export const maxConnections = 256;

/** Maximum number of bytes in the headers of a request. */
export const maxHeaderBytes = 16 * 1024;

/** Maximum time to receive the headers, or to finish a TLS handshake, in ms. */
const maxHeadersMs = 5_000;
/** Maximum time to receive a body, in ms. */
const maxBodyMs = 5_000;
/** Time after which a connection without traffic is closed, in ms. */
const maxIdleMs = 30_000;

/** Clock and time limits that tests replace. */
export interface AdminTimes {
  /** Clock of the request rates, in ms. */
  readonly now?: () => number;
  /** As `maxHeadersMs`. */
  readonly headersMs?: number;
}

/** Opens the admin listener, as described for `OpenAdmin`, with the pages of the operator console. */
export async function openAdmin(
  { plan, tls, state, log, memory, pages }: AdminOptions & { readonly pages?: OperatorPages },
  { now = () => performance.now(), headersMs = maxHeadersMs }: AdminTimes = {},
): Promise<AdminListener> {
  let tokens = readTokens(plan.tokens, tls?.ca !== undefined);
  let names = certificateOf(tls);
  let { origin } = plan;
  let port = 0;
  const statuses = new Map<number, number>();
  const countStatus = (status: number): void => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const own = new AdminMemory();
  const host = plan.host.includes(':') ? `[${plan.host}]` : plan.host;
  const url = (): string => `${tls === undefined ? 'http' : 'https'}://${host}:${port}`;
  const app = createAdminApp({
    routes: [...routes, ...(pages?.routes(routes) ?? [])],
    pages,
    state,
    tokens: () => tokens,
    memory: memory ?? (async (command) => own.run(command)),
    origin: () => origin ?? url(),
    isOwnHost: (host) =>
      (origin !== undefined && host === new URL(origin).host) ||
      isOwnHost(host, { host: plan.host, port, isTls: tls !== undefined, names }),
    rates: new RequestRates(now),
    anonymousRates: new RequestRates(now, maxAnonymousPerMinute, 60_000),
    onStatus: countStatus,
    log,
  });
  const options = {
    maxHeaderSize: maxHeaderBytes + 1, // Node rejects headers from its maximum on
    headersTimeout: headersMs,
    requestTimeout: headersMs + maxBodyMs,
    connectionsCheckingInterval: 100, // ms; Node applies both limits only at these times
    requireHostHeader: false, // the app requires it, with a problem document
  };
  const handle = app.callback();
  const secure =
    tls === undefined
      ? undefined
      : https().createServer({ ...options, ...tls, handshakeTimeout: headersMs }, handle);
  const server: Server = secure ?? http.createServer(options, handle);
  server.timeout = maxIdleMs;
  limitConnections(server);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const status = statusOf(error.code);
    countStatus(status);
    refuse(socket, status);
  });
  server.listen(plan.port, plan.host);
  await once(server, 'listening'); // rejects with the error of listening
  ({ port } = server.address() as AddressInfo);
  return {
    url: url(),
    prepare: (next, nextTls) => {
      const read = readTokens(next.tokens, nextTls?.ca !== undefined);
      return () => {
        tokens = read;
        ({ origin } = next);
        names = certificateOf(nextTls);
        if (nextTls !== undefined) secure?.setSecureContext(nextTls);
      };
    },
    read: () => [
      counter(
        'admin_requests_total',
        'Requests to the admin listener by status.',
        [...statuses].map(([status, count]) => [`status="${status}"`, count] as const),
      ),
    ],
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function certificateOf(tls: TlsOptions | undefined): X509Certificate | undefined {
  return tls === undefined ? undefined : new X509Certificate(String(tls.cert));
}

/** Names of the listener in a Host header. */
interface OwnNames {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Certificate whose names are accepted, too; undefined without TLS. */
  readonly names: X509Certificate | undefined;
}

/**
 * Returns true if a Host header has the port of the listener, and its host or a name of its certificate. A page of
 * another name that resolves to this address gets no access (DNS rebinding).
 */
function isOwnHost(header: string, { host, port, isTls, names }: OwnNames): boolean {
  const [, given = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(header) ?? [];
  if (Number(digits ?? (isTls ? 443 : 80)) !== port) return false;
  const name = given.replace(/^\[|\]$/g, '').toLowerCase();
  if (name === host.toLowerCase()) return true;
  if (names === undefined || name === '') return false;
  return (isIP(name) === 0 ? names.checkHost(name) : names.checkIP(name)) !== undefined;
}

/** Closes connections above the limits. The server counts a connection from its start, before the TLS handshake. */
function limitConnections(server: Server): void {
  const counts = new Map<string, number>();
  server.maxConnections = maxConnections;
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (counts.get(network) ?? 0) + 1;
    if (count > maxConnectionsPerNetwork) {
      socket.destroy();
      return;
    }
    counts.set(network, count);
    socket.once('close', () => {
      const left = (counts.get(network) ?? 1) - 1;
      if (left === 0) counts.delete(network);
      else counts.set(network, left);
    });
  });
}

/** Returns the status for an error of Node's HTTP parser. */
function statusOf(code: string | undefined): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

const refusals: Readonly<Record<number, string>> = {
  408: 'expected a complete request in time, got none',
  431: `expected headers of at most ${maxHeaderBytes} bytes, got more bytes`,
};

/** Answers bytes that are not a valid request, and closes the connection. */
function refuse(socket: Socket, status: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const detail = refusals[status] ?? 'invalid HTTP';
  const { text } = new Problem(status, detail);
  socket.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: ${problemType}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    () => socket.destroy(),
  );
}
