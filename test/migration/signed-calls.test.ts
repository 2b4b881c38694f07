import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { startAdministered } from '../gateway/admin/migration.ts';
import { contractWith } from '../gateway/gateway.ts';
import { documents, related, storeDocument } from '../gateway/protocols/soap/related.ts';
import { folder as keys } from '../security/captures.ts';
import { signedThenEncrypted } from '../security/encrypt.ts';
import { type Message, signed } from '../security/sign.ts';
import { type CallerReply, type CallerRequest, contractFolder, type Site, startSite } from './scenario.ts';

// Messages that the gateway verifies or decrypts before it routes them. Alice signs them.

const path = '/shop/Orders.asmx';
const toNew = [{ name: 'all', mode: 'new' }];

/** Creates the folder of a contract that verifies signatures. */
function signedContract(t: ExecutionContext, x509: string, more = ''): string {
  const contract = mkdtempSync(join(tmpdir(), 'soapbridge-signed-'));
  t.teardown(() => rmSync(contract, { recursive: true }));
  cpSync(contractFolder('contracts/orders'), contract, { recursive: true });
  cpSync(join(keys, 'keys'), join(contract, 'keys'), { recursive: true });
  chmodSync(join(contract, 'keys/gateway.key'), 0o600);
  const overlay = join(contract, 'soap.yaml');
  const settings = `x509: { certificates: [keys/alice.crt], require: [body], replay: allow }${x509}`;
  writeFileSync(overlay, `${readFileSync(overlay, 'utf8')}wsse: { ${settings} }\n${more}`);
  return contract;
}

/** Starts a site whose contract verifies signatures. The legacy service and the new one answer everything. */
async function start(
  t: ExecutionContext,
  routes: readonly object[] = toNew,
  x509 = '',
  { more = '', replies = {} } = {},
): Promise<Site> {
  const site = await startSite(t, {
    contract: signedContract(t, x509, more),
    config: { legacy: '{legacy}', migration: { routes, replies } },
  });
  site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: 'legacy' };
  const order = { GetOrderResult: { id: 17, Placed: '2006-03-01T09:30:00Z', Total: 1, Status: 'Open' } };
  const headers = { 'content-type': 'application/json' };
  site.upstream.answer = { status: 200, headers, body: JSON.stringify(order) };
  return site;
}

function order(padding = 0): Message {
  const culture = padding === 0 ? '' : `<culture>${'a'.repeat(padding)}</culture>`;
  const created = new Date().toISOString();
  return {
    payload: `<GetOrder xmlns="http://orders.example/"><orderId>17</orderId>${culture}</GetOrder>`,
    created,
    expires: new Date(Date.now() + 60_000).toISOString(),
  };
}

function send(
  site: Site,
  body: string | Buffer,
  headers: CallerRequest['headers'] = {},
): Promise<CallerReply> {
  return site.send({ path, headers: { 'Content-Type': 'text/xml', ...headers }, body });
}

/** Returns the mode and rule of the last call. */
function lastRoute(site: Site): string {
  const { mode, rule } = site.log().findLast((line) => line.ms !== undefined) ?? {};
  return `${mode} ${rule}`;
}

for (const [title, padding] of [
  ['small', 0],
  ['large', 100_000],
  ['very large', 800_000],
] as const)
  test(`X12, G15: a ${title} signed message is routed by its operation and its values`, async (t) => {
    const when = { value: { orderId: '17' } };
    for (const routes of [toNew, [{ name: 'all', mode: 'new', when }]]) {
      const site = await start(t, routes);
      const reply = await send(site, signed(order(padding)));
      t.regex(reply.body.toString(), /<n0:GetOrderResponse/);
      t.is(lastRoute(site), 'new all');
      t.is(site.legacy.hits.length, 0);
      t.is(site.upstream.hits.length, 1);
    }
  });

test('X12, G14: a large signed message reaches the legacy service unchanged', async (t) => {
  const site = await start(t, []);
  const body = signed(order(100_000));
  t.is((await send(site, body)).body.toString(), 'legacy');
  t.is(lastRoute(site), 'legacy otherwise');
  t.is(site.legacy.hits[0]?.body.toString(), body);
  const packed = gzipSync(body);
  await send(site, packed, { 'Content-Encoding': 'gzip' });
  t.is(lastRoute(site), 'legacy otherwise');
  t.deepEqual(site.legacy.hits[1]?.body, packed);
});

test('X22, G15: a package is routed after its parts are verified', async (t) => {
  const site = await start(t);
  const photo = 'p'.repeat(200_000);
  const root = signed({
    ...order(),
    references: ['body', 'time', 'cid:photo'],
    parts: { 'cid:photo': photo },
  });
  const packageOf = (bytes: string) => related({ form: 'swa', root, parts: [{ id: 'photo', bytes }] });
  for (const [bytes, answer] of [
    [photo, /<n0:GetOrderResponse/],
    [photo.replace('p', 'q'), /<faultcode>w:FailedCheck/],
  ] as const) {
    const { headers, body } = packageOf(bytes);
    t.regex((await site.send({ path, headers, body })).body.toString(), answer);
  }
  t.is(site.upstream.hits.length, 1);
  t.is(site.legacy.hits.length, 0);
});

test('X12, G12: a message that cannot be verified, or is too large, is unreadable', async (t) => {
  const site = await start(t, [{ name: 'reads', mode: 'new', when: { header: { 'X-New': '1' } } }]);
  const changed = signed(order(100_000)).replace('<orderId>17', '<orderId>18');
  for (const body of [changed, signed(order(2_000_000))]) {
    t.is((await send(site, body, { 'X-New': '1' })).body.toString(), 'legacy');
    t.is(lastRoute(site), 'legacy unreadable');
    t.is(site.legacy.hits.at(-1)?.body.length, body.length);
  }
  t.is(site.upstream.hits.length, 0);
});

test('X12, G12: without a route to legacy, a message that cannot be verified gets its fault', async (t) => {
  const site = await start(t);
  const reply = await send(site, signed(order(100_000)).replace('<orderId>17', '<orderId>18'));
  t.regex(reply.body.toString(), /<faultcode>w:FailedCheck/);
  t.is(site.legacy.hits.length + site.upstream.hits.length, 0);
});

const decrypt = ', decrypt: { keys: [{ key: keys/gateway.key, certificate: keys/gateway.crt }], cbc: true }';

for (const cipher of ['aes128-gcm', 'aes256-cbc'])
  test(`X24, G15: a message with ${cipher} is routed, and sent twice to legacy unchanged`, async (t) => {
    const when = { value: { orderId: '17' } };
    const site = await start(t, [{ name: 'all', mode: 'new', when }], decrypt);
    for (const padding of [0, 100_000, 600_000]) {
      const reply = await send(site, signedThenEncrypted({ cipher }, order(padding)));
      t.regex(reply.body.toString(), /<n0:GetOrderResponse/);
      t.is(lastRoute(site), 'new all');
    }
    const legacy = await start(t, [], decrypt);
    const body = signedThenEncrypted({ cipher }, order());
    for (const _ of [1, 2]) {
      t.is((await send(legacy, body)).body.toString(), 'legacy');
      t.is(lastRoute(legacy), 'legacy otherwise');
      t.is(legacy.legacy.hits.at(-1)?.body.toString(), body);
    }
  });

test('X24, G71: the admin API does not decrypt a message that it explains', async (t) => {
  const routes = [{ name: 'all', mode: 'new', when: { value: { orderId: '17' } } }];
  const site = await startAdministered(t, {
    contract: signedContract(t, decrypt),
    path: '/',
    config: { legacy: '{legacy}', migration: { routes } },
  });
  const explain = async (body: string) =>
    (await site.post('/api/v1/contracts/%2F/routes/explain', { body })).json;
  t.deepEqual(await explain(signed(order())), { operation: 'GetOrder', mode: 'new', rule: 'all' });
  const encrypted = signedThenEncrypted({ cipher: 'aes128-gcm' }, order());
  t.deepEqual(await explain(encrypted), { operation: '?', mode: 'legacy', rule: 'unreadable' });
});

test('X20, G65: the verified signer is exempt from an end of an operation, and not a claimed one', async (t) => {
  const key = (name: string) => JSON.stringify(join(keys, `keys/${name}.crt`));
  const settings = 'require: [body], replay: allow, credential: { userId: commonName }';
  const overlay = `credentials: { headers: { userId: X-User-Id } }
wsse: { x509: { certificates: [${key('alice')}, ${key('bob')}], ${settings} } }`;
  const contract = contractWith(t, overlay, documents);
  const operations = ['StoreDocument'];
  const sunset = '2026-06-01T00:00:00Z';
  const deprecate = [
    { operations, since: '2026-01-01T00:00:00Z', sunset, exempt: { alice: '2096-01-01T00:00:00Z' } },
  ];
  const config = { migration: { deprecate } };
  const site = await startSite(t, { contract, config, callers: ['alice'] });
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  const [, payload = ''] =
    /<(?:\w+:)?Body>(.*)<\/(?:\w+:)?Body>/s.exec(storeDocument('<name>a.pdf</name>')) ?? [];
  const answerTo = async (signer: string, headers: Record<string, string> = {}) => {
    const body = signed({ ...order(), payload, signer });
    return (
      await site.send({ path: '/soap11', headers: { 'Content-Type': 'text/xml', ...headers }, body })
    ).body.toString();
  };
  t.regex(await answerTo('bob'), /Gone/);
  t.regex(await answerTo('bob', { 'X-User-Id': 'alice' }), /Gone/);
  t.is(site.upstream.hits.length, 0);
  t.regex(await answerTo('alice'), /StoreDocumentResponse/);
  t.is(site.upstream.hits[0]?.headers['x-user-id'], 'alice');
});

for (const packaging of ['requested', 'always'])
  test(`X32, G23: replies with package ${packaging} are an error if replies are encrypted`, async (t) => {
    const problemsWith = async (options: Parameters<typeof start>[3]): Promise<readonly string[]> => {
      const error = await t.throwsAsync(start(t, toNew, decrypt, options), { instanceOf: ContractError });
      return error?.problems.map(({ pointer, message }) => `${pointer}: ${message}`) ?? [];
    };
    const text = 'expected never with /wsse/decrypt, because parts of replies are not encrypted';
    t.deepEqual(await problemsWith({ replies: { package: packaging } }), [
      `/contracts/~1/migration/replies/package: ${text}`,
    ]);
    if (packaging === 'requested')
      t.deepEqual(await problemsWith({ more: 'mtomReplies: requested\n' }), [`/mtomReplies: ${text}`]);
    await t.notThrowsAsync(start(t, toNew, decrypt, { replies: { package: 'never' } }));
    await t.notThrowsAsync(start(t, toNew, '', { replies: { package: packaging } }));
  });
