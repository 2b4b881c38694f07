import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

// An `import` of a Node module evaluates all its exports. One export of node:http loads Node's WebSocket client, and
// node:https and node:tls load OpenSSL's settings. Together they cost 45 ms and 15 MB at start.

/** The module node:http, without its WebSocket client. */
export const http: typeof import('node:http') = process.getBuiltinModule('node:http');

/** Returns the module node:https, which is loaded by the first call. */
export function https(): typeof import('node:https') {
  return process.getBuiltinModule('node:https');
}

/** Returns the module node:tls, which is loaded by the first call. */
export function tls(): typeof import('node:tls') {
  return process.getBuiltinModule('node:tls');
}

/** Returns true for a TLS connection, without loading node:tls. */
export function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket && socket.encrypted === true;
}
