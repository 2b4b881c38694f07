import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { start } from '../gateway/commands/run.ts';
import { folderOf } from '../gateway/store/opened.ts';
import { until } from '../until.ts';
import { exchangesIn, getCall, getReply } from './recording-site.ts';
import { contractFolder, send, startStub } from './scenario.ts';

const answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: getReply('<Long>1</Long>') };

test.serial('G54, G56: a gateway that is killed keeps the written recordings', async (t) => {
  const folder = folderOf(t);
  const legacy = await startStub(t);
  legacy.answer = answer;
  const [config, key, store] = ['soapbridge.yaml', 'key', 'store.db'].map((name) => join(folder, name));
  if (config === undefined || key === undefined || store === undefined) return t.fail();
  writeFileSync(key, '0123456789abcdef');
  const migration = { record: { sample: '100%' } };
  const place = { contract: contractFolder('contracts/types'), upstream: legacy.url, legacy: legacy.url };
  const text = { store: `sqlite:${store}`, contracts: { '/': { ...place, migration } } };
  writeFileSync(config, JSON.stringify(text));
  const { child, port } = await start(t, ['--config', config, '--caller-key', key], {});
  for (let count = 0; count < 5; count++) await send(Number(port), getCall);
  await until(() => exchangesIn(store).length === 5);
  const last = send(Number(port), getCall);
  await last;
  child.kill('SIGKILL');
  await once(child, 'exit');
  const kept = exchangesIn(store);
  t.true(kept.length === 5 || kept.length === 6);
  t.true(kept.every(({ legacy: body }) => body !== undefined));
});
