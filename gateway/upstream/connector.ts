import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { dropContinue } from './interim.ts';
import { openTunnel } from './proxy.ts';
import { joinHeads } from './request-heads.ts';

/**
 * As much as Node reads at once. All connections are read into it: what came is copied from there before anything else is
 * read.
 */
const readInto = Buffer.allocUnsafeSlow(64 * 1024);

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

  /** As undici's, for calls that are told. */
  constructor(origin: URL, options: Client.Options, timeout: number, onConnect: () => void, way: Way = {}) {
    const onSocket = (socket: Socket): void => {
      this.#socket = socket;
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
 * Connects to an upstream as undici does, but for how a connection without TLS is read: into one buffer for all, and
 * copied from there. Left to itself, Node takes 64 KiB anew for each read, however little comes: 1 to 2 µs of a
 * small call's some 37, so 3 to 5 % (decision 6).
 * Connections speak HTTP/1.1 alone: over HTTP/2 undici sends a request again, a write too, when the upstream says
 * that it didn't take it.
 *
 * @param timeout in ms
 * @param onConnect told of each connection that is had
 * @param way through which proxy and with which TLS
 */
export function createConnector(
  timeout: number,
  onConnect: (socket: Socket) => void = () => {},
  { tls, proxy }: Way = {},
): buildConnector.connector {
  const connectAsUndici = buildConnector({ timeout, allowH2: false, ...tls });
  return (options, callback) => {
    const settle: buildConnector.Callback = (...result) => {
      if (result[0] === null) {
        joinHeads(result[1], dropContinue(result[1]));
        onConnect(result[1]);
      }
      callback(...result);
    };
    if (options.protocol === 'https:') {
      if (proxy === undefined) connectAsUndici(options, settle);
      else
        openTunnel(proxy, `${options.hostname}:${options.port || 443}`, timeout).then(
          (httpSocket) => connectAsUndici({ ...options, httpSocket }, settle),
          (error: Error) => settle(error, null),
        );
      return;
    }
    let socket: Socket | null = null;
    const onread = {
      buffer: readInto,
      callback: (length: number, buffer: Uint8Array): boolean => {
        const bytes = Buffer.allocUnsafe(length);
        bytes.set(buffer.subarray(0, length));
        return socket?.push(bytes) ?? false; // false: no more for now
      },
    };
    buildConnector({ timeout, onread, allowH2: false })(options, (...result) => {
      socket = result[1];
      settle(...result);
    });
  };
}
