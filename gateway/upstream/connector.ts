import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { dropContinue } from './interim.ts';
import { openTunnel } from './proxy.ts';

/** TLS towards a service, as Node's `tls` takes it; all of it PEM. */
export interface ClientTls {
  /** The CAs that are trusted, in place of those that Node has. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the service's certificate is to have, and that is sent as SNI. */
  readonly servername?: string;
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
}

/** How a service is connected to. */
export interface Way {
  readonly tls?: ClientTls | undefined;
  /** The proxy in between; undefined: none. */
  readonly proxy?: URL | undefined;
}

/** A call that is told over which connection it goes. */
interface Traveller {
  readonly goesOver: (connection: Connection) => void;
}

/** A connection of a pool, whose socket is known: what came over it can be asked for. */
export class Connection extends Client {
  #socket: Socket | undefined;
  #expectAnswer: (() => void) | undefined;

  /** As undici's, for calls that are told. */
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
    handler.goesOver?.(this);
    this.#expectAnswer?.();
    return super.dispatch(options, handler);
  }

  /** Bytes that came so far, heads and framing too. */
  get bytesRead(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  /** What ended the connection, such as a reset; undefined while it is open and after a regular end. */
  get error(): Error | undefined {
    return this.#socket?.errored ?? undefined;
  }

  /** Whether the system has all that was written. */
  get isWritten(): boolean {
    return this.#socket?.writableLength === 0;
  }
}

/**
 * Connects to an upstream as undici does, through a proxy if there is one. Connections speak HTTP/1.1 alone: over HTTP/2 undici
 * repeats a request, a write too, when the upstream says that it did not process it.
 *
 * @param timeout in ms
 * @param onConnect called with each new connection
 * @param way proxy and TLS of the connection
 */
export function createConnector(
  timeout: number,
  onConnect: (socket: Socket) => void = () => {},
  { tls, proxy }: Way = {},
): buildConnector.connector {
  const connect = buildConnector({ timeout, allowH2: false, ...tls });
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
