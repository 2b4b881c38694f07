import { createServer, type Server } from 'node:http';
import type { AddressInfo, BlockList } from 'node:net';
import type { Limits } from '../../mappings/contract/limits.ts';
import { shownPath } from '../core/contract-app.ts';
import type { Core } from '../core/core.ts';
import type { Log } from '../core/core-options.ts';
import { type Connections, createConnections, isLoopback } from '../http/connections.ts';
import { isListed } from '../http/forwarded.ts';
import { createUnparsed } from '../http/unparsed.ts';
import { describeError } from '../telemetry/log.ts';
import type { RequestRecord } from '../telemetry/request-stats.ts';
import type { Sites } from './sites.ts';

/** A server that listens. */
export interface Listener {
  readonly server: Server;
  readonly connections: Connections;
  /** The address it listens on, such as `http://127.0.0.1:8080`. */
  readonly url: string;
}

/** What a listener is told to do. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly limits: Limits;
  readonly trustedProxies: BlockList | undefined;
  readonly log: Log;
}

/** Listens, and serves the sites to who connects. Throws the error of listening. */
export async function startListener(
  core: Core,
  sites: Sites,
  { host, port, limits, trustedProxies, log }: ListenerOptions,
): Promise<Listener> {
  const { handle } = sites;
  const connections = createConnections(
    limits,
    (address) => isLoopback(address) || (trustedProxies !== undefined && isListed(address, trustedProxies)),
  );
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes + 1, // Node refuses from its maximum on
      headersTimeout: limits.headersMs,
      requestTimeout: limits.headersMs + limits.bodyMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: 100, // ms: a thousand that came together are cut a few at a time
      requireHostHeader: false, // the app does, and tells
    },
    (request, response) => connections.begin(request, response, handle),
  );
  server.maxHeadersCount = 0; // counted by the app, which refuses where Node would drop
  answerUnparsed(server, connections, core, sites);
  server
    .on('connection', connections.add)
    // the body is asked for once nothing speaks against it
    .on('checkContinue', (request, response) => connections.begin(request, response, handle));
  const url = await listen(server, host, port);
  // too many open files, say: told, and over when some of them are closed
  server.on('error', (error) => log.error(describeError(error), 'a connection was not accepted'));
  return { server, connections, url };
}

/** Answers what Node makes no request of, and counts it for the first contract. */
function answerUnparsed(server: Server, connections: Connections, core: Core, sites: Sites): void {
  /** The path of the first contract, and what counts and logs requests to it; another one after a reload. */
  let first: { readonly path: string; readonly record: (record: RequestRecord) => void } | undefined;
  const { answer, refuseConnect, refuseExpectation } = createUnparsed(connections, (record) => {
    const path = shownPath(sites.basePaths()[0] ?? '');
    if (first?.path !== path) first = { path, record: core.recorderOf(path) };
    first.record(record);
  });
  server
    .on('clientError', answer)
    .on('connect', refuseConnect)
    .on('checkExpectation', (request, response) => connections.begin(request, response, refuseExpectation));
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(addressOf(server.address() as AddressInfo));
    });
  });
}

/** `0.0.0.0` and `::` are no address to call; `localhost` is (W34). */
function addressOf({ address, family, port }: AddressInfo): string {
  if (isAnyAddress(address)) return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Whether a host to listen on is of this machine alone. */
export function isLocalHost(host: string): boolean {
  return host === 'localhost' || isLoopback(host);
}

/** Whether a host to listen on is every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '';
}
