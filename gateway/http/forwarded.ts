import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, SocketAddress } from 'node:net';
import { networkOf } from './networks.ts';

// Reads the headers that describe the original request to a proxy: Forwarded (RFC 7239) and X-Forwarded-*. Only those
// of trusted proxies are used. The package `forwarded-parse` rejects a header with any error, for example an unquoted
// port, which real proxies send. This module uses the valid parts.

/** Returns a list of addresses and ranges; undefined if it is empty. Throws RangeError for an invalid entry. */
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

/** Returns true if an address is on a list. An IPv4 address that is mapped to IPv6 counts as IPv4. */
export function isListed(address: string, list: BlockList): boolean {
  const plain = address.replace(/^::ffff:/, '');
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
}

/** Number of 16-bit groups of an IPv6 address that identify a network. */
const groups = 3;

/**
 * Returns the network of the client: an IPv4 address, or the first 48 bits of an IPv6 address, because the owner of one
 * address usually has the whole network. The address is that of `callerAddress`. Returns `''` without an address.
 */
export function callerNetwork(request: IncomingMessage, proxies: BlockList | undefined): string {
  const address = callerAddress(request, proxies);
  return address === undefined ? '' : networkOf(address, groups);
}

/**
 * Returns the address of the client: the peer, or behind a trusted proxy the last address in `X-Forwarded-For` that is
 * not a trusted proxy. Returns undefined if that is not an IP address or the peer is gone.
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

/** Returns an entry of X-Forwarded-For without brackets and port, as a canonical address. */
function addressIn(hop: string): string {
  const [, inBrackets, beforePort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(hop.trim()) ?? [];
  return usualForm(inBrackets ?? beforePort ?? hop.trim());
}

/** Returns an IPv6 address as in RFC 5952, and an IPv4 address for one mapped to IPv6. Returns other text unchanged. */
export function usualForm(address: string): string {
  if (!address.includes(':') || address.includes('%') || isIP(address) !== 6) return address;
  const usual = new SocketAddress({ address, family: 'ipv6' }).address;
  const mapped = usual.slice('::ffff:'.length);
  return usual.startsWith('::ffff:') && isIP(mapped) === 4 ? mapped : usual;
}

/** Returns the URL at which a trusted proxy was reached; undefined for other peers or an invalid URL (W34). */
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
