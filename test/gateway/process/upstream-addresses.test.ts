import test from 'ava';
import { readConfig } from '../../../gateway/process/config.ts';
import { maxAddresses } from '../../../gateway/process/upstream-plan.ts';
import { configWith } from '../upstream/addresses.ts';

const url = 'http://a.example';
const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ url: `http://a${index}.example` }));

test('addresses, health check and connection age are read with their defaults', (t) => {
  const upstream = {
    addresses: [{ url }, { url: 'http://b.example', weight: 3 }],
    healthCheck: { path: '/healthz' },
    maxConnectionAge: '5m',
  };
  const [plan] = readConfig(configWith(t, upstream));
  t.is(plan?.upstreamUrl, url);
  t.deepEqual(plan?.upstream?.connection, {
    addresses: [
      { url, weight: 1 },
      { url: 'http://b.example', weight: 3 },
    ],
    healthCheck: { path: '/healthz', everyMs: 10_000 },
    maxConnectionAgeMs: 300_000,
  });
});

for (const [what, upstream] of [
  ['one address', { addresses: many(1) }],
  ['the maximum number of addresses', { addresses: many(maxAddresses) }],
  [
    'the limits of a weight',
    {
      addresses: [
        { url, weight: 1 },
        { url: 'http://b.example', weight: 100 },
      ],
    },
  ],
  ['the shortest time', { url, maxConnectionAge: '100ms' }],
  ['the longest time', { url, maxConnectionAge: '24h' }],
] as const) {
  test(`an upstream is accepted with ${what}`, (t) => {
    t.notThrows(() => readConfig(configWith(t, upstream)));
  });
}

for (const [what, upstream, message] of [
  [
    'url and addresses',
    { url, addresses: many(1) },
    /upstream: expected either url or addresses, got both keys/,
  ],
  ['neither', { headers: {} }, /expected upstream, the URL of the JSON service, got none/],
  ['no address', { addresses: [] }, /addresses: expected 1 to 32 addresses, got 0/],
  ['too many addresses', { addresses: many(33) }, /addresses: expected 1 to 32 addresses, got 33/],
  ['an address without url', { addresses: [{ weight: 1 }] }, /addresses\/0: expected url/],
  ['an address twice', { addresses: [{ url }, { url }] }, /addresses\/1: expected each address once/],
  ['an invalid port', { addresses: [{ url: 'http://a:99999' }] }, /addresses\/0: expected an http or https/],
  ['weight 0', { addresses: [{ url, weight: 0 }] }, /weight: expected a weight from 1 to 100/],
  ['weight 101', { addresses: [{ url, weight: 101 }] }, /weight: expected a weight from 1 to 100/],
  ['no path of a health check', { url, healthCheck: {} }, /healthCheck: expected path/],
  ['99ms', { url, healthCheck: { path: '/', every: '99ms' } }, /every: expected a time from 100ms to 24h/],
  ['25h', { url, maxConnectionAge: '25h' }, /maxConnectionAge: expected a time from 100ms to 24h/],
  ['a time without unit', { url, maxConnectionAge: '30' }, /maxConnectionAge: expected a time such as 30s/],
] as const) {
  test(`an upstream is rejected with ${what}`, (t) => {
    t.throws(() => readConfig(configWith(t, upstream)), { message });
  });
}
