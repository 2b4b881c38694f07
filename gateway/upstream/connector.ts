import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { dropContinue } from './interim.ts';

/** As much as Node reads at once. */
const readBytes = 64 * 1024;

/** A call that is told over which connection it goes. */
interface Traveller {
  readonly goesOver: (connection: Connection) => void;
}

/** A connection of a pool, whose socket is known: what came over it can be asked for. */
export class Connection extends Client {
  #socket: Socket | undefined;

  /** As undici's, for calls that are told. */
  constructor(origin: URL, options: Client.Options, timeout: number, onConnect: () => void) {
    const connect = createConnector(timeout, (socket) => {
      this.#socket = socket;
      onConnect();
    });
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
}

/**
 * Connects to an upstream as undici does, but for how a connection without TLS is read: into one buffer of its own, and
 * copied from there. Left to itself, Node takes 64 KiB anew for each read, however little comes: 1 to 2 µs of a
 * small call's some 37, so 3 to 5 % (decision 6).
 * Connections speak HTTP/1.1 alone: over HTTP/2 undici sends a request again, a write too, when the upstream says
 * that it didn't take it.
 *
 * @param timeout in ms
 * @param onConnect told of each connection that is had
 */
export function createConnector(
  timeout: number,
  onConnect: (socket: Socket) => void = () => {},
): buildConnector.connector {
  const connectAsUndici = buildConnector({ timeout, allowH2: false });
  return (options, callback) => {
    const settle: buildConnector.Callback = (...result) => {
      if (result[0] === null) {
        dropContinue(result[1]);
        onConnect(result[1]);
      }
      callback(...result);
    };
    if (options.protocol === 'https:') {
      connectAsUndici(options, settle);
      return;
    }
    let socket: Socket | null = null;
    const onread = {
      buffer: Buffer.allocUnsafeSlow(readBytes),
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
