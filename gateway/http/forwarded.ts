import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import { networkOf } from './connections.ts';

// All that proxies report of the request that they forward: Forwarded (RFC 7239) and X-Forwarded-*. Nobody's word is taken but
// that of a peer on the list of trusted proxies. `forwarded-parse` refuses a header that is malformed anywhere, such as one
// with a port outside of quotes, which proxies send; this reads what it knows of it.

/** Addresses and ranges as a list to check against; undefined for none. Throws RangeError. */
export function proxyList(addresses: readonly string[]): BlockList | undefined {
  if (addresses.length === 0) return undefined;
  const list = new BlockList();
  for (const entry of addresses) {
    const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry.trim()) ?? [];
    const version = isIP(address);
    if (version === 0 || Number(bits ?? 0) > (version === 6 ? 128 : 32)) {
      throw new RangeError(
        `trusted proxy: expected an IP address or a range such as 10.0.0.0/8, got ${JSON.stringify(entry)}`,
      );
    }
    const family = version === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Whether a peer's address is on a list, in whichever family it is written. */
export function isListed(address: string, list: BlockList): boolean {
  const plain = address.replace(/^::ffff:/, '');
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
}

/** Of 16 bits each. */
const groups = 3;

/**
 * The network that a request came from: an IPv4 address, or the first 48 bits of an IPv6 address, as who has one such
 * address has the rest of the network too. It is the peer's; behind a trusted proxy it is that of the last address in
 * `X-Forwarded-For` that is no trusted proxy's. Nothing else that a caller sends counts. `''` is what is no address.
 */
export function callerNetwork(request: IncomingMessage, proxies: BlockList | undefined): string {
  const address = callerAddress(request, proxies);
  return address === undefined ? '' : networkOf(address, groups);
}

/**
 * The address that a request came from: the peer's; behind a trusted proxy the last in `X-Forwarded-For` that is no trusted
 * proxy's. Undefined where that is no address, or where the peer is gone.
 */
export function callerAddress(request: IncomingMessage, proxies: BlockList | undefined): string | undefined {
  const peer = request.socket.remoteAddress;
  if (proxies === undefined || peer === undefined || !isListed(peer, proxies)) return peer;
  const list = request.headers['x-forwarded-for'];
  const hops = typeof list === 'string' ? list.split(',') : [];
  for (let at = hops.length - 1; at >= 0; at--) {
    const address = addressIn(hops[at] ?? '');
    if (!isListed(address, proxies)) return isIP(address) === 0 ? undefined : address;
  }
  return peer;
}

/** An entry of X-Forwarded-For without brackets and port, in the usual form of its address. */
function addressIn(hop: string): string {
  const [, inBrackets, beforePort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(hop.trim()) ?? [];
  return usualForm(inBrackets ?? beforePort ?? hop.trim());
}

/** An IPv6 address as RFC 5952 writes it, and an IPv4 address that is mapped into IPv6 as IPv4; any other text as it is. */
function usualForm(address: string): string {
  if (!address.includes(':') || address.includes('%') || isIP(address) !== 6) return address;
  const usual = new SocketAddress({ address, family: 'ipv6' }).address;
  const mapped = usual.slice('::ffff:'.length);
  return usual.startsWith('::ffff:') && isIP(mapped) === 4 ? mapped : usual;
}

/** The address that a listed proxy says it was reached at; anyone else's word isn't taken (W34). */
export function forwardedUrl(request: IncomingMessage, proxies: BlockList): string | undefined {
  if (!isListed(request.socket.remoteAddress ?? '', proxies)) return undefined;
  const standard = /(?:^|[;,\s])host="?([^";,\s]+)"?/i.exec(headerText(request, 'forwarded'))?.[1];
  const standardProto = /(?:^|[;,\s])proto="?([^";,\s]+)"?/i.exec(headerText(request, 'forwarded'))?.[1];
  const host = standard ?? firstOf(headerText(request, 'x-forwarded-host'));
  const proto = (standardProto ?? firstOf(headerText(request, 'x-forwarded-proto')) ?? 'http').toLowerCase();
  const prefix = firstOf(headerText(request, 'x-forwarded-prefix')) ?? '';
  if (host === undefined || !/^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host))
    return undefined;
  if (proto !== 'http' && proto !== 'https') return undefined;
  return `${proto}://${host}${/^(?:\/[\w.~-]+)*$/.test(prefix) ? prefix : ''}`;
}

function headerText(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

function firstOf(list: string): string | undefined {
  const first = list.split(',', 1)[0]?.trim();
  return first === '' ? undefined : first;
}
