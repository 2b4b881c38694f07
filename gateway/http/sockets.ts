import type { Socket } from 'node:net';
import { isTls } from '../node-http.ts';
import { dropPiece } from '../upstream/collector.ts';
import { noteUnread } from './request-slicer.ts';

// Functions for reading and ending connections, where Node's own behaviour loses data or time.

/**
 * Makes Node's parser read a TLS connection through its stream while a reply on it is still being sent. Otherwise the
 * parser takes decrypted data directly, even after Node paused the connection for that reply. It would then reject the
 * rest of a valid body as malformed. Not used from the start of a connection, because it costs 7 % of a small call over
 * TLS.
 */
export function readThroughStream(socket: Socket): void {
  if (!socket.writableNeedDrain || !isTls(socket)) return;
  const listener = (): void => {};
  socket.on('data', listener).off('data', listener); // once there was a listener, Node reads through the stream
  noteUnread(socket);
}

/**
 * Destroys a connection while its data is being parsed. The data may contain thousands of requests, which the parser
 * creates anyway. Emitting 'close' early releases them when parsing ends, not only when the operating system has closed
 * the connection.
 */
export function cutOff(socket: Socket): void {
  if (socket.destroyed) return;
  socket.destroy();
  process.nextTick(() => socket.emit('close'));
}

/** Makes Node end a connection with `endGently` instead of closing it as soon as its last reply is sent. */
export function endWithCare(socket: Socket): void {
  socket.destroySoon = () => endGently(socket);
}

/** Time in ms that a connection is read after its last reply. */
const lingerMs = 2_000;

/**
 * Ends a connection when everything is sent, and discards what arrives until the client ends it too. Closing a
 * connection with unread bytes resets it, and the client loses the part of the reply that it has not read.
 */
export function endGently(socket: Socket): void {
  if (socket.writableEnded) return;
  // detaches Node's parser
  socket.removeAllListeners('data').removeAllListeners('resume');
  // frees each buffer at once, because megabytes of discarded data would cause repeated garbage collections
  socket.on('error', () => {}).on('data', dropPiece);
  noteUnread(socket);
  socket.end(() => {
    if (socket.destroyed) return;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  });
  socket.resume();
}

const flowing = new WeakSet<Socket>();

/**
 * Records whether a body is being streamed from a connection. A streamed body has its own time limits instead of
 * Node's.
 */
export function bodyFlows(socket: Socket, flows: boolean): void {
  if (flows) flowing.add(socket);
  else flowing.delete(socket);
}

/** Returns true while a body is being streamed from a connection. */
export function isBodyFlowing(socket: Socket): boolean {
  return flowing.has(socket);
}

/**
 * Returns true if the error only means that the client closed the connection early or sent something that is not HTTP.
 */
export function isGone(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(?:ECONNRESET|EPIPE|HPE_\w+)$/.test(String(error.code))
  );
}
