import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';

/**
 * In characters: of what undici writes as text a request's head is longer, and the size of a chunk, with its line ends, isn't.
 * To look into the text would cost 0.3 µs.
 */
const longestSize = '\r\nffffffff\r\n\r\n'.length;
/** In bytes: a longer body isn't copied. */
const joinedBytes = 16 * 1024;

/**
 * Has a request's head go out with a small body as one piece: undici writes it as text and the body as bytes, and the system
 * takes 0.5 µs more for two pieces than for one.
 *
 * @param socket one that undici writes to
 * @param onHead told of each head as undici writes it
 */
export function joinHeads(socket: Socket, onHead: () => void): void {
  const { write, uncork } = socket;
  let head: string | undefined;

  function writeHead(): void {
    const text = head;
    head = undefined;
    if (text !== undefined) write.call(socket, text, 'latin1');
  }

  socket.write = ((...given: Parameters<Socket['write']>) => {
    const [written] = given;
    if (typeof written === 'string' && written.length > longestSize) {
      onHead();
      if (socket.writableCorked > 0 && head === undefined) {
        head = written;
        return true; // what undici asks of the body's last piece alone
      }
    } else if (head !== undefined) {
      if (typeof written !== 'string' && written.length <= joinedBytes) given[0] = joined(head, written);
      else writeHead();
      head = undefined;
    }
    return write.apply(socket, given);
  }) as Socket['write'];

  socket.uncork = () => {
    writeHead();
    uncork.call(socket);
  };
}

function joined(head: string, body: Uint8Array): Buffer {
  const all = Buffer.allocUnsafe(head.length + body.length); // Latin-1 has a byte for each character
  all.write(head, 'latin1');
  all.set(body, head.length);
  return all;
}
