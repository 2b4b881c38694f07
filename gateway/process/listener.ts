import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo, BlockList, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Limits } from '../../mappings/contract/limits.ts';
import { shownPath } from '../../mappings/http-mapping/paths.ts';
import type { Core } from '../core/core.ts';
import type { Log } from '../core/core-options.ts';
import { maxBodyMs } from '../http/body.ts';
import type { Identify } from '../http/client-certificate.ts';
import { Connections, maxHeadersMs } from '../http/connections.ts';
import { isListed } from '../http/forwarded.ts';
import { isLoopback, networkOf } from '../http/networks.ts';
import { createUnparsed } from '../http/unparsed.ts';
import { http, https } from '../node-http.ts';
import { describeError } from '../telemetry/log.ts';
import type { RequestRecord } from '../telemetry/request-stats.ts';
import { createFailedHandshakes, type FailedHandshakes } from './failed-handshakes.ts';
import type { Sites } from './sites.ts';

/** A server that accepts connections. */
export interface Listener {
  readonly server: Server;
  readonly connections: Connections;
  /** Undefined for plain HTTP. */
  readonly failedHandshakes: FailedHandshakes | undefined;
  /** Address that it listens on, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Uses new certificates for future connections. Does nothing without TLS. */
  readonly renewTls: (tls: TlsOptions) => void;
}

/** Options of a listener. */
export interface ListenerOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly limits: Limits;
  readonly trustedProxies: BlockList | undefined;
  readonly log: Log;
  /** Undefined for plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** Turns certificates into credentials; undefined if they are not credentials. */
  readonly identify?: Identify | undefined;
}

/** Maximum number of TLS handshakes in progress. One more closes the oldest of the network that has the most. */
export const maxTlsHandshakes = 200;

/** Listens and serves the sites. Throws the error of listening. */
export async function startListener(
  core: Core,
  sites: Sites,
  { host, port, limits, trustedProxies, log, tls, identify }: ListenerOptions,
): Promise<Listener> {
  const handle =
    identify === undefined
      ? sites.handle
      : (request: IncomingMessage, response: ServerResponse) => {
          identify(request);
          return sites.handle(request, response);
        };
  const connections = new Connections(
    limits,
    (address) => trustedProxies !== undefined && isListed(address, trustedProxies),
  );
  const { headersMs = maxHeadersMs, tlsHandshakes = maxTlsHandshakes } = limits;
  const options = {
    maxHeaderSize: limits.headerBytes + 1, // Node rejects headers from its maximum on
    headersTimeout: headersMs,
    requestTimeout: headersMs + maxBodyMs(limits),
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: 100, // ms; limits how many of a burst of connections time out at once
    requireHostHeader: false, // the app requires it, with an error message
  };
  const begin = (request: IncomingMessage, response: ServerResponse): void =>
    connections.begin(request, response, handle);
  const tlsServer =
    tls === undefined
      ? undefined
      : https().createServer({ ...options, ...tls, handshakeTimeout: headersMs }, begin);
  const server: Server = tlsServer ?? http.createServer(options, begin);
  server.maxHeadersCount = 0; // the app counts them, because Node would drop further ones silently
  const failedHandshakes = tls === undefined ? undefined : createFailedHandshakes(log);
  answerUnparsed(server, connections, core, sites, failedHandshakes);
  if (tlsServer === undefined) server.on('connection', (socket) => connections.add(socket));
  else addWhenSecure(tlsServer, connections, tlsHandshakes);
  server
    // the app requests the body after it has checked the headers
    .on('checkContinue', begin)
    .on('checkExpectation', begin); // the app rejects it
  const address = await listen(server, host, port);
  const url = tlsServer === undefined ? address : address.replace(/^http:/, 'https:');
  // For example too many open files. Accepting resumes when some are closed.
  server.on('error', (error) => log.error(describeError(error), 'connection not accepted'));
  return {
    server,
    connections,
    failedHandshakes,
    url,
    renewTls: (renewed) => tlsServer?.setSecureContext(renewed),
  };
}

/** A connection during its TLS handshake. */
interface Handshake {
  readonly socket: Socket;
  readonly network: string;
}

/**
 * Registers connections after their TLS handshake and limits the handshakes in progress. One more closes the oldest
 * handshake of the network that has the most.
 */
function addWhenSecure(server: TlsServer, connections: Connections, most: number): void {
  /** By remote address and port, which are equal on the raw and the TLS socket. */
  const underWay = new Map<string, Handshake>();
  const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server
    .on('connection', (socket: Socket) => {
      const key = keyOf(socket);
      underWay.set(key, { socket, network: networkOf(socket.remoteAddress ?? '') });
      socket.once('close', () => {
        if (underWay.get(key)?.socket === socket) underWay.delete(key);
      });
      if (underWay.size <= most) return;
      const [oldest, handshake] = oldestOfBusiest(underWay) ?? [key, { socket }];
      underWay.delete(oldest);
      handshake.socket.destroy();
    })
    .on('secureConnection', (socket) => {
      underWay.delete(keyOf(socket));
      connections.add(socket);
    });
}

function oldestOfBusiest(underWay: ReadonlyMap<string, Handshake>): readonly [string, Handshake] | undefined {
  const counts = new Map<string, number>();
  for (const { network } of underWay.values()) counts.set(network, (counts.get(network) ?? 0) + 1);
  const most = Math.max(...counts.values());
  for (const entry of underWay) if (counts.get(entry[1].network) === most) return entry;
  return undefined;
}

/** Answers messages that Node cannot parse to a request. They are counted for the first contract. */
function answerUnparsed(
  server: Server,
  connections: Connections,
  core: Core,
  sites: Sites,
  failedHandshakes: FailedHandshakes | undefined,
): void {
  /** Path of the first contract and its request recorder. A reload may change both. */
  let first: { readonly path: string; readonly record: (record: RequestRecord) => void } | undefined;
  const { answer, refuseConnect } = createUnparsed(connections, (record) => {
    const path = shownPath(sites.basePaths()[0] ?? '');
    if (first?.path !== path) first = { path, record: core.recorderOf(path) };
    first.record(record);
  });
  server
    .on('clientError', (error: Error, socket: Socket) => {
      // After a failed handshake no response can be sent.
      if (failedHandshakes === undefined || connections.has(socket)) answer(error, socket);
      else {
        failedHandshakes.note(error, socket);
        socket.destroy();
      }
    })
    .on('connect', refuseConnect);
}

/**
 * Number of connections that the operating system keeps until they are accepted. Beyond it, clients try again after a
 * second. Linux uses the lower `net.core.somaxconn` instead, which is 4,096 by default.
 */
const maxUnaccepted = 4_096;

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, maxUnaccepted, () => {
      server.off('error', reject);
      resolve(addressOf(server.address() as AddressInfo));
    });
  });
}

/**
 * Returns the URL of an address. `0.0.0.0` and `::` are replaced by `localhost`, which clients can connect to (W34).
 */
function addressOf({ address, family, port }: AddressInfo): string {
  if (isAnyAddress(address)) return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Returns true if a host to listen on is only reachable from this machine. */
export function isLocalHost(host: string): boolean {
  return host === 'localhost' || isLoopback(host);
}

/** Returns true if a host to listen on means all addresses of the machine. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '';
}
