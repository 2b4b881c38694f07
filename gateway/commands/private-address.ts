import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Networks outside the public Internet: loopback, private, link-local, shared and unspecified addresses. */
const ranges: readonly (readonly [address: string, bits: number])[] = [
  ['0.0.0.0', 8], // RFC 1122 §3.2.1.3
  ['10.0.0.0', 8], // RFC 1918
  ['100.64.0.0', 10], // RFC 6598
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // RFC 3927; metadata services of clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24], // RFC 6890
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // RFC 2544
  ['224.0.0.0', 3], // multicast, reserved and broadcast
  ['::', 128],
  ['::1', 128],
  ['64:ff9b:1::', 48], // RFC 8215
  ['fc00::', 7], // RFC 4193
  ['fe80::', 10],
  ['fec0::', 10], // RFC 3879
  ['ff00::', 8],
];

const privateNetworks = new BlockList();
for (const [address, bits] of ranges)
  privateNetworks.addSubnet(address, bits, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Returns true for an IP address that is not public; false for a public address and for a name. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  if (version === 4) return privateNetworks.check(address, 'ipv4');
  const inner = ipv4Within(address);
  return privateNetworks.check(address, 'ipv6') || (inner !== undefined && isPrivateAddress(inner));
}

/** Returns the IPv4 address in an IPv6 address: mapped (::ffff:), compatible (::), NAT64 (64:ff9b::) or 6to4. */
function ipv4Within(address: string): string | undefined {
  const [withoutZone = ''] = address.split('%', 1);
  const { hostname } = new URL(`http://[${withoutZone}]/`); // the form of RFC 5952, without IPv4
  const text = hostname.slice(1, -1);
  const [, high, low] =
    /^(?:::ffff:|::|64:ff9b::|::ffff:0:)([\da-f]{1,4}):([\da-f]{1,4})$/.exec(text) ??
    /^2002:([\da-f]{1,4}):([\da-f]{1,4}):/.exec(text) ??
    [];
  if (high === undefined || low === undefined) return undefined;
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join('.');
}

/** Looks a name up like `dns.lookup`, and fails with a RangeError if one of its addresses is not public. */
export const lookUpPublic: LookupFunction = (name, options, callback) => {
  lookup(name, options, (error, found, family) => {
    const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
    if (error === null && addresses.some(isPrivateAddress)) callback(privateRedirect(name), '');
    else callback(error, found, family);
  });
};

/** Returns the error for a redirect to a host with a private address. */
export function privateRedirect(host: string): RangeError {
  return new RangeError(
    `--fetch: expected redirects to public addresses, got a private address of ${host}. If you trust it, use ` +
      `the URL of the document itself`,
  );
}
