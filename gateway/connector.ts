import type { Socket } from 'node:net';
import { buildConnector } from 'undici';

/** As much as Node reads at once. */
const readBytes = 64 * 1024;

/**
 * Connects to an upstream as undici does, but for how a connection without TLS is read: into one buffer of its own, and
 * copied from there. Left to itself, Node takes 64 KiB anew for each read, however little comes (decision 6).
 *
 * @param timeout in ms
 */
export function createConnector(timeout: number): buildConnector.connector {
  const connectAsUndici = buildConnector({ timeout });
  return (options, callback) => {
    if (options.protocol === 'https:') {
      connectAsUndici(options, callback);
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
    buildConnector({ timeout, onread })(options, (...result) => {
      socket = result[1];
      callback(...result);
    });
  };
}
