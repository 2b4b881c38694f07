import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { exchangesIn, readText } from './exchange-files.ts';
import { makeExchange } from './exchanges.ts';
import { capabilities, folderOf, goldensOf } from './folders.ts';

const gateways = new Map<string, Gateway>();
const ends: (() => unknown)[] = [];

test.before(async () => {
  for (const capability of capabilities) {
    if (exchangesIn(folderOf(capability)).length === 0) continue;
    const served = { serve: { contract: folderOf(capability) } };
    gateways.set(capability, await startGateway({ teardown: (end) => ends.push(end) }, served));
  }
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

test('test/plain/README.md names existing fixtures', (t) => {
  const page = readText(join(import.meta.dirname, 'README.md')) ?? '';
  const [, table = ''] = page.split('| --- | --- | --- |');
  const named = [...table.matchAll(/`([a-z0-9/-]+\/[a-z0-9-]+(?:\.txt|\.test\.ts)?)`/g)].map(
    ([, name = '']) => name,
  );
  const places = named.map((name) => {
    if (name.startsWith('test/')) return join(import.meta.dirname, '../..', name);
    const [capability = '', exchange = ''] = name.split('/');
    return join(folderOf(capability), exchange.includes('.') ? '' : 'exchanges', exchange);
  });
  t.true(places.length > 0);
  t.deepEqual(
    places.filter((place) => !existsSync(place)),
    [],
  );
});

for (const capability of capabilities) {
  test(`${capability}: the document has the expected schema and notes`, (t) => {
    for (const [name, text] of Object.entries(goldensOf(capability)))
      t.is(readText(join(folderOf(capability), name)) ?? '', text.replace(/\n$/, ''), name);
  });

  for (const fixture of exchangesIn(folderOf(capability))) {
    test.serial(`${capability}: ${fixture.name.replaceAll('-', ' ')}`, async (t) => {
      const gateway = gateways.get(capability);
      if (gateway === undefined) return t.fail('no gateway serves it');
      const { calls, reply } = await makeExchange(gateway, fixture);
      t.deepEqual(calls, fixture.call === undefined ? [] : [fixture.call]);
      t.is(reply, fixture.reply);
    });
  }
}
