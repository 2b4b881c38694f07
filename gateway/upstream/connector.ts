import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { dropContinue } from './interim.ts';
import { openTunnel } from './proxy.ts';

/** TLS options for a server, as Node's `tls` takes them. All texts are PEM. */
export interface ClientTls {
  /** Trusted CAs. They replace Node's own. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Name in the server's certificate, also sent as SNI. */
  readonly servername?: string;
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
}

/** Connection settings of a server. */
export interface Way {
  readonly tls?: ClientTls | undefined;
  /** Proxy; undefined for a direct connection. */
  readonly proxy?: URL | undefined;
  /** Resolves host names for each new connection. If undefined, Node's default applies. */
  readonly lookup?: LookupFunction | undefined;
}

/** A call that is notified of its connection. */
interface Traveller {
  readonly onConnection: (connection: Connection) => void;
}

/** A connection of a pool. It exposes its socket's byte counts and errors. */
export class Connection extends Client {
  #socket: Socket | undefined;
  #expectAnswer: (() => void) | undefined;

  /** Takes undici's client options and the gateway's connection settings. */
  constructor(origin: URL, options: Client.Options, timeout: number, onConnect: () => void, way: Way = {}) {
    const onSocket = (socket: Socket): void => {
      this.#socket = socket;
      this.#expectAnswer = dropContinue(socket);
      onConnect();
    };
    const connect = createConnector(timeout, onSocket, way);
    super(origin, { ...options, connect });
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler & Partial<Traveller>,
  ): boolean {
    handler.onConnection?.(this);
    this.#expectAnswer?.();
    return super.dispatch(options, handler);
  }

  /** Number of bytes received, including headers and framing. */
  get bytesRead(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  /** Error that ended the connection, for example a reset. Undefined while it is open and after a regular end. */
  get error(): Error | undefined {
    return this.#socket?.errored ?? undefined;
  }

  /** True if all written bytes were passed to the operating system. */
  get isWritten(): boolean {
    return this.#socket?.writableLength === 0;
  }
}

/**
 * Creates undici's connector for an upstream, through a proxy if one is set. Connections only use HTTP/1.1. With
 * HTTP/2, undici repeats requests, even writes, if the upstream says that it did not process them.
 *
 * @param timeout in ms
 * @param onConnect called with each new connection
 * @param way proxy and TLS of the connection
 */
export function createConnector(
  timeout: number,
  onConnect: (socket: Socket) => void = () => {},
  { tls, proxy, lookup }: Way = {},
): buildConnector.connector {
  const connect = buildConnector({ timeout, allowH2: false, ...tls, ...(lookup && { lookup }) });
  return (options, callback) => {
    const settle: buildConnector.Callback = (...result) => {
      if (result[0] === null) onConnect(result[1]);
      callback(...result);
    };
    if (proxy === undefined || options.protocol !== 'https:') {
      connect(options, settle);
      return;
    }
    openTunnel(proxy, `${options.hostname}:${options.port || 443}`, timeout).then(
      (httpSocket) => connect({ ...options, httpSocket }, settle),
      (error: Error) => settle(error, null),
    );
  };
}
