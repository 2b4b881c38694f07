import type { Socket } from 'node:net';

/** Maximum length of an interim response in bytes. Longer ones are passed to undici unchanged. */
const longest = 16 * 1024;
const start = Buffer.from('HTTP/1.1 100');
const minor = start.indexOf('1 100');
const end = Buffer.from('\r\n\r\n');
/**
 * Removes each unrequested `100 Continue` before an upstream's response. RFC 9110, 15.2.1 requires a client to accept
 * it. undici treats it as a broken response and closes the connection, although a write may have been done. It works
 * for connections with one request at a time.
 *
 * @returns function to call before each request except the first one of the connection
 */
export function dropContinue(socket: Socket): () => void {
  const { push } = socket;
  let begins = true;
  let held: Buffer | undefined;
  socket.push = (chunk: Buffer | null) => {
    if (!begins) return push.call(socket, chunk);
    if (chunk === null) {
      begins = false;
      if (held !== undefined) push.call(socket, held);
      return push.call(socket, null);
    }
    held = withoutContinue(held === undefined ? chunk : Buffer.concat([held, chunk]));
    if (held.length === 0 || (mayBeContinue(held) && held.length <= longest)) return true;
    const answer = held;
    held = undefined;
    begins = false;
    return push.call(socket, answer);
  };
  return () => {
    begins = true;
  };
}

function withoutContinue(bytes: Buffer): Buffer {
  let rest = bytes;
  while (mayBeContinue(rest)) {
    const at = rest.indexOf(end);
    if (at === -1) break;
    rest = rest.subarray(at + end.length);
  }
  return rest;
}

/** Returns true if the available bytes can be the start of a `100 Continue`. */
function mayBeContinue(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  for (let at = 0; at < length; at++) {
    if (bytes[at] !== start[at] && at !== minor) return false;
  }
  return length > 0;
}
