import type { Socket } from 'node:net';

/** In bytes: an interim answer that is longer is left to undici. */
const longest = 16 * 1024;
const start = Buffer.from('HTTP/1.1 100');
const minor = start.indexOf('1 100');
const end = Buffer.from('\r\n\r\n');
/**
 * Drops each `100 Continue` with which an upstream begins an answer although nobody asked for it. RFC 9110, 15.2.1 has a client
 * expect any; undici takes it for a broken answer and closes the connection, possibly after a write was done. Works for
 * connections with one request at a time.
 *
 * @returns to be called before each request; the connection's first one needs no call
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

/** Whether it begins like one, as far as it is there. */
function mayBeContinue(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  for (let at = 0; at < length; at++) {
    if (bytes[at] !== start[at] && at !== minor) return false;
  }
  return length > 0;
}
