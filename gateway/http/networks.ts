/** Returns true for a loopback address. Its client is a local proxy or user, never an untrusted client. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

/**
 * Returns the network that an address counts as: an IPv4 address, even if mapped to IPv6, or the first 64 bits of an
 * IPv6 address. A household has all addresses with these bits (RFC 6177).
 *
 * @param count number of 16-bit groups of an IPv6 address that are kept
 */
export function networkOf(address: string, count = 4): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [before = '', after] = (address.split('%')[0] ?? '').split('::');
  const groups = before === '' ? [] : before.split(':');
  if (after !== undefined) {
    const last = after === '' ? [] : after.split(':');
    const length = last.length + (after.includes('.') ? 1 : 0); // an IPv4 address at the end is two groups
    groups.push(...Array<string>(8 - groups.length - length).fill('0'), ...last);
  }
  return groups
    .slice(0, count)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
