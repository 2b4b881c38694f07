import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import { networkOf } from './connections.ts';
import { isListed } from './documents.ts';

/** Tells from which network a request came; see `callerNetwork`. */
export type NetworkOf = (request: IncomingMessage) => string;

/** Of 16 bits each. */
const groups = 3;

/**
 * The network that a request came from: an IPv4 address, or the first 48 bits of an IPv6 address, as who has one such
 * address has the rest of the network too. It is the peer's; behind a trusted proxy it is that of the last address in
 * `X-Forwarded-For` that is no trusted proxy's. Nothing else that a caller says counts. `''` is what is no address.
 */
export function callerNetwork(request: IncomingMessage, proxies: BlockList | undefined): string {
  const peer = request.socket.remoteAddress ?? '';
  if (proxies === undefined || !isListed(peer, proxies)) return networkOf(peer, groups);
  const list = request.headers['x-forwarded-for'];
  const hops = typeof list === 'string' ? list.split(',') : [];
  for (let at = hops.length - 1; at >= 0; at--) {
    const address = addressIn(hops[at] ?? '');
    if (!isListed(address, proxies)) return isIP(address) === 0 ? '' : networkOf(address, groups);
  }
  return networkOf(peer, groups);
}

/** An entry of X-Forwarded-For without brackets and port. */
function addressIn(hop: string): string {
  const [, inBrackets, beforePort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(hop.trim()) ?? [];
  return inBrackets ?? beforePort ?? hop.trim();
}
