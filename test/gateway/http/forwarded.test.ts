import type { IncomingMessage } from 'node:http';
import test from 'ava';
import { callerNetwork, proxyList } from '../../../gateway/http/forwarded.ts';

const proxies = proxyList(['10.0.0.0/8', 'fd00::1']);

/** A request from a peer, with only the members that are read. */
const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

for (const [peer, forwarded, network] of [
  ['192.0.2.1', undefined, '192.0.2.1'],
  ['::ffff:192.0.2.1', undefined, '192.0.2.1'],
  ['2001:db8:1:2::3', undefined, '2001:db8:1'],
  ['2001:db8:1:ffff::3', undefined, '2001:db8:1'],
  ['192.0.2.1', '198.51.100.1', '192.0.2.1'],
  ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['::ffff:10.0.0.1', '203.0.113.1, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['fd00::1', '[2001:DB8:1:2::3]:4711', '2001:db8:1'],
  ['10.0.0.1', '198.51.100.1:80', '198.51.100.1'],
  ['10.0.0.1', '198.51.100.1, unknown', ''],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '::ffff:c633:6401', '198.51.100.1'],
  ['10.0.0.1', '0:0:0:0:0:ffff:198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '[::FFFF:198.51.100.1]:80', '198.51.100.1'],
  ['10.0.0.1', '198.51.100.1, 0:0:0:0:0:ffff:a09:909', '198.51.100.1'],
  ['10.0.0.1', '2001:0db8:0001:0:0::3', '2001:db8:1'],
  ['10.0.0.1', '198.51.100.1, FD00:0:0:0:0:0:0:1', '198.51.100.1'],
  ['10.0.0.1', '::ffff:zz', ''],
  ['10.0.0.1', '10.0.0.2', '10.0.0.1'],
] as const) {
  test(`a request of ${peer}${forwarded === undefined ? '' : ` for ${forwarded}`} belongs to the network ${network || 'of nobody'}`, (t) => {
    t.is(callerNetwork(from(peer, forwarded), proxies), network);
  });
}
