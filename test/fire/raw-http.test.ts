import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { keyHeaders, startGateway } from '../gateway/gateway.ts';

// Each case is a file of raw bytes. answers.tsv contains the expected response, which is the only one on its
// connection.

const directory = new URL('raw-http/', import.meta.url);
const ends: (() => unknown)[] = [];
const group = { teardown: (end: () => unknown) => ends.push(end) };
// the body arrives with its head, so it is read before the request is rejected, and the connection may stay open
const inSlices = { parsingMs: 0, parsingWatchMs: 600_000, keepAliveMs: 500 };
const gateways = [
  { how: '', gateway: await startGateway(group) },
  { how: ', in slices too', gateway: await startGateway(group, { limits: inSlices }) },
];

test.before(async () => {
  const healthz = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
  for (const { gateway } of gateways) await gateway.raw(`${healthz}\r\n${healthz}Connection: close\r\n\r\n`);
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

const answers = readFileSync(new URL('answers.tsv', directory), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split('\t'));

for (const { how, gateway } of gateways) {
  for (const [name = '', statuses = '', calls = ''] of answers) {
    test.serial(
      `${name}.http is answered ${statuses.replace('|', ' or ')}, once, and its connection closes${how}`,
      async (t) => {
        const before = gateway.hits.length;
        const reply = await gateway.raw(readFileSync(new URL(`${name}.http`, directory)));
        const status = /^HTTP\/1\.1 (\d+) /.exec(reply)?.[1] ?? '';
        t.true(statuses.split('|').includes(status), reply.slice(0, 500));
        t.is(reply.match(/HTTP\/1\.1 \d/g)?.length, 1, reply.slice(0, 2_000));
        if (how === '') t.regex(reply, /\r\nConnection: close\r\n/i);
        t.is(gateway.hits.length - before, Number(calls));
        t.false(/canary|evil/.test(reply), reply);
      },
    );
  }

  test.serial(`the process is healthy after all of them${how}`, async (t) => {
    const reply = await gateway.send('POST', '/json/reply/GetSearch', keyHeaders, '{}');
    t.is(reply.status, 200);
    t.false(gateway.log().includes('internal error'));
    const { shed: _, ...load } = gateway.running.load();
    t.deepEqual(load, { inFlight: 0, queued: 0, arriving: 0, leaving: 0, heldBytes: 0 });
  });
}

test('every message has an expected answer, and there are more than fifty', (t) => {
  const messages = readdirSync(directory).filter((file) => file.endsWith('.http'));
  t.deepEqual(messages.toSorted(), answers.map(([name]) => `${name}.http`).toSorted());
  t.true(messages.length >= 50);
});
