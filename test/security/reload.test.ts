import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { until } from '../until.ts';
import { folder } from './captures.ts';
import { signed } from './sign.ts';
import { requestOf, sendAt, startSigned } from './signed.ts';

const time = '2026-11-27T18:00:00Z';
const request = requestOf(signed(), 'text/xml; charset=utf-8');

test('X3: a changed file of certificates is loaded, and an unreadable one keeps the previous contract', async (t) => {
  const keys = mkdtempSync(join(tmpdir(), 'signed-'));
  const gateway = await startSigned(t, 'replay', keys);
  t.is((await sendAt(gateway, request, time)).code, 'accepted');
  const change = async (write: () => void, message: string): Promise<void> => {
    const before = gateway.log().split(message).length;
    const repeated = setInterval(write, 200); // a change before the first check of a file is not noticed
    t.teardown(() => clearInterval(repeated));
    write();
    await until(() => gateway.log().split(message).length > before);
    clearInterval(repeated);
  };
  let count = 0;
  await change(
    () => writeFileSync(join(keys, 'root.crt'), `none ${'x'.repeat(count++)}`),
    'not reloaded: serving the previous contracts',
  );
  t.is(
    (await sendAt(gateway, request, time)).code,
    'wsse:FailedAuthentication',
    'the memory of replays is kept',
  );
  t.regex(gateway.log(), /\/wsse\/x509\/ca\/1/);
  await change(() => {
    const pem = readFileSync(join(folder, 'keys/root.crt'), 'latin1');
    writeFileSync(join(keys, 'root.crt'), pem + '\n'.repeat(count++));
  }, '"msg":"reloaded"');
  const again = await sendAt(gateway, request, time);
  t.is(again.code, 'wsse:FailedAuthentication');
  t.regex(again.reply, /this message was received before/);
  const other = requestOf(signed({ created: '2026-11-27T17:59:00Z' }), 'text/xml; charset=utf-8');
  t.is((await sendAt(gateway, other, time)).code, 'accepted');
});
